package runtime

import (
	"slices"
	"sync"
)

// Ends hands the ids of allocations that ended to whoever reads Out, and never makes the one who adds wait. An id that
// waits already is not added again.
type Ends struct {
	out    chan string
	closed chan struct{}

	mu      sync.Mutex
	waiting []string
	handing bool // a goroutine is at it
}

// NewEnds makes an empty one.
func NewEnds() *Ends { return &Ends{out: make(chan string), closed: make(chan struct{})} }

// Out delivers the ids. It is never closed.
func (e *Ends) Out() <-chan string { return e.out }

// Add adds an id.
func (e *Ends) Add(id string) {
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

func (e *Ends) hand() {
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

// Close ends the handing over. Closing again changes nothing.
func (e *Ends) Close() {
	e.mu.Lock()
	defer e.mu.Unlock()
	select {
	case <-e.closed:
	default:
		close(e.closed)
	}
}
