package groupcommit

import (
	"context"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// tryEvery is how often a Group tries to write while the storage takes no writes: it is how late the end of a trouble is known
// where nobody writes.
const tryEvery = time.Second

// Trouble is that of the last write; nil: none.
func (g *Group) Trouble() error {
	if e := g.trouble.Load(); e != nil {
		return *e
	}
	return nil
}

// failed gives the error of a call that fails as its caller gets it, and notes the trouble that it is about. The caller has the
// turn.
func (g *Group) failed(err error) error {
	if store.TroubleOf(err) == "" {
		t := g.engine.TroubleOf(err)
		if t == "" {
			return err
		}
		wrapped := store.Troubled(t, err)
		if store.IsUnknown(err) {
			wrapped = store.Unknown(wrapped)
		}
		err = wrapped
	}
	if g.trouble.Swap(&err) != nil {
		return err
	}

	if g.options.Watch != nil {
		g.options.Watch(err, 0)
	}
	select {
	case g.ill <- struct{}{}:
	default:
	}

	return err
}

// succeeded notes that something was written. The caller has the turn.
func (g *Group) succeeded() {
	if g.trouble.Load() == nil {
		return
	}
	g.trouble.Store(nil)
	if g.options.Watch != nil {
		g.options.Watch(nil, g.refused+g.troubled())
	}
	g.refused = 0
}

// troubled gives how many calls of the group have failed because of a trouble.
func (g *Group) troubled() (n int) {
	for _, c := range g.group {
		if store.TroubleOf(c.err) != "" {
			n++
		}
	}
	return n
}

// tryAgain writes something once in a while as long as writes fail.
func (g *Group) tryAgain() {
	defer close(g.tried)
	for {
		select {
		case <-g.quit:
			return
		case <-g.ill:
		}

		for g.Trouble() != nil {
			passed, stop := compute.SystemClock{}.After(tryEvery)
			select {
			case <-g.quit:
				stop()
				return
			case <-passed:
			}
			_ = g.Do(context.Background(), Call{Run: g.engine.Probe}) // noted as any other
		}
	}
}
