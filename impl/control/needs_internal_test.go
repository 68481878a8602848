package control

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestNeeds_WordsSayAllThatIsAskedFor(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		needs Needs
		words string
	}{
		{Needs{}, ""},
		{Needs{Countries: []string{"RO", "US"}}, ", country RO or US"},
		{Needs{Compliance: []string{"GDPR", "HIPAA"}}, ", compliance with GDPR and HIPAA"},
		{Needs{LeastVCPUs: 1}, ", with 1 vCPUs and 0 GB of memory at least"},
		{Needs{LeastMemoryGB: 1}, ", with 0 vCPUs and 1 GB of memory at least"},
		{Needs{CUDAVersions: []string{"12.4", "12.8"}}, ", CUDA 12.4 or 12.8"},
		{Needs{CUDAVersions: []string{"12.4"}, LeastCUDA: "12.1"}, ", CUDA 12.4 from 12.1"},
		{Needs{LeastCUDA: "12.8"}, ", CUDA from 12.8"},
		{Needs{LeastDiskGB: 1}, ", 1 GB of free disk"},
		{Needs{PublicIP: true}, ", with a public address"},
		{Needs{DownloadMbps: 1}, ", with 1 Mbit/s down and 0 up at least"},
		{Needs{UploadMbps: 1}, ", with 0 Mbit/s down and 1 up at least"},
	} {
		require.Equal(t, c.words, c.needs.words(), "%+v", c.needs)
	}
}

func TestHost_MeetsWhatItHasExactly(t *testing.T) {
	t.Parallel()
	catalog, err := builtIn()
	require.NoError(t, err)
	host := Host{
		ID: "a", DataCenterID: "EU-RO-1", Cloud: compute.Secure, GPU: "NVIDIA L4", GPUCount: 2, CUDAVersion: "12.4,12.8", VCPUs: 17, MemoryGB: 91, DiskGB: 100,
		PublicIP: new(false), DownloadMbps: 500, UploadMbps: 100,
	}
	open := host
	open.PublicIP = nil
	p := PrepareFleet(catalog, []Host{host, open}).placement
	h, public := &p.hosts[0], &p.hosts[1]
	share := h.share(&want{GPU: "NVIDIA L4", Count: 2, DiskGB: 7})
	require.Equal(t, amount{gpus: 2, vcpus: 16, memoryGB: 90, diskGB: 7}, share, "a whole number of each for every GPU")

	for _, c := range []struct {
		needs Needs
		meets bool
	}{
		{Needs{}, true},
		{Needs{LeastVCPUs: 16}, true},
		{Needs{LeastVCPUs: 17}, false},
		{Needs{LeastMemoryGB: 90}, true},
		{Needs{LeastMemoryGB: 91}, false},
		{Needs{Countries: []string{"US", "RO"}}, true},
		{Needs{Countries: []string{"US"}}, false},
		{Needs{Compliance: []string{"GDPR", "PCI_DSS"}}, true},
		{Needs{Compliance: []string{"GDPR", "HIPAA"}}, false},
		{Needs{PublicIP: true}, false},
		{Needs{DownloadMbps: 500, UploadMbps: 100}, true},
		{Needs{DownloadMbps: 501}, false},
		{Needs{UploadMbps: 101}, false},
		{Needs{CUDAVersions: []string{"12.8"}}, true},
		{Needs{CUDAVersions: []string{"12.6"}}, false},
		{Needs{LeastCUDA: "12.8"}, true},
		{Needs{LeastCUDA: "12.9"}, false},
	} {
		require.Equal(t, c.meets, h.meets(&c.needs, share), "%+v", c.needs)
	}
	require.True(t, public.meets(&Needs{PublicIP: true}, share))
}
