package control

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

// onCPUsAlone is a host without GPUs.
func onCPUsAlone(id string) Host {
	return Host{ID: id, DataCenterID: "EU-RO-1", Cloud: compute.Secure, CPUs: []string{"cpu3g"}, VCPUs: 16, MemoryGB: 64, DiskGB: 100}
}

func TestPlacement_ChoosesForAllOrNone(t *testing.T) {
	t.Parallel()
	p := openControl(t, openStore(t), []Host{l4s("a", 3)}).placement
	before := p.freeNow()
	w := []want{{GPU: "NVIDIA L4", Count: 2, DiskGB: 1, PersistentGB: 10}}
	require.Nil(t, p.choose(2, w))
	require.Equal(t, before, p.freeNow())
	require.Empty(t, p.chosen)

	for range 2 {
		choices := p.choose(1, w)
		require.Len(t, choices, 1)
		require.Equal(t, []string{"0", "1"}, choices[0].deviceNames(), "those of the choice before are free again")
		require.Equal(t, amount{1, 8, 8, 89}, p.freeNow()["a"])
		require.Len(t, p.chosen, 1)
		p.unchoose(choices, false)
		require.Equal(t, before, p.freeNow())
		require.Empty(t, p.chosen)
	}

	p.unchoose(p.choose(1, w), true)
	require.Equal(t, amount{1, 8, 8, 89}, p.freeNow()["a"])
	require.Empty(t, p.chosen)
	one := p.choose(1, []want{{GPU: "NVIDIA L4", Count: 1}})
	require.Equal(t, []string{"2"}, one[0].deviceNames())
}

func TestPlacement_ChoosesTheFirstThatThereIsRoomFor(t *testing.T) {
	t.Parallel()
	p := openControl(t, openStore(t), []Host{l4s("a", 2), onCPUsAlone("b")}).placement
	wants := []want{{GPU: "NVIDIA A40", Count: 1}, {GPU: "NVIDIA L4", Count: 3}, {GPU: "NVIDIA L4", Count: 2}, {CPU: "cpu3g", Count: 2, MemoryGB: 8}}
	choices := p.choose(3, wants)
	require.Len(t, choices, 3)
	for i, at := range []int{2, 3, 3} {
		require.Same(t, &wants[at], choices[i].want)
	}
	require.Equal(t, []string{"a", "b", "b"}, []string{choices[0].hostID(), choices[1].hostID(), choices[2].hostID()})
	require.Equal(t, amount{0, 12, 48, 100}, p.freeNow()["b"])
}

func TestPlacement_ChoosesNothingOfAHostWhoseDevicesAreUnclear(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{l4s("a", 2), onCPUsAlone("b")})
	p := c.placement
	p.host("a").devices.set([]int{0, 1}, true) // though its sums say that two are free

	choices := p.choose(1, []want{{GPU: "NVIDIA L4", Count: 1}, {CPU: "cpu3g", Count: 2, MemoryGB: 8}})
	require.Len(t, choices, 1)
	require.Equal(t, "b", choices[0].hostID())
	require.False(t, p.known, "the rows are read before more is chosen")
	p.unchoose(choices, false)
	pod, err := c.CreatePod(t.Context(), "u", oneL4())
	require.NoError(t, err)
	require.Equal(t, []string{"0"}, pod.Devices)
}
