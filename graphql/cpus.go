package graphql

import (
	"context"
	"strings"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// CPUFlavors is the query cpuFlavors.
func (q queries) CPUFlavors(_ context.Context, input *graph.CPUFlavorInput) ([]*graph.CPUFlavor, error) {
	list := []*graph.CPUFlavor{}
	if input == nil {
		input = &graph.CPUFlavorInput{}
	}
	for _, f := range q.Control.Catalog().CPUs {
		if or(input.ID, f.ID) == f.ID && (!value(input.IsSls) || f.Serverless()) {
			list = append(list, cpuFlavorView(f))
		}
	}
	return list, nil
}

// CPUTypes is the query cpuTypes.
func (q queries) CPUTypes(context.Context) ([]*graph.CPUType, error) {
	return views(q.Control.Catalog().CPUs, func(f control.CPUFlavor) *graph.CPUType {
		group := strings.ToLower(f.Group)
		return &graph.CPUType{ID: &f.ID, DisplayName: &f.Name, GroupID: &group}
	}), nil
}

func cpuFlavorView(f control.CPUFlavor) *graph.CPUFlavor {
	group := strings.ToLower(f.Group)
	return &graph.CPUFlavor{
		ID: &f.ID, GroupID: &group, GroupName: &f.Group, DisplayName: &f.Name, MinVcpu: number(f.MinVCPU), MaxVcpu: number(f.MaxVCPU),
		VcpuBurstable: yes(false), RAMMultiplier: whole(f.MemoryPerVCPU), DiskLimitPerVcpu: number(f.DiskPerVCPU),
	}
}

// Specifics is CpuFlavor.specifics. A size that is not offered has nothing; one of which none is free has its prices.
func (c cpuFlavors) Specifics(_ context.Context, flavor *graph.CPUFlavor, input *graph.SpecificsInput) (*graph.Specifics, error) {
	if input == nil {
		input = &graph.SpecificsInput{}
	}

	cpu := compute.CPU{ID: *flavor.ID, VCPUCount: int64(*flavor.MinVcpu)}
	if id := value(input.InstanceID); id != "" {
		var ok bool
		if cpu, ok = instance(id); !ok || cpu.ID != *flavor.ID {
			return &graph.Specifics{}, nil
		}
	}

	offer, err := c.Control.CPUOffer(cpu, commas(value(input.DataCenterID)), value(input.IsSls))
	if err != nil {
		return &graph.Specifics{}, nil //nolint:nilerr // rule graphql.cpu-flavors.none
	}
	s := &graph.Specifics{SecurePrice: &offer.Price, SlsPrice: &offer.ServerlessPrice}
	if stock := string(offer.Stock); offer.Stock != control.StockNone {
		s.StockStatus = &stock
	}

	return s, nil
}
