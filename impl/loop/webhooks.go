package loop

import (
	"cmp"
	"context"
	"io"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop/reconcile"
	"github.com/berthdev/berth/store"
)

// The documented tries of a webhook (rules queue.webhook.again, queue.webhook.given-up).
const (
	webhookTries = 3
	webhookPause = 10 * time.Second
	webhookLife  = time.Hour // since the delivery was found; after it no further try is made
)

// webhookTick is how late a delivery may be found that nothing hints at, and how late one that waits for room takes that of a slow one.
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
	// Posted is notified of each try, and whether the receiver took it; nil: nobody counts.
	Posted func(delivered bool)
}

// Webhooks delivers the documents of ended jobs. Each receiver has its own line and its own pauses, see receiver: one that does
// not answer makes nobody wait but those who want to go there, too. A delivery that was not recorded, because the server ended in
// the middle, is made again: receivers recognise a repetition by the job's id.
//
// What is stored is found, and put in the line of its receiver; a receiver has deliveries made; a delivery makes a try and gives itself
// back to its receiver.
type Webhooks struct {
	Delivery
	found      *reconcile.Reconciler[string, int64] // of one key: the Seq of the last delivery that was found
	receivers  *reconcile.Reconciler[string, receiver]
	deliveries *reconcile.Reconciler[int64, delivery]
	hurries    *reconcile.Sweeps

	epoch   atomic.Int64 // how often all was forgotten
	begun   atomic.Int64 // how many deliveries receivers have had made
	tries   sync.Map     // those that are under way
	large   atomic.Int64 // bytes of the large bodies that are not sent yet
	crowded sync.Map     // names of the receivers whose next body is too large for now, each with its turn
	turns   atomic.Int64 // that were given
	room    int          // that large bodies may have together

	ending context.Context // ends when Run is to end, and every try with it: one whose receiver sleeps outlasts the Step that began it
	end    context.CancelFunc
}

// newDeliveries is the key of what finds deliveries.
const newDeliveries = "new deliveries"

// NewWebhooks makes the loop.
func NewWebhooks(d Delivery) *Webhooks {
	l := &Webhooks{Delivery: d, room: webhookRoom}
	l.ending, l.end = context.WithCancel(context.Background()) //nolint:gosec // Run calls it when it is to end
	l.found = reconcile.New(reconcile.Config[string, int64]{
		Name: "webhooks", Clock: compute.SystemClock{}, Log: d.Log, Reconcile: reconcile.Each(l.find), // also while a test has stopped the clock
		List: func(context.Context, bool) ([]string, error) { return []string{newDeliveries}, nil },
	})
	l.receivers = reconcile.New(reconcile.Config[string, receiver]{
		Name: "receiver", Clock: d.Clock, Log: d.Log, Reconcile: reconcile.Each(l.serve),
	})
	l.deliveries = reconcile.New(reconcile.Config[int64, delivery]{
		Name: "webhook", Clock: d.Clock, Log: d.Log, AtOnce: webhookPlaces, Reconcile: reconcile.Each(l.deliver),
	})
	l.hurries = reconcile.NewSweeps(compute.SystemClock{}, d.Log, 1, reconcile.Sweep{Name: "slow receivers", Tick: webhookTick, Do: l.hurry})

	return l
}

// Hint reports that there is something to deliver.
func (l *Webhooks) Hint() { l.found.Hint(newDeliveries) }

// Run works until ctx ends. What is under way then is made again after the next start.
func (l *Webhooks) Run(ctx context.Context) {
	defer context.AfterFunc(ctx, l.end)()
	var all sync.WaitGroup
	for _, run := range []func(context.Context){l.found.Run, l.receivers.Run, l.deliveries.Run, l.hurries.Run} {
		all.Go(func() { run(ctx) })
	}
	all.Wait()
}

// Next gives when the next try is due; zero if there is none.
func (l *Webhooks) Next(ctx context.Context) (time.Time, error) {
	err := l.found.StepAll(ctx)
	return l.next(), err
}

// next is Next of what was found. A delivery goes from its receiver to its try and back, also while this asks one after the other:
// it is missed by none of them only if no receiver has had one made meanwhile.
func (l *Webhooks) next() time.Time {
	begun := l.begun.Load()
	next := soonerOf(soonerOf(l.receivers.Next(), l.deliveries.Next()), l.receivers.Next())
	if begun != l.begun.Load() {
		return l.Clock.Now()
	}
	return next
}

// Sleeps notes that the receiver of a try sleeps on the clock until over is called, as the inbox of a test does that a fault delays: who sets the
// clock does not wait for its answer before that time has come. Over may be called again.
func (l *Webhooks) Sleeps() (over func()) { return l.deliveries.Rests() }

