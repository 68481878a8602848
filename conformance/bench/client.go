package main

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// conn is one keep-alive connection. It writes requests made beforehand and reads no more of an answer than it must: on a
// machine that client and server share, what the client spends the server lacks.
type conn struct {
	net.Conn
	buf []byte
	n   int // bytes of the answer in buf
}

func dial(address string) (*conn, error) {
	c, err := net.Dial("tcp", address)
	if err != nil {
		return nil, err
	}
	return &conn{Conn: c, buf: make([]byte, 16<<10)}, nil
}

// request is a whole HTTP request.
func request(method, path, key string, body []byte) []byte {
	var b bytes.Buffer
	fmt.Fprintf(&b, "%s %s HTTP/1.1\r\nHost: bench\r\n", method, path)
	if key != "" {
		fmt.Fprintf(&b, "Authorization: Bearer %s\r\n", key)
	}
	if body != nil {
		fmt.Fprintf(&b, "Content-Type: application/json\r\nContent-Length: %d\r\n", len(body))
	}
	b.WriteString("\r\n")
	b.Write(body)
	return b.Bytes()
}

var (
	headerEnd = []byte("\r\n\r\n")
	length    = []byte("\r\nContent-Length: ")
)

// do sends a request and gives the status and the body, which is valid until the next call.
func (c *conn) do(req []byte) (status int, body []byte, err error) {
	if _, err := c.Write(req); err != nil {
		return 0, nil, err
	}
	return c.answer()
}

// answer reads the answer to the request that was sent.
func (c *conn) answer() (status int, body []byte, err error) {
	c.n = 0
	for {
		n, err := c.Read(c.buf[c.n:])
		c.n += n
		if err != nil {
			return 0, nil, err
		}
		if end := bytes.Index(c.buf[:c.n], headerEnd); end >= 0 {
			return c.body(c.buf[:end], end+len(headerEnd))
		}
		if c.n == len(c.buf) {
			return 0, nil, errors.New("the header of an answer is too long")
		}
	}
}

func (c *conn) body(head []byte, begin int) (status int, body []byte, err error) {
	if status, err = strconv.Atoi(string(head[9:12])); err != nil {
		return 0, nil, err
	}
	if status == http.StatusNoContent {
		return status, nil, nil
	}

	_, rest, found := bytes.Cut(head, length)
	if !found {
		res, err := http.ReadResponse(bufio.NewReader(io.MultiReader(bytes.NewReader(c.buf[:c.n]), c.Conn)), nil)
		if err != nil {
			return status, nil, err
		}
		body, err = io.ReadAll(res.Body)
		return status, body, errors.Join(err, res.Body.Close())
	}

	digits, _, _ := bytes.Cut(rest, []byte("\r"))
	size, err := strconv.Atoi(string(digits))
	if err != nil {
		return status, nil, err
	}

	if begin+size > len(c.buf) {
		c.buf = append(c.buf, make([]byte, begin+size-len(c.buf))...)
	}
	if c.n < begin+size {
		n, err := io.ReadAtLeast(c.Conn, c.buf[c.n:], begin+size-c.n)
		c.n += n
		if err != nil {
			return status, nil, err
		}
	}

	return status, c.buf[begin : begin+size], nil
}

// well is do for an answer of any status from 200 to 299.
func (c *conn) well(req []byte) error {
	status, body, err := c.do(req)
	if err == nil && status/100 != 2 {
		err = fmt.Errorf("%d: %s", status, body)
	}
	return err
}

// ask is do for an answer of the wanted status.
func (c *conn) ask(req []byte, want int) ([]byte, error) {
	status, body, err := c.do(req)
	if err == nil && status != want {
		line, _, _ := bytes.Cut(req, []byte("\r"))
		err = fmt.Errorf("%s: %d: %s", line, status, body)
	}
	return body, err
}

// each runs work on so many connections at once and gives the first error.
func each(address string, connections int, work func(i int, c *conn) error) error {
	errs := make([]error, connections)
	var group sync.WaitGroup
	for i := range connections {
		c, err := dial(address)
		if err != nil {
			return err
		}
		group.Go(func() {
			errs[i] = work(i, c)
			_ = c.Close()
		})
	}

	group.Wait()
	return errors.Join(errs...)
}

// rate sends the requests that next gives on so many connections for a while: answers a second.
func (s *server) rate(connections int, length time.Duration, want int, next func() []byte) (reading, error) {
	var answers atomic.Int64
	return s.reading(func() (int64, error) {
		start := time.Now()
		err := each(s.address, connections, func(_ int, c *conn) error {
			n := int64(0)
			for time.Since(start) < length {
				if _, err := c.ask(next(), want); err != nil {
					return err
				}
				n++
			}
			answers.Add(n)
			return nil
		})

		return answers.Load(), err
	})
}

// reading measures the work, which reports how many units it did: units a second.
func (s *server) reading(work func() (int64, error)) (reading, error) {
	allocations, cpu, start := s.allocations(), s.cpu(), time.Now()
	n, err := work()
	took, used := time.Since(start).Seconds(), s.cpu()-cpu
	return reading{
		value: float64(n) / took, units: n, cpu: float64(used.Microseconds()) / float64(n), allocations: (s.allocations() - allocations) / float64(n),
	}, err
}

// thenIdle measures, and then waits until the server is idle: what a measurement leaves to its loops shall not slow the next one.
func (s *server) thenIdle(measure func() (reading, error)) func() (reading, error) {
	return func() (reading, error) {
		r, err := measure()
		s.awaitIdle()
		return r, err
	}
}

// awaitIdle waits until the server uses little processor time, for 20 s at most.
func (s *server) awaitIdle() {
	before := s.cpu()
	for start := time.Now(); time.Since(start) < 20*time.Second; {
		time.Sleep(100 * time.Millisecond)
		now := s.cpu()
		if now-before <= 10*time.Millisecond {
			return
		}
		before = now
	}
}

// latency sends the request on one connection for a while: the median time to its answer in microseconds.
func (s *server) latency(length time.Duration, req []byte) (reading, error) {
	var took []float64
	r, err := s.reading(func() (int64, error) {
		start := time.Now()
		err := each(s.address, 1, func(_ int, c *conn) error {
			for before := start; before.Sub(start) < length; {
				if _, err := c.ask(req, http.StatusOK); err != nil {
					return err
				}
				now := time.Now()
				took = append(took, float64(now.Sub(before).Nanoseconds())/1000)
				before = now
			}
			return nil
		})

		return int64(len(took)), err
	})
	if err == nil {
		r.value = median(took)
	}

	return r, err
}

// forever gives the same request each time.
func forever(req []byte) func() []byte { return func() []byte { return req } }

// numberOf gives the number after a name in an answer.
func numberOf(body []byte, name string) (int64, error) {
	_, rest, found := bytes.Cut(body, []byte(name))
	if !found {
		return 0, fmt.Errorf("no %s in %s", name, body)
	}
	end := bytes.IndexFunc(rest, func(r rune) bool { return r < '0' || r > '9' })
	return strconv.ParseInt(string(rest[:end]), 10, 64)
}
