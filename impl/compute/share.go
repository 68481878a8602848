package compute

import "sync"

// Share counts what several have of something that there is only so often. The zero value has nothing; it is safe for concurrent use.
type Share[K comparable] struct {
	mu  sync.Mutex
	all int
	of  map[K]int // none is 0
}

// Enter counts one more of who has it, until Leave is called. False: there may be no more than so many, or so many of one.
func (s *Share[K]) Enter(who K, most, mostOfOne int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= most || s.of[who] >= mostOfOne {
		return false
	}
	if s.of == nil {
		s.of = map[K]int{}
	}
	s.all++
	s.of[who]++
	return true
}

// Leave counts one less.
func (s *Share[K]) Leave(who K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[who]--; s.of[who] == 0 {
		delete(s.of, who)
	}
}
