package kubernetes

import (
	"context"
	"sync"
)

// locks lets one call at a time change an allocation.
type locks struct {
	mu   sync.Mutex
	held map[string]*lock
}

type lock struct {
	turn  chan struct{}
	users int // who hold it or wait for it
}

// lock waits until nobody else has the id. The function that it gives must be called.
func (l *locks) lock(ctx context.Context, id string) (unlock func(), err error) {
	l.mu.Lock()
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
