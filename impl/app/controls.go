package app

import (
	"cmp"
	"context"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/audit"
	"github.com/berthdev/berth/impl/changes"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/loop/reconcile"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// controls carry out what the test controls ask for, over all rooms.
type controls struct {
	key         string // of those who may use them
	config      Config
	clock       *compute.SettableClock
	keeper      *timekeeper
	db          database
	rates       counts
	use         *useCases
	simulations []runtime.Simulation
	kept        *reconcile.Sweeps
	holder      *holder // nil: servers share the store
	secrets     secrets
	saving      sync.Mutex // held while a state is saved or deleted
	auto        *loop.Auto // has the clock go by itself
}

// openControls makes the controls, with a key in place of that of an earlier run; nil if there are to be none.
func openControls(
	ctx context.Context, g ground, clocks clocks, db database, keeper *timekeeper, who identity, n counts, runs *runtimes, use *useCases, w *work, u *undo,
) (*controls, error) {
	c := g.config
	if !c.TestControls {
		return nil, nil
	}
	simulations := runs.simulations()
	due := w.due(simulations)
	working := func() bool { return use.queue.Working() || use.workers.Starting() }
	made := &controls{
		key: c.controlsKey, config: c, clock: clocks.settable, keeper: keeper, db: db, rates: n, use: use, simulations: simulations, kept: w.kept,
		auto:   loop.NewAuto(clocks.settable, due, use.queue.Holding, working, use.alone, c.Log),
		holder: g.holder, secrets: g.dir.secrets,
	}
	made.clock.Watch(made.clockSet)
	if made.key != "" { // the rows have it
		return made, nil
	}
	for _, k := range who.keyring.Keys(false) {
		if k.Allows(compute.ScopeControls) {
			if err := who.keyring.Delete(ctx, k.ID); err != nil {
				return nil, err
			}
		}
	}

	fresh := control.NewKey{UserID: owner, Name: "test controls", Scopes: []compute.Scope{compute.ScopeControls, compute.ScopeAdmin}, Exempt: true}
	key, token, err := who.keyring.Create(ctx, fresh)
	if err != nil {
		return nil, err
	}
	made.key = token

	// Or the next start would take the directory for one that has a key.
	u.pushOnFailure("key of the test controls", func() error { return who.keyring.Delete(context.WithoutCancel(ctx), key.ID) })
	return made, nil
}

// Clock is the clock that tests set; nil without the test controls.
func (s *Server) Clock() *compute.SettableClock {
	c, err := s.controls()
	if err != nil {
		return nil
	}
	return c.clock
}

// What the clock does.
const (
	ClockRunning = httpapi.ClockRunning
	ClockFrozen  = httpapi.ClockFrozen
	ClockAuto    = httpapi.ClockAuto
)

// SetClock has that clock run, stand still, or go by itself by at most so much, 0 being without a bound, when nothing came for settle; 0: the
// default. It needs the test controls.
func (s *Server) SetClock(mode httpapi.ClockMode, most, settle time.Duration) {
	if c, err := s.controls(); err == nil {
		c.SetClock(mode, most, cmp.Or(settle, httpapi.DefaultSettle))
	}
}

// Sleep returns when that clock has moved on by d, or with the error of ctx.
func (s *Server) Sleep(ctx context.Context, d time.Duration) error {
	c, err := s.controls()
	if err != nil {
		return err
	}
	_, over := c.Request()
	defer over()
	return compute.Sleep(ctx, c.clock, d)
}

// Advance sets that clock forward by d and does all that falls due on the way, each at its time. It needs the test controls.
func (s *Server) Advance(ctx context.Context, d time.Duration) error {
	c, err := s.controls()
	if err != nil {
		return err
	}
	return c.Advance(ctx, d)
}

func (c *controls) Clock() *compute.SettableClock { return c.clock }

func (c *controls) Advance(ctx context.Context, d time.Duration) error {
	defer c.use.alone()()
	ctx = audit.Nobody(ctx)
	if err := c.auto.Advance(ctx, d); err != nil {
		return err
	}
	_ = c.keeper.keep(ctx) // a sudden end would lose what a long way cost; if it fails, the sweep tries again and says why
	return nil
}

// clockSet notes that the clock shows another time, or goes otherwise.
func (c *controls) clockSet() {
	c.db.changes.Note(changes.Event{Kind: changes.Clock, Change: changes.Changed})
}

func (c *controls) SetClock(mode httpapi.ClockMode, most, settle time.Duration) {
	defer c.clockSet()
	if mode == httpapi.ClockAuto {
		c.auto.Begin(most, settle)
		return
	}
	c.auto.End(mode == httpapi.ClockRunning)
}

func (c *controls) ClockMode() (mode httpapi.ClockMode, left time.Duration) {
	on, left := c.auto.On()
	switch {
	case on:
		return httpapi.ClockAuto, left
	case c.clock.Frozen():
		return httpapi.ClockFrozen, 0
	}
	return httpapi.ClockRunning, 0
}

func (c *controls) Request() (answered, over func()) { return c.auto.Request() }

func (c *controls) InboxSleeps() (over func()) { return c.use.webhooks.Sleeps() }

func (c *controls) Step(ctx context.Context, by time.Duration) error {
	c.keeper.running.Step(by)
	c.clockSet()
	c.kept.Hint(clockSweep)
	return c.kept.Step(ctx)
}

func (c *controls) Reset(ctx context.Context) error {
	ctx = context.WithoutCancel(ctx) // half a reset is no state
	if err := c.removeEndpoints(ctx); err != nil {
		return err
	}
	if err := c.db.store.Write(ctx, func(tx store.Tx) error { return tx.Clear() }); err != nil {
		return err
	}

	c.use.queue.Clear()
	c.use.scripts.Forget()
	c.use.webhooks.Clear()
	for _, s := range c.simulations {
		s.Reset()
	}
	c.use.placement.Clear()
	c.SetInterruptions(c.config.InterruptAfter, c.config.InterruptSeed)
	q := c.config.Quotas
	c.SetQuotas(q.Minute, q.Hour, q.Day)

	return c.SetQueueRates(c.config.QueueRates)
}

// removeEndpoints has the endpoints forgotten that are not declared, with their workers.
func (c *controls) removeEndpoints(ctx context.Context) error {
	var all []compute.Endpoint
	err := c.db.store.Read(ctx, func(tx store.Tx) (err error) {
		all, err = tx.ListEndpoints()
		return err
	})
	for _, e := range all {
		if err == nil && !e.Declared {
			err = c.use.queue.RemoveEndpoint(ctx, e.ID)
		}
	}
	return err
}

// webhookLog is how many deliveries the log shows.
const webhookLog = 1000

func (c *controls) Webhooks(ctx context.Context) (log []compute.Webhook, err error) {
	err = c.db.store.Read(ctx, func(tx store.Tx) error {
		log, err = tx.ListWebhooks(webhookLog)
		return err
	})
	return log, err
}

func (c *controls) SetQuotas(minute, hour, day int64) {
	c.rates.rest.SetQuotas(compute.Windows(minute, hour, day))
}

func (c *controls) SetQueueRates(p compute.QueuePreset) error {
	quotas, err := compute.QueueQuotas(p)
	if err == nil {
		c.rates.queue.SetQuotas(quotas)
	}
	return err
}

func (c *controls) SetStorage(state string) { c.db.scripts.set(store.Trouble(state)) }

func (c *controls) SetBoot(d time.Duration) {
	for _, s := range c.simulations {
		s.SetBoot(d)
	}
}

func (c *controls) SetInterruptions(mean time.Duration, seed int64) {
	c.use.control.SetInterruptions(mean, seed)
}

func (c *controls) InterruptPods(ctx context.Context, id compute.PodID) (int, error) {
	if id == "" {
		return c.use.control.InterruptPods(ctx)
	}
	if err := c.use.control.InterruptPod(ctx, id); err != nil {
		return 0, err
	}
	return 1, nil
}

func (c *controls) InterruptWorkers(e compute.EndpointID, id compute.WorkerID) int {
	return c.use.workers.Interrupt(e, id)
}

func (c *controls) SetCapacity(capacity []control.Capacity) error {
	return c.use.placement.SetCapacity(capacity)
}
