package main

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"net/http"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// kind is a sort of thing that is created, renamed and removed over REST.
type kind struct {
	path string // of the list
	list string // the member of its answer
	body string // of a new one, but for its name
	pod  bool
	most int // that there are at a time
}

// kinds are pods and what else leaves something to be removed. Their image is a command of the process runtime: one that stays, and
// one that leaves a child in a session of its own.
var kinds = []*kind{
	{path: "/v2/pods", list: "pods", pod: true, most: 25, body: `"image":"stays","args":"1000","env":{"SECRET":"x"},"cpu":{"id":"cpu3g","vcpuCount":2}`},
	{path: "/v2/pods", list: "pods", pod: true, most: 5, body: `"image":"daemon","cpu":{"id":"cpu3g","vcpuCount":2}`},
	{path: "/v2/network-volumes", list: "networkVolumes", most: 10, body: `"size":10,"dataCenter":"EU-RO-1"`},
	{path: "/v2/templates", list: "templates", most: 10, body: `"image":"i","env":{"SECRET":"x"}`},
	{path: "/v2/serverless", list: "endpoints", most: 5, body: `"type":"QUEUE","image":"stays","args":"1000","cpu":[{"id":"cpu3c","vcpuCount":2}],
		"workers":{"min":1,"max":1},"scaling":{"type":"QUEUE_DELAY","queueDelay":4}`},
}

// thing is one that the server acknowledged, and what is known of it. Its lock is held over every call whose answer is judged.
type thing struct {
	mu       sync.Mutex
	kind     *kind
	id       string
	names    []string // the one that it has; two after a change that was not answered
	wants    []string // of a pod: what it comes to; two after an action that was not answered
	removed  bool     // acknowledged, or seen
	doubtful bool     // its removal was not answered
}

// things are all that were acknowledged.
type things struct {
	*service
	*ledger
	numbers atomic.Int64 // of the names

	all       sync.Mutex
	made      []*thing
	attempted map[string]bool // names that may be there though their creation was not answered
}

func newThings(s *service, l *ledger) *things {
	return &things{service: s, ledger: l, attempted: map[string]bool{}}
}

func (t *thing) path() string { return t.kind.path + "/" + t.id }

// lasts reports whether the thing is certainly there.
func (t *thing) lasts() bool { return !t.removed && !t.doubtful }

// clients works until ctx ends.
func (s *things) clients(ctx context.Context, seed uint64) {
	var all sync.WaitGroup
	actor := uint64(500)
	for _, work := range []struct {
		n     int
		pause int // milliseconds, on the average
		act   func(context.Context, *rand.Rand)
	}{
		{3, 40, s.create}, {2, 30, s.look}, {2, 60, s.remove}, {2, 60, s.rename}, {2, 40, s.act},
	} {
		for range work.n {
			actor++
			r := source(seed, actor)
			all.Go(func() {
				for ctx.Err() == nil {
					work.act(context.WithoutCancel(ctx), r)
					pause(ctx, time.Duration(r.IntN(2*work.pause))*time.Millisecond)
				}
			})
		}
	}

	all.Wait()
}

// some gives the things of which the condition holds.
func (s *things) some(condition func(*thing) bool) (some []*thing) {
	s.all.Lock()
	made := slices.Clone(s.made)
	s.all.Unlock()
	for _, t := range made {
		t.mu.Lock()
		if condition(t) {
			some = append(some, t)
		}
		t.mu.Unlock()
	}
	return some
}

// pick gives one of the things that last, or, now and then, one that does not; nil if there is none.
func (s *things) pick(r *rand.Rand) *thing {
	some := s.some(func(t *thing) bool { return t.lasts() })
	if len(some) == 0 || r.IntN(5) == 0 {
		s.all.Lock()
		some = s.made[max(0, len(s.made)-300):]
		s.all.Unlock()
	}
	if len(some) == 0 {
		return nil
	}
	return some[r.IntN(len(some))]
}

func (s *things) create(ctx context.Context, r *rand.Rand) {
	k := kinds[r.IntN(len(kinds))]
	if len(s.some(func(t *thing) bool { return t.kind == k && !t.removed })) >= k.most {
		return
	}
	name := fmt.Sprintf("n%d", s.numbers.Add(1))
	s.all.Lock()
	s.attempted[name] = true
	s.all.Unlock()
	status, answer := s.rest(ctx, s.key, "POST", k.path, `{"name":"`+name+`",`+k.body+`}`)

	var made struct{ ID string }
	switch {
	case status == 0:
		return // never acknowledged
	case status != http.StatusCreated || json.Unmarshal(answer, &made) != nil || made.ID == "":
		s.violated("POST %s: %d %s", k.path, status, answer)
		return
	}

	s.all.Lock()
	defer s.all.Unlock()
	delete(s.attempted, name)
	s.made = append(s.made, &thing{kind: k, id: made.ID, names: []string{name}, wants: []string{"RUNNING"}})
}

// judge holds an answer about a thing against what is known. The caller has its lock.
func (s *things) judge(t *thing, what string, status int, answer []byte) (read struct{ Name, Status string }, ok bool) {
	switch status {
	case 0:
		return read, false
	case http.StatusNotFound:
		if t.lasts() {
			s.violated("%s: the acknowledged %s is lost: %s", what, t.path(), answer)
		}
		t.removed = true
		return read, false
	case http.StatusOK:
	default:
		s.violated("%s of %s: %d %s", what, t.path(), status, answer)
		return read, false
	}

	if t.removed {
		s.violated("%s: %s was removed and is there again: %s", what, t.path(), answer)
		return read, false
	}
	if err := json.Unmarshal(answer, &read); err != nil || !slices.Contains(t.names, read.Name) {
		s.violated("%s: %s has not one of the names %v: %s", what, t.path(), t.names, answer)
		return read, false
	}

	t.names = []string{read.Name}
	return read, true
}

