package main

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"time"
)

// ready is how long the server may take to say that it is ready.
const ready = 2 * time.Minute

// The endpoints: one that is abused, and that of the well-behaved client.
const (
	abused  = "abused"
	behaved = "behaved"
)

// server is a running berth.
type server struct {
	cmd       *exec.Cmd
	data      string
	URL       string            `json:"url"`
	Key       string            `json:"key"` // of those who abuse it
	Endpoints map[string]string `json:"endpoints"`
	good      string            // the key of the well-behaved client
	address   string
	bound     time.Duration // that a request of the well-behaved client may take
	patience  time.Duration // with what makes no progress
	beside    *server       // one that is not abused, which shows how slow the machine is; nil: it is not slow
}

// start starts berth with a key for each side, and waits until it is ready.
func start(berth, data string) (*server, error) {
	s := &server{data: data}
	s.cmd = exec.Command(berth, "serve", "--json", "--data", data, "--listen", "127.0.0.1:0", "--endpoint", abused+"=", "--endpoint", behaved+"=",
		"--graphql-introspection", "--quota-minute", "1000000", "--quota-hour", "1000000", "--quota-day", "1000000")
	logs, err := os.OpenFile(data+".log", os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return nil, err
	}

	defer func() { _ = logs.Close() }()
	s.cmd.Stderr = logs
	out, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}

	late := time.AfterFunc(ready, func() { _ = s.cmd.Process.Kill() }) // ends the read below
	line, err := bufio.NewReader(out).ReadBytes('\n')
	late.Stop()
	if err == nil {
		err = json.Unmarshal(line, s)
	}
	if err != nil {
		s.kill()
		return nil, fmt.Errorf("the server did not say that it is ready: %w", err)
	}

	s.address = strings.TrimPrefix(s.URL, "http://")
	key, err := exec.Command(berth, "keys", "create", "--name", behaved, "--data", data).Output()
	if err != nil {
		s.kill()
		return nil, fmt.Errorf("no key was made: %w", err)
	}

	s.good = string(bytes.TrimSpace(key))
	return s, nil
}

func (s *server) kill() {
	_ = s.cmd.Process.Kill()
	_ = s.cmd.Wait()
}

// log gives the end of what the server logged.
func (s *server) log() string {
	text, err := os.ReadFile(s.data + ".log")
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-4000):])
}

// resident gives how many bytes of memory the server has.
func (s *server) resident() (int64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	_, rest, found := strings.Cut(string(text), "VmRSS:")
	var kilobytes int64
	if _, err := fmt.Sscan(rest, &kilobytes); !found || err != nil {
		return 0, errors.New("the server has ended")
	}
	return kilobytes << 10, nil
}

// watch measures the memory until over is closed, and gives the most.
func (s *server) watch(over <-chan struct{}) <-chan int64 {
	most := make(chan int64, 1)
	go func() {
		var peak int64
		for {
			now, err := s.resident()
			if err != nil {
				peak = -1
			}
			peak = max(peak, now)

			select {
			case <-over:
				most <- peak
				return
			case <-time.After(10 * time.Millisecond):
			}
		}
	}()

	return most
}

// suffer has the server suffer the abuse beside the well-behaved client, prints what was measured, and fails if a bound is broken.
func (s *server) suffer(a abuse) error {
	over := make(chan struct{})
	most := s.watch(over)
	client := s.behave(over)
	bound, afterwards := s.bound, make(chan struct{})
	var beside <-chan report
	if s.beside != nil {
		beside = s.beside.behave(afterwards)
	}
	what, err := a.do()
	close(over)
	peak, report := <-most, <-client
	close(afterwards) // what slowed the last requests slowed those beside, too
	if beside != nil {
		bound += 2 * (<-beside).slowest
	}

	fmt.Printf("%-34s %6d MB %9d %6d ms %8d  %s\n", a.name, peak>>20, report.requests, report.slowest.Milliseconds(), len(report.failures), what)
	errs := []error{err}
	if peak > mostMemory {
		errs = append(errs, fmt.Errorf("%d MB were resident; the bound is %d", peak>>20, mostMemory>>20))
	}
	if report.slowest > bound {
		errs = append(errs, fmt.Errorf("%s of the well-behaved client took %s; the bound is %s", report.slow, report.slowest, bound))
	}
	if n := len(report.failures); n > 0 {
		errs = append(errs, fmt.Errorf("%d requests of the well-behaved client failed, the first one: %w", n, report.failures[0]))
	}
	if report.requests == 0 {
		errs = append(errs, errors.New("the well-behaved client made no request"))
	}
	if _, gone := s.resident(); gone != nil {
		errs = append(errs, gone)
	}

	return errors.Join(errs...)
}

// dial opens a connection.
func (s *server) dial() (net.Conn, error) { return net.DialTimeout("tcp", s.address, time.Minute) }

// head gives the head of a request whose body has the length; -1: none is given, and it comes in chunks.
func (s *server) head(method, path, key string, length int) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: %s\r\n", method, path, s.address)
	if key != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", key)
	}

	switch {
	case length < 0:
		b.WriteString("Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n")
	case length > 0:
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", length)
	}

	b.WriteString("\r\n")
	return b.String()
}

// queue gives the path of an operation of the queue.
func (s *server) queue(endpoint, operation string) string {
	return "/v2/" + s.Endpoints[endpoint] + "/" + operation
}

// call makes a request and gives the answer.
func (s *server) call(client *http.Client, method, path, key string, body io.Reader) (int, []byte, error) {
	req, err := http.NewRequest(method, s.URL+path, body)
	if err != nil {
		return 0, nil, err
	}
	if key != "" {
		req.Header.Set("Authorization", "Bearer "+key)
	}
	if body != nil {
		req.Header.Set("Content-Type", "application/json")
	}

	res, err := client.Do(req)
	if err != nil {
		return 0, nil, err
	}
	defer func() { _ = res.Body.Close() }()
	text, err := io.ReadAll(res.Body)

	return res.StatusCode, text, err
}

// stalled are connections that make no progress.
type stalled struct {
	connections []net.Conn
	since       time.Time     // all were open
	patience    time.Duration // with them
	refused     atomic.Int64  // could not be opened, or were closed at once
}

func (s *stalled) close() {
	for _, c := range s.connections {
		_ = c.Close()
	}
}
