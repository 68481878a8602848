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
	doubts  sync.Map // the ids of pods with a container that may be up and have things of which nobody knows
}

// unknownRun is the generation of a container of which nobody knows it.
const unknownRun = -1

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

// take notes that a container of the pod is to have what the pod has claimed. It reports whether no other pod's container has, or may
// have, any of that; else it notes nothing.
func (s *shared) take(p compute.Pod) bool { return !s.inDoubt(p) && s.noteUp(p) }

// noteUp notes that a container of the pod has what the pod has claimed. It reports whether no other pod's container has any of that; else
// it notes nothing.
func (s *shared) noteUp(p compute.Pod) bool {
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

// keep notes that a container of an earlier run of the pod may be up, which did not end. A pod that was restarted where it was has in
// its row what that container has. Of any other the row says what its next run has claimed, if there is one: then what the container
// has could be anything.
func (s *shared) keep(id compute.PodID, p compute.Pod, run int64) {
	switch {
	case p.Status == compute.PodStarting || p.Status == compute.PodRunning:
		s.noteUp(p)
	case p.ID == "" || len(things(p)) > 0:
		s.doubts.Store(id, nil)
	}
	s.runs.Store(id, run)
}

// inDoubt reports whether another pod's container may have what the pod has claimed, for all that is known. What the pod has already
// is in no doubt.
func (s *shared) inDoubt(p compute.Pod) (is bool) {
	if !slices.ContainsFunc(things(p), func(thing string) bool {
		has, held := s.holders.Load(thing)
		return !held || has != p.ID
	}) {
		return false
	}
	s.doubts.Range(func(id, _ any) bool {
		is = id != p.ID
		return !is
	})
	return is
}

// knows reports whether a container of the pod may be up, for all that is noted.
func (s *shared) knows(id compute.PodID) bool {
	_, noted := s.runs.Load(id)
	return noted
}

// hasEarlier reports whether a container of an earlier run of the pod may be up: nobody saw it end.
func (s *shared) hasEarlier(p compute.Pod) bool {
	run, noted := s.runs.Load(p.ID)
	return noted && run != p.Generation()
}

// Has reports whether a pod's container has one of the GPUs of the host: perhaps it is still being stopped, after the pod released
// the GPU. While nobody knows what a container has, it may be any.
func (l *Pods) Has(hostID string, devices []string) bool {
	for range l.shared.doubts.Range {
		return len(devices) > 0
	}
	return slices.ContainsFunc(devices, func(d string) bool {
		_, held := l.shared.holders.Load(device(hostID, d))
		return held
	})
}

// letGo notes that the pod's container has ended.
func (s *shared) letGo(id compute.PodID) {
	s.runs.Delete(id)
	s.doubts.Delete(id)
	s.holders.Range(func(thing, _ any) bool {
		s.holders.CompareAndDelete(thing, id)
		return true
	})
}
