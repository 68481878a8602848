// Package observe is what an operator sees of a running server: its metrics and its traces. It is the one room that knows
// Prometheus and OpenTelemetry; the others report what happens to it through small interfaces of their own, which are nil when nobody
// looks. The metrics are of client_golang, the field's own library; METRICS.md beside this file lists them.
package observe

import (
	"net/http"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// The bounds of the histograms' buckets, in seconds and, of batches, in writes.
var (
	requestBuckets = []float64{.0005, .001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 10, 30, 100}
	jobBuckets     = []float64{.001, .005, .01, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300, 1800, 7200}
	commitBuckets  = []float64{.00005, .0001, .00025, .0005, .001, .0025, .005, .01, .025, .05, .1, .5, 1}
	batchBuckets   = []float64{1, 2, 4, 8, 16, 32, 64, 128, 256}
)

// Metrics are the instruments of one server. What happens often has its series looked up once: counting then takes no lock and
// allocates nothing. They are safe for concurrent use.
type Metrics struct {
	registry   *prometheus.Registry
	requests   *prometheus.CounterVec
	durations  *prometheus.HistogramVec
	submitted  *prometheus.CounterVec
	ended      *prometheus.CounterVec
	lost       *prometheus.CounterVec
	delays     *prometheus.HistogramVec
	executions *prometheus.HistogramVec
	placements *prometheus.CounterVec
	commits    prometheus.Histogram
	batches    prometheus.Histogram
	webhooks   *prometheus.CounterVec
	sources    atomic.Pointer[Sources]
}

// NewMetrics makes the instruments, and a registry that has them and those of the Go run-time and the process.
func NewMetrics(version string) *Metrics {
	counter := func(name, help string, labels ...string) *prometheus.CounterVec {
		return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	}
	histogram := func(name, help string, buckets []float64, labels ...string) *prometheus.HistogramVec {
		return prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	}

	m := &Metrics{
		registry: prometheus.NewRegistry(),
		requests: counter("berth_http_requests_total", "HTTP requests that are over; 0xx: the connection was cut before an answer.", "operation", "status"),
		durations: histogram("berth_http_request_duration_seconds",
			"Time from the arrival of a request to its answer, with the time for which it was held.", requestBuckets, "operation"),
		submitted: counter("berth_jobs_submitted_total", "Jobs that were stored for a client.", "endpoint"),
		ended:     counter("berth_jobs_ended_total", "Jobs that came to an end.", "endpoint", "status"),
		lost:      counter("berth_job_leases_lost_total", "Jobs that were taken back from a worker that went silent or ended.", "endpoint"),
		delays: histogram("berth_queue_delay_seconds",
			"Time from the queueing of a job to its take by a worker.", jobBuckets, "endpoint"),
		executions: histogram("berth_job_execution_seconds", "Time from the take of a job to its end.", jobBuckets, "endpoint"),
		placements: counter("berth_placements_total", "Pods and workers for which room was looked for on the hosts.", "for", "outcome"),
		webhooks:   counter("berth_webhook_tries_total", "Tries to deliver a webhook.", "outcome"),
		commits: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "berth_store_commit_seconds", Help: "Time that a commit of the store took, with the sync of its file.", Buckets: commitBuckets,
		}),
		batches: prometheus.NewHistogram(prometheus.HistogramOpts{
			Name: "berth_store_commit_writes", Help: "Writes that shared one commit of the store.", Buckets: batchBuckets,
		}),
	}

	m.registry.MustRegister(
		m.requests, m.durations, m.submitted, m.ended, m.lost, m.delays, m.executions, m.placements, m.webhooks, m.commits, m.batches,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}),
		prometheus.NewGaugeFunc(prometheus.GaugeOpts{
			Name: "berth_build_info", Help: "Always 1; the label is the version of the program.", ConstLabels: prometheus.Labels{"version": version},
		}, func() float64 { return 1 }),
	)

	m.registry.MustRegister(gauges{m})
	for _, who := range []string{"pod", "worker"} { // known from the start, so that the first one is seen as an increase
		for _, outcome := range []control.Outcome{control.Placed, control.Full, control.NoHost} {
			m.placements.WithLabelValues(who, string(outcome))
		}
	}

	m.webhooks.WithLabelValues("delivered")
	m.webhooks.WithLabelValues("failed")
	return m
}

// Handler answers with all metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// Watch has the gauges show, at each scrape, how the sources stand; with nil they are left out: another replica has them.
func (m *Metrics) Watch(s *Sources) { m.sources.Store(s) }

