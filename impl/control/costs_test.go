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

// costs gives what users would have paid.
func (m *metered) costs(q control.CostQuery) control.Costs {
	all, err := m.ctl.Costs(m.t.Context(), q)
	require.NoError(m.t, err)
	return all
}

// spends opens a charge of a billionth of a USD an hour for each unit of the rate.
func (m *metered) spends(user compute.UserID, item compute.Item, resource, holder string, rate compute.NanoUSD) {
	require.NoError(m.t, m.db.Write(m.t.Context(), func(tx store.Tx) error {
		return tx.OpenCharge(compute.Charge{UserID: user, Item: item, ResourceID: resource, HolderID: holder, Rate: rate})
	}))
}

func TestCosts_AddUpHoldersAndItemsOfAResource(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	m.spends("u", compute.ServerlessGPU, "e", "w1", 7)
	m.spends("u", compute.ServerlessCPU, "e", "w2", 5)
	m.spends("u", compute.PodCPU, "e", "e", 3) // a pod of the same id
	m.spends("v", compute.ClusterGPU, "c", "p1", 20)
	m.spends("v", compute.ClusterGPU, "c", "p2", 20)
	m.clock.Advance(time.Hour)

	all := m.costs(control.CostQuery{By: control.CostByResource})
	require.Equal(t, []control.Cost{
		{Kind: compute.BilledCluster, ID: "c", User: "v", Amount: 40, Ran: 2 * time.Hour},
		{Kind: compute.BilledEndpoint, ID: "e", User: "u", Amount: 12, Ran: 2 * time.Hour},
		{Kind: compute.BilledPod, ID: "e", User: "u", Amount: 3, Ran: time.Hour},
	}, all.Costs)
	require.Equal(t, compute.NanoUSD(55), all.Total)

	byKind := m.costs(control.CostQuery{By: control.CostByKind})
	require.Equal(t, []control.Cost{
		{Kind: compute.BilledCluster, Amount: 40, Ran: 2 * time.Hour}, {Kind: compute.BilledEndpoint, Amount: 12, Ran: 2 * time.Hour},
		{Kind: compute.BilledPod, Amount: 3, Ran: time.Hour},
	}, byKind.Costs)
	byUser := m.costs(control.CostQuery{By: control.CostByUser, Limit: 1})
	require.Equal(t, []control.Cost{{User: "v", Amount: 40, Ran: 2 * time.Hour}}, byUser.Costs)
	require.EqualValues(t, 2, byUser.Count)
	require.Equal(t, all.Total, byUser.Total)
}

func TestCosts_KeepTheHighestOfMany(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	for i := range 150 {
		m.spends("u", compute.PodCPU, fmt.Sprintf("p%d", i), fmt.Sprintf("p%d", i), compute.NanoUSD(1+(i*31)%150)) // in no order
	}
	m.clock.Advance(time.Hour)

	some := m.costs(control.CostQuery{By: control.CostByResource, Limit: 3})
	require.Equal(t, []compute.NanoUSD{150, 149, 148}, []compute.NanoUSD{some.Costs[0].Amount, some.Costs[1].Amount, some.Costs[2].Amount})
	require.EqualValues(t, 150, some.Count)
	require.EqualValues(t, 150*151/2, some.Total)
	require.Len(t, m.costs(control.CostQuery{By: control.CostByResource}).Costs, control.DefaultCosts)
}

func TestCosts_CountWhatEndedInTimesToCome(t *testing.T) {
	t.Parallel()
	m := newMetered(t)
	m.spends("u", compute.PodCPU, "p", "p", 60)
	m.clock.Advance(time.Hour)
	require.NoError(t, m.db.Write(t.Context(), func(tx store.Tx) error { return tx.CloseCharge("p") }))
	m.clock.Running().Adjust(-24 * time.Hour)

	require.Equal(t, compute.NanoUSD(60), m.costs(control.CostQuery{}).Total, "the time of day was set back")
	m.spends("u", compute.PodCPU, "q", "q", 60)
	require.EqualValues(t, 1, m.costs(control.CostQuery{}).Count, "what began now has cost nothing")
}
