package faulttest_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/faulttest"
	"github.com/berthdev/berth/store/sqlite"
)

const jobs = 12

// TestFail_OnceLosesNothing fails every call that a store makes, from the making of its directory to its end.
func TestFail_OnceLosesNothing(t *testing.T) {
	t.Parallel()
	total := countCalls(t)
	for _, how := range []faulttest.Fault{faulttest.Failing, faulttest.Full} {
		for n := 0; n < total; n += step(19) {
			dir := scratch(t)
			disk := faulttest.New(t, dir)
			var failed faulttest.Call
			disk.Fail(func(c faulttest.Call) faulttest.Fault {
				if c.N != n {
					return faulttest.None
				}
				failed = c
				return how
			})

			l := newLedger()
			run(in(dir), l, jobs)
			disk.Fail(nil)
			what := fmt.Sprintf("call %d, %s of %s, fails by %d", n, failed.Kind, failed.Path, how)
			require.LessOrEqual(t, len(l.errs), 3, "%s: it fails more than what it was for: %v", what, l.errs)

			requireReported(t, l.errs, what)
			require.NoError(t, l.survived(in(dir), 900), what)
			require.NoError(t, os.RemoveAll(dir))
		}
	}
}

// requireReported requires that writers see the storage's trouble.
func requireReported(t *testing.T, errs []error, what string) {
	t.Helper()
	for _, err := range errs {
		if store.TroubleOf(err) == "" {
			require.ErrorContains(t, err, "open store", "%s", what) // a start says it in its own words
			continue
		}
		require.Equal(t, compute.Unavailable, compute.CodeOf(err), what)
	}
}

// countCalls gives how many calls there are that may fail.
func countCalls(t *testing.T) int {
	t.Helper()
	dir := scratch(t)
	disk := faulttest.New(t, dir)
	l := newLedger()
	run(in(dir), l, jobs)
	require.Empty(t, l.errs)
	n, kinds := disk.Calls()
	t.Log(n, "calls", kinds)
	require.NoError(t, l.survived(in(dir), 900))
	return n
}

// TestFail_ForGoodLosesNothingAndWorksAgain fails every call from one on, and then none.
func TestFail_ForGoodLosesNothingAndWorksAgain(t *testing.T) {
	t.Parallel()
	total := countCalls(t)
	for _, how := range []faulttest.Fault{faulttest.Failing, faulttest.Full} {
		for n := 0; n < total; n += step(19) {
			dir := scratch(t)
			disk := faulttest.New(t, dir)
			disk.Fail(faulttest.From(n, how))
			l := newLedger()
			what := fmt.Sprintf("calls fail from %d on, by %d", n, how)

			db, err := open(in(dir))
			if err == nil {
				for i := range jobs {
					live(db, l, i, 900)
				}
				requireReported(t, l.errs, what)
				if len(l.errs) > 0 {
					require.NotEmpty(t, store.TroubleOf(db.Trouble()), what)
				}
				disk.Fail(nil)
				failures := len(l.errs)
				live(db, l, 100, 900)
				require.Len(t, l.errs, failures, "%s: it does not work again: %v", what, l.errs[failures:])
				require.NoError(t, db.Trouble(), what)
				require.NoError(t, l.holds(db, 900), what)
				require.NoError(t, db.Close(), what)
			}

			disk.Fail(nil)
			require.NoError(t, l.survived(in(dir), 900), what)
			require.NoError(t, os.RemoveAll(dir))
		}
	}
}

// TestFail_ReaderSaysSoAndGivesNothingElse fails every call of reading, with its connections.
func TestFail_ReaderSaysSoAndGivesNothingElse(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	l := newLedger()
	run(in(dir), l, jobs)
	require.Empty(t, l.errs)

	kinds := map[faulttest.Kind]int{}
	for n, some := 0, true; some; n += step(3) {
		some = false
		disk := faulttest.New(t, dir)
		db, err := open(in(dir))
		require.NoError(t, err)

		opened, _ := disk.Calls()
		var failed faulttest.Call
		disk.Fail(func(c faulttest.Call) faulttest.Fault {
			if c.N != opened+n {
				return faulttest.None
			}
			some, failed = true, c
			return faulttest.Failing
		})

		for range 2 { // after a failure it works again
			list := func(tx store.Tx) error {
				waiting := 0
				err := tx.UnfinishedJobs(func(j compute.Job) {
					if j.Status == compute.JobInQueue {
						waiting++
					}
				})
				if err != nil {
					return err
				}
				if waiting != jobs/2 {
					return fmt.Errorf("%d jobs wait", waiting)
				}
				return nil
			}

			err := errors.Join(db.Read(t.Context(), list), l.holds(db, 900))
			if err != nil {
				kinds[failed.Kind]++
				require.Equal(t, store.Failing, store.TroubleOf(err), "call %d, %s: %v", n, failed.Kind, err)
				require.Equal(t, opened+n, failed.N)
				disk.Fail(nil)
				require.NoError(t, db.Read(t.Context(), list))
				require.NoError(t, l.holds(db, 900))
			}
		}

		disk.Fail(nil)
		require.NoError(t, db.Trouble(), "that of a reader is none of writers")
		require.NoError(t, db.Close())
	}

	t.Log("reads that failed:", kinds)
	require.Positive(t, kinds[faulttest.Read])
}

