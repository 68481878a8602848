package control

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestPlacement_ReportsEachLookWithItsOutcome(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), small())
	var looks []string
	c.placement.options.Looked = func(who string, o Outcome) { looks = append(looks, who+" "+string(o)) }
	create := func(gpu string, count int64) {
		_, _ = c.CreatePod(t.Context(), "u", NewPod{Name: "a", Image: "i", GPU: &compute.GPU{ID: gpu, Count: count}, DiskGB: 1})
	}
	create("NVIDIA L4", 4)
	create("NVIDIA L4", 4)
	create("NVIDIA A40", 1)

	_, _, err := c.placement.StartWorker(t.Context(), "w", compute.Endpoint{ID: "e", DiskGB: 1, CPUs: []compute.CPU{{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}}}, nil)
	require.NoError(t, err)
	require.Equal(t, []string{"pod placed", "pod full", "pod no_host", "worker placed"}, looks)
}

func TestPlacement_Supplies_AreSummedByDataCenterAndType(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), small())
	_, err := c.CreatePod(t.Context(), "u", NewPod{Name: "a", Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 3}, DataCenterIDs: []string{"EU-RO-1"}, DiskGB: 1})
	require.NoError(t, err)
	require.Equal(t, []Supply{
		{"", "AP-JP-1", 24, 24}, {"NVIDIA L4", "AP-JP-1", 1, 1},
		{"", "EU-RO-1", 48, 24}, {"NVIDIA L4", "EU-RO-1", 6, 3},
		{"", "US-KS-2", 10, 10},
	}, c.placement.Supplies())
}

func TestPlacement_Supplies_OfAHostThatHasBecomeSmaller(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	c := openControl(t, s, []Host{l4s("a", 2), l4s("b", 1)})
	_, err := c.CreatePod(t.Context(), "u", gpuPod(2))
	require.NoError(t, err)
	again := openControl(t, s, []Host{l4s("a", 1), l4s("b", 1)})
	require.Equal(t, []Supply{{"", "EU-RO-1", 16, 8}, {"NVIDIA L4", "EU-RO-1", 2, 1}}, again.placement.Supplies(), "what is too much on one is not missing on the other")
}
