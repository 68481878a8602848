package limit

import (
	"context"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

const (
	patience = 64              // requests that may wait for a Processor
	longest  = 5 * time.Second // that one waits
)

// Processor is a budget of processor time: those who share it have it one at a time, and take together a share of one processor
// and a burst after a pause. It is measured by the machine's time, which is no less than the processor's.
type Processor struct {
	share float64
	burst time.Duration
	turn  chan struct{} // holds one while somebody has it

	mu      sync.Mutex
	waiting int
	left    time.Duration // of the budget; below 0: somebody took more
	at      time.Time     // that left is of
}

// NewProcessor gives a budget of the share of one processor.
func NewProcessor(share float64, burst time.Duration) *Processor {
	return &Processor{share: share, burst: burst, turn: make(chan struct{}, 1), left: burst, at: now()}
}

// Enter waits for the turn and the budget. leave is to be called when the work is done. TooMany if too many wait, or after a
// while; else the error is that of ctx.
func (p *Processor) Enter(ctx context.Context) (leave func(), err error) {
	p.mu.Lock()
	full := p.waiting >= patience
	if !full {
		p.waiting++
	}
	p.mu.Unlock()
	if full {
		return nil, errBusy()
	}

	defer func() {
		p.mu.Lock()
		p.waiting--
		p.mu.Unlock()
	}()

	late, stop := compute.SystemClock{}.After(longest)
	defer stop()
	select {
	case p.turn <- struct{}{}:
	case <-late:
		return nil, errBusy()
	case <-ctx.Done():
		return nil, ctx.Err()
	}

	paid, stop := compute.SystemClock{}.After(p.debt())
	defer stop()
	select {
	case <-paid:
	case <-late:
		err = errBusy()
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		<-p.turn
		return nil, err
	}

	start := now()
	return sync.OnceFunc(func() {
		p.spend(now().Sub(start))
		<-p.turn
	}), nil
}

// debt gives how long it takes until there is a budget again.
func (p *Processor) debt() time.Duration {
	p.spend(0)
	p.mu.Lock()
	defer p.mu.Unlock()
	return time.Duration(float64(max(0, -p.left)) / p.share)
}

// spend takes from the budget, after adding what has come since.
func (p *Processor) spend(took time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	at := now()
	p.left = min(p.burst, p.left+time.Duration(float64(at.Sub(p.at))*p.share)) - took
	p.at = at
}

func errBusy() error {
	return &compute.Error{Code: compute.TooMany, Detail: "too much is asked without an API key: send one, or come back later", Cause: ErrBusy}
}
