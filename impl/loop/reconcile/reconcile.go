package reconcile

import (
	"cmp"
	"context"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Next says when to look at an object again. The zero Next is never: not before a hint, and what is remembered of the object is
// forgotten.
type Next struct {
	at     time.Time
	atOnce bool
}

// At asks for a look at a time.
func At(t time.Time) Next { return Next{at: t} }

// AtOnce asks for a look as soon as others had theirs.
func AtOnce() Next { return Next{atOnce: true} }

// OnHint asks for no look, but has what is remembered of the object kept.
func OnHint() Next { return Next{at: latest} }

// Look is a look at one object.
type Look[K cmp.Ordered, M any] struct {
	Key    K
	Hinted bool  // somebody may have changed what should be; else it was due by the clock, and is as it was unless it changed by itself
	Memory M     // what the last look left, to be changed for the next; zero: nothing is remembered
	Next   Next  // when to look again
	Err    error // why the look failed, to be made again after the backoff, whatever Next says
}

// Config is what a Reconciler works with.
type Config[K cmp.Ordered, M any] struct {
	Name  string // of an object, in the log
	Clock compute.Clock
	Log   *slog.Logger

	// Reconcile looks at objects, at Together ones at most, and sets Memory, Next and Err of each. ctx ends when Run is to end;
	// ends goes on for Leave, for what has to be done nevertheless. See Each for objects of which each is looked at on its own.
	Reconcile func(ctx, ends context.Context, looks []*Look[K, M])

	// List gives the keys of objects that may have something to do, each of which is looked at soon, also if there is an error. first
	// says that nothing is known: at the start, and after Drop. No look is made until the first list was tried. Nil: there are hints alone.
	List func(ctx context.Context, first bool) ([]K, error)
	// Tick is how often the list is read again; 0: once. It counts for Run, and for Step if the clock says so, but not for Next.
	Tick time.Duration

	AtOnce   int // how many calls of Reconcile are under way at once, at most; 0: one
	Together int // how many objects one call has, at most; 0: one

	// The backoff of an object whose looks fail doubles from the first to the last; 0: DefaultBackoff and DefaultBackoffMost.
	Backoff, BackoffMost time.Duration
	// BackoffOf gives these two of one object. Nil: all have the same.
	BackoffOf func(key K) (first, most time.Duration)

	// Leave is how long Run goes on after its ctx has ended, with what was hinted and with what is behind; 0: it waits only for
	// the looks that are under way.
	Leave time.Duration
	// Looked is called after looks, when what they left can be read. It may be nil.
	Looked func()
	// Behind is called when the looks at an object begin to fail, with the reason, and with an empty one when that is over. It may be nil.
	Behind func(ctx context.Context, key K, reason string)
}

// The backoff of those that say nothing else.
const (
	DefaultBackoff     = time.Second
	DefaultBackoffMost = 10 * time.Second
)

// Reconciler looks at objects when they are due. It is safe for concurrent use. See the package comment.
type Reconciler[K cmp.Ordered, M any] struct {
	Config[K, M]
	wake chan struct{} // of Run: something was hinted, or a look has ended

	mu       sync.Mutex
	changed  sync.Cond // a look or a list has ended, or a look rests
	entries  map[K]entry[M]
	ready    []K         // hinted or due, and not under way, first in, first out
	timed    timeline[K] // due later; some are not true any more, see entry
	underWay map[K]*underWay[M]
	running  int // calls of Reconcile
	resting  int // see Rests
	troubles map[K]trouble
	steps    map[*[]error]bool // the errors of looks that ended during each Step
	leaving  bool              // only what is hinted is looked at
	lists    lists
}

// New makes one that knows no object yet.
func New[K cmp.Ordered, M any](c Config[K, M]) *Reconciler[K, M] {
	c.AtOnce, c.Together = max(1, c.AtOnce), max(1, c.Together)
	c.Backoff, c.BackoffMost = cmp.Or(c.Backoff, DefaultBackoff), cmp.Or(c.BackoffMost, DefaultBackoffMost)
	r := &Reconciler[K, M]{
		Config: c, wake: make(chan struct{}, 1), entries: map[K]entry[M]{}, underWay: map[K]*underWay[M]{}, troubles: map[K]trouble{},
		steps: map[*[]error]bool{},
	}
	r.changed.L = &r.mu
	return r
}

// Each makes a Reconcile of a function that looks at one object.
func Each[K cmp.Ordered, M any](f func(ctx context.Context, one *Look[K, M]) (Next, error)) func(ctx, ends context.Context, looks []*Look[K, M]) {
	return func(ctx, _ context.Context, looks []*Look[K, M]) {
		for _, one := range looks {
			one.Next, one.Err = f(ctx, one)
		}
	}
}

// Hint asks for a look at the object, soon. It never waits for a look.
func (r *Reconciler[K, M]) Hint(key K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.hint(key)
	r.signal()
}

// At asks for a look at the object at a time, unless there is to be one before.
func (r *Reconciler[K, M]) At(key K, t time.Time) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.underWay[key]; one != nil && !one.forgotten {
		one.at = earlier(one.at, t)
		return
	}
	if e := r.entries[key]; !e.queued && (e.due == 0 || stamp(t) < e.due) {
		r.plan(key, e, t)
	}
	r.signal()
}

