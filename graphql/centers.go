package graphql

import (
	"context"
	"slices"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// DataCenters is the query dataCenters.
func (q queries) DataCenters(context.Context) ([]*graph.DataCenter, error) {
	return views(q.Control.Catalog().DataCenters, dataCenterView), nil
}

// CountryCodes is the query countryCodes.
func (q queries) CountryCodes(context.Context) ([]*string, error) {
	var countries []string
	for _, d := range q.Control.Catalog().DataCenters {
		countries = append(countries, d.Country)
	}
	slices.Sort(countries)
	return views(slices.Compact(countries), func(country string) *string { return &country }), nil
}

// regions are the words of GraphQL for where a data center is.
var regions = map[string]string{
	"NORTH_AMERICA": "North America", "SOUTH_AMERICA": "South America", "EUROPE": "Europe", "ASIA": "Asia", "OCEANIA": "Oceania",
	"AFRICA": "Africa", "MIDDLE_EAST": "Middle East",
}

func dataCenterView(d control.DataCenter) *graph.DataCenter {
	region := d.Region
	if regions[region] != "" {
		region = regions[region]
	}
	return &graph.DataCenter{
		ID: &d.ID, Name: &d.ID, Location: &region, Listed: yes(true), StorageSupport: yes(len(d.VolumeTypes) > 0), GlobalNetwork: &d.GlobalNetwork,
		Compliance: standards(d.Compliance),
	}
}

func standards(list []string) []*graph.Compliance {
	return views(list, func(text string) *graph.Compliance { word := graph.Compliance(text); return &word })
}

// GpuAvailability is DataCenter.gpuAvailability.
func (d dataCenters) GpuAvailability(_ context.Context, center *graph.DataCenter, input *graph.GpuAvailabilityInput) ([]*graph.GpuAvailability, error) {
	if input == nil {
		input = &graph.GpuAvailabilityInput{}
	}
	w, err := wanted("", input.GpuCount, input.SecureCloud)
	if err != nil {
		return nil, err
	}

	var bad violations
	w.Needs = needs(&bad, leasts{"minVcpuCount": input.MinVcpuCount, "minMemoryInGb": input.MinMemoryInGb, "minDisk": input.MinDisk}, nil, nil, nil)
	w.CUDAVersions, w.LeastCUDA = cudaVersions(&bad, input.AllowedCudaVersions, nil, input.MinCudaVersion)
	if err := bad.err(); err != nil {
		return nil, err
	}

	return views(d.Control.StockIn(*center.ID, w), func(r control.ResourceStock) *graph.GpuAvailability {
		stock := string(r.Stock)
		return &graph.GpuAvailability{
			ID: &r.ID, GpuTypeID: &r.ID, DisplayName: &r.Name, GpuTypeDisplayName: &r.Name, StockStatus: &stock, Available: yes(r.Stock != control.StockNone),
		}
	}), nil
}

// wanted says that so many GPUs of the type are wanted, of one cloud or of either.
func wanted(gpu string, count *int, secure *bool) (control.Wanted, error) {
	w := control.Wanted{GPU: compute.GPU{ID: gpu, Count: 1}, Clouds: []compute.Cloud{compute.Secure, compute.Community}}
	var bad violations
	if count != nil {
		bad.must(*count >= 1, "gpuCount", "must be >= 1")
		w.GPU.Count = int64(*count)
	}

	if secure != nil {
		w.Clouds = []compute.Cloud{compute.Community}
		if *secure {
			w.Clouds = []compute.Cloud{compute.Secure}
		}
	}

	return w, bad.err()
}