// look reads a thing.
func (s *things) look(ctx context.Context, r *rand.Rand) {
	if t := s.pick(r); t != nil {
		s.read(ctx, t)
	}
}

func (s *things) read(ctx context.Context, t *thing) (status string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	code, answer := s.rest(ctx, s.key, "GET", t.path(), "")
	read, _ := s.judge(t, "GET", code, answer)
	return read.Status
}

// rename gives a thing another name.
func (s *things) rename(ctx context.Context, r *rand.Rand) {
	t := s.pick(r)
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	name := fmt.Sprintf("m%d", s.numbers.Add(1))
	t.names = append(t.names, name)
	status, answer := s.rest(ctx, s.key, "PATCH", t.path(), `{"name":"`+name+`"}`)
	if status == http.StatusOK {
		t.names = []string{name}
	}
	s.judge(t, "PATCH", status, answer)
}

// act stops, starts or restarts a pod.
func (s *things) act(ctx context.Context, r *rand.Rand) {
	t := s.pick(r)
	if t == nil || !t.kind.pod {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	action, to := "stop", "EXITED"
	if n := r.IntN(3); n > 0 {
		action, to = []string{"start", "restart"}[n-1], "RUNNING" //nolint:gosec // the length was checked
	}

	status, answer := s.rest(ctx, s.key, "POST", t.path()+"/action", `{"action":"`+action+`"}`)
	switch status {
	case http.StatusConflict: // its status does not allow that
		return
	case http.StatusOK:
		t.wants = []string{to}
	case 0:
		t.wants = append(t.wants, to)
	}

	s.judge(t, action, status, answer)
}

// remove removes a thing for good.
func (s *things) remove(ctx context.Context, r *rand.Rand) {
	if t := s.pick(r); t != nil {
		s.delete(ctx, t)
	}
}

func (s *things) delete(ctx context.Context, t *thing) {
	t.mu.Lock()
	defer t.mu.Unlock()
	switch status, answer := s.rest(ctx, s.key, "DELETE", t.path(), ""); {
	case status == 0:
		t.doubtful = true
	case status == http.StatusNoContent && !t.removed:
		t.removed = true
	case status == http.StatusNotFound && !t.lasts():
		t.removed = true
	default:
		s.violated("DELETE %s (removed before: %t, perhaps: %t): %d %s", t.path(), t.removed, t.doubtful, status, answer)
	}
}

// verify reads every thing, waits until the pods are what was asked for, and compares the lists.
func (s *things) verify(ctx context.Context) error {
	var late []string
	for deadline := time.Now().Add(ending); ; pause(ctx, 200*time.Millisecond) {
		late = nil
		for _, t := range s.some(func(*thing) bool { return true }) {
			status := s.read(ctx, t)
			t.mu.Lock()
			if t.kind.pod && !t.removed && !slices.Contains(t.wants, status) {
				late = append(late, fmt.Sprintf("pod %s (%s) is %s, not %v", t.id, t.names[0], status, t.wants))
			}
			t.mu.Unlock()
		}

		if err := s.err(); err != nil || len(late) == 0 {
			break
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("%d pods are not what was asked for: %s", len(late), strings.Join(late, "; "))
		}
	}

	s.compareLists(ctx)
	return s.err()
}

// compareLists looks for what is listed and should not be.
func (s *things) compareLists(ctx context.Context) {
	s.all.Lock()
	known := map[string]*thing{}
	for _, t := range s.made {
		known[t.id] = t
	}
	s.all.Unlock()

	for _, k := range kinds {
		listed, err := s.list(ctx, k)
		if err != nil {
			s.violated("%w", err)
			return
		}

		for _, one := range listed {
			t := known[one.ID]
			if !s.declared(one.ID) && t == nil && !s.attempted[one.Name] || t != nil && t.removed {
				s.violated("GET %s lists %s (%s), which nobody created or which was removed", k.path, one.ID, one.Name)
			}
		}
	}
}

// declared reports whether it is an endpoint of the settings.
func (s *things) declared(id string) bool {
	return slices.Contains(slices.Collect(maps.Values(s.endpoints)), id)
}

// removeAll removes all that is there, those too whose creation was never answered.
func (s *things) removeAll(ctx context.Context) error {
	for _, t := range s.some(func(t *thing) bool { return !t.removed }) {
		s.delete(ctx, t)
	}
	for _, k := range kinds {
		listed, err := s.list(ctx, k)
		if err != nil {
			return err
		}
		for _, one := range listed {
			if !s.declared(one.ID) {
				s.rest(ctx, s.key, "DELETE", k.path+"/"+one.ID, "")
			}
		}
	}

	return s.err()
}

// listed is what a list shows of one.
type listed struct{ ID, Name, Status string }

// list gives all things of a kind that the server lists.
func (s *things) list(ctx context.Context, k *kind) (all []listed, err error) {
	status, answer := s.rest(ctx, s.key, "GET", k.path, "")
	var lists map[string]json.RawMessage
	if status != http.StatusOK || json.Unmarshal(answer, &lists) != nil || json.Unmarshal(lists[k.list], &all) != nil {
		return nil, fmt.Errorf("GET %s: %d %s", k.path, status, answer)
	}
	return all, nil
}

// summary reports how many things there were.
func (s *things) summary() string {
	made, removed := map[string]int{}, map[string]int{}
	for _, t := range s.some(func(*thing) bool { return true }) {
		made[t.kind.list]++
		if t.removed {
			removed[t.kind.list]++
		}
	}
	return fmt.Sprintf("acknowledged: %v; removed of them: %v", made, removed)
}
