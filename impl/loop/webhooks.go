package loop

import (
	"context"
	"io"
	"log/slog"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// The documented tries of a webhook (rules queue.webhook.again, queue.webhook.given-up).
const (
	webhookTries = 3
	webhookPause = 10 * time.Second
	webhookLife  = time.Hour // since the delivery was found; after it no further try is made
)

// webhookTick is how late a try may begin when nothing hints at it.
const webhookTick = time.Second

// webhookPlaces is how many tries are under way at once.
const webhookPlaces = 256

// Bodies up to webhookSmall bytes may all be in memory that are under way; of larger ones, as long as they are not sent, webhookRoom
// bytes together, or one.
const (
	webhookSmall = 64 << 10
	webhookRoom  = 64 << 20
)

// webhookPatience is how long a try may make no progress when others wait for its place.
const webhookPatience = time.Second

// Delivery is what the webhooks loop works with.
type Delivery struct {
	Store store.Store
	Post  func(ctx context.Context, url string, body io.Reader, size int64) (status int, err error)
	Clock compute.Clock
	Log   *slog.Logger
	// Posted is told of each try, and whether the receiver took it; nil: nobody counts.
	Posted func(delivered bool)
}

// Webhooks delivers the documents of ended jobs. Each receiver has its own line and its own pauses, see receiver: one that does
// not answer makes nobody wait but those who want to go there, too. A delivery that was not recorded, because the server ended in
// the middle, is made again: receivers tell a repetition by the job's id.
type Webhooks struct {
	Delivery
	wake    Hint
	loading sync.Mutex // held over a look for new deliveries
	last    int64      // Seq of the last one that was found

	mu        sync.Mutex
	changed   sync.Cond            // a try has ended
	receivers map[string]*receiver // those for whom there is something to deliver
	order     order                // those of them that have room for a try
	turns     int64
	tries     map[*try]bool // under way
	large     int           // bytes of the large bodies that are not sent yet
	room      int           // that they may have together
}

// NewWebhooks makes the loop.
func NewWebhooks(d Delivery) *Webhooks {
	l := &Webhooks{
		Delivery: d, wake: NewHint(), receivers: map[string]*receiver{}, tries: map[*try]bool{},
		room: webhookRoom,
	}
	l.changed.L = &l.mu
	return l
}

// Hint tells that there is something to deliver.
func (l *Webhooks) Hint() { l.wake.Give() }

// Run works until ctx ends. What is under way then is made again after the next start.
func (l *Webhooks) Run(ctx context.Context) {
	defer l.rest()
	for {
		if err := l.load(ctx); err != nil && ctx.Err() == nil {
			l.Log.Error("webhooks", "error", err)
		}
		l.serve(ctx)
		tick, stop := compute.SystemClock{}.After(webhookTick) // receivers do not live on a clock that a test has set
		select {
		case <-ctx.Done():
			stop()
			return
		case <-tick:
		case <-l.wake:
			stop()
		}
	}
}

// rest waits until no try is under way.
func (l *Webhooks) rest() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for len(l.tries) > 0 {
		l.changed.Wait()
	}
}

// Next gives when the next try is due; zero if there is none.
func (l *Webhooks) Next(ctx context.Context) (time.Time, error) {
	err := l.load(ctx)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || len(l.order) == 0 {
		return time.Time{}, err
	}
	return l.order[0].at, nil
}

// Step makes every try that is due.
func (l *Webhooks) Step(ctx context.Context) error {
	if err := l.load(ctx); err != nil {
		return err
	}
	for l.serve(ctx) {
		l.mu.Lock()
		if len(l.tries) > 0 {
			l.changed.Wait()
		}
		l.mu.Unlock()
	}
	return ctx.Err()
}

// Clear forgets every delivery, as the store has.
func (l *Webhooks) Clear() {
	l.loading.Lock()
	defer l.loading.Unlock()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.last, l.order = 0, nil
	clear(l.receivers)
}

// load takes in the deliveries that were stored since it looked last.
func (l *Webhooks) load(ctx context.Context) error {
	l.loading.Lock()
	defer l.loading.Unlock()
	over := l.Clock.Now().Add(webhookLife) // since it was found: what steps of the clock and times without a server say is no life
	return l.Store.Read(ctx, func(tx store.Tx) error {
		return tx.PendingWebhooks(l.last, func(w compute.Webhook) {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.last = w.Seq
			l.put(receiverOf(w.URL), delivery{seq: w.Seq, next: w.NextAt, over: over, size: w.Size})
		})
	})
}

// put adds a delivery to the line of its receiver. The caller has the lock.
func (l *Webhooks) put(name string, d delivery) {
	r := l.receivers[name]
	if r == nil {
		r = &receiver{name: name, most: 1, place: nowhere}
		l.receivers[name] = r
	}
	r.line.add(d)
	l.arrange(r)
}

// arrange gives the receiver its place in the order, or takes it out if it has no room for a try. One that had its turn stands
// behind those that wait, however long its line is. The caller has the lock.
func (l *Webhooks) arrange(r *receiver) {
	if len(r.line) == 0 || r.running >= r.most {
		l.order.remove(r)
		if len(r.line) == 0 && r.running == 0 && l.receivers[r.name] == r {
			delete(l.receivers, r.name)
		}
		return
	}
	at, now := latest(r.line[0].next, r.until), l.Clock.Now()
	if r.place != nowhere && (r.at.Equal(at) || r.at.After(at) && !r.at.After(now)) {
		return // it waits for its turn already
	}
	l.turns++
	r.at, r.turn = latest(at, now), l.turns
	l.order.remove(r)
	l.order.add(r)
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// serve begins every try that is due and for which there is room. It tells whether one is under way.
func (l *Webhooks) serve(ctx context.Context) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := l.Clock.Now()
	var aside []*receiver // whose next body is too large for now
	for ctx.Err() == nil && len(l.order) > 0 && !l.order[0].at.After(now) {
		r := l.order[0]
		large := r.line[0].size > webhookSmall
		switch {
		case len(l.tries) >= webhookPlaces:
			l.hurry(false)
		case large && l.large > 0 && l.large+r.line[0].size > l.room:
			l.hurry(true)
			l.order.remove(r)
			aside = append(aside, r)
			continue
		default:
			l.begin(ctx, r)
			continue
		}
		break
	}
	for _, r := range aside {
		l.order.add(r)
	}
	return len(l.tries) > 0
}

// hurry ends the try that has made no progress for the longest time, if that is long enough: somebody waits for its place, or for
// the memory of a large body. The caller has the lock.
func (l *Webhooks) hurry(large bool) {
	var slowest *try
	for t := range l.tries {
		if (!large || t.unsent > 0) && !t.cut && (slowest == nil || t.moved.Before(slowest.moved)) {
			slowest = t
		}
	}
	if slowest != nil && realTime().Sub(slowest.moved) >= webhookPatience {
		slowest.cut = true
		slowest.cancel()
	}
}

// realTime is the machine's time, on which receivers live, whatever a test has set.
func realTime() time.Time { return compute.SystemClock{}.Now() }
