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

// reconciler is one that remembers how often it looked at an object.
type (
	reconciler = reconcile.Reconciler[string, int]
	config     = reconcile.Config[string, int]
	look       = reconcile.Look[string, int]
)

var begin = time.UnixMilli(1_700_000_000_000).UTC()

// diary is what a test was called with, in order.
type diary struct {
	mu    sync.Mutex
	lines []string
}

func (d *diary) add(line string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.lines = append(d.lines, line)
}

// take gives the lines since it was called last.
func (d *diary) take() []string {
	d.mu.Lock()
	defer d.mu.Unlock()
	lines := d.lines
	d.lines = nil
	return lines
}

// open makes a reconciler on a clock that stands still. f says what a look gives.
func open(c config, f func(ctx context.Context, one *look) (reconcile.Next, error)) (*reconciler, *compute.SettableClock, *diary) {
	clock, d := compute.NewFrozenClock(begin), &diary{}
	c.Name, c.Clock = "object", clock
	if c.Log == nil {
		c.Log = slog.New(slog.DiscardHandler)
	}

	if c.Reconcile == nil {
		c.Reconcile = reconcile.Each(func(ctx context.Context, one *look) (reconcile.Next, error) {
			d.add(one.Key)
			one.Memory++
			return f(ctx, one)
		})
	}

	return reconcile.New(c), clock, d
}

// never plans nothing.
func never(context.Context, *look) (reconcile.Next, error) { return reconcile.Next{}, nil }

func TestReconciler_Step(t *testing.T) {
	t.Parallel()

	t.Run("looks at what was hinted in the order of the hints, once for many hints", func(t *testing.T) {
		t.Parallel()
		r, _, d := open(config{}, never)
		for _, key := range []string{"b", "a", "b", "c", "a"} {
			r.Hint(key)
		}
		require.NoError(t, r.Step(t.Context()))
		require.Equal(t, []string{"b", "a", "c"}, d.take())
		require.NoError(t, r.Step(t.Context()))
		require.Empty(t, d.take())
		require.Empty(t, r.Keys(), "of what has nothing planned nothing is remembered")
	})

	t.Run("looks at what is due in the order of time, and at nothing sooner", func(t *testing.T) {
		t.Parallel()
		r, clock, d := open(config{}, never)
		r.At("later", begin.Add(2*time.Second))
		r.At("b", begin.Add(time.Second))
		r.At("a", begin.Add(time.Second))
		r.At("a", begin.Add(time.Hour)) // later than what is planned
		r.At("later", begin.Add(time.Hour))
		r.At("b", begin.Add(time.Millisecond))
		require.Equal(t, begin.Add(time.Millisecond), r.Next())
		require.NoError(t, r.Step(t.Context()))
		require.Empty(t, d.take())

		clock.Advance(time.Second)
		require.Equal(t, clock.Now(), r.Next())
		require.NoError(t, r.Step(t.Context()))
		require.Equal(t, []string{"b", "a"}, d.take())
		require.Equal(t, begin.Add(2*time.Second), r.Next())

		clock.Advance(time.Second)
		require.NoError(t, r.Step(t.Context()))
		require.Equal(t, []string{"later"}, d.take())
		require.Zero(t, r.Next())
	})

	t.Run("looks again at once at what asks for it, until nothing is due", func(t *testing.T) {
		t.Parallel()
		r, _, d := open(config{}, func(_ context.Context, one *look) (reconcile.Next, error) {
			if one.Key == "a" && one.Memory < 3 {
				return reconcile.AtOnce(), nil
			}
			return reconcile.At(begin.Add(time.Hour)), nil
		})

		r.Hint("a")
		r.Hint("b")
		require.NoError(t, r.Step(t.Context()))
		require.Equal(t, []string{"a", "b", "a", "a"}, d.take())

		memory, known := r.Memory("a")
		require.True(t, known)
		require.Equal(t, 3, memory)
	})
}

