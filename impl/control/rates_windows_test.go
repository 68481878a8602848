package control_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store"
)

func newRates(t *testing.T, h *held, windows []compute.Window) *control.Rates {
	t.Helper()
	rates, err := control.NewRates(t.Context(), h.db, h.clock, windows)
	require.NoError(t, err)
	return rates
}

// remaining gives what is left of each window.
func remaining(rates []compute.Rate) (left []int64) {
	for _, r := range rates {
		left = append(left, r.Remaining)
	}
	return left
}

func TestRates_CountEachUserInEachWindow(t *testing.T) {
	t.Parallel()
	h := hold(t)
	rates := newRates(t, h, compute.Windows(2, 10, 100))
	require.Equal(t, []int64{1, 9, 99}, remaining(rates.Count("u")))
	require.Equal(t, []int64{0, 8, 98}, remaining(rates.Count("u")))
	require.Equal(t, []int64{1, 9, 99}, remaining(rates.Count("v")))
	over := rates.Count("u")
	require.Equal(t, []int64{0, 7, 97}, remaining(over), "one that is refused counts, too")
	worst, exceeded := control.Exceeded(over)
	require.True(t, exceeded)
	require.Equal(t, "minute", worst.Name)

	require.NoError(t, rates.Save(t.Context()))
	again := newRates(t, h, []compute.Window{{Name: "day", Length: 24 * time.Hour, Quota: 100}, {Name: "week", Length: 7 * 24 * time.Hour, Quota: 5}})
	require.Equal(t, []int64{96, 4}, remaining(again.Count("u")), "each window has its own count back")
	h.clock.Advance(time.Minute)
	require.Equal(t, []int64{1, 6, 96}, remaining(rates.Count("u")))
	rates.SetQuotas(compute.Windows(5, 5, 5))
	require.Equal(t, []int64{4, 4, 4}, remaining(rates.Count("u")), "it counts anew")
}

func TestRates_Exceeded_IsTheOneThatIsTheLastToReset(t *testing.T) {
	t.Parallel()
	rate := func(name string, reset time.Duration, exceeded bool) compute.Rate {
		return compute.Rate{Window: compute.Window{Name: name}, Reset: reset, Exceeded: exceeded}
	}
	for want, rates := range map[string][]compute.Rate{
		"":       {rate("minute", 60, false), rate("hour", 0, false)},
		"minute": {rate("minute", 60, true), rate("hour", 3600, false)},
		"hour":   {rate("minute", 60, true), rate("hour", 3600, true)},
		"day":    {rate("day", 3600, true), rate("hour", 60, true)},
		"second": {rate("first", 60, true), rate("second", 60, true)},
		"now":    {rate("now", 0, true)},
	} {
		worst, exceeded := control.Exceeded(rates)
		require.Equal(t, want, worst.Name)
		require.Equal(t, want != "", exceeded, want)
	}
}

func TestRates_Seconds_AreEnoughToWait(t *testing.T) {
	t.Parallel()
	for wait, seconds := range map[time.Duration]int64{0: 0, 1: 1, time.Second: 1, time.Second + 1: 2, time.Minute: 60} {
		require.Equal(t, seconds, control.Seconds(wait), "%s", wait)
	}
}

func TestRates_Save_WritesWhatHasChanged(t *testing.T) {
	t.Parallel()
	h := hold(t)
	rates := newRates(t, h, compute.Windows(10, 10, 10))
	h.db.writes = errors.New("nothing is to be written")
	require.NoError(t, rates.Save(t.Context()), "nobody asked for anything")
	require.NoError(t, rates.Forget(t.Context()))
	rates.Count("u")
	require.ErrorIs(t, rates.Save(t.Context()), h.db.writes)
	require.NoError(t, rates.Forget(t.Context()), "its windows go on")
	rates.SetQuotas(compute.Windows(10, 10, 10))
	require.NoError(t, rates.Save(t.Context()), "what was counted before counts no more")

	h.db.writes = nil
	rates.Count("u")
	require.NoError(t, rates.Save(t.Context()))
	h.db.writes = errors.New("nothing is to be written")
	require.NoError(t, rates.Save(t.Context()), "it is saved")
	h.clock.Advance(24 * time.Hour)
	require.ErrorIs(t, rates.Forget(t.Context()), h.db.writes)
	h.db.writes = nil
	require.NoError(t, rates.Forget(t.Context()))
	require.NoError(t, h.db.Read(t.Context(), func(tx store.Tx) error {
		rows, err := tx.RequestCounts()
		require.Empty(t, rows, "what could not be deleted is the next time")
		return err
	}))
	rates.Count("v")
	require.NoError(t, rates.Save(t.Context()))
	require.Equal(t, []int64{8, 8, 8}, remaining(newRates(t, h, compute.Windows(10, 10, 10)).Count("v")))
}

func TestQueueRates_CountEachOperationOfEachEndpoint(t *testing.T) {
	t.Parallel()
	clock := compute.NewFrozenClock(time.Date(2026, 3, 1, 12, 0, 3, 0, time.UTC))
	rates := control.NewQueueRates(clock, map[string]int64{"run": 2, "cancel": 1})
	counts := func(u compute.UserID, e compute.EndpointID, operation string, left int64, exceeded bool) {
		t.Helper()
		rate, limited := rates.Count(u, e, operation)
		require.True(t, limited)
		require.Equal(t, left, rate.Remaining)
		require.Equal(t, exceeded, rate.Exceeded)
		require.Equal(t, compute.QueueWindow, rate.Length)
		require.Equal(t, "10s", rate.Name)
	}
	counts("u", "e", "run", 1, false)
	counts("u", "e", "run", 0, false)
	counts("u", "e", "run", 0, true)
	counts("v", "e", "run", 1, false)
	counts("u", "f", "run", 1, false)
	counts("u", "e", "cancel", 0, false)
	rate, limited := rates.Count("u", "e", "status")
	require.False(t, limited)
	require.Zero(t, rate)

	long := compute.EndpointID(strings.Repeat("e", 64))
	counts("u", long, "run", 1, false)
	counts("u", long+"1", "run", 1, false)
	counts("u", long+"2", "run", 0, false) // no endpoint has such an id: they are counted together

	clock.Advance(7*time.Second - time.Millisecond)
	counts("u", "e", "run", 0, true)
	clock.Advance(time.Millisecond)
	counts("u", "e", "run", 1, false)
	rate, _ = rates.Count("u", "e", "run")
	require.Equal(t, 10*time.Second, rate.Reset)

	rates.SetQuotas(map[string]int64{"run": 7})
	counts("u", "e", "run", 6, false)
	_, limited = rates.Count("u", "e", "cancel")
	require.False(t, limited)
}
