package ship_test

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/ship"
	"github.com/berthdev/berth/store/sqlite"
)

const long = 20 * time.Second

// open opens a store that is thrown away.
func open(t *testing.T) *sqlite.DB {
	t.Helper()
	db, err := sqlite.OpenUnsynced(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// start ships a store until the test ends, or stop is called.
func start(t *testing.T, db *sqlite.DB, to ship.Target, change ...func(*ship.Options)) (s *ship.Shipper, stop func() error) {
	t.Helper()
	o := ship.Options{
		Source: db, Target: to, Every: 20 * time.Millisecond, Keep: time.Hour, Clock: compute.SystemClock{}, Log: slog.New(slog.DiscardHandler),
		Random: func() string { return strings.ToLower(rand.Text()[:8]) },
	}
	for _, f := range change {
		f(&o)
	}
	s = ship.Start(o)
	stop = sync.OnceValue(func() error { return s.Close(long) })
	t.Cleanup(func() { _ = stop() })
	return s, stop
}

func target(t *testing.T) ship.Target {
	t.Helper()
	to, err := ship.Open(filepath.Join(t.TempDir(), "to"), "", os.Getenv)
	require.NoError(t, err)
	return to
}

func jobID(i int) compute.JobID { return compute.JobID(fmt.Sprintf("job-%d", i)) }

// insert writes jobs, each with so large an input.
func insert(t *testing.T, db store.Store, from, to, size int) {
	t.Helper()
	for i := from; i < to; i++ {
		j := compute.Job{ID: jobID(i), EndpointID: "e", Status: compute.JobInQueue}
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			j.CreatedAt, j.QueuedAt, j.ExpiresAt = tx.Now(), tx.Now(), tx.Now()
			return tx.InsertJob(j, json.RawMessage(`"`+strings.Repeat("x", size)+`"`))
		}))
	}
}

// jobs counts the jobs that are in a file, one after the other.
func jobs(t *testing.T, path string) (n int) {
	t.Helper()
	_, _, err := sqlite.Verify(t.Context(), path)
	require.NoError(t, err)
	db, err := sqlite.OpenUnsynced(t.Context(), path, compute.SystemClock{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) error {
		for {
			_, err := tx.Job(jobID(n))
			if compute.CodeOf(err) == compute.NotFound {
				return nil
			}
			if err != nil {
				return err
			}
			n++
		}
	}))
	return n
}

// restored restores and counts the jobs.
func restored(t *testing.T, from ship.Target, w ship.Wish) (r ship.Restored, n int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "restored.db")
	r, err := ship.Restore(t.Context(), from, w, path)
	require.NoError(t, err)
	return r, jobs(t, path)
}

// shipped waits until all that was written up to now is in the target.
func shipped(t *testing.T, s *ship.Shipper) {
	t.Helper()
	now := compute.SystemClock{}.Now()
	require.Eventually(t, func() bool { return s.Status().Shipped.After(now) }, long, 5*time.Millisecond)
}

func TestShip_WhatIsShippedIsRestored(t *testing.T) {
	t.Parallel()
	db, to := open(t), target(t)
	insert(t, db, 0, 10, 1000)
	s, _ := start(t, db, to, func(o *ship.Options) { o.Key = []byte("key of what is sealed") })
	insert(t, db, 10, 400, 30_000) // the log begins anew meanwhile
	shipped(t, s)
	r, n := restored(t, to, ship.Wish{}) // while it goes on
	require.Equal(t, 400, n)
	require.Equal(t, s.Status().Generation, r.Generation)
	require.Equal(t, []byte("key of what is sealed"), r.Key)
	insert(t, db, 400, 410, 1000)
	shipped(t, s)

	_, n = restored(t, to, ship.Wish{})
	require.Equal(t, 410, n)
	_, n = restored(t, to, ship.Wish{At: r.Upto.Add(time.Millisecond)})
	require.Equal(t, 400, n, "as it was then")
	require.Positive(t, s.Status().Bytes)
	require.Zero(t, s.Status().Broken)
}

// What is read at once may come in many pieces: none of them has anything that was written later than the moment that is asked for.
func TestShip_AMomentHasNothingLater(t *testing.T) {
	t.Parallel()
	db, to := open(t), target(t)
	s, _ := start(t, db, to, func(o *ship.Options) { o.Every = 2 * time.Second })
	insert(t, db, 0, 1, 1000)
	shipped(t, s)
	moment := compute.SystemClock{}.Now()
	insert(t, db, 1, 20, 1000)
	insert(t, db, 20, 400, 40_000)
	shipped(t, s)
	r, n := restored(t, to, ship.Wish{At: moment})
	require.Equal(t, 1, n)
	require.False(t, r.Upto.After(moment))
	_, n = restored(t, to, ship.Wish{})
	require.Equal(t, 400, n)
}

func TestShip_EndShipsTheRest(t *testing.T) {
	t.Parallel()
	db, to := open(t), target(t)
	_, stop := start(t, db, to, func(o *ship.Options) { o.Every = time.Hour })
	insert(t, db, 0, 25, 1000)
	require.NoError(t, stop())
	r, n := restored(t, to, ship.Wish{})
	require.Equal(t, 25, n)
	require.Nil(t, r.Key, "it is not shipped unasked")
}

