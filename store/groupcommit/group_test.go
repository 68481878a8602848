package groupcommit_test

import (
	"context"
	"runtime"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/groupcommit"
)

const aYear = 365 * 24 * time.Hour

func TestGroup_WriteThatComesAloneIsRunAndCommittedByItsCaller(t *testing.T) {
	t.Parallel()
	var ran, committed string
	d := &disk{commit: func() { committed = goroutine() }}
	g := begin(t, d, groupcommit.Options{})
	for range 2 {
		require.NoError(t, g.Do(t.Context(), groupcommit.Call{Run: func(store.Tx) error { ran = goroutine(); return nil }}))
		require.Equal(t, goroutine(), ran)
		require.Equal(t, goroutine(), committed)
	}
}

func TestGroup_CommitIsSharedByNoMoreThanMost(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d disk
		var shared []int
		g := begin(t, &d, groupcommit.Options{Most: 2, Observe: func(writes int, _ time.Duration) { shared = append(shared, writes) }})
		for _, err := range lined(t, g, puts("a"), puts("b"), puts("c"), puts("d"), puts("e")) {
			require.NoError(t, err)
		}
		require.Equal(t, []string{"a b", "c d", "e"}, d.committed())
		require.Equal(t, []int{1, 2, 2, 1}, shared, "the first one held the others up")
	})
}

func TestGroup_ObserveTellsHowLongACommitTook(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var took []time.Duration
		d := &disk{commit: func() { time.Sleep(3 * time.Millisecond) }}
		g := begin(t, d, groupcommit.Options{Observe: func(_ int, one time.Duration) { took = append(took, one) }})
		require.NoError(t, g.Do(t.Context(), puts("a")))
		d.fails("commit", errNo)
		require.ErrorIs(t, g.Do(t.Context(), puts("b")), errNo)
		require.Equal(t, []time.Duration{3 * time.Millisecond}, took, "a commit that failed is none")
	})
}

func TestGroup_WriteThatFailsHoldsUpNobodyWhoComesLater(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d disk
		g := begin(t, &d, groupcommit.Options{})
		a, x, c := 0, 0, 0
		errs := lined(t, g, counted(puts("a"), &a), counted(spoils("x", errNo), &x), counted(puts("c"), &c))
		require.Equal(t, []error{nil, errNo, nil}, errs)
		require.Equal(t, []int{2, 1, 1}, []int{a, x, c})
		require.Equal(t, []string{"a", "c"}, d.committed(), "the last one is not in the group that runs again")
		require.Equal(t, "begin, commit, begin, rollback, begin, commit, begin, commit", d.log())

		require.Equal(t, []error{errNo, errNo}, lined(t, g, refuses(errNo), spoils("x", errNo)))
		require.Empty(t, d.committed())
		require.Equal(t, "begin, commit, begin, rollback", d.log(), "what nobody keeps is not committed")
		require.ErrorIs(t, g.Do(t.Context(), refuses(errNo)), errNo)
		require.Equal(t, "begin, rollback", d.log())
	})
}

// TestGroup_WriteThatFailsAgainAndAgainUndoesItselfAlone has two calls that fail after a change, the second one only when it runs again.
func TestGroup_WriteThatFailsAgainAndAgainUndoesItselfAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d disk
		g := begin(t, &d, groupcommit.Options{})
		a, y, b := 0, 0, 0
		later := func(fails groupcommit.Call) groupcommit.Call {
			return groupcommit.Call{Run: func(tx store.Tx) error {
				if y == 1 {
					return puts("y").Run(tx)
				}
				return fails.Run(tx)
			}}
		}
		errs := lined(t, g, counted(puts("a"), &a), counted(later(spoils("y", errNo)), &y), counted(puts("b"), &b), spoils("x", errNo))
		require.Equal(t, []error{nil, errNo, nil, errNo}, errs)
		require.Equal(t, []string{"a b"}, d.committed())
		require.Equal(t, []int{3, 2, 2}, []int{a, y, b})

		a, y, b = 0, 0, 0
		errs = lined(t, g, counted(puts("a"), &a), counted(later(refuses(errNo)), &y), counted(puts("b"), &b), spoils("x", errNo))
		require.Equal(t, []error{nil, errNo, nil, errNo}, errs)
		require.Equal(t, []string{"a b"}, d.committed())
		require.Equal(t, []int{2, 2, 2}, []int{a, y, b}, "one that changed nothing has nobody run again")
	})
}

