package graphql

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

func TestDataCenterView_HasWordsForTheRegion(t *testing.T) {
	t.Parallel()
	for region, want := range map[string]string{"EUROPE": "Europe", "NORTH_AMERICA": "North America", "ATLANTIS": "ATLANTIS"} {
		v := dataCenterView(control.DataCenter{ID: "X-1", Name: "Somewhere 1", Region: region})
		require.Equal(t, want, *v.Location)
		require.Equal(t, []string{"X-1", "X-1"}, []string{*v.ID, *v.Name})
		require.True(t, *v.Listed)
		require.False(t, *v.StorageSupport, "no volume can be made there")
	}
	require.True(t, *dataCenterView(control.DataCenter{VolumeTypes: []string{"STANDARD"}}).StorageSupport)
}

func TestGPUTypeView_HasWhatEachCloudOffers(t *testing.T) {
	t.Parallel()
	secure, community := &control.GPUOffer{Price: 0.5, SpotPrice: 0.3, MaxCount: 4}, &control.GPUOffer{Price: 0.4, SpotPrice: 0.2, MaxCount: 9}
	v := gpuTypeView(control.GPUType{ID: "a", Name: "A", Manufacturer: "NVIDIA", MemoryGB: 24, Secure: secure, Community: community})
	require.Equal(t, "Nvidia", *v.Manufacturer)
	require.Equal(t, []bool{true, true}, []bool{*v.SecureCloud, *v.CommunityCloud})
	require.Equal(t, []int{24, 1, 9, 4, 9}, []int{*v.MemoryInGb, *v.MinPodGpuCount, *v.MaxGpuCount, *v.MaxGpuCountSecureCloud, *v.MaxGpuCountCommunityCloud})
	require.Equal(t, []float64{0.5, 0.3, 0.4, 0.2}, []float64{*v.SecurePrice, *v.SecureSpotPrice, *v.CommunityPrice, *v.CommunitySpotPrice})

	v = gpuTypeView(control.GPUType{ID: "b", Manufacturer: "AMD", Secure: secure})
	require.Equal(t, "AMD", *v.Manufacturer)
	require.Equal(t, []bool{true, false}, []bool{*v.SecureCloud, *v.CommunityCloud})
	require.Equal(t, []int{4, 4, 0}, []int{*v.MaxGpuCount, *v.MaxGpuCountSecureCloud, *v.MaxGpuCountCommunityCloud})
	require.Equal(t, []float64{0, 0}, []float64{*v.CommunityPrice, *v.CommunitySpotPrice})
}

func TestLowestPriceView_IsOfAllTheGPUs(t *testing.T) {
	t.Parallel()
	gpu := control.GPUType{ID: "a", Name: "A", VCPUPerGPU: 6, MemoryGBPerGPU: 31}
	v := lowestPriceView(gpu, 3, control.Quote{
		Cloud: compute.Secure, Price: 1.5, LeastBid: 0.75, Stock: control.StockLow, Counts: []int64{1, 2, 4}, CUDA: []control.CUDAStock{{Version: "12.8", Available: true}, {Version: "12.4"}},
	})
	require.Equal(t, []int{18, 93, 4, 4}, []int{*v.MinVcpu, *v.MinMemory, *v.MaxGpuCount, *v.MaxUnreservedGpuCount})
	require.Equal(t, []float64{1.5, 0.75}, []float64{*v.UninterruptablePrice, *v.MinimumBidPrice})
	require.Equal(t, []string{"Low", "A", "a"}, []string{*v.StockStatus, *v.GpuName, *v.GpuTypeID})
	require.Equal(t, []*int{new(1), new(2), new(4)}, v.AvailableGpuCounts)
	require.Equal(t, []*graph.GpuTypeCudaVersion{
		{CudaVersion: new("12.8"), Availability: new("AVAILABLE")}, {CudaVersion: new("12.4"), Availability: new("UNAVAILABLE")},
	}, v.GpuTypeCudaVersions)

	none := lowestPriceView(gpu, 3, control.Quote{Stock: control.StockNone, Counts: []int64{1}})
	require.Equal(t, "None", *none.StockStatus)
	require.Equal(t, []*int{new(1)}, none.AvailableGpuCounts)
	require.Nil(t, none.GpuName)
	require.Nil(t, none.UninterruptablePrice)
}

