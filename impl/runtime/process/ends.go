package process

import (
	"slices"
	"sync"
)

// ends hands ids to whoever reads out, and never makes the one who adds wait. An id that waits already is not added again.
type ends struct {
	out    chan string
	closed chan struct{}

	mu      sync.Mutex
	waiting []string
	handing bool // a goroutine is at it
}

func newEnds() *ends { return &ends{out: make(chan string), closed: make(chan struct{})} }

func (e *ends) add(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if slices.Contains(e.waiting, id) {
		return
	}
	e.waiting = append(e.waiting, id)
	if !e.handing {
		e.handing = true
		go e.hand()
	}
}

func (e *ends) hand() {
	for {
		e.mu.Lock()
		if len(e.waiting) == 0 {
			e.handing = false
			e.mu.Unlock()
			return
		}
		id := e.waiting[0]
		e.waiting = e.waiting[1:]
		e.mu.Unlock()
		select {
		case e.out <- id:
		case <-e.closed:
			return
		}
	}
}

// close ends the handing over; out stays open. Closing again changes nothing.
func (e *ends) close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-e.closed:
	default:
		close(e.closed)
	}
}
