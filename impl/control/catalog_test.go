package control_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/control"
)

func write(t *testing.T, text string) string {
	path := filepath.Join(t.TempDir(), "file.json")
	require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
	return path
}

func builtIn(t *testing.T) (control.Catalog, string) {
	c, err := control.BuiltInCatalog()
	require.NoError(t, err)
	text, err := os.ReadFile("catalog.json")
	require.NoError(t, err)
	return c, string(text)
}

func TestCatalog_BuiltInIsAFileLikeAnOperators(t *testing.T) {
	t.Parallel()
	want, text := builtIn(t)
	have, err := control.LoadCatalog(write(t, text))
	require.NoError(t, err)
	require.Equal(t, want, have)
}

func TestCatalog_TakesTheLeastOfEach(t *testing.T) {
	t.Parallel()
	const least = `{"gpus":[{"id":"g","name":"g","manufacturer":"NVIDIA","memoryGb":1,"secure":{"price":0,"spotPrice":0,"maxCount":1},"vcpuPerGpu":1,"memoryGbPerGpu":1}],
		"cpus":[{"id":"c","name":"c","memoryPerVcpuGb":1,"minVcpu":2,"maxVcpu":2}],"dataCenters":[{"id":"d","name":"d","region":"EUROPE","country":"RO"}],
		"templates":[{"id":"t","name":"t","image":"i","source":"official","category":"NVIDIA","diskGb":1,"persistent":{"sizeGb":10,"path":"/p"}}]}`
	_, err := control.LoadCatalog(write(t, least))
	require.NoError(t, err)
	for change, want := range map[[2]string]string{
		{`"memoryGb":1`, `"memoryGb":0`}:               `gpus[0].memoryGb must be at least 1`,
		{`"maxCount":1`, `"maxCount":0`}:               `gpus[0].secure.maxCount must be at least 1`,
		{`"spotPrice":0`, `"spotPrice":-0.1`}:          `gpus[0].secure.spotPrice must be at most the price, and not negative`,
		{`"vcpuPerGpu":1`, `"vcpuPerGpu":0`}:           `gpus[0].vcpuPerGpu must be at least 1`,
		{`"memoryGbPerGpu":1`, `"memoryGbPerGpu":0`}:   `gpus[0].memoryGbPerGpu must be at least 1`,
		{`"memoryPerVcpuGb":1`, `"memoryPerVcpuGb":0`}: `cpus[0].memoryPerVcpuGb must be at least 1`,
		{`"minVcpu":2`, `"minVcpu":1`}:                 `cpus[0].minVcpu must be a power of two, at least 2`,
		{`"diskGb":1`, `"diskGb":0`}:                   `templates[0].diskGb must be at least 1`,
		{`"sizeGb":10`, `"sizeGb":9`}:                  `templates[0].persistent needs a sizeGb of at least 10 and a path`,
	} {
		require.Contains(t, least, change[0])
		path := write(t, strings.Replace(least, change[0], change[1], 1))
		_, err := control.LoadCatalog(path)
		require.EqualError(t, err, path+": "+want)
	}
}

