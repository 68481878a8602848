package reconcile_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/loop/reconcile"
)

func TestReconciler_PlanOfATimeThatHasPassedDoesNotSpin(t *testing.T) {
	t.Parallel()
	r, clock, d := open(config{}, func(context.Context, *look) (reconcile.Next, error) { return reconcile.At(begin), nil })
	r.At("a", time.Unix(-5, 0)) // before all that a plan can say
	require.Equal(t, begin, r.Next())
	require.NoError(t, r.Step(t.Context()))
	require.Equal(t, []string{"a"}, d.take())
	require.Equal(t, begin.Add(10*time.Millisecond), r.Next())

	clock.Advance(10*time.Millisecond - 1)
	require.NoError(t, r.Step(t.Context()))
	require.Empty(t, d.take())
	clock.Advance(1)
	require.NoError(t, r.Step(t.Context()))
	require.Equal(t, []string{"a"}, d.take())
}

func TestReconciler_AtDuringALook(t *testing.T) {
	t.Parallel()
	const second = time.Second
	for name, c := range map[string]struct {
		asked []time.Duration
		plans reconcile.Next
		want  time.Duration
	}{
		"comes before what the look plans":             {[]time.Duration{second}, reconcile.At(begin.Add(time.Hour)), second},
		"comes though the look plans nothing":          {[]time.Duration{second}, reconcile.Next{}, second},
		"comes though the look waits for a hint":       {[]time.Duration{second}, reconcile.OnHint(), second},
		"comes at the first time that was asked for":   {[]time.Duration{3 * second, second, 2 * second}, reconcile.Next{}, second},
		"does not come after what the look plans":      {[]time.Duration{time.Hour}, reconcile.At(begin.Add(second)), second},
		"comes at once if the look asks for that, too": {[]time.Duration{0}, reconcile.At(begin.Add(second)), 0},
	} {
		var r *reconciler
		looks := 0
		r, clock, _ := open(config{}, func(context.Context, *look) (reconcile.Next, error) {
			if looks++; looks > 1 {
				return reconcile.OnHint(), nil
			}
			for _, after := range c.asked {
				r.At("a", begin.Add(after))
			}
			return c.plans, nil
		})
		r.Hint("a")
		require.NoError(t, r.Step(t.Context()))
		if c.want == 0 {
			require.Equal(t, 2, looks, name)
			continue
		}
		require.Equal(t, 1, looks, name)
		require.Equal(t, begin.Add(c.want), r.Next(), name)

		clock.Advance(c.want)
		require.NoError(t, r.Step(t.Context()))
		require.Equal(t, 2, looks, name)
		memory, known := r.Memory("a")
		require.True(t, known, name)
		require.Equal(t, 2, memory, "what was remembered is kept: %s", name)
	}
}

func TestReconciler_Forget(t *testing.T) {
	t.Parallel()

	t.Run("takes back a hint, and a later hint counts once", func(t *testing.T) {
		t.Parallel()
		r, _, d := open(config{}, never)
		r.Hint("a")
		r.Hint("b")
		r.Forget("a")
		require.NoError(t, r.Step(t.Context()))
		require.Equal(t, []string{"b"}, d.take())

		r.Hint("a")
		r.Forget("a")
		r.Hint("a")
		require.NoError(t, r.Step(t.Context()))
		require.Equal(t, []string{"a"}, d.take())
	})

	t.Run("takes back a plan", func(t *testing.T) {
		t.Parallel()
		r, clock, d := open(config{}, never)
		r.At("a", begin.Add(time.Second))
		r.Forget("a")
		require.Zero(t, r.Next())
		clock.Advance(time.Minute)
		require.NoError(t, r.Step(t.Context()))
		require.Empty(t, d.take())
	})

	t.Run("during a look does not undo what is asked for after it", func(t *testing.T) {
		t.Parallel()
		asked := false
		var r *reconciler
		r, clock, d := open(config{}, func(_ context.Context, one *look) (reconcile.Next, error) {
			if one.Key == "planned" && !asked {
				asked = true
				r.Forget("planned")
				r.At("planned", begin.Add(time.Second))
			}
			if one.Key == "updated" && one.Memory == 1 {
				r.Update("updated", func(n *int) { *n = 50 })
				r.Forget("updated")
				r.Update("updated", func(n *int) { *n += 7 })
			}
			return reconcile.At(begin.Add(time.Hour)), nil
		})
		r.Hint("planned")
		require.NoError(t, r.Step(t.Context()))
		require.Equal(t, []string{"planned"}, d.take())
		require.Equal(t, begin.Add(time.Second), r.Next())
		memory, _ := r.Memory("planned")
		require.Zero(t, memory, "what the look left was forgotten")
		clock.Advance(time.Second)

		r.Hint("updated")
		require.NoError(t, r.Step(t.Context()))
		memory, _ = r.Memory("updated")
		require.Equal(t, 8, memory, "7, and one look")
	})
}