// Step makes every try that is due, and waits until none is under way but those whose receivers sleep.
func (l *Webhooks) Step(ctx context.Context) error {
	if err := l.found.StepAll(ctx); err != nil {
		return err
	}
	for {
		err := cmp.Or(l.receivers.Step(ctx), l.deliveries.Step(ctx))
		next := l.next()
		if err != nil || next.IsZero() || next.After(l.Clock.Now()) {
			return err
		}
	}
}

// Clear forgets every delivery, as the store has. What is under way then comes to nothing.
func (l *Webhooks) Clear() {
	l.epoch.Add(1)
	l.crowded.Clear()
	l.found.Drop()
	l.receivers.Drop()
	l.deliveries.Drop()
}

// find puts what was stored since it looked last in the lines of its receivers.
func (l *Webhooks) find(ctx context.Context, one *reconcile.Look[string, int64]) (reconcile.Next, error) {
	over := l.Clock.Now().Add(webhookLife) // since it was found: what steps of the clock and times without a server say is no life
	epoch := l.epoch.Load()
	err := l.Store.Read(ctx, func(tx store.Tx) error {
		return tx.PendingWebhooks(one.Memory, func(w compute.Webhook) {
			one.Memory = w.Seq
			l.put(delivery{seq: w.Seq, receiver: receiverOf(w.URL), epoch: epoch, next: w.NextAt, over: over, size: w.Size})
		})
	})
	return reconcile.At(compute.SystemClock{}.Now().Add(webhookTick)), err
}

// put adds a delivery to the line of its receiver.
func (l *Webhooks) put(d delivery) {
	l.receivers.Update(d.receiver, func(r *receiver) {
		if d.epoch == l.epoch.Load() {
			r.line.add(d)
		}
	})
}

// serve has every delivery of a receiver made that is due and for which there is room.
func (l *Webhooks) serve(_ context.Context, one *reconcile.Look[string, receiver]) (reconcile.Next, error) {
	r, now := &one.Memory, l.Clock.Now()
	r.most = max(1, r.most)
	for len(r.line) > 0 && r.running < r.most {
		if due := latest(r.line[0].next, r.until); due.After(now) {
			return reconcile.At(due), nil
		}
		if !l.enter(one.Key, r.line[0].size) {
			return reconcile.OnHint(), nil
		}
		d := r.line.take()
		r.running++
		l.begun.Add(1)
		l.deliveries.Update(d.seq, func(m *delivery) { *m = d })
	}

	if len(r.line) == 0 {
		l.crowded.Delete(one.Key)
	}
	if len(r.line) == 0 && r.running == 0 {
		return reconcile.Next{}, nil
	}

	return reconcile.OnHint(), nil
}

// enter makes room for a body of so many bytes, if it is large. If there is none the receiver is hinted when there is.
func (l *Webhooks) enter(name string, size int) bool {
	if size <= webhookSmall {
		return true
	}
	if _, waits := l.crowded.Load(name); !waits { // first: what departs from now on hints it
		l.crowded.Store(name, l.turns.Add(1))
	}
	if large := l.large.Load(); large > 0 && int(large)+size > l.room {
		return false
	}
	l.crowded.Delete(name)
	l.large.Add(int64(size)) // one receiver is looked at after the other: nobody else adds
	return true
}

// depart gives back the room of a body. Those that wait are hinted in the order in which they came.
func (l *Webhooks) depart(size int64) {
	if size == 0 {
		return
	}
	l.large.Add(-size)
	turns := map[string]int64{}
	l.crowded.Range(func(name, turn any) bool {
		turns[name.(string)] = turn.(int64)
		return true
	})
	byTurn := func(a, b string) int { return cmp.Compare(turns[a], turns[b]) }
	for _, name := range slices.SortedFunc(maps.Keys(turns), byTurn) {
		l.receivers.Hint(name)
	}
}

func latest(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// hurry ends the tries that have made no progress for the longest time, if that is long enough: as many as others wait for their places,
// and for the memory of large bodies.
func (l *Webhooks) hurry(context.Context) error {
	waiting, crowded := l.deliveries.Waiting(), 0
	l.crowded.Range(func(any, any) bool {
		crowded++
		return true
	})
	if waiting+crowded == 0 {
		return nil
	}

	var slow []*try
	l.tries.Range(func(one, _ any) bool {
		if t := one.(*try); realTime().Sub(t.lastMoved()) >= webhookPatience {
			slow = append(slow, t)
		}
		return true
	})

	slices.SortFunc(slow, func(a, b *try) int { return a.lastMoved().Compare(b.lastMoved()) })
	for _, t := range slow {
		switch {
		case crowded > 0 && t.unsent.Load() > 0:
			crowded--
		case waiting > 0:
			waiting--
		default:
			continue
		}

		t.cut.Store(true)
		t.cancel()
	}

	return nil
}

// realTime is the machine's time, on which receivers live, whatever a test has set.
func realTime() time.Time { return compute.SystemClock{}.Now() }
