package groupcommit_test

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/groupcommit"
)

// loom is a disk that runs functions side by side: one after the other, as there is nothing to wait for.
type loom struct {
	disk
	early  bool  // no transaction may begin late
	breaks error // what the next Weave fails with
	rounds []int // how many functions each Weave ran
}

func (l *loom) BeginLate() bool {
	if l.early {
		return false
	}
	_ = l.does("begin late")
	return true
}

func (l *loom) Weave(runs []func()) error {
	l.rounds = append(l.rounds, len(runs))
	for _, run := range runs {
		run()
	}
	err := l.breaks
	l.breaks = nil
	return err
}

func guarded(c groupcommit.Call) groupcommit.Call {
	c.Guarded = true
	return c
}

func TestWeave_GuardedCallsRunSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l loom
		g := begin(t, &l, groupcommit.Options{})
		for _, err := range lined(t, g, guarded(puts("a")), guarded(puts("b")), puts("c"), guarded(puts("d")), guarded(puts("e"))) {
			require.NoError(t, err)
		}
		require.Equal(t, []int{2, 2}, l.rounds, "the one in the middle runs alone")
		require.Equal(t, []string{"a b c d e"}, l.committed())
		require.Equal(t, "begin, commit, begin late, commit", l.log())
	})
}

func TestWeave_NoMoreThanMostRunSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l loom
		g := begin(t, &l, groupcommit.Options{Most: 2})
		for _, err := range lined(t, g, guarded(puts("a")), guarded(puts("b")), guarded(puts("c"))) {
			require.NoError(t, err)
		}
		require.Equal(t, []int{2, 1}, l.rounds)
		require.Equal(t, []string{"a b", "c"}, l.committed())
	})
}

// TestWeave_TransactionBeginsLateUnlessOneIsBound: while the transaction of one that is alone begins, a worker may come to which it is bound.
func TestWeave_TransactionBeginsLateUnlessOneIsBound(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l loom
		g := begin(t, &l, groupcommit.Options{})
		binds := 0
		bound := guarded(puts("bound"))
		bound.Bind = func() { binds++ }

		require.NoError(t, g.Do(t.Context(), guarded(puts("a"))))
		require.Equal(t, "begin late, commit", l.log())
		require.NoError(t, g.Do(t.Context(), bound))
		require.Equal(t, "begin, commit", l.log())
		require.NoError(t, g.Do(t.Context(), puts("b")))
		require.Equal(t, "begin, commit", l.log())

		require.Equal(t, []error{nil, nil}, lined(t, g, bound, guarded(puts("c"))))
		require.Equal(t, "begin, commit, begin late, commit", l.log(), "there is more to wait for")
		require.Equal(t, 2, binds)
		require.Equal(t, []int{1, 1, 2}, l.rounds)

		l.early = true
		require.NoError(t, g.Do(t.Context(), guarded(puts("d"))))
		require.Equal(t, "begin, commit", l.log())
	})
}

func TestWeave_CallThatFailsBeforeAnyChangeHarmsNobody(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l loom
		g := begin(t, &l, groupcommit.Options{Moment: aYear})
		runs := 0
		errs := lined(t, g, counted(guarded(puts("a")), &runs), guarded(refuses(errNo)), patient(guarded(puts("b"))))
		require.Equal(t, []error{nil, errNo, nil}, errs)
		require.Equal(t, 1, runs)
		require.Equal(t, []string{"a b"}, l.committed())

		began := time.Now()
		errs = lined(t, g, patient(guarded(puts("c"))), guarded(refuses(errFull)))
		require.NoError(t, errs[0])
		requireFull(t, errs[1])
		require.Equal(t, []string{"c"}, l.committed())
		require.Zero(t, time.Since(began), "who is refused waits for no company of others")
	})
}

func TestWeave_CallThatFailsAfterAChangeHasTheOthersRunAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l loom
		g := begin(t, &l, groupcommit.Options{})
		a, x, b, effects := 0, 0, 0, 0
		followed := guarded(groupcommit.Call{Run: func(tx store.Tx) error {
			tx.AfterCommit(func() { effects++ })
			return puts("a").Run(tx)
		}})
		errs := lined(t, g, counted(followed, &a), counted(guarded(spoils("x", errNo)), &x), counted(guarded(puts("b")), &b))
		require.Equal(t, []error{nil, errNo, nil}, errs)
		require.Equal(t, []string{"a b"}, l.committed())
		require.Equal(t, []int{3}, l.rounds, "they run again one by one")
		require.Equal(t, []int{3, 2, 2}, []int{a, x, b})
		require.Equal(t, 1, effects)

		overlooked := guarded(groupcommit.Call{Run: func(tx store.Tx) error {
			tx.(*part).failed = errNo
			return puts("y").Run(tx)
		}})
		require.Equal(t, []error{nil, errNo}, lined(t, g, guarded(puts("a")), overlooked))
		require.Equal(t, []string{"a"}, l.committed())
	})
}

