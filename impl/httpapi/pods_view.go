package httpapi

import (
	"math"
	"time"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/nullable"
)

// newPod translates a request. What is absent stays zero: the defaults are control's.
func newPod(r rest.CreatePodRequest) (n control.NewPod, err error) {
	n = control.NewPod{
		Name: r.Name, Image: value(r.Image), Command: control.Command{Args: r.Args, Cmd: r.Cmd, Entrypoint: r.Entrypoint}, DiskGB: value(r.Disk),
		Ports: r.Ports, Env: r.Env, StartSSH: r.StartSSH, StartJupyter: r.StartJupyter, NoRegistry: r.Registry.IsNull(),
		Cloud: compute.Cloud(value(r.Cloud)), DataCenterIDs: r.DataCenterIds, GlobalNetworking: value(r.GlobalNetworking),
	}
	registry, err := credential(r.Registry)
	n.RegistryID = value(registry)
	n.Persistent, n.Network = mounts(r.Mounts)

	if r.Gpu != nil {
		n.GPU = &compute.GPU{ID: r.Gpu.ID, Count: 1}
		if r.Gpu.Count != nil {
			n.GPU.Count = *r.Gpu.Count
		}
		n.Kept = compute.PodNeeds{
			CUDAVersions: r.Gpu.AllowedCudaVersions, LeastCUDA: value(r.Gpu.MinCudaVersion),
			VCPUsPerGPU: value(r.Gpu.MinVcpuCountPerGpu), MemoryGBPerGPU: value(r.Gpu.MinRAMPerGpu),
		}
	}

	if r.CPU != nil {
		n.CPU = &compute.CPU{ID: r.CPU.ID, VCPUCount: int64(r.CPU.VcpuCount)}
	}
	return n, err
}

// credential gives the id of the member registry: nil when it is absent, the empty id for null. NotFound for empty text, which
// names none (rule registries.use.empty).
func credential(r nullable.Nullable[string]) (*compute.RegistryID, error) {
	if !r.IsSpecified() {
		return nil, nil //nolint:nilnil // absent
	}
	if r.IsNull() {
		return new(compute.RegistryID), nil
	}
	id, err := control.RegistryNamed(r.MustGet())
	return &id, err
}

// podChange translates a PATCH: an absent member stays nil, a null registry becomes an empty one.
func podChange(r rest.UpdatePodRequest) (n control.PodChange, err error) {
	n = control.PodChange{
		Name: r.Name, Image: r.Image, Args: r.Args, Cmd: r.Cmd, Entrypoint: r.Entrypoint, DiskGB: r.Disk, Ports: r.Ports, Env: r.Env,
		Locked: r.Locked, GlobalNetworking: r.GlobalNetworking,
	}
	n.TemplateID = retyped[compute.TemplateID](r.TemplateID)
	n.Persistent, n.Network = mounts(r.Mounts)
	n.RegistryID, err = credential(r.Registry)
	return n, err
}

// mounts keeps an absent network nil and an empty one empty: PATCH distinguishes them.
func mounts(m *rest.Mounts) (persistent *compute.PersistentMount, network []compute.NetworkMount) {
	if m == nil {
		return nil, nil
	}
	if p := m.Persistent; p != nil {
		persistent = &compute.PersistentMount{SizeGB: p.Size, Path: p.Path}
	}
	if m.Network != nil {
		network = []compute.NetworkMount{}
	}
	for _, one := range m.Network {
		network = append(network, compute.NetworkMount{VolumeID: compute.VolumeID(one.VolumeID), Path: one.Path})
	}

	return persistent, network
}

