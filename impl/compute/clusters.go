package compute

import (
	"strconv"
	"strings"
	"time"
)

// Cluster is equal GPU pods that belong together. Its pods carry its id.
type Cluster struct {
	ID           ClusterID
	UserID       UserID
	Name         string
	Type         ClusterType
	GPU          GPU // of each pod
	PodCount     int64
	TemplateID   TemplateID // that its pods were made from; empty: none
	DataCenterID string     // of all pods
	CreatedAt    time.Time
}

// ClusterMember is a pod of a cluster, as far as it is counted.
type ClusterMember struct {
	ID     PodID
	Status PodStatus
}

// MemberName names the pod of a cluster with that rank.
func MemberName(cluster string, rank int) string { return cluster + "-" + strconv.Itoa(rank) }

// Rank gives the rank of a pod in its cluster, from 0: what its name ends with, which cannot change.
func (p Pod) Rank() (rank int64, ok bool) {
	rank, err := strconv.ParseInt(p.Name[strings.LastIndexByte(p.Name, '-')+1:], 10, 64)
	return rank, err == nil && p.ClusterID != ""
}

// ClusterRole is what a pod does in a cluster of a type that has roles: the first leads (rule public.pod.cluster.role). Empty: there are none.
func (p Pod) ClusterRole() string {
	roles, ok := map[ClusterType][2]string{SlurmCluster: {"SLURM_CONTROLLER", "SLURM_COMPUTE"}, RayCluster: {"RAY_HEAD", "RAY_WORKER"}}[p.ClusterType]
	rank, of := p.Rank()
	switch {
	case !ok || !of:
		return ""
	case rank == 0:
		return roles[0]
	default:
		return roles[1]
	}
}

// ClusterType says what a cluster is for.
type ClusterType string

// The types of clusters.
const (
	ApplicationCluster ClusterType = "APPLICATION"
	TrainingCluster    ClusterType = "TRAINING"
	SlurmCluster       ClusterType = "SLURM"
	RayCluster         ClusterType = "RAY"
)
