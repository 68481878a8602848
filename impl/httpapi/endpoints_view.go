package httpapi

import (
	"slices"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/nullable"
)

// newEndpoint makes a creation the change of what is set.
func newEndpoint(r rest.CreateEndpointRequest) (control.EndpointChange, error) {
	u := rest.UpdateEndpointRequest{
		Name: &r.Name, TemplateID: r.TemplateID, Image: r.Image, Args: r.Args, Cmd: r.Cmd, Entrypoint: r.Entrypoint, Disk: r.Disk, Ports: r.Ports, Env: r.Env, Registry: r.Registry,
		CPU: r.CPU, DataCenterIds: r.DataCenterIds, NetworkVolumes: r.NetworkVolumes, Mounts: r.Mounts, Workers: (*rest.EndpointWorkers)(r.Workers), Scaling: &r.Scaling,
		Timeout: r.Timeout, Flashboot: r.Flashboot,
	}
	if g := r.Gpu; g != nil {
		u.Gpu = &rest.UpdateEndpointGpuConfig{
			Pools: g.Pools, ExcludedTypes: g.ExcludedTypes, Count: g.Count, AllowedCudaVersions: g.AllowedCudaVersions, MinCudaVersion: g.MinCudaVersion,
		}
	}
	return endpointChange(u)
}

// endpointChange translates a PATCH: an absent member stays nil, a null registry becomes an empty one.
func endpointChange(r rest.UpdateEndpointRequest) (n control.EndpointChange, err error) {
	n = control.EndpointChange{
		Name: r.Name, TemplateID: retyped[compute.TemplateID](r.TemplateID), Image: r.Image, Args: r.Args, Cmd: r.Cmd, Entrypoint: r.Entrypoint, DiskGB: r.Disk, Ports: r.Ports, Env: r.Env,
		DataCenterIDs: r.DataCenterIds, VolumeIDs: as[compute.VolumeID](r.NetworkVolumes), FlashBoot: retyped[compute.FlashBoot](r.Flashboot),
		Scaling: scalingOf(r.Scaling),
	}

	if g := r.Gpu; g != nil {
		n.GPU = &control.EndpointGPUChange{
			Pools: g.Pools, Excluded: g.ExcludedTypes, Count: g.Count, CUDAVersions: g.AllowedCudaVersions, LeastCUDA: g.MinCudaVersion,
		}
	}

	for _, one := range r.CPU {
		n.CPUs = append(n.CPUs, compute.CPU{ID: one.ID, VCPUCount: int64(one.VcpuCount)})
	}
	if w := r.Workers; w != nil {
		n.WorkersMin, n.WorkersMax = w.Min, w.Max
		if w.IdleTimeout != nil {
			idle := time.Duration(*w.IdleTimeout) * time.Second
			n.IdleTimeout = &idle
		}
	}

	if r.Timeout != nil {
		timeout := milliseconds(*r.Timeout)
		n.Timeout = &timeout
	}
	if n.RegistryID, err = credential(r.Registry); err != nil {
		return n, err
	}
	return n, endpointMounts(&n, r.Mounts)
}

// endpointMounts translates what workers mount, beside the ids of network volumes.
func endpointMounts(n *control.EndpointChange, m *rest.EndpointMounts) error {
	if m == nil {
		return nil
	}
	ids := func(mounts []rest.VolumeMount) (all []compute.VolumeID) {
		if mounts != nil {
			all = []compute.VolumeID{}
		}
		for _, one := range mounts {
			all = append(all, compute.VolumeID(one.VolumeID))
		}
		return all
	}

	network := ids(m.Network)
	if network != nil && n.VolumeIDs != nil && !slices.Equal(network, n.VolumeIDs) {
		return compute.Errorf(compute.Rejected, "mounts.network: it says something else than networkVolumes")
	}
	if network != nil {
		n.VolumeIDs = network
	}
	n.GlobalIDs = ids(m.Global)
	return nil
}

// retyped gives text of another type; nil stays nil.
func retyped[To, From ~string](from *From) *To {
	if from == nil {
		return nil
	}
	to := To(*from)
	return &to
}

// scalingOf reads what the validator has checked.
func scalingOf(s *rest.EndpointScaling) *control.Scaling {
	if s == nil {
		return nil
	}
	v, _ := s.ValueByDiscriminator()
	switch v := v.(type) {
	case rest.QueueDelayScaling:
		return &control.Scaling{Scaler: compute.ByDelay, Value: v.QueueDelay}
	case rest.RequestCountScaling:
		return &control.Scaling{Scaler: compute.ByCount, Value: float64(v.RequestCount)}
	}
	return nil
}

func scalingView(e compute.Endpoint) (s rest.EndpointScaling) {
	if e.Scaler == compute.ByCount {
		_ = s.FromRequestCountScaling(rest.RequestCountScaling{RequestCount: int64(e.ScalerValue)}) // numbers cannot fail
	} else {
		_ = s.FromQueueDelayScaling(rest.QueueDelayScaling{QueueDelay: e.ScalerValue})
	}
	return s
}

