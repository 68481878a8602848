package worker

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// TakePath is in the URL of a take. Those of its siblings differ in this segment.
const TakePath = "/job-take/"

const (
	takeBatchPath = "/job-take-batch/"
	stopPath      = "/job-stop/"
)

// takenJob is a job as a worker gets it; there may be more members.
type takenJob struct {
	ID    string          `json:"id"`
	Input json.RawMessage `json:"input"`
}

// errTooMany is the answer 429 to a poll.
var errTooMany = errors.New("asked to slow down")

// statusError is an answer that is no success.
type statusError int

func (e statusError) Error() string { return "the server answered " + strconv.Itoa(int(e)) }

// client speaks the protocol. It knows neither jobs held nor handlers.
type client struct {
	Settings
	http *http.Client
}

func newClient(s Settings) *client {
	return &client{Settings: s, http: &http.Client{Transport: &http.Transport{ // its own: a program may have put anything in place of the default one
		Proxy:                 s.Proxy,
		DialContext:           (&net.Dialer{Timeout: 30 * time.Second, KeepAlive: 30 * time.Second}).DialContext,
		ForceAttemptHTTP2:     true,
		MaxIdleConnsPerHost:   s.Concurrency + 3, // a report for each job, a take, a stop and a ping
		IdleConnTimeout:       90 * time.Second,
		TLSHandshakeTimeout:   10 * time.Second,
		ExpectContinueTimeout: time.Second,
	}}}
}

// withQuery adds to the query. The URLs given have one; the SDK breaks on those that have none.
func withQuery(address, query string) string {
	if strings.Contains(address, "?") {
		return address + "&" + query
	}
	return address + "?" + query
}

// send makes a request and gives the body of its answer if that is 200, and nothing if it is another success.
func (c *client) send(ctx context.Context, method, address string, body []byte) ([]byte, error) {
	if c.Address != nil {
		address = c.Address(address)
	}
	request, err := http.NewRequestWithContext(ctx, method, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	request.Header.Set("Authorization", c.Key)
	request.Header.Set("User-Agent", c.Agent)
	if body != nil {
		request.Header.Set("Content-Type", "application/json")
	}

	answer, err := c.http.Do(request)
	if err != nil {
		return nil, err
	}
	defer func() { _ = answer.Body.Close() }()

	text, err := io.ReadAll(answer.Body) // to the end even if nobody wants it: else the connection is of no more use
	switch {
	case answer.StatusCode == http.StatusOK:
		return text, err
	case answer.StatusCode < 300:
		return nil, nil
	case answer.StatusCode == http.StatusTooManyRequests:
		return nil, errTooMany
	default:
		return nil, statusError(answer.StatusCode)
	}
}

// poll is send for a request that the server holds. That nothing came for long is no error. What has begun to come has the time of any answer: it
// may be a long input on a slow line.
func (c *client) poll(ctx context.Context, address string) ([]byte, error) {
	held, cancel := context.WithCancel(ctx)
	defer cancel()
	late := time.AfterFunc(c.Pauses.Poll, cancel)
	defer late.Stop()
	comes := &httptrace.ClientTrace{GotFirstResponseByte: func() { late.Reset(c.Pauses.Send) }}
	text, err := c.send(httptrace.WithClientTrace(held, comes), http.MethodGet, address, nil)
	if err != nil && ctx.Err() == nil && held.Err() != nil {
		return nil, nil
	}
	return text, err
}

// take asks for up to n jobs.
func (c *client) take(ctx context.Context, n int, busy bool) ([]takenJob, error) {
	address := c.TakeURL
	if n > 1 {
		address = withQuery(strings.Replace(address, TakePath, takeBatchPath, 1), "batch_size="+strconv.Itoa(n))
	}
	progress := "job_in_progress=0"
	if busy {
		progress = "job_in_progress=1"
	}
	text, err := c.poll(ctx, withQuery(address, progress))
	if err != nil {
		return nil, err
	}

	return readTaken(text)
}

// readTaken reads a job, a list of jobs, or nothing: each may come from either URL. With an error it gives those that can
// be run.
func readTaken(text []byte) ([]takenJob, error) {
	var jobs []takenJob
	switch text = bytes.TrimSpace(text); {
	case len(text) == 0:
		return nil, nil
	case text[0] == '[':
		if err := json.Unmarshal(text, &jobs); err != nil {
			return nil, fmt.Errorf("jobs taken: %w", err)
		}
	default:
		var job *takenJob
		if err := json.Unmarshal(text, &job); err != nil {
			return nil, fmt.Errorf("job taken: %w", err)
		}
		if job == nil {
			return nil, nil
		}
		jobs = []takenJob{*job}
	}

	all := len(jobs)
	jobs = slices.DeleteFunc(jobs, func(job takenJob) bool { return job.ID == "" || job.Input == nil })
	if len(jobs) < all {
		return jobs, errors.New("jobs taken: one has no id or no input")
	}
	return jobs, nil
}

// stops asks which jobs to stop.
func (c *client) stops(ctx context.Context) ([]string, error) {
	text, err := c.poll(ctx, strings.Replace(c.TakeURL, TakePath, stopPath, 1))
	if err != nil || len(text) == 0 {
		return nil, err
	}
	var list struct {
		JobsToStop []string `json:"jobsToStop"`
	}
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, fmt.Errorf("jobs to stop: %w", err)
	}
	return list.JobsToStop, nil
}

