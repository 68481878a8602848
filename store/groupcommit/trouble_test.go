package groupcommit_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/groupcommit"
)

// watched collects what Watch is told: "full 0" when a trouble begins, " 3" when it is over and three calls failed.
type watched []string

func (w *watched) watch(trouble error, failed int) {
	*w = append(*w, fmt.Sprint(store.TroubleOf(trouble), " ", failed))
}

// troubled makes a group of which everything that is told is collected.
func troubled(t *testing.T) (d *disk, g *groupcommit.Group, told *watched) {
	t.Helper()
	d, told = &disk{}, &watched{}
	return d, begin(t, d, groupcommit.Options{Watch: told.watch}), told
}

// pass lets time pass, and what falls due happen.
func pass(d time.Duration) {
	<-time.After(d)
	synctest.Wait()
}

func requireFull(t *testing.T, err error) {
	t.Helper()
	require.Equal(t, store.Full, store.TroubleOf(err))
	require.Equal(t, compute.Unavailable, compute.CodeOf(err))
}

func TestTrouble_EndsWithAWriteThatTheGroupTriesItself(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, g, told := troubled(t)
		for round := range 2 {
			require.NoError(t, g.Trouble())
			d.fails("commit", errFull)
			for range 2 + round {
				requireFull(t, g.Do(t.Context(), puts("a")))
			}
			requireFull(t, g.Trouble())
			require.Equal(t, watched{"full 0"}, *told, "once")
			d.log()

			pass(3500 * time.Millisecond)
			require.Equal(t, "begin, probe, commit, rollback, begin, probe, commit, rollback, begin, probe, commit, rollback", d.log(), "every second")
			requireFull(t, g.Trouble())
			d.fails("commit", nil)
			pass(499 * time.Millisecond)
			requireFull(t, g.Trouble())
			pass(2 * time.Millisecond)
			require.NoError(t, g.Trouble())
			require.Equal(t, watched{"full 0", fmt.Sprint(" ", 5+round)}, *told, "those that the group tried count, too")

			d.log()
			pass(time.Minute)
			require.Empty(t, d.log(), "nothing is tried any more")
			*told = nil
		}
	})
}

func TestTrouble_EndsWithAWriteThatChangesSomething(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, g, told := troubled(t)
		d.fails("commit", errFull)
		requireFull(t, g.Do(t.Context(), puts("a")))
		d.fails("commit", nil)
		nothing := groupcommit.Call{Run: func(store.Tx) error { return nil }}
		require.NoError(t, g.Do(t.Context(), nothing))
		requireFull(t, g.Trouble())

		for _, err := range lined(t, g, nothing, puts("b"), nothing) {
			require.NoError(t, err)
		}
		require.NoError(t, g.Trouble())
		require.Equal(t, watched{"full 0", " 1"}, *told)
	})
}

func TestTrouble_IsOnlyWhatTheEngineSaysItIs(t *testing.T) {
	t.Parallel()
	d, g, told := troubled(t)
	d.fails("commit", errNo)
	err := g.Do(t.Context(), puts("a"))
	require.ErrorIs(t, err, errNo)
	require.ErrorContains(t, err, "commit: ")
	require.NoError(t, g.Trouble())

	d.fails("commit", store.Unknown(errNo))
	err = g.Do(t.Context(), puts("a"))
	require.True(t, store.IsUnknown(err))
	require.Empty(t, store.TroubleOf(err))
	require.Empty(t, *told)

	d.fails("commit", store.Unknown(errFull))
	err = g.Do(t.Context(), puts("a"))
	require.True(t, store.IsUnknown(err), "it may be on disk")
	requireFull(t, err)
	require.ErrorIs(t, g.Trouble(), errFull, "the cause is for the log of the server")
	d.fails("commit", errFull)
	err = g.Do(t.Context(), puts("a"))
	require.False(t, store.IsUnknown(err))
	require.Equal(t, watched{"full 0"}, *told)
	d.fails("commit", nil)
	require.NoError(t, g.Do(t.Context(), puts("b")))
	require.Equal(t, []string{"b"}, d.committed(), "what failed is not in the next commit")
}

