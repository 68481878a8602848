package proxy

import (
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// patience ends a request to a pod whose answer does not begin in time. It begins anew with each piece of the body that is sent on, and does not
// run while one is waited for: so a long body may go on for as long as it is taken, and one that the pod does not take is no reason to wait for ever.
// It goes by the machine's time, in which pods live.
type patience struct {
	span  time.Duration
	since atomic.Int64 // when it became the pod's turn, in nanoseconds; 0: it is the client's
	lost  func()

	mu    sync.Mutex
	stop  func() bool // the next look
	ended bool
}

// newPatience begins one, which calls lost if it is over before end.
func newPatience(span time.Duration, lost func()) *patience {
	p := &patience{span: span, lost: lost}
	p.anew()
	p.lookIn(span)
	return p
}

// lookIn has look called after some time, unless it ends before.
func (p *patience) lookIn(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.ended {
		p.stop = compute.SystemClock{}.Call(d, p.look)
	}
}

func (p *patience) look() {
	if left := p.left(); left > 0 {
		p.lookIn(left)
		return
	}
	p.lost()
}

// left is how long it lasts at least.
func (p *patience) left() time.Duration {
	since := p.since.Load()
	if since == 0 {
		return p.span
	}
	return p.span - time.Duration(now()-since)
}

// pause notes that the client is waited for.
func (p *patience) pause() {
	if p != nil {
		p.since.Store(0)
	}
}

// anew notes that it is the pod's turn.
func (p *patience) anew() {
	if p != nil {
		p.since.Store(now())
	}
}

// end notes that the answer has begun, or is wanted no more.
func (p *patience) end() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.ended = true
	p.stop()
}

func now() int64 { return compute.SystemClock{}.Now().UnixNano() }
