package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
)

// connections is how many the loads use.
const connections = 64

// kilobyte is the body of a submission, 1 KB in all.
var kilobyte = fmt.Appendf(nil, `{"input":{"prompt":"%s"}}`, bytes.Repeat([]byte("lorem ips "), 100))

// requests measures berth's requests beside a bare echo server's. A job's answer comes after its commit, with
// authentication and validation.
func (b *bench) requests() error {
	bare, err := b.bare()
	if err != nil {
		return err
	}
	defer bare.stop()
	berth, err := b.serve(b.directory())
	if err != nil {
		return err
	}
	defer berth.stop()
	post, get := request(http.MethodPost, "/", "", kilobyte), request(http.MethodGet, "/", "", nil)
	bareRate := func(req []byte) func() (reading, error) {
		return func() (reading, error) { return bare.rate(connections, b.length, http.StatusOK, forever(req)) }
	}
	berthRate := func(want int, req []byte) func() (reading, error) {
		return func() (reading, error) { return berth.rate(connections, b.length, want, forever(req)) }
	}
	ids, err := berth.fill(1000)
	if err != nil {
		return err
	}
	var turn atomic.Int64
	statuses := make([][]byte, len(ids))
	for i, id := range ids {
		statuses[i] = berth.get("status/" + id)
	}
	status := func() []byte { return statuses[int(turn.Add(1))%len(statuses)] }
	header()
	rows := []row{
		{"/status, 64 connections", bareRate(get), func() (reading, error) {
			return berth.rate(connections, b.length, http.StatusOK, status)
		}, "requests/s"},
		{"/run, 64 connections", bareRate(post), func() (reading, error) {
			defer func() { _ = berth.purge() }()
			return berthRate(http.StatusOK, berth.post("run", kilobyte))()
		}, "requests/s"},
		{"take + done, 64 connections", bareRate(post), func() (reading, error) { return b.drain(berth, 1) }, "jobs/s, requests/s"},
		{"take + done, batches of 10", bareRate(post), func() (reading, error) { return b.drain(berth, 10) }, "jobs/s, requests/s"},
		{"/runsync, one connection", func() (reading, error) { return bare.latency(b.length, post) },
			func() (reading, error) {
				return withWorkers(berth, 1, func() (reading, error) {
					return berth.latency(b.length, berth.post("runsync", kilobyte))
				})
			}, "µs, median"},
		{"/runsync, 64 connections", bareRate(post), func() (reading, error) {
			return withWorkers(berth, connections, berthRate(http.StatusOK, berth.post("runsync", kilobyte)))
		}, "requests/s"},
		{"createPod refused", bareRate(post), berthRate(http.StatusUnprocessableEntity,
			request(http.MethodPost, "/v2/pods", berth.key, []byte(`{"name":"bench","image":"ubuntu:24.04","cpu":{"id":"cpu3g","vcpuCount":3}}`))), "requests/s"},
		{"createPod stored", bareRate(post), berthRate(http.StatusCreated,
			request(http.MethodPost, "/v2/pods", berth.key, []byte(`{"name":"bench","image":"ubuntu:24.04","cpu":{"id":"cpu3g","vcpuCount":2}}`))), "requests/s"},
	}
	for _, r := range rows {
		if r.name == "take + done, 64 connections" {
			if err := berth.purge(); err != nil {
				return err
			}
		}
		if err := r.print(b); err != nil {
			return err
		}
	}
	return nil
}

// fill submits jobs and gives their ids.
func (s *server) fill(jobs int) ([]string, error) {
	ids := make([]string, jobs)
	var next atomic.Int64
	err := each(s.address, connections, func(_ int, c *conn) error {
		req := s.post("run", kilobyte)
		for i := next.Add(1) - 1; i < int64(jobs); i = next.Add(1) - 1 {
			body, err := c.ask(req, http.StatusOK)
			if err != nil {
				return err
			}
			if ids[i], err = idOf(body); err != nil {
				return err
			}
		}
		return nil
	})
	return ids, err
}

// idOf gives the first id of a job in an answer.
func idOf(body []byte) (string, error) {
	_, rest, found := bytes.Cut(body, []byte(`"id":"`))
	id, _, ended := bytes.Cut(rest, []byte(`"`))
	if !found || !ended {
		return "", fmt.Errorf("no id in %s", body)
	}
	return string(id), nil
}

// drain submits jobs and then has workers take and finish them: jobs a second of the latter alone.
func (b *bench) drain(s *server, batch int) (reading, error) {
	jobs := int(8000 * b.length.Seconds())
	if _, err := s.fill(jobs); err != nil {
		return reading{}, err
	}
	var done atomic.Int64
	r, err := s.reading(func() (int64, error) {
		err := each(s.address, connections, func(i int, c *conn) error {
			take := s.get(fmt.Sprintf("job-take/bench%d", i))
			if batch > 1 {
				take = s.get(fmt.Sprintf("job-take-batch/bench%d?batch_size=%d", i, batch))
			}
			for done.Load() < int64(jobs-connections*batch) { // the last ones would be held
				n, err := s.work(c, i, take)
				if err != nil {
					return err
				}
				done.Add(int64(n))
			}
			return nil
		})
		return done.Load(), err
	})
	if err == nil {
		err = s.purge()
	}
	return r, err
}

// work takes what the worker gets and reports each job done; it gives how many there were.
func (s *server) work(c *conn, worker int, take []byte) (int, error) {
	status, body, err := c.do(take)
	if err != nil || status == http.StatusNoContent {
		return 0, err
	}
	if status != http.StatusOK {
		return 0, fmt.Errorf("job-take: %d: %s", status, body)
	}
	var ids []string
	if body[0] == '[' {
		var jobs []struct{ ID string }
		if err := json.Unmarshal(body, &jobs); err != nil {
			return 0, err
		}
		for _, j := range jobs {
			ids = append(ids, j.ID)
		}
	} else {
		id, err := idOf(body)
		if err != nil {
			return 0, err
		}
		ids = []string{id}
	}
	for _, id := range ids {
		if _, err := c.ask(s.post(fmt.Sprintf("job-done/bench%d/%s", worker, id), []byte(`{"output":{"answer":42}}`)), http.StatusOK); err != nil {
			return 0, err
		}
	}
	return len(ids), nil
}

// withWorkers measures while so many workers, each with a connection of its own, take and finish jobs at once.
func withWorkers(s *server, workers int, measure func() (reading, error)) (reading, error) {
	stop := make(chan struct{})
	var group sync.WaitGroup
	errs := make([]error, workers)
	for i := range workers {
		c, err := dial(s.address)
		if err != nil {
			return reading{}, err
		}
		closed := make(chan struct{})
		group.Go(func() {
			defer close(closed)
			take := s.get(fmt.Sprintf("job-take/bench%d", i))
			for {
				_, err := s.work(c, i, take)
				select {
				case <-stop:
					return
				default:
				}
				if err != nil {
					errs[i] = err
					return
				}
			}
		})
		group.Go(func() {
			select {
			case <-stop: // hangs up on the take that is held
			case <-closed:
			}
			_ = c.Close()
		})
	}
	measured, err := measure()
	close(stop)
	group.Wait()
	return measured, errors.Join(append(errs, err)...)
}