func TestShip_NextStartBeginsAGenerationThatIsRestoredOnceItHasABase(t *testing.T) {
	t.Parallel()
	db, to := open(t), target(t)
	insert(t, db, 0, 5, 1000)
	_, stop := start(t, db, to)
	require.NoError(t, stop())
	insert(t, db, 5, 8, 1000)
	_, stop = start(t, db, to)
	require.NoError(t, stop())

	all, err := ship.List(t.Context(), to)
	require.NoError(t, err)
	require.Len(t, all, 2)
	r, n := restored(t, to, ship.Wish{})
	require.Equal(t, all[1].Name, r.Generation)
	require.Equal(t, 8, n)
	_, n = restored(t, to, ship.Wish{Generation: all[0].Name})
	require.Equal(t, 5, n)

	require.NoError(t, to.Put(t.Context(), all[1].Name+"/key", []byte("damaged")))
	r, n = restored(t, to, ship.Wish{})
	require.Equal(t, all[1].Name+"/key", r.KeyDamaged, "whoever restores may have the key elsewhere")
	require.Nil(t, r.Key)
	require.Equal(t, 8, n)

	objects, err := to.List(t.Context(), all[1].Name+"/base/")
	require.NoError(t, err)
	require.NoError(t, to.Put(t.Context(), objects[0].Name, []byte("damaged")))
	_, err = ship.Restore(t.Context(), to, ship.Wish{}, filepath.Join(t.TempDir(), "berth.db"))
	require.ErrorContains(t, err, "its copy of the database is damaged: "+objects[0].Name+"; name generation "+all[0].Name)
	_, n = restored(t, to, ship.Wish{Generation: all[0].Name})
	require.Equal(t, 5, n)

	require.NoError(t, to.Delete(t.Context(), objects[0].Name))
	r, n = restored(t, to, ship.Wish{})
	require.Equal(t, []string{all[1].Name}, r.Later)
	require.Equal(t, 5, n)
}

func TestRestore_RefusesWhatIsMissingOrDamagedAndSaysHowFarItCanGo(t *testing.T) {
	t.Parallel()
	db, to := open(t), target(t)
	s, stop := start(t, db, to)
	for i := range 4 {
		insert(t, db, i, i+1, 1000)
		shipped(t, s)
	}
	require.NoError(t, stop())
	g := s.Status().Generation
	segments, err := to.List(t.Context(), g+"/log/")
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(segments), 4)
	at := segments[len(segments)-2].Name
	whole, err := to.Get(t.Context(), at)
	require.NoError(t, err)

	damaged := append([]byte(nil), whole...)
	damaged[len(damaged)/2]++
	for name, harm := range map[string]func() error{
		"missing":      func() error { return to.Delete(t.Context(), at) },
		"damaged":      func() error { return to.Put(t.Context(), at, damaged) },
		"cut":          func() error { return to.Put(t.Context(), at, whole[:len(whole)-1]) },
		"another file": func() error { return to.Put(t.Context(), at, []byte("x")) },
	} {
		require.NoError(t, harm(), name)
		_, err = ship.Restore(t.Context(), to, ship.Wish{}, filepath.Join(t.TempDir(), "restored.db"))
		gap, ok := errors.AsType[*ship.Gap](err)
		require.True(t, ok, "%s: %v", name, err)
		require.Equal(t, len(segments)-1, gap.Segment, name)
		_, n := restored(t, to, ship.Wish{At: gap.Upto})
		require.Equal(t, 2, n, name)
	}

	require.NoError(t, to.Delete(t.Context(), at))
	all, err := ship.List(t.Context(), to)
	require.NoError(t, err)
	require.Equal(t, []int{len(segments) - 1}, all[0].Missing)
	parts, err := to.List(t.Context(), g+"/part/")
	require.NoError(t, err)
	require.NoError(t, to.Put(t.Context(), parts[0].Name, damaged))
	_, err = ship.Restore(t.Context(), to, ship.Wish{}, filepath.Join(t.TempDir(), "restored.db"))
	require.ErrorContains(t, err, parts[0].Name)
}

func TestRestore_AsksWhichOfTwoServersItIs(t *testing.T) {
	t.Parallel()
	to := target(t)
	one, other := open(t), open(t)
	insert(t, one, 0, 3, 1000)
	insert(t, other, 0, 7, 1000)
	a, _ := start(t, one, to)
	b, _ := start(t, other, to)
	shipped(t, a)
	shipped(t, b)
	insert(t, one, 3, 4, 1000)
	insert(t, other, 7, 8, 1000)
	shipped(t, a)
	shipped(t, b)

	_, err := ship.Restore(t.Context(), to, ship.Wish{}, filepath.Join(t.TempDir(), "restored.db"))
	require.ErrorContains(t, err, "two servers")
	_, n := restored(t, to, ship.Wish{Generation: a.Status().Generation})
	require.Equal(t, 4, n)
	_, n = restored(t, to, ship.Wish{Generation: b.Status().Generation})
	require.Equal(t, 8, n)
}