func TestReconciler_Drop(t *testing.T) {
	t.Parallel()
	r, clock, d := open(config{}, func(context.Context, *look) (reconcile.Next, error) {
		return reconcile.At(begin.Add(time.Minute)), errors.New("not now")
	})
	r.Hint("behind")
	require.Error(t, r.Step(t.Context()))
	require.Equal(t, "not now", r.Reason("behind"))
	require.Equal(t, 1, r.Known())
	d.take()
	r.Hint("hinted")
	r.At("planned", begin.Add(time.Second))
	require.Equal(t, 3, r.Known())

	r.Drop()
	require.Empty(t, r.Keys())
	require.Zero(t, r.Known())
	require.Empty(t, r.Reason("behind"))
	require.Zero(t, r.Next())
	clock.Advance(time.Hour)
	require.NoError(t, r.Step(t.Context()))
	require.Empty(t, d.take())
}

func TestReconciler_NextIsNowDuringALook(t *testing.T) {
	t.Parallel()
	var during time.Time
	var waiting int
	var r *reconciler
	r, clock, _ := open(config{}, func(context.Context, *look) (reconcile.Next, error) {
		if during.IsZero() {
			during = r.Next()
			r.Hint("b")
			r.At("c", begin.Add(time.Minute))
			r.At("d", begin.Add(2*time.Minute))
			waiting = r.Waiting()
		}
		return reconcile.Next{}, nil
	})
	clock.Advance(time.Minute)
	r.Hint("a")
	require.NoError(t, r.Step(t.Context()))
	require.Equal(t, begin.Add(time.Minute), during, "it may leave anything")
	require.Equal(t, 2, waiting, "one is hinted, one is due")
}

func TestReconciler_LookWhoseCallerHasGone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		err error
		log string
	}{
		"says why it failed":               {errors.New("the store is away"), "the store is away"},
		"fails for no more than that":      {context.Canceled, ""},
		"is no trouble if it did not fail": {nil, ""},
	} {
		ctx, gone := context.WithCancel(t.Context())
		var log bytes.Buffer
		behind := 0
		r, _, d := open(config{
			Log: slog.New(slog.NewTextHandler(&log, nil)), Behind: func(context.Context, string, string) { behind++ },
		}, func(context.Context, *look) (reconcile.Next, error) {
			gone()
			return reconcile.Next{}, c.err
		})

		r.Hint("a")
		require.ErrorIs(t, r.Step(ctx), context.Canceled, name)
		if c.log == "" {
			require.Empty(t, log.String(), name)
		} else {
			require.Contains(t, log.String(), "object is seen to later", name)
			require.Contains(t, log.String(), c.log, name)
		}
		require.Empty(t, r.Reason("a"), name)
		require.Zero(t, behind, name)
		require.Equal(t, []string{"a"}, d.take(), name)
	}
}

// run has the reconciler work in a bubble until the function that it gives is called, which gives how long that took.
func run(t *testing.T, r *reconciler) (stop func() time.Duration) {
	t.Helper()
	ctx, cancel := context.WithCancel(t.Context())
	var work sync.WaitGroup
	work.Go(func() { r.Run(ctx) })
	synctest.Wait()
	return func() time.Duration {
		began := time.Now()
		cancel()
		work.Wait()
		return time.Since(began)
	}
}

func TestReconciler_RunHearsOfWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		lists := 0
		r, clock, d := open(config{List: func(context.Context, bool) ([]string, error) {
			lists++
			return nil, nil
		}}, func(context.Context, *look) (reconcile.Next, error) { return reconcile.OnHint(), nil })
		stop := run(t, r)
		require.Equal(t, 1, lists)

		r.At("planned", begin.Add(time.Minute))
		synctest.Wait()
		clock.Advance(time.Minute)
		synctest.Wait()
		require.Equal(t, []string{"planned"}, d.take())

		r.Update("updated", func(n *int) { *n = 4 })
		synctest.Wait()
		require.Equal(t, []string{"updated"}, d.take())
		memory, _ := r.Memory("updated")
		require.Equal(t, 5, memory)

		r.Drop()
		synctest.Wait()
		require.Equal(t, 2, lists, "what was dropped is listed anew")
		require.Zero(t, stop())
	})
}

func TestReconciler_LeaveIsForThoseThatAskForIt(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		leave, took time.Duration
		looked      []string
		late        bool
	}{
		"not for one that does not":         {0, 3 * time.Second, []string{"slow"}, false},
		"for what was hinted":               {time.Minute, 3 * time.Second, []string{"slow", "hinted"}, false},
		"for no longer than that, and says": {2 * time.Second, 2 * time.Second, []string{"slow", "hinted"}, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var log bytes.Buffer
				d := &diary{}
				r, _, _ := open(config{Leave: c.leave, AtOnce: 2, Log: slog.New(slog.NewTextHandler(&log, nil)), Reconcile: func(_, ends context.Context, looks []*look) {
					d.add(looks[0].Key)
					if looks[0].Key == "slow" {
						select {
						case <-time.After(3 * time.Second):
						case <-ends.Done():
						}
					}
				}}, nil)
				ctx, cancel := context.WithCancel(t.Context())
				var work sync.WaitGroup
				work.Go(func() { r.Run(ctx) })
				r.Hint("slow")
				synctest.Wait()

				began := time.Now()
				cancel()
				synctest.Wait()
				r.Hint("hinted")
				work.Wait()
				require.Equal(t, c.took, time.Since(began))
				<-time.After(time.Hour)
				require.Equal(t, c.looked, d.take())
				require.Equal(t, c.late, bytes.Contains(log.Bytes(), []byte("what is not done yet is done after the next start")), log.String())
			})
		})
	}
}
