package storetest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

var errNo = errors.New("no")

// beginCounted is begin, of a store that has the endpoint of the jobs.
func beginCounted(t *testing.T, open Open) store.Store {
	t.Helper()
	s, _ := begin(t, open)
	write(t, s, func(tx store.Tx) error { return insertEndpoint(tx, "e") })
	return s
}

func insert(id compute.JobID) func(store.Tx) error {
	return func(tx store.Tx) error { return tx.InsertJob(job(id), json.RawMessage(`{}`)) }
}

// outcome is how a Write ended: it returned err, panicked, or exited its goroutine.
type outcome struct {
	err      error
	panicked any
	exited   bool
}

// group calls Write with each function, from goroutines of their own, so that they stand in line in this order while
// another Write is under way. It must run in a synctest bubble, and gives how they ended.
func group(t *testing.T, s store.Store, fs ...func(store.Tx) error) []outcome {
	t.Helper()
	gate := make(chan struct{})
	fs = append([]func(store.Tx) error{func(store.Tx) error { <-gate; return nil }}, fs...)
	outcomes := make([]outcome, len(fs))

	var wg sync.WaitGroup
	for i, f := range fs {
		wg.Add(1)
		go func() {
			o := outcome{exited: true}
			defer func() {
				if o.panicked = recover(); o.panicked != nil {
					o.exited = false
				}
				outcomes[i] = o
				wg.Done()
			}()

			o.err = s.Write(t.Context(), f)
			o.exited = false
		}()

		synctest.Wait()
	}

	close(gate)
	wg.Wait()
	require.Equal(t, outcome{}, outcomes[0])
	return outcomes[1:]
}

func undone(t *testing.T, open Open) {
	s, _ := begin(t, open)
	err := s.Write(t.Context(), func(tx store.Tx) error { return errors.Join(insert("a")(tx), errNo) })
	require.ErrorIs(t, err, errNo)
	require.Same(t, errNo, s.Write(t.Context(), func(store.Tx) error { return errNo }), "as it is")
	require.False(t, exists(t, s, "a"))
	write(t, s, insert("a"))
}

// around checks that a function that ends badly undoes what it did, and nothing of its neighbours.
func around(t *testing.T, open Open, end func() error, want outcome) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		s := beginCounted(t, open)
		bad := func(id compute.JobID) func(store.Tx) error {
			return func(tx store.Tx) error {
				if err := insert(id)(tx); err != nil {
					return err
				}
				return end()
			}
		}

		got := group(t, s, bad("x"), insert("a"), bad("y"), bad("a2"), insert("a2"), insert("b"))
		require.Equal(t, []outcome{want, {}, want, want, {}, {}}, got)
		for id, there := range map[compute.JobID]bool{"a": true, "b": true, "a2": true, "x": false, "y": false} {
			require.Equal(t, there, exists(t, s, id), id)
		}
		require.Equal(t, compute.JobCounts{InQueue: 3}, counts(t, s))

		// And when it is the only one.
		alone := func() (o outcome) {
			ended := make(chan outcome)
			go func() {
				o := outcome{exited: true}
				defer func() {
					if o.panicked = recover(); o.panicked != nil {
						o.exited = false
					}
					ended <- o
				}()
				o.err = s.Write(t.Context(), bad("z"))
				o.exited = false
			}()

			return <-ended
		}

		require.Equal(t, want, alone())
		require.False(t, exists(t, s, "z"))
		write(t, s, insert("z"))
	})
}

func undoneAlone(t *testing.T, open Open) {
	around(t, open, func() error { return errNo }, outcome{err: errNo})
}

func panics(t *testing.T, open Open) {
	around(t, open, func() error { panic("no") }, outcome{panicked: "no"})
}

func exits(t *testing.T, open Open) {
	around(t, open, func() error { runtime.Goexit(); return nil }, outcome{exited: true})
}

// effectPanics checks that what panics after the commit undoes nothing and holds up nobody, in a group and alone.
func effectPanics(t *testing.T, open Open) {
	synctest.Test(t, func(t *testing.T) {
		s := beginCounted(t, open)
		effects := 0
		followed := func(id compute.JobID, effect func()) func(store.Tx) error {
			return func(tx store.Tx) error {
				tx.AfterCommit(effect)
				return insert(id)(tx)
			}
		}
		bad := func() { panic("no") }

		got := group(t, s, followed("a", func() { effects++ }), followed("x", bad), followed("b", func() { effects++ }))
		require.Equal(t, []outcome{{}, {panicked: "no"}, {}}, got)
		require.Equal(t, 2, effects)
		require.PanicsWithValue(t, "no", func() { _ = s.Write(t.Context(), followed("y", bad)) })
		write(t, s, insert("c"))
		require.Equal(t, compute.JobCounts{InQueue: 5}, counts(t, s))
	})
}

