package control_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store"
)

func TestCosts_MergeWhatIsOfOneKind(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	m.spends("u", compute.PodCPU, "a", "a", 1)
	m.spends("u", compute.ServerlessCPU, "b", "b", 10)
	m.spends("u", compute.PodCPU, "c", "c", 2)
	m.spends("v", compute.PodGPU, "d", "d", 4)
	m.spends("v", compute.ServerlessGPU, "e", "e", 20)
	m.clock.Advance(time.Hour)

	all := m.costs(control.CostQuery{By: control.CostByKind})
	require.Equal(t, []control.Cost{
		{Kind: compute.BilledEndpoint, Amount: 30, Ran: 2 * time.Hour}, {Kind: compute.BilledPod, Amount: 7, Ran: 3 * time.Hour},
	}, all.Costs)
	require.EqualValues(t, 2, all.Count)
	require.EqualValues(t, 37, all.Total)
}

func TestCosts_AreBoundedInNumber(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	const pods = 1002
	require.NoError(t, m.db.Write(t.Context(), func(tx store.Tx) error {
		for i := range pods {
			id := fmt.Sprint("p", i)
			if err := tx.OpenCharge(compute.Charge{UserID: "u", Item: compute.PodCPU, ResourceID: id, HolderID: id, Rate: compute.NanoUSD(1 + i)}); err != nil {
				return err
			}
		}
		return nil
	}))
	m.clock.Advance(time.Hour)

	for limit, want := range map[int64]int{0: 100, 1: 1, 1000: 1000, 1001: 1000, 1 << 40: 1000} {
		all := m.costs(control.CostQuery{By: control.CostByResource, Limit: limit})
		require.Len(t, all.Costs, want, "limit %d", limit)
		require.EqualValues(t, pods, all.Costs[0].Amount, "limit %d", limit)
		require.EqualValues(t, pods, all.Count, "limit %d", limit)
	}
}

func TestCosts_SayUpToWhenTheyAre(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	now := m.clock.Wall()
	for until, want := range map[time.Time]time.Time{
		{}: now, now.Add(-time.Minute): now.Add(-time.Minute), now.Add(time.Minute): now, time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC): time.UnixMilli(0),
	} {
		all := m.costs(control.CostQuery{Until: until})
		require.WithinDuration(t, want, all.Until, 0, "%s", until)
		require.Zero(t, all.Total)
	}
}
