package docker

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// Fleet runs allocations on the engines of their hosts: that of the settings, and those of hosts that have one of their own. It asks
// the engines where an allocation is that it did not start itself. See runtime.Engines.
type Fleet struct {
	config FleetConfig
	ends   *runtime.Ends
	ctx    context.Context // ends with Close
	cancel context.CancelFunc
	work   sync.WaitGroup
	main   *engine // that of the settings
	beyond tunnels // to machines of engines that are reached by SSH

	mu      sync.Mutex
	closed  bool
	others  bool               // there are hosts without an engine of their own
	engines map[string]*engine // of hosts, by their ids
	where   map[string]*engine // that have, or had last, an allocation, by its id
}

// FleetConfig is what a Fleet is made of.
type FleetConfig struct {
	Config                   // of the engine of the settings, and for the others but for what is theirs
	Certs      string        // directory with the certificates for engines over TCP, see certsOf; empty: none
	LostAfter  time.Duration // so long an engine may not answer before its host is lost; 0: a minute
	QueryImage string        // in which the vendor's tools are run where it is to be found out which GPUs a host has
}

// What a FleetConfig has that says nothing else.
const (
	defaultLostAfter  = time.Minute
	defaultQueryImage = "ubuntu:24.04"
)

var (
	_ runtime.Engines = (*Fleet)(nil)
	_ runtime.Dialer  = (*Fleet)(nil)
)

// NewFleet makes one without hosts that have engines of their own. No engine need answer yet.
func NewFleet(c FleetConfig) (*Fleet, error) {
	c.LostAfter, c.QueryImage = cmp.Or(c.LostAfter, defaultLostAfter), cmp.Or(c.QueryImage, defaultQueryImage)
	f := &Fleet{config: c, others: true, ends: runtime.NewEnds(), engines: map[string]*engine{}, where: map[string]*engine{}}
	main, err := newRuntime(c.Config, f.ends)
	if err != nil {
		return nil, err
	}
	f.config.Config = main.config // with what was left out
	f.main = &engine{Runtime: main}
	f.main.answers.Store(true) // whether it does shows when it is called
	main.config.fetch = f.fetch
	f.config.fetch = f.fetch
	f.ctx, f.cancel = context.WithCancel(context.Background())
	return f, nil
}

// SetEngines is that of runtime.Engines.
func (f *Fleet) SetEngines(engines []runtime.Engine, others bool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return errClosed
	}

	f.others = others
	named := map[string]bool{}
	for _, one := range engines {
		named[one.HostID] = true
		if e := f.engines[one.HostID]; e != nil && e.Engine == one {
			e.leaving.Store(false)
			continue
		}
		if err := f.add(one); err != nil {
			return fmt.Errorf("engine of host %s: %w", one.HostID, err)
		}
	}

	for id, e := range f.engines {
		e.leaving.Store(!named[id])
	}
	return nil
}

// add begins to watch an engine, in place of another one of the host. The caller has the lock.
func (f *Fleet) add(one runtime.Engine) error {
	c, certs := f.config.Config, certsOf(f.config.Certs, one.HostID)
	if err := checkEngine(one.Address, certs); err != nil {
		return err
	}
	c.Host, c.certs, c.machine = one.Address, certs, machineOf(one.Address)
	c.Log = c.Log.With("host", one.HostID)
	r, err := newRuntime(c, f.ends)
	if err != nil {
		return err
	}

	if before := f.engines[one.HostID]; before != nil {
		f.let(before)
	}
	e := &engine{Runtime: r, Engine: one, fleet: f, since: c.Clock.Now()}
	f.engines[one.HostID] = e
	f.work.Go(e.watch)
	return nil
}

// let forgets an engine. The caller has the lock.
func (f *Fleet) let(e *engine) {
	maps.DeleteFunc(f.where, func(_ string, at *engine) bool { return at == e })
	if f.engines[e.HostID] == e {
		delete(f.engines, e.HostID)
	}
	e.gone.Store(true)
	f.work.Go(func() { _ = e.Close() })
}

// EngineStates is that of runtime.Engines.
func (f *Fleet) EngineStates() map[string]runtime.EngineState {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]runtime.EngineState{}
	for id, e := range f.engines {
		if !e.leaving.Load() {
			all[id] = e.now()
		}
	}
	return all
}

// On is that of runtime.Engines.
func (f *Fleet) On(hostID string) (runtime.Runtime, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	e := f.engines[hostID]
	if e == nil {
		return nil, false
	}
	return e.Runtime, true
}

// Place packs.
func (f *Fleet) Place(rooms iter.Seq[compute.HostRoom]) (compute.HostRoom, bool) {
	return runtime.Pack(rooms)
}

