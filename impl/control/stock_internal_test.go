package control

import (
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

const rtx4090 = "NVIDIA GeForce RTX 4090"

// rtx is a host with so many GPUs of a type that both clouds sell, and endpoints take.
func rtx(center string, cloud compute.Cloud, count int64, cuda string) Host {
	return Host{
		ID: center + "/" + string(cloud) + "/" + cuda, DataCenterID: center, Cloud: cloud, GPU: rtx4090, GPUCount: count, CUDAVersion: cuda,
		VCPUs: 8 * count, MemoryGB: 64 * count, DiskGB: 1000,
	}
}

func TestStockOf_HasThePublishedLevels(t *testing.T) {
	t.Parallel()
	for places, stock := range map[int64]Stock{-1: StockNone, 0: StockNone, 1: StockLow, 4: StockLow, 5: StockMedium, 15: StockMedium, 16: StockHigh} {
		require.Equal(t, stock, stockOf(places), places)
	}
}

func TestHost_Places_AreBoundByWhatIsLeastLeft(t *testing.T) {
	t.Parallel()
	catalog, err := builtIn()
	require.NoError(t, err)
	host := small()[0] // 4 GPUs, 32 vCPUs, 180 GB, 300 GB of disk
	host.CPUs = []string{"cpu3g"}
	p := PrepareFleet(catalog, []Host{host}).placement
	h := &p.hosts[0]
	for _, c := range []struct {
		want   want
		places int64
	}{
		{want{GPU: "NVIDIA L4", Count: 1, DiskGB: 1}, 4},
		{want{GPU: "NVIDIA L4", Count: 2, DiskGB: 1}, 2},
		{want{GPU: "NVIDIA L4", Count: 3, DiskGB: 1}, 1},
		{want{GPU: "NVIDIA L4", Count: 5, DiskGB: 1}, 0},
		{want{GPU: "NVIDIA L4", Count: 1, DiskGB: 100}, 3},
		{want{GPU: "NVIDIA L4", Count: 1, DiskGB: 100, PersistentGB: 50}, 2},
		{want{GPU: "NVIDIA L4", Count: 1, DiskGB: 1, Needs: Needs{LeastDiskGB: 300}}, 4},
		{want{GPU: "NVIDIA L4", Count: 1, DiskGB: 1, Needs: Needs{LeastDiskGB: 301}}, 0},
		{want{CPU: "cpu3g", Count: 8, MemoryGB: 32, DiskGB: 1}, 4},
		{want{CPU: "cpu3g", Count: 2, MemoryGB: 64, DiskGB: 1}, 2},
		{want{CPU: "cpu3g"}, 0},
	} {
		require.Equal(t, c.places, h.places(&c.want), "%+v", c.want)
	}
	h.free = amount{gpus: -1, vcpus: 32, memoryGB: 180, diskGB: 300}
	require.Zero(t, h.places(&want{GPU: "NVIDIA L4", Count: 1, DiskGB: 1}), "it has less than nothing left")
}

func TestPlacement_Places_AreCountedByDataCenterAndByCUDA(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{
		rtx("EU-RO-1", compute.Secure, 2, "12.4,12.8"), rtx("EU-CZ-1", compute.Secure, 1, "12.8"), rtx("US-KS-2", compute.Community, 4, "12.8"),
	})
	count := func(w want) places {
		w.GPU, w.DiskGB = rtx4090, 20
		w.Count = max(1, w.Count)
		return c.placement.places(w)
	}
	old, late := cudaVersion{12, 4}, cudaVersion{12, 8}

	require.Equal(t, places{
		all: 7, byCenter: map[string]int64{"EU-RO-1": 2, "EU-CZ-1": 1, "US-KS-2": 4}, byCUDA: map[cudaVersion]int64{old: 2, late: 7},
	}, count(want{}))
	require.Equal(t, places{all: 3, byCenter: map[string]int64{"EU-RO-1": 2, "EU-CZ-1": 1}, byCUDA: map[cudaVersion]int64{old: 2, late: 3}}, count(want{Cloud: compute.Secure}))
	require.Equal(t, places{all: 3, byCenter: map[string]int64{"EU-RO-1": 1, "EU-CZ-1": 0, "US-KS-2": 2}, byCUDA: map[cudaVersion]int64{old: 1, late: 3}}, count(want{Count: 2}))
	require.Equal(t, places{all: 2, byCenter: map[string]int64{"EU-RO-1": 2}, byCUDA: map[cudaVersion]int64{old: 2}}, count(want{Needs: Needs{CUDAVersions: []string{"12.4"}}}))
	require.Equal(t, map[cudaVersion]int64{late: 7}, count(want{Needs: Needs{LeastCUDA: "12.5"}}).byCUDA)
	require.Equal(t, places{byCenter: map[string]int64{}, byCUDA: map[cudaVersion]int64{}}, count(want{DataCenterIDs: []string{"AP-JP-1"}}))
}

