package loop

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestSoonerOf_TakesZeroForNoTime(t *testing.T) {
	t.Parallel()
	var none time.Time
	a, b := time.Unix(1, 0), time.Unix(2, 0)
	require.Equal(t, a, soonerOf(a, b))
	require.Equal(t, a, soonerOf(b, a))
	require.Equal(t, a, soonerOf(a, none))
	require.Equal(t, a, soonerOf(none, a))
	require.Equal(t, none, soonerOf(none, none))
}

func TestPlan_GoesToWhatComesFirst(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	now := time.UnixMilli(1_700_000_000_000)
	at := func(d time.Duration) time.Time { return now.Add(d) }
	var none time.Time
	for name, c := range map[string]struct{ next, exact, end, want time.Time }{
		"nowhere if nothing is planned":                   {none, none, none, none},
		"to the end if nothing is planned":                {none, none, at(time.Hour), at(time.Hour)},
		"to what is next":                                 {at(time.Minute), none, at(time.Hour), at(time.Minute)},
		"without an end, too":                             {at(time.Minute), none, none, at(time.Minute)},
		"not over the end":                                {at(2 * time.Hour), none, at(time.Hour), at(time.Hour)},
		"not over the end for what is exact":              {at(2 * time.Hour), at(2 * time.Hour), at(time.Hour), at(time.Hour)},
		"in no step that is too short":                    {at(3 * ms), none, at(time.Hour), at(10 * ms)},
		"in no step that is too short, without an end":    {at(3 * ms), none, none, at(10 * ms)},
		"in the shortest step":                            {at(10 * ms), none, at(time.Hour), at(10 * ms)},
		"in no step back":                                 {at(-time.Second), none, at(time.Hour), at(10 * ms)},
		"in a short step where the end is near":           {at(3 * ms), none, at(5 * ms), at(3 * ms)},
		"in a short step where the end is a step away":    {at(3 * ms), none, at(10 * ms), at(3 * ms)},
		"in a whole step where the end is farther away":   {at(3 * ms), none, at(11 * ms), at(10 * ms)},
		"in a short step for what is exact":               {at(3 * ms), at(3 * ms), at(time.Hour), at(3 * ms)},
		"to what is exact within a step":                  {at(3 * ms), at(7 * ms), at(time.Hour), at(7 * ms)},
		"not to what is exact after a step":               {at(3 * ms), at(12 * ms), at(time.Hour), at(10 * ms)},
		"not back to what was exact":                      {at(-ms), at(-ms), at(time.Hour), at(10 * ms)},
		"on from what is exact now":                       {at(0), at(0), at(time.Hour), at(10 * ms)},
		"to what is exact though nothing else is planned": {at(time.Minute), at(time.Minute), none, at(time.Minute)},
	} {
		require.Equal(t, c.want, plan{next: c.next, exact: c.exact}.after(now, c.end), name)
	}
}

// errands are things that are due so long after a time, one after the other.
type errands struct {
	clock *compute.SettableClock
	start time.Time
	done  []errand
}

// errand is one of them, and when it was done.
type errand struct {
	who string
	at  time.Duration
}

// due makes work of somebody's errands.
func (e *errands) due(who string, exact bool, left ...time.Duration) Due {
	return Due{
		Exact: exact,
		Next: func(context.Context) (time.Time, error) {
			if len(left) == 0 {
				return time.Time{}, nil
			}
			return e.start.Add(left[0]), nil
		},
		Do: func(context.Context) error {
			for len(left) > 0 && !e.start.Add(left[0]).After(e.clock.Now()) {
				left = left[1:]
				e.done = append(e.done, errand{who, e.clock.Now().Sub(e.start)})
			}
			return nil
		},
	}
}

func newErrands() *errands {
	start := time.UnixMilli(1_700_000_000_000).UTC()
	return &errands{clock: compute.NewFrozenClock(start), start: start}
}

// auto makes what goes from one of them to the next, with no requests but those that it is told of.
func (e *errands) auto(work ...Due) *Auto {
	return NewAuto(e.clock, work, func() int { return 0 }, func() bool { return false }, func() func() { return func() {} }, slog.New(slog.DiscardHandler))
}

func TestAdvance_DoesEachThingAtItsTime(t *testing.T) {
	t.Parallel()
	const ms = time.Millisecond
	e := newErrands()
	work := []Due{
		e.due("a", false, 0, time.Minute, time.Hour), e.due("b", false, time.Minute+3*ms, 2*time.Minute+3*ms, 3*time.Hour),
		e.due("exact", true, time.Minute+4*ms), e.due("none", true),
	}
	require.NoError(t, e.auto(work...).Advance(t.Context(), time.Hour))
	require.Equal(t, []errand{
		{"a", 0}, {"a", time.Minute}, {"b", time.Minute + 4*ms}, {"exact", time.Minute + 4*ms}, {"b", 2*time.Minute + 3*ms}, {"a", time.Hour},
	}, e.done)
	require.Equal(t, e.start.Add(time.Hour), e.clock.Now(), "and no further")

	require.NoError(t, e.auto(e.due("now", false, time.Hour)).Advance(t.Context(), 0))
	require.Equal(t, errand{"now", time.Hour}, e.done[len(e.done)-1])
	require.Equal(t, e.start.Add(time.Hour), e.clock.Now())
}

