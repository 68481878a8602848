package app

import (
	"context"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/history"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/loop/reconcile"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// group are goroutines that end together.
type group struct {
	ctx     context.Context
	stop    context.CancelFunc
	running sync.WaitGroup
}

// newGroup makes one whose context is nobody's: what they do has not been asked for by who started the server.
func newGroup() *group {
	g := &group{}
	g.ctx, g.stop = context.WithCancel(context.Background())
	return g
}

// end has them end, and waits until they have.
func (g *group) end() error {
	g.stop()
	g.running.Wait()
	return nil
}

// work is what is done unasked.
type work struct {
	use       *useCases
	sweep     *reconcile.Sweeps // of the queue, by the server's clock
	retention *reconcile.Sweeps // by the server's clock
	history   *reconcile.Sweeps // likewise
	kept      *reconcile.Sweeps // by the machine's: other processes and restarts do not live on a clock that a test has frozen
	loops     *group
	pods      *group // ends after the others: requests may end pods
}

// span gives how long something is kept; 0: forever.
func span(setting string) time.Duration {
	d, _ := time.ParseDuration(setting) // it was checked
	return d
}

// refusalsTick is how much of who was refused a sudden end of the server may lose.
const refusalsTick = 10 * time.Second

func newWork(
	c Config, clock compute.Clock, s store.Store, keeper *timekeeper, who identity, n counts, use *useCases, u *undo,
) *work {
	w := &work{use: use, loops: newGroup(), pods: newGroup()}
	w.sweep = reconcile.NewSweeps(clock, c.Log, 1, reconcile.Sweep{Name: "queue", Tick: loop.SweepTick, Do: use.queue.Sweep, Next: use.queue.Next})
	w.retention = loop.Retention{
		Store: s, Clock: clock, Log: c.Log, Rates: n.rest, Keyring: who.keyring, Endpoints: use.endpoints, Control: use.control,
		Pods: c.PodRetention, Webhooks: c.WebhookRetention, Keys: c.KeyRetention,
		Audit: c.AuditRetention, Charges: span(c.ChargeRetention), Flash: use.flash,
	}.Sweeps()

	w.history = reconcile.NewSweeps(clock, c.Log, 1, reconcile.Sweep{Name: "history", Tick: history.Tick, Do: use.history.Sample})

	kept := []reconcile.Sweep{
		{Name: "keys", Tick: loop.KeepTick, Do: who.keyring.Refresh},
		{Name: "request counts", Tick: loop.KeepTick, Do: n.rest.Save},
		{Name: "refusals", Tick: refusalsTick, Do: who.refusals.Save},
		{Name: "charges", Tick: loop.KeepTick, Do: use.workers.See},
		{Name: clockSweep, Tick: loop.KeepTick, Do: keeper.keep},
		{Name: "look at the clock", Tick: lookTick, Do: keeper.look},
	}

	if use.hosts != nil {
		kept = append(kept, reconcile.Sweep{Name: "hosts", Tick: hostsTick, Do: use.hosts.refresh})
	}
	if use.engines != nil {
		kept = append(kept, reconcile.Sweep{Name: "engines of hosts", Tick: enginesTick, Do: use.engines.refresh})
	}
	w.kept = reconcile.NewSweeps(compute.SystemClock{}, c.Log, len(kept), kept...)
	u.push("contexts", func() error {
		w.loops.stop()
		w.pods.stop()
		return nil
	})

	return w
}

// due is what the clock brings, in the order in which it is done.
func (w *work) due(simulations []runtime.Simulation) []loop.Due {
	var next []func() time.Time
	for _, s := range simulations {
		next = append(next, s.Next)
	}
	all := []loop.Due{
		{Next: soonest(), Do: w.retention.Step}, // nobody sees when
		{Next: soonest(), Do: w.history.Step},   // a sample for each time to which the clock goes at once
		{Next: soonest(w.use.timers.Next), Do: w.use.timers.Step},
		{Next: soonest(next...), Do: done(w.use.pods.Step)},
		{Next: w.use.queue.Next, Do: w.sweep.StepAll},
		{Next: soonest(append(next, w.use.workers.Next)...), Do: done(w.use.workers.Step)},
	}
	if w.use.scripted != nil { // after the workers, that one that is up takes a job at once
		all = append(all, loop.Due{Next: w.use.scripted.Next, Do: w.use.scripted.Step, Exact: true})
	}
	return append(all, loop.Due{Next: w.use.webhooks.Next, Do: w.use.webhooks.Step})
}

// soonest gives the first of the times that are not zero.
func soonest(all ...func() time.Time) func(context.Context) (time.Time, error) {
	return func(context.Context) (first time.Time, _ error) {
		for _, next := range all {
			if t := next(); first.IsZero() || !t.IsZero() && t.Before(first) {
				first = t
			}
		}
		return first, nil
	}
}

func done(step func(context.Context)) func(context.Context) error {
	return func(ctx context.Context) error {
		step(ctx)
		return ctx.Err()
	}
}

// runPods has pods moved along until the end of the server, which it sees to that those end whose end was acknowledged.
func (w *work) runPods(u *undo) {
	w.pods.running.Go(func() { w.use.pods.Run(w.pods.ctx) })
	u.push("pods", w.pods.end)
}

// run has all else done that is done unasked.
func (w *work) run(before *earlier, c runtime.Config, u *undo) {
	u.push("loops", func() error {
		w.loops.stop()
		w.use.queue.Close() // workers finish or give back what they hold, held requests are answered with what is known
		return w.loops.end()
	})

	w.use.queue.Afresh()
	w.loops.running.Go(func() { w.use.timers.Run(w.loops.ctx) })
	w.loops.running.Go(func() { w.use.workers.Run(w.loops.ctx) })
	w.loops.running.Go(func() { w.use.webhooks.Run(w.loops.ctx) })
	if w.use.health != nil {
		w.loops.running.Go(func() { w.use.health.Run(w.loops.ctx) })
	}
	if w.use.scripted != nil {
		w.loops.running.Go(func() { w.use.scripted.Run(w.loops.ctx) })
	}
	for _, at := range before.all {
		w.loops.running.Go(func() { before.end(w.loops.ctx, at, c) })
	}
	for _, sweeps := range []*reconcile.Sweeps{w.sweep, w.retention, w.history, w.kept} {
		w.loops.running.Go(func() { sweeps.Run(w.loops.ctx) })
	}
}
