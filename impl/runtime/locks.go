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
	one := l.enter(id)
	select {
	case one.turn <- struct{}{}:
		return func() { l.unlock(id, one) }, nil
	case <-ctx.Done():
		l.leave(id, one)
		return nil, ctx.Err()
	}
}

// TryLock is Lock for who does not wait: ok is false if somebody else has the id.
func (l *Locks) TryLock(id string) (unlock func(), ok bool) {
	one := l.enter(id)
	select {
	case one.turn <- struct{}{}:
		return func() { l.unlock(id, one) }, true
	default:
		l.leave(id, one)
		return nil, false
	}
}

func (l *Locks) enter(id string) *lock {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.held == nil {
		l.held = map[string]*lock{}
	}
	if l.held[id] == nil {
		l.held[id] = &lock{turn: make(chan struct{}, 1)}
	}
	l.held[id].users++
	return l.held[id]
}

func (l *Locks) leave(id string, one *lock) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if one.users--; one.users == 0 {
		delete(l.held, id)
	}
}

func (l *Locks) unlock(id string, one *lock) {
	<-one.turn
	l.leave(id, one)
}
