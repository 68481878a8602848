package httpapi

import (
	"strings"
	"sync"
	"time"
)

// A worker asks for a job again at once, hundreds of times a second, however it was refused. These bound it.
const (
	quickRefusals = 10 // of the takes of one worker in a window
	refusalWindow = time.Second
	refusedPaths  = 10_000 // that are counted in a window; what comes on others then is held back
	refusedPath   = 512    // bytes of a path: longer ones are counted together by their beginning
)

// refusals counts the refused takes in the present window, by path: that of a worker. The zero value has none.
type refusals struct {
	mu    sync.Mutex
	since time.Time
	takes map[string]int
}

// add counts a refusal of now and reports whether there are too many.
func (r *refusals) add(path string, now time.Time) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.takes == nil || now.Sub(r.since) >= refusalWindow {
		r.since, r.takes = now, map[string]int{}
	}
	path = path[:min(len(path), refusedPath)]
	if r.takes[path] == 0 {
		if len(r.takes) >= refusedPaths {
			return true
		}
		path = strings.Clone(path) // or the rest of the request stays, too
	}
	r.takes[path]++
	return r.takes[path] > quickRefusals
}

// limited holds back refusals of takes where they come too fast (rule queue.take.refused).
func (s *Services) limited(next handler) handler {
	return func(r *request) error {
		err := next(r)
		if err == nil || !isTake(r.Path()) || !s.refusals.add(r.Request().URL.Path, s.Clock.Now()) {
			return err
		}
		over, stop := s.Clock.After(refusalWindow)
		defer stop()
		defer s.Queue.Hold()()
		select {
		case <-over:
		case <-contextOf(r).Done():
		}

		return err
	}
}

// isTake reports whether the route is one with which workers ask for jobs.
func isTake(route string) bool {
	_, operation, _ := strings.Cut(route, "/:endpointId/")
	return strings.HasPrefix(operation, "job-take")
}
