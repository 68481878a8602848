package observe

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/berthdev/berth/impl/compute"
)

// followedJobs bounds how many jobs have their trace in memory, about 100 bytes each. Those over it are not followed.
const followedJobs = 100_000

// TraceSettings say where spans go.
type TraceSettings struct {
	// Endpoint is the URL of a receiver of OTLP over HTTP. One without a path means its /v1/traces.
	Endpoint string
	Headers  map[string]string // sent along, such as a key of the receiver
	Version  string            // of the program
}

// check refuses an address that no request can be sent to, and gives it with its path. The error does not show it: it may hold a
// password.
func (s TraceSettings) check() (*url.URL, error) {
	u, err := url.Parse(s.Endpoint)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return nil, errors.New("the endpoint of traces is no http or https URL")
	}
	if u.Path == "" || u.Path == "/" {
		u.Path = "/v1/traces"
	}
	return u, nil
}

// Tracing makes the spans of one server. It is the Trace of httpapi and of queue. The SDK is OpenTelemetry's own, and so is its
// exporter but for the sending, see poster. How much is sampled is set by the SDK's environment, OTEL_TRACES_SAMPLER.
type Tracing struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer

	mu   sync.Mutex
	jobs map[compute.JobID]trace.SpanContext // of the requests that submitted them, until they end
}

// NewTracing makes a Tracing that sends its spans in batches. The receiver need not answer: spans that it does not take are lost,
// and the log says so.
func NewTracing(ctx context.Context, s TraceSettings, log *slog.Logger) (*Tracing, error) {
	address, err := s.check()
	if err != nil {
		return nil, err
	}
	exporter, err := otlptrace.New(ctx, newPoster(address, s.Headers, log))
	if err != nil {
		return nil, err
	}
	return newTracing(ctx, s.Version, sdk.NewBatchSpanProcessor(exporter))
}

func newTracing(ctx context.Context, version string, p sdk.SpanProcessor) (*Tracing, error) {
	of, err := resource.New(ctx, resource.WithTelemetrySDK(),
		resource.WithAttributes(semconv.ServiceName("berth"), semconv.ServiceVersion(version)), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("traces: %w", err)
	}
	provider := sdk.NewTracerProvider(sdk.WithResource(of), sdk.WithSpanProcessor(p))
	return &Tracing{
		provider: provider, tracer: provider.Tracer("github.com/berthdev/berth/impl/observe"), jobs: map[compute.JobID]trace.SpanContext{},
	}, nil
}

// Close sends what is left, until ctx ends.
func (t *Tracing) Close(ctx context.Context) error { return t.provider.Shutdown(ctx) }

// methods are those that may name a span: a client can send any word.
var methods = []string{
	http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions,
}

const (
	longestText  = 1 << 10 // bytes of a text in a span: spans wait in memory
	longestState = 512     // bytes of a tracestate that is passed on: jobs keep it until they end
)

// text gives an attribute of a text that a client may have chosen. It is valid UTF-8, without which none of the spans that are sent with it could be, and holds
// nothing else of the request in memory.
func text(key attribute.Key, value string) attribute.KeyValue {
	return key.String(strings.Clone(strings.ToValidUTF8(value[:min(len(value), longestText)], "\uFFFD")))
}

// sentBy gives what the headers say of the trace that a request is in. Of a tracestate that is too long nothing is kept, as its standard permits.
func sentBy(h http.Header) propagation.TextMapCarrier {
	carrier := propagation.MapCarrier{"traceparent": h.Get("traceparent")}
	if state := h.Get("tracestate"); len(state) <= longestState {
		carrier["tracestate"] = state
	}
	return carrier
}

