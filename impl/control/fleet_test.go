package control_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// bareHost has the least of all that a host may have.
const bareHost = `{"id":"a","dataCenterId":"EU-RO-1","cloud":"COMMUNITY","gpu":"NVIDIA L4","gpuCount":2,"gpuDevices":["x","y"],"vcpus":0,"memoryGb":0,"diskGb":0,"downloadMbps":0,"uploadMbps":0}`

func TestFleet_NamesEachMemberThatMakesNoSense(t *testing.T) {
	t.Parallel()
	c, _ := builtIn(t)
	for _, taken := range [][2]string{{"", ""}, {`"gpuCount":2,"gpuDevices":["x","y"]`, `"gpuCount":0`}, {`,"gpuDevices":["x","y"]`, ``}, {`"gpuDevices":["x","y"]`, `"gpuDevices":[]`}} {
		_, err := control.LoadFleet(write(t, `{"hosts":[`+strings.Replace(bareHost, taken[0], taken[1], 1)+`]}`), c)
		require.NoError(t, err, "%s", taken)
	}

	for change, want := range map[[2]string]string{
		{`"gpuCount":2`, `"gpuCount":3`}:                                     `hosts[0].gpuDevices must name gpuCount devices, or none`,
		{`"gpuCount":2,"gpuDevices":["x","y"]`, `"gpuCount":-1`}:             `hosts[0].gpuCount must be 0 without a gpu, and never negative`,
		{`["x","y"]`, `["x","x"]`}:                                           `hosts[0].gpuDevices[1] "x" stands twice`,
		{`["x","y"]`, `["x",""]`}:                                            `hosts[0].gpuDevices[1] is missing`,
		{`"vcpus":0`, `"vcpus":-1`}:                                          `hosts[0].vcpus must not be negative`,
		{`"memoryGb":0`, `"memoryGb":-1`}:                                    `hosts[0].memoryGb must not be negative`,
		{`"diskGb":0`, `"diskGb":-1`}:                                        `hosts[0].diskGb must not be negative`,
		{`"id":"a"`, `"id":"a","cpus":["cpu3g","none"]`}:                     `hosts[0].cpus[1] "none" is not in the catalog`,
		{`"id":"a"`, `"id":"a","engine":"box"`}:                              `hosts[0].engine is "box"; it must be like tcp://10.0.0.7:2376, ssh://user@box or unix:///run/docker.sock` + "\n" + `hosts[0].diskGb must be given: an engine does not say how much disk its host has`,
		{`"id":"a"`, `"id":"a","rack":7`}:                                    `json: unknown field "rack"`,
		{`"cloud":"COMMUNITY","gpu":"NVIDIA L4"`, `"cloud":"","gpu":"none"`}: `hosts[0].cloud is ""; it must be one of [SECURE COMMUNITY]` + "\n" + `hosts[0].gpu "none" is not in the catalog`,
	} {
		require.Contains(t, bareHost, change[0])
		path := write(t, `{"hosts":[`+strings.Replace(bareHost, change[0], change[1], 1)+`]}`)
		_, err := control.LoadFleet(path, c)
		require.EqualError(t, err, path+": "+want)
	}
	_, err := control.LoadFleet(write(t, `{"hosts":[]}{}`), c)
	require.ErrorContains(t, err, "there is more after the JSON document")
}

func TestFleet_SimulatedHostsAreHuge(t *testing.T) {
	t.Parallel()
	offer := &control.GPUOffer{Price: 1, MaxCount: 1}
	c := control.Catalog{
		GPUs: []control.GPUType{
			{ID: "n", Manufacturer: "NVIDIA", Secure: offer, VCPUPerGPU: 16, MemoryGBPerGPU: 50},
			{ID: "m", Manufacturer: "AMD", Secure: offer, Community: offer, VCPUPerGPU: 8, MemoryGBPerGPU: 20},
		},
		CPUs:        []control.CPUFlavor{{ID: "c", MemoryPerVCPU: 2}, {ID: "g", MemoryPerVCPU: 8}, {ID: "h", MemoryPerVCPU: 4}},
		DataCenters: []control.DataCenter{{ID: "d"}},
		Templates:   []control.PublicTemplate{{CUDAVersions: []string{"12.85", "12.4"}}},
	}
	host := func(id string, cloud compute.Cloud) control.Host {
		return control.Host{ID: id, DataCenterID: "d", Cloud: cloud, DiskGB: 1_000_000_000_000, DownloadMbps: 10_000, UploadMbps: 10_000}
	}
	cpus := func(id string, cloud compute.Cloud) control.Host {
		h := host(id, cloud)
		h.CPUs, h.VCPUs, h.MemoryGB = []string{"c", "g", "h"}, 500_000, 4_000_000
		return h
	}
	amd := func(id string, cloud compute.Cloud) control.Host {
		h := host(id, cloud)
		h.GPU, h.GPUCount, h.VCPUs, h.MemoryGB = "m", 10_000, 80_000, 200_000
		return h
	}
	nvidia := host("d/SECURE/n", compute.Secure)
	nvidia.GPU, nvidia.GPUCount, nvidia.VCPUs, nvidia.MemoryGB = "n", 10_000, 160_000, 500_000
	nvidia.CUDAVersion = "11.8,12.0,12.1,12.2,12.3,12.4,12.5,12.6,12.7,12.8,12.85,12.9,13.0"

	require.Equal(t, []control.Host{
		cpus("d/SECURE/cpu", compute.Secure), nvidia, amd("d/SECURE/m", compute.Secure), cpus("d/COMMUNITY/cpu", compute.Community), amd("d/COMMUNITY/m", compute.Community),
	}, control.SimulatedFleet(c))
}