func TestCatalog_NamesWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	_, text := builtIn(t)
	for change, want := range map[[2]string]string{
		{`"id": "NVIDIA L4"`, `"id": "NVIDIA L40"`}:                                                     `gpus[7].id "NVIDIA L40" stands twice`,
		{`"id": "NVIDIA L4"`, `"id": ""`}:                                                               `gpus[6].id is missing`,
		{`"name": "L4"`, `"name": ""`}:                                                                  `gpus[6].name is missing`,
		{`"manufacturer": "AMD"`, `"manufacturer": "Amd"`}:                                              `gpus[26].manufacturer is "Amd"; it must be one of [NVIDIA AMD UNKNOWN]`,
		{`"memoryGb": 10,`, `"memoryGb": 0,`}:                                                           `gpus[3].memoryGb must be at least 1`,
		{`"secure": {"price": 0.69, "spotPrice": 0.35, "maxCount": 9}`, `"secure": {"price": -1}`}:      `gpus[0].secure.price must not be negative` + "\n" + `gpus[0].secure.maxCount must be at least 1`,
		{`"secure": {"price": 0.69, "spotPrice": 0.35,`, `"secure": {"price": 0.69, "spotPrice": 0.7,`}: "gpus[0].secure.spotPrice must be at most the price, and not negative",
		{`"secure": {"price": 0.43, "spotPrice": 0.22, "maxCount": 10}, `, ``}:                          `gpus[6].secure or community must be there`,
		{`"minVcpu": 2`, `"minVcpu": 3`}:                                                                `cpus[0].minVcpu must be a power of two, at least 2`,
		{`"maxVcpu": 32`, `"maxVcpu": 512`}:                                                             `cpus[0].maxVcpu must be a power of two from minVcpu to 256`,
		{`"region": "ASIA"`, `"region": "Asia"`}:                                                        `dataCenters[17].region is "Asia"; it must be one of [NORTH_AMERICA SOUTH_AMERICA EUROPE ASIA MIDDLE_EAST AFRICA OCEANIA ANTARCTICA UNKNOWN]`,
		{`"country": "JP"`, `"country": "jpn"`}:                                                         `dataCenters[17].country is "jpn"; it must be two capital letters`,
		{`"source": "community"`, `"source": "mine"`}:                                                   `templates[7].source is "mine"; it must be one of [official verified community]`,
		{`"12.8", "13.0"]}`, `"12.8", "new"]}`}:                                                         `templates[2].allowedCudaVersions[1] is "new"; it must be like 12.8`,
		{`"gpus": [`, `"gpu": [`}:                                                                       `json: unknown field "gpu"`,
	} {
		require.Contains(t, text, change[0])
		path := write(t, strings.Replace(text, change[0], change[1], 1))
		_, err := control.LoadCatalog(path)
		require.EqualError(t, err, path+": "+want)
	}

	_, err := control.LoadCatalog(write(t, text+"{}"))
	require.ErrorContains(t, err, "there is more after the JSON document")
	_, err = control.LoadCatalog("nosuchfile.json")
	require.ErrorContains(t, err, "nosuchfile.json")
}

const hostA = `{"id":"a","dataCenterId":"EU-RO-1","cloud":"SECURE","gpu":"NVIDIA L4","gpuCount":4,"cudaVersion":"12.8","cpus":["cpu3g"],"vcpus":32,"memoryGb":180,"diskGb":900,"publicIp":false,"downloadMbps":500,"uploadMbps":100}`

func TestFleet_NamesWhatDoesNotFitTheCatalog(t *testing.T) {
	t.Parallel()
	c, _ := builtIn(t)
	hosts, err := control.LoadFleet(write(t, `{"hosts":[`+hostA+`]}`), c)
	require.NoError(t, err)
	require.Equal(t, []control.Host{{
		ID: "a", DataCenterID: "EU-RO-1", Cloud: "SECURE", GPU: "NVIDIA L4", GPUCount: 4, CUDAVersion: "12.8", CPUs: []string{"cpu3g"},
		VCPUs: 32, MemoryGB: 180, DiskGB: 900, PublicIP: new(bool), DownloadMbps: 500, UploadMbps: 100,
	}}, hosts)

	for change, want := range map[[2]string]string{
		{`"id":"a"`, `"id":""`}:                     `hosts[0].id is missing`,
		{`EU-RO-1`, `XX-YY-1`}:                      `hosts[0].dataCenterId "XX-YY-1" is not in the catalog`,
		{`"SECURE"`, `"secure"`}:                    `hosts[0].cloud is "secure"; it must be one of [SECURE COMMUNITY]`,
		{`NVIDIA L4`, `L4`}:                         `hosts[0].gpu "L4" is not in the catalog`,
		{`"gpu":"NVIDIA L4",`, ``}:                  `hosts[0].gpuCount must be 0 without a gpu, and never negative`,
		{`"12.8"`, `"latest"`}:                      `hosts[0].cudaVersion is "latest"; it must be like 12.8`,
		{`cpu3g`, `cpu9z`}:                          `hosts[0].cpus[0] "cpu9z" is not in the catalog`,
		{`"diskGb":900`, `"diskGb":-1`}:             `hosts[0].diskGb must not be negative`,
		{`"downloadMbps":500`, `"downloadMbps":-1`}: `hosts[0].downloadMbps must not be negative`,
		{`"uploadMbps":100`, `"uploadMbps":-1`}:     `hosts[0].uploadMbps must not be negative`,
		{`"gpuCount":4`, `"gpuCount":"4"`}:          `json: cannot unmarshal string into Go struct field Host.hosts.gpuCount of type int64`,
	} {
		require.Contains(t, hostA, change[0])
		path := write(t, `{"hosts":[`+strings.Replace(hostA, change[0], change[1], 1)+`]}`)
		_, err := control.LoadFleet(path, c)
		require.EqualError(t, err, path+": "+want)
	}

	_, err = control.LoadFleet(write(t, `{"hosts":[`+hostA+`,`+hostA+`]}`), c)
	require.ErrorContains(t, err, `hosts[1].id "a" stands twice`)
}

