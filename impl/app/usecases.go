package app

import (
	"context"
	"fmt"
	"iter"
	"path/filepath"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/history"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/proxy"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/webhook"
	"github.com/berthdev/berth/store"
)

// pingsInALease is how often a worker that berth starts pings in a lease.
const pingsInALease = 3

// useCases are what is asked of a server, and what works unasked.
type useCases struct {
	placement  *control.Placement
	hosts      *reported // nil: the runtime does not schedule
	engines    *engines  // nil: hosts have none of their own
	registries *control.Registries
	secrets    *control.Secrets
	control    *control.Control
	endpoints  *control.Endpoints
	flash      *control.Flash
	logins     *control.Logins
	artifacts  *limit.Artifacts
	queue      *queue.Queue
	pods       *loop.Pods
	timers     *loop.Timers
	workers    *loop.Workers
	webhooks   *loop.Webhooks
	builds     *loop.Builds
	scripts    *control.Scripts
	scripted   *loop.ScriptedWorkers // nil: workers are not simulated
	health     *proxy.Health         // nil: workers are simulated, and nothing in them could be asked
	history    *history.History

	declared map[string]compute.EndpointID // the declared endpoints, by name
	kept     *beside[struct{}]             // the secret, on disk
}

// useCasesConfig is what they are made of.
type useCasesConfig struct {
	Config
	clock compute.Clock
	store store.Store
	who   identity
	runs  *runtimes
	at    *addresses
	seen  observers
	fleet *beside[control.PreparedFleet]

	lastWall time.Time // when the server, or the one before it, was seen last before this start
}

// place gives how hosts are chosen: as the runtime does, unless another policy is set.
func (c useCasesConfig) place() func(iter.Seq[compute.HostRoom]) (compute.HostRoom, bool) {
	if policy := runtime.Policy(c.Placement); policy != "" && policy != runtime.PolicyPack {
		return policy.Choose
	}
	return c.runs.Pods.Place
}

// inboxes are the addresses at which the inbox of a test is, also where private ones are not permitted.
func (c useCasesConfig) inboxes() []string {
	if !c.TestControls {
		return nil
	}
	return c.at.local()
}

// newPoster makes what delivers webhooks.
func (c useCasesConfig) newPoster(u *undo) *webhook.Poster {
	poster := webhook.New(c.PrivateWebhooks, c.inboxes()...)
	u.push("connections of webhooks", func() error {
		poster.Close()
		return nil
	})
	return poster
}

// openUseCases makes them in the order in which one needs another. The queue, which workers need, has a need of workers too: its hint
// is made before both.
func openUseCases(ctx context.Context, c useCasesConfig, u *undo) (use *useCases, err error) {
	use = &useCases{history: history.New(c.clock)}
	fleet, err := c.fleet.wait()
	if err != nil {
		return nil, err
	}
	if use.placement, err = fleet.Open(ctx, c.store, control.PlacementOptions{
		Place: c.place(), Schedules: c.runs.kind.Can.Schedules, Looked: c.seen.placed(),
	}); err != nil {
		return nil, err
	}
	if use.hosts, err = newReported(ctx, c.runs, use.placement, use.placement.Catalog(), c.Log); err != nil {
		return nil, err
	}
	if use.registries, err = control.NewRegistries(ctx, c.store, c.who.ids, c.who.secrets.Sealer); err != nil {
		return nil, c.who.secrets.explain(c.Config, err)
	}
	if use.secrets, err = control.NewSecrets(ctx, c.store, c.who.ids, c.who.secrets.Sealer); err != nil {
		return nil, c.who.secrets.explain(c.Config, err)
	}

	use.kept = c.who.secrets.keep(c.Config)
	u.push("secret", use.kept.over)

	use.webhooks = loop.NewWebhooks(loop.Delivery{Store: c.store, Post: c.newPoster(u).Post, Clock: c.clock, Log: c.Log, Posted: c.seen.posted()})
	demand, scripts := loop.NewHint(), loop.NewScripts(c.store)
	use.scripts = control.NewScripts(c.store, c.runs.forRules(), scripts.Changed)
	settings := queue.DefaultSettings()
	settings.Lease, settings.RequestWait = c.Lease, c.RequestWait

	if use.queue, err = queue.New(ctx, c.store, c.clock, c.who.ids, settings, c.seen.queueHooks(queue.Hooks{
		Demand: loop.Both(demand, scripts.Hint), Document: httpapi.JobDocument, Delivery: use.webhooks.Hint, Sealer: c.who.secrets.Sealer,
	}, use.history)); err != nil {
		return nil, err
	}

	use.pods = loop.NewPods(loop.PodFleet{
		Store: c.store, Placement: use.placement, Runtime: c.runs.Pods, Clock: c.clock, Log: c.Log, Simulated: c.runs.kind.Can.Simulates,
		Login: use.registries.Login, Secrets: use.secrets.Fill, Key: c.who.secrets.PodKeys().Token, URL: c.at.outer, LastWall: c.lastWall,
	})
	use.control = control.New(c.store, c.who.ids, use.placement, c.runs.forRules(), control.Hints{
		Pod: use.pods.Hint, Timer: func(id compute.PodID) { use.timers.Hint(id) }, Volume: use.pods.HintVolume,
	})
	if err = c.later("pods on hosts that left", use.control.EndRemoved(ctx)); err != nil {
		return nil, err
	}
	use.control.SetInterruptions(c.InterruptAfter, c.InterruptSeed)
	use.timers = loop.NewTimers(c.store, use.control, c.clock, c.Log)
	use.endpoints = control.NewEndpoints(c.store, c.who.ids, use.placement, use.queue, c.runs.forRules())
	if err = c.later("deleted endpoints", use.endpoints.Resume(ctx)); err != nil {
		return nil, err
	}
	use.artifacts = limit.NewArtifacts(filepath.Join(c.Data, artifactsDir), compute.FlashTransfers)
	use.flash = control.NewFlash(c.store, c.who.ids, use.endpoints, c.who.secrets.Sealer, c.clock, use.artifacts)
	use.logins = control.NewLogins(c.store, c.who.ids, c.clock, c.who.keyring)
	if use.declared, err = declare(ctx, c.Endpoints, use.endpoints); err != nil {
		return nil, err
	}

	builder, _ := c.runs.Workers.(runtime.Builder) // not every kind is one
	if use.builds, err = loop.OpenBuilds(ctx, loop.BuildsConfig{
		Store: c.store, Endpoints: use.endpoints, Builder: builder, Clock: c.clock, Log: c.Log,
	}); err != nil {
		return nil, err
	}
	u.push("builds", use.builds.Close)

	use.workers = loop.NewWorkers(loop.Fleet{
		Store: c.store, Placement: use.placement, Queue: use.queue, Keyring: c.who.keyring, Local: c.runs.local, Runtime: c.runs.Workers,
		Simulated: c.runs.kind.Can.Simulates, IDs: c.who.ids, Clock: c.clock, Log: c.Log, URL: c.at.queue, OuterURL: c.at.outer,
		Ping: c.Lease / pingsInALease, Undeclared: func(id compute.EndpointID) bool { return !use.declares(id) },
		Held: use.pods.Has, Login: use.registries.Login, Secrets: use.secrets.Fill, Demand: demand, Scripts: scripts,
		Artifact: use.artifact,
	})
	use.scripted, use.health = newScripted(c, scripts, use.workers, use.queue), newHealth(c, use.workers, use.queue)
	use.history.Of(history.Sources{Dispatchers: use.queue.Dispatchers, Pods: use.pods.Measured, Running: runningPods(c.store)})

	use.engines, err = newEngines(ctx, c.runs, use.placement, use.pods, use.workers, c.at.outer(), c.Log, u)
	return use, err
}

