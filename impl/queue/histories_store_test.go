package queue_test

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/berthdev/berth/store"
)

// failing is a store of which one write in ten fails, undone or, if it is no take, with an unknown outcome, and one in ten runs
// twice.
type failing struct {
	store.Store
	mu     sync.Mutex
	random *rand.Rand
}

func (f *failing) chance() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.random.IntN(30)
}

// write makes a write well, or not.
func (f *failing) write(ctx context.Context, sure bool, do func(store.Tx) error, well func() error) error {
	undone := func() error {
		return f.Store.Write(ctx, func(tx store.Tx) error {
			if err := do(tx); err != nil {
				return err
			}
			return errDisk
		})
	}

	switch n := f.chance(); {
	case n == 0:
		return undone()
	case n == 1 && !sure:
		if err := undone(); !errors.Is(err, errDisk) {
			return err
		}
		return store.Unknown(errDisk)
	case n == 2 && !sure:
		if err := f.Store.Write(ctx, func(tx store.Tx) error { return do(silent{tx}) }); err != nil {
			return err
		}
		return store.Unknown(errDisk)
	case n < 6:
		if err := undone(); !errors.Is(err, errDisk) {
			return err
		}
	}

	return well()
}

func (f *failing) Write(ctx context.Context, do func(store.Tx) error) error {
	return f.write(ctx, false, do, func() error { return f.Store.Write(ctx, do) })
}

func (f *failing) SubmitJob(ctx context.Context, s *store.Submission) error {
	if f.chance() == 0 {
		return errDisk // before a worker is assigned, or it would be notified of a job that is not there
	}
	return f.Store.SubmitJob(ctx, s)
}

func (f *failing) TakeJobs(ctx context.Context, t store.Take) error {
	return f.write(ctx, true, func(tx store.Tx) error { return t.In(tx) }, func() error { return f.Store.TakeJobs(ctx, t) })
}

func (f *failing) EndJob(ctx context.Context, e store.JobEnd) error {
	do := func(tx store.Tx) error {
		_, err := e.In(tx)
		return err
	}
	return f.write(ctx, false, do, func() error { return f.Store.EndJob(ctx, e) })
}

// dawdling is a store whose callers now and then learn late what is on disk: what they do about it comes after what others do who
// have read it.
type dawdling struct{ store.Store }

func (d dawdling) Write(ctx context.Context, f func(store.Tx) error) error {
	err := d.Store.Write(ctx, f)
	dawdle()
	return err
}

func (d dawdling) SubmitJob(ctx context.Context, s *store.Submission) error {
	err := d.Store.SubmitJob(ctx, s)
	dawdle()
	return err
}

func (d dawdling) TakeJobs(ctx context.Context, t store.Take) error {
	err := d.Store.TakeJobs(ctx, t)
	dawdle()
	return err
}

func (d dawdling) EndJob(ctx context.Context, e store.JobEnd) error {
	err := d.Store.EndJob(ctx, e)
	dawdle()
	return err
}

func dawdle() {
	if rand.IntN(3) == 0 {
		<-time.After(time.Duration(rand.IntN(1500)) * time.Microsecond)
	}
}
