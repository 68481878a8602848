package gateway

import (
	"sync"

	"github.com/berthdev/berth/impl/compute"
)

// share counts what users have of something that there is only so often. The zero value has nothing; it is safe for concurrent use.
type share struct {
	mu  sync.Mutex
	all int
	of  map[compute.UserID]int // none is 0
}

// enter counts one of the user's, until leave is called. False: there may be no more than so many, or so many of one user.
func (s *share) enter(user compute.UserID, most, mostOfUser int) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all >= most || s.of[user] >= mostOfUser {
		return false
	}
	if s.of == nil {
		s.of = map[compute.UserID]int{}
	}
	s.all++
	s.of[user]++
	return true
}

func (s *share) leave(user compute.UserID) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all--
	if s.of[user]--; s.of[user] == 0 {
		delete(s.of, user)
	}
}
