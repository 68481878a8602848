package graphql

import (
	"cmp"
	"crypto/sha256"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// desired is what was asked for of a pod in each status.
var desired = map[compute.PodStatus]graph.PodStatus{
	compute.PodProvisioning: graph.PodStatusRunning,
	compute.PodStarting:     graph.PodStatusRunning,
	compute.PodRunning:      graph.PodStatusRunning,
	compute.PodExited:       graph.PodStatusExited,
	compute.PodError:        graph.PodStatusExited,
	compute.PodTerminated:   graph.PodStatusTerminated,
}

// telemetry is the word for what the container was last seen to do; created for the statuses that are not here.
var telemetry = map[compute.PodStatus]string{compute.PodRunning: "running", compute.PodExited: "exited", compute.PodError: "exited"}

// podView fills every field of the published pod that berth knows. host is the name under which the client reaches this server.
func (s Services) podView(p compute.Pod, now time.Time, host string) *graph.Pod {
	var gpu control.GPUType
	if p.GPU != nil {
		gpu, _ = s.Control.Catalog().GPU(p.GPU.ID) // one that the catalog does not have any more has no name
	}
	status, cost, kind := desired[p.Status], p.Cost(), graph.PodTypeReserved
	machine, state := machineID(p), "created"
	if word, ok := telemetry[p.Status]; ok {
		state = word
	}

	change := fmt.Sprintf("%s since %s", p.Status, p.MovedAt.UTC().Format(time.RFC1123))
	if p.Reason != "" {
		change += ": " + p.Reason
	}

	v := &graph.Pod{
		ID: string(p.ID), Name: &p.Name, ImageName: &p.Image, Env: []*string{}, MachineID: &machine, Machine: machineView(p, gpu),
		DesiredStatus: &status, CostPerHr: &cost, AdjustedCostPerHr: &cost, ContainerDiskInGb: number(p.DiskGB),
		ContainerRegistryAuthID: orNull(string(p.RegistryID)), DockerArgs: &p.Args, GpuCount: number(0), LastStatusChange: &change,
		LastStartedAt: orNull(p.StartedAt), CreatedAt: &p.CreatedAt, PodType: &kind, Ports: orNull(strings.Join(p.Ports, ",")),
		UptimeSeconds: number(0), VolumeInGb: new(float64), TemplateID: orNull(string(p.TemplateID)), Locked: &p.Locked,
		StopAfter: orNull(p.StopAfter), TerminateAfter: orNull(p.TerminateAfter), LatestTelemetry: &graph.PodTelemetry{State: &state, Time: &p.MovedAt},
	}

	if p.Interruptible() {
		kind, v.BidPerGpu = graph.PodTypeInterruptable, &p.BidPerGPU
		if offer := gpu.Offer(p.Cloud); offer != nil {
			least := offer.LeastBid()
			v.LowestBidPriceToResume = &least
		}
	}

	if rank, ok := p.Rank(); ok {
		v.ClusterIdx = number(rank)
		if p.Address != 0 {
			ip := p.Address.IP().String()
			v.ClusterIP = &ip
		}
	}

	for name, text := range p.Env {
		entry := name + "=" + text
		v.Env = append(v.Env, &entry)
	}
	slices.SortFunc(v.Env, func(a, b *string) int { return strings.Compare(*a, *b) })
	if g := p.GPU; g != nil {
		at := s.Control.PlaceOf(p)
		v.GpuCount, v.VcpuCount, v.MemoryInGb = number(g.Count), whole(at.VCPUs), whole(at.MemoryGB)
	}
	if c := p.CPU; c != nil {
		v.VcpuCount, v.MemoryInGb = whole(c.VCPUCount), whole(c.MemoryGB)
	}
	if m := p.Persistent; m != nil {
		v.VolumeInGb, v.VolumeMountPath = whole(m.SizeGB), &m.Path
	}
	if m := p.Network; m != nil {
		v.NetworkVolumeID, v.VolumeMountPath = orNull(string(m.VolumeID)), &m.Path
	}
	if p.Status == compute.PodRunning {
		v.Runtime = runtimeView(p, s.Live(p.ID), now, host)
		v.UptimeSeconds = v.Runtime.UptimeInSeconds
	}

	return v
}

func runtimeView(p compute.Pod, live compute.PodRuntime, now time.Time, host string) *graph.PodRuntime {
	v := &graph.PodRuntime{
		UptimeInSeconds: number(int64(max(0, now.Sub(p.StartedAt)) / time.Second)), Ports: []*graph.PodRuntimePorts{}, Gpus: []*graph.PodRuntimeGpus{},
		Container: &graph.PodRuntimeContainer{CPUPercent: rounded(live.CPUPercent), MemoryPercent: rounded(live.MemoryPercent)},
	}
	for i, port := range p.Ports {
		if i >= len(live.Ports) || live.Ports[i].Public == 0 { // they are in the order of those that were asked for
			continue // clients take the numbers of each port that there is (rule graphql.pod.runtime.ports.public)
		}
		text, protocol, _ := strings.Cut(port, "/")
		private, _ := strconv.ParseInt(text, 10, 32) // it was checked as the pod was made
		seen := live.Ports[i]
		seen.IP = cmp.Or(seen.IP, host) // on every address of the machine: where the client reaches the server
		v.Ports = append(v.Ports, &graph.PodRuntimePorts{
			PrivatePort: number(private), Type: &protocol, PublicPort: number(int64(seen.Public)), IP: orNull(seen.IP), IsIPPublic: yes(isPublic(seen)),
		})
	}

	if p.GPU != nil {
		for i := range p.GPU.Count {
			id := fmt.Sprintf("GPU-%s-%d", p.ID, i)
			one := &graph.PodRuntimeGpus{ID: &id}
			if i < int64(len(live.GPUs)) {
				one.GpuUtilPercent, one.MemoryUtilPercent = rounded(&live.GPUs[i].Percent), rounded(&live.GPUs[i].MemoryPercent)
			}
			v.Gpus = append(v.Gpus, one)
		}
	}

	return v
}

// isPublic reports whether clients may take the address for the way in: by the kind of port, whatever the address is. They expect a
// proxy before a port for HTTP (rule graphql.pod.runtime.ports.public).
func isPublic(p compute.PublishedPort) bool { return p.Type != "http" && p.IP != "" }

func machineView(p compute.Pod, gpu control.GPUType) *graph.PodMachineInfo {
	host := p.ID.Hostname()
	v := &graph.PodMachineInfo{
		PodHostID: &host, GpuDisplayName: new(string), Location: &p.DataCenterID, DataCenterID: &p.DataCenterID, SecureCloud: yes(p.Cloud == compute.Secure),
	}
	if p.GPU != nil {
		v.GpuDisplayName, v.GpuTypeID = &gpu.Name, &p.GPU.ID
	}
	return v
}

// machineID names the pod's host in 12 letters and digits.
func machineID(p compute.Pod) string {
	sum := sha256.Sum256([]byte(p.HostID))
	return fmt.Sprintf("%x", sum[:6])
}

func whole(n int64) *float64 {
	f := float64(n)
	return &f
}

func rounded(percent *float64) *int {
	if percent == nil {
		return nil
	}
	n := int(math.Round(*percent))
	return &n
}
