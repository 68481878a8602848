package app

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/runtime"
)

const (
	enginesTick  = time.Second     // how late it is seen that hosts came or went, or that an engine answers or ceases to
	enginesFirst = 3 * time.Second // for which a start waits for engines that do not answer at once
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
}

// engineUser is who runs things on the engines.
type engineUser struct {
	runtime runtime.Engines
	// clear ends what is on a host and should not be.
	clear func(ctx context.Context, hostID string, on runtime.Runtime) error
	times map[string]int // how often the engine of a host had begun to answer, when the host was cleared
}

// newEngines gives nil for a runtime whose hosts have no engines of their own. Those that answer soon are known when it returns.
func newEngines(ctx context.Context, runs *runtimes, p *control.Placement, pods *loop.Pods, workers *loop.Workers, outer string, log *slog.Logger) (*engines, error) {
	of := func(r runtime.Runtime, clear func(context.Context, string, runtime.Runtime) error) (engineUser, bool) {
		one, ok := r.(runtime.Engines)
		return engineUser{one, clear, map[string]int{}}, ok
	}
	e := &engines{placement: p, catalog: p.Catalog(), log: log, others: true}
	var ok, also bool
	if e.pods, ok = of(runs.Pods, pods.Clear); !ok {
		return nil, nil //nolint:nilnil // most have none, and nothing reads it then
	}
	if e.workers, also = of(runs.Workers, workers.Clear); !also {
		return nil, errors.New("pods have engines, and workers have none")
	}

	if err := e.name(); err != nil {
		return nil, err
	}
	if len(e.named) > 0 {
		e.warn(outer, runs.kind.Can.HostName)
		e.first(ctx)
		if err := e.refresh(ctx); err != nil {
			log.Warn("hosts could not be made ready: it is tried again", "error", err)
		}
	}
	return e, nil
}

// first waits until engines answer, or do not.
func (e *engines) first(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, enginesFirst)
	defer cancel()
	clock := compute.SystemClock{}
	for !e.asked() {
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

// refresh does what is to be done since the last time: it names the hosts to the runtimes, and clears those whose engines answer again
// before anything is placed there.
func (e *engines) refresh(ctx context.Context) error {
	if err := e.name(); err != nil {
		return err
	}

	pods, workers := e.pods.runtime.EngineStates(), e.workers.runtime.EngineStates()
	var errs []error
	for _, one := range e.named {
		p, w := pods[one.HostID], workers[one.HostID]
		if !p.Answers || !w.Answers {
			e.placement.SetEngine(one.HostID, control.HostEngine{Reason: cmp.Or(p.Reason, w.Reason)})
			continue
		}
		if e.pods.due(one.HostID, p) || e.workers.due(one.HostID, w) { // nothing is placed there meanwhile
			e.placement.SetEngine(one.HostID, control.HostEngine{Reason: "what should not be there any more has not ended yet"})
		}
		if err := errors.Join(e.pods.cleared(ctx, one.HostID, p), e.workers.cleared(ctx, one.HostID, w)); err != nil {
			errs = append(errs, err)
			continue
		}
		e.placement.SetEngine(one.HostID, control.HostEngine{Answers: true, Found: e.found(one, p.Has)})
	}
	return errors.Join(errs...)
}

// due reports whether the host has not been cleared since its engine answers.
func (u engineUser) due(hostID string, s runtime.EngineState) bool { return u.times[hostID] != s.Times }

// cleared clears the host if that is due.
func (u engineUser) cleared(ctx context.Context, hostID string, s runtime.EngineState) error {
	if !u.due(hostID, s) {
		return nil
	}
	on, ok := u.runtime.On(hostID)
	if !ok {
		return nil
	}
	if err := u.clear(ctx, hostID, on); err != nil {
		return err
	}
	u.times[hostID] = s.Times
	return nil
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
		for id := range user.times { // one that comes back is another one
			if !slices.ContainsFunc(named, func(one runtime.Engine) bool { return one.HostID == id && slices.Contains(e.named, one) }) {
				delete(user.times, id)
			}
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
