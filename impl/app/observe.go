package app

import (
	"context"
	"net/http"
	"path/filepath"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/observe"
	"github.com/berthdev/berth/impl/problem"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

const (
	// reachTimeout bounds how long /readyz waits for what pods and workers run on.
	reachTimeout = 2 * time.Second
	// flushTimeout bounds how long the last spans may take to be sent.
	flushTimeout = 5 * time.Second
)

// MetricsURL is where the metrics are served; empty if they are not.
func (s *Server) MetricsURL() string { return s.metricsURL }

// openStore opens the store, and the metrics and traces with it if they are asked for.
func (s *Server) openStore(ctx context.Context, c Config) (err error) {
	if c.TracesEndpoint != "" {
		to := observe.TraceSettings{Endpoint: c.TracesEndpoint, Headers: c.TracesHeaders, Version: c.Version}
		if s.tracing, err = observe.NewTracing(ctx, to, c.Log); err != nil {
			return err
		}
	}
	open := sqlite.Open
	if c.Ephemeral {
		open = sqlite.OpenUnsynced
	}
	db, err := open(ctx, filepath.Join(c.Data, databaseFile), c.clock)
	if err != nil {
		return err
	}
	s.store = db
	s.tellDamage(db.Damage())
	db.Watch(s.watchStorage)
	if c.MetricsListen != "" {
		s.metrics = observe.NewMetrics(c.Version)
		db.Observe(s.metrics.Committed)
	}
	if s.tracing != nil {
		s.store = s.tracing.Store(db)
	}
	if c.TestControls {
		s.storage = &storage{Store: s.store}
		s.store = s.storage
	}
	return nil
}

// observedQueue adds to the hooks of the queue what observes it.
func (s *Server) observedQueue(h queue.Hooks) queue.Hooks {
	if s.metrics != nil {
		h.Meter = func(id compute.EndpointID) queue.Meter { return s.metrics.Endpoint(id) }
	}
	if s.tracing != nil {
		h.Trace = s.tracing
	}
	return h
}

// observe gives the edge what observes it, and the metrics what they tell of.
func (s *Server) observe(services *httpapi.Services, webhooks *loop.Webhooks) {
	services.Reachable, services.Leaving = s.reachable, s.leaving.Load
	if s.tracing != nil {
		services.Trace = s.tracing
	}
	if s.metrics == nil {
		return
	}
	services.Meter = func(operation string) httpapi.Meter { return s.metrics.Operation(operation) }
	webhooks.Posted = s.metrics.Posted
	s.placement.Looked = s.metrics.Placed
	s.metrics.Watch(observe.Sources{
		Trouble: s.store.Trouble, Dropped: s.config.LogDropped,
		Dispatchers: s.queue.Dispatchers, Held: s.queue.Holding, Supply: s.placement.Supplies, Clock: s.config.clock, Log: s.config.Log,
		Pods: func(ctx context.Context) (counts map[compute.PodStatus]int64, err error) {
			err = s.store.Read(ctx, func(tx store.Tx) error {
				counts, err = tx.CountPods()
				return err
			})
			return counts, err
		},
	})
}

// reachable tells whether what pods and workers run on answers: the engine, where there is one.
func (s *Server) reachable(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, reachTimeout)
	defer cancel()
	for _, r := range []runtime.Runtime{s.pods, s.workers} {
		if remote, ok := r.(interface{ Ping(context.Context) error }); ok {
			return remote.Ping(ctx) // both are of one engine
		}
	}
	return nil
}

// listenMetrics opens the address of the metrics, which is another one than that of the interfaces: clients see no path that is
// not documented, and who may read the metrics is decided by who reaches the address.
func (s *Server) listenMetrics() error {
	if s.config.MetricsListen == "" {
		return nil
	}
	base, err := s.open(s.config.MetricsListen)
	if err == nil {
		s.metricsURL = base + "/metrics"
	}
	return err
}

func (s *Server) metricsHandler() http.Handler {
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", s.metrics.Handler())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := s.hosts.Check(s.proxies.Host(r)); err != nil {
			http.Error(w, problem.Of(err).Detail, problem.Of(err).Status)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// giveNotice has /readyz say that the server leaves, and goes on as before for as long as the settings ask for, so that who
// spreads requests over servers sends no more when the address closes.
func (s *Server) giveNotice() {
	if !s.leaving.Swap(true) && s.config.DrainNotice > 0 {
		over, _ := compute.SystemClock{}.After(s.config.DrainNotice)
		<-over
	}
}

// closeTracing sends the last spans.
func (s *Server) closeTracing() {
	if s.tracing == nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
	defer cancel()
	if err := s.tracing.Close(ctx); err != nil {
		s.config.Log.Warn("the last traces are lost", "error", err)
	}
}
