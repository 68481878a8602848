package runtime

import (
	"context"
	"sync"
)

// Locks let one call at a time change an allocation. The zero Locks are ready.
type Locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

type lock struct {
	turn  chan struct{}
	users int // who hold it or wait for it
}

// Lock waits until nobody else has the id, or ctx has ended: then it gives the error of ctx. The function that it gives must be called.
func (l *Locks) Lock(ctx context.Context, id string) (unlock func(), err error) {
	l.mu.Lock()
	if l.held == nil {
		l.held = map[string]*lock{}
	}
	one := l.held[id]
	if one == nil {
		one = &lock{turn: make(chan struct{}, 1)}
		l.held[id] = one
	}
	one.users++
	l.mu.Unlock()

	leave := func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if one.users--; one.users == 0 {
			delete(l.held, id)
		}
	}

	select {
	case one.turn <- struct{}{}:
		return func() {
			<-one.turn
			leave()
		}, nil
	case <-ctx.Done():
		leave()
		return nil, ctx.Err()
	}
}
