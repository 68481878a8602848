package docker

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestReadGPUs_ReadsLineByLine(t *testing.T) {
	t.Parallel()
	text := "0, GPU-aa, 37, 1024, 4096\n1, GPU-bb, [N/A], 0, 4096\nno line\n2, GPU-cc, 100, 4096, 4096\n"
	first, third := compute.GPUUse{Percent: 37, MemoryPercent: 25}, compute.GPUUse{Percent: 100, MemoryPercent: 100}
	require.Equal(t, map[string]compute.GPUUse{"0": first, "GPU-aa": first, "2": third, "GPU-cc": third}, readGPUs(text))
}
