package ship_test

import (
	"context"
	"errors"
	"io/fs"
	"log/slog"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/ship"
)

// day is after how long another base is made, and somewhat more.
const day = 25 * time.Hour

// aged is a target in which one generation has two bases, with a day between them.
type aged struct {
	ship.Target
	generation string
	clock      *compute.SettableClock
	had        int // jobs, before the others

	// Moments at which there were 3, 6 and 9 jobs more: before the second base, after it, and at the end. The first base is of before all of them.
	three, six, nine time.Time
}

// newAged makes one, of a server that has ended. So many large jobs are written before the others: with enough of them the log of the database
// begins anew.
func newAged(t *testing.T, had int) *aged {
	t.Helper()
	a := &aged{Target: target(t), clock: compute.NewSettableClock(compute.NewRunningClock()), had: had}
	db := open(t)
	s, stop := start(t, db, a, func(o *ship.Options) { o.Clock, o.Keep = a.clock, 100*time.Hour })
	for n := 0; n < had; n += 50 {
		insert(t, db, n, n+50, 30_000)
		shippedBy(t, a.clock, s)
	}
	// there writes three jobs more, and gives a moment with them and no others, after so many bases.
	there := func(from, made int) time.Time {
		insert(t, db, had+from, had+from+3, 1000)
		bases(t, a, made)
		shippedBy(t, a.clock, s)
		at := a.clock.Now()
		a.clock.Advance(time.Minute)
		return at
	}

	a.three = there(0, 1)
	a.clock.Advance(day)
	a.six = there(3, 2)
	a.nine = there(6, 2)
	require.NoError(t, stop())
	a.generation = s.Status().Generation
	require.Zero(t, s.Status().Broken)
	return a
}

// shippedBy waits until all that was written up to now is in the target, by a clock.
func shippedBy(t *testing.T, clock compute.Clock, s *ship.Shipper) {
	t.Helper()
	now := clock.Now()
	require.Eventually(t, func() bool { return s.Status().Shipped.After(now) }, long, 5*time.Millisecond)
}

// bases waits until the last generation of a target has so many.
func bases(t *testing.T, of ship.Target, n int) {
	t.Helper()
	require.Eventually(t, func() bool {
		all, err := ship.List(t.Context(), of)
		return err == nil && len(all) > 0 && all[len(all)-1].Bases == n
	}, long, 5*time.Millisecond)
}

// copied gives a target with the same objects.
func copied(t *testing.T, from ship.Target) ship.Target {
	t.Helper()
	to := target(t)
	all, err := from.List(t.Context(), "")
	require.NoError(t, err)
	for _, o := range all {
		body, err := from.Get(t.Context(), o.Name)
		require.NoError(t, err)
		generation, _, _ := strings.Cut(o.Name, "/")
		require.NoError(t, to.Begin(t.Context(), generation))
		require.NoError(t, to.Put(t.Context(), o.Name, body))
	}
	return to
}

// names gives the names of the objects of a kind.
func (a *aged) names(t *testing.T, in ship.Target, kind string) (all []string) {
	t.Helper()
	objects, err := in.List(t.Context(), a.generation+"/"+kind+"/")
	require.NoError(t, err)
	for _, o := range objects {
		all = append(all, o.Name)
	}
	return all
}

// holds restores what there was at each moment.
func (a *aged) holds(t *testing.T, from ship.Target, why string) {
	t.Helper()
	for at, want := range map[time.Time]int{a.three: 3, a.six: 6, a.nine: 9, {}: 9} {
		_, n := restored(t, from, ship.Wish{At: at})
		require.Equal(t, a.had+want, n, "%s: at %s", why, at)
	}
}

func prune(t *testing.T, in ship.Target, own string, before time.Time) error {
	t.Helper()
	return ship.Prune(t.Context(), in, own, before, slog.New(slog.DiscardHandler))
}

func TestBase_AnotherIsMadeAfterADayAndOneGoesBackByBoth(t *testing.T) {
	t.Parallel()
	a := newAged(t, 0)
	a.holds(t, a, "with two bases")
	all, err := ship.List(t.Context(), a)
	require.NoError(t, err)
	require.Equal(t, 2, all[0].Bases)
	require.Empty(t, all[0].Missing)

	r, _ := restored(t, a, ship.Wish{})
	before, _ := restored(t, a, ship.Wish{At: a.three})
	require.Less(t, before.Upto, a.six)
	require.Greater(t, r.Upto, a.six)
	_, err = ship.Restore(t.Context(), a, ship.Wish{At: a.three.Add(-day)}, filepath.Join(t.TempDir(), "restored.db"))
	require.ErrorContains(t, err, "no copy of the database from ")
}

