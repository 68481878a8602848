package control

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestTally_KeepsFewOfManyCosts(t *testing.T) {
	t.Parallel()
	var all Costs
	sum := tally{by: CostByResource, limit: 3, costs: &all}
	for i := range 100 {
		sum.add(Cost{Kind: compute.BilledPod, ID: strconv.Itoa(i), User: "u", Amount: compute.NanoUSD(i), Ran: time.Second})
		require.Less(t, len(all.Costs), 6, "what will not be shown is dropped while more comes")
	}
	sum.end()

	require.EqualValues(t, 100, all.Count)
	require.EqualValues(t, 99*100/2, all.Total)
	var amounts []compute.NanoUSD
	for _, one := range all.Costs {
		amounts = append(amounts, one.Amount)
	}
	require.Equal(t, []compute.NanoUSD{99, 98, 97}, amounts)
}

func TestTally_OrdersEqualCostsByWhatTheyAreOf(t *testing.T) {
	t.Parallel()
	var all Costs
	sum := tally{by: CostByResource, limit: 10, costs: &all}
	for _, one := range []Cost{
		{Kind: compute.BilledPod, ID: "b", User: "v"}, {Kind: compute.BilledPod, ID: "b", User: "u"}, {Kind: compute.BilledPod, ID: "a", User: "u"},
		{Kind: compute.BilledCluster, ID: "c", User: "u"},
	} {
		one.Amount, one.Ran = 5, time.Second
		sum.add(one)
	}
	sum.end()

	var ids []string
	for _, one := range all.Costs {
		ids = append(ids, string(one.User)+" "+string(one.Kind)+" "+one.ID)
	}
	require.Equal(t, []string{"u cluster c", "u pod a", "u pod b", "v pod b"}, ids)
}
