package app

import (
	"cmp"
	"context"
	"maps"
	"net/http"
	"path/filepath"

	"github.com/berthdev/berth/console"
	"github.com/berthdev/berth/docs"
	"github.com/berthdev/berth/graphql"
	"github.com/berthdev/berth/impl/audit"
	"github.com/berthdev/berth/impl/changes"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/observe"
	"github.com/berthdev/berth/impl/proxy"
	"github.com/berthdev/berth/impl/reference"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/shell"
	"github.com/berthdev/berth/impl/why"
	"github.com/berthdev/berth/store"
)

// edge is what the handlers are made of.
type edge struct {
	config   Config
	bounds   bounds
	clock    compute.Clock
	db       database
	who      identity
	rates    counts
	runs     *runtimes
	at       *addresses
	seen     observers
	use      *useCases
	shells   *shell.Shells
	controls *controls // nil: there are none
	leaving  *leaving
	draining context.Context // ends when answers without an end are to end
}

// leaves reports whether /readyz is to say that the server leaves. One that shares its store answers it for the others, too, as long as it
// is the owner: of itself it says so before (ground.local).
func (e edge) leaves() bool { return e.config.Store == "" && e.leaving.Load() }

// newHandler makes what answers the requests of clients and workers.
func newHandler(e edge) (*httpapi.Handler, error) {
	c, use := e.config, e.use
	bodies, err := limit.NewBodies(filepath.Join(c.Data, bodiesDir), c.StallTimeout)
	if err != nil {
		return nil, err
	}

	archives, err := limit.NewArchives(filepath.Join(c.Data, buildsDir), compute.BuildArchive, compute.BuildsLive)
	if err != nil {
		return nil, err
	}

	answers, faults := limit.NewAnswers(c.StallTimeout), &fault.Script{}
	faults.Watch(func() { e.db.changes.Note(changes.Event{Kind: changes.Fault, Change: changes.Changed}) })
	services := httpapi.Services{
		Control: use.control, Pods: use.pods, Endpoints: use.endpoints, Workers: use.workers, Builds: use.builds, Scripts: use.scripts, Shells: e.shells, SSHPort: e.at.sshPort(), QueueURL: e.at.public, BaseURL: e.at.balanced(c.Domain), PodAddress: e.at.shown(c.Domain, c.PodPaths), Balanced: balancedWorkers{use, e.runs.kind.Can.Simulates}, Registries: use.registries, Secrets: use.secrets,
		Why: &why.Reasons{
			Store: e.db.store, Clock: e.clock, Queue: use.queue, Control: use.control, Endpoints: use.endpoints, Placement: use.placement,
			Workers: use.workers, Pods: use.pods,
		},
		Version: cmp.Or(c.Version, "dev"), Runtime: e.runs.kind.Name, Simulate: e.runs.kind.Can.Simulates, Changes: e.db.changes, History: use.history, Queue: use.queue, Keyring: e.who.keyring, Refusals: e.who.refusals, Rates: e.rates.rest, QueueRates: e.rates.queue, IDs: e.who.ids, Clock: e.clock, Log: c.Log,
		Draining: e.draining, Leaving: e.leaves, Faults: faults, Hosts: e.bounds.hosts, Proxies: e.bounds.proxies, Bodies: bodies, Archives: archives, Answers: answers, Connections: e.bounds.connections.Most(),
		Artifacts: use.artifacts, Flash: use.flash,
		Seed: e.bounds.seed, Owner: owner, Contract: c.Contract, Trouble: e.db.store.Trouble, Ready: e.db.answers, Reachable: e.runs.reachable, Meter: e.seen.operations(), Trace: e.seen.requests(),
		GraphQL: graphql.New(graphql.Services{
			Control: use.control, Live: use.pods.Live, Endpoints: use.endpoints, Registries: use.registries, Secrets: use.secrets, Flash: use.flash, Logins: use.logins, BaseURL: e.at.public, Host: e.bounds.proxies.HostName, Keyring: e.who.keyring, Faults: faults,
			Clock: e.clock, Log: c.Log, Limits: c.GraphQL.Limits, Bodies: bodies, Answers: answers, Client: e.bounds.proxies.Client, Refused: e.refused(audit.GraphQL),
			Introspection: c.GraphQL.Introspection || c.TestControls, Playground: c.GraphQL.Playground,
		}),
	}

	if e.controls != nil {
		services.Controls = e.controls
	}
	if c.Docs {
		services.Home = docs.Root
		services.Docs = reference.Handlers(reference.Settings{Controls: c.TestControls, Playground: c.GraphQL.Playground, Editions: httpapi.Editions()})
		maps.Copy(services.Docs, docs.Handlers())
	}
	if c.Console {
		services.Home, services.Console = console.Root, console.New()
	}
	return httpapi.New(services)
}

// podProxy makes what answers the requests to pods.
func (e edge) podProxy(answers *httpapi.Handler) *proxy.Proxy {
	var watch proxy.Watch // of tests alone
	if e.controls != nil {
		watch = answers
	}
	return proxy.New(proxy.Config{
		Watch:  watch,
		Domain: e.config.Domain, Pods: e.use.control, Live: e.use.pods.Live, Simulated: e.runs.kind.Can.Simulates, PodPaths: e.config.PodPaths,
		Keys: e.who.keyring, Flash: e.use.flash, Requests: e.use.queue, Ports: e.use.workers.Ports, Dial: runtime.Dial(e.runs.Pods), Clock: e.clock, Own: e.at.publicHost(),
		Proxies: e.bounds.proxies, Ending: e.draining, Log: e.config.Log, Stall: e.config.StallTimeout,
		Refused: e.refused(audit.Queue),
	})
}

// refused notes who was refused at an interface.
func (e edge) refused(at string) func(*http.Request, error) {
	return func(r *http.Request, err error) {
		e.who.refusals.Note(at, func() string { return e.bounds.proxies.Client(r) }, err)
	}
}

// sources are what the metrics show at each scrape.
func (e edge) sources() observe.Sources {
	return observe.Sources{
		Trouble: e.db.store.Trouble, Dropped: e.config.LogDropped, Dispatchers: e.use.queue.Dispatchers, Held: e.use.queue.Holding,
		Supply: e.use.placement.Supplies, Clock: e.clock, Log: e.config.Log, Pods: podCounts(e.db.store),
		Backup: backupStatus(e.db.backup),
	}
}

// answers reports whether the store answers.
func (d database) answers(ctx context.Context) error {
	return d.store.Read(ctx, func(store.Tx) error { return nil })
}