// Ended delivers the ids of allocations that ended, of all engines.
func (f *Fleet) Ended() <-chan string { return f.ends.Out() }

// Ping reports whether an engine answers on which something can be placed: ErrUnavailable, or the error of ctx.
func (f *Fleet) Ping(ctx context.Context) error {
	for _, e := range f.reached() {
		if e != f.main {
			return nil // it was looked a moment ago
		}
	}
	return f.main.Ping(ctx)
}

// Close leaves every container as it is, as that of a single Runtime.
func (f *Fleet) Close() error {
	f.mu.Lock()
	if f.closed {
		f.mu.Unlock()
		return nil
	}
	f.closed = true
	engines := slices.Collect(maps.Values(f.engines))
	f.mu.Unlock()

	f.cancel()
	f.work.Wait()
	errs := []error{f.main.Close()}
	for _, e := range engines {
		errs = append(errs, e.Close())
	}
	f.beyond.close()
	f.ends.Close()
	return errors.Join(errs...)
}

// Dial is that of runtime.Dialer.
func (f *Fleet) Dial(ctx context.Context, network, address string) (net.Conn, error) {
	return f.beyond.dial(ctx, network, address)
}

// reached gives the engines that answer, that of the settings first if there are hosts for it.
func (f *Fleet) reached() (all []*engine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.others || len(f.engines) == 0 {
		all = append(all, f.main)
	}
	for _, id := range slices.Sorted(maps.Keys(f.engines)) {
		if e := f.engines[id]; e.answers.Load() {
			all = append(all, e)
		}
	}
	return all
}

// silent reports whether a host may have an allocation that nobody can ask: its engine does not answer, and it is not lost.
func (f *Fleet) silent() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.engines {
		if !e.answers.Load() && !e.now().Lost {
			return true
		}
	}
	return false
}

// errSilent is ErrUnavailable for what may be on a host whose engine does not answer.
var errSilent = fmt.Errorf("%w: it may be on a host whose engine does not", runtime.ErrUnavailable)

// of gives the engine that has the allocation: ErrUnknown, or ErrUnavailable if it may be on one that does not answer. Where two have one
// of its id, the earlier run was left behind by a host that was lost, and is ended by who looks after such hosts.
func (f *Fleet) of(ctx context.Context, id string) (*engine, error) {
	f.mu.Lock()
	at, alone := f.where[id], len(f.engines) == 0
	f.mu.Unlock()
	switch {
	case at != nil:
		return at, nil
	case alone:
		return f.main, nil
	}

	var found *engine
	latest := int64(0)
	for _, e := range f.reached() {
		state, err := with(ctx, e, func(ctx context.Context) (runtime.State, error) { return e.Inspect(ctx, id) })
		switch {
		case errors.Is(err, runtime.ErrUnknown):
		case err != nil:
			return nil, err
		case found == nil || state.Generation > latest:
			found, latest = e, state.Generation
		}
	}

	switch {
	case found != nil:
		f.note(id, found)
		return found, nil
	case f.silent():
		return nil, errSilent
	}
	return nil, runtime.ErrUnknown
}

// note notes where an allocation is.
func (f *Fleet) note(id string, e *engine) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.engines) > 0 && (e == f.main || f.engines[e.HostID] == e) {
		f.where[id] = e
	}
}

// on gives the engine of a host: that of the settings, if it has none of its own.
func (f *Fleet) on(hostID string) *engine {
	f.mu.Lock()
	defer f.mu.Unlock()
	if e := f.engines[hostID]; e != nil {
		return e
	}
	return f.main
}

// Start starts the allocation on the engine of its host. On one that is lost it fails for good. What an earlier run left on another one
// is removed there; where that does not answer, by who looks after hosts that do again.
func (f *Fleet) Start(ctx context.Context, a runtime.Allocation) error {
	e := f.on(a.HostID)
	f.mu.Lock()
	before := f.where[a.ID]
	f.mu.Unlock()
	if now := e.now(); now.Lost {
		return errors.New(lostReason(e.HostID, now.Reason))
	}
	if err := e.do(ctx, func(ctx context.Context) error { return e.Start(ctx, a) }); err != nil {
		return err
	}

	f.note(a.ID, e)
	if before != nil && before != e {
		f.leave(ctx, a.ID, before)
	}
	return nil
}

// leave removes what an allocation has on an engine that it is not on any more, but for the data of its persistent mount.
func (f *Fleet) leave(ctx context.Context, id string, e *engine) {
	e.forget(id)
	if err := e.do(ctx, func(ctx context.Context) error { return e.leave(ctx, id) }); err != nil {
		f.config.Log.Warn("the container of an earlier run could not be removed", "allocation", id, "host", e.HostID, "error", err)
	}
}

