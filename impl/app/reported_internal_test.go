package app

import (
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
)

func TestReported_AMachineForGPUsAloneTakesNoCPUPods(t *testing.T) {
	t.Parallel()
	r := &reported{log: slog.New(slog.DiscardHandler), unknown: map[string]bool{}, catalog: control.Catalog{
		DataCenters: []control.DataCenter{{ID: "EU-RO-1"}}, CPUs: []control.CPUFlavor{{ID: "cpu3g"}}, GPUs: []control.GPUType{{ID: "NVIDIA L4"}},
	}}
	report := runtime.HostReport{ID: "n1", GPUProduct: "NVIDIA-L4", Has: runtime.HostSize{GPUs: 2, VCPUs: 8, MemoryGB: 32, DiskGB: 100}, Ready: true}
	require.Len(t, r.host(report).CPUs, 1)
	report.GPUsAlone = true
	h := r.host(report)
	require.Empty(t, h.CPUs)
	require.Equal(t, int64(2), h.GPUCount)
	require.False(t, h.Draining)
}