func TestWeave_WhatFailsTogetherRunsAgainOneByOne(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l loom
		g := begin(t, &l, groupcommit.Options{})
		runs := 0
		l.breaks = errNo
		require.Equal(t, []error{nil, nil}, lined(t, g, counted(guarded(puts("a")), &runs), guarded(puts("b"))))
		require.Equal(t, 2, runs)
		require.Equal(t, []string{"a b"}, l.committed())
		require.Equal(t, "begin, commit, begin late, rollback, begin, commit", l.log())
	})
}

func TestWeave_PanicReachesItsCallerAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l loom
		g := begin(t, &l, groupcommit.Options{})
		panics := guarded(groupcommit.Call{Run: func(store.Tx) error { panic("no") }})
		release := hold(t, g)
		first := started(t, g, guarded(puts("a")))
		panicked := make(chan any, 1)
		go func() {
			defer func() { panicked <- recover() }()
			_ = g.Do(t.Context(), panics)
		}()
		synctest.Wait()
		last := started(t, g, guarded(puts("b")))
		release()
		require.NoError(t, <-first)
		require.Equal(t, "no", <-panicked)
		require.NoError(t, <-last)
		require.Equal(t, []string{"a b"}, l.committed())
	})
}

// TestWeave_ExitOfACallRefusesItsGroupAndNobodyElse: what the others did meanwhile is unknown.
func TestWeave_ExitOfACallRefusesItsGroupAndNobodyElse(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l loom
		g := begin(t, &l, groupcommit.Options{})
		exits := guarded(groupcommit.Call{Run: func(store.Tx) error { runtime.Goexit(); return nil }})
		errs := lined(t, g, guarded(puts("a")), exits, guarded(puts("b")))
		for _, err := range errs {
			require.Error(t, err)
		}
		require.Empty(t, l.committed())
		require.NoError(t, g.Do(t.Context(), guarded(puts("c"))))
		require.Equal(t, []string{"c"}, l.committed())
	})
}

func TestWeave_WhoCannotBeginIsRefused(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l loom
		g := begin(t, &l, groupcommit.Options{})
		l.early = true
		l.fails("begin", errFull)
		runs := 0
		requireFull(t, g.Do(t.Context(), counted(guarded(puts("a")), &runs)))
		require.Zero(t, runs)
		require.Equal(t, "begin, rollback", l.log())
		require.ErrorIs(t, g.Do(&fickle{Context: t.Context()}, counted(guarded(puts("a")), &runs)), context.Canceled)
		require.Zero(t, runs)
		require.Empty(t, l.log())
	})
}

// TestJobSets_RunSideBySide: each of their statements is guarded by itself.
func TestJobSets_RunSideBySide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var l loom
		g := begin(t, &l, groupcommit.Options{})
		var mu sync.Mutex
		var did []string
		note := func(what string) {
			mu.Lock()
			defer mu.Unlock()
			did = append(did, what)
		}
		calls := []func() error{
			func() error {
				return groupcommit.SubmitJob(t.Context(), g, &store.Submission{
					Job: compute.Job{ID: "submitted"}, Input: json.RawMessage(`1`), Stored: func(j compute.Job) { note("stored " + string(j.Status)) },
					Assign: func() compute.WorkerID { return "w" },
				})
			},
			func() error {
				return groupcommit.TakeJobs(t.Context(), g, store.Take{Taken: func([]store.TakenJob, int) { note("taken") }})
			},
			func() error {
				return groupcommit.EndJob(t.Context(), g, store.JobEnd{Job: compute.Job{ID: "ended"}, Ended: func(compute.Job) { note("ended") }})
			},
		}

		release := hold(t, g)
		var done sync.WaitGroup
		for _, call := range calls {
			done.Go(func() {
				if err := call(); err != nil {
					note(err.Error())
				}
			})
			synctest.Wait()
		}
		release()
		done.Wait()
		require.Equal(t, []string{"stored IN_PROGRESS", "taken", "ended"}, did)
		require.Equal(t, []int{3}, l.rounds)
		require.Equal(t, []string{"submitted ended"}, l.committed())
	})
}