// ping reports to the server which jobs the worker holds.
func (c *client) ping(ctx context.Context, jobs []string) error {
	ctx, cancel := context.WithTimeout(ctx, 2*c.PingInterval)
	defer cancel()
	address := c.PingURL
	if len(jobs) > 0 {
		escaped := make([]string, len(jobs))
		for i, id := range jobs {
			escaped[i] = url.QueryEscape(id)
		}
		address = withQuery(address, "job_id="+strings.Join(escaped, ","))
	}
	_, err := c.send(ctx, http.MethodGet, address, nil)
	return err
}

// report is what a worker says of a job that has ended.
type report struct {
	Output json.RawMessage `json:"output,omitempty"`
	Error  *string         `json:"error,omitempty"` // an empty one fails the job too
}

// chunk is one value of a streamed output.
type chunk struct {
	Output json.RawMessage `json:"output"`
}

// done reports that a job has ended. isStream marks the last report of a streaming handler.
func (c *client) done(ctx context.Context, job string, r report, isStream bool) error {
	return c.post(ctx, c.DoneURL, job, isStream, r)
}

// stream reports one value of a streamed output.
func (c *client) stream(ctx context.Context, job string, value json.RawMessage) error {
	return c.post(ctx, c.StreamURL, job, false, chunk{Output: value})
}

// post sends a report, again and again for a minute if the server cannot be reached or has trouble: the result of a job is
// worth more than a moment's outage. The minute begins with the first failure: a long result on a slow line takes its time. The end of a job that
// was received twice changes nothing the second time; a value of a stream whose answer was lost is there twice.
func (c *client) post(ctx context.Context, address, job string, isStream bool, body any) error {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(body); err != nil {
		return err
	}

	outage, over := context.WithCancel(ctx)
	defer over()
	begin := sync.OnceFunc(func() { time.AfterFunc(c.Pauses.Post, over) })
	address = withQuery(strings.ReplaceAll(address, "$ID", url.PathEscape(job)), "isStream="+strconv.FormatBool(isStream))
	for wait := c.Pauses.FirstPost; ; wait = min(2*wait, c.Pauses.LastPost) {
		sent, cancel := context.WithTimeout(ctx, c.Pauses.Send)
		_, err := c.send(sent, http.MethodPost, address, text.Bytes())
		cancel()
		var status statusError
		if err == nil || errors.As(err, &status) && status < 500 {
			return err
		}
		begin()
		if Pause(outage, wait) != nil {
			return err
		}
	}
}

// Pause waits for d of real time, unless ctx ends first.
func Pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