func TestReconciler_StepAll(t *testing.T) {
	t.Parallel()

	t.Run("looks also at what is planned for later", func(t *testing.T) {
		t.Parallel()
		r, _, d := open(config{}, func(context.Context, *look) (reconcile.Next, error) {
			return reconcile.At(time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)), nil // farther than a planned time can say
		})
		r.Hint("b")
		r.Hint("a")
		require.NoError(t, r.Step(t.Context()))

		d.take()
		require.Zero(t, r.Next())
		require.Equal(t, []string{"a", "b"}, r.Keys())
		require.NoError(t, r.StepAll(t.Context()))
		require.Equal(t, []string{"a", "b"}, d.take())
	})

	t.Run("distinguishes a look that was hinted from one that is due by the clock", func(t *testing.T) {
		t.Parallel()
		var hinted []bool
		var r *reconciler
		r, clock, _ := open(config{}, func(_ context.Context, one *look) (reconcile.Next, error) {
			if hinted = append(hinted, one.Hinted); len(hinted) == 3 {
				r.Hint("a")
			}
			return reconcile.At(begin.Add(time.Duration(len(hinted)) * time.Second)), nil
		})

		r.Hint("a")
		require.NoError(t, r.Step(t.Context()))
		clock.Advance(time.Second)
		require.NoError(t, r.Step(t.Context()))
		require.NoError(t, r.StepAll(t.Context()))
		require.Equal(t, []bool{true, false, false, true}, hinted)
	})

	t.Run("leaves what is due to the next one when its caller has gone", func(t *testing.T) {
		t.Parallel()
		ctx, gone := context.WithCancel(t.Context())
		r, _, d := open(config{}, func(ctx context.Context, one *look) (reconcile.Next, error) {
			gone()
			require.True(t, one.Hinted, "also when it is made again: nobody knows how far the first one came")
			return reconcile.Next{}, ctx.Err()
		})

		r.Hint("a")
		r.Hint("b")
		require.ErrorIs(t, r.Step(ctx), context.Canceled)
		require.Equal(t, []string{"a"}, d.take())
		require.NoError(t, r.Step(t.Context()))
		require.ElementsMatch(t, []string{"b", "a"}, d.take())
		require.Empty(t, r.Reason("a"), "that is no trouble of the object's")
	})
}

func TestReconciler_WhoIsNotifiedSeesWhatALookLeft(t *testing.T) {
	t.Parallel()
	var seen []int
	var r *reconcile.Reconciler[string, int]
	r, _, _ = open(config{Looked: func() {
		memory, _ := r.Memory("a")
		seen = append(seen, memory)
	}}, func(context.Context, *look) (reconcile.Next, error) { return reconcile.OnHint(), nil })

	for range 3 {
		r.Hint("a")
		require.NoError(t, r.Step(t.Context()))
	}
	require.Equal(t, []int{1, 2, 3}, seen)
}

func TestReconciler_Backoff(t *testing.T) {
	t.Parallel()
	fails := true
	var log bytes.Buffer

	var reasons []string
	r, clock, d := open(config{
		BackoffMost: 4 * time.Second, Log: slog.New(slog.NewTextHandler(&log, nil)),
		Behind: func(_ context.Context, key, reason string) { reasons = append(reasons, key+": "+reason) },
	}, func(_ context.Context, one *look) (reconcile.Next, error) {
		if fails && one.Key == "a" {
			return reconcile.AtOnce(), errors.New("the runtime is away")
		}
		return reconcile.At(begin.Add(time.Hour)), nil
	})

	r.Hint("a")
	r.Hint("b")
	require.ErrorContains(t, r.Step(t.Context()), "the runtime is away")
	require.Equal(t, []string{"a", "b"}, d.take())
	require.Equal(t, "the runtime is away", r.Reason("a"))
	require.Empty(t, r.Reason("b"))

	for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 4 * time.Second} {
		require.Equal(t, clock.Now().Add(pause), r.Next(), "it doubles, and is bounded")
		clock.Advance(pause - time.Millisecond)
		require.NoError(t, r.Step(t.Context()))
		require.Empty(t, d.take())
		clock.Advance(time.Millisecond)
		require.Error(t, r.Step(t.Context()))
		require.Equal(t, []string{"a"}, d.take())
	}

	memory, _ := r.Memory("a")
	require.Equal(t, 5, memory, "what failed looks remember is kept")

	fails = false
	r.Hint("a")
	require.NoError(t, r.Step(t.Context()), "a hint ends the backoff")
	require.Empty(t, r.Reason("a"))
	require.Equal(t, []string{"a: the runtime is away", "a: "}, reasons)
	require.Equal(t, 2, strings.Count(log.String(), "msg="), "the log has the first failure and the end: %s", log.String())
	require.Contains(t, log.String(), "failures=5")

	fails = true
	r.Hint("a")
	require.Error(t, r.Step(t.Context()))
	require.Equal(t, clock.Now().Add(time.Second), r.Next(), "the next trouble begins with the first backoff")
}