func TestAdvance_StopsWhereSomethingFails(t *testing.T) {
	t.Parallel()
	full := errors.New("the disk is full")
	for name, failing := range map[string]Due{
		"in what is due": {Next: func(context.Context) (time.Time, error) { return time.Time{}, nil }, Do: func(context.Context) error { return full }},
		"in the plan":    {Next: func(context.Context) (time.Time, error) { return time.Time{}, full }, Do: func(context.Context) error { return nil }},
	} {
		e := newErrands()
		err := e.auto(e.due("before", false, 0), failing, e.due("after", false, time.Minute)).Advance(t.Context(), time.Hour)
		require.ErrorIs(t, err, full, name)
		require.Equal(t, []errand{{"before", 0}}, e.done, name)
		require.Equal(t, e.start, e.clock.Now(), name)
	}
}

func TestAdvance_WakesWhoWaitsForATimeOnTheWay(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newErrands()
		now := func() time.Duration { return e.clock.Now().Sub(e.start) }
		woken := map[string]time.Duration{}
		a := e.auto(e.due("a", false, time.Minute, time.Hour))
		request := func(f func()) {
			_, over := a.Request()
			go func() {
				defer over()
				f()
			}()
			synctest.Wait()
		}

		request(func() {
			require.NoError(t, compute.Sleep(t.Context(), e.clock, 30*time.Second))
			<-time.After(time.Second) // it takes its time for what it does then
			woken["sleeps"] = now()
			require.NoError(t, compute.Sleep(t.Context(), e.clock, 10*time.Second))
			woken["sleeps once more"] = now()
		})
		request(func() {
			c, stop := compute.Await(e.clock, time.Minute)
			defer stop()
			<-c
			<-time.After(time.Second)
			woken["awaits"] = now()
			require.Equal(t, []errand{{"a", time.Minute}}, e.done, "what is due then has been done")
		})
		request(func() {
			require.NoError(t, compute.Pause(t.Context(), e.clock, time.Second))
			woken["pauses"] = now()
		})

		require.NoError(t, a.Advance(t.Context(), 2*time.Hour))
		require.Equal(t, map[string]time.Duration{
			"pauses": 30 * time.Second, "sleeps": 30 * time.Second, "sleeps once more": 40 * time.Second, "awaits": time.Minute,
		}, woken)
		require.Equal(t, 2*time.Hour, now())
	})
}

func TestAdvance_DoesWhatIsMadeByThoseThatItWakes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newErrands()
		var made time.Time // when there is something to do, since somebody made it
		a := e.auto(Due{
			Next: func(context.Context) (time.Time, error) { return made, nil },
			Do: func(context.Context) error {
				if !made.IsZero() && !made.After(e.clock.Now()) {
					made = time.Time{}
					e.done = append(e.done, errand{"made", e.clock.Now().Sub(e.start)})
				}
				return nil
			},
		})
		_, over := a.Request()
		go func() {
			defer over()
			require.NoError(t, compute.Sleep(t.Context(), e.clock, 30*time.Second))
			made = e.clock.Now()
		}()
		synctest.Wait()

		require.NoError(t, a.Advance(t.Context(), time.Minute))
		require.Equal(t, []errand{{"made", 30 * time.Second}}, e.done)
	})
}

func TestAdvance_WaitsForNobodyForEver(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		e := newErrands()
		a := e.auto()
		hangs := make(chan struct{})
		_, over := a.Request()
		go func() {
			defer over()
			require.NoError(t, compute.Sleep(t.Context(), e.clock, 30*time.Second))
			<-hangs
		}()
		synctest.Wait()

		began := time.Now()
		require.NoError(t, a.Advance(t.Context(), time.Hour))
		require.Equal(t, wokenTime, time.Since(began))
		require.NoError(t, a.Advance(t.Context(), time.Hour))
		require.Equal(t, wokenTime, time.Since(began), "who hung before is not waited for again")
		close(hangs)

		// One who is not there any more is not waited for.
		_, left := a.Request()
		defer left()
		go func() { _ = compute.Sleep(t.Context(), e.clock, time.Minute) }()
		synctest.Wait()
		gone, stop := context.WithCancel(t.Context())
		stop()
		require.ErrorIs(t, a.Advance(gone, time.Hour), context.Canceled)
	})
}
