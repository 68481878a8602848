package reconcile_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop/reconcile"
)

func TestReconciler_Run(t *testing.T) {
	t.Parallel()

	t.Run("looks when the clock says so, and when it is set forward", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			r, clock, d := open(config{}, never)
			r.At("a", begin.Add(time.Hour))
			ctx, stop := context.WithCancel(t.Context())
			var run sync.WaitGroup
			run.Go(func() { r.Run(ctx) })
			synctest.Wait()
			clock.Advance(time.Hour - time.Millisecond)
			synctest.Wait()
			require.Empty(t, d.take())

			clock.Advance(time.Millisecond)
			synctest.Wait()
			require.Equal(t, []string{"a"}, d.take())
			stop()
			run.Wait()
		})
	})
}

func TestReconciler_Leave(t *testing.T) {
	t.Parallel()

	t.Run("goes on after its end with what was hinted and what is behind, as long as it may", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var stuck, fails bool
			d := &diary{}
			r, _, _ := open(config{Leave: 15 * time.Second, AtOnce: 9, Reconcile: func(ctx, ends context.Context, looks []*look) {
				one := looks[0]
				d.add(one.Key)
				if stuck {
					<-ends.Done()
					one.Err = ends.Err()
				}
				if one.Next = reconcile.At(begin.Add(time.Hour)); fails && one.Key == "behind" {
					one.Err = errors.New("not now")
				}
				if ctx.Err() == nil && one.Key == "slow" {
					<-ctx.Done()
					<-time.After(time.Second)
				}
			}}, nil)

			ctx, stop := context.WithCancel(t.Context())
			left := make(chan struct{})
			go func() {
				defer close(left)
				r.Run(ctx)
			}()
			fails = true
			for _, key := range []string{"behind", "planned", "slow"} {
				r.Hint(key)
			}
			synctest.Wait()
			fails = false
			d.take()
			stop()
			r.Hint("hinted")
			synctest.Wait()
			require.ElementsMatch(t, []string{"behind", "hinted"}, d.take())

			stuck = true
			r.Hint("late") // while the slow one is under way
			begun := time.Now()
			<-left
			require.Equal(t, []string{"late"}, d.take())
			require.Equal(t, 15*time.Second, time.Since(begun), "and no longer")
		})
	})
}

func TestReconciler_Rests(t *testing.T) {
	t.Parallel()

	t.Run("has Step and Next leave alone who waits for the clock, until that is over", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var r *reconciler
			overs, works := make(chan func(), 9), time.Hour
			rests := func(_ context.Context, one *look) (reconcile.Next, error) {
				<-time.After(works) // Step waits for this
				over := r.Rests()
				rested := make(chan bool)
				overs <- func() {
					over()
					over()
					close(rested)
				}
				<-rested
				<-time.After(works)
				return reconcile.Next{}, nil
			}
			r, clock, d := open(config{AtOnce: 2}, rests)
			for _, key := range []string{"a", "b", "c"} {
				r.Hint(key)
			}

			began := time.Now()
			require.NoError(t, r.Step(t.Context()))
			require.Equal(t, works, time.Since(began))
			require.ElementsMatch(t, []string{"a", "b"}, d.take(), "there is no place for more")
			require.Zero(t, r.Next(), "those that rest have the places")
			r.At("d", begin.Add(time.Minute))
			require.Equal(t, begin.Add(time.Minute), r.Next())

			(<-overs)()
			require.Equal(t, clock.Now(), r.Next())
			require.NoError(t, r.Step(t.Context()))
			require.Equal(t, 3*works, time.Since(began), "the end of the one, and then what the next one does before it rests")
			require.Equal(t, []string{"c"}, d.take())
			(<-overs)()
			(<-overs)()
			require.NoError(t, r.Step(t.Context()))
			require.Equal(t, 4*works, time.Since(began))
			require.Equal(t, begin.Add(time.Minute), r.Next())
		})
	})
}

