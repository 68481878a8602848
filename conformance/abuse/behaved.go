package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"time"
)

// report is what the well-behaved client met.
type report struct {
	requests int
	slowest  time.Duration
	slow     string // what that was
	failures []error
}

// client is the well-behaved one: it submits jobs, works on them as their worker, and looks at everything.
type client struct {
	*server
	http *http.Client
	report
}

// behave has the client work until over is closed.
func (s *server) behave(over <-chan struct{}) <-chan report {
	done := make(chan report, 1)
	c := &client{server: s, http: &http.Client{Timeout: 2 * time.Minute, Transport: &http.Transport{}}}
	go func() {
		defer c.http.CloseIdleConnections()
		for round := 0; ; round++ {
			select {
			case <-over:
				done <- c.report
				return
			case <-time.After(20 * time.Millisecond):
				c.round(round)
			}
		}
	}()

	return done
}

// ask makes a request, measures it and gives its answer, which must be 200.
func (c *client) ask(method, path, key string, body io.Reader) []byte {
	start := time.Now()
	status, answer, err := c.call(c.http, method, path, key, body)
	took := time.Since(start)
	name := strings.TrimPrefix(method+" "+path, c.Endpoints[behaved])
	c.requests++
	if took > c.slowest {
		c.slowest, c.slow = took, name
	}
	if err == nil && status != http.StatusOK {
		err = fmt.Errorf("%d %.200s", status, answer)
	}
	if err != nil {
		c.failures = append(c.failures, fmt.Errorf("%s after %s: %w", name, took, err))
		return nil
	}

	return answer
}

// round does a little of everything; of what is large, only now and then.
func (c *client) round(n int) {
	input := `{"n":` + fmt.Sprint(n) + `}`
	large := n%10 == 5
	if large {
		input = `{"text":"` + strings.Repeat("x", 2_000_000) + `"}`
	}
	body := []byte(`{"input":` + input + `}`)
	var reader io.Reader = bytes.NewReader(body)
	if n%20 == 5 {
		reader = struct{ io.Reader }{reader} // of no length: it is sent in chunks
	}

	var job struct{ ID, Status string }
	if json.Unmarshal(c.ask("POST", c.queue(behaved, "run"), c.good, reader), &job) != nil {
		return
	}
	c.ask("GET", c.queue(behaved, "status/"+job.ID), c.good, nil)
	var taken struct {
		ID    string          `json:"id"`
		Input json.RawMessage `json:"input"`
	}

	if json.Unmarshal(c.ask("GET", c.queue(behaved, "job-take/worker"), c.good, nil), &taken) == nil {
		if taken.ID != job.ID || string(taken.Input) != input {
			c.failures = append(c.failures, fmt.Errorf("another job was taken than the one that was submitted: %s", taken.ID))
		}
		c.ask("POST", c.queue(behaved, "job-done/worker/"+taken.ID), c.good, strings.NewReader(`{"output":`+input+`}`))
	}

	var ended struct {
		Status string
		Output json.RawMessage
	}
	if json.Unmarshal(c.ask("GET", c.queue(behaved, "status/"+job.ID), c.good, nil), &ended) == nil && (ended.Status != "COMPLETED" || string(ended.Output) != input) {
		c.failures = append(c.failures, fmt.Errorf("a job is %s with an output of %d bytes, not of %d", ended.Status, len(ended.Output), len(input)))
	}
	c.ask("GET", "/healthz", "", nil)

	if n%3 == 0 {
		c.ask("GET", "/v2/pods", c.good, nil)
		c.ask("POST", "/graphql", c.good, strings.NewReader(`{"query":"{myself{id pods{id}} gpuTypes{id}}"}`))
		c.http.CloseIdleConnections() // the next request needs a new connection
	}
}
