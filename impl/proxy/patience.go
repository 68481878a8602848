package proxy

import (
	"context"
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
	over  context.CancelFunc
}

// newPatience begins one, which calls give once it is lost, unless ctx ends before.
func newPatience(ctx context.Context, span time.Duration, give func()) *patience {
	ctx, over := context.WithCancel(ctx)
	p := &patience{span: span, over: over}
	p.anew()
	go p.wait(ctx, give)
	return p
}

func (p *patience) wait(ctx context.Context, give func()) {
	for left := p.span; left > 0; left = p.left() {
		if compute.Sleep(ctx, compute.SystemClock{}, left) != nil {
			return
		}
	}
	give()
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
	if p != nil {
		p.over()
	}
}

func now() int64 { return compute.SystemClock{}.Now().UnixNano() }
