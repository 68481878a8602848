package main

import (
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/conformance/bench/pause"
)

// pacedConn is a connection that one goroutine sends on and another reads from.
type pacedConn struct {
	*conn
	asked   atomic.Pointer[answer] // of the request under way, without the time that it took
	answers []answer
}

// answer is one to the i-th request.
type answer struct {
	i    int
	due  time.Duration // when the request was to be sent, after the start
	took float64       // ms from then to the answer
}

// offer gives the times alone of answers, in ms.
func offer(address string, rate float64, length time.Duration, next func(i int) []byte) ([]float64, error) {
	all, err := answers(address, rate, length, next)
	return times(all), err
}

// times gives the times of answers, in ms.
func times(all []answer) []float64 {
	took := make([]float64, len(all))
	for i, a := range all {
		took[i] = a.took
	}
	return took
}

// answers sends requests at a constant rate for a while, whether the server keeps up or not, and gives the answers. A time counts from the moment
// that its request was due, not from that at which a connection was free to send it: who comes while a server hangs waits, too.
func answers(address string, rate float64, length time.Duration, next func(i int) []byte) ([]answer, error) {
	free := make(chan *pacedConn, connections)
	failed := make(chan error, connections)
	var readers sync.WaitGroup
	var over atomic.Bool
	start := time.Now()

	conns := make([]*pacedConn, connections)
	for i := range conns {
		c, err := dial(address)
		if err != nil {
			return nil, err
		}
		defer func() { _ = c.Close() }()
		conns[i] = &pacedConn{conn: c, answers: make([]answer, 0, 2*int(rate*length.Seconds())/connections)}
		free <- conns[i]
	}

	for _, c := range conns {
		readers.Go(func() {
			for {
				status, body, err := c.answer()
				if over.Load() {
					return
				}
				if err == nil && status/100 != 2 {
					err = fmt.Errorf("%d: %s", status, body)
				}
				if err != nil {
					failed <- err
					return
				}

				a := *c.asked.Load()
				a.took = milliseconds(time.Since(start) - a.due)
				c.answers = append(c.answers, a)
				free <- c
			}
		})
	}

	err := pace(rate, length, start, func(i int, due time.Duration) error {
		select {
		case c := <-free:
			c.asked.Store(&answer{i: i, due: due})
			_, err := c.Write(next(i))
			return err
		case err := <-failed:
			return err
		}
	})

	for range connections { // everything that was sent is answered
		if err != nil {
			break
		}
		select {
		case <-free:
		case err = <-failed:
		case <-time.After(time.Minute):
			err = errors.New("no answer within a minute")
		}
	}

	over.Store(true)
	for _, c := range conns {
		_ = c.Close()
	}
	readers.Wait()
	var all []answer
	for _, c := range conns {
		all = append(all, c.answers...)
	}

	return all, err
}

// pace calls send for each request when it is due, or at once when that is over. It has a thread of the system to itself,
// which wakes more exactly than a timer of the runtime.
func pace(rate float64, length time.Duration, start time.Time, send func(i int, due time.Duration) error) error {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	pause.Exact()

	begin := time.Since(start)
	for i := range int(rate * length.Seconds()) {
		due := begin + time.Duration(float64(i)/rate*float64(time.Second))
		for early := due - time.Since(start); early > 0; early = due - time.Since(start) {
			pause.For(early)
		}
		if err := send(i, due); err != nil {
			return err
		}
	}

	return nil
}

// quantile gives the value that so much of the values is not above.
func quantile(values []float64, of float64) float64 {
	sorted := slices.Sorted(slices.Values(values))
	return sorted[min(int(of*float64(len(sorted))), len(sorted)-1)]
}
