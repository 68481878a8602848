package compute

import "time"

// GlobalVolume is storage that the workers of endpoints mount in whatever data center they are. Its id is of one kind with those of
// network volumes: no two of either have the same.
type GlobalVolume struct {
	ID        VolumeID
	UserID    UserID // who made it
	Name      string
	CreatedAt time.Time
}