// later has a start go on where the store takes no writes, as with a full disk: a sweep ends what was to be ended.
func (c useCasesConfig) later(what string, err error) error {
	if compute.CodeOf(err) != compute.Unavailable {
		return err
	}
	c.Log.Warn("what was cut off is ended later", "of", what, "error", err)
	return nil
}

// artifact gives the file that the workers of an endpoint in a flash environment run; empty: nothing was deployed there.
func (u *useCases) artifact(ctx context.Context, of compute.FlashEnvironmentID) (string, error) {
	build, there, err := u.flash.Runs(ctx, of)
	switch {
	case err != nil || build == "":
		return "", err
	case !there:
		return "", fmt.Errorf("the artifact of build %s is not on this server: deploy it again", build)
	}
	return filepath.Abs(u.artifacts.Path(build))
}

// newScripted makes what the simulated workers of endpoints with a script do; nil: workers are not simulated.
func newScripted(c useCasesConfig, scripts *loop.Scripts, workers *loop.Workers, q *queue.Queue) *loop.ScriptedWorkers {
	simulation, is := c.runs.Workers.(runtime.Simulation)
	if !is {
		return nil
	}
	return loop.NewScriptedWorkers(loop.ScriptedFleet{
		Scripts: scripts, Workers: workers, Queue: q, Runtime: simulation, Clock: c.clock, Log: c.Log, Ping: c.Lease / pingsInALease,
	})
}

// newHealth makes what asks the workers of endpoints that balance load how they are; nil: they are simulated.
func newHealth(c useCasesConfig, workers *loop.Workers, q *queue.Queue) *proxy.Health {
	if c.runs.kind.Can.Simulates {
		return nil
	}
	return proxy.NewHealth(q, workers.Ports, runtime.Dial(c.runs.Pods), c.Log)
}

// declares reports whether the settings of this start declare the endpoint.
func (use *useCases) declares(id compute.EndpointID) bool {
	for _, one := range use.declared {
		if one == id {
			return true
		}
	}
	return false
}

// declare makes the endpoints of the settings, or gives them their new settings, and gives their ids by name.
func declare(ctx context.Context, all []Endpoint, endpoints *control.Endpoints) (map[string]compute.EndpointID, error) {
	ids := map[string]compute.EndpointID{}
	for _, e := range all {
		n := control.NewEndpoint{
			ID: e.ID, Name: e.Name, Image: e.Name, WorkersMin: e.WorkersMin, WorkersMax: e.WorkersMax, IdleTimeout: e.IdleTimeout,
			Scaler: e.Scaler, ScalerValue: float64(e.ScalerValue),
		}
		switch {
		case len(e.Command) == 0:
			n.WorkersMin, n.WorkersMax = 0, 0
		case n.WorkersMax == 0:
			n.WorkersMax = defaultWorkersMax
		}

		if n.IdleTimeout == 0 {
			n.IdleTimeout = defaultIdleTimeout
		}
		made, err := endpoints.Declare(ctx, owner, n)
		if err != nil {
			return nil, fmt.Errorf("endpoint %s: %w", e.Name, err)
		}

		ids[e.Name] = made.ID
	}

	return ids, nil
}

// alone keeps scripted workers from doing anything but what a clock that is set brings, until over is called.
func (u *useCases) alone() (over func()) {
	if u.scripted == nil {
		return func() {}
	}
	return u.scripted.Alone()
}
