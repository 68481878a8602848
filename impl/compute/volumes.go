package compute

import "time"

// Volume is a network volume: storage in one data center that outlives the pods that mount it.
type Volume struct {
	ID           VolumeID
	UserID       UserID
	Name         string
	SizeGB       int64
	DataCenterID string
	Type         VolumeType
	CreatedAt    time.Time
}

// VolumeType is how fast a volume is. It does not change.
type VolumeType string

// The types of volumes.
const (
	StandardVolume        VolumeType = "STANDARD"
	HighPerformanceVolume VolumeType = "HIGH_PERFORMANCE"
)
