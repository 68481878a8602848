package compute

import "time"

// Cluster is equal GPU pods that belong together. Its pods carry its id.
type Cluster struct {
	ID           ClusterID
	UserID       UserID
	Name         string
	Type         ClusterType
	GPU          GPU // of each pod
	PodCount     int64
	DataCenterID string // of all pods
	CreatedAt    time.Time
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
