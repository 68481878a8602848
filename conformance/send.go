package conformance

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/stretchr/testify/require"
)

// Answer is a response, read to its end and already held against the documents.
type Answer struct {
	Status int
	Header http.Header
	Body   []byte
	JSON   map[string]any // nil unless the body is an object
}

// client waits longer than any hold.
var client = &http.Client{Timeout: 2 * time.Minute}

// Request describes a request. Key "-" sends none, an empty one that of the interface.
type Request struct {
	Method, URL, Body, Key string
	Header                 map[string]string
}

// exchange is a request and its answer, to be shown when a rule fails.
type exchange struct {
	method, url, body string
	answer            *Answer // nil: none yet
}

// Send sends the request and checks that the documents know the answer. Where the limits of the target refuse it and the rule
// does not mean them to, it is sent again once they allow it.
func (c *Check) Send(r Request) Answer {
	for {
		req, a := c.exchange(r)
		if wait := c.refill(a); wait > 0 {
			c.suite.wait(wait)
			c.sleep(wait)
			continue
		}

		var value any
		notJSON := json.Unmarshal(a.Body, &value)
		a.JSON, _ = value.(map[string]any) // an array, or nothing, leaves it nil
		c.track(r, a)
		c.Spec.check(c, req, a, value, notJSON)
		return a
	}
}

// exchange sends the request once and reads the answer.
func (c *Check) exchange(r Request) (*http.Request, Answer) {
	req, err := http.NewRequestWithContext(c.context(), r.Method, r.URL, strings.NewReader(r.Body))
	require.NoError(c, err)
	switch r.Key {
	case "-":
	case "":
		key := c.Key
		if strings.HasPrefix(r.URL, c.URL+controlsPath) {
			key = c.ControlsKey
		}
		req.Header.Set("Authorization", "Bearer "+key)
	default:
		req.Header.Set("Authorization", r.Key)
	}

	if r.Body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	if c.Contract != "" {
		req.Header.Set(contractHeader, c.Contract)
	}
	for name, value := range r.Header {
		req.Header.Del(name)
		if value != "" {
			req.Header.Set(name, value)
		}
	}

	if path, is := strings.CutPrefix(r.URL, c.URL+controlsPath); is && disturbs(r.Method, path) {
		c.suite.disturb(c.URL)
	}
	c.note(exchange{method: r.Method, url: r.URL, body: r.Body})
	a, err := doBy(cmp.Or(c.client, client), req)
	if err != nil {
		c.unanswered(err)
	}
	c.note(exchange{method: r.Method, url: r.URL, body: r.Body, answer: &a})

	return req, a
}

// do sends the request and reads the answer.
func do(req *http.Request) (Answer, error) { return doBy(client, req) }

func doBy(client *http.Client, req *http.Request) (Answer, error) {
	res, err := client.Do(req)
	if err != nil {
		return Answer{}, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := whole(res.Body)
	return Answer{Status: res.StatusCode, Header: res.Header, Body: body}, err
}

// mostAnswer is how many bytes of an answer are read: the target may be any server, and one answer must not take all memory.
const mostAnswer = 64 << 20

// errTooLong says that an answer has more.
var errTooLong = fmt.Errorf("the answer has more than %d MiB", mostAnswer>>20)

// whole reads the body of an answer. One that has more than mostAnswer fails with errTooLong.
func whole(body io.Reader) ([]byte, error) {
	read, err := io.ReadAll(io.LimitReader(body, mostAnswer+1))
	if err == nil && len(read) > mostAnswer {
		return nil, errTooLong
	}
	return read, err
}

// note keeps the exchange as the last one, unless the rule has failed, or has ended and cleans up.
func (c *Check) note(e exchange) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.failing && !c.over {
		c.last = e
	}
}

// unanswered fails the rule, and ends the whole run if the target does not answer anything any more.
func (c *Check) unanswered(err error) {
	if errors.Is(err, errTooLong) {
		require.Fail(c, err.Error())
	}
	if ctx := c.context(); ctx.Err() == nil {
		c.suite.lost(ctx, c.Target)
	}
	require.NoError(c, err, "there is no answer")
}

// longest is how long limits may refuse requests before the run is given up.
const longest = 2 * time.Minute

// refill reports how long to wait until the refused request is served again, by limits or once large answers of other rules have been taken; zero: it
// was not refused, or is meant to be.
func (c *Check) refill(a Answer) time.Duration {
	crowded := a.Status == http.StatusServiceUnavailable && bytes.Contains(a.Body, []byte("too many large answers are under way"))
	if a.Status != http.StatusTooManyRequests && !crowded || c.limit {
		return 0
	}
	wait := a.after()
	if wait > longest {
		c.suite.stop(c.suite.refusedFor(wait))
		require.LessOrEqual(c, wait, longest, "the time until the target takes requests again")
	}
	return wait
}

// after gives how long the answer says to wait, and a second if it does not.
func (a Answer) after() time.Duration {
	seconds, err := strconv.Atoi(a.Header.Get("Retry-After"))
	if err != nil {
		seconds = 1
	}
	return time.Duration(max(1, seconds)) * time.Second
}

// object gives the body if it is a JSON object.
func (a Answer) object() (object map[string]any) {
	_ = json.Unmarshal(a.Body, &object)
	return object
}

// summary gives what a refusal says.
func (a Answer) summary() string {
	reason := http.StatusText(a.Status)
	if detail, ok := a.object()["detail"].(string); ok && detail != "" {
		reason = detail
	}
	return strconv.Itoa(a.Status) + ": " + printable(reason)
}

// REST sends a request to the REST interface.
//
//go:noinline
func (c *Check) REST(method, path, body string) Answer {
	return c.Send(Request{Method: method, URL: c.URL + path, Body: body})
}

// Queue sends a request to an operation of the endpoint's queue.
func (c *Check) Queue(method, operation, body string) Answer {
	if c.Endpoint == "" {
		c.Skip("there is no endpoint whose worker the rules can play: " + c.suite.noEndpoint)
	}
	base := c.QueueURL + "/v2/" + c.Endpoint + "/"
	a := c.Send(Request{Method: method, URL: base + operation, Body: body})
	id, ok := a.JSON["id"].(string)
	if !ok {
		return a
	}
	require.False(c, c.beside && c.Endpoint == c.suite.Endpoint, "a rule that has jobs of the endpoint must be one of workerRules, or others take them")

	c.mu.Lock()
	defer c.mu.Unlock()
	switch a.JSON["status"] {
	case "COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT":
		delete(c.ran, base+"cancel/"+id)
	default:
		if c.ran == nil {
			c.ran = map[string]bool{}
		}
		c.ran[base+"cancel/"+id] = true
	}

	return a
}

// Refused asserts a problem of that status, and gives its errors.
func (c *Check) Refused(a Answer, status int) []string {
	require.Equal(c, status, a.Status, "%s", a.Body)
	require.Equal(c, "application/problem+json", a.Header.Get("Content-Type"))
	require.NotEmpty(c, a.JSON["title"])
	require.NotEmpty(c, a.JSON["detail"])
	var lines []string
	list, _ := a.JSON["errors"].([]any)
	for _, line := range list {
		lines = append(lines, line.(string))
	}
	return lines
}

// What ends a run before its rules.
var (
	ErrUnreached = errors.New("the target does not answer")
	ErrRefused   = errors.New("the target refuses to be checked")
)
