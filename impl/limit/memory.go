package limit

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// ErrBusy is the cause of a refusal for want of what others hold. RetryAfter is when to come back, in seconds.
var ErrBusy = errors.New("limit: others hold what is needed")

// RetryAfter is the header of an answer to who met ErrBusy.
const RetryAfter = "5"

// Memory bounds how many bytes requests hold at once, all together and those of each key. What is longer than a bound has it
// to itself.
type Memory struct {
	most, share int64 // of all, of each key

	mu      sync.Mutex
	used    int64
	keys    map[compute.KeyID]int64 // what each holds that holds something
	waiting []*waiter               // in the order of their coming
}

type waiter struct {
	key   compute.KeyID
	bytes int64
	in    chan struct{} // closed when it has its bytes
}

// NewMemory bounds all to most bytes, and each key to its share.
func NewMemory(most, share int64) *Memory {
	return &Memory{most: most, share: share, keys: map[compute.KeyID]int64{}}
}

// Try takes so many bytes if they are free, nobody waits for them, and they are no more than a share. leave gives them back, and
// may be called more than once.
func (m *Memory) Try(key compute.KeyID, bytes int64) (leave func(), ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.waiting) > 0 || bytes > m.share || !m.fits(bytes) || !m.inShare(key, bytes) {
		return nil, false
	}
	m.take(key, bytes)
	return m.leave(key, bytes), true
}

// Enter waits until so many bytes are free. Of those who wait it is the turn of the key that holds least. The error is that of
// ctx, if it ended before they were: bytes that are free are had also by who has no time to wait.
func (m *Memory) Enter(ctx context.Context, key compute.KeyID, bytes int64) (leave func(), err error) {
	w := &waiter{key: key, bytes: bytes, in: make(chan struct{})}
	m.mu.Lock()
	m.waiting = append(m.waiting, w)
	m.admit()
	m.mu.Unlock()
	leave = m.leave(key, bytes)

	select {
	case <-w.in:
		return leave, nil
	case <-ctx.Done():
	}

	m.mu.Lock()
	i := slices.Index(m.waiting, w)
	if i >= 0 {
		m.waiting = slices.Delete(m.waiting, i, i+1)
		m.admit() // those behind it
	}
	m.mu.Unlock()
	if i < 0 { // it has its bytes all the same
		return leave, nil
	}

	return nil, ctx.Err()
}

// enterWithin is Enter for a while, after which it is Unavailable, with the detail: who waits has a connection.
func (m *Memory) enterWithin(ctx context.Context, wait time.Duration, key compute.KeyID, bytes int64, detail string) (leave func(), err error) {
	waiting, stop := context.WithTimeout(ctx, wait)
	defer stop()
	leave, err = m.Enter(waiting, key, bytes)
	if err != nil && ctx.Err() == nil {
		err = &compute.Error{Code: compute.Unavailable, Detail: detail, Cause: ErrBusy}
	}
	return leave, err
}

// admit lets in who waits and fits. Who waits for the memory of all has those behind it wait too, so that its turn comes. The
// caller has the lock.
func (m *Memory) admit() {
	for {
		next := -1
		for i, w := range m.waiting {
			if m.inShare(w.key, w.bytes) && (next < 0 || m.keys[w.key] < m.keys[m.waiting[next].key]) {
				next = i
			}
		}

		if next < 0 || !m.fits(m.waiting[next].bytes) {
			return
		}
		w := m.waiting[next]
		m.waiting = slices.Delete(m.waiting, next, next+1)
		m.take(w.key, w.bytes)
		close(w.in)
	}
}

func (m *Memory) fits(bytes int64) bool { return m.used == 0 || m.used+bytes <= m.most }

func (m *Memory) inShare(key compute.KeyID, bytes int64) bool {
	held := m.keys[key]
	return held == 0 || held+bytes <= m.share
}

func (m *Memory) take(key compute.KeyID, bytes int64) {
	m.used += bytes
	m.keys[key] += bytes
}

// leave gives what gives the bytes back.
func (m *Memory) leave(key compute.KeyID, bytes int64) func() {
	return sync.OnceFunc(func() {
		m.mu.Lock()
		defer m.mu.Unlock()
		m.used -= bytes
		if m.keys[key] -= bytes; m.keys[key] == 0 {
			delete(m.keys, key)
		}
		m.admit()
	})
}
