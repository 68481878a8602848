package ship_test

import (
	"context"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store/ship"
)

// slow is a target at which one kind of request hangs, whatever its context says, until the test ends.
type slow struct {
	ship.Target
	deletes, lists bool         // which kind
	listed         atomic.Int64 // lists so far: by the first one a generation gets its name
	once           sync.Once
	hangs          chan struct{} // closed once a request does
	over           chan struct{} // closed when none does any more
}

func (s *slow) hang() {
	s.once.Do(func() { close(s.hangs) })
	<-s.over
}

func (s *slow) Delete(ctx context.Context, name string) error {
	if s.deletes {
		s.hang()
	}
	return s.Target.Delete(ctx, name)
}

func (s *slow) List(ctx context.Context, prefix string) ([]ship.Object, error) {
	if s.lists && s.listed.Add(1) > 1 {
		s.hang()
	}
	return s.Target.List(ctx, prefix)
}

func TestPrune_ThatTakesLongHoldsUpNeitherTheShippingNorTheEnd(t *testing.T) {
	t.Parallel()
	for name, hung := range map[string]*slow{"delete": {deletes: true}, "list": {lists: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			db, to := open(t), target(t)
			for range 2 { // generations that need not be kept
				_, stop := start(t, db, to)
				require.NoError(t, stop())
			}

			hung.Target, hung.hangs, hung.over = to, make(chan struct{}), make(chan struct{})
			defer close(hung.over)
			s, stop := start(t, db, hung, func(o *ship.Options) { o.Keep = time.Nanosecond })
			select {
			case <-hung.hangs:
			case <-time.After(long):
				require.Fail(t, "nothing is removed")
			}
			insert(t, db, 0, 5, 1000)
			shipped(t, s)
			_, n := restored(t, to, ship.Wish{})
			require.Equal(t, 5, n)
			insert(t, db, 5, 8, 1000)
			require.NoError(t, stop())
			_, n = restored(t, to, ship.Wish{})
			require.Equal(t, 8, n)
			require.Zero(t, s.Status().Broken+s.Status().Failures)
		})
	}
}