// TestFail_WritersAloneAreRefused: a connection that is opened meanwhile for one more reader needs no room, no sync and no lock that others have.
func TestFail_WritersAloneAreRefused(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func(faulttest.Call) faulttest.Fault{
		"full":   faulttest.Always(faulttest.Full),
		"writes": faulttest.Always(faulttest.Failing, faulttest.Write),
		"syncs":  faulttest.Always(faulttest.Failing, faulttest.Sync),
		"locked": faulttest.Always(faulttest.Locked, faulttest.ShmLock),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir := scratch(t)
			disk := faulttest.New(t, dir)
			db, err := open(in(dir))
			require.NoError(t, err)
			l := newLedger()
			live(db, l, 0, 900)
			require.Empty(t, l.errs)

			disk.Fail(fault)
			live(db, l, 1, 900)
			require.NotEmpty(t, l.errs)
			require.NoError(t, db.Read(t.Context(), func(store.Tx) error {
				return db.Read(t.Context(), func(store.Tx) error { return l.holds(db, 900) })
			}))
			disk.Fail(nil)
			require.NoError(t, db.Close())
		})
	}
}

// TestFail_TroubleIsOverByItself: nobody writes meanwhile.
func TestFail_TroubleIsOverByItself(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		fault   faulttest.Fault
		kinds   []faulttest.Kind
		trouble store.Trouble
		title   string
	}{
		{faulttest.Full, []faulttest.Kind{faulttest.Write}, store.Full, "Storage Full"},
		{faulttest.Failing, []faulttest.Kind{faulttest.Sync}, store.Failing, "Storage Failing"},
		{faulttest.Locked, []faulttest.Kind{faulttest.ShmLock}, store.Locked, "Storage Locked"},
	} {
		t.Run(string(c.trouble), func(t *testing.T) {
			t.Parallel()
			dir := scratch(t)
			disk := faulttest.New(t, dir)
			reports := make(chan error, 10)
			refused := 0
			db, err := open(in(dir), sqlite.Watch(func(trouble error, failed int) {
				refused = failed
				reports <- trouble
			}))
			require.NoError(t, err)

			t.Cleanup(func() { require.NoError(t, db.Close()) })
			l := newLedger()
			live(db, l, 0, 900)
			require.NoError(t, db.Trouble())

			disk.Fail(faulttest.Always(c.fault, c.kinds...))
			for i := range 3 {
				live(db, l, 1+i, 900)
			}
			require.Len(t, l.errs, 3)

			for _, err := range l.errs {
				require.Equal(t, c.trouble, store.TroubleOf(err), err)
				refusal, ok := errors.AsType[*compute.Error](err)
				require.True(t, ok)
				require.Equal(t, compute.Unavailable, refusal.Code)
				require.Equal(t, c.title, refusal.Title)
				require.Positive(t, refusal.RetryAfter)
			}

			require.Equal(t, c.trouble, store.TroubleOf(db.Trouble()))
			require.NoError(t, l.holds(db, 900), "reads go on")
			require.Equal(t, c.trouble, store.TroubleOf(<-reports))
			if c.trouble != store.Locked {
				require.NoError(t, db.Write(t.Context(), func(store.Tx) error { return nil }))
				require.Error(t, db.Trouble(), "a commit of nothing shows nothing")
			}

			disk.Fail(nil)
			require.NoError(t, <-reports, "its end is reported, and its beginning was reported once")
			require.GreaterOrEqual(t, refused, 3)
			require.NoError(t, db.Trouble())

			live(db, l, 8, 900)
			require.Len(t, l.errs, 3)
			require.NoError(t, l.holds(db, 900))
		})
	}
}
