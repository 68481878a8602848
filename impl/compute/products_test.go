package compute_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestSameGPU(t *testing.T) {
	t.Parallel()
	for _, names := range [][2]string{
		{"NVIDIA A100-SXM4-80GB", "NVIDIA-A100-SXM4-80GB"}, {"NVIDIA GeForce RTX 4090", "NVIDIA-GeForce-RTX-4090-SHARED"},
		{"NVIDIA H100 80GB HBM3", "nvidia-h100-80gb-hbm3"}, {"Tesla V100-PCIE-16GB", "NVIDIA-Tesla-V100-PCIE-16GB"},
	} {
		require.True(t, compute.SameGPU(names[0], names[1]), names)
	}
	for _, names := range [][2]string{
		{"NVIDIA A100-SXM4-80GB", "NVIDIA-A100-SXM4-40GB"}, {"NVIDIA L4", "NVIDIA-L40"}, {"NVIDIA H100 80GB HBM3", "NVIDIA-H100-80GB-HBM3-MIG-1g.10gb"},
		{"", ""}, {"NVIDIA", "AMD"},
	} {
		require.False(t, compute.SameGPU(names[0], names[1]), names)
	}
}