// Stop is that of runtime.Engines.
func (f *Fleet) Stop(ctx context.Context, id string, grace time.Duration) error {
	e, err := f.of(ctx, id)
	if err != nil || e.now().Lost {
		return err
	}
	return e.do(ctx, func(ctx context.Context) error { return e.Stop(ctx, id, grace) })
}

// Remove removes the allocation, and what else there is of it on engines that answer.
func (f *Fleet) Remove(ctx context.Context, id string) error {
	f.mu.Lock()
	at := f.where[id]
	f.mu.Unlock()
	all := f.reached()
	if at != nil && !at.now().Lost {
		all = []*engine{at}
	}

	for _, e := range all {
		if err := e.do(ctx, func(ctx context.Context) error { return e.Remove(ctx, id) }); err != nil {
			return err
		}
	}
	if at != nil {
		at.forget(id)
	}

	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.where, id)
	return nil
}

// Inspect asks the engine that has the allocation. What was on a host that is lost has ended.
func (f *Fleet) Inspect(ctx context.Context, id string) (runtime.State, error) {
	e, err := f.of(ctx, id)
	if err != nil {
		return runtime.State{}, err
	}
	if now := e.now(); now.Lost {
		return e.lost(id, now.Reason), nil
	}

	state, err := with(ctx, e, func(ctx context.Context) (runtime.State, error) { return e.Inspect(ctx, id) })
	if err == nil {
		e.remember(id, state)
	}
	return state, err
}

// Stats is that of runtime.Runtime.
func (f *Fleet) Stats(ctx context.Context, id string) (runtime.Stats, error) {
	e, err := f.of(ctx, id)
	if err != nil {
		return runtime.Stats{}, err
	}
	return with(ctx, e, func(ctx context.Context) (runtime.Stats, error) { return e.Stats(ctx, id) })
}

// Logs is that of runtime.Runtime.
func (f *Fleet) Logs(ctx context.Context, id string, q runtime.LogQuery, emit func(runtime.Line) error) error {
	e, err := f.of(ctx, id)
	if err != nil {
		return err
	}
	return e.do(ctx, func(ctx context.Context) error { return e.Logs(ctx, id, q, emit) })
}

// Exec is that of runtime.Runtime.
func (f *Fleet) Exec(ctx context.Context, id string, x runtime.Exec) (int, error) {
	e, err := f.of(ctx, id)
	if err != nil {
		return 0, err
	}
	return with(ctx, e, func(ctx context.Context) (int, error) { return e.Exec(ctx, id, x) })
}

// List gives what is on the engines that answer. ErrUnavailable if that of the settings does not, which has hosts.
func (f *Fleet) List(ctx context.Context) (ids []string, err error) {
	at := map[string][]*engine{}
	for _, e := range f.reached() {
		some, err := with(ctx, e, e.List)
		if err != nil && e == f.main {
			return nil, err
		}
		for _, id := range some {
			at[id] = append(at[id], e)
		}
	}

	for id, all := range at {
		if len(all) == 1 {
			f.noteFirst(id, all[0])
		}
	}
	return slices.Sorted(maps.Keys(at)), nil
}

// noteFirst notes where an allocation is, unless that is known.
func (f *Fleet) noteFirst(id string, e *engine) {
	f.mu.Lock()
	known := f.where[id] != nil
	f.mu.Unlock()
	if !known {
		f.note(id, e)
	}
}

// Sweep sweeps the engines that answer.
func (f *Fleet) Sweep(ctx context.Context) (err error) {
	for _, e := range f.reached() {
		err = errors.Join(err, e.do(ctx, e.Sweep))
	}
	return err
}

// Volumes gives the network volumes of which there is data on the engines that answer.
func (f *Fleet) Volumes(ctx context.Context) ([]compute.VolumeID, error) {
	return gather(ctx, f, (*Runtime).Volumes)
}

// gather gives what the engines that answer have, each once and in order.
func gather[T cmp.Ordered](ctx context.Context, f *Fleet, of func(*Runtime, context.Context) ([]T, error)) (all []T, err error) {
	for _, e := range f.reached() {
		some, one := with(ctx, e, func(ctx context.Context) ([]T, error) { return of(e.Runtime, ctx) })
		all, err = append(all, some...), errors.Join(err, one)
	}
	slices.Sort(all)
	return slices.Compact(all), err
}

// RemoveVolume removes the volume from the engines that answer; those that do not are found by Volumes when they do again.
func (f *Fleet) RemoveVolume(ctx context.Context, id compute.VolumeID) (err error) {
	for _, e := range f.reached() {
		err = errors.Join(err, e.do(ctx, func(ctx context.Context) error { return e.RemoveVolume(ctx, id) }))
	}
	return err
}