func TestBase_AnotherIsMadeAfterSoMuchLog(t *testing.T) {
	t.Parallel()
	db, to := open(t), target(t)
	s, _ := start(t, db, to, ship.Least(1<<20))
	shipped(t, s)
	n := 0
	for more := true; more; { // each writes more of the log than of the file
		insert(t, db, n, n+100, 10)
		n += 100
		shipped(t, s)
		all, err := to.List(t.Context(), s.Status().Generation+"/base/")
		require.NoError(t, err)
		more = len(all) < 3
		require.Less(t, n, 20_000)
	}

	_, there := restored(t, to, ship.Wish{})
	require.Equal(t, n, there)
	require.Zero(t, s.Status().Broken)
}

func TestPrune_ServerRemovesTheBaseThatNobodyGoesBackTo(t *testing.T) {
	t.Parallel()
	to, clock := target(t), compute.NewSettableClock(compute.NewRunningClock())
	db := open(t)
	s, _ := start(t, db, to, func(o *ship.Options) { o.Clock, o.Keep = clock, 30*time.Hour })
	var made []string // the base of each day, oldest first
	for i := range 4 {
		insert(t, db, i, i+1, 1000)
		shippedBy(t, clock, s)
		var last string
		require.Eventually(t, func() bool {
			all, err := to.List(t.Context(), s.Status().Generation+"/base/")
			if err != nil || len(all) == 0 {
				return false
			}
			last = all[len(all)-1].Name
			return !slices.Contains(made, last)
		}, long, 5*time.Millisecond)
		made = append(made, last)
		clock.Advance(day)
	}

	insert(t, db, 4, 5, 1000)
	require.Eventually(t, func() bool {
		_, err := to.Get(t.Context(), made[0])
		return errors.Is(err, fs.ErrNotExist)
	}, long, 5*time.Millisecond)
	shippedBy(t, clock, s)
	_, n := restored(t, to, ship.Wish{})
	require.Equal(t, 5, n)
	_, n = restored(t, to, ship.Wish{At: clock.Now().Add(-30 * time.Hour)})
	require.Equal(t, 3, n, "as far back as one can go")
}

// deletes removes so many objects, and then no more: who prunes was killed.
type deletes struct {
	ship.Target
	left int
}

var errKilled = errors.New("killed")

func (d *deletes) Delete(ctx context.Context, name string) error {
	if d.left--; d.left < 0 {
		return errKilled
	}
	return d.Target.Delete(ctx, name)
}

func TestPrune_KilledAfterAnyObjectNothingNeededIsGone(t *testing.T) {
	t.Parallel()
	a := newAged(t, 300)
	for n := 0; ; n++ {
		to := copied(t, a)
		err := prune(t, &deletes{to, n}, a.generation, a.six)
		for at, want := range map[time.Time]int{a.six: 6, a.nine: 9, {}: 9} {
			_, there := restored(t, to, ship.Wish{At: at})
			require.Equal(t, a.had+want, there, "after %d objects", n)
		}

		if err == nil {
			require.Greater(t, n, 2, "a base, its part and its log")
			require.NotEqual(t, a.names(t, a, "log")[0], a.names(t, to, "log")[0])
			_, err = ship.Restore(t.Context(), to, ship.Wish{At: a.three}, filepath.Join(t.TempDir(), "restored.db"))
			require.ErrorContains(t, err, "no copy of the database from ")
			return
		}
		require.ErrorIs(t, err, errKilled)
		require.NoError(t, prune(t, to, a.generation, a.six), "the next time removes the rest")
		require.Len(t, a.names(t, to, "base"), 1)
		require.Len(t, a.names(t, to, "part"), 1)
	}
}

