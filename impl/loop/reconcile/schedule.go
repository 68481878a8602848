package reconcile

import (
	"cmp"
	"container/heap"
	"context"
	"errors"
	"math"
	"time"
)

// entry is what is known of an object. There may be tens of thousands, so it is a value, no object for the garbage collector.
type entry[M any] struct {
	memory M
	due    int64 // by the clock, see stamp; 0: not planned
	queued bool  // it is in ready, or will be when its look has ended
	hinted bool  // since its last look began
}

// underWay is a look that is under way.
type underWay[M any] struct {
	updates   []func(*M)
	at        time.Time // a look was asked for at this time; zero: none was
	forgotten bool      // what it leaves does not count
}

// trouble is why an object is behind.
type trouble struct {
	reason string
	times  int // the looks that failed
	length time.Duration
}

// timed is when an object is due. It is true while the entry of the object says the same.
type timed[K cmp.Ordered] struct {
	due int64
	key K
}

// timeline are those that are due later, the first ones first, and those of the same time in the order of their keys.
type timeline[K cmp.Ordered] []timed[K]

// Len is for the heap, as are the next ones.
func (l timeline[K]) Len() int { return len(l) }

func (l timeline[K]) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(l[i].due, l[j].due), cmp.Compare(l[i].key, l[j].key)) < 0
}

func (l timeline[K]) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

func (l *timeline[K]) Push(one any) { *l = append(*l, one.(timed[K])) }

func (l *timeline[K]) Pop() any {
	last := len(*l) - 1
	one := (*l)[last]
	*l = (*l)[:last]
	return one
}

// The times that a stamp can say: years 1970 to 2200 are far within them.
var (
	earliest = time.Unix(0, 1)
	latest   = time.Unix(0, math.MaxInt64)
)

// stamp gives a time in nanoseconds since 1970, never 0. What is farther away than it can say is math.MaxInt64: never by itself.
func stamp(t time.Time) int64 {
	switch {
	case t.Before(earliest):
		return 1
	case t.After(latest):
		return math.MaxInt64
	}
	return t.UnixNano()
}

func earlier(a, b time.Time) time.Time {
	if a.IsZero() || b.Before(a) {
		return b
	}
	return a
}

// hint makes the object due now, since somebody knows of a change. The caller has the lock, as in all that follows.
func (r *Reconciler[K, M]) hint(key K) {
	e := r.entries[key]
	e.hinted = true
	r.queue(key, e)
}

// queue makes the object due now.
func (r *Reconciler[K, M]) queue(key K, e entry[M]) {
	was := e.queued
	e.queued, e.due = true, 0
	r.entries[key] = e
	if !was && r.underWay[key] == nil {
		r.ready = append(r.ready, key)
	}
}

// least is how long after a look the next planned one is at least: one that plans for a time that has passed does not spin.
const least = 10 * time.Millisecond

// spare is how many times may be in the timeline that are not true any more, beside one for each object.
const spare = 64

// plan makes the object due at a time.
func (r *Reconciler[K, M]) plan(key K, e entry[M], t time.Time) {
	e.due = stamp(t)
	r.entries[key] = e
	if e.due == math.MaxInt64 {
		return
	}

	if len(r.timed) > 2*len(r.entries)+spare {
		r.timed = r.timed[:0]
		for key, e := range r.entries {
			if e.due != 0 && e.due != math.MaxInt64 {
				r.timed = append(r.timed, timed[K]{e.due, key})
			}
		}
		heap.Init(&r.timed)
		return // with this one
	}

	heap.Push(&r.timed, timed[K]{e.due, key})
}

// nextTimed gives when the first object is due that is not ready; zero if none is planned.
func (r *Reconciler[K, M]) nextTimed() time.Time {
	for len(r.timed) > 0 {
		first := r.timed[0]
		if r.entries[first.key].due == first.due {
			return time.Unix(0, first.due).UTC()
		}
		heap.Pop(&r.timed)
	}
	return time.Time{}
}

