package httpapi

import (
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// newCluster translates a request. What is absent stays zero: the defaults are control's.
func newCluster(r rest.CreateClusterRequest) control.NewCluster {
	n := control.NewCluster{Name: r.Name, Type: compute.ClusterType(r.Type), PodCount: r.Compute.PodCount, Pod: control.NewPod{
		Name: r.Name, TemplateID: compute.TemplateID(value(r.TemplateID)), Image: value(r.Image), Command: control.Command{Args: r.Args, Cmd: r.Cmd, Entrypoint: r.Entrypoint}, DiskGB: value(r.Disk), Ports: r.Ports, Env: r.Env, DataCenterIDs: r.DataCenterIds,
		StartSSH: r.StartSSH, StartJupyter: r.StartJupyter,
		GPU: &compute.GPU{ID: r.Compute.GpuTypeID, Count: r.Compute.GpuCountPerPod},
	}}
	n.Pod.Persistent, n.Pod.Network = mounts(r.Mounts)

	for _, member := range []struct {
		name  string
		given bool
	}{
		{"image", r.Image != nil}, {"args", r.Args != nil}, {"entrypoint", r.Entrypoint != nil}, {"cmd", r.Cmd != nil}, {"disk", r.Disk != nil},
		{"env", r.Env != nil}, {"ports", r.Ports != nil}, {"mounts", r.Mounts != nil},
	} {
		if member.given {
			n.Settings = append(n.Settings, member.name)
		}
	}
	return n
}

// clusterView fills every field of the published cluster. It has pods: none goes before the cluster does.
func clusterView(c control.Cluster) rest.Cluster {
	v := rest.Cluster{
		ID: string(c.ID), Name: c.Name, Type: rest.ClusterType(c.Type), DataCenterID: &c.DataCenterID, CreatedAt: c.CreatedAt,
		Compute: rest.ClusterCompute{GpuTypeID: c.GPU.ID, GpuCountPerPod: c.GPU.Count, PodCount: c.PodCount},
		Pods:    rest.ClusterPodsSummary{Total: int64(len(c.Members)), ByStatus: map[string]int64{}},
	}
	if c.TemplateID != "" {
		v.Template = new(string(c.TemplateID))
	}
	for _, m := range c.Members {
		v.Pods.ByStatus[string(m.Status)]++
	}
	v.Primary = &rest.ClusterPrimary{PodID: string(c.Members[0].ID), Status: rest.PodStatus(c.Members[0].Status)}
	return v
}
