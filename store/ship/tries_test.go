package ship_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/ship"
	"github.com/berthdev/berth/store/sqlite"
)

// unfollowed is a database whose log cannot be followed.
type unfollowed struct {
	mu    sync.Mutex
	began time.Time
	tries []time.Duration
}

var errUnfollowed = errors.New("the log cannot be followed")

func (u *unfollowed) Follow(context.Context, func() time.Time, func(sqlite.Piece)) (*sqlite.Tail, error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	u.tries = append(u.tries, time.Since(u.began))
	return nil, errUnfollowed
}

func (u *unfollowed) tried() []time.Duration {
	u.mu.Lock()
	defer u.mu.Unlock()
	return u.tries
}

// waits are the moments of tries of which each waits twice as long as the one before, and none longer than 15 seconds.
func waits(tries int) (all []time.Duration) {
	at, wait := time.Duration(0), 250*time.Millisecond
	for range tries {
		all = append(all, at)
		at += wait
		wait = min(2*wait, 15*time.Second)
	}
	return all
}

// quiet gives how the databases of these tests are shipped.
func quiet(from ship.Source, to ship.Target) ship.Options {
	return ship.Options{
		Source: from, Target: to, Every: time.Second, Keep: time.Hour, Clock: compute.SystemClock{}, Log: slog.New(slog.DiscardHandler), Random: func() string { return "x" },
	}
}

func TestShip_BeginsAnotherGenerationAfterTwiceAsLongEachTime(t *testing.T) {
	t.Parallel()
	to := target(t)
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		from := &unfollowed{began: time.Now()}
		o := quiet(from, to)
		o.Log = slog.New(slog.NewTextHandler(&log, nil))
		before := compute.SystemClock{}.Now()
		s := ship.Start(o)
		time.Sleep(time.Minute)
		synctest.Wait()
		tries := from.tried()
		require.Greater(t, len(tries), 7)
		require.Equal(t, waits(len(tries)), tries)
		status := s.Status()
		require.Equal(t, ship.Status{Target: to.String(), Began: before, Broken: int64(len(tries))}, status)

		began := time.Now()
		err := s.Close(time.Minute)
		require.ErrorIs(t, err, errUnfollowed)
		require.ErrorContains(t, err, "the last of what was written is not in "+to.String())
		require.Zero(t, time.Since(began), "it does not wait for the next try")
		require.Equal(t, err, s.Close(time.Minute), "twice does no harm")
		require.Len(t, from.tried(), len(tries))
		require.Equal(t, len(tries), strings.Count(log.String(), "a generation of the continuous backup ends"))
	})
}

// refusing is a target that takes nothing for some tries, and notes when each of them was.
type refusing struct {
	ship.Target
	mu    sync.Mutex
	left  int
	began time.Time
	tries []time.Duration
}

func (r *refusing) Put(ctx context.Context, name string, body []byte) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.tries = append(r.tries, time.Since(r.began))
	if r.left--; r.left >= 0 {
		return errors.New("no space left")
	}
	return r.Target.Put(ctx, name, body)
}

func TestShip_TriesAnObjectAgainAfterTwiceAsLongEachTime(t *testing.T) {
	t.Parallel()
	to := target(t)
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		insert(t, db, 0, 3, 1000)
		var log strings.Builder
		r := &refusing{Target: to, left: 9, began: time.Now()}
		o := quiet(db, r)
		o.Log, o.Key = slog.New(slog.NewTextHandler(&log, nil)), []byte("a key")
		s := ship.Start(o)
		time.Sleep(70 * time.Second)
		synctest.Wait()
		require.EqualValues(t, 9, s.Status().Failures)
		r.mu.Lock()
		require.Equal(t, waits(10), r.tries[:10])
		r.mu.Unlock()
		require.NoError(t, s.Close(time.Minute))
		require.Zero(t, s.Status().Broken)
		require.Zero(t, s.Status().Pending)
		require.Positive(t, s.Status().Bytes)

		require.Equal(t, 1, strings.Count(log.String(), "waits for its target"), "it is said once")
		require.Equal(t, 1, strings.Count(log.String(), "the continuous backup goes on"))
		require.Equal(t, 1, strings.Count(log.String(), "has a base"))
	})
	r, n := restored(t, to, ship.Wish{})
	require.Equal(t, 3, n)
	require.Equal(t, "a key", string(r.Key))
	require.Contains(t, fmt.Sprint(objects(t, to, r.Generation+"/key")), r.Generation+"/key")
}

// counting is a target that counts how often it is listed.
type counting struct {
	ship.Target
	lists atomic.Int64
}

func (c *counting) List(ctx context.Context, prefix string) ([]ship.Object, error) {
	c.lists.Add(1)
	return c.Target.List(ctx, prefix)
}

func TestShip_MakesABaseADayAndLooksOnceAnHourWhatNeedNotBeKept(t *testing.T) {
	t.Parallel()
	to := &counting{Target: target(t)}
	synctest.Test(t, func(t *testing.T) {
		db := open(t)
		insert(t, db, 0, 3, 1000)
		o := quiet(db, to)
		o.Every, o.Keep = 10*time.Minute, 1000*time.Hour
		s := ship.Start(o)
		pass := func(d time.Duration) int {
			time.Sleep(d)
			synctest.Wait()
			return len(objects(t, to.Target, s.Status().Generation+"/base/"))
		}
		require.Equal(t, 1, pass(5*time.Minute))
		require.EqualValues(t, 2, to.lists.Load())
		require.Equal(t, 1, pass(5*time.Hour))
		require.EqualValues(t, 7, to.lists.Load())
		require.Equal(t, 1, pass(19*time.Hour), "it is a day")
		require.Equal(t, 2, pass(10*time.Minute), "and somewhat more")
		require.Equal(t, 2, pass(25*time.Hour), "nothing was written since")
		insert(t, db, 3, 4, 1000)
		require.Equal(t, 3, pass(10*time.Minute))
		require.NoError(t, s.Close(time.Minute))
		require.Zero(t, s.Status().Broken+s.Status().Failures)
	})
	_, n := restored(t, to, ship.Wish{})
	require.Equal(t, 4, n)
}
