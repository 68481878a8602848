package docker

import (
	"maps"
	"sync"

	"github.com/berthdev/berth/impl/runtime"
)

// seen keeps how allocations were that are up, as long as the engine reports what ends: a look at thousands of them takes no call.
type seen struct {
	mu      sync.Mutex
	live    bool // the engine reports
	changes int  // how often something was forgotten
	states  map[string]runtime.State
}

// get gives how the allocation is, if that is known; else what put is to be called with.
func (s *seen) get(id string) (state runtime.State, known bool, changes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	state, known = s.states[id]
	return state, known, s.changes
}

// put keeps how an allocation was when it was looked at, unless something changed since that look began.
func (s *seen) put(id string, state runtime.State, changes int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.live && changes == s.changes && state.Phase == runtime.Up {
		s.states[id] = state
	}
}

// forget is called when the allocation may not be as it was.
func (s *seen) forget(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	delete(s.states, id)
}

// retain forgets all but those that the engine lists as up: a report of an end may be lost, since the engine says that it reports before it does, and
// leaves out what it cannot get rid of.
func (s *seen) retain(up map[string]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	maps.DeleteFunc(s.states, func(id string, _ runtime.State) bool { return !up[id] })
}

// begin notes that the engine reports from now on, or does no more. Nothing of before is known.
func (s *seen) begin(live bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes++
	s.live, s.states = live, map[string]runtime.State{}
}
