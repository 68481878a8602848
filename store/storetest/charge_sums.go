package storetest

import (
	"cmp"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// day is one of UTC.
const day = 24 * time.Hour

// noSum is for who expects none.
func noSum(compute.ChargeSum) error { return io.ErrUnexpectedEOF }

// spent is all that a store says was spent, in its order.
type spent struct {
	charges []compute.Charge
	sums    []compute.ChargeSum
	order   []string // of the resources
}

func allSpent(t *testing.T, s store.Store, user compute.UserID, from, to time.Time) (all spent) {
	t.Helper()
	require.NoError(t, s.Read(t.Context(), func(tx store.Tx) error {
		all = spent{}
		return tx.EachSpent(user, from, to, func(c compute.Charge) error {
			all.charges, all.order = append(all.charges, c), append(all.order, c.ResourceID)
			return nil
		}, func(sum compute.ChargeSum) error {
			all.sums, all.order = append(all.sums, sum), append(all.order, sum.ResourceID)
			return nil
		})
	}))
	return all
}

// sumUp sums up what ended until then, so many days at a time, and gives how many days there were each time.
func sumUp(t *testing.T, s store.Store, until time.Time, most int) (each []int) {
	t.Helper()
	for {
		var n int
		write(t, s, func(tx store.Tx) (err error) {
			n, err = tx.SumCharges(until, most)
			return err
		})
		each = append(each, n)
		if n < most {
			return each
		}
		require.Less(t, len(each), 1000)
	}
}

// runs opens a charge and closes it after a while.
func runs(t *testing.T, s store.Store, clock *compute.SettableClock, c compute.Charge, d time.Duration) {
	t.Helper()
	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(c) })
	clock.Advance(d)
	write(t, s, func(tx store.Tx) error { return tx.CloseCharge(c.HolderID) })
}

func chargesSummed(t *testing.T, open Open) {
	s, clock := begin(t, open)
	today := compute.DayBucket.Start(start)
	clock.Advance(today.Add(day).Sub(start)) // midnight
	first := today.Add(day)
	at := func(d time.Duration) time.Time { return first.Add(d) }
	pod := compute.Charge{UserID: "u", Item: compute.PodCPU, ResourceID: "p", HolderID: "p", Rate: 3_600_000}
	worker := compute.Charge{UserID: "u", Item: compute.ServerlessCPU, ResourceID: "e", HolderID: "w", Rate: 7}
	other := compute.Charge{UserID: "a", Item: compute.PodCPU, ResourceID: "z", HolderID: "z", Rate: 1}
	runs(t, s, clock, pod, 0) // costs nothing
	runs(t, s, clock, pod, time.Hour)
	runs(t, s, clock, pod, time.Hour)
	runs(t, s, clock, worker, 2*day) // from 2:00
	runs(t, s, clock, other, time.Hour)
	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(pod) })

	podSum := compute.ChargeSum{UserID: "u", Item: compute.PodCPU, ResourceID: "p", Day: first, Amount: 2 * 3_600_000, Ran: 2 * time.Hour}
	workerSums := []compute.ChargeSum{
		{UserID: "u", Item: compute.ServerlessCPU, ResourceID: "e", Day: first, Amount: 22 * 7, Ran: 22 * time.Hour},
		{UserID: "u", Item: compute.ServerlessCPU, ResourceID: "e", Day: at(day), Amount: 24 * 7, Ran: day},
		{UserID: "u", Item: compute.ServerlessCPU, ResourceID: "e", Day: at(2 * day), Amount: 2 * 7, Ran: 2 * time.Hour},
	}
	otherSum := compute.ChargeSum{UserID: "a", Item: compute.PodCPU, ResourceID: "z", Day: at(2 * day), Amount: 1, Ran: time.Hour}
	openPod := pod
	openPod.BeganAt = at(2*day + 3*time.Hour)

	require.Equal(t, []int{0}, sumUp(t, s, first.Add(-1), 10), "nothing ended by then")
	require.Equal(t, []int{3}, sumUp(t, s, at(2*time.Hour), 10))
	require.Equal(t, []compute.ChargeSum{podSum}, allSpent(t, s, "", first, at(10*day)).sums)
	require.Equal(t, []int{0}, sumUp(t, s, at(2*time.Hour), 10), "each once")

	require.Equal(t, []int{2, 2, 0}, sumUp(t, s, at(10*day), 2), "the worker takes more than one turn")
	all := allSpent(t, s, "", first.Add(-day), at(10*day))
	require.Equal(t, []compute.Charge{openPod}, all.charges, "what is open stays")
	require.Equal(t, append([]compute.ChargeSum{otherSum}, append(workerSums, podSum)...), all.sums)
	require.Equal(t, []string{"z", "e", "e", "e", "p", "p"}, all.order, "by users, resources and items")
	require.Equal(t, []string{"e", "p"}, allSpent(t, s, "u", first, at(day)).order)
	require.Equal(t, []string{"z", "e"}, allSpent(t, s, "", at(day+time.Millisecond), at(2*day+time.Millisecond)).order, "a day counts where it begins")

	p := "p"
	list := func(items []compute.Item, resource *string, from, to time.Time) []compute.ChargeSum {
		return read(t, s, func(tx store.Tx) ([]compute.ChargeSum, error) {
			return listChargeSums(tx, "u", items, resource, from, to)
		})
	}
	both := []compute.Item{compute.PodCPU, compute.ServerlessCPU}
	require.Equal(t, append([]compute.ChargeSum{workerSums[0], podSum}, workerSums[1:]...), list(both, nil, first, at(10*day)))
	require.Equal(t, workerSums[1:2], list(both, nil, first.Add(time.Millisecond), at(2*day)))
	require.Equal(t, []compute.ChargeSum{podSum}, list(both, &p, first, at(10*day)))
	require.Empty(t, list(both[:1], nil, at(day), at(10*day)))

	write(t, s, func(tx store.Tx) error { return tx.Clear() })
	require.Equal(t, spent{}, allSpent(t, s, "", first, at(10*day)))
}

