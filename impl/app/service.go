package app

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/store"
)

// service is what a server does while it owns the store: all there is, where no other one shares it.
type service struct {
	config   Config
	clocks   clocks
	runs     *runtimes
	before   *earlier
	keyring  *control.Keyring
	firstKey string
	workers  *loop.Workers
	declared map[string]compute.EndpointID
	controls *controls // nil if there are none
	work     *work
	handler  http.Handler
}

// openService makes the service of that term. Nothing is done unasked yet.
func openService(ctx context.Context, g ground, of term, u *undo) (*service, error) {
	c := g.config
	clocks := newClocks(c)
	fleet := prepareFleet(ctx, c)
	u.push("fleet", fleet.over)
	db, err := openStore(ctx, c, g.dir.secrets, of, clocks.clock, g.seen, u)
	if err := c.passed("store", err); err != nil {
		return nil, err
	}

	keeper, err := newTimekeeper(ctx, clocks, db.store, c.Log, u)
	if err := c.passed("clock", err); err != nil {
		return nil, err
	}
	keys, err := openIdentity(ctx, c, clocks.clock, db.store, g.dir, u)
	if err := c.passed("keys", err); err != nil {
		return nil, err
	}

	rates, err := openRates(ctx, c, clocks.clock, db.store, g.bounds, u)
	if err := c.passed("rates", err); err != nil {
		return nil, err
	}

	owned := newOwned(c, keys)
	runs, err := openRuntimes(ctx, c, g.bounds.kind, clocks.clock, owned, u)
	if err := c.passed("runtimes", err); err != nil {
		return nil, err
	}
	before, err := noteRuntimes(ctx, db.store, runs, owned, c.Log)
	if err := c.passed("earlier runtimes", err); err != nil {
		return nil, err
	}

	use, err := openUseCases(ctx, useCasesConfig{c, clocks.clock, db.store, keys, runs, g.at, g.seen, fleet, keeper.noted}, u)
	if err := c.passed("use cases", err); err != nil {
		return nil, err
	}
	err = finishFiles(c, g.dir, keys, use)
	if err := c.passed("files", err); err != nil {
		return nil, err
	}

	work := newWork(c, clocks.clock, db.store, keeper, keys, rates, use, u)
	controls, err := openControls(ctx, g, clocks, db, keeper, keys, rates, runs, use, work, u)
	if err := c.passed("test controls", err); err != nil {
		return nil, err
	}

	shells := newShells(work.loops.ctx, c, db.store, runs, use)
	u.push("sessions", func() error {
		shells.Wait()
		return nil
	})
	err = letIn(work.loops.ctx, g, use, shells, keys.refusals, u)
	if err := c.passed("ssh", err); err != nil {
		return nil, err
	}

	edge := edge{c, g.bounds, clocks.clock, db, keys, rates, runs, g.at, g.seen, use, shells, controls, g.leaving, work.loops.ctx}
	handler, err := newHandler(edge)
	if err := c.passed("handlers", err); err != nil {
		return nil, err
	}
	err = handler.Plant(ctx)
	if err := c.passed("seed", err); err != nil {
		return nil, err
	}

	g.seen.watch(edge.sources(), u)
	first, _ := keys.first.wait() // it is there: finishFiles has waited for it
	return &service{
		config: c, clocks: clocks, runs: runs, before: before, keyring: keys.keyring, firstKey: first, workers: use.workers,
		declared: use.declared, controls: controls, work: work, handler: edge.podProxy(handler).Before(handler),
	}, nil
}

// runPods has pods moved along: requests may end some, and need that.
func (v *service) runPods(u *undo) {
	v.clocks.running.Look()
	v.work.runPods(u)
}

// run has all else done that is done unasked.
func (v *service) run(u *undo) {
	v.work.run(v.before, v.runs.config, u)
	if v.controls != nil {
		v.work.loops.running.Go(func() { v.controls.auto.Run(v.work.loops.ctx) })
	}
}

// owning is the service of a replica, as long as it owns the store.
type owning struct {
	*service
	undo     *undo
	early    *undo // what is undone before
	requests sync.WaitGroup

	mu   sync.RWMutex // held while requests are counted
	over atomic.Bool  // they are waited for: no more come
}

// ServeHTTP answers a request. One that comes as the service ends is to be asked again.
func (o *owning) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if !o.enter() {
		httpapi.Refuse(w, r, store.Troubled(store.Moved, errors.New("the service ends")))
		return
	}
	defer o.requests.Done()
	o.handler.ServeHTTP(w, r)
}

func (o *owning) enter() bool {
	o.mu.RLock()
	defer o.mu.RUnlock()
	if o.over.Load() {
		return false
	}
	o.requests.Add(1)
	return true
}

// StopWork has workers finish or give back what they hold, held requests answered with what is known, and pods ended whose end was acknowledged.
// Requests are answered as before.
func (o *owning) StopWork() error { return o.early.all(false) }

// Close ends the service. Nobody gives it requests any more.
func (o *owning) Close() error { return errors.Join(o.StopWork(), o.undo.all(false)) }

// handOver is how long the requests that are being answered hold up the next owner, and with it all others, at most. One that takes longer goes on:
// what it writes then is refused as unavailable, and the end of the server gives it the time that requests may take.
const handOver = time.Second

// drain waits for the requests that are being answered.
func (o *owning) drain() error {
	o.mu.Lock()
	o.over.Store(true)
	o.mu.Unlock()
	ended := make(chan struct{})
	go func() {
		o.requests.Wait()
		close(ended)
	}()
	over, stop := compute.SystemClock{}.After(min(o.config.Drain, handOver))
	defer stop()
	select {
	case <-ended:
	case <-over:
	}
	return nil
}