func TestGPUTypes_OfClustersAreNone(t *testing.T) {
	t.Parallel()
	s := emptyServices(t)
	whole := len(s.Control.Catalog().GPUs)
	for _, of := range []struct {
		input *graph.GpuTypeFilter
		want  int
	}{
		{nil, whole}, {&graph.GpuTypeFilter{}, whole}, {&graph.GpuTypeFilter{Cluster: new(false)}, whole}, {&graph.GpuTypeFilter{Cluster: new(true)}, 0},
		{&graph.GpuTypeFilter{ID: new("NVIDIA L4"), Ids: []*string{new("NVIDIA L40"), nil}}, 2}, {&graph.GpuTypeFilter{ID: new("")}, whole},
	} {
		list, err := queries{s}.GpuTypes(t.Context(), of.input)
		require.NoError(t, err)
		require.NotNil(t, list)
		require.Len(t, list, of.want)
	}
}

func TestServerlessGpuPools_HaveEachTypeOnce(t *testing.T) {
	t.Parallel()
	s := emptyServices(t)
	want := map[string][]string{}
	for _, gpu := range s.Control.Catalog().GPUs {
		if gpu.Pool != "" {
			want[gpu.Pool] = append(want[gpu.Pool], gpu.ID)
		}
	}

	list, err := queries{s}.ServerlessGpuPools(t.Context())
	require.NoError(t, err)
	got := map[string][]string{}
	for _, pool := range list {
		require.NotContains(t, got, *pool.ID, "a pool stands twice")
		for _, id := range pool.GpuTypeIds {
			got[*pool.ID] = append(got[*pool.ID], *id)
		}
	}
	require.Equal(t, want, got)
}

func TestCPUFlavors_OfWorkersAreThoseWithAPriceForThem(t *testing.T) {
	t.Parallel()
	s := servicesOf(t, func(c *control.Catalog) { c.CPUs[1].ServerlessPricePerVCPU = 0 })
	var all, workers []string
	for i, f := range s.Control.Catalog().CPUs {
		if all = append(all, f.ID); i != 1 {
			workers = append(workers, f.ID)
		}
	}
	for _, of := range []struct {
		input *graph.CPUFlavorInput
		want  []string
	}{
		{nil, all}, {&graph.CPUFlavorInput{IsSls: new(false)}, all}, {&graph.CPUFlavorInput{IsSls: new(true)}, workers}, {&graph.CPUFlavorInput{ID: &all[0], IsSls: new(true)}, all[:1]},
		{&graph.CPUFlavorInput{ID: &all[1]}, all[1:2]}, {&graph.CPUFlavorInput{ID: &all[1], IsSls: new(true)}, nil},
	} {
		list, err := queries{s}.CPUFlavors(t.Context(), of.input)
		require.NoError(t, err)
		var ids []string
		for _, f := range list {
			ids = append(ids, *f.ID)
			require.False(t, *f.VcpuBurstable)
		}
		require.Equal(t, of.want, ids)
	}
}

func TestTemplateView_SaysWhatItHasNot(t *testing.T) {
	t.Parallel()
	s := emptyServices(t)
	v := s.templateView(compute.Template{ID: "t", UserID: "u", Ports: []string{"22/tcp", "80/http"}, PortNames: map[string]string{"80": "Page"}, RegistryID: "r"}, "u")
	require.Equal(t, []bool{false, false}, []bool{*v.AdvancedStart, *v.IsRunpod})
	require.Zero(t, *v.VolumeInGb)
	require.Nil(t, v.VolumeMountPath)
	require.Equal(t, "22/tcp,80/http", *v.Ports)
	require.Equal(t, []*graph.TemplatePortConfig{{Port: new("22")}, {Port: new("80"), Name: new("Page")}}, v.PortsConfig)
	require.Equal(t, "r", *v.ContainerRegistryAuthID)
}