// Update changes what is remembered of the object and asks for a look at it. A look that is under way does not see the change, and
// does not undo it. f may be called more than once, on copies: it writes to nothing that its argument points at which a look or a
// reader may use.
func (r *Reconciler[K, M]) Update(key K, f func(*M)) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if one := r.underWay[key]; one != nil && !one.forgotten {
		one.updates = append(one.updates, f)
	} else {
		e := r.entries[key]
		f(&e.memory)
		r.entries[key] = e
	}
	r.hint(key)
	r.signal()
}

// Memory gives what is remembered of the object, with every Update, and whether it is known. During a look it is what was remembered
// before.
func (r *Reconciler[K, M]) Memory(key K) (M, bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	e, known := r.entries[key]
	if one := r.underWay[key]; one != nil && !one.forgotten {
		for _, f := range one.updates {
			f(&e.memory)
		}
	}
	return e.memory, known
}

// Keys gives the objects that are known, in order.
func (r *Reconciler[K, M]) Keys() []K {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Sorted(maps.Keys(r.entries))
}

// Known reports how many objects are known.
func (r *Reconciler[K, M]) Known() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.entries)
}

// Waiting reports how many objects are due and not under way, since as many looks are under way as may be.
func (r *Reconciler[K, M]) Waiting() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.promote(r.Clock.Now())
	return len(r.ready)
}

// Reason gives, for people, why the object is behind: why its last look failed. Empty: it did not.
func (r *Reconciler[K, M]) Reason(key K) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.troubles[key].reason
}

// Forget forgets the object until it is hinted at. What a look that is under way leaves is forgotten, too.
func (r *Reconciler[K, M]) Forget(key K) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.forget(key)
	delete(r.entries, key)
}

// Drop forgets everything, as a new owner of the objects knows nothing. The list is read again, as at the start.
func (r *Reconciler[K, M]) Drop() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for key := range r.underWay {
		r.forget(key)
	}
	clear(r.entries)
	clear(r.troubles)
	r.ready, r.timed = nil, nil
	r.lists = lists{running: r.lists.running, drops: r.lists.drops + 1}
	r.signal()
}

// Rests notes that one of the looks that are under way waits for a time of the clock, until over is called. Step and Next are for who sets the
// clock, and so leave it alone: the time does not come while they wait. Over may be called again.
func (r *Reconciler[K, M]) Rests() (over func()) {
	r.rest(1)
	return sync.OnceFunc(func() { r.rest(-1) })
}

func (r *Reconciler[K, M]) rest(more int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.resting += more
	r.changed.Broadcast()
}

// busy reports whether a look is under way that does not rest. The caller has the lock.
func (r *Reconciler[K, M]) busy() bool { return r.running > r.resting }

// Next reports when an object is due, as far as that is known: now for one that was hinted, and while a look is under way, which may
// leave anything, but for those that rest; zero if none is.
func (r *Reconciler[K, M]) Next() time.Time {
	r.mu.Lock()
	defer r.mu.Unlock()
	now := r.Clock.Now()
	r.promote(now)
	if r.busy() || len(r.ready) > 0 && r.running < r.AtOnce { // else it waits for those that rest
		return now
	}
	return r.nextTimed()
}

// signal wakes Run. It never waits.
func (r *Reconciler[K, M]) signal() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}