func TestGroup_OverlookedFailureOfAStatementIsTheWrites(t *testing.T) {
	t.Parallel()
	var d disk
	g := begin(t, &d, groupcommit.Options{})
	require.ErrorIs(t, g.Do(t.Context(), groupcommit.Call{Run: func(tx store.Tx) error {
		tx.(*part).failed = errNo
		return nil
	}}), errNo)
	require.Equal(t, "begin, rollback", d.log())
}

func TestGroup_PatientWriteWaitsForAMoment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d disk
		g := begin(t, &d, groupcommit.Options{Moment: time.Minute})
		began := time.Now()
		require.NoError(t, g.Do(t.Context(), patient(puts("a"))))
		require.Equal(t, time.Minute, time.Since(began))

		began = time.Now()
		hasty := puts("b")
		hasty.Early = func() bool { return false }
		require.NoError(t, g.Do(t.Context(), hasty))
		require.Zero(t, time.Since(began))
		require.Equal(t, []string{"a", "b"}, d.committed())

		other := begin(t, &d, groupcommit.Options{})
		require.NoError(t, other.Do(t.Context(), patient(puts("c"))))
		require.Equal(t, groupcommit.Moment, time.Since(began), "what is usual")
	})
}

func TestGroup_PatientWriteIsCommittedWithTheNextOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d disk
		g := begin(t, &d, groupcommit.Options{Moment: aYear, Most: 3})
		began := time.Now()
		first := started(t, g, patient(puts("a")))
		require.Empty(t, first)
		require.NoError(t, g.Do(t.Context(), puts("b")))
		require.NoError(t, <-first)

		var full []<-chan error
		for _, word := range []string{"c", "d", "e"} {
			full = append(full, started(t, g, patient(puts(word))))
		}
		for _, one := range full {
			require.NoError(t, <-one, "no more can come")
		}

		first = started(t, g, patient(puts("f")))
		require.ErrorIs(t, g.Do(t.Context(), refuses(errNo)), errNo, "who fails is waited for, too")
		require.NoError(t, <-first)
		require.Equal(t, []string{"a b", "c d e", "f"}, d.committed())
		require.Zero(t, time.Since(began))
	})
}

// TestGroup_PatientWriteIsJoinedByTheOneThatStandsInLine: who waits for the turn gets it together with the transaction that is open.
func TestGroup_PatientWriteIsJoinedByTheOneThatStandsInLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d disk
		g := begin(t, &d, groupcommit.Options{Moment: aYear})
		gate := make(chan struct{})
		first := started(t, g, patient(groupcommit.Call{Run: func(tx store.Tx) error { <-gate; return puts("a").Run(tx) }}))
		second := started(t, g, puts("b"))
		close(gate)
		require.NoError(t, <-first)
		require.NoError(t, <-second)
		require.Equal(t, []string{"a b"}, d.committed())
		require.Equal(t, "begin, commit", d.log())
	})
}

func TestGroup_EarlyAndBindAreCalledOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d disk
		g := begin(t, &d, groupcommit.Options{})
		var order []string
		c := puts("a")
		run := c.Run
		c.Bind = func() { order = append(order, "bind") }
		c.Run = func(tx store.Tx) error { order = append(order, "run"); return run(tx) }
		c.Early = func() bool { order = append(order, "early"); return false }
		require.Equal(t, []error{nil, errNo}, lined(t, g, c, spoils("x", errNo)))
		require.Equal(t, []string{"bind", "run", "early", "run"}, order)
	})
}