func TestPrune_KilledBeforeItTheBaseOfBeforeIsThere(t *testing.T) {
	t.Parallel()
	a := newAged(t, 0)
	second := a.names(t, a, "base")[1]
	to := copied(t, a)
	require.NoError(t, to.Delete(t.Context(), second), "killed before the base was whole, with its parts there")
	a.holds(t, to, "without the second base")
	require.NoError(t, prune(t, to, a.generation, a.nine))
	a.holds(t, to, "nothing of the first is removed for a second that is not whole")
}

func TestPrune_KeepsTheLastGenerationHoweverLongNobodyShipped(t *testing.T) {
	t.Parallel()
	a := newAged(t, 0)
	a.clock.Advance(1000 * time.Hour)
	away := a.clock.Now()
	a.clock.Advance(time.Hour)
	db := open(t) // an empty one: somebody started the server on another directory
	insert(t, db, 0, 1, 1000)
	s, stop := start(t, db, a, func(o *ship.Options) { o.Clock, o.Keep = a.clock, 100*time.Hour })
	shippedBy(t, a.clock, s)
	a.clock.Advance(2 * time.Hour) // it looks for what need not be kept
	insert(t, db, 1, 2, 1000)
	shippedBy(t, a.clock, s)

	_, n := restored(t, a, ship.Wish{At: away})
	require.Equal(t, 9, n, "as the server left it")
	_, n = restored(t, a, ship.Wish{})
	require.Equal(t, 2, n)
	require.NoError(t, stop())

	require.NoError(t, prune(t, a, s.Status().Generation, a.clock.Now()))
	all, err := ship.List(t.Context(), a)
	require.NoError(t, err)
	require.Len(t, all, 1, "once there is a base to go back that far by")
}

func TestRestore_DoesWithoutABaseThatIsHalfWritten(t *testing.T) {
	t.Parallel()
	a := newAged(t, 0)
	base, parts := a.names(t, a, "base")[1], a.names(t, a, "part")
	require.Len(t, parts, 2)
	for _, name := range []string{base, parts[1]} {
		whole, err := a.Get(t.Context(), name)
		require.NoError(t, err)
		for _, left := range []int{0, 1, len(whole) / 2, len(whole) - 1} {
			to := copied(t, a)
			require.NoError(t, to.Put(t.Context(), name, whole[:left]))
			a.holds(t, to, name)
			r, _ := restored(t, to, ship.Wish{})
			require.Equal(t, []string{base}, r.Damaged)
		}
	}

	// Without another one there is nothing to take in its place.
	to := copied(t, a)
	require.NoError(t, to.Delete(t.Context(), a.names(t, a, "base")[0]))
	require.NoError(t, to.Put(t.Context(), parts[1], []byte("half")))
	file := filepath.Join(t.TempDir(), "restored.db")
	_, err := ship.Restore(t.Context(), to, ship.Wish{}, file)
	require.ErrorContains(t, err, parts[1])
	require.NoFileExists(t, file)
}

// late is a target whose list is that of before: without what came last, or with what is gone.
type late struct {
	ship.Target
	hides int           // so many of the objects that came last
	shows []ship.Object // those that are gone
}

func (l *late) List(ctx context.Context, prefix string) (all []ship.Object, err error) {
	if l.shows != nil {
		for _, o := range l.shows {
			if strings.HasPrefix(o.Name, prefix) {
				all = append(all, o)
			}
		}
		return all, nil
	}
	all, err = l.Target.List(ctx, prefix)
	var came []string // the segments, the last one first, each with the base that it made whole
	for i := len(all) - 1; i >= 0; i-- {
		if strings.Contains(all[i].Name, "/log/") {
			came = append(came, all[i].Name)
		}
	}
	for _, name := range came[:min(l.hides, len(came))] {
		for i, o := range all {
			if o.Name == name {
				all = append(all[:i], all[i+1:]...)
				break
			}
		}
	}
	return all, err
}

