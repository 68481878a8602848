package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
)

// connections is how many the loads use.
const connections = 64

// kilobyte is the body of a submission, 1 KB in all.
var kilobyte = fmt.Appendf(nil, `{"input":{"prompt":"%s"}}`, bytes.Repeat([]byte("lorem ips "), 100))

// The bodies of createPod: the one is stored, the other refused.
var (
	goodPod = []byte(`{"name":"bench","image":"ubuntu:24.04","cpu":{"id":"cpu3g","vcpuCount":2}}`)
	badPod  = []byte(`{"name":"bench","image":"ubuntu:24.04","cpu":{"id":"cpu3g","vcpuCount":3}}`)
)

// createPod makes a request with a body of createPod.
func (s *server) createPod(body []byte) []byte {
	return request(http.MethodPost, "/v2/pods", s.key, body)
}

// constant measures the rate of one request on 64 connections.
func (b *bench) constant(s *server, want int, req []byte) func() (reading, error) {
	return func() (reading, error) { return s.rate(connections, b.length, want, forever(req)) }
}

// submissions measures the rate of /run on 64 connections, and empties the queue afterwards.
func (b *bench) submissions(s *server) func() (reading, error) {
	return s.thenIdle(func() (reading, error) {
		r, err := b.constant(s, http.StatusOK, s.post("run", kilobyte))()
		return r, errors.Join(err, s.purge())
	})
}

// pods measures the rate of createPod on 64 connections.
func (b *bench) pods(s *server, want int, body []byte) func() (reading, error) {
	return s.thenIdle(b.constant(s, want, s.createPod(body)))
}

// roundTrips measures /runsync on one connection, with one worker that answers at once.
func (b *bench) roundTrips(s *server) func() (reading, error) {
	return func() (reading, error) {
		return withWorkers(s, 1, func() (reading, error) { return s.latency(b.length, s.post("runsync", kilobyte)) })
	}
}

// requests measures berth's requests beside a bare echo server's. A job's answer comes after its commit, with
// authentication and validation.
func (b *bench) requests() error {
	bare, err := b.bare("echo")
	if err != nil {
		return err
	}
	defer bare.stop()
	plain, err := b.bare("net/http")
	if err != nil {
		return err
	}

	defer plain.stop()
	least, err := b.bare("least")
	if err != nil {
		return err
	}

	defer least.stop()
	berth, err := b.serve(b.directory())
	if err != nil {
		return err
	}

	defer berth.stop()
	status, err := b.statusRate(berth)
	if err != nil {
		return err
	}
	post := request(http.MethodPost, "/", "", kilobyte)
	barePost, bareGet := b.constant(bare, http.StatusOK, post), b.constant(bare, http.StatusOK, request(http.MethodGet, "/", "", nil))
	b.heading()

	for _, r := range []row{
		{name: "bare net/http, 64 connections", reference: barePost, measured: b.constant(plain, http.StatusOK, post), unit: "requests/s"},
		{name: "/status, 64 connections", reference: bareGet, measured: status, unit: "requests/s", asked: atLeast(0.75)},
		{name: "/run, 64 connections", reference: barePost, measured: b.submissions(berth), unit: "requests/s", asked: atLeast(0.45)},
		{name: "take + done, 64 connections", reference: barePost, measured: b.drain(berth, 1),
			unit: "jobs/s, requests/s", asked: atLeast(0.25)},
		{name: "take + done, batches of 10", reference: barePost, measured: b.drain(berth, 10),
			unit: "jobs/s, requests/s", asked: atLeast(0.40)},
		{name: "/runsync, one connection, beside what it must do", reference: b.roundTrips(least), measured: b.roundTrips(berth),
			unit: "µs, median", asked: atMost(1.6)},
		{name: "/runsync, 64 connections", reference: barePost, measured: b.synced(berth), unit: "requests/s", asked: atLeast(0.10)},
	} {
		if err := r.print(b); err != nil {
			return err
		}
		if strings.HasPrefix(r.name, "/status") { // its jobs wait
			if err := berth.purge(); err != nil {
				return err
			}
		}
	}

	if err := b.spent("server CPU of a /runsync alone", atMost(200), b.roundTrips(berth)); err != nil {
		return err
	}
	if err := b.besideMemory(berth); err != nil {
		return err
	}
	return b.createPods(berth, barePost)
}

// createPods measures createPod beside the bare server.
func (b *bench) createPods(berth *server, barePost func() (reading, error)) error {
	for _, r := range []row{
		{name: "createPod refused", reference: barePost, measured: b.pods(berth, http.StatusUnprocessableEntity, badPod),
			unit: "requests/s", asked: atLeast(0.6)},
		{name: "createPod stored", reference: barePost, measured: b.pods(berth, http.StatusCreated, goodPod),
			unit: "requests/s", asked: atLeast(0.33)},
	} {
		if err := r.print(b); err != nil {
			return err
		}
	}

	return nil
}

// spent measures the server's processor time of one unit.
func (b *bench) spent(name string, asked bound, measure func() (reading, error)) error {
	if !b.wants(name) {
		return nil
	}
	used := make([]float64, b.rounds)
	for i := range used {
		r, err := measure()
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		used[i] = r.cpu
	}
	b.number(name, "µs", asked, used...)
	return nil
}

// besideMemory measures /runsync beside the same server whose data is in memory. There is one store: the reference has it on a
// file system in memory, where a commit and its fsync wait for no disk.
func (b *bench) besideMemory(berth *server) error {
	const name = "/runsync beside data in memory, one connection"
	if !b.wants(name) {
		return nil
	}
	if err := os.Mkdir(b.inMemory(), 0o700); err != nil {
		b.skipped(name, fmt.Sprintf("no file system in memory: %v", err))
		return nil
	}

	reference, err := b.serve(filepath.Join(b.inMemory(), "data"))
	if err != nil {
		return err
	}
	defer reference.stop()
	return row{name: name, reference: b.roundTrips(reference), measured: b.roundTrips(berth), unit: "µs, median", asked: atMost(2.5)}.print(b)
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
func (b *bench) drain(s *server, batch int) func() (reading, error) {
	return s.thenIdle(func() (reading, error) {
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

		return r, errors.Join(err, s.purge())
	})
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