func TestPlacement_Places_AreOfWhatACloudSells(t *testing.T) {
	t.Parallel()
	many := rtx("EU-RO-1", compute.Secure, 20, "12.8")
	unsold := l4s("unsold", 8)
	unsold.Cloud = compute.Community
	c := openControl(t, openStore(t), []Host{many, unsold})
	for count, all := range map[int64]int64{9: 2, 10: 0} { // a pod can have 9
		w := want{GPU: rtx4090, Count: count, DiskGB: 1, Cloud: compute.Secure}
		require.Equal(t, all, c.placement.places(w).all, count)
		require.Equal(t, all > 0, c.placement.hasPlace(&w), count)
	}

	l4 := want{GPU: "NVIDIA L4", Count: 1, DiskGB: 1}
	r := c.placement.places(l4)
	require.Zero(t, r.all)
	require.Equal(t, map[string]int64{"EU-RO-1": 0}, r.byCenter, "it is there, for nobody")
	l4.Cloud = compute.Community
	require.False(t, c.placement.hasPlace(&l4))
	require.False(t, c.catalog.sells(want{CPU: "cpu3g", Count: 3}, compute.Secure))
	require.True(t, c.catalog.sells(want{CPU: "cpu3g", Count: 4}, compute.Secure))
	require.False(t, c.catalog.sells(want{CPU: "none", Count: 4}, compute.Secure))
}

func TestPlacement_Availability_IsTheBestOfTheProducts(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{
		rtx("US-KS-2", compute.Community, 8, "12.4"), rtx("EU-RO-1", compute.Secure, 3, "12.8"), rtx("EU-CZ-1", compute.Secure, 1, "12.8"),
	})
	free := func(q AvailabilityQuery, products ...Product) Availability {
		t.Helper()
		q.Include, q.Products = true, products
		gpu, err := c.GPUType(rtx4090, q)
		require.NoError(t, err)
		return *gpu.Availability
	}
	romania := func(s Stock) ResourceStock { return ResourceStock{"EU-RO-1", "EU Romania 1", s} }
	czechia := func(s Stock) ResourceStock { return ResourceStock{"EU-CZ-1", "EU Czechia 1", s} }
	kansas := ResourceStock{"US-KS-2", "US Kansas 2", StockMedium}
	both := []CUDAStock{{"12.8", true}, {"12.4", true}}

	forPods := Availability{Stock: StockMedium, DataCenters: []ResourceStock{romania(StockLow), czechia(StockLow), kansas}, CUDA: both}
	require.Equal(t, forPods, free(AvailabilityQuery{}, ForPod))
	require.Equal(t, Availability{
		Stock: StockLow, DataCenters: []ResourceStock{romania(StockLow), czechia(StockNone)}, CUDA: both[:1],
	}, free(AvailabilityQuery{}, ForCluster), "two of a cluster are in one data center")
	require.Equal(t, Availability{
		Stock: StockLow, DataCenters: []ResourceStock{romania(StockLow), czechia(StockLow)}, CUDA: both[:1],
	}, free(AvailabilityQuery{}, ForServerless))
	require.Equal(t, forPods, free(AvailabilityQuery{}, ForCluster, ForPod, ForServerless))
	require.Equal(t, Availability{Stock: StockNone, DataCenters: []ResourceStock{}, CUDA: []CUDAStock{}}, free(AvailabilityQuery{Cloud: compute.Community}, ForCluster, ForServerless))
	require.Equal(t, StockNone, free(AvailabilityQuery{Count: 9}, ForPod).Stock)

	none, err := c.GPUType(rtx4090, AvailabilityQuery{})
	require.NoError(t, err)
	require.Nil(t, none.Availability)
}

func TestPlacement_Availability_OfClustersIsForTwoOfOneVersion(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{rtx("EU-RO-1", compute.Secure, 1, "12.4"), rtx("EU-RO-1", compute.Secure, 1, "12.8"), rtx("EU-CZ-1", compute.Secure, 1, "12.8")})
	gpu, err := c.GPUType(rtx4090, AvailabilityQuery{Include: true, Products: []Product{ForCluster}})
	require.NoError(t, err)
	require.Equal(t, StockLow, gpu.Availability.Stock)
	require.Equal(t, []CUDAStock{{"12.8", false}, {"12.4", false}}, gpu.Availability.CUDA)

	unpooled := rtx("EU-RO-1", compute.Secure, 8, "12.8")
	unpooled.GPU = "NVIDIA H200 NVL"
	c = openControl(t, openStore(t), []Host{unpooled})
	for product, stock := range map[Product]Stock{ForServerless: StockNone, ForPod: StockMedium, ForCluster: StockLow} {
		gpu, err := c.GPUType(unpooled.GPU, AvailabilityQuery{Include: true, Products: []Product{product}})
		require.NoError(t, err)
		require.Equal(t, stock, gpu.Availability.Stock, "%s", product)
	}
}

func TestControl_PublicTemplates_AreBounded(t *testing.T) {
	t.Parallel()
	c := &Control{}
	for i := range maxTemplates + 5 {
		c.catalog.Templates = append(c.catalog.Templates, PublicTemplate{ID: strconv.Itoa(i), Source: "verified"}, PublicTemplate{ID: "o" + strconv.Itoa(i), Source: "official"})
	}
	list := c.PublicTemplates("verified")
	require.Len(t, list, 100)
	require.Equal(t, "99", list[99].ID)
	require.Equal(t, []PublicTemplate{}, c.PublicTemplates("community"))
}