func TestReconciler_List(t *testing.T) {
	t.Parallel()
	fails := true
	var firsts []bool
	var log bytes.Buffer
	r, clock, d := open(config{Tick: time.Minute, Log: slog.New(slog.NewTextHandler(&log, nil)), List: func(_ context.Context, first bool) ([]string, error) {
		firsts = append(firsts, first)
		if fails {
			return []string{"a"}, errors.New("not all of it")
		}
		return []string{"a", "b"}, nil
	}}, never)

	step := func(after time.Duration) []string {
		clock.Advance(after)
		require.NoError(t, r.Step(t.Context()))
		return d.take()
	}

	require.Equal(t, []string{"a"}, step(0), "what is known of it")
	require.Empty(t, step(time.Second-time.Millisecond), "it has a backoff, too")
	require.Equal(t, []string{"a"}, step(time.Millisecond))
	fails = false
	require.Equal(t, []string{"a", "b"}, step(2*time.Second))
	require.Equal(t, 1, strings.Count(log.String(), "could not be read"), "two times in a row it failed, and the log says so once")
	require.Contains(t, log.String(), "failures=2")
	require.Zero(t, r.Next(), "a tick is nothing that falls due")
	require.Empty(t, step(time.Minute-time.Millisecond))
	require.Equal(t, []string{"a", "b"}, step(time.Millisecond), "a lost hint is made good")
	require.Equal(t, []bool{true, true, true, false}, firsts)

	fails = true
	require.Equal(t, []string{"a"}, step(time.Minute))
	fails = false
	require.NoError(t, r.StepAll(t.Context()))
	require.Empty(t, d.take(), "everything is known: the list has time")

	r.Drop()
	require.Equal(t, []string{"a", "b"}, step(0))
	require.True(t, firsts[len(firsts)-1])
}

func TestReconciler_Memory(t *testing.T) {
	t.Parallel()

	t.Run("an update during a look is seen at once and not undone", func(t *testing.T) {
		t.Parallel()
		var r *reconciler
		r, _, d := open(config{}, func(_ context.Context, one *look) (reconcile.Next, error) {
			if one.Memory == 1 {
				r.Update("a", func(n *int) { *n += 100 })
				r.Update("a", func(n *int) { *n *= 2 })
				now, _ := r.Memory("a")
				require.Equal(t, 200, now, "with what was before the look")
			}
			return reconcile.At(begin.Add(time.Hour)), nil
		})

		r.Hint("a")
		require.NoError(t, r.Step(t.Context()))
		require.Equal(t, []string{"a", "a"}, d.take(), "one more look")
		memory, _ := r.Memory("a")
		require.Equal(t, 203, memory)

		r.Update("b", func(n *int) { *n = 7 })
		require.NoError(t, r.Step(t.Context()))
		memory, _ = r.Memory("b")
		require.Equal(t, 8, memory)
	})

	t.Run("what was forgotten or dropped during a look stays so", func(t *testing.T) {
		t.Parallel()
		for name, forget := range map[string]func(*reconciler){
			"forget": func(r *reconciler) { r.Forget("a") },
			"drop":   func(r *reconciler) { r.Drop() },
		} {
			var r *reconciler
			r, _, d := open(config{}, func(_ context.Context, one *look) (reconcile.Next, error) {
				if one.Key == "a" && len(r.Keys()) == 1 {
					forget(r)
					if r.Hint("b"); name == "drop" {
						r.Hint("a")
					}
				}
				return reconcile.At(begin.Add(time.Hour)), errors.New("failed")
			})

			r.Hint("a")
			require.Error(t, r.Step(t.Context()))
			memory, known := r.Memory("a")
			if name == "drop" {
				require.ElementsMatch(t, []string{"a", "a", "b"}, d.take())
				require.Equal(t, 1, memory, "made anew")
				continue
			}

			require.Equal(t, []string{"a", "b"}, d.take())
			require.False(t, known)
			require.Empty(t, r.Reason("a"))
		}
	})

	t.Run("of what is planned anew all the time no more is kept than of what is not", func(t *testing.T) {
		t.Parallel()
		n := 0
		r, _, _ := open(config{}, func(context.Context, *look) (reconcile.Next, error) {
			n++
			return reconcile.At(begin.Add(time.Duration(n) * time.Hour)), nil
		})
		r.At("first", begin.Add(time.Minute)) // before all of them
		for range 10_000 {
			r.Hint("a")
			require.NoError(t, r.Step(t.Context()))
		}
		require.LessOrEqual(t, r.Planned(), 100)
		require.Equal(t, begin.Add(time.Minute), r.Next())
	})
}

