package kubetest

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"time"
)

// faults are what goes wrong between the server and who asks.
type faults struct {
	mu        sync.Mutex
	forbidden map[string]bool // "list nodes"
	down      bool            // no connection is answered
	next      []*Fault
	slow      time.Duration
	token     string // empty: any
	seen      []string
}

// Fault is what becomes of requests, but for watches.
type Fault struct {
	Method string // of which they are; empty: any
	Skip   int    // so many are answered first
	Times  int    // then it happens to so many
	Code   int    // that they are answered with; 0: they are carried out, and the connection is cut in place of an answer
	Reason string // of the answer
	Retry  string // of its Retry-After; empty: none
}

// due takes the fault that a request meets; nil if there is none.
func (f *faults) due(r *http.Request) *Fault {
	for _, one := range f.next {
		switch {
		case r.URL.Query().Get("watch") != "", one.Method != "" && one.Method != r.Method, one.Times == 0:
		case one.Skip > 0:
			one.Skip--
			return nil
		default:
			one.Times--
			return one
		}
	}
	return nil
}

// pass lets a request through, or has answered it.
func (f *faults) pass(s *Server, w http.ResponseWriter, r *http.Request) bool {
	f.mu.Lock()
	down, slow, token, fault := f.down, f.slow, f.token, f.due(r)
	f.seen = append(f.seen, r.Method+" "+r.URL.Path)
	f.mu.Unlock()

	if slow > 0 && !s.pause(slow) || down {
		panic(http.ErrAbortHandler)
	}
	if token != "" && r.Header.Get("Authorization") != "Bearer "+token {
		refuse(http.StatusUnauthorized, "Unauthorized", "Unauthorized").write(w)
		return false
	}
	switch {
	case fault == nil:
		return true
	case fault.Code == 0:
		s.answer(httptest.NewRecorder(), r)
		panic(http.ErrAbortHandler)
	}
	if fault.Retry != "" {
		w.Header().Set("Retry-After", fault.Retry)
	}
	refuse(fault.Code, fault.Reason, "the server cannot answer now").write(w)
	return false
}

func (f *faults) forbids(q request) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.forbidden[q.verb+" "+q.resource]
}

// Forbid has the server answer 403 to a verb on a resource: Forbid("list", "nodes").
func (s *Server) Forbid(verb, resource string) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.forbidden[verb+" "+resource] = true
}

// Break has something become of the next requests, in place of what was to become of them.
func (s *Server) Break(all ...Fault) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.next = nil
	for _, one := range all {
		s.faults.next = append(s.faults.next, &one)
	}
}

// Broke reports whether everything of Break has happened.
func (s *Server) Broke() bool {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	return !slices.ContainsFunc(s.faults.next, func(f *Fault) bool { return f.Times > 0 })
}

// Slow has every answer take so long.
func (s *Server) Slow(d time.Duration) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.slow = d
}

// Token has the server ask for that token.
func (s *Server) Token(token string) {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	s.faults.token = token
}

// Down cuts all connections and answers no new one; then, if it is false, the server is back with what it has stored.
func (s *Server) Down(down bool) {
	s.faults.mu.Lock()
	s.faults.down = down
	s.faults.mu.Unlock()
	if down {
		s.http.CloseClientConnections()
	}
}

// Requests gives the methods and paths of what was asked for, and forgets them.
func (s *Server) Requests() []string {
	s.faults.mu.Lock()
	defer s.faults.mu.Unlock()
	seen := s.faults.seen
	s.faults.seen = nil
	return seen
}

// CutWatches cuts every watch that is open.
func (s *Server) CutWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	close(s.cuts)
	s.cuts = make(chan struct{})
}

// Watches is how many are open.
func (s *Server) Watches() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.watches
}

// Expire forgets all changes until now: a watch from before them is answered with 410.
func (s *Server) Expire() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.version++
	s.history, s.oldest = nil, s.version
}

// Idle has containers that start from now on run nothing and stay until they are ended, whatever their image and arguments: so it is with
// nodes that kwok simulates.
func (s *Server) Idle() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = true
}

// Metrics has the metrics API there, or not.
func (s *Server) Metrics(there bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.metrics = there
}

// HangMetrics has the metrics API give no answer to anybody from now on, or answer again. Who asks waits until it gives up.
func (s *Server) HangMetrics(hangs bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.hangs = hangs
}

// review answers whether something may be done.
func (s *Server) review(w http.ResponseWriter, r *http.Request) {
	var body object
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		refuse(http.StatusBadRequest, "BadRequest", "%v", err).write(w)
		return
	}
	resource := text(body, "spec", "resourceAttributes", "resource")
	verb := text(body, "spec", "resourceAttributes", "verb")
	put(body, object{"allowed": !s.faults.forbids(request{verb: verb, resource: resource})}, "status")
	answer(w, http.StatusCreated, body)
}

// measure answers what a Pod uses.
func (s *Server) measure(w http.ResponseWriter, r *http.Request, path string) {
	s.mu.Lock()
	hangs := s.hangs
	s.mu.Unlock()
	if hangs {
		select {
		case <-r.Context().Done():
		case <-s.done:
		}
		panic(http.ErrAbortHandler)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.metrics {
		http.Error(w, "404 page not found", http.StatusNotFound)
		return
	}
	name := path[strings.LastIndexByte(path, '/')+1:]
	p := s.running[uidOf(s.stored[pods][name])]
	if p == nil {
		notFound("podmetrics.metrics.k8s.io", name).write(w)
		return
	}

	memory, cpu := p.uses()
	answer(w, http.StatusOK, object{
		"kind": "PodMetrics", "apiVersion": "metrics.k8s.io/v1beta1", "metadata": object{"name": name, "namespace": Namespace},
		"timestamp": s.now(), "window": "15s",
		"containers": []any{object{"name": "main", "usage": object{"cpu": fmt.Sprintf("%dn", cpu), "memory": fmt.Sprintf("%dKi", memory>>10)}}},
	})
}
