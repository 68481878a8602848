package graphql

import (
	"cmp"
	"context"
	"fmt"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// The bounds of clusters, as REST has them.
const (
	leastMembers = 2
	mostMembers  = 250
)

// unknownCluster is the code for a cluster that does not exist: a client compares it (rule graphql.clusters.delete.unknown).
const unknownCluster = "Cluster not found"

// Cluster is User.cluster.
func (u users) Cluster(ctx context.Context, _ *graph.User, input *graph.ClusterInput) (*graph.Cluster, error) {
	if input == nil {
		return nil, nil //nolint:nilnil // there is none without an id
	}
	one, err := u.Control.GetCluster(ctx, user(ctx), compute.ClusterID(input.ID))
	if compute.CodeOf(err) == compute.NotFound {
		return nil, nil //nolint:nilnil // as for pods
	}
	if err != nil {
		return nil, err
	}
	one.Pods, err = listed(ctx, u.Answers, "/v2/pods?includeClusterPods=true", func(ctx context.Context, user compute.UserID, room compute.Room) ([]compute.Pod, error) {
		return u.Control.ClusterPods(ctx, user, one.ID, room)
	})
	if err != nil {
		return nil, err
	}
	return u.clusterView(ctx, one), nil
}

// CreateCluster is the mutation createCluster.
func (m mutations) CreateCluster(ctx context.Context, input graph.CreateClusterInput) (*graph.Cluster, error) {
	n, err := newCluster(input)
	if err != nil {
		return nil, err
	}
	if selected(ctx, "pods") {
		member, err := m.Control.FromTemplate(ctx, user(ctx), n.Pod)
		if err != nil {
			return nil, err
		}
		member.Name = n.Name
		if err := m.reserveNew(ctx, member, int(n.PodCount), selectedBelow(ctx, "pods", "env"), "make this one with POST /v2/clusters"); err != nil {
			return nil, err
		}
	}

	one, err := m.Control.CreateCluster(ctx, user(ctx), n)
	if err != nil {
		return nil, inWords(err, noInstances)
	}
	return m.clusterView(ctx, one), nil
}

// DeleteCluster is the mutation deleteCluster.
func (m mutations) DeleteCluster(ctx context.Context, input graph.DeleteClusterInput) (*bool, error) {
	err := m.Control.DeleteCluster(ctx, user(ctx), compute.ClusterID(input.ID))
	if compute.CodeOf(err) == compute.NotFound {
		return nil, &coded{error: err, code: unknownCluster}
	}
	if err != nil {
		return nil, err
	}
	return yes(true), nil
}

// newCluster translates the input of createCluster: its pods are made as podFindAndDeployOnDemand makes one.
func newCluster(i graph.CreateClusterInput) (n control.NewCluster, err error) {
	var bad violations
	count := value(i.PodCount)
	bad.must(i.PodCount != nil, "podCount", "is required")
	bad.must(i.PodCount == nil || count >= leastMembers && count <= mostMembers, "podCount", "must be %d to %d", leastMembers, mostMembers)
	bad.must(value(i.ImageName)+value(i.TemplateID) != "", "imageName", "is required without a template")
	if err := bad.err(); err != nil {
		return n, err
	}
	if err := refused([]refusal{{"throughput", value(i.Throughput) != 0}}); err != nil {
		return n, err
	}

	cloud := graph.CloudTypeEnumSecure
	pod, types, _, err := gpuPod(&graph.PodFindAndDeployOnDemandInput{
		CloudType: &cloud, GpuTypeID: i.GpuTypeID, GpuCount: i.GpuCountPerPod, ImageName: i.ImageName, NetworkVolumeID: i.NetworkVolumeID,
		VolumeInGb: i.VolumeInGb, VolumeMountPath: i.VolumeMountPath, DataCenterID: i.DataCenterID, DataCenterIds: i.DataCenterIds,
		AllowedCudaVersions: i.AllowedCudaVersions, StartSSH: i.StartSSH, ContainerDiskInGb: i.ContainerDiskInGb, DockerArgs: i.DockerArgs,
		Env: i.Env, Ports: i.Ports, TemplateID: i.TemplateID, VolumeKey: i.VolumeKey, StartJupyter: i.StartJupyter, DeployCost: i.DeployCost,
	})
	if err != nil {
		return n, err
	}

	pod.GPU.ID = types[0]
	pod.MaxCost /= float64(count)
	n = control.NewCluster{
		Name: value(i.ClusterName), Type: compute.ApplicationCluster, PodCount: int64(count), Pod: pod, Network: true,
	}
	n.Name = cmp.Or(n.Name, fmt.Sprintf("%s x %d", pod.GPU.ID, pod.GPU.Count*n.PodCount))
	if i.Type != nil && *i.Type != "" {
		n.Type = compute.ClusterType(*i.Type)
	}
	return n, nil
}

// clusterView shows a cluster with its pods and their environments if these are asked for.
func (s Services) clusterView(ctx context.Context, c control.Cluster) *graph.Cluster {
	id, kind, now := string(c.ID), graph.ClusterType(c.Type), s.Clock.Wall()
	v := &graph.Cluster{ID: &id, Name: &c.Name, Type: &kind, PodCount: number(c.PodCount), GpuCountPerPod: number(c.GPU.Count)}
	if !selected(ctx, "pods") {
		return v
	}

	env := selectedBelow(ctx, "pods", "env")
	for _, p := range c.Pods {
		if !env {
			p.Env = nil
		}
		v.Pods = append(v.Pods, s.podView(p, now, hostOf(ctx)))
	}
	return v
}
