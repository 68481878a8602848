package sim

import (
	"context"
	"fmt"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// disk is one of the simulated disks: of an allocation, or a network volume.
type disk struct {
	kind diskKind
	id   string
}

type diskKind string

const (
	container  diskKind = "container disk"
	persistent diskKind = "persistent mount"
	network    diskKind = "network volume"
)

// mark starts the allocation on an empty container disk and with what is on its mounts, and has it write its mark. The caller
// holds the lock.
func (f *Fleet) mark(a runtime.Allocation) (says []string) {
	delete(f.disks, disk{container, a.ID})
	text := a.Env[EnvMark]
	if text == "" {
		return nil
	}

	disks := []disk{{container, a.ID}}
	if a.Persistent != nil {
		disks = append(disks, disk{persistent, a.ID})
	}
	if a.Network != nil {
		disks = append(disks, disk{network, string(a.Network.VolumeID)})
	}

	for _, d := range disks {
		found := "nothing"
		if mark, ok := f.disks[d]; ok {
			found = fmt.Sprintf("%q", mark)
		}
		says = append(says, fmt.Sprintf("sim: %s has %s", d.kind, found))
		f.disks[d] = text
	}

	return says
}

// reach looks in the allocation's network for another one that is up. The caller holds the lock.
func (f *Fleet) reach(a runtime.Allocation, now time.Time) []string {
	name := a.Env[EnvReach]
	if name == "" {
		return nil
	}
	for _, other := range f.allocations {
		last := other.run
		if a.Link != nil && last.link != nil && last.link.Name == name && last.link.Subnet == a.Link.Subnet && last.state(now).Phase == runtime.Up {
			return []string{"sim: reaches " + name + " at " + last.link.Address.String()}
		}
	}
	return []string{"sim: does not reach " + name}
}

// Volumes gives the network volumes on which something was written.
func (f *Fleet) Volumes(ctx context.Context) (ids []compute.VolumeID, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for d := range f.disks {
		if d.kind == network {
			ids = append(ids, compute.VolumeID(d.id))
		}
	}
	return ids, ctx.Err()
}

// RemoveVolume forgets what was written on the network volume.
func (f *Fleet) RemoveVolume(ctx context.Context, id compute.VolumeID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.disks, disk{network, string(id)})
	return ctx.Err()
}