// troubled is a target that can be told to fail or to hang.
type troubled struct {
	ship.Target
	fails atomic.Bool
	hangs atomic.Bool
	tries atomic.Int64
}

func (f *troubled) Put(ctx context.Context, name string, body []byte) error {
	f.tries.Add(1)
	if f.hangs.Load() {
		<-ctx.Done()
		return ctx.Err()
	}
	if f.fails.Load() {
		return errors.New("no space left")
	}
	return f.Target.Put(ctx, name, body)
}

func TestShip_TargetThatFailsIsCaughtUpWith(t *testing.T) {
	t.Parallel()
	db, to := open(t), &troubled{Target: target(t)}
	s, _ := start(t, db, to)
	insert(t, db, 0, 3, 1000)
	shipped(t, s)
	g := s.Status().Generation
	to.fails.Store(true)
	insert(t, db, 3, 300, 30_000) // no write waits for it
	require.Eventually(t, func() bool { return s.Status().Failures > 0 }, long, 5*time.Millisecond)
	require.Positive(t, s.Status().Pending)

	to.fails.Store(false)
	shipped(t, s)
	require.Equal(t, g, s.Status().Generation)
	require.Zero(t, s.Status().Pending)
	_, n := restored(t, to, ship.Wish{})
	require.Equal(t, 300, n)
}

func TestShip_TargetThatIsAwayForLongEndsTheGeneration(t *testing.T) {
	t.Parallel()
	db, to := open(t), &troubled{Target: target(t)}
	s, _ := start(t, db, to, ship.Most(1<<20))
	insert(t, db, 0, 3, 1000)
	shipped(t, s)
	g := s.Status().Generation
	to.fails.Store(true)
	insert(t, db, 3, 300, 30_000)
	require.Less(t, s.Status().Pending, int64(20<<20), "the log is not held without bound")

	to.fails.Store(false)
	require.Eventually(t, func() bool { return s.Status().Generation != g }, long, 5*time.Millisecond)
	shipped(t, s)
	require.EqualValues(t, 1, s.Status().Broken)
	r, n := restored(t, to, ship.Wish{})
	require.Equal(t, 300, n)
	require.Equal(t, s.Status().Generation, r.Generation)
	_, n = restored(t, to, ship.Wish{Generation: g})
	require.GreaterOrEqual(t, n, 3, "with what it has")
}

func TestShip_EndDoesNotWaitForATargetThatHangs(t *testing.T) {
	t.Parallel()
	db, to := open(t), &troubled{Target: target(t)}
	to.hangs.Store(true)
	s := ship.Start(ship.Options{
		Source: db, Target: to, Every: time.Millisecond, Keep: time.Hour, Clock: compute.SystemClock{}, Log: slog.New(slog.DiscardHandler), Random: func() string { return "x" },
	})
	insert(t, db, 0, 3, 1000)
	require.Eventually(t, func() bool { return to.tries.Load() > 0 }, long, time.Millisecond)
	require.ErrorContains(t, s.Close(50*time.Millisecond), "took longer")
}

func TestPrune_KeepsWhatOneCanGoBackTo(t *testing.T) {
	t.Parallel()
	db, to := open(t), target(t)
	insert(t, db, 0, 5, 1000)
	for range 2 {
		_, stop := start(t, db, to)
		require.NoError(t, stop())
	}
	all, err := ship.List(t.Context(), to)
	require.NoError(t, err)
	require.Len(t, all, 2, "an hour is not over")

	s, _ := start(t, db, to, func(o *ship.Options) { o.Keep = time.Nanosecond })
	require.Eventually(t, func() bool {
		all, err := ship.List(t.Context(), to)
		return err == nil && len(all) == 1 && all[0].Name == s.Status().Generation
	}, long, 5*time.Millisecond)
	_, n := restored(t, to, ship.Wish{})
	require.Equal(t, 5, n)
}

func TestShip_AClockThatWasSetBackMakesNoGenerationOlder(t *testing.T) {
	t.Parallel()
	to, db := target(t), open(t)
	insert(t, db, 0, 5, 100)
	s, stop := start(t, db, to)
	shipped(t, s)
	require.NoError(t, stop())

	behind := &lateClock{}
	behind.ahead.Store(int64(-time.Hour))
	insert(t, db, 5, 7, 100)
	s, stop = start(t, db, to, func(o *ship.Options) { o.Clock, o.Reach = behind, behind.reach })
	shipped(t, s)
	require.NoError(t, stop())

	all, err := ship.List(t.Context(), to)
	require.NoError(t, err)
	require.Len(t, all, 2)
	require.Equal(t, s.Status().Generation, all[1].Name)
	_, n := restored(t, to, ship.Wish{})
	require.Equal(t, 7, n, "what was shipped last")
}

// lateClock is a clock that was set back, and can be told to go on from a moment.
type lateClock struct {
	compute.SystemClock
	ahead atomic.Int64
}

func (c *lateClock) Now() time.Time { return c.SystemClock.Now().Add(time.Duration(c.ahead.Load())) }

func (c *lateClock) reach(at time.Time) { c.ahead.Add(int64(at.Sub(c.Now()))) }
