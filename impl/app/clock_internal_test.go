package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// failing is a store that cannot write.
type failing struct{ store.Store }

func (f failing) Write(ctx context.Context, do func(store.Tx) error) error {
	return f.Store.Write(ctx, func(tx store.Tx) error { return errors.Join(do(tx), errors.New("the disk is full")) })
}

// repeating is a store whose writes run a second time, as those do that share a commit with one that fails: what the first run wrote is
// undone.
type repeating struct{ store.Store }

func (s repeating) Write(ctx context.Context, do func(store.Tx) error) error {
	_ = failing(s).Write(ctx, do)
	return s.Store.Write(ctx, do)
}

func serveFrom(t *testing.T, dir string) *Server {
	s, err := Start(t.Context(), Config{Data: dir, Listen: "127.0.0.1:0", TestControls: true})
	require.NoError(t, err)
	return s
}

func TestTimekeeper_StepOutlivesARestart(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serveFrom(t, dir)
	running := s.current().controls.keeper.running
	require.Zero(t, running.Lag())
	require.NoError(t, s.current().controls.Step(t.Context(), time.Hour))
	require.InDelta(t, time.Hour, running.Lag(), float64(time.Minute))
	require.NoError(t, s.Close())

	s = serveFrom(t, dir)
	require.InDelta(t, 0, s.current().controls.keeper.running.Lag(), float64(time.Minute), "the machine's clock has stepped back: what is due is due as it was")
	require.InDelta(t, 0, compute.Lag(s.Clock()), float64(time.Minute))
	require.NoError(t, s.Close())
}

// keeperAt gives the timekeeper of a server that starts with those rows at that time of day, and its clock, which stands still from then on.
func keeperAt(t *testing.T, path string, at time.Time) (*timekeeper, *sqlite.DB, *compute.SettableClock) {
	running := compute.NewRunningClock()
	clock := compute.NewSettableClock(running)
	db, err := sqlite.Open(t.Context(), path, clock)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	by := at.Sub(running.Wall())
	running.Step(by)
	running.Adjust(by)
	k, err := newTimekeeper(t.Context(), clocks{clock, running, clock}, db, slog.New(slog.DiscardHandler), &undo{})
	require.NoError(t, err)
	clock.Freeze()
	return k, db, clock
}

// billedOn gives what the charges of the user come to.
func billedOn(t *testing.T, db *sqlite.DB) (sum time.Duration) {
	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) error {
		return tx.EachCharge("u", []compute.Item{compute.PodCPU}, nil, time.UnixMilli(0), time.UnixMilli(4_000_000_000_000), func(c compute.Charge) error {
			if c.EndedAt.IsZero() {
				c.EndedAt = tx.Wall()
			}
			sum += c.EndedAt.Sub(c.BeganAt)
			return nil
		})
	}))
	return sum
}

func openCharge(t *testing.T, db *sqlite.DB) {
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return tx.OpenCharge(compute.Charge{UserID: "u", Item: compute.PodCPU, ResourceID: "p", HolderID: "p", Rate: 1})
	}))
}

func lastWall(t *testing.T, db *sqlite.DB) (at time.Time) {
	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) (err error) {
		at, err = tx.LastWall()
		return err
	}))
	return at
}

func TestTimekeeper_StartAtAnEarlierTimeOfDayBillsOn(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]struct {
		do   func(k *timekeeper)
		lost time.Duration // at most
	}{
		"in order": {func(k *timekeeper) { require.NoError(t, k.end()) }, 0},
		"suddenly": {func(k *timekeeper) {}, noteTick},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "berth.db")
			began := time.UnixMilli(1_700_000_000_000).UTC()
			k, db, clock := keeperAt(t, path, began)
			openCharge(t, db)
			for range 120 {
				clock.Advance(31 * time.Second)
				require.NoError(t, k.keep(t.Context()))
			}
			ran, decided := billedOn(t, db), clock.Now()
			stop.do(k)
			require.NoError(t, db.Close())

			opening := time.Now()
			k, db, clock = keeperAt(t, path, began.Add(-time.Hour))
			took := time.Since(opening) + time.Millisecond // the clock runs until it is frozen
			stop.lost += took
			require.WithinDuration(t, began.Add(-time.Hour), clock.Wall(), took)
			require.InDelta(t, ran, billedOn(t, db), float64(stop.lost))
			require.WithinDuration(t, decided, clock.Now(), stop.lost, "the time that decides goes on")
			billed := billedOn(t, db)
			clock.Advance(2 * time.Hour)
			require.InDelta(t, billed+2*time.Hour, billedOn(t, db), float64(time.Millisecond))
			require.NoError(t, k.end())
			require.NoError(t, db.Close())

			at, lag := clock.Wall(), k.running.Lag()
			k, db, _ = keeperAt(t, path, at.Add(-compute.LeastStep/2))
			require.InDelta(t, lag, k.running.Lag(), float64(time.Millisecond), "so little is no step")
			require.WithinDuration(t, at, lastWall(t, db), time.Millisecond)
		})
	}
}

func TestTimekeeper_ChargeThatBeganAfterTheLastNoteIsSteppedToo(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	began := time.UnixMilli(1_700_000_000_000).UTC()
	_, db, clock := keeperAt(t, path, began)
	clock.Advance(noteTick / 2)
	openCharge(t, db)
	require.NoError(t, db.Close())

	opening := time.Now()
	_, db, clock = keeperAt(t, path, began.Add(-time.Hour))
	took := time.Since(opening) + time.Millisecond // the clock runs until it is frozen
	clock.Advance(time.Minute)
	require.InDelta(t, time.Minute, billedOn(t, db), float64(took))
}

