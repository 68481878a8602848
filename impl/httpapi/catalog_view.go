package httpapi

import (
	"strings"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// views gives the view of each; never nil, so that nothing is written as an empty list.
func views[T, V any](list []T, view func(T) V) []V {
	all := make([]V, len(list))
	for i, v := range list {
		all[i] = view(v)
	}
	return all
}

// as gives each word as another type of words; nil stays nil.
func as[To, From ~string](list []From) []To {
	if list == nil {
		return nil
	}
	return views(list, func(v From) To { return To(v) })
}

func gpuQuery(p rest.ListGpuTypesParams) control.AvailabilityQuery {
	return control.AvailabilityQuery{
		Include: len(p.Include) > 0, Products: as[control.Product](p.Product), Count: value(p.Count), Cloud: compute.Cloud(value(p.Cloud)),
		Countries: p.CountryCodes, CUDAVersions: p.CudaVersions, LeastCUDA: value(p.MinCudaVersion),
	}
}

func cpuQuery(p rest.ListCPUTypesParams) control.AvailabilityQuery {
	return control.AvailabilityQuery{Include: len(p.Include) > 0, Products: as[control.Product](p.Product), Count: value(p.VcpuCount)}
}

func dataCenterQuery(p rest.ListDataCentersParams) control.DataCenterQuery {
	q := control.DataCenterQuery{
		Regions: as[string](p.Regions), VolumeTypes: as[string](p.NetworkVolumeTypes), Compliance: as[string](p.Compliance), GlobalNetwork: p.GlobalNetwork,
	}
	for _, what := range p.Include {
		q.GPUs = q.GPUs || what == "GPU_AVAILABILITY"
		q.CPUs = q.CPUs || what == "CPU_AVAILABILITY"
	}
	return q
}

// levelView spells a level of stock as REST does.
func levelView(s control.Stock) rest.AvailabilityLevel {
	return rest.AvailabilityLevel(strings.ToUpper(string(s)))
}

func resourceView(r control.ResourceStock) rest.ResourceAvailability {
	return rest.ResourceAvailability{ID: r.ID, Name: r.Name, Availability: levelView(r.Stock)}
}

func cudaView(c control.CUDAStock) rest.CudaVersionAvailability {
	return rest.CudaVersionAvailability{Version: c.Version, Available: c.Available}
}

// gpuTypeView fills every field of the published GPU type; what is free only if it was asked for.
func gpuTypeView(t control.GPUTypeStock) rest.GpuType {
	v := rest.GpuType{
		ID: t.ID, Name: t.Name, Pool: orNull(t.Pool), Manufacturer: rest.GpuTypeManufacturer(t.Manufacturer), Memory: t.MemoryGB,
		Secure: t.Secure != nil, Community: t.Community != nil,
	}
	v.Price.Secure, v.MaxCount.Secure = offerView(t.Secure)
	v.Price.Community, v.MaxCount.Community = offerView(t.Community)
	if t.ServerlessPrice > 0 {
		v.Price.Serverless = &t.ServerlessPrice
	}
	if a := t.Availability; a != nil {
		level := levelView(a.Stock)
		v.Availability, v.DataCenters, v.CudaVersions = &level, views(a.DataCenters, resourceView), views(a.CUDA, cudaView)
	}

	return v
}

// offerView gives zeros where there is no offer.
func offerView(o *control.GPUOffer) (price float64, maxCount int64) {
	if o == nil {
		return 0, 0
	}
	return o.Price, o.MaxCount
}

// cpuTypeView fills every field of the published CPU flavor; what is free only if it was asked for.
func cpuTypeView(f control.CPUFlavorStock) rest.CPUType {
	v := rest.CPUType{
		ID: f.ID, Name: f.Name, Group: f.Group, Vcpu: rest.CPUVcpu{Min: f.MinVCPU, Max: f.MaxVCPU}, RAMGbPerVcpu: float64(f.MemoryPerVCPU),
		Price: rest.CPUPrice{SecurePerVcpu: f.PricePerVCPU, ServerlessPerVcpu: f.ServerlessPricePerVCPU},
	}
	if a := f.Availability; a != nil {
		level := levelView(a.Stock)
		v.Availability, v.DataCenters = &level, views(a.DataCenters, resourceView)
	}
	return v
}

// dataCenterView fills every field of the published data center; what is free only if it was asked for.
func dataCenterView(d control.DataCenterStock) rest.DataCenter {
	v := rest.DataCenter{
		ID: d.ID, Name: d.Name, Region: rest.DataCenterRegion(d.Region), GlobalNetwork: d.GlobalNetwork,
		NetworkVolumeTypes: append([]rest.VolumeType{}, as[rest.VolumeType](d.VolumeTypes)...),
		Compliance:         append([]rest.Compliance{}, as[rest.Compliance](d.Compliance)...),
	}
	if d.GPUs != nil {
		v.GpuAvailability = views(d.GPUs, resourceView)
	}
	if d.CPUs != nil {
		v.CPUAvailability = views(d.CPUs, resourceView)
	}
	return v
}

// publicTemplateView fills every field of the published template.
func publicTemplateView(t control.PublicTemplate) rest.Template {
	v := rest.Template{
		ID: t.ID, Name: t.Name, Image: t.Image, Args: t.Args, Disk: t.DiskGB, Ports: append([]string{}, t.Ports...), Env: t.Env,
		Registry: orNull(""), Serverless: t.Serverless, Public: true, Category: rest.TemplateCategory(t.Category),
		StartSSH: t.StartSSH, StartJupyter: t.StartJupyter, AllowedCudaVersions: append([]string{}, t.CUDAVersions...),
	}
	v.Cmd, v.Entrypoint = control.Lists(t.Args)
	if v.Env == nil {
		v.Env = map[string]string{}
	}
	if t.Persistent != nil {
		//nolint:staticcheck // deprecated for clients; a server answers with it as long as the document has it
		v.Mounts.Persistent = &rest.PersistentMount{Size: t.Persistent.SizeGB, Path: t.Persistent.Path}
	}

	return v
}