// runsAgain checks that a function that fails after a change has the others of its group run again, that effects come once, in the
// order of the commits and before the answers, and that those of what was undone never come.
func runsAgain(t *testing.T, open Open) {
	synctest.Test(t, func(t *testing.T) {
		s := beginCounted(t, open)
		var mu sync.Mutex
		var effects []string

		runs := map[string]int{}
		counted := func(id compute.JobID, end error) func(store.Tx) error {
			return func(tx store.Tx) error {
				mu.Lock()
				defer mu.Unlock()
				runs[string(id)]++
				tx.AfterCommit(func() { effects = append(effects, string(id)) })
				return errors.Join(insert(id)(tx), end)
			}
		}

		got := group(t, s, counted("a", nil), counted("b", nil), counted("x", errNo), counted("c", nil))
		require.Equal(t, []outcome{{}, {}, {err: got[2].err}, {}}, got)
		require.ErrorIs(t, got[2].err, errNo)
		require.Equal(t, []string{"a", "b", "c"}, effects)
		require.Equal(t, map[string]int{"a": 2, "b": 2, "x": 1, "c": 1}, runs)
		require.Equal(t, compute.JobCounts{InQueue: 3}, counts(t, s))

		// One that fails only when it runs again, as it sees what others did, fails alone too.
		again := 0
		got = group(t, s,
			counted("d", nil),
			func(tx store.Tx) error {
				if again++; again > 1 {
					return errors.Join(insert("y")(tx), errNo)
				}
				return insert("e")(tx)
			},
			counted("f", nil), counted("x", errNo))
		require.NoError(t, errors.Join(got[0].err, got[2].err))

		require.ErrorIs(t, got[1].err, errNo)
		require.ErrorIs(t, got[3].err, errNo)
		for id, there := range map[compute.JobID]bool{"d": true, "f": true, "e": false, "x": false, "y": false} {
			require.Equal(t, there, exists(t, s, id), id)
		}
		require.Equal(t, compute.JobCounts{InQueue: 5}, counts(t, s))
		require.Equal(t, []string{"a", "b", "c", "d", "f"}, effects)
	})
}

// failsUnchanged checks that a function that fails before it changes anything has nobody run again.
func failsUnchanged(t *testing.T, open Open) {
	synctest.Test(t, func(t *testing.T) {
		s := beginCounted(t, open)
		runs := 0
		got := group(t, s,
			func(tx store.Tx) error { runs++; return insert("a")(tx) },
			func(tx store.Tx) error { _, err := tx.Job("a"); return errors.Join(err, errNo) },
			insert("a"), insert("b"))
		require.NoError(t, got[0].err)
		require.ErrorIs(t, got[1].err, errNo)
		require.Equal(t, compute.Conflict, compute.CodeOf(got[2].err))
		require.NoError(t, got[3].err)
		require.Equal(t, 1, runs)
		require.Equal(t, compute.JobCounts{InQueue: 2}, counts(t, s))
	})
}

func concurrent(t *testing.T, open Open) {
	const callers, each = 64, 20
	s := beginCounted(t, open)
	errs := make(chan error, callers*each)
	for c := range callers {
		go func() {
			for i := range each {
				id := compute.JobID(fmt.Sprintf("%d-%d", c, i))
				err := s.Write(context.WithoutCancel(t.Context()), func(tx store.Tx) error {
					if err := insert(id)(tx); err != nil || i%5 != 0 {
						return err
					}
					return errNo
				})
				if i%5 == 0 && errors.Is(err, errNo) {
					err = nil
				}
				errs <- err
			}
		}()
	}

	for range callers * each {
		require.NoError(t, <-errs)
	}
	const kept = callers * each * 4 / 5
	require.Equal(t, compute.JobCounts{InQueue: kept}, counts(t, s))
	require.Len(t, read(t, s, waitingJobs), kept)
}

func withdrawn(t *testing.T, open Open) {
	synctest.Test(t, func(t *testing.T) {
		s, _ := begin(t, open)
		gate, errs := make(chan struct{}), make(chan error, 2)
		go func() { errs <- s.Write(t.Context(), func(store.Tx) error { <-gate; return nil }) }()
		synctest.Wait()
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error)
		go func() { ended <- s.Write(ctx, insert("a")) }()
		synctest.Wait()
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled, "at once, while the other one is under way")

		close(gate)
		require.NoError(t, <-errs)
		require.ErrorIs(t, s.Write(ctx, insert("a")), context.Canceled)
		require.False(t, exists(t, s, "a"))
	})
}

