package replica

import (
	"context"
	"net/http"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Headers of a request that a replica sends on, beside those that show that it did.
const (
	fromHeader    = "Berth-Replica-From"    // the replica's id
	leavingHeader = "Berth-Replica-Leaving" // it is about to stop: what it has sent on is to be held no longer
	lookHeader    = "Berth-Replica-Look"    // the owner is another one now
)

// noticeTimeout is how long another replica may take to acknowledge that this one leaves.
const noticeTimeout = 2 * time.Second

// senders are the replicas whose requests the owner answers now.
type senders struct {
	mu  sync.Mutex
	all map[string]*sender
}

type sender struct {
	requests int
	left     bool
	leaving  chan struct{} // closed when the replica is about to stop
}

// enter notes a request of a replica, for as long as it is answered. What it gives is closed when the replica leaves: at once, if leaves.
func (s *senders) enter(id string, leaves bool) (leaving <-chan struct{}, exit func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.all == nil {
		s.all = map[string]*sender{}
	}

	one := s.all[id]
	if one == nil {
		one = &sender{leaving: make(chan struct{})}
		s.all[id] = one
	}
	if leaves && !one.left {
		one.left = true
		close(one.leaving)
	}

	one.requests++
	return one.leaving, func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		if one.requests--; one.requests == 0 {
			delete(s.all, id)
		}
	}
}

// answerFor answers a request that another replica has sent.
func (m *Member) answerFor(from sentBy, service Service, w http.ResponseWriter, r *http.Request) {
	leaving, exit := m.senders.enter(from.id, from.leaves)
	defer exit()
	service.ServeHTTP(w, r.WithContext(compute.WithLeaving(r.Context(), leaving)))
}

// Hurry has the requests that this replica sends on held no longer, now and from now on: it is about to stop. Whoever is held is answered
// by the owner as if its own server stopped, and can ask another one.
func (m *Member) Hurry(ctx context.Context) {
	m.hurries.Store(true)
	v := m.now.Load()
	if v.service != nil || v.owner.Address == "" {
		return
	}

	m.notify(ctx, v.owner.Address, leavingHeader)
}

// notifyAll has the other replicas look who the owner is: this one is it no more.
func (m *Member) notifyAll(ctx context.Context) {
	var notifying sync.WaitGroup
	if others := m.others.Load(); others != nil {
		for _, other := range *others {
			notifying.Go(func() { m.notify(ctx, other.Address, lookHeader) })
		}
	}
	notifying.Wait()
}

// notify sends a replica a request that says what the header does. It is of no harm if it does not arrive.
func (m *Member) notify(ctx context.Context, address, header string) {
	within, cancel := context.WithTimeout(ctx, noticeTimeout)
	defer cancel()
	r, err := http.NewRequestWithContext(within, http.MethodHead, address+"/healthz", http.NoBody)
	if err != nil {
		return
	}

	m.mark(r.Header, "")
	r.Header[header] = []string{"1"}
	answer, err := m.forward.proxy.Transport.RoundTrip(r)
	if err != nil {
		m.settings.Log.Debug("a replica could not be notified that this one stops", "address", address, "error", err)
		return
	}
	_ = answer.Body.Close() // of no length
}

// mark has a request say that this replica sends it on, for whom.
func (m *Member) mark(h http.Header, client string) {
	h[proofHeader] = []string{m.proof}
	h[clientHeader] = []string{client}
	h[fromHeader] = []string{m.settings.Me.ID}
	delete(h, leavingHeader)
	if m.hurries.Load() {
		h[leavingHeader] = []string{"1"}
	}
}
