package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
)

func TestMachine_IsAHost(t *testing.T) {
	t.Parallel()
	c, err := control.BuiltInCatalog()
	require.NoError(t, err)
	h, err := machine(t.Context(), t.TempDir(), c)
	require.NoError(t, err)
	require.Positive(t, h.VCPUs)
	require.Positive(t, h.MemoryGB)
	require.Positive(t, h.DiskGB)
	require.Contains(t, h.CPUs, "cpu3g")
}

func TestMachine_GPUsAreThoseTheCatalogKnows(t *testing.T) {
	t.Parallel()
	c, err := control.BuiltInCatalog()
	require.NoError(t, err)
	const summary = "| NVIDIA-SMI 570.86  Driver Version: 570.86  CUDA Version: 12.8 |"
	for names, want := range map[string]control.Host{
		"GPU-a, NVIDIA GeForce RTX 4090\nGPU-b, NVIDIA GeForce RTX 4090\n":        {GPU: "NVIDIA GeForce RTX 4090", GPUCount: 2, CUDAVersion: "12.8", GPUDevices: []string{"GPU-a", "GPU-b"}},
		"GPU-a, NVIDIA T1000\nGPU-b, NVIDIA L4\nGPU-c, NVIDIA GeForce RTX 4090\n": {GPU: "NVIDIA L4", GPUCount: 1, CUDAVersion: "12.8", GPUDevices: []string{"GPU-b"}},
		"GPU-a, NVIDIA T1000\n":      {},
		"GPU-a, Tesla T4\nrubbish\n": {},
		"":                           {},
	} {
		require.Equal(t, want, gpusOf(names, summary, c), names)
	}
}

func gpusOf(list, summary string, c control.Catalog) control.Host {
	gpus, cuda := runtime.ParseGPUs(list, summary)
	return withGPUs(control.Host{}, gpus, cuda, c)
}