func chargesSummedInPart(t *testing.T, open Open) {
	s, clock := begin(t, open)
	volume := compute.Charge{UserID: "u", Item: compute.StorageStandard, ResourceID: "v", HolderID: "v", Rate: 1_000_000_007}
	runs(t, s, clock, volume, 10*day+12345*time.Millisecond)
	from, end := start.Add(-day), start.Add(20*day)
	whole := allSpent(t, s, "", from, end).charges[0]
	whole.SummedUntil = time.Time{}

	write(t, s, func(tx store.Tx) error {
		n, err := tx.SumCharges(end, 4)
		require.Equal(t, 4, n)
		return err
	})
	all := allSpent(t, s, "", from, end)
	require.Len(t, all.sums, 4)
	require.Len(t, all.charges, 1)
	rest := whole
	rest.SummedUntil = compute.DayBucket.Start(start).Add(4 * day)
	require.Equal(t, rest, all.charges[0])

	refused := compute.Errorf(compute.Internal, "after the sums")
	require.ErrorIs(t, s.Write(t.Context(), func(tx store.Tx) error {
		if _, err := tx.SumCharges(end, 100); err != nil {
			return err
		}
		return refused
	}), refused)
	require.Equal(t, all, allSpent(t, s, "", from, end), "all of it, or nothing")

	require.Equal(t, []int{4, 3}, sumUp(t, s, end, 4))
	all = allSpent(t, s, "", from, end)
	require.Empty(t, all.charges)
	amount, ran := compute.NanoUSD(0), time.Duration(0)
	for _, sum := range all.sums {
		amount += sum.Amount
		ran += sum.Ran
	}
	require.Equal(t, whole.Until(whole.EndedAt), amount)
	require.Equal(t, whole.EndedAt.Sub(whole.BeganAt), ran)
}

// listChargeSums gives the user's sums in the order of the days.
func listChargeSums(tx store.Tx, user compute.UserID, items []compute.Item, resource *string, from, to time.Time) (all []compute.ChargeSum, err error) {
	err = tx.EachChargeSum(user, items, resource, from, to, func(s compute.ChargeSum) error {
		all = append(all, s)
		return nil
	})
	slices.SortStableFunc(all, func(a, b compute.ChargeSum) int {
		return cmp.Or(a.Day.Compare(b.Day), cmp.Compare(a.ResourceID, b.ResourceID))
	})
	return all, err
}
