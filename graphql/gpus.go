package graphql

import (
	"context"
	"slices"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/control"
)

// GpuTypes is the query gpuTypes.
func (q queries) GpuTypes(_ context.Context, input *graph.GpuTypeFilter) ([]*graph.GpuType, error) {
	list := []*graph.GpuType{}
	var ids []string
	if input != nil {
		if value(input.Cluster) {
			return list, nil
		}
		ids = append(texts(input.Ids), texts([]*string{input.ID})...)
	}

	for _, t := range q.Control.Catalog().GPUs {
		if len(ids) == 0 || slices.Contains(ids, t.ID) {
			list = append(list, gpuTypeView(t))
		}
	}

	return list, nil
}

func gpuTypeView(t control.GPUType) *graph.GpuType {
	manufacturer := t.Manufacturer
	if makers[manufacturer] != "" {
		manufacturer = makers[manufacturer]
	}
	v := &graph.GpuType{
		ID: t.ID, DisplayName: &t.Name, Manufacturer: &manufacturer, MemoryInGb: number(t.MemoryGB), MaxGpuCount: number(0), MinPodGpuCount: number(1),
		NodeGroupDatacenters: []*graph.DataCenter{}, NodeGroupGpuSizes: []*int{},
	}
	v.SecureCloud, v.SecurePrice, v.SecureSpotPrice, v.MaxGpuCountSecureCloud = offerView(t.Secure)
	v.CommunityCloud, v.CommunityPrice, v.CommunitySpotPrice, v.MaxGpuCountCommunityCloud = offerView(t.Community)
	*v.MaxGpuCount = max(*v.MaxGpuCountSecureCloud, *v.MaxGpuCountCommunityCloud)
	return v
}

// makers are the words of GraphQL for manufacturers, where they are others than those of REST.
var makers = map[string]string{"NVIDIA": "Nvidia"}

func offerView(o *control.GPUOffer) (offered *bool, price, spot *float64, most *int) {
	if o == nil {
		return yes(false), new(float64), new(float64), number(0)
	}
	least := o.LeastBid()
	return yes(true), &o.Price, &least, number(o.MaxCount)
}

// LowestPrice is GpuType.lowestPrice.
func (g gpuTypes) LowestPrice(_ context.Context, t *graph.GpuType, input *graph.GpuLowestPriceInput) (*graph.LowestPrice, error) {
	if input == nil {
		input = &graph.GpuLowestPriceInput{}
	}
	w, err := wanted(t.ID, input.GpuCount, input.SecureCloud)
	if err != nil {
		return nil, err
	}

	var bad violations
	w.DataCenterIDs, w.GlobalNetwork, w.DiskGB = commas(value(input.DataCenterID)), value(input.GlobalNetwork), int64(value(input.TotalDisk))
	bad.must(w.DiskGB >= 0, "totalDisk", "must be >= 0")
	w.Needs = needs(&bad, leasts{
		"minVcpuCount": input.MinVcpuCount, "minMemoryInGb": input.MinMemoryInGb, "minDisk": input.MinDisk, "minDownload": input.MinDownload,
		"minUpload": input.MinUpload,
	}, input.CountryCode, input.Compliance, input.SupportPublicIP)
	w.CUDAVersions, w.LeastCUDA = cudaVersions(&bad, input.AllowedCudaVersions, input.CudaVersion, input.MinCudaVersion)
	if err := bad.err(); err != nil {
		return nil, err
	}

	gpu, _ := g.Control.Catalog().GPU(t.ID)
	return lowestPriceView(gpu, w.GPU.Count, g.Control.Quote(w)), nil
}

func lowestPriceView(t control.GPUType, count int64, d control.Quote) *graph.LowestPrice {
	status := string(d.Stock)
	v := &graph.LowestPrice{StockStatus: &status, AvailableGpuCounts: []*int{}, GpuTypeCudaVersions: views(d.CUDA, cudaView)}
	for _, n := range d.Counts {
		v.AvailableGpuCounts = append(v.AvailableGpuCounts, number(n))
	}
	if d.Cloud == "" {
		return v
	}
	most := d.Counts[len(d.Counts)-1]
	v.GpuName, v.GpuTypeID, v.MaxGpuCount, v.MaxUnreservedGpuCount = &t.Name, &t.ID, number(most), number(most)
	v.UninterruptablePrice, v.MinimumBidPrice, v.MinMemory, v.MinVcpu = &d.Price, &d.LeastBid, number(t.MemoryGBPerGPU*count), number(t.VCPUPerGPU*count)
	return v
}

func cudaView(s control.CUDAStock) *graph.GpuTypeCudaVersion {
	word := "UNAVAILABLE"
	if s.Available {
		word = "AVAILABLE"
	}
	return &graph.GpuTypeCudaVersion{CudaVersion: &s.Version, Availability: &word}
}

func number(n int64) *int {
	i := int(n)
	return &i
}

func yes(b bool) *bool { return &b }