// promote makes ready whatever is due.
func (r *Reconciler[K, M]) promote(now time.Time) {
	for next := r.nextTimed(); !next.IsZero() && !now.Before(next); next = r.nextTimed() {
		key := heap.Pop(&r.timed).(timed[K]).key
		r.queue(key, r.entries[key])
	}
}

// claim takes the objects of one call of Reconcile, those first that are due for the longest time.
func (r *Reconciler[K, M]) claim() (looks []*Look[K, M]) {
	for len(r.ready) > 0 && len(looks) < r.Together {
		key := r.ready[0]
		r.ready = r.ready[1:]
		e := r.entries[key]
		if !e.queued || r.underWay[key] != nil { // it was forgotten, and perhaps hinted again
			continue
		}

		looks = append(looks, &Look[K, M]{Key: key, Hinted: e.hinted, Memory: e.memory})
		e.queued, e.hinted = false, false
		r.entries[key] = e
		r.underWay[key] = &underWay[M]{}
	}

	if len(r.ready) == 0 {
		r.ready = nil // with what it was appended to
	}
	return looks
}

// forget forgets trouble with the object, and what a look at it will leave.
func (r *Reconciler[K, M]) forget(key K) {
	delete(r.troubles, key)
	if one := r.underWay[key]; one != nil {
		one.forgotten, one.updates = true, nil
	}
}

// judge notes how a look went. It gives the reason of trouble that begins, or that trouble is over.
func (r *Reconciler[K, M]) judge(ctx context.Context, one *Look[K, M]) (reason string, over bool) {
	before, behind := r.troubles[one.Key]
	switch {
	case ctx.Err() != nil:
		if one.Err != nil && !errors.Is(one.Err, context.Canceled) {
			r.Log.Warn(r.Name+" is seen to later", r.Name, one.Key, "error", one.Err)
		}
		return "", false
	case r.underWay[one.Key].forgotten:
		return "", false
	case one.Err == nil && behind:
		delete(r.troubles, one.Key)
		r.Log.Info(r.Name+" is not behind any more", r.Name, one.Key, "failures", before.times)
		return "", true
	case one.Err == nil:
		return "", false
	}

	first, most := r.Backoff, r.BackoffMost
	if r.BackoffOf != nil {
		first, most = r.BackoffOf(one.Key)
	}
	now := trouble{reason: one.Err.Error(), times: before.times + 1, length: min(max(first, 2*before.length), most)}
	r.troubles[one.Key] = now
	if behind {
		return "", false
	}

	r.Log.Error(r.Name+" is behind: it is tried again", r.Name, one.Key, "error", one.Err) // and not at every look
	return now.reason, false
}

// finish ends a look and plans the next one.
func (r *Reconciler[K, M]) finish(ctx context.Context, one *Look[K, M]) {
	was := r.underWay[one.Key]
	delete(r.underWay, one.Key)
	e, known := r.entries[one.Key]
	if e.queued { // while it was looked at, when nobody else could
		r.ready = append(r.ready, one.Key)
	}
	if was.forgotten || !known {
		return
	}

	e.memory = one.Memory
	for _, f := range was.updates {
		f(&e.memory)
	}
	next, soon := one.Next.at, r.Clock.Now().Add(least)
	if !next.IsZero() && next.Before(soon) {
		next = soon
	}
	if one.Err != nil {
		next = r.Clock.Now().Add(r.troubles[one.Key].length)
	}
	if !was.at.IsZero() {
		next = earlier(next, was.at)
	}

	switch {
	case e.queued:
		r.entries[one.Key] = e
	case r.leaving:
		delete(r.entries, one.Key)
	case one.Err != nil && ctx.Err() != nil, one.Err == nil && one.Next.atOnce: // who began it has gone: it is for somebody else
		r.entries[one.Key] = e
		r.hint(one.Key)
	case next.IsZero():
		delete(r.entries, one.Key)
	default:
		r.plan(one.Key, e, next)
	}
}