func TestFleet_SimulatedHasTheWholeCatalogEverywhere(t *testing.T) {
	t.Parallel()
	c, _ := builtIn(t)
	ids := map[string]bool{}
	has := map[string]int{}
	nvidia := map[string]bool{}
	for _, g := range c.GPUs {
		nvidia[g.ID] = g.Manufacturer == "NVIDIA"
	}

	for _, h := range control.SimulatedFleet(c) {
		require.False(t, ids[h.ID], h.ID)
		ids[h.ID] = true
		require.Equal(t, nvidia[h.GPU], h.CUDAVersion == "11.8,12.0,12.1,12.2,12.3,12.4,12.5,12.6,12.7,12.8,12.9,13.0", h.ID)
		if h.Cloud == "SECURE" {
			has[h.DataCenterID+h.GPU]++
		}
	}

	for _, d := range c.DataCenters {
		require.Equal(t, 1, has[d.ID], "hosts without GPUs")
		for _, g := range c.GPUs {
			require.Equal(t, g.Secure != nil, has[d.ID+g.ID] > 0, g.ID)
		}
	}
}

// Clients name them: the types that the public lists have, and the data centers that they place by default.
func TestCatalog_BuiltInHasWhatClientsName(t *testing.T) {
	t.Parallel()
	c, _ := builtIn(t)
	require.Len(t, c.GPUs, 45)
	for _, id := range []string{
		"NVIDIA B300 SXM6 AC", "NVIDIA H200 NVL", "NVIDIA GeForce RTX 5080", "NVIDIA RTX 5000 Ada Generation", "NVIDIA RTX PRO 4500 Blackwell",
		"NVIDIA RTX PRO 6000 Blackwell Server Edition", "NVIDIA RTX PRO 6000 Blackwell Max-Q Workstation Edition",
		"NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 1g.24gb", "NVIDIA RTX PRO 6000 Blackwell Server Edition MIG 2g.48gb", "Tesla V100-SXM2-16GB",
	} {
		_, known := c.GPU(id)
		require.True(t, known, id)
	}

	for _, id := range []string{
		"US-CA-2", "US-IL-1", "US-KS-2", "US-MO-1", "US-MO-2", "US-NC-2", "US-NE-1", "US-WA-1", "EU-CZ-1", "EU-RO-1", "EUR-NO-1", // of flash and the SDK
		"CA-MTL-1", "CA-MTL-2", "CA-MTL-3", "US-TX-1", "US-TX-3", "US-TX-4", "US-GA-1", "US-GA-2", "US-DE-1", "US-MD-1", "EUR-IS-3", "AP-JP-1", "OC-AU-1",
	} {
		d, known := c.DataCenter(id)
		require.True(t, known, id)
		require.NotEmpty(t, d.Country, id)
	}
}
