package control

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestAvailabilityQuery_RefusesWhatDoesNotGoTogether(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), nil)
	pods, some := []Product{ForPod}, []string{"12.8"}
	for _, one := range []struct {
		query   AvailabilityQuery
		refused string // empty: it is taken
	}{
		{AvailabilityQuery{}, ""},
		{AvailabilityQuery{Include: true, Products: pods}, ""},
		{AvailabilityQuery{Include: true, Products: pods, Count: 2, Cloud: compute.Secure, Countries: []string{"RO"}, CUDAVersions: some}, ""},
		{AvailabilityQuery{Include: true, Products: pods, LeastCUDA: "12.8"}, ""},
		{AvailabilityQuery{Include: true}, "include: AVAILABILITY needs product"},
		{AvailabilityQuery{Products: pods}, "product needs include=AVAILABILITY"},
		{AvailabilityQuery{Include: true, Products: pods, CUDAVersions: some, LeastCUDA: "12.8"}, "cudaVersions and minCudaVersion cannot both be set"},
		{AvailabilityQuery{Cloud: compute.Secure}, "cloud needs include=AVAILABILITY"},
		{AvailabilityQuery{Countries: []string{}}, "countryCodes needs include=AVAILABILITY"},
		{AvailabilityQuery{CUDAVersions: []string{}}, "cudaVersions needs include=AVAILABILITY"},
		{AvailabilityQuery{LeastCUDA: "12.8"}, "minCudaVersion needs include=AVAILABILITY"},
	} {
		gpus, ofGPUs := c.GPUTypes(one.query)
		_, ofGPU := c.GPUType("NVIDIA L4", one.query)
		cpus, ofCPUs := c.CPUFlavors(one.query)
		_, ofCPU := c.CPUFlavor("cpu3g", one.query)
		for _, err := range []error{ofGPUs, ofGPU, ofCPUs, ofCPU} {
			if one.refused == "" {
				require.NoError(t, err, "%+v", one.query)
				continue
			}
			require.Equal(t, compute.Rejected, compute.CodeOf(err), "%+v", one.query)
			require.ErrorContains(t, err, one.refused)
		}
		if one.refused == "" {
			require.Len(t, gpus, len(c.catalog.GPUs))
			require.Len(t, cpus, len(c.catalog.CPUs))
			require.Equal(t, one.query.Include, gpus[0].Availability != nil)
			require.Equal(t, one.query.Include, cpus[0].Availability != nil)
		}
	}

	_, err := c.GPUTypes(AvailabilityQuery{Count: 1})
	require.ErrorContains(t, err, "REJECTED: count needs include=AVAILABILITY")
	_, err = c.CPUFlavors(AvailabilityQuery{Count: 1})
	require.ErrorContains(t, err, "REJECTED: vcpuCount needs include=AVAILABILITY")
	_, err = c.GPUType("none", AvailabilityQuery{})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	_, err = c.CPUFlavor("none", AvailabilityQuery{})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func TestControl_DataCenters_ShowWhatIsFreeThere(t *testing.T) {
	t.Parallel()
	host := l4s("a", 5)
	host.CPUs = []string{"cpu3g"} // 40 vCPUs, and 40 GB: for five pods with two vCPUs and 8 GB
	c := openControl(t, openStore(t), []Host{host})
	one, err := c.DataCenter("EU-RO-1", DataCenterQuery{GPUs: true, CPUs: true})
	require.NoError(t, err)
	require.Len(t, one.GPUs, len(c.catalog.GPUs))
	require.Len(t, one.CPUs, len(c.catalog.CPUs))
	require.Contains(t, one.GPUs, ResourceStock{"NVIDIA L4", "L4", StockMedium})
	require.Contains(t, one.CPUs, ResourceStock{"cpu3g", "General", StockMedium})
	require.Contains(t, one.CPUs, ResourceStock{"cpu3c", "Compute-Optimized", StockNone})
	_, err = c.DataCenter("none", DataCenterQuery{})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))

	all := c.DataCenters(DataCenterQuery{GPUs: true})
	require.Len(t, all, len(c.catalog.DataCenters))
	for _, d := range all {
		stock := StockNone
		if d.ID == "EU-RO-1" {
			stock = StockMedium
		}
		require.Contains(t, d.GPUs, ResourceStock{"NVIDIA L4", "L4", stock})
		require.Nil(t, d.CPUs, "nobody asked for them")
	}
	for _, d := range c.DataCenters(DataCenterQuery{CPUs: true}) {
		require.Nil(t, d.GPUs)
	}
}

func TestDataCenter_MatchesWhatIsAskedFor(t *testing.T) {
	t.Parallel()
	catalog, err := builtIn()
	require.NoError(t, err)
	d, _ := catalog.DataCenter("EUR-IS-1") // without a global network
	for _, c := range []struct {
		query   DataCenterQuery
		matches bool
	}{
		{DataCenterQuery{}, true},
		{DataCenterQuery{Regions: []string{"ASIA", "EUROPE"}}, true},
		{DataCenterQuery{Regions: []string{"ASIA"}}, false},
		{DataCenterQuery{VolumeTypes: []string{"STANDARD"}}, true},
		{DataCenterQuery{VolumeTypes: []string{"STANDARD", "HIGH_PERFORMANCE"}}, false},
		{DataCenterQuery{Compliance: []string{"GDPR", "RENEWABLE"}}, true},
		{DataCenterQuery{Compliance: []string{"GDPR", "HIPAA"}}, false},
		{DataCenterQuery{GlobalNetwork: new(false)}, true},
		{DataCenterQuery{GlobalNetwork: new(true)}, false},
	} {
		require.Equal(t, c.matches, d.matches(c.query), "%+v", c.query)
	}
}
