package kubernetes

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/runtime"
)

// cache is the copy of what is in the cluster.
type cache struct {
	mu       sync.Mutex
	entries  map[string]*entry            // Pods, by their uid
	byID     map[string]map[string]*entry // by the allocation's id, then by their uid
	let      map[string]uint64            // the uids of Pods that berth let go of, with the version since which: later news of them is old
	synced   bool                         // there was a list of Pods
	known    map[string]*node             // nodes, by their names
	lost     map[string]bool              // names of nodes that are gone
	offers   map[string]*service          // Services, by the allocation's id
	dropped  map[string]uint64            // Services that berth deleted, by their uid, likewise
	awaiting map[string]chan struct{}     // closed at the next change of an allocation
	slices   map[string]*resourceSlice    // of the driver of GPUs, by their names
	gpus     *gpuSurvey                   // what the slices say; nil: they have changed
}

// entry is a Pod in the cache.
type entry struct {
	pod   *pod
	over  bool // it has ended
	lost  bool // with its node
	quiet bool // its end was asked for
	// stuck is when its container was first seen not to be made, in a way that may pass; zero: it is not so.
	stuck time.Time

	looked, shell bool // whether its image was asked for a shell, and has one
}

func newCache() cache {
	return cache{
		entries: map[string]*entry{}, byID: map[string]map[string]*entry{}, let: map[string]uint64{}, known: map[string]*node{}, lost: map[string]bool{},
		offers: map[string]*service{}, dropped: map[string]uint64{}, awaiting: map[string]chan struct{}{}, slices: map[string]*resourceSlice{},
	}
}

// replacePods takes in a list of all Pods.
func (h *Runtime) replacePods(all []pod, version string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	listed := map[string]bool{}
	for i := range all {
		listed[all[i].Metadata.UID] = true
		h.keep(&all[i])
	}

	for uid, e := range h.entries {
		if !listed[uid] && newer(version, e.pod.Metadata.ResourceVersion) { // or it was made after the list
			h.drop(uid)
		}
	}
	for uid, since := range h.let {
		if !listed[uid] && number(version) >= since {
			delete(h.let, uid)
		}
	}
	h.synced = true
}

// changePod takes in an event.
func (h *Runtime) changePod(kind string, p *pod) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if kind == eventDeleted {
		delete(h.let, p.Metadata.UID)
		h.drop(p.Metadata.UID)
		return
	}
	h.keep(p)
}

// wrote takes in what the server answered to a write of berth's own.
func (h *Runtime) wrote(p *pod) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keep(p)
}

// keep stores a Pod unless a later version of it is there. The caller has the lock.
func (h *Runtime) keep(p *pod) {
	uid, id := p.Metadata.UID, p.Metadata.Labels[labelAllocation]
	if _, let := h.let[uid]; let || uid == "" || id == "" {
		return
	}

	e := h.entries[uid]
	switch {
	case e == nil:
		e = &entry{pod: p}
		h.entries[uid] = e
		if h.byID[id] == nil {
			h.byID[id] = map[string]*entry{}
		}
		h.byID[id][uid] = e
	case !newer(p.Metadata.ResourceVersion, e.pod.Metadata.ResourceVersion):
		return
	default:
		e.pod = p
	}

	h.judge(e)
	h.changedHosts()
	h.notify(id)
}

// drop forgets a Pod that is gone. The caller has the lock.
func (h *Runtime) drop(uid string) {
	e := h.entries[uid]
	if e == nil {
		return
	}
	id := e.pod.Metadata.Labels[labelAllocation]
	delete(h.entries, uid)
	delete(h.byID[id], uid)
	if len(h.byID[id]) == 0 {
		delete(h.byID, id)
	}
	if !e.over && !e.quiet { // somebody took the finalizer away
		h.ends.Add(id)
	}
	h.changedHosts()
	h.notify(id)
}

// letGo forgets a Pod whose finalizer berth took away.
func (h *Runtime) letGo(p *pod) {
	h.mu.Lock()
	defer h.mu.Unlock()
	uid := p.Metadata.UID
	if e := h.entries[uid]; e != nil {
		e.quiet = true
	}
	h.drop(uid)
	h.let[uid] = number(p.Metadata.ResourceVersion)
}

