package app

import (
	"context"
	"net/http"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/history"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/observe"
	"github.com/berthdev/berth/impl/problem"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
)

const (
	// reachTimeout bounds how long /readyz waits for what pods and workers run on.
	reachTimeout = 2 * time.Second
	// flushTimeout bounds how long the last spans may take to be sent.
	flushTimeout = 5 * time.Second
)

// observers see what a server does. Each may be nil: then nobody measures, or traces.
type observers struct {
	metrics *observe.Metrics
	tracing *observe.Tracing
}

func newObservers(ctx context.Context, c Config, u *undo) (o observers, err error) {
	if c.MetricsListen != "" {
		o.metrics = observe.NewMetrics(c.Version)
	}
	if c.TracesEndpoint == "" {
		return o, nil
	}

	to := observe.TraceSettings{Endpoint: c.TracesEndpoint, Headers: c.TracesHeaders, Version: c.Version}
	if o.tracing, err = observe.NewTracing(ctx, to, c.Log); err != nil {
		return o, err
	}

	u.push("traces", func() error { // the last spans are sent
		ctx, cancel := context.WithTimeout(context.Background(), flushTimeout)
		defer cancel()
		if err := o.tracing.Close(ctx); err != nil {
			c.Log.Warn("the last traces are lost", "error", err)
		}
		return nil
	})

	return o, nil
}

// queueHooks adds what observes the queue, the history of the endpoints too.
func (o observers) queueHooks(h queue.Hooks, kept *history.History) queue.Hooks {
	if o.metrics != nil {
		h.Meter = func(id compute.EndpointID) queue.Meter { return o.metrics.Endpoint(id) }
	}
	h.Meter = kept.Meter(h.Meter)
	if o.tracing != nil {
		h.Trace = o.tracing
	}
	return h
}

// posted is notified of each try of a webhook; nil: nobody is.
func (o observers) posted() func(bool) {
	if o.metrics == nil {
		return nil
	}
	return o.metrics.Posted
}

// placed is notified of each look for room; nil: nobody is.
func (o observers) placed() func(string, control.Outcome) {
	if o.metrics == nil {
		return nil
	}
	return o.metrics.Placed
}

// operations makes the meters of the edge's operations; nil: nobody counts.
func (o observers) operations() func(string) httpapi.Meter {
	if o.metrics == nil {
		return nil
	}
	return func(operation string) httpapi.Meter { return o.metrics.Operation(operation) }
}

// requests follows the edge's requests; nil: nobody does.
func (o observers) requests() httpapi.Trace {
	if o.tracing == nil {
		return nil
	}
	return o.tracing
}

// watch has the metrics show how the sources stand until it is undone: then what is kept of the endpoints and jobs of the service goes, too,
// since nobody would notice here that they end.
func (o observers) watch(s observe.Sources, u *undo) {
	if o.tracing != nil {
		u.push("traces of jobs", func() error {
			o.tracing.DroppedAll()
			return nil
		})
	}
	if o.metrics != nil {
		o.metrics.Watch(&s)
		u.push("metrics", func() error {
			o.metrics.Watch(nil)
			o.metrics.ForgetEndpoints()
			return nil
		})
	}
}

// handler answers with the metrics; nil: nothing is measured.
func (o observers) handler(hosts *limit.Hosts, proxies *limit.Proxies) http.Handler {
	if o.metrics == nil {
		return nil
	}
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", o.metrics.Handler())
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := hosts.Check(proxies.Host(r)); err != nil {
			http.Error(w, problem.Of(err).Detail, problem.Of(err).Status)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// podCounts counts the pods by their statuses.
func podCounts(s store.Store) func(context.Context) (map[compute.PodStatus]int64, error) {
	return func(ctx context.Context) (counts map[compute.PodStatus]int64, err error) {
		err = s.Read(ctx, func(tx store.Tx) error {
			counts, err = tx.CountPods()
			return err
		})
		return counts, err
	}
}

// runningPods counts the pods that are RUNNING.
func runningPods(s store.Store) func(context.Context) (int64, error) {
	counts := podCounts(s)
	return func(ctx context.Context) (int64, error) {
		all, err := counts(ctx)
		return all[compute.PodRunning], err
	}
}

// leaving is whether the server is about to stop.
type leaving struct{ atomic.Bool }

// giveNotice has /readyz say that the server leaves, and goes on as before for as long as the settings ask for, so that who
// spreads requests over servers sends no more when the address closes.
func (l *leaving) giveNotice(notice time.Duration) {
	if !l.Swap(true) {
		pass(notice)
	}
}

// pass waits for so long.
func pass(notice time.Duration) {
	if notice > 0 {
		over, _ := compute.SystemClock{}.After(notice)
		<-over
	}
}