func TestRestore_WithAListThatIsLateGivesLessAndSaysSo(t *testing.T) {
	t.Parallel()
	a := newAged(t, 0)
	for hides := range len(a.names(t, a, "log")) + 1 {
		file := filepath.Join(t.TempDir(), "restored.db")
		r, err := ship.Restore(t.Context(), &late{Target: a, hides: hides}, ship.Wish{}, file)
		if err != nil { // the base needs what is not listed
			gap, ok := errors.AsType[*ship.Gap](err)
			require.True(t, ok, err)
			require.True(t, gap.Upto.IsZero() || gap.Upto.Before(a.nine))
			continue
		}
		n := jobs(t, file)
		switch {
		case r.Upto.Before(a.six):
			require.GreaterOrEqual(t, n, 3)
		case r.Upto.Before(a.nine):
			require.GreaterOrEqual(t, n, 6)
		}
		require.True(t, n == 9 || r.Upto.Before(a.nine), "%d jobs are said to be all of %s", n, r.Upto)
	}

	objects, err := a.List(t.Context(), "")
	require.NoError(t, err)
	to := copied(t, a)
	require.NoError(t, prune(t, to, a.generation, a.six))
	for at, want := range map[time.Time]int{a.six: 6, a.nine: 9, {}: 9} { // with what is gone still listed
		_, n := restored(t, &late{Target: to, shows: objects}, ship.Wish{At: at})
		require.Equal(t, want, n)
	}
}

func TestPrune_ByAListThatIsLateRemovesNothingNeeded(t *testing.T) {
	t.Parallel()
	a := newAged(t, 0)
	for hides := range len(a.names(t, a, "log")) + 1 {
		to := copied(t, a)
		require.NoError(t, prune(t, &late{Target: to, hides: hides}, a.generation, a.six))
		_, n := restored(t, to, ship.Wish{At: a.six})
		require.Equal(t, 6, n)
		_, n = restored(t, to, ship.Wish{})
		require.Equal(t, 9, n)
	}

	// Without the second base in the list the first one stays; with what is gone in it, that is removed once more.
	objects, err := a.List(t.Context(), "")
	require.NoError(t, err)
	var older []ship.Object
	for _, o := range objects {
		if path.Base(o.Name) != "000002" {
			older = append(older, o)
		}
	}
	to := copied(t, a)
	require.NoError(t, prune(t, &late{Target: to, shows: older}, a.generation, a.nine))
	a.holds(t, to, "the second base is not listed yet")
	require.NoError(t, prune(t, to, a.generation, a.six))
	require.NoError(t, prune(t, &late{Target: to, shows: objects}, a.generation, a.six))
	_, n := restored(t, to, ship.Wish{})
	require.Equal(t, 9, n)
}

// busy is a target during whose every write of a segment more is written to the database, and read for it.
type busy struct {
	ship.Target
	write func()
}

func (b *busy) Put(ctx context.Context, name string, body []byte) error {
	if strings.Contains(name, "/log/") {
		b.write()
	}
	return b.Target.Put(ctx, name, body)
}

func TestBase_IsMadeHoweverMuchIsWritten(t *testing.T) {
	t.Parallel()
	db, n, done := open(t), 1, make(chan struct{})
	var s *ship.Shipper
	var writing sync.Mutex
	began := make(chan struct{})
	to := &busy{Target: target(t), write: func() {
		writing.Lock()
		defer writing.Unlock()
		<-began
		select {
		case <-done:
			return
		default:
		}
		waits := s.Status().Pending
		insert(t, db, n, n+1, 1000)
		n++
		require.Eventually(t, func() bool { // nothing is read any more once the server ends
			select {
			case <-done:
				return true
			default:
				return s.Status().Pending > waits
			}
		}, long, time.Millisecond)
	}}
	insert(t, db, 0, 1, 1000)
	s, stop := start(t, db, to)
	close(began)
	bases(t, to, 1)
	close(done)
	writing.Lock()   // until the last one is over
	writing.Unlock() //nolint:staticcheck // SA2001: nothing else is waited for
	require.NoError(t, stop())
	_, there := restored(t, to, ship.Wish{})
	require.Equal(t, n, there)
}

func TestPrune_ThatFailsIsCountedAndShippingGoesOn(t *testing.T) {
	t.Parallel()
	db, to := open(t), target(t)
	for range 2 {
		_, stop := start(t, db, to)
		require.NoError(t, stop())
	}

	s, _ := start(t, db, &deletes{Target: to}, func(o *ship.Options) { o.Keep = time.Nanosecond })
	require.Eventually(t, func() bool { return s.Status().Failures > 0 }, long, 5*time.Millisecond)
	insert(t, db, 0, 5, 1000)
	shipped(t, s)
	_, n := restored(t, to, ship.Wish{})
	require.Equal(t, 5, n)
}