// judge finds out whether a Pod has ended, and reports it if nobody asked for that. The caller has the lock.
func (h *Runtime) judge(e *entry) {
	if e.over {
		return
	}
	switch o, stuck := obstacleOf(e.pod); {
	case !stuck:
		e.stuck = time.Time{}
	case e.stuck.IsZero():
		e.stuck = h.config.Clock.Now()
		if o.final {
			hint(h.kick)
		}
	}

	if h.isOver(e.pod) {
		e.over, e.lost = true, h.isLost(e.pod)
		if h.synced && !e.quiet { // what had ended before the first list is seen by who looks
			h.ends.Add(e.pod.Metadata.Labels[labelAllocation])
		}
	}
}

// notify wakes who waits for a change of the allocation. The caller has the lock.
func (h *Runtime) notify(id string) {
	if c := h.awaiting[id]; c != nil {
		close(c)
		delete(h.awaiting, id)
	}
}

// next gives a channel that is closed at the next change of the allocation. The caller has the lock.
func (h *Runtime) next(id string) <-chan struct{} {
	if h.awaiting[id] == nil {
		h.awaiting[id] = make(chan struct{})
	}
	return h.awaiting[id]
}

// of gives the Pods of an allocation, the latest run first. The caller has the lock.
func (h *Runtime) of(id string) []*entry {
	return slices.SortedFunc(maps.Values(h.byID[id]), func(a, b *entry) int {
		return cmp.Or(cmp.Compare(generation(b.pod), generation(a.pod)), b.pod.Metadata.CreationTimestamp.Compare(a.pod.Metadata.CreationTimestamp),
			cmp.Compare(number(b.pod.Metadata.ResourceVersion), number(a.pod.Metadata.ResourceVersion)))
	})
}

// find gives the latest Pod of an allocation, and how it is; ErrUnknown if there is none.
func (h *Runtime) find(id string) (*pod, runtime.State, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	all := h.of(id)
	if len(all) == 0 {
		return nil, runtime.State{}, runtime.ErrUnknown
	}
	return all[0].pod, h.state(all[0]), nil
}

// hush keeps the end of a Pod from being reported.
func (h *Runtime) hush(uid string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if e := h.entries[uid]; e != nil {
		e.quiet = true
	}
}

// generation is that of the run.
func generation(p *pod) int64 {
	n, _ := strconv.ParseInt(p.Metadata.Labels[labelGeneration], 10, 64)
	return n
}

// replaceServices takes in a list of all Services.
func (h *Runtime) replaceServices(all []service, version string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	listed := map[string]bool{}
	for i := range all {
		listed[all[i].Metadata.UID] = true
		h.keepService(&all[i])
	}

	maps.DeleteFunc(h.offers, func(_ string, s *service) bool {
		return !listed[s.Metadata.UID] && newer(version, s.Metadata.ResourceVersion)
	})
	maps.DeleteFunc(h.dropped, func(uid string, since uint64) bool { return !listed[uid] && number(version) >= since })
}

// changeService takes in an event.
func (h *Runtime) changeService(kind string, s *service) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if kind == eventDeleted {
		delete(h.dropped, s.Metadata.UID)
		id := s.Metadata.Labels[labelAllocation]
		if has := h.offers[id]; has != nil && has.Metadata.UID == s.Metadata.UID {
			delete(h.offers, id)
		}
		return
	}
	h.keepService(s)
}

// wroteService takes in what the server answered to a write of berth's own.
func (h *Runtime) wroteService(s *service) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.keepService(s)
}

// keepService stores a Service unless a later version is there. The caller has the lock.
func (h *Runtime) keepService(s *service) {
	id := s.Metadata.Labels[labelAllocation]
	if _, dropped := h.dropped[s.Metadata.UID]; dropped || id == "" {
		return
	}
	if has := h.offers[id]; has == nil || newer(s.Metadata.ResourceVersion, has.Metadata.ResourceVersion) {
		h.offers[id] = s
	}
}

// dropService forgets a Service that berth deleted.
func (h *Runtime) dropService(s *service) {
	h.mu.Lock()
	defer h.mu.Unlock()
	id := s.Metadata.Labels[labelAllocation]
	if has := h.offers[id]; has != nil && has.Metadata.UID == s.Metadata.UID {
		delete(h.offers, id)
	}
	h.dropped[s.Metadata.UID] = number(s.Metadata.ResourceVersion)
}

// serviceOf gives the Service of an allocation; nil if there is none.
func (h *Runtime) serviceOf(id string) *service {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.offers[id]
}