// endpointView fills every field of the published endpoint, for the client of this request.
func (h restHandlers) endpointView(c echo.Context, e compute.Endpoint) rest.Endpoint {
	v := rest.Endpoint{
		ID: string(e.ID), Name: e.Name, Type: rest.EndpointType(e.Type), Image: e.Image, Args: e.Args, Ports: e.Ports, Env: e.Env,
		Registry: orNull(e.RegistryID), Gpu: nullable.NewNullNullable[rest.EndpointGpuConfig](), DataCenterIds: e.DataCenterIDs,
		NetworkVolumes: as[string](e.VolumeIDs), Workers: rest.ShownEndpointWorkers{Min: int64(e.WorkersMin), Max: int64(e.WorkersMax)},
		Scaling: scalingView(e), Timeout: e.Timeout.Milliseconds(), Flashboot: rest.FlashBoot(e.FlashBoot), CreatedAt: e.CreatedAt,
	}
	v.Cmd, v.Entrypoint = control.Lists(e.Args)
	v.Mounts = rest.ShownEndpointMounts{Network: views(e.VolumeIDs, volumeMount), Global: []rest.VolumeMount{}}
	if e.GlobalVolumeID != "" {
		v.Mounts.Global = append(v.Mounts.Global, volumeMount(e.GlobalVolumeID))
	}
	if e.DiskGB != 0 {
		v.Disk = &e.DiskGB
	}
	queue := h.QueueURL(c.Request()) + "/v2/" + string(e.ID)
	if e.Type == compute.QueueEndpoint {
		v.RequestUrls = requestURLs(queue)
	} else {
		base := h.BaseURL(c.Request(), e.ID)
		v.RequestUrls = &rest.EndpointRequestUrls{Base: &base, Health: queue + "/health"}
	}

	if g := e.GPU; g != nil {
		v.Gpu = nullable.NewNullableWithValue(rest.EndpointGpuConfig{
			Pools: g.Pools, ExcludedTypes: g.Excluded, Count: g.Count, AllowedCudaVersions: g.CUDAVersions, MinCudaVersion: orNull(g.LeastCUDA),
		})
	}

	for _, one := range e.CPUs {
		v.CPU = append(v.CPU, rest.CPUConfig{ID: one.ID, VcpuCount: one.VCPUCount, Memory: one.MemoryGB})
	}
	if e.IdlesBySetting() {
		idle := int64(e.IdleTimeout / time.Second)
		v.Workers.IdleTimeout = &idle
	}

	return v
}

func volumeMount(id compute.VolumeID) rest.VolumeMount { return rest.VolumeMount{VolumeID: string(id)} }

func requestURLs(base string) *rest.EndpointRequestUrls {
	at := func(operation string) *string {
		url := base + "/" + operation
		return &url
	}
	return &rest.EndpointRequestUrls{
		Run: at("run"), RunSync: at("runsync"), Status: at("status"), Stream: at("stream"), Cancel: at("cancel"),
		Retry: at("retry"), PurgeQueue: at("purge-queue"), Health: base + "/health",
	}
}

// endpointWorkerView fills every field of the published worker.
func endpointWorkerView(w control.EndpointWorker, now time.Time) rest.Worker {
	v := rest.Worker{
		ID: string(w.ID), Status: rest.WorkerStatus(w.Status), IsStale: w.Stale, Version: nullable.NewNullNullable[int64](), GpuCount: w.GPUCount,
		Image: orNull(w.Image), GpuTypeID: nullable.NewNullNullable[string](), DataCenterID: orNull(w.DataCenterID),
		UptimeSeconds: nullable.NewNullNullable[int64](), StartedAt: nullable.NewNullNullable[time.Time](),
		Reason: orNull(w.Reason),
	}

	if w.Version != 0 {
		v.Version = nullable.NewNullableWithValue(w.Version)
	}
	if w.GPU != nil {
		v.GpuTypeID = nullable.NewNullableWithValue(w.GPU.ID)
	}
	if !w.StartedAt.IsZero() {
		v.StartedAt = nullable.NewNullableWithValue(w.StartedAt)
		v.UptimeSeconds = nullable.NewNullableWithValue(int64(max(0, now.Sub(w.StartedAt)) / time.Second))
	}

	return v
}

// endedWorkerView fills every field of the published worker that has ended.
func endedWorkerView(w compute.EndedWorker) rest.EndedWorker {
	v := rest.EndedWorker{
		ID: string(w.ID), Version: w.Version, StartedAt: nullable.NewNullNullable[time.Time](), EndedAt: w.EndedAt,
		ExitCode: nullable.NewNullNullable[int64](), Reason: w.Reason,
	}
	if !w.StartedAt.IsZero() {
		v.StartedAt = nullable.NewNullableWithValue(w.StartedAt)
	}
	if w.ExitCode != nil {
		v.ExitCode = nullable.NewNullableWithValue(*w.ExitCode)
	}
	return v
}

func workerSummary(workers []control.EndpointWorker) rest.WorkerSummary {
	count := map[compute.WorkerStatus]int64{}
	for _, w := range workers {
		count[w.Status]++
	}
	return rest.WorkerSummary{
		Running: count[compute.WorkerRunning], Idle: count[compute.WorkerIdle], Initializing: count[compute.WorkerInitializing],
		Throttled: count[compute.WorkerThrottled], Unhealthy: count[compute.WorkerUnhealthy], Total: int64(len(workers)),
	}
}

// releaseView fills every field of the published release.
func releaseView(r control.EndpointRelease) rest.Release {
	v := rest.Release{
		ID: string(r.ID), Version: nullable.NewNullableWithValue(r.Version), Source: rest.ReleaseSourceMANUAL,
		BuildID: orNull(r.BuildID), CreatedByUserID: orNull(r.CreatedBy), WorkerCount: r.Workers, CreatedAt: r.CreatedAt,
		Diff: []rest.ReleaseDiffEntry{},
	}
	for _, d := range r.Diff {
		v.Diff = append(v.Diff, rest.ReleaseDiffEntry{Field: d.Field, Old: d.Old, New: d.New})
	}
	return v
}

// rollout reports how far the workers have taken the latest release.
func rollout(onLatest, workers int64) rest.RolloutSummary {
	s := rest.RolloutSummary{WorkersOnLatest: onLatest, WorkersTotal: workers, InProgress: onLatest < workers, PercentOnLatest: 100}
	if workers > 0 {
		s.PercentOnLatest = 100 * onLatest / workers
	}
	return s
}