func TestReconciler_AtOnce(t *testing.T) {
	t.Parallel()

	t.Run("no more looks are under way than the bound, and none twice at the same object", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			now, most, all := map[string]int{}, 0, 0
			r, _, _ := open(config{AtOnce: 3}, func(_ context.Context, one *look) (reconcile.Next, error) {
				mu.Lock()
				now[one.Key]++
				all++
				require.Equal(t, 1, now[one.Key])

				most = max(most, len(now))
				mu.Unlock()
				<-time.After(time.Second)
				mu.Lock()
				defer mu.Unlock()
				delete(now, one.Key)

				return reconcile.Next{}, nil
			})

			ctx, stop := context.WithCancel(t.Context())
			var run sync.WaitGroup
			run.Go(func() { r.Run(ctx) })
			for _, key := range strings.Split("abcdefghij", "") {
				r.Hint(key)
			}
			<-time.After(500 * time.Millisecond)
			r.Hint("a") // during its look
			r.Hint("a")
			<-time.After(10 * time.Second)
			stop()
			run.Wait()
			require.Equal(t, 3, most)
			require.Equal(t, 11, all)
		})
	})

	t.Run("one that takes its time holds up no other", func(t *testing.T) {
		t.Parallel()
		synctest.Test(t, func(t *testing.T) {
			goOn := make(chan struct{})
			r, _, d := open(config{AtOnce: 2}, func(_ context.Context, one *look) (reconcile.Next, error) {
				if one.Key == "slow" {
					<-goOn
				}
				return reconcile.Next{}, nil
			})

			ctx, stop := context.WithCancel(t.Context())
			var run sync.WaitGroup
			run.Go(func() { r.Run(ctx) })
			r.Hint("slow")
			synctest.Wait()
			for _, key := range []string{"a", "b", "c"} {
				r.Hint(key)
				synctest.Wait()
			}
			require.Equal(t, []string{"slow", "a", "b", "c"}, d.take())

			close(goOn)
			stop()
			run.Wait()
		})
	})
}

func TestReconciler_Together(t *testing.T) {
	t.Parallel()

	t.Run("several are looked at together, no more than the bound", func(t *testing.T) {
		t.Parallel()
		var sizes []int
		r, clock, _ := open(config{Together: 32, Reconcile: func(_, _ context.Context, looks []*look) {
			sizes = append(sizes, len(looks))
			for i, one := range looks {
				one.Next = reconcile.At(begin.Add(time.Second))
				if i == 3 {
					one.Err = errors.New("that one")
				}
			}
		}}, nil)

		for i := range 70 {
			r.Hint(string(rune('A' + i)))
		}
		require.Error(t, r.Step(t.Context()))
		require.Equal(t, []int{32, 32, 6}, sizes)
		require.Equal(t, "that one", r.Reason("D"))
		require.Empty(t, r.Reason("E"), "what is the matter with one is not with all")

		clock.Advance(time.Second)
		require.Error(t, r.Step(t.Context()))
		require.Equal(t, []int{32, 32, 6, 32, 32, 6}, sizes)
	})
}
