package app

import (
	"errors"
	"slices"
)

// undo is how what a start made is undone. A start that fails and Close do the same, the last first: what was made later may need
// what was there before.
type undo struct {
	steps  []undoing
	undone func(name string) // is notified of each step before it is done; nil: nobody is
}

// undoing is a step.
type undoing struct {
	name   string
	failed bool // only if the start failed
	do     func() error
	inner  *undo // in place of it: all of that
}

// push adds how something is undone.
func (u *undo) push(name string, do func() error) {
	u.steps = append(u.steps, undoing{name: name, do: do})
}

// nest has all of inner undone at this place. It may be undone before, and filled again.
func (u *undo) nest(inner *undo) {
	u.steps = append(u.steps, undoing{inner: inner})
}

// pushOnFailure adds what is undone only if the start fails.
func (u *undo) pushOnFailure(name string, do func() error) {
	u.steps = append(u.steps, undoing{name: name, failed: true, do: do})
}

// all undoes everything, whatever fails on the way. A second call has nothing to do.
func (u *undo) all(failed bool) error {
	steps := u.steps
	u.steps = nil
	var errs []error
	for _, one := range slices.Backward(steps) {
		if one.failed && !failed {
			continue
		}
		if one.inner != nil {
			errs = append(errs, one.inner.all(failed))
			continue
		}
		if u.undone != nil {
			u.undone(one.name)
		}
		errs = append(errs, one.do())
	}

	return errors.Join(errs...)
}

// beside is something that is made beside what else a start does.
type beside[T any] struct {
	done chan struct{}
	made T
	err  error
}

// makeBeside begins to make it.
func makeBeside[T any](f func() (T, error)) *beside[T] {
	b := &beside[T]{done: make(chan struct{})}
	go func() {
		defer close(b.done)
		b.made, b.err = f()
	}()
	return b
}

// wait waits until it is made.
func (b *beside[T]) wait() (T, error) {
	<-b.done
	return b.made, b.err
}

// over waits until nobody is at it any more.
func (b *beside[T]) over() error {
	<-b.done
	return nil
}
