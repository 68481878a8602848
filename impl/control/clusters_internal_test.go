package control

import (
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

// nvidia is a host with so many GPUs in the data center.
func nvidia(center string, count int64) Host {
	return Host{ID: "h" + center, DataCenterID: center, Cloud: compute.Secure, GPU: "NVIDIA L4", GPUCount: count, VCPUs: 64, MemoryGB: 256, DiskGB: 1000}
}

func TestControl_CreateCluster_SaysThatTheDataCenterOfItsVolumeIsFull(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{nvidia("EU-RO-1", 8), nvidia("US-KS-2", 1)})
	v, err := c.CreateVolume(t.Context(), "u", NewVolume{Name: "v", SizeGB: 10, DataCenterID: "US-KS-2"})
	require.NoError(t, err)
	for _, centers := range [][]string{nil, {"EU-RO-1", "US-KS-2"}, {"US-KS-2", "EU-RO-1"}} {
		_, err = c.CreateCluster(t.Context(), "u", NewCluster{Name: "c", PodCount: 2, Pod: NewPod{
			Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1}, Cloud: compute.Secure, DataCenterIDs: centers,
			Network: []compute.NetworkMount{{VolumeID: v.ID, Path: "/v"}},
		}})
		require.ErrorIs(t, err, ErrFull, "%v: the others do not have its volume", centers)
	}
}

func TestControl_CreateCluster_AtExactlyItsPrice(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{nvidia("EU-RO-1", 8)})
	offer, _ := c.catalog.GPU("NVIDIA L4")
	price := offer.Offer(compute.Secure).Price
	for most, code := range map[float64]compute.Code{price: "", math.Nextafter(price, 0): "", price - 1e-6: compute.Rejected} { // the second as a third of three
		_, err := c.newPod(t.Context(), "u", NewPod{Name: "p", Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1}, Cloud: compute.Secure, MaxCost: most})
		require.Equal(t, code, compute.CodeOf(err), most)
	}
}
