package runtime_test

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// Not parallel: the kinds are those of the whole process.
func TestKind_IsRegisteredOnceAndTheDefaultFirst(t *testing.T) {
	for _, k := range []runtime.Kind{{Name: "rack"}, {Name: "yard", Default: true}, {Name: "attic"}} {
		runtime.Register(k)
	}
	require.Equal(t, []string{"yard", "attic", "rack"}, runtime.Names())
	require.Panics(t, func() { runtime.Register(runtime.Kind{Name: "rack"}) }, "the name is taken")
	require.Panics(t, func() { runtime.Register(runtime.Kind{Name: "shed", Default: true}) }, "there is a default")
	k, err := runtime.Find("attic")
	require.NoError(t, err)
	require.Equal(t, "attic", k.Name)
	_, err = runtime.Find("shed")
	require.EqualError(t, err, `runtime "shed": it must be yard, attic or rack`)
	require.Nil(t, runtime.Local(), "none of them runs commands")
}

func TestPack_TakesTheFullestHostPreferred(t *testing.T) {
	t.Parallel()
	rooms := []compute.HostRoom{
		{Number: 1, GPUs: 4, VCPUs: 8}, {Number: 2, GPUs: 2, VCPUs: 9}, {Number: 4, GPUs: 2, VCPUs: 8}, {Number: 3, GPUs: 2, VCPUs: 8}, {Number: 0, Rank: 1, GPUs: 1},
	}
	chosen, ok := runtime.Pack(slices.Values(rooms))
	require.True(t, ok)
	require.Equal(t, 3, chosen.Number)
	_, ok = runtime.Pack(slices.Values(rooms[:0]))
	require.False(t, ok)
}

// alike are two hosts.
type alike struct{}

func (alike) Least() compute.HostRoom   { return compute.HostRoom{Number: 3, Rank: 1, GPUs: 1} }
func (alike) Most() compute.HostRoom    { return compute.HostRoom{Number: 2, Rank: 1, GPUs: 2} }
func (alike) Left() (gpus, vcpus int64) { return 3, 0 }

func TestPolicy(t *testing.T) {
	t.Parallel()
	rooms := []compute.HostRoom{
		{Number: 0, Rank: 0, GPUs: 2}, {Number: 1, Rank: 0, GPUs: 4, VCPUs: 8}, {Number: 2, Rank: 0, GPUs: 4, VCPUs: 9},
		{Number: 3, Rank: 1, GPUs: 8}, {Number: 4, Rank: 1, GPUs: 3}, {Number: 5, Rank: 2, GPUs: 9},
	}
	shared := []compute.HostRoom{{Number: 4, GPUs: 4}, {Rank: 1, Alike: alike{}}, {Number: 1, Rank: 1, GPUs: 2}}
	named := slices.Clone(rooms)
	for i := range named {
		named[i].Named = true
	}
	for _, c := range []struct {
		policy runtime.Policy
		rooms  []compute.HostRoom
		want   int
	}{
		{"", rooms, 0}, {runtime.PolicyPack, rooms, 0}, {runtime.PolicySpread, rooms, 2}, {runtime.PolicySpreadCenters, rooms, 3},
		{runtime.PolicySpreadCenters, named, 2}, {runtime.PolicySpreadCenters, shared, 1},
		{runtime.PolicyPack, shared[1:], 3}, {runtime.PolicySpread, shared[1:2], 2},
	} {
		chosen, ok := c.policy.Choose(slices.Values(c.rooms))
		require.True(t, ok)
		require.Equal(t, c.want, chosen.Number, c.policy)
		_, ok = c.policy.Choose(slices.Values(c.rooms[:0]))
		require.False(t, ok)
	}
}
