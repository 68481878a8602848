package faulttest_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/faulttest"
	"github.com/berthdev/berth/store/ship"
	"github.com/berthdev/berth/store/sqlite"
)

// acknowledged is when each job was, in order.
type acknowledged struct {
	mu    sync.Mutex
	at    []time.Time
	tried int
}

func (a *acknowledged) try() (i int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tried++
	return a.tried - 1
}

func (a *acknowledged) done() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.at = append(a.at, time.Now())
}

// before gives how many were acknowledged before a moment, and how many were tried by now.
func (a *acknowledged) before(moment time.Time) (n, tried int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	for n < len(a.at) && a.at[n].Before(moment) {
		n++
	}
	return n, a.tried
}

// prefix gives how many jobs are in a file, which must be the first ones.
func prefix(path string, tried int) (n int, err error) {
	if _, _, err := sqlite.Verify(context.Background(), path); err != nil {
		return 0, err
	}
	db, err := sqlite.OpenUnsynced(context.Background(), path, compute.SystemClock{})
	if err != nil {
		return 0, err
	}
	defer func() { _ = db.Close() }()
	err = db.Read(context.Background(), func(tx store.Tx) error {
		for i := range tried + 1 {
			_, err := tx.Job(jobID(i))
			switch {
			case err == nil && i > n:
				return fmt.Errorf("job %d is there, and %d is not", i, n)
			case err == nil:
				n++
			case compute.CodeOf(err) != compute.NotFound:
				return err
			}
		}
		return nil
	})
	return n, err
}

// TestShip_WhereverPowerIsLostWhatIsShippedIsAPrefix loses the power of the disk that has the database and the folder it is shipped to.
func TestShip_WhereverPowerIsLostWhatIsShippedIsAPrefix(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	disk := faulttest.New(t, dir)
	db, err := open(in(dir))
	require.NoError(t, err)
	to, err := ship.Open(filepath.Join(dir, "shipped"), "", os.Getenv)
	require.NoError(t, err)
	shipper := ship.Start(ship.Options{
		Source: db, Target: to, Every: 2 * time.Millisecond, Keep: time.Hour, Clock: compute.SystemClock{}, Log: slog.New(slog.DiscardHandler),
		Random: func() string { return "x" },
	})

	var a acknowledged
	var mu sync.Mutex
	var first error
	images, some, rng, at := 0, 0, random(), scratch(t)
	judge := func(n int) error {
		upto := shipper.Status().Shipped
		least, _ := a.before(upto)
		image := filepath.Join(at, fmt.Sprint(n))
		require.NoError(t, os.Mkdir(image, 0o700))
		defer func() { require.NoError(t, os.RemoveAll(image)) }()
		disk.Loses(t, image, []faulttest.Loss{faulttest.Everything, faulttest.Some}[n%2], rng)

		from, err := ship.Open(filepath.Join(image, "shipped"), "", os.Getenv)
		require.NoError(t, err)
		path := filepath.Join(image, "restored.db")
		r, err := ship.Restore(t.Context(), from, ship.Wish{}, path)
		if err != nil && upto.IsZero() {
			return nil // nothing was said to be there
		}
		if err != nil {
			return err
		}
		_, tried := a.before(upto)
		has, err := prefix(path, tried)
		if err != nil {
			return err
		}
		if said, _ := a.before(r.Upto); has < max(least, said) || has > tried {
			return fmt.Errorf("%d jobs are there: %d were said to be shipped, %d by what was restored, and %d tried", has, least, said, tried)
		}
		if has > 0 {
			some++
		}
		return nil
	}
	every := 97
	if whole {
		every = 7
	}
	disk.Watch(func(c faulttest.Call) {
		if !c.Kind.Changes() || c.N%every != 0 {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		images++
		if err := judge(images); err != nil && first == nil {
			first = fmt.Errorf("power lost before call %d, %s of %s: %w", c.N, c.Kind, filepath.Base(c.Path), err)
		}
	})

	for range manyJobs {
		i := a.try()
		j := compute.Job{ID: jobID(i), EndpointID: "e", Status: compute.JobInQueue}
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			j.CreatedAt, j.QueuedAt, j.ExpiresAt = tx.Now(), tx.Now(), tx.Now()
			return tx.InsertJob(j, input(i, largeInput))
		}))
		a.done()
	}
	require.NoError(t, shipper.Close(time.Minute))
	require.NoError(t, db.Close())
	disk.Watch(nil)
	t.Log(images, "images,", some, "with something in them;", shipper.Status().Broken, "generations ended")
	require.NoError(t, first)
	require.Positive(t, some)
}
