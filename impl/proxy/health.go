package proxy

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// How workers of endpoints that balance load are asked how they are, in the machine's time: they live in it, whatever the clock of the
// server is set to.
const (
	healthTick    = 250 * time.Millisecond
	healthyPause  = 2 * time.Second  // between two checks of a worker that is healthy; of another it is a tick
	healthTimeout = 10 * time.Second // of one check
	healthAtOnce  = 128
	healthOfUser  = 32       // of those of the workers of one user, all of which may hang until their time is over
	healthBody    = 64 << 10 // bytes that are read of an answer
)

// Crew are the workers whose health is checked.
type Crew interface {
	// Served gives them.
	Served() []queue.Served
	// SetCondition notes how one is.
	SetCondition(e compute.EndpointID, w compute.WorkerID, c queue.Condition, detail string)
}

// Health asks the workers of endpoints that balance load how they are.
type Health struct {
	crew   Crew
	ports  func(compute.WorkerID) []compute.PublishedPort
	log    *slog.Logger
	client *http.Client
	places compute.Share[compute.UserID]

	mu    sync.Mutex
	known map[compute.WorkerID]*checked
}

// checked is what is known of a worker's checks.
type checked struct {
	busy bool
	last time.Time // when one began
}

// NewHealth makes one; ports gives where the ports of a worker are.
func NewHealth(crew Crew, ports func(compute.WorkerID) []compute.PublishedPort, dial Dial, log *slog.Logger) *Health {
	return &Health{
		crew: crew, ports: ports, log: log, known: map[compute.WorkerID]*checked{},
		client: &http.Client{
			Timeout:       healthTimeout,
			CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
			Transport:     &http.Transport{DialContext: dial.connect, DisableKeepAlives: true, DisableCompression: true, MaxResponseHeaderBytes: mostHeader},
		},
	}
}

// Run asks until ctx ends.
func (h *Health) Run(ctx context.Context) {
	var under sync.WaitGroup
	defer under.Wait()
	for ctx.Err() == nil {
		h.round(ctx, compute.SystemClock{}.Now(), &under)
		_ = compute.Sleep(ctx, compute.SystemClock{}, healthTick) // ctx has ended
	}
}

// round begins the checks that are due, those first that have waited longest: where there is not a place for each, none goes without for ever.
func (h *Health) round(ctx context.Context, now time.Time, under *sync.WaitGroup) {
	h.mu.Lock()
	defer h.mu.Unlock()
	served, there := h.crew.Served(), map[compute.WorkerID]*checked{}
	for _, w := range served {
		one := h.known[w.Worker]
		if one == nil {
			one = &checked{}
		}
		there[w.Worker] = one
	}
	h.known = there
	slices.SortFunc(served, func(a, b queue.Served) int { return there[a.Worker].last.Compare(there[b.Worker].last) })

	for _, w := range served {
		one := there[w.Worker]
		address, up := Where(h.ports(w.Worker), w.At.HealthPort)
		if !up || one.busy || w.Ready && now.Sub(one.last) < healthyPause {
			continue
		}
		if !h.places.Enter(w.User, healthAtOnce, healthOfUser) {
			continue // in the next round
		}

		one.busy, one.last = true, now
		under.Go(func() {
			condition, detail, asked := h.check(ctx, address, w.At)
			if asked && ctx.Err() == nil {
				h.crew.SetCondition(w.Endpoint, w.Worker, condition, detail)
			}
			h.places.Leave(w.User)
			h.mu.Lock()
			one.busy = false
			h.mu.Unlock()
		})
	}
}

// check asks a worker once, if it can be asked now.
func (h *Health) check(ctx context.Context, address string, at compute.Serving) (c queue.Condition, detail string, asked bool) {
	what := "GET " + at.HealthPath + " at its port " + strconv.Itoa(at.HealthPort)
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+at.HealthPath, nil)
	if err != nil {
		return queue.Unhealthy, what + " is no request: see the variable " + compute.EnvHealthPath, true
	}
	req.Header.Set("User-Agent", "berth")
	res, err := h.client.Do(req)
	if crowded(err) {
		return queue.Unreachable, "", false
	}
	if err != nil {
		var slow net.Error
		if errors.As(err, &slow) && slow.Timeout() && !dialing(err) {
			return queue.Unhealthy, what + " is not answered within " + healthTimeout.String(), true
		}
		return queue.Unreachable, what + " cannot be asked: nothing answers there", true
	}
	_, _ = io.Copy(io.Discard, io.LimitReader(res.Body, healthBody)) // of its body nothing is wanted
	_ = res.Body.Close()

	switch res.StatusCode {
	case http.StatusOK:
		return queue.Healthy, "", true
	case http.StatusNoContent:
		return queue.Loading, what + " says that it is not ready yet", true
	}
	return queue.Unhealthy, fmt.Sprintf("%s gives %d", what, res.StatusCode), true
}