// TestTrouble_WhoCannotBeginRefusesAllWhoWait: each of them would wait as long again.
func TestTrouble_WhoCannotBeginRefusesAllWhoWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, g, told := troubled(t)
		release := hold(t, g)
		ran, bound := 0, 0
		call := counted(puts("a"), &ran)
		call.Bind = func() { bound++ }
		ctx, withdraw := context.WithCancel(t.Context())
		withdrawn := make(chan error, 1)
		first := started(t, g, call)
		go func() { withdrawn <- g.Do(ctx, call) }()
		synctest.Wait()
		second, third := started(t, g, call), started(t, g, call)
		withdraw()
		require.ErrorIs(t, <-withdrawn, context.Canceled)

		d.fails("begin", errFull)
		d.log()
		release()
		for _, one := range []<-chan error{first, second, third} {
			err := <-one
			requireFull(t, err)
			require.ErrorIs(t, err, errFull)
		}
		require.Equal(t, "commit, begin, rollback", d.log(), "it is tried once")
		require.Zero(t, ran+bound)

		d.fails("begin", nil)
		require.NoError(t, g.Do(t.Context(), call))
		require.Equal(t, 2, ran+bound)
		require.Equal(t, watched{"full 0", " 3"}, *told, "who withdrew was not refused")
	})
}

func TestTrouble_OfAWriteThatChangedSomethingUndoesItsGroup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, g, _ := troubled(t)
		runs := 0
		errs := lined(t, g, counted(puts("a"), &runs), spoils("x", errFull), puts("b"))
		requireFull(t, errs[0])
		requireFull(t, errs[1])
		require.NoError(t, errs[2])
		require.ErrorContains(t, g.Do(t.Context(), spoils("x", errFull)), "full")
		require.Equal(t, 1, runs)
		require.Equal(t, []string{"b"}, d.committed())
	})
}

func TestTrouble_OfWhoChangedNothingIsItsOwn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, g, told := troubled(t)
		errs := lined(t, g, refuses(errFull), puts("a"))
		requireFull(t, errs[0])
		require.NoError(t, errs[1])
		require.Equal(t, []string{"a"}, d.committed())
		require.NoError(t, g.Trouble(), "something was written")

		d.fails("commit", errFull)
		requireFull(t, g.Do(t.Context(), puts("b")))
		d.fails("commit", nil)
		require.NoError(t, g.Do(t.Context(), puts("c")))
		require.Equal(t, watched{"full 0", " 1", "full 0", " 1"}, *told, "each is counted for the trouble that it had")
	})
}

// TestTrouble_WhoCannotRunAgainIsRefused: the transaction is undone because of one call, and another one cannot begin.
func TestTrouble_WhoCannotRunAgainIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, g, _ := troubled(t)
		runs := 0
		spoil := groupcommit.Call{Run: func(tx store.Tx) error {
			d.fails("begin", errFull)
			return spoils("x", errNo).Run(tx)
		}}
		errs := lined(t, g, counted(puts("a"), &runs), spoil)
		requireFull(t, errs[0])
		require.Error(t, errs[1])
		require.Equal(t, 1, runs)
		require.Empty(t, d.committed())

		d.fails("begin", nil)
		require.NoError(t, g.Do(t.Context(), puts("b")))
		require.Equal(t, []string{"b"}, d.committed())
	})
}

func TestTrouble_CloseDoesNotWaitForItsEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d := &disk{}
		g := groupcommit.New(d, groupcommit.Options{})
		d.fails("commit", errFull)
		requireFull(t, g.Do(t.Context(), puts("a")))
		began := time.Now()
		g.Close()
		require.Zero(t, time.Since(began))
		requireFull(t, g.Trouble())
	})
}
