package compute_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestNetworkAddress_BlockIsOneSubnet(t *testing.T) {
	t.Parallel()
	for address, want := range map[compute.NetworkAddress][2]string{
		compute.FirstInBlock:                              {"10.64.0.2", "10.64.0.0/20"},
		compute.LastInBlock:                               {"10.64.15.254", "10.64.0.0/20"},
		compute.BlockSize + compute.FirstInBlock:          {"10.64.16.2", "10.64.16.0/20"},
		(compute.NetworkBlocks-1)*compute.BlockSize + 300: {"10.127.241.44", "10.127.240.0/20"},
	} {
		require.Equal(t, want[0], address.IP().String())
		require.Equal(t, want[1], address.Subnet().String())
	}
}