func TestGroup_ExitOfAWriteThatJoinedAPatientOneHarmsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d disk
		g := begin(t, &d, groupcommit.Options{Moment: aYear})
		first := started(t, g, patient(puts("a")))
		exited := make(chan bool, 1)
		go func() {
			ends := true
			defer func() { exited <- ends }()
			_ = g.Do(t.Context(), groupcommit.Call{Run: func(store.Tx) error { runtime.Goexit(); return nil }})
			ends = false
		}()
		require.True(t, <-exited)
		require.NoError(t, <-first)
		require.NoError(t, g.Do(t.Context(), puts("b")))
		require.Equal(t, []string{"a", "b"}, d.committed())
	})
}

// fickle is a context that ends unseen: it says so only when it is asked a second time.
type fickle struct {
	context.Context
	asked atomic.Int64
}

func (f *fickle) Err() error {
	if f.asked.Add(1) == 1 {
		return nil
	}
	return context.Canceled
}

func TestGroup_CallWhoseContextEndedNeverRuns(t *testing.T) {
	t.Parallel()
	var d disk
	g := groupcommit.New(&d, groupcommit.Options{})
	bound, ran := 0, 0
	c := counted(puts("a"), &ran)
	c.Bind = func() { bound++ }
	require.ErrorIs(t, g.Do(&fickle{Context: t.Context()}, c), context.Canceled)

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, g.Do(ended, c), context.Canceled)
	require.Zero(t, bound+ran)
	require.Empty(t, d.log())

	g.Close()
	require.ErrorIs(t, g.Do(ended, c), context.Canceled)
	require.Equal(t, compute.Unavailable, compute.CodeOf(g.Do(t.Context(), c)))
	require.Zero(t, bound+ran)
}

func TestGroup_ExcludeKeepsWritesInLine(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var d disk
		g := groupcommit.New(&d, groupcommit.Options{})
		gate, over := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(over)
			g.Exclude(func() { <-gate })
		}()
		synctest.Wait()
		written := started(t, g, puts("a"))
		require.Empty(t, written)
		require.Empty(t, d.log())
		close(gate)
		require.NoError(t, <-written)
		<-over

		release := hold(t, g)
		excluded := make(chan struct{})
		go g.Exclude(func() { close(excluded) })
		synctest.Wait()
		select {
		case <-excluded:
			require.Fail(t, "something is being written")
		default:
		}
		release()
		<-excluded

		g.Close()
		g.Exclude(func() { require.Fail(t, "the group is closed") })
	})
}

func TestGroup_CloseWaitsForTheWriteThatRunsAlone(t *testing.T) {
	t.Parallel()
	for name, with := range map[string]func(groupcommit.Call) groupcommit.Call{
		"one that is waited for": func(c groupcommit.Call) groupcommit.Call { return c },
		"a patient one":          patient,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var d disk
				g := groupcommit.New(&d, groupcommit.Options{Moment: aYear})
				gate, shut := make(chan struct{}), make(chan struct{}, 1)
				written := started(t, g, with(groupcommit.Call{Run: func(tx store.Tx) error { <-gate; return puts("a").Run(tx) }}))
				go func() {
					g.Close()
					shut <- struct{}{}
				}()
				synctest.Wait()
				require.Empty(t, shut)
				close(gate)
				require.NoError(t, <-written)
				<-shut
				require.Equal(t, []string{"a"}, d.committed())
			})
		})
	}
}

func TestGroup_TidiesWhileNobodyWrites(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		gate, tidied := make(chan struct{}), 0
		d := &disk{untidy: 3}
		d.tidied = func() {
			if tidied++; tidied == 1 {
				<-gate
			}
		}
		g := begin(t, d, groupcommit.Options{})
		require.NoError(t, g.Do(t.Context(), puts("a")))
		synctest.Wait()
		require.Equal(t, 1, tidied, "it is at the first piece of it")

		var before int
		written := started(t, g, groupcommit.Call{Run: func(store.Tx) error { before = tidied; return nil }})
		close(gate)
		require.NoError(t, <-written)
		require.Equal(t, 1, before, "who writes does not wait for more than a piece")
		synctest.Wait()
		require.Equal(t, 3, tidied)
		require.False(t, d.Untidy())
	})
}
