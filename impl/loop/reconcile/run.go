package reconcile

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// lists is what is known of the list of all objects.
type lists struct {
	done    bool // with success, since the start or the last Drop
	running bool
	drops   int // how often all was forgotten
	next    time.Time
	trouble trouble
}

// Run looks at objects until ctx ends, and as long after it as Leave says.
func (r *Reconciler[K, M]) Run(ctx context.Context) {
	ends, cancel := context.WithCancel(context.WithoutCancel(ctx))
	defer cancel()
	for ctx.Err() == nil {
		r.listInTime(ctx)
		r.mu.Lock()
		r.begin(ctx, ends)
		next := r.idle()
		r.mu.Unlock()

		var tick <-chan time.Time
		stop := func() {}
		if !next.IsZero() {
			tick, stop = r.Clock.After(next.Sub(r.Clock.Now()))
			if !r.Clock.Now().Before(next) { // it was set forward between the two
				r.signal()
			}
		}

		select {
		case <-ctx.Done():
		case <-tick:
		case <-r.wake:
		}

		stop()
	}

	r.leave(ctx, ends, cancel)
}

// leave ends Run, whose ctx has ended.
func (r *Reconciler[K, M]) leave(ctx, ends context.Context, cancel func()) {
	if r.Leave > 0 {
		late, stop := compute.SystemClock{}.After(r.Leave) // not that of the server: nobody sets it any more
		defer stop()
		left := make(chan struct{})
		defer close(left)

		go func() {
			select {
			case <-late:
				r.Log.Warn(r.Name + ": what is not done yet is done after the next start")
				cancel()
			case <-left:
			}
		}()
	}

	r.mu.Lock()
	defer r.mu.Unlock()

	if r.Leave > 0 {
		r.leaving = true
		for key := range r.troubles {
			r.hint(key)
		}
	}

	for {
		if r.leaving {
			r.begin(ctx, ends)
		}
		if r.running == 0 && !r.lists.running {
			return
		}
		r.changed.Wait()
	}
}

// Step looks at all objects that are due, one after the other as far as AtOnce says so, until none is due and no look is
// under way but those that rest, see Rests, which go on after it. It gives the errors of the looks that failed meanwhile; their objects
// are looked at again after the backoff.
func (r *Reconciler[K, M]) Step(ctx context.Context) error {
	r.listInTime(ctx)
	var errs []error
	r.mu.Lock()
	defer r.mu.Unlock()
	r.steps[&errs] = true
	defer delete(r.steps, &errs)

	for {
		if ctx.Err() == nil {
			r.begin(ctx, ctx)
		}
		if !r.busy() && !r.lists.running {
			return errors.Join(append(errs, ctx.Err())...)
		}
		r.changed.Wait()
	}
}

// StepAll is Step with all objects that are known, whether they are due or not. The list is read first if it was not yet, also
// during its backoff.
func (r *Reconciler[K, M]) StepAll(ctx context.Context) error {
	r.mu.Lock()
	if !r.lists.done {
		r.lists.next = time.Time{}
	}
	r.mu.Unlock()
	r.listInTime(ctx)

	r.mu.Lock()
	for _, key := range slices.Sorted(maps.Keys(r.entries)) {
		r.queue(key, r.entries[key])
	}
	r.mu.Unlock()
	return r.Step(ctx)
}

// begin begins as many looks as are due and may be under way. The caller has the lock.
func (r *Reconciler[K, M]) begin(ctx, ends context.Context) {
	switch {
	case r.leaving:
	case r.listsFirst():
		return
	default:
		r.promote(r.Clock.Now())
	}

	for r.running < r.AtOnce {
		looks := r.claim()
		if len(looks) == 0 {
			return
		}
		r.running++
		go r.look(ctx, ends, looks)
	}
}

// look makes looks.
func (r *Reconciler[K, M]) look(ctx, ends context.Context, looks []*Look[K, M]) {
	r.Reconcile(ctx, ends, looks)

	type change struct {
		key    K
		reason string
	}
	var changes []change
	r.mu.Lock()
	for _, one := range looks {
		if reason, over := r.judge(ctx, one); r.Behind != nil && (over || reason != "") {
			changes = append(changes, change{one.Key, reason})
		}
	}

	r.mu.Unlock()
	for _, c := range changes {
		r.Behind(ctx, c.key, c.reason)
	}

	r.mu.Lock()
	for _, one := range looks {
		if one.Err != nil {
			for errs := range r.steps {
				*errs = append(*errs, one.Err)
			}
		}
		r.finish(ctx, one)
	}
	r.mu.Unlock()
	if r.Looked != nil {
		r.Looked()
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	r.running--
	r.changed.Broadcast()
	r.signal()
}

// idle reports when there is something to begin if nothing happens before; zero if that is not known. The caller has the lock.
func (r *Reconciler[K, M]) idle() (next time.Time) {
	if r.running < r.AtOnce {
		next = r.nextTimed()
	}
	if !r.lists.next.IsZero() && !r.lists.running {
		next = earlier(next, r.lists.next)
	}
	return next
}

// listInTime reads the list if it is time for it: as long as nothing is known before all else, later beside the looks.
func (r *Reconciler[K, M]) listInTime(ctx context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()

	for r.listsFirst() {
		r.changed.Wait()
	}
	l := &r.lists
	early := r.Clock.Now().Before(l.next) || l.done && l.next.IsZero()
	if r.List == nil || l.running || early {
		return
	}

	l.running = true
	first, drops := !l.done, l.drops
	list := func() {
		keys, err := r.List(ctx, first)
		r.mu.Lock()
		defer r.mu.Unlock()
		r.listed(ctx, keys, err, drops)
	}

	if !first {
		go list()
		return
	}
	r.mu.Unlock()
	list()
	r.mu.Lock()
}

// listsFirst reports whether somebody reads the list of which nothing is known. The caller has the lock.
func (r *Reconciler[K, M]) listsFirst() bool { return r.lists.running && !r.lists.done }

// listed takes in a list. The caller has the lock.
func (r *Reconciler[K, M]) listed(ctx context.Context, keys []K, err error, drops int) {
	for _, key := range keys {
		r.hint(key)
	}
	l := &r.lists
	l.running = false

	if now := r.Clock.Now(); l.drops == drops { // else it is the list of another time
		switch {
		case ctx.Err() != nil:
			l.next = now
		case err != nil:
			if l.trouble.times++; l.trouble.times == 1 {
				r.Log.Error(r.Name+": the list could not be read: it is tried again", "error", err)
			}
			l.trouble.length = min(max(r.Backoff, 2*l.trouble.length), r.BackoffMost)
			l.next = now.Add(l.trouble.length)
		default:
			if l.trouble.times > 0 {
				r.Log.Info(r.Name+": the list is read again", "failures", l.trouble.times)
			}
			l.done, l.trouble, l.next = true, trouble{}, time.Time{}
			if r.Tick > 0 {
				l.next = now.Add(r.Tick)
			}
		}
	}

	r.changed.Broadcast()
	r.signal()
}