// podView fills every field of the published pod that all editions have.
func podView(p compute.Pod, live compute.PodRuntime, now time.Time) rest.Pod {
	v := rest.Pod{
		ID: string(p.ID), Name: p.Name, Image: p.Image, Args: p.Args, Disk: p.DiskGB, Ports: p.Ports, Env: p.Env,
		Registry: orNull(p.RegistryID), Status: rest.PodStatus(p.Status), Cloud: rest.Cloud(p.Cloud),
		DataCenterID: orNull(p.DataCenterID), Template: orNull(p.TemplateID), Cost: p.Cost(), Locked: p.Locked,
		Runtime: nullable.NewNullNullable[rest.PodRuntime](), CreatedAt: p.CreatedAt,
		StartedAt: nullable.NewNullNullable[time.Time](),
		Actions:   views(compute.PodMachine.Allowed(p.Status, compute.PodActions), func(e compute.PodEvent) rest.PodAction { return rest.PodAction(e) }),
	}

	if p.Persistent != nil {
		//nolint:staticcheck // deprecated for clients; a server answers with it as long as the document has it
		v.Mounts.Persistent = &rest.PersistentMount{Size: p.Persistent.SizeGB, Path: p.Persistent.Path}
	}
	if p.Network != nil {
		v.Mounts.Network = []rest.NetworkMount{{VolumeID: string(p.Network.VolumeID), Path: p.Network.Path}}
	}
	if p.GPU != nil {
		v.Gpu = &rest.PodGpu{ID: p.GPU.ID, Count: &p.GPU.Count}
	}
	if p.CPU != nil {
		v.CPU = &rest.CPUConfig{ID: p.CPU.ID, VcpuCount: p.CPU.VCPUCount, Memory: p.CPU.MemoryGB}
	}
	if p.Address != 0 {
		ip, dns := p.Address.IP().String(), p.ID.InternalDNS()
		v.GlobalNetworking = rest.PodGlobalNetworking{Enabled: true, IP: &ip, InternalDNS: &dns}
	}
	if !p.StartedAt.IsZero() {
		v.StartedAt = nullable.NewNullableWithValue(p.StartedAt)
	}
	if p.Status == compute.PodRunning {
		v.Runtime = nullable.NewNullableWithValue(runtimeView(p, live, now))
	}

	return v
}

// runtimeView fills what is known: a pod that was not looked at yet since berth started has its uptime alone.
func runtimeView(p compute.Pod, live compute.PodRuntime, now time.Time) rest.PodRuntime {
	uptime := int64(max(0, now.Sub(p.StartedAt)) / time.Second)
	v := rest.PodRuntime{Uptime: &uptime, CPU: utilization(live.CPUPercent), Memory: utilization(live.MemoryPercent)}
	if live.Ports != nil || len(p.Ports) == 0 {
		v.Ports = views(live.Ports, portView)
	}
	if live.GPUs != nil || p.GPU == nil {
		v.Gpus = views(live.GPUs, func(g compute.GPUUse) rest.PodGpuUtilization {
			return rest.PodGpuUtilization{Util: whole(g.Percent), MemoryUtil: whole(g.MemoryPercent)}
		})
	}
	return v
}

func portView(p compute.PublishedPort) rest.PodRuntimePort {
	private := int64(p.Private)
	v := rest.PodRuntimePort{Private: &private, Type: &p.Type, Public: nullable.NewNullNullable[int64](), IP: orNull(p.IP)}
	if p.Public != 0 {
		v.Public = nullable.NewNullableWithValue(int64(p.Public))
	}
	return v
}

func utilization(percent *float64) *rest.Utilization {
	if percent == nil {
		return nil
	}
	return &rest.Utilization{Util: whole(*percent)}
}

// whole rounds a percentage.
func whole(percent float64) *int64 {
	n := int64(math.Round(percent))
	return &n
}

// value gives what p points to, or zero.
func value[T any](p *T) T {
	if p == nil {
		var zero T
		return zero
	}
	return *p
}

func orNull[T ~string](s T) nullable.Nullable[string] {
	if s == "" {
		return nullable.NewNullNullable[string]()
	}
	return nullable.NewNullableWithValue(string(s))
}
