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
	mu     sync.Mutex
	holder map[string]compute.PodID
	held   map[compute.PodID][]string
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

// take notes that a container of the pod is to have what the pod has claimed. It tells whether no other pod's container has any of
// that; else it notes nothing.
func (s *shared) take(p compute.Pod) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	all := things(p)
	for _, thing := range all {
		if has, ok := s.holder[thing]; ok && has != p.ID {
			return false
		}
	}
	for _, thing := range all {
		if _, has := s.holder[thing]; !has { // beside what an earlier container has that is still up
			s.holder[thing] = p.ID
			s.held[p.ID] = append(s.held[p.ID], thing)
		}
	}
	return true
}

// Has tells whether a pod's container has one of the GPUs of the host: perhaps it is still being stopped, after the pod released
// the GPU.
func (l *Pods) Has(hostID string, devices []string) bool {
	s := &l.shared
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.ContainsFunc(devices, func(d string) bool { return s.holder[device(hostID, d)] != "" })
}

// letGo notes that the pod's container has ended.
func (s *shared) letGo(id compute.PodID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, thing := range s.held[id] {
		delete(s.holder, thing)
	}
	delete(s.held, id)
}
