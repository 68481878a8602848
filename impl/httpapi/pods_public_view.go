package httpapi

import (
	"fmt"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/nullable"
)

// widePodView fills the fields of the published pod that only some editions have. host is the name under which the client reaches this
// server: where a pod's port is published on every address of its host, and where users log in by SSH, at the port sshGateway unless that is 0.
func widePodView(v *rest.Pod, p compute.Pod, live compute.PodRuntime, at control.Place, host string, sshGateway int) {
	v.Cmd, v.Entrypoint = control.Lists(p.Args)
	v.CudaVersion = orNull(at.CUDAVersion)
	v.SSH = &rest.PodSSH{Proxy: nullable.NewNullNullable[rest.PodSSHEndpoint](), Direct: nullable.NewNullNullable[rest.PodSSHEndpoint]()}
	if v.Gpu != nil {
		vcpus, memory := float64(max(1, at.VCPUs)), float64(max(1, at.MemoryGB))
		v.Gpu.VcpuCount, v.Gpu.Memory = &vcpus, &memory
	}
	if p.ClusterID != "" {
		v.Cluster = clusterOfPod(p)
	}

	if sshGateway != 0 && p.Status == compute.PodRunning {
		v.SSH.Proxy = nullable.NewNullableWithValue(rest.PodSSHEndpoint{
			Host: host, Port: int64(sshGateway), Username: string(p.ID), Command: fmt.Sprintf("ssh %s@%s -p %d", p.ID, host, sshGateway),
		})
	}
	for _, port := range live.Ports {
		if p.Status == compute.PodRunning && port.Private == sshPort && port.Type == "tcp" && port.Public != 0 {
			if port.IP != "" {
				host = port.IP
			}
			v.SSH.Direct = nullable.NewNullableWithValue(rest.PodSSHEndpoint{
				Host: host, Port: int64(port.Public), Username: sshUser, Command: fmt.Sprintf("ssh %s@%s -p %d", sshUser, host, port.Public),
			})
		}
	}
}

// How a user logs in to a pod.
const (
	sshPort = 22
	sshUser = "root"
)

// clusterOfPod reports the cluster that a pod belongs to. Its rank ends its name, which cannot change.
func clusterOfPod(p compute.Pod) *rest.PodCluster {
	v := &rest.PodCluster{ID: string(p.ClusterID), Rank: nullable.NewNullNullable[int64]()}
	if rank, ok := p.Rank(); ok {
		v.Rank = nullable.NewNullableWithValue(rank)
	}
	if role := p.ClusterRole(); role != "" {
		v.Role = new(rest.PodClusterRole(role))
	}
	if p.Address != 0 {
		ip := p.Address.IP().String()
		v.IP = &ip
	}
	return v
}
