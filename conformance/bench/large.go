package main

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"
	"time"
)

// largest is how long a /runsync body may be in bytes.
const largest = 20_000_000

// large sends the largest inputs, fifty at once, to a worker for each, and one that is a byte longer.
func (b *bench) large() error {
	s, err := b.serve(b.directory())
	if err != nil {
		return err
	}
	defer s.stop()
	frame := []byte(`{"input":{"image":""}}`)
	body := append(append(append([]byte{}, frame[:len(frame)-3]...), bytes.Repeat([]byte("x"), largest-len(frame))...), frame[len(frame)-3:]...)
	req := s.post("runsync", body)
	most := watchMemory(s.cmd.Process.Pid)

	start := time.Now()
	_, err = withWorkers(s, 50, func() (reading, error) {
		return reading{}, each(s.address, 50, func(_ int, c *conn) error {
			answer, err := c.ask(req, http.StatusOK)
			if err == nil && !bytes.Contains(answer, []byte(`"COMPLETED"`)) {
				err = fmt.Errorf("an input of %d bytes: %s", len(body), answer)
			}
			return err
		})
	})

	took := time.Since(start)
	peak := most()
	if err != nil {
		return err
	}

	health, err := s.once(s.get("health"))
	if err != nil {
		return err
	}
	completed, err := numberOf(health, `"completed":`)
	if err != nil {
		return err
	}

	// The body follows only after the refusal: a server that refuses by the length alone need not read it.
	tooLong := bytes.Replace(req[:bytes.Index(req, headerEnd)+len(headerEnd)], []byte(strconv.Itoa(largest)), []byte(strconv.Itoa(largest+1)), 1)
	status := 0
	err = each(s.address, 1, func(_ int, c *conn) (err error) {
		status, _, err = c.do(tooLong)
		return err
	})
	if err != nil {
		return err
	}
	if health, err = s.once(s.get("health")); err != nil {
		return err
	}

	queued, err := numberOf(health, `"inQueue":`)
	if err != nil {
		return err
	}
	if status != http.StatusRequestEntityTooLarge || queued != 0 {
		return fmt.Errorf("a body of %d bytes: status %d, %d jobs in the queue", largest+1, status, queued)
	}

	b.heading()
	b.result(fmt.Sprintf("%d inputs of %d bytes at once", completed, largest), "all COMPLETED in %.1f s", took.Seconds())
	b.number("resident at most", "MB", bound{}, float64(peak)/1e6)
	b.result("an input of a byte more", "413, nothing stored")
	return nil
}

// watchMemory follows what a process holds. What it gives ends that, and returns the most there was, in bytes.
func watchMemory(pid int) func() int64 {
	peak, over := make(chan int64), make(chan struct{})
	go func() {
		most := int64(0)
		for {
			select {
			case <-over:
				peak <- most
				return
			case <-time.After(10 * time.Millisecond):
				now, _ := resident(pid) // 0 once it has ended
				most = max(most, now)
			}
		}
	}()

	return func() int64 {
		close(over)
		return <-peak
	}
}