func TestTimekeeper_NotesTheTimeOfDayOnlyWhereSomethingIsBilled(t *testing.T) {
	t.Parallel()
	k, db, clock := keeperAt(t, filepath.Join(t.TempDir(), "berth.db"), time.UnixMilli(1_700_000_000_000))
	for range 10 {
		clock.Advance(time.Hour)
		require.NoError(t, k.keep(t.Context()))
	}
	require.Zero(t, lastWall(t, db), "nothing is written for nobody")

	openCharge(t, db)
	began := lastWall(t, db)
	clock.Advance(noteTick - time.Millisecond)
	require.NoError(t, k.keep(t.Context()))
	require.Equal(t, began, lastWall(t, db), "nor more often than that")
	clock.Advance(time.Millisecond)
	require.NoError(t, k.keep(t.Context()))
	require.Equal(t, clock.Wall().Truncate(time.Millisecond), lastWall(t, db))
}

func TestTimekeeper_StoreThatFailsIsNoReasonNotToEnd(t *testing.T) {
	t.Parallel()
	k, db, _ := keeperAt(t, filepath.Join(t.TempDir(), "berth.db"), time.UnixMilli(1_700_000_000_000))
	k.store = failing{db}
	require.NoError(t, k.end())
	require.Zero(t, lastWall(t, db))
}

func TestTimekeeper_StepBackThatCannotBeStoredFailsTheStart(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	k, db, clock := keeperAt(t, path, time.UnixMilli(1_700_000_000_000))
	openCharge(t, db)
	earlier := compute.NewFrozenClock(clock.Wall().Add(-time.Hour))
	_, err := newTimekeeper(t.Context(), clocks{earlier, earlier.Running(), nil}, failing{db}, k.log, &undo{})
	require.ErrorContains(t, err, "the disk is full")
}

func TestServer_BillsOnAfterARestartThatEndsTheTestsTime(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serveFrom(t, dir)
	s.SetClock(ClockFrozen, 0, 0)
	require.NoError(t, s.current().controls.Step(t.Context(), 2*time.Hour))
	_, err := s.current().controls.use.control.CreateVolume(t.Context(), owner, control.NewVolume{Name: "v", SizeGB: 1000, DataCenterID: "EU-RO-1"})
	require.NoError(t, err)
	require.NoError(t, s.Advance(t.Context(), time.Hour))
	billed := func() compute.NanoUSD {
		b, err := s.current().controls.use.control.Bill(t.Context(), owner, control.BillQuery{
			Start: time.UnixMilli(0), End: time.Now().Add(100 * time.Hour), Items: []compute.Item{compute.StorageStandard, compute.StorageHighPerformance},
		})
		require.NoError(t, err)
		return b.Totals.Total()
	}
	hour := billed()
	require.Positive(t, hour)
	require.NoError(t, s.Close())

	s = serveFrom(t, dir)
	s.SetClock(ClockFrozen, 0, 0)
	require.InDelta(t, int64(hour), int64(billed()), float64(hour)/10)
	before := billed()
	require.NoError(t, s.Advance(t.Context(), time.Hour))
	require.InDelta(t, int64(before+hour), int64(billed()), 2)
	require.NoError(t, s.Close())
}

func TestTimekeeper_StepThatCannotBeStoredRemains(t *testing.T) {
	t.Parallel()
	s := serveFrom(t, t.TempDir())
	works := s.current().controls.db.store
	k, err := newTimekeeper(t.Context(), newClocks(Config{}), works, slog.New(slog.DiscardHandler), &undo{}) // beside that of the server
	require.NoError(t, err)

	k.running.Step(-time.Hour)
	k.store = failing{works}
	require.Error(t, k.keep(t.Context()))
	require.Zero(t, k.running.Lag())
	require.InDelta(t, -time.Hour, k.running.Stepped(), float64(time.Second))

	k.store = works
	require.NoError(t, k.keep(t.Context()))
	require.InDelta(t, -time.Hour, k.running.Lag(), float64(time.Second))
	require.Zero(t, k.running.Stepped())
	require.NoError(t, s.Close())
}

func TestTimekeeper_StepIsOneHoweverOftenItsWriteRuns(t *testing.T) {
	t.Parallel()
	clock := compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000))
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), clock)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })

	began := clock.Wall()
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return tx.OpenCharge(compute.Charge{UserID: "u", Item: compute.PodCPU, ResourceID: "p", HolderID: "p", Rate: 1})
	}))
	clock.Advance(time.Minute)

	running := clock.Running()
	k, err := newTimekeeper(t.Context(), clocks{clock, running, clock}, repeating{db}, slog.New(slog.DiscardHandler), &undo{})
	require.NoError(t, err)
	running.Step(time.Hour)
	require.NoError(t, k.keep(t.Context()))
	require.Equal(t, time.Hour, running.Lag())
	require.Zero(t, running.Stepped())
	require.Equal(t, began.Add(time.Hour+time.Minute), clock.Wall())

	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) error {
		lag, err := tx.Lag()
		require.NoError(t, err)
		require.Equal(t, time.Hour, lag)
		var ended, later []time.Time
		err = tx.EachCharge("u", []compute.Item{compute.PodCPU}, nil, began, began.Add(100*time.Hour), func(c compute.Charge) error {
			if c.EndedAt.IsZero() {
				later = append(later, c.BeganAt)
			} else {
				ended = append(ended, c.EndedAt)
			}
			return nil
		})
		require.Equal(t, []time.Time{began.Add(time.Minute)}, ended)
		require.Equal(t, []time.Time{began.Add(time.Hour + time.Minute)}, later)
		return err
	}))
}