// ShowReplica adds the gauges of a replica, which f gives at each scrape: whether it owns the database, and the epoch of who does.
// It may be called once.
func (m *Metrics) ShowReplica(f func() (owns bool, epoch int64)) {
	gauge := func(name, help string, of func() float64) prometheus.Collector {
		return prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: name, Help: help}, of)
	}
	m.registry.MustRegister(
		gauge("berth_replica_owner", "1 while this replica owns the database, 0 while another one does or none.", func() float64 {
			if owns, _ := f(); owns {
				return 1
			}
			return 0
		}),
		gauge("berth_replica_epoch", "Epoch of the owner, which grows with each one; 0: this replica knows of no owner.", func() float64 {
			_, epoch := f()
			return float64(epoch)
		}),
	)
}

// statuses are the values of the label status, by the first digit of an HTTP status.
var statuses = [...]string{"0xx", "1xx", "2xx", "3xx", "4xx", "5xx"}

// Operation counts the requests of one operation.
type Operation struct {
	metrics  *Metrics
	name     string
	duration atomic.Pointer[prometheus.Observer]
	counts   [len(statuses)]atomic.Pointer[prometheus.Counter]
}

// Operation makes the counter of an operation. Its series begin with its first request.
func (m *Metrics) Operation(name string) *Operation { return &Operation{metrics: m, name: name} }

// Answered counts a request with its HTTP status; 0: the connection was cut before it was answered.
func (o *Operation) Answered(status int, took time.Duration) {
	class := status / 100
	if class < 0 || class >= len(statuses) {
		class = 0
	}

	count := o.counts[class].Load()
	if count == nil {
		made := o.metrics.requests.WithLabelValues(o.name, statuses[class])
		count = &made
		o.counts[class].Store(count)
	}

	(*count).Inc()
	duration := o.duration.Load()
	if duration == nil {
		made := o.metrics.durations.WithLabelValues(o.name)
		duration = &made
		o.duration.Store(duration)
	}

	(*duration).Observe(took.Seconds())
}

// Endpoint counts the jobs of one endpoint.
type Endpoint struct {
	metrics   *Metrics
	id        string
	submitted prometheus.Counter
	lost      prometheus.Counter
	delay     prometheus.Observer
	execution prometheus.Observer
	ended     map[compute.JobStatus]prometheus.Counter // never changed
	forget    sync.Once
}

// Endpoint makes the counters of an endpoint, whose series stand until Forget.
func (m *Metrics) Endpoint(id compute.EndpointID) *Endpoint {
	e := &Endpoint{
		metrics: m, id: string(id),
		submitted: m.submitted.WithLabelValues(string(id)), lost: m.lost.WithLabelValues(string(id)),
		delay: m.delays.WithLabelValues(string(id)), execution: m.executions.WithLabelValues(string(id)),
		ended: map[compute.JobStatus]prometheus.Counter{},
	}
	for _, status := range []compute.JobStatus{compute.JobCompleted, compute.JobFailed, compute.JobCancelled, compute.JobTimedOut} {
		e.ended[status] = m.ended.WithLabelValues(string(id), string(status))
	}
	return e
}

// Submitted counts a job that was stored.
func (e *Endpoint) Submitted() { e.submitted.Inc() }

// Taken counts a job that a worker got after it had waited for the delay.
func (e *Endpoint) Taken(delay time.Duration) { e.delay.Observe(delay.Seconds()) }

// Lost counts a job that was taken from its worker.
func (e *Endpoint) Lost() { e.lost.Inc() }

// Ended counts a job that has ended, and the time from its take; one that was never taken has none.
func (e *Endpoint) Ended(status compute.JobStatus, taken bool, execution time.Duration) {
	if count := e.ended[status]; count != nil {
		count.Inc()
	}
	if taken {
		e.execution.Observe(execution.Seconds())
	}
}

// Forget ends the series of an endpoint that is no more.
func (e *Endpoint) Forget() {
	e.forget.Do(func() {
		of := prometheus.Labels{"endpoint": e.id}
		e.metrics.submitted.DeletePartialMatch(of)
		e.metrics.lost.DeletePartialMatch(of)
		e.metrics.delays.DeletePartialMatch(of)
		e.metrics.executions.DeletePartialMatch(of)
		e.metrics.ended.DeletePartialMatch(of)
	})
}

// ForgetEndpoints ends the series of all endpoints: the service is over that counted their jobs.
func (m *Metrics) ForgetEndpoints() {
	for _, series := range []interface{ Reset() }{m.submitted, m.lost, m.delays, m.executions, m.ended} {
		series.Reset()
	}
}

// Committed counts a commit of the store that so many writes shared.
func (m *Metrics) Committed(writes int, took time.Duration) {
	m.batches.Observe(float64(writes))
	m.commits.Observe(took.Seconds())
}

// Placed counts a look for room for a pod or a worker, and how it came out.
func (m *Metrics) Placed(who string, outcome control.Outcome) {
	m.placements.WithLabelValues(who, string(outcome)).Inc()
}

// Posted counts a try to deliver a webhook.
func (m *Metrics) Posted(delivered bool) {
	outcome := "failed"
	if delivered {
		outcome = "delivered"
	}
	m.webhooks.WithLabelValues(outcome).Inc()
}
