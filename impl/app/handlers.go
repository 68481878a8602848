package app

import (
	"context"
	"net/http"
	"path/filepath"

	"github.com/berthdev/berth/graphql"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/observe"
	"github.com/berthdev/berth/impl/reference"
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
	controls *controls // nil: there are none
	leaving  *leaving
	draining context.Context // ends when answers without an end are to end
}

// handlers are what answers at the addresses.
type handlers struct {
	all     http.Handler
	metrics http.Handler // nil: nothing is measured
}

func newHandlers(e edge) (h handlers, err error) {
	c, use := e.config, e.use
	bodies, err := limit.NewBodies(filepath.Join(c.Data, bodiesDir), c.StallTimeout)
	if err != nil {
		return h, err
	}

	answers, faults := limit.NewAnswers(c.StallTimeout), &fault.Script{}
	services := httpapi.Services{
		Control: use.control, Pods: use.pods, Endpoints: use.endpoints, Workers: use.workers, QueueURL: e.at.public, Registries: use.registries, Secrets: use.secrets,
		Queue: use.queue, Keyring: e.who.keyring, Rates: e.rates.rest, QueueRates: e.rates.queue, IDs: e.who.ids, Clock: e.clock, Log: c.Log,
		Draining: e.draining, Leaving: e.leaving.Load, Faults: faults, Hosts: e.bounds.hosts, Proxies: e.bounds.proxies, Bodies: bodies, Answers: answers,
		Trouble: e.db.store.Trouble, Ready: e.db.answers, Reachable: e.runs.reachable, Meter: e.seen.operations(), Trace: e.seen.requests(),
		GraphQL: graphql.New(graphql.Services{
			Control: use.control, Live: use.pods.Live, Endpoints: use.endpoints, Registries: use.registries, Keyring: e.who.keyring, Faults: faults,
			Clock: e.clock, Log: c.Log, Limits: c.GraphQL.Limits, Bodies: bodies, Answers: answers,
			Introspection: c.GraphQL.Introspection || c.TestControls, Playground: c.GraphQL.Playground,
		}),
	}

	if e.controls != nil {
		services.Controls = e.controls
	}
	if c.Docs {
		services.Home = reference.Root
		services.Docs = reference.Handlers(reference.Settings{Controls: c.TestControls, Playground: c.GraphQL.Playground})
	}
	if h.all, err = httpapi.New(services); err != nil {
		return h, err
	}

	h.metrics = e.seen.metricsHandler(observe.Sources{
		Trouble: e.db.store.Trouble, Dropped: c.LogDropped, Dispatchers: use.queue.Dispatchers, Held: use.queue.Holding, Supply: use.placement.Supplies,
		Clock: e.clock, Log: c.Log, Pods: podCounts(e.db.store),
	}, e.bounds.hosts, e.bounds.proxies)
	return h, nil
}

// answers tells whether the store answers.
func (d database) answers(ctx context.Context) error {
	return d.store.Read(ctx, func(store.Tx) error { return nil })
}