func seenThrough(t *testing.T, open Open) {
	s, _ := begin(t, open)
	ctx, cancel := context.WithCancel(t.Context())
	require.NoError(t, s.Write(ctx, func(tx store.Tx) error {
		cancel()
		return insert("a")(tx)
	}))
	require.True(t, exists(t, s, "a"))
}

func readEnded(t *testing.T, open Open) {
	s, _ := begin(t, open)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, s.Read(ctx, func(store.Tx) error { panic("it ran") }), context.Canceled)
}

func snapshot(t *testing.T, open Open) {
	s, _ := begin(t, open)
	require.NoError(t, s.Read(t.Context(), func(tx store.Tx) error {
		before, err := waitingJobs(tx)
		require.NoError(t, err)
		require.Empty(t, before)
		write(t, s, insert("a"))
		after, err := waitingJobs(tx)
		require.Empty(t, after)
		return err
	}))

	require.True(t, exists(t, s, "a"))
	require.Same(t, errNo, s.Read(t.Context(), func(store.Tx) error { return errNo }), "as it is")
	require.PanicsWithValue(t, "no", func() { _ = s.Read(t.Context(), func(store.Tx) error { panic("no") }) })
	for range 10 { // no connection was lost to the panic
		require.True(t, exists(t, s, "a"))
	}
}

func readOnly(t *testing.T, open Open) {
	s, _ := begin(t, open)
	require.Error(t, s.Read(t.Context(), insert("a")))
	require.False(t, exists(t, s, "a"))
}

func stamped(t *testing.T, open Open) {
	s, clock := begin(t, open)
	clock.Advance(1_999_999 * time.Nanosecond)
	want := start.Add(time.Millisecond)
	for _, run := range []func(context.Context, func(store.Tx) error) error{s.Read, s.Write} {
		require.NoError(t, run(t.Context(), func(tx store.Tx) error {
			require.Equal(t, want, tx.Now())
			clock.Advance(time.Second)
			require.Equal(t, want, tx.Now())
			return nil
		}))
		want = want.Add(time.Second)
	}
}

func reopened(t *testing.T, open Open) {
	clock := compute.NewFrozenClock(start)
	s := open(t, clock)
	insertJobs(t, s, job("a"), job("b"))
	move(t, s, "b", take("w", start))
	before := getJob(t, s, "b")
	require.NoError(t, s.Close())

	s = open(t, clock)
	t.Cleanup(func() { require.NoError(t, s.Close()) })
	require.Equal(t, before, getJob(t, s, "b"))
	require.Equal(t, compute.JobCounts{InQueue: 1, InProgress: 1}, counts(t, s))
	require.Equal(t, []compute.JobID{"a"},
		jobIDsOf(read(t, s, waitingJobs)))
}

func closed(t *testing.T, open Open) {
	s, _ := begin(t, open)
	require.NoError(t, s.Close())
	require.NoError(t, s.Close(), "twice")
	require.Equal(t, compute.Unavailable, compute.CodeOf(s.Write(t.Context(), insert("a"))))
	require.Equal(t, compute.Unavailable, compute.CodeOf(s.Read(t.Context(), func(store.Tx) error { panic("it ran") })))
}

// closesAfter begins what waits for its gate, puts a write in line, and checks that Close waits for both.
func closesAfter(t *testing.T, open Open, begun func(s store.Store, gate chan struct{}) error) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		clock := compute.NewFrozenClock(start)
		s := open(t, clock)
		gate, ended, shut := make(chan struct{}), make(chan error, 2), make(chan error, 1)
		go func() { ended <- begun(s, gate) }()
		synctest.Wait()
		go func() { ended <- s.Write(t.Context(), insert("a")) }()
		synctest.Wait()
		go func() { shut <- s.Close() }()
		synctest.Wait()
		require.Empty(t, shut)

		close(gate)
		require.NoError(t, <-ended)
		require.NoError(t, <-ended)
		require.NoError(t, <-shut)

		s = open(t, clock)
		there := exists(t, s, "a")
		require.NoError(t, s.Close())
		require.True(t, there)
	})
}

func closeWaitsForWrites(t *testing.T, open Open) {
	closesAfter(t, open, func(s store.Store, gate chan struct{}) error {
		return s.Write(context.Background(), func(store.Tx) error { <-gate; return nil })
	})
}

func closeWaitsForReads(t *testing.T, open Open) {
	closesAfter(t, open, func(s store.Store, gate chan struct{}) error {
		return s.Read(context.Background(), func(store.Tx) error { <-gate; return nil })
	})
}