func TestReconciler_RunAndStep(t *testing.T) {
	t.Parallel()

	t.Run("and Step together look at each object once at a time", func(t *testing.T) {
		t.Parallel()
		var mu sync.Mutex
		now := map[string]bool{}
		r, clock, _ := open(config{AtOnce: 4, Tick: time.Second, List: func(context.Context, bool) ([]string, error) {
			return []string{"a", "b", "c"}, nil
		}}, func(_ context.Context, one *look) (reconcile.Next, error) {
			mu.Lock()
			twice := now[one.Key]
			now[one.Key] = true
			mu.Unlock()
			if twice {
				return reconcile.Next{}, errors.New("twice")
			}

			mu.Lock()
			delete(now, one.Key)
			mu.Unlock()
			return reconcile.At(begin.Add(time.Hour)), nil
		})

		ctx, stop := context.WithCancel(t.Context())
		var run sync.WaitGroup
		run.Go(func() { r.Run(ctx) })
		for i := range 200 {
			clock.Advance(time.Second)
			if i%10 == 0 {
				r.Drop()
			}
			require.NoError(t, r.StepAll(t.Context()))
		}

		stop()
		run.Wait()
	})
}

func TestSweeps(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		ctx, stop := context.WithCancel(t.Context())
		var text bytes.Buffer
		var times []time.Duration
		minutes := 0

		began := time.Now()
		r := reconcile.NewSweeps(compute.SystemClock{}, slog.New(slog.NewTextHandler(&text, nil)), 2, reconcile.Sweep{Name: "keys", Tick: time.Second, Do: func(context.Context) error {
			times = append(times, time.Since(began))
			switch {
			case len(times)%10 == 0:
				return nil
			case len(times) == 25:
				stop()
			}
			return errors.New("full")
		}}, reconcile.Sweep{Name: "minutes", Tick: time.Minute, Do: func(context.Context) error {
			minutes++
			return nil
		}})

		r.Run(ctx)
		require.Zero(t, minutes, "each has its own tick")
		require.Len(t, times, 25)
		require.Equal(t, time.Second, times[0], "not before a tick has passed")
		require.Equal(t, 25*time.Second, times[24], "a failure makes it neither sooner nor later")
		require.Equal(t, 3, strings.Count(text.String(), `msg="sweep is behind`), text.String())
		require.Equal(t, 2, strings.Count(text.String(), `msg="sweep is not behind any more" sweep=keys failures=9`), text.String())

		swept := len(times)
		require.Error(t, r.StepAll(t.Context()))
		require.Len(t, times, swept+1, "at once when it is asked to")
		require.Equal(t, 1, minutes)

		r.Drop()
		require.NoError(t, r.Step(t.Context()))
		require.Len(t, times, swept+1, "without memory it has its tick still")
		require.Equal(t, []string{"keys", "minutes"}, r.Keys())
	})
}

func TestSweeps_GoByWhatFallsDueNext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const ms = time.Millisecond
		began := time.Now()
		at := func(d time.Duration) time.Time { return began.Add(d) }
		dues := []time.Time{{}, at(2100 * ms), at(2101 * ms), at(time.Hour), at(0), {}} // said after each sweep
		want := []time.Duration{1000 * ms, 2000 * ms, 2100 * ms, 2150 * ms, 3150 * ms, 3200 * ms}
		var times []time.Duration

		ctx, stop := context.WithCancel(t.Context())
		r := reconcile.NewSweeps(compute.SystemClock{}, slog.New(slog.DiscardHandler), 1, reconcile.Sweep{Name: "due", Tick: time.Second, Do: func(context.Context) error {
			if times = append(times, time.Since(began)); len(times) == len(want) {
				stop()
			}
			return nil
		}, Next: func(context.Context) (time.Time, error) { return dues[len(times)-1], nil }})

		r.Run(ctx)
		require.Equal(t, want, times, "at what is due, but neither later than a tick nor sooner than a twentieth of one")
	})
}

func TestSweeps_ThatDoNotKnowWhatIsNextGoByTheirTick(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began, times := time.Now(), []time.Duration{}
		ctx, stop := context.WithCancel(t.Context())
		r := reconcile.NewSweeps(compute.SystemClock{}, slog.New(slog.DiscardHandler), 1, reconcile.Sweep{Name: "blind", Tick: time.Second, Do: func(context.Context) error {
			if times = append(times, time.Since(began)); len(times) == 3 {
				stop()
			}
			return nil
		}, Next: func(context.Context) (time.Time, error) { return time.Now(), errors.New("the store is away") }})

		r.Run(ctx)
		require.Equal(t, []time.Duration{time.Second, 2 * time.Second, 3 * time.Second}, times)
	})
}
