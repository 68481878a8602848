package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// large is how many bytes an input or an output has that nobody reads.
const large = 9_900_000

// largeInput submits a job with a large input for each reader, and gives the request that takes one.
func (s *server) largeInput(n int) (string, error) {
	body := `{"input":{"text":"` + strings.Repeat("x", large) + `"}}`
	for range n {
		if _, err := s.submit(body); err != nil {
			return "", err
		}
	}
	return s.head("GET", s.queue(abused, "job-take/reader"), s.Key, 0), nil
}

// largeBatches submits for each reader as many jobs as a worker may take at once, whose inputs are short enough to be in memory as a whole,
// and gives the request that takes them.
func (s *server) largeBatches(n int) (string, error) {
	const each, batch = 130_000, 62
	body := `{"input":{"text":"` + strings.Repeat("x", each) + `"}}`
	var all sync.WaitGroup
	errs := make([]error, 16)
	for i := range errs {
		all.Go(func() {
			for range n*batch/len(errs) + 1 {
				if _, err := s.submit(body); err != nil {
					errs[i] = err
					return
				}
			}
		})
	}
	all.Wait()
	return s.head("GET", s.queue(abused, "job-take-batch/reader")+"?batch_size=1000&job_in_progress=1", s.Key, 0), errors.Join(errs...)
}

// largeDocument makes a template of nearly a megabyte, and gives the request that reads it.
func (s *server) largeDocument(int) (string, error) {
	body := strings.NewReader(`{"name":"large","image":"i","env":{"A":"` + strings.Repeat("x", 900_000) + `"}}`)
	status, answer, err := s.call(http.DefaultClient, "POST", "/v2/templates", s.Key, body)
	var made struct{ ID string }
	if err == nil {
		err = json.Unmarshal(answer, &made)
	}
	if err != nil || status != http.StatusCreated {
		return "", fmt.Errorf("template: %d %.200s %w", status, answer, err)
	}
	return s.head("GET", "/v2/templates/"+made.ID, s.Key, 0), nil
}

// largeOutput runs a job with a large output, and gives the request that reads it.
func (s *server) largeOutput(int) (string, error) {
	id, err := s.submit(`{"input":{}}`)
	if err != nil {
		return "", err
	}
	status, answer, err := s.call(http.DefaultClient, "GET", s.queue(abused, "job-take/worker"), s.Key, nil)
	if err != nil || status != http.StatusOK {
		return "", fmt.Errorf("take: %d %s %w", status, answer, err)
	}

	output := strings.NewReader(`{"output":"` + strings.Repeat("x", large) + `"}`)
	status, answer, err = s.call(http.DefaultClient, "POST", s.queue(abused, "job-done/worker/"+id), s.Key, output)
	if err != nil || status != http.StatusOK {
		return "", fmt.Errorf("done: %d %s %w", status, answer, err)
	}
	return s.head("GET", s.queue(abused, "status/"+id), s.Key, 0), nil
}

func (s *server) submit(body string) (id string, err error) {
	status, answer, err := s.call(http.DefaultClient, "POST", s.queue(abused, "run"), s.Key, strings.NewReader(body))
	var job struct{ ID string }
	if err == nil {
		err = json.Unmarshal(answer, &job)
	}
	if err != nil || status != http.StatusOK {
		return "", fmt.Errorf("run: %d %.200s %w", status, answer, err)
	}
	return job.ID, nil
}

// readers opens connections that ask for something large and never read it. The system takes a part of it for them, as little as
// it can be asked to.
func (s *server) readers(n int, prepare func(n int) (request string, err error)) (string, error) {
	request, err := prepare(n)
	if err != nil {
		return "", err
	}

	all := s.open(n, func(_ int, c net.Conn) error {
		_ = c.(*net.TCPConn).SetReadBuffer(4096)
		_, err := io.WriteString(c, request)
		return err
	})
	defer all.close()
	var left atomic.Int64

	var work sync.WaitGroup
	for _, c := range all.connections {
		work.Go(func() {
			for time.Since(all.since) < all.patience { // to read would be progress
				if _, err := io.WriteString(c, "\n"); err != nil {
					return
				}
				time.Sleep(200 * time.Millisecond)
			}
			left.Add(1)
		})
	}

	work.Wait()
	took := time.Since(all.since).Round(time.Second)
	if left := left.Load(); left > 0 {
		return "", fmt.Errorf("%d of %d readers that never read are still there after %s", left, n, took)
	}
	return fmt.Sprintf("all %d were cut off within %s", n, took), nil
}
