// Package conformance checks every documented rule over HTTP: it talks to a URL and knows nothing of the server behind it.
// Each rule of spec/rules.yaml that is not open has one test here, and the other way round.
package conformance

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/stretchr/testify/require"
)

// Target is the server to check. Endpoint must be one whose workers are not running: the rules play the worker.
type Target struct {
	URL      string // base of REST, without a slash at the end
	QueueURL string // base of the queue
	Key      string // a key with every scope
	Endpoint string // endpoint id

	Managed     string  // id of an endpoint whose workers the server starts, and which never say anything; may be empty
	Declared    string  // id of an endpoint that the server's settings declare; may be empty
	ControlsKey string  // the key of its test controls; rules that need them are skipped without it
	Guarded     *Target // a server like this one, but that posts to no private address; may be nil
}

// scopesOf names the further keys that rules use.
var scopesOf = map[string][]string{
	"read":    {"rest:read"},
	"write":   {"rest:write"},
	"other":   {"queue:otherendpoint1:invoke"},
	"any":     {"queue:*:invoke"},
	"graphql": {"graphql:read", "graphql:write"},
	"admin":   {"admin"},
	"exempt":  {"all"},
	"expired": {"all"},
}

// Rule is a documented rule with its test. ID is the id in spec/rules.yaml.
type Rule struct {
	ID   string
	Ops  []string // ids of the operations that it exercises
	Test func(*Check)
}

// areas make the rules, and are named by the files of this package, one for each resource. The program that this package is part
// of starts without making them.
var areas []func()

func area(rules func()) (named bool) {
	areas = append(areas, rules)
	return true
}

// rules is filled by the areas.
var rules []Rule

var fill = sync.OnceFunc(func() {
	for _, rules := range areas {
		rules()
	}
})

func add(id string, ops []string, test func(*Check)) {
	rules = append(rules, Rule{id, ops, func(c *Check) {
		defer c.cleanUp()
		c.begin()
		test(c)
	}})
}

// Rules gives all rules, sorted by id.
func Rules() []Rule {
	fill()
	return slices.SortedFunc(slices.Values(rules), func(a, b Rule) int { return strings.Compare(a.ID, b.ID) })
}

// Check is what a rule's test is given: the target, and a place to fail.
type Check struct {
	require.TestingT
	Target
	Spec *Documents
	Skip func(why string) // ends the test: the target lacks what it needs

	pods []string // that the test created
	made []string // paths of what else it created
	mu   sync.Mutex
	ran  map[string]bool // jobs that were not seen to have ended; a request may be held while another is sent
}

// begin takes back what a rule that failed may have left, and lets a rule make as many requests as it likes.
func (c *Check) begin() {
	if c.ControlsKey != "" {
		c.set("PUT", "faults", `{"faults":[]}`)
		c.set("PUT", "storage", writable)
		c.set("PUT", "quotas", fmt.Sprintf(`{"minute":%[1]d,"hour":%[1]d,"day":%[1]d}`, plenty))
	}
}

// cleanUp deletes what a test left, pods first because they use the rest, and cancels its jobs, so that one that fails
// disturbs no other.
func (c *Check) cleanUp() {
	for _, id := range c.pods {
		c.REST("DELETE", "/v2/pods/"+id, "")
	}
	for _, path := range slices.Backward(c.made) {
		c.REST("DELETE", path, "")
	}
	c.mu.Lock()
	jobs := slices.Collect(maps.Keys(c.ran))
	c.mu.Unlock()
	for _, id := range jobs {
		c.Queue("POST", "cancel/"+id, "")
	}
}

// key makes a further key of the same user and gives it as a header.
func (c *Check) key(name string) string {
	scopes, more := scopesOf[name], ""
	switch name {
	case "invoke":
		scopes = []string{"queue:" + c.Endpoint + ":invoke"}
	case "exempt":
		more = `,"exempt":true`
	case "expired":
		more = `,"expiresIn":1`
	}
	_, key := c.newKey(more, scopes...)
	if name == "expired" {
		c.advance(time.Second)
	}
	return "Bearer " + key
}

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

// Send sends the request and checks that the documents know the answer.
func (c *Check) Send(r Request) Answer {
	req, err := http.NewRequest(r.Method, r.URL, strings.NewReader(r.Body))
	require.NoError(c, err)
	switch r.Key {
	case "-":
	case "":
		key := c.Key
		if strings.HasPrefix(req.URL.Path, controlsPath) {
			key = c.ControlsKey
		}
		req.Header.Set("Authorization", "Bearer "+key)
	default:
		req.Header.Set("Authorization", r.Key)
	}
	if r.Body != "" {
		req.Header.Set("Content-Type", "application/json")
	}
	for name, value := range r.Header {
		req.Header.Del(name)
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	res, err := client.Do(req)
	require.NoError(c, err)
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	require.NoError(c, err)
	a := Answer{Status: res.StatusCode, Header: res.Header, Body: body}
	var value any
	notJSON := json.Unmarshal(body, &value)
	c.Spec.check(c, req, a, value, notJSON)
	a.JSON, _ = value.(map[string]any) // an array, or nothing, leaves it nil
	return a
}

// Operations gives every operation that the target has.
func (c *Check) Operations() []Operation {
	return slices.DeleteFunc(c.Spec.Operations(), func(op Operation) bool { return op.Document == "controls" && c.ControlsKey == "" })
}

// REST sends a request to the REST interface.
func (c *Check) REST(method, path, body string) Answer {
	return c.Send(Request{Method: method, URL: c.URL + path, Body: body})
}

// Queue sends a request to an operation of the endpoint's queue.
func (c *Check) Queue(method, operation, body string) Answer {
	a := c.Send(Request{Method: method, URL: c.QueueURL + "/v2/" + c.Endpoint + "/" + operation, Body: body})
	id, ok := a.JSON["id"].(string)
	if !ok {
		return a
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	switch a.JSON["status"] {
	case "COMPLETED", "FAILED", "CANCELLED", "TIMED_OUT":
		delete(c.ran, id)
	default:
		if c.ran == nil {
			c.ran = map[string]bool{}
		}
		c.ran[id] = true
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

// patience is how long is waited in real time for what happens unasked. It ends a wait that would not end; a machine may be slow.
const patience = time.Minute

// Eventually calls f until it is true, for as long as there is patience: what it waits for happens unasked. Where the
// clock of the target can be set, it moves it on between the looks.
func (c *Check) Eventually(f func() bool, what string) {
	deadline := time.Now().Add(patience)
	for !f() {
		require.True(c, time.Now().Before(deadline), "not within %s: %s", patience, what)
		if c.ControlsKey == "" {
			<-time.After(200 * time.Millisecond) // seldom enough to stay below the quota of requests
			continue
		}
		<-time.After(time.Millisecond)
		c.advance(100 * time.Millisecond)
	}
}
