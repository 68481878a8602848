package replica

import (
	"context"
	"net/http"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/relay"
)

const (
	// mostLost is how often a request that nobody has answered may wait anew for an owner.
	mostLost = 2
	// lateAnswer is how long after another replica has become the owner the answer of the one before is waited for. One that hands the
	// store over has answered by then; one that is stopped, or cannot be reached, never does.
	lateAnswer = 250 * time.Millisecond
	// lateEnd is how long after that an answer that has begun may go on.
	lateEnd = 10 * time.Second
)

// try is one time that a request is sent on.
type try struct {
	to     *url.URL
	epoch  int64 // of the owner that it is sent to
	body   *keptBody
	reads  bool            // it may be made twice
	client context.Context // ends when whoever sent the request has gone
	giveUp context.CancelFunc

	answered atomic.Bool // an answer has begun
	again    bool        // nothing was answered: it may be sent once more
	lost     bool        // it may have been seen
}

type tryKey struct{}

func tryOf(ctx context.Context) *try { return ctx.Value(tryKey{}).(*try) }

// tries are those that are under way.
type tries struct {
	mu  sync.Mutex
	all map[*try]struct{}
}

// send sends a request on once.
func (f *forwarder) send(w http.ResponseWriter, r *http.Request, one *try) *try {
	one.client = r.Context()
	var ctx context.Context
	ctx, one.giveUp = context.WithCancel(context.WithValue(r.Context(), tryKey{}, one))
	defer one.giveUp()

	f.tries.mu.Lock()
	if f.tries.all == nil {
		f.tries.all = map[*try]struct{}{}
	}
	f.tries.all[one] = struct{}{}
	f.tries.mu.Unlock()
	defer func() {
		f.tries.mu.Lock()
		defer f.tries.mu.Unlock()
		delete(f.tries.all, one)
	}()
	if seen := f.member.seen.Load(); seen > one.epoch { // since it was chosen: those that were under way then were given up without this one
		go f.tries.giveUp(seen)
	}

	f.proxy.ServeHTTP(relay.Upgrades(answer{w}, r), r.WithContext(ctx))
	return one
}

// answer keeps back that the owner wants the body: it may not be the client who asks that. Who does gets it when the body is read.
type answer struct{ http.ResponseWriter }

func (a answer) WriteHeader(status int) {
	if status != http.StatusContinue {
		a.ResponseWriter.WriteHeader(status)
	}
}

func (a answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// giveUp waits no longer for owners before the one of that epoch.
func (t *tries) giveUp(epoch int64) {
	for _, late := range []struct {
		after    time.Duration
		answered bool
	}{{lateAnswer, false}, {lateEnd, true}} {
		if t.end(func(*try) bool { return false }, epoch) == 0 {
			return
		}
		passed, _ := compute.SystemClock{}.After(late.after)
		<-passed
		t.end(func(one *try) bool { return late.answered || !one.answered.Load() }, epoch)
	}
}

// end ends some of the tries of epochs before that one, and gives how many there are.
func (t *tries) end(some func(*try) bool, epoch int64) (n int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for one := range t.all {
		if one.epoch >= epoch {
			continue
		}
		n++
		if some(one) {
			one.giveUp()
		}
	}
	return n
}
