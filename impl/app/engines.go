package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/runtime"
)

const (
	enginesTick  = time.Second     // how late it is seen that hosts came or went, that an engine answers or ceases to, or that a host is clear
	enginesFirst = 3 * time.Second // for which a start waits for engines that do not answer at once, and for hosts to be clear
	enginesClear = time.Second     // for which it waits for the latter at least, where an engine was slow
)

// engines keeps the runtimes and the placement of one mind about hosts that have engines of their own: which there are, and which answer.
type engines struct {
	placement *control.Placement
	catalog   control.Catalog
	log       *slog.Logger
	pods      engineUser
	workers   engineUser

	named  []runtime.Engine // that the runtimes know
	others bool             // so do they that there are hosts without

	beside   *group // clears hosts: what does not end on one of them holds up no other
	mu       sync.Mutex
	clearing map[string]context.CancelFunc // hosts that are being cleared
	failed   map[string]error              // of hosts that could not be cleared
}

// engineUser is who runs things on the engines.
type engineUser struct {
	runtime runtime.Engines
	// clear ends what is on a host and should not be.
	clear func(ctx context.Context, hostID string, on runtime.Runtime) error
	times map[string]int // how often the engine of a host had begun to answer, when the host was cleared; with the lock of engines
}

// newEngines gives nil for a runtime whose hosts have no engines of their own. Those that answer soon are known when it returns, and cleared if that
// took no longer.
func newEngines(
	ctx context.Context, runs *runtimes, p *control.Placement, pods *loop.Pods, workers *loop.Workers, outer string, log *slog.Logger, u *undo,
) (*engines, error) {
	of := func(r runtime.Runtime, clear func(context.Context, string, runtime.Runtime) error) (engineUser, bool) {
		one, ok := r.(runtime.Engines)
		return engineUser{one, clear, map[string]int{}}, ok
	}
	e := &engines{
		placement: p, catalog: p.Catalog(), log: log, others: true, beside: newGroup(), clearing: map[string]context.CancelFunc{},
		failed: map[string]error{},
	}
	var ok, also bool
	if e.pods, ok = of(runs.Pods, pods.Clear); !ok {
		return nil, nil //nolint:nilnil // most have none, and nothing reads it then
	}
	if e.workers, also = of(runs.Workers, workers.Clear); !also {
		return nil, errors.New("pods have engines, and workers have none")
	}
	u.push("engines", e.beside.end)

	if err := e.name(); err != nil {
		return nil, err
	}
	if len(e.named) > 0 {
		e.warn(outer, runs.kind.Can.HostName)
		if err := e.first(ctx); err != nil {
			log.Warn("hosts could not be made ready: it is tried again", "error", err)
		}
	}
	return e, nil
}

// first makes the hosts ready whose engines answer soon.
func (e *engines) first(ctx context.Context) error {
	began := compute.SystemClock{}.Now()
	soon, over := context.WithTimeout(ctx, enginesFirst)
	defer over()
	await(soon, e.asked)
	if err := e.refresh(ctx); err != nil {
		return err
	}
	left := enginesFirst - compute.SystemClock{}.Now().Sub(began)
	clearing, end := context.WithTimeout(ctx, max(left, enginesClear))
	defer end()
	await(clearing, e.idle)
	return e.refresh(ctx)
}

// await waits until something is so, or ctx ends.
func await(ctx context.Context, is func() bool) {
	clock := compute.SystemClock{}
	for !is() {
		soon, stop := clock.After(20 * time.Millisecond)
		select {
		case <-soon:
		case <-ctx.Done():
			stop()
			return
		}
		stop()
	}
}

// asked reports whether each engine has answered or failed to.
func (e *engines) asked() bool {
	for _, user := range []engineUser{e.pods, e.workers} {
		for _, s := range user.runtime.EngineStates() {
			if !s.Asked {
				return false
			}
		}
	}
	return true
}

// warn says that workers on other machines cannot reach the server, if that is so.
func (e *engines) warn(outer, hostName string) {
	base, err := url.Parse(outer)
	if err != nil {
		return
	}
	ip, err := netip.ParseAddr(base.Hostname())
	here := base.Hostname() == hostName || err == nil && ip.IsLoopback()
	elsewhere := slices.ContainsFunc(e.named, func(one runtime.Engine) bool { return !strings.HasPrefix(one.Address, "unix:") })
	if here && elsewhere {
		e.log.Warn("pods and workers on other machines cannot reach this server: --worker-url says where they can", "address", outer)
	}
}