// Request begins the span of a request, in the trace that its traceparent header names if it has one, and gives the request that
// carries it. The query, which may hold a key, is not in the span.
func (t *Tracing) Request(r *http.Request, route, operation, id string) (_ *http.Request, over func(status int)) {
	ctx := propagation.TraceContext{}.Extract(r.Context(), sentBy(r.Header))
	method := r.Method
	if !slices.Contains(methods, method) {
		method = "_OTHER"
	}
	name := method
	if route != "" {
		name += " " + route
	}

	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKindServer), trace.WithAttributes(
		semconv.HTTPRequestMethodKey.String(method), semconv.HTTPRoute(route), text(semconv.URLPathKey, r.URL.Path), semconv.URLScheme(scheme),
		attribute.String("berth.operation", operation), attribute.String("berth.request.id", id),
	))

	return r.WithContext(ctx), func(status int) {
		switch {
		case status == 0:
			span.SetStatus(codes.Error, "the connection was cut before an answer")
		case status >= http.StatusInternalServerError:
			span.SetStatus(codes.Error, http.StatusText(status))
		}
		if status != 0 {
			span.SetAttributes(semconv.HTTPResponseStatusCode(status))
		}
		span.End()
	}
}

// Part begins a span of a part of what ctx is about.
func (t *Tracing) Part(ctx context.Context, name string) (over func()) {
	_, span := t.tracer.Start(ctx, name)
	return func() { span.End() }
}

// ID gives the trace that ctx is in; empty: none that is kept.
func (t *Tracing) ID(ctx context.Context) string {
	if in := trace.SpanContextFromContext(ctx); in.IsSampled() {
		return in.TraceID().String()
	}
	return ""
}

func jobID(id compute.JobID) attribute.KeyValue { return text("berth.job.id", string(id)) }

// Submitted keeps the trace of ctx for the job.
func (t *Tracing) Submitted(ctx context.Context, id compute.JobID) {
	in := trace.SpanFromContext(ctx)
	if !in.SpanContext().IsSampled() {
		return
	}
	in.SetAttributes(jobID(id))
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.jobs) < followedJobs {
		t.jobs[id] = in.SpanContext()
	}
}

// Dropped forgets the job.
func (t *Tracing) Dropped(id compute.JobID) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.jobs, id)
}

// DroppedAll forgets all jobs.
func (t *Tracing) DroppedAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	clear(t.jobs)
}

// Waits begins the span of a request's wait for the job.
func (t *Tracing) Waits(ctx context.Context, id compute.JobID) (over func()) {
	_, span := t.tracer.Start(ctx, "wait", trace.WithAttributes(jobID(id)))
	return func() { span.End() }
}

// Taken adds to the job's trace how long it was in the queue, and ties the request of the worker to it.
func (t *Tracing) Taken(ctx context.Context, j compute.Job) {
	t.add(ctx, "queue", j, j.QueuedAt, j.TakenAt)
}

// Ended adds to the job's trace how long it ran or, if no worker ever had it, how long it was in the queue; it ties the request
// that brought the end to it, and forgets the job.
func (t *Tracing) Ended(ctx context.Context, j compute.Job) {
	if j.TakenAt.IsZero() {
		t.add(ctx, "queue", j, j.QueuedAt, j.EndedAt)
	} else {
		t.add(ctx, "execution", j, j.TakenAt, j.EndedAt)
	}
	t.Dropped(j.ID)
}

// add adds a span of the past to the job's trace. Whoever knew of the job by ctx gets a link to it, and it one to them.
func (t *Tracing) add(ctx context.Context, name string, j compute.Job, from, to time.Time) {
	t.mu.Lock()
	of := t.jobs[j.ID]
	t.mu.Unlock()
	if !of.IsValid() {
		return
	}

	options := []trace.SpanStartOption{trace.WithTimestamp(from), trace.WithAttributes(
		jobID(j.ID), text("berth.endpoint.id", string(j.EndpointID)), text("berth.worker.id", string(j.WorkerID)),
		attribute.String("berth.job.status", string(j.Status)), attribute.Int("berth.job.attempt", j.Attempt),
	)}
	if by := trace.SpanFromContext(ctx); by.SpanContext().IsSampled() && by.SpanContext().TraceID() != of.TraceID() {
		by.AddLink(trace.Link{SpanContext: of, Attributes: []attribute.KeyValue{jobID(j.ID)}})
		options = append(options, trace.WithLinks(trace.Link{SpanContext: by.SpanContext()}))
	}
	_, span := t.tracer.Start(trace.ContextWithSpanContext(context.Background(), of), name, options...)
	if j.Status == compute.JobFailed || j.Status == compute.JobTimedOut {
		span.SetStatus(codes.Error, string(j.Status))
	}
	span.End(trace.WithTimestamp(to))
}
