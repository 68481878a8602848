package graphql

import (
	"cmp"
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
)

// endpointTypes are the words of GraphQL for the types of endpoints.
var endpointTypes = map[compute.EndpointType]string{compute.QueueEndpoint: "QB", compute.LoadBalancer: "LB"}

// endpointView fills every field of the published endpoint that berth knows, but for its workers.
func (s Services) endpointView(e compute.Endpoint, volumes map[compute.VolumeID]compute.Volume) *graph.Endpoint {
	id, userID, kind, scaler := string(e.ID), string(e.UserID), endpointTypes[e.Type], string(e.Scaler)
	boot := graph.FlashBootType(cmp.Or(e.FlashBoot, compute.FlashBootOff))
	v := &graph.Endpoint{
		ID: &id, Name: &e.Name, Type: &kind, TemplateID: orNull(string(e.TemplateID)), UserID: &userID, Version: number(e.Version),
		CreatedAt: &e.CreatedAt, GpuIds: new(string), GpuCount: number(0), InstanceIds: views(e.CPUs, instanceID),
		Locations: orNull(strings.Join(e.DataCenterIDs, ",")), NetworkVolumeIds: []*graph.NetworkVolumeIds{},
		WorkersMin: number(int64(e.WorkersMin)), WorkersMax: number(int64(e.WorkersMax)), IdleTimeout: number(int64(max(time.Second, e.IdleTimeout) / time.Second)),
		ScalerType: &scaler, ScalerValue: number(int64(math.Ceil(e.ScalerValue))), ExecutionTimeoutMs: number(e.Timeout.Milliseconds()),
		AllowedCudaVersions: new(string), FlashBootType: &boot, Env: variables(e.Env), WorkersStandby: number(0), WorkersPFBTarget: number(0),
		Compliance: standards(e.Compliance), ModelReferences: []*string{},
		FlashEnvironmentID: orNull(string(e.Environment)),
	}

	if g := e.GPU; g != nil {
		compute, ids := graph.ComputeTypeGpu, strings.Join(g.Pools, ",")
		for _, excluded := range g.Excluded {
			ids += ",-" + excluded
		}
		versions := strings.Join(g.CUDAVersions, ",")
		v.ComputeType, v.GpuIds, v.GpuCount = &compute, &ids, number(g.Count)
		v.AllowedCudaVersions, v.MinCudaVersion = &versions, orNull(g.LeastCUDA)
	}

	if len(e.CPUs) > 0 {
		compute := graph.ComputeTypeCPU
		v.ComputeType = &compute
	}

	for i, volumeID := range e.VolumeIDs {
		text := string(volumeID)
		one := &graph.NetworkVolumeIds{NetworkVolumeID: &text}
		volume, known := volumes[volumeID]
		if known {
			one.DataCenterID = &volume.DataCenterID
		}
		v.NetworkVolumeIds = append(v.NetworkVolumeIds, one)

		if i == 0 {
			v.NetworkVolumeID = &text
			if known {
				v.NetworkVolume = s.volumeView(volume)
			}
		}
	}

	return v
}

// instanceID writes flavor-vCPUs-GB.
func instanceID(c compute.CPU) *string {
	id := fmt.Sprintf("%s-%d-%d", c.ID, c.VCPUCount, c.MemoryGB)
	return &id
}

// workerView shows a worker as what it is to clients of GraphQL: a pod that nobody asked for by name.
func (s Services) workerView(e compute.Endpoint, w compute.Worker, host string) *graph.Pod {
	p := compute.Pod{
		ID: compute.PodID(w.ID), UserID: e.UserID, Name: e.Name, Image: w.Image, Args: e.Args, DiskGB: w.DiskGB, Ports: e.Ports, Env: e.Env,
		RegistryID: e.RegistryID, TemplateID: e.TemplateID, GPU: w.GPU, CPU: w.CPU, Cloud: compute.Secure, DataCenterID: w.DataCenterID,
		HostID: w.HostID, CostPerHour: w.CostPerHour, Status: compute.PodStarting, CreatedAt: w.CreatedAt, MovedAt: w.CreatedAt,
	}
	if !w.StartedAt.IsZero() {
		p.Status, p.StartedAt, p.MovedAt = compute.PodRunning, w.StartedAt, w.StartedAt
	}
	return s.podView(p, s.Clock.Wall(), host)
}