// idle reports whether no host is being cleared.
func (e *engines) idle() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return len(e.clearing) == 0
}

// refresh does what is to be done since the last time: it names the hosts to the runtimes, notes which engines answer, and begins to clear the hosts of
// those that answer again, before anything is placed there. Its error is also that of what was begun before.
func (e *engines) refresh(context.Context) error {
	if err := e.name(); err != nil {
		return err
	}

	pods, workers := e.pods.runtime.EngineStates(), e.workers.runtime.EngineStates()
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, one := range e.named {
		p, w := pods[one.HostID], workers[one.HostID]
		switch {
		case !p.Answers || !w.Answers:
			e.placement.SetEngine(one.HostID, control.HostEngine{Reason: cmp.Or(p.Reason, w.Reason)})
		case e.pods.due(one.HostID, p) || e.workers.due(one.HostID, w): // nothing is placed there meanwhile
			e.placement.SetEngine(one.HostID, control.HostEngine{Reason: "what should not be there any more has not ended yet", Found: e.found(one, p.Has)})
			e.begin(one.HostID, p, w)
		default:
			e.placement.SetEngine(one.HostID, control.HostEngine{Answers: true, Found: e.found(one, p.Has)})
		}
	}
	var failed []error
	for _, id := range slices.Sorted(maps.Keys(e.failed)) {
		failed = append(failed, e.failed[id])
	}
	return errors.Join(failed...)
}

// begin clears a host beside, unless that is under way. The caller has the lock.
func (e *engines) begin(hostID string, pods, workers runtime.EngineState) {
	if e.clearing[hostID] != nil {
		return
	}
	ctx, cancel := context.WithCancel(e.beside.ctx)
	e.clearing[hostID] = cancel
	p, w := e.pods.due(hostID, pods), e.workers.due(hostID, workers)
	e.beside.running.Go(func() {
		defer cancel()
		ofPods, ofWorkers := e.pods.cleared(ctx, hostID, p), e.workers.cleared(ctx, hostID, w)
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.clearing, hostID)
		if ctx.Err() != nil {
			return // the server ends, or the host has another engine by now
		}
		if ofPods == nil {
			e.pods.times[hostID] = pods.Times
		}
		if ofWorkers == nil {
			e.workers.times[hostID] = workers.Times
		}
		if err := errors.Join(ofPods, ofWorkers); err != nil {
			e.failed[hostID] = err
		} else {
			delete(e.failed, hostID)
		}
	})
}

// due reports whether the host has not been cleared since its engine answers.
func (u engineUser) due(hostID string, s runtime.EngineState) bool { return u.times[hostID] != s.Times }

// cleared clears the host if that is due.
func (u engineUser) cleared(ctx context.Context, hostID string, due bool) error {
	if !due {
		return nil
	}
	on, ok := u.runtime.On(hostID)
	if !ok {
		return fmt.Errorf("host %s has no engine any more", hostID)
	}
	return u.clear(ctx, hostID, on)
}

// name names the engines of the fleet to the runtimes, if they changed.
func (e *engines) name() error {
	hosts, others := e.placement.Engines()
	var named []runtime.Engine
	for _, h := range hosts {
		named = append(named, runtime.Engine{HostID: h.ID, Address: h.Engine, Ask: h.Asks()})
	}
	if slices.Equal(named, e.named) && others == e.others {
		return nil
	}

	for _, user := range []engineUser{e.pods, e.workers} {
		if err := user.runtime.SetEngines(named, others); err != nil {
			return err
		}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	other := func(id string) bool { // one that comes back is another one
		return !slices.ContainsFunc(named, func(one runtime.Engine) bool { return one.HostID == id && slices.Contains(e.named, one) })
	}
	for _, user := range []engineUser{e.pods, e.workers} {
		maps.DeleteFunc(user.times, func(id string, _ int) bool { return other(id) })
	}
	maps.DeleteFunc(e.failed, func(id string, _ error) bool { return other(id) })
	for id, stop := range e.clearing {
		if other(id) {
			stop()
		}
	}
	e.named, e.others = named, others
	return nil
}

// found describes what a host has in the words of the catalog.
func (e *engines) found(one runtime.Engine, has runtime.Machine) control.Host {
	if !one.Ask {
		return control.Host{}
	}
	return withGPUs(control.Host{VCPUs: has.VCPUs, MemoryGB: has.MemoryGB}, has.GPUs, has.CUDA, e.catalog)
}
