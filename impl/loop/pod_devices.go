package loop

import (
	"slices"
	"strconv"
	"sync"

	"github.com/berthdev/berth/impl/compute"
)

// shared are the things of which a host or a network has one, and which one container at a time can have: GPUs and addresses.
// Who claims them next may do so while the container that had them is still being stopped.
type shared struct {
	holders sync.Map // of each thing, the id of the pod
	runs    sync.Map // of each pod whose container may be up, by its id, the generation
}

// things names what the pod's container has of these.
func things(p compute.Pod) (all []string) {
	for _, d := range p.Devices {
		all = append(all, device(p.HostID, d))
	}
	if p.Address != 0 {
		all = append(all, "address "+strconv.FormatInt(int64(p.Address), 10))
	}
	return all
}

// device names a GPU of a host.
func device(hostID, d string) string { return hostID + " " + d }

// take notes that a container of the pod is to have what the pod has claimed. It reports whether no other pod's container has any of
// that; else it notes nothing.
func (s *shared) take(p compute.Pod) bool {
	var taken []string // beside what an earlier container has that is still up
	for _, thing := range things(p) {
		has, held := s.holders.LoadOrStore(thing, p.ID)
		if held && has != p.ID {
			for _, one := range taken {
				s.holders.Delete(one)
			}
			return false
		}

		if !held {
			taken = append(taken, thing)
		}
	}

	s.runs.Store(p.ID, p.Generation())
	return true
}

// hasEarlier reports whether a container of an earlier run of the pod may be up: nobody saw it end.
func (s *shared) hasEarlier(p compute.Pod) bool {
	run, noted := s.runs.Load(p.ID)
	return noted && run != p.Generation()
}

// Has reports whether a pod's container has one of the GPUs of the host: perhaps it is still being stopped, after the pod released
// the GPU.
func (l *Pods) Has(hostID string, devices []string) bool {
	return slices.ContainsFunc(devices, func(d string) bool {
		_, held := l.shared.holders.Load(device(hostID, d))
		return held
	})
}

// letGo notes that the pod's container has ended.
func (s *shared) letGo(id compute.PodID) {
	s.runs.Delete(id)
	s.holders.Range(func(thing, _ any) bool {
		s.holders.CompareAndDelete(thing, id)
		return true
	})
}
