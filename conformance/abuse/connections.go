package main

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// hold is how long connections are held that the server need not end so soon.
const hold = 3 * time.Second

// open opens n connections, a few at a time, and has each one do something.
func (s *server) open(n int, do func(i int, c net.Conn) error) *stalled {
	all := &stalled{patience: s.patience}
	var mu sync.Mutex
	var work sync.WaitGroup

	var next atomic.Int64
	for range 32 {
		work.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				c, err := s.dial()
				if err != nil {
					all.refused.Add(1)
					continue
				}

				if do(i, c) != nil {
					all.refused.Add(1)
				}
				mu.Lock()
				all.connections = append(all.connections, c)
				mu.Unlock()
			}
		})
	}

	work.Wait()
	all.since = time.Now()
	return all
}

// idle opens connections that have no request: half of them never had one.
func (s *server) idle(n int) (string, error) {
	request := s.head("GET", "/healthz", "", 0)
	all := s.open(n, func(i int, c net.Conn) error {
		if i%2 == 0 {
			return nil
		}
		_ = c.SetDeadline(time.Now().Add(time.Minute))
		if _, err := io.WriteString(c, request); err != nil {
			return err
		}
		_, err := c.Read(make([]byte, 1024))
		return err
	})
	defer all.close()
	time.Sleep(hold)

	ended := 0
	for _, c := range all.connections {
		_ = c.SetReadDeadline(time.Now().Add(time.Millisecond))
		if _, err := c.Read(make([]byte, 1)); !errors.Is(err, os.ErrDeadlineExceeded) {
			ended++
		}
	}

	return fmt.Sprintf("of %d connections %d were ended in favour of others", n, ended), nil
}

// ends waits until the server has ended each of the connections, and reports how long that took, and which statuses were answered.
func (s *stalled) ends() (string, error) {
	statuses, left := map[string]int{}, atomic.Int64{}
	var mu sync.Mutex
	var all sync.WaitGroup
	for _, c := range s.connections {
		all.Go(func() {
			_ = c.SetReadDeadline(s.since.Add(s.patience))
			text, err := io.ReadAll(io.LimitReader(c, 1<<10))
			if errors.Is(err, os.ErrDeadlineExceeded) {
				left.Add(1)
				return
			}

			status := "no answer"
			if line, _, found := strings.Cut(string(text), "\r\n"); found {
				status = strings.TrimPrefix(line, "HTTP/1.1 ")
			}
			mu.Lock()
			statuses[status]++
			mu.Unlock()
		})
	}

	all.Wait()
	took := time.Since(s.since).Round(time.Second)
	if n := left.Load(); n > 0 {
		return "", fmt.Errorf("%d of %d connections that make no progress are still there after %s", n, len(s.connections), took)
	}
	return fmt.Sprintf("all %d ended within %s: %v", len(s.connections), took, statuses), nil
}

// halfHeaders opens connections that send half a header.
func (s *server) halfHeaders(n int) (string, error) {
	all := s.open(n, func(_ int, c net.Conn) error {
		_, err := io.WriteString(c, "GET /v2/pods HTTP/1.1\r\nHost: a\r\nX-Half:")
		return err
	})
	defer all.close()
	return all.ends()
}

// halfBodies opens connections that send half a body, without a key.
func (s *server) halfBodies(n int) (string, error) {
	heads := []string{
		s.head("POST", "/v2/pods", "", 100_000) + "{", s.head("POST", s.queue(abused, "run"), "", 9_000_000) + strings.Repeat(" ", 10_000),
		s.head("POST", "/graphql", "", 60_000) + "{", s.head("POST", "/graphql", "", -1) + "1\r\n{\r\n", s.head("POST", "/nothing", "", -1),
	}
	all := s.open(n, func(i int, c net.Conn) error {
		_, err := io.WriteString(c, heads[i%len(heads)])
		return err
	})
	defer all.close()
	return all.ends()
}

// uploads opens connections that send a part of a body, with a key, and then nothing more.
func (s *server) uploads(n int) (string, error) {
	part := strings.Repeat(" ", 200_000)
	run := s.queue(abused, "run")
	sent := []string{
		s.head("POST", run, s.Key, 9_000_000) + part, s.head("POST", s.queue(abused, "runsync"), s.Key, 19_000_000) + "{",
		s.head("POST", run, s.Key, -1) + fmt.Sprintf("%x\r\n%s\r\n", len(part), part), s.head("POST", run, s.Key, 60_000) + part[:50_000],
		s.head("POST", "/v2/pods", s.Key, 1_000_000) + part, s.head("POST", "/graphql", s.Key, 1_000_000) + part,
		s.head("POST", s.queue(abused, "job-done/worker/none"), s.Key, 60_000_000) + part,
	}

	all := s.open(n, func(i int, c net.Conn) error {
		_, err := io.WriteString(c, sent[i%len(sent)])
		return err
	})
	defer all.close()
	return all.ends()
}
