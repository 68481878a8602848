package observe

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/berthdev/berth/impl/compute"
)

const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0"

// traced gives a Tracing whose spans stay in memory.
func traced(t *testing.T) (*Tracing, *tracetest.InMemoryExporter) {
	kept := tracetest.NewInMemoryExporter()
	tracing, err := newTracing(t.Context(), "v1", sdk.NewSimpleSpanProcessor(kept))
	require.NoError(t, err)
	return tracing, kept
}

func request(t *testing.T, tracing *Tracing, traceparent string) (*http.Request, func(int)) {
	r := httptest.NewRequestWithContext(t.Context(), "POST", "/v2/e/run?api_key=secret", nil)
	r.Header.Set("Authorization", "Bearer secret")
	if traceparent != "" {
		r.Header.Set("traceparent", traceparent)
	}
	return tracing.Request(r, "/v2/:endpointId/run", "run", "the-request")
}

// called gives the span of the name, of which there is one.
func called(t *testing.T, kept *tracetest.InMemoryExporter, name string) (found tracetest.SpanStub) {
	n := 0
	for _, s := range kept.GetSpans() {
		if s.Name == name {
			found = s
			n++
		}
	}
	require.Equal(t, 1, n, name)
	return found
}

func TestTracing_ContinuesTheTraceOfTheClient(t *testing.T) {
	t.Parallel()
	tracing, kept := traced(t)
	r, over := request(t, tracing, parent+"1")
	require.Equal(t, "0af7651916cd43dd8448eb211c80319c", tracing.ID(r.Context()))

	over(500)
	s := called(t, kept, "POST /v2/:endpointId/run")
	require.Equal(t, "b7ad6b7169203331", s.Parent.SpanID().String())
	require.Equal(t, codes.Error, s.Status.Code)
	require.Subset(t, s.Attributes, []attribute.KeyValue{
		attribute.String("http.request.method", "POST"), attribute.String("url.path", "/v2/e/run"), attribute.String("berth.operation", "run"),
		attribute.String("berth.request.id", "the-request"), attribute.Int("http.response.status_code", 500),
	})
	require.NotContains(t, fmt.Sprint(s), "secret")
}

func TestTracing_RequestThatWasCutHasNoStatusOfAnAnswer(t *testing.T) {
	t.Parallel()
	tracing, kept := traced(t)
	_, over := request(t, tracing, "")
	over(0)
	s := called(t, kept, "POST /v2/:endpointId/run")
	require.Equal(t, codes.Error, s.Status.Code)
	for _, a := range s.Attributes {
		require.NotEqualValues(t, "http.response.status_code", a.Key)
	}
}

func TestTracing_UnsampledRequestIsNotKept(t *testing.T) {
	t.Parallel()
	tracing, kept := traced(t)
	r, over := request(t, tracing, parent+"0")
	tracing.Submitted(r.Context(), "j")
	require.Empty(t, tracing.ID(r.Context()))
	require.Empty(t, tracing.jobs)
	over(200)
	require.Empty(t, kept.GetSpans())
}

func TestTracing_JobIsInTheTraceOfItsSubmission(t *testing.T) {
	t.Parallel()
	at := time.UnixMilli(1_700_000_000_000).UTC()
	tracing, kept := traced(t)
	submit, over := request(t, tracing, "")
	tracing.Submitted(submit.Context(), "j")
	over(200)
	j := compute.Job{ID: "j", EndpointID: "e", WorkerID: "w", Status: compute.JobInProgress, QueuedAt: at, TakenAt: at.Add(time.Second)}
	take, over := request(t, tracing, "")
	tracing.Taken(take.Context(), j)
	over(200)
	j.Status, j.EndedAt = compute.JobFailed, at.Add(4*time.Second)
	tracing.Ended(context.Background(), j)
	require.Empty(t, tracing.jobs)

	tracing.Ended(context.Background(), j) // of which nothing is known any more

	spans := kept.GetSpans()
	require.Len(t, spans, 4)
	first, queue, worker, execution := spans[0], called(t, kept, "queue"), spans[2], called(t, kept, "execution")
	for _, s := range []tracetest.SpanStub{queue, execution} {
		require.Equal(t, first.SpanContext.TraceID(), s.SpanContext.TraceID())
		require.Equal(t, first.SpanContext.SpanID(), s.Parent.SpanID())
	}
	require.NotEqual(t, first.SpanContext.TraceID(), worker.SpanContext.TraceID())
	require.Equal(t, first.SpanContext.SpanID(), worker.Links[0].SpanContext.SpanID())
	require.Equal(t, worker.SpanContext.SpanID(), queue.Links[0].SpanContext.SpanID())
	require.Empty(t, execution.Links)
	require.Equal(t, time.Second, queue.EndTime.Sub(queue.StartTime))
	require.Equal(t, 3*time.Second, execution.EndTime.Sub(execution.StartTime))
	require.Equal(t, codes.Error, execution.Status.Code)
	require.Contains(t, execution.Attributes, attribute.String("berth.worker.id", "w"))
	require.Contains(t, first.Attributes, attribute.String("berth.job.id", "j"))
}

func TestTracing_FollowsOnlySoManyJobs(t *testing.T) {
	t.Parallel()
	tracing, _ := traced(t)
	r, _ := request(t, tracing, "")
	for i := range followedJobs + 10 {
		tracing.Submitted(r.Context(), compute.JobID(fmt.Sprint(i)))
	}
	require.Len(t, tracing.jobs, followedJobs)
	tracing.Dropped("1")
	require.Len(t, tracing.jobs, followedJobs-1)
	tracing.DroppedAll()
	require.Empty(t, tracing.jobs)
}

func TestTracing_RefusesAnEndpointThatIsNoURL(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"", "collector:4318", "grpc://collector", "http://", "://"} {
		_, err := TraceSettings{Endpoint: bad}.check()
		require.EqualError(t, err, "the endpoint of traces is no http or https URL", bad)
	}
	for given, want := range map[string]string{
		"http://c:4318": "http://c:4318/v1/traces", "https://c/": "https://c/v1/traces", "http://c/own/path": "http://c/own/path",
	} {
		address, err := TraceSettings{Endpoint: given}.check()
		require.NoError(t, err)
		require.Equal(t, want, address.String())
	}
}

func TestPoster_RepeatsABatchAndLogsLossesOnce(t *testing.T) {
	t.Parallel()
	var answers atomic.Int64
	status := make(chan int, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		answers.Add(1)
		body, err := io.ReadAll(r.Body)
		var sent wire.TracesData
		if err != nil || proto.Unmarshal(body, &sent) != nil || r.Header.Get("X-Key") != "k" || r.Header.Get("Content-Type") != "application/x-protobuf" {
			w.WriteHeader(http.StatusTeapot)
			return
		}
		w.WriteHeader(<-status)
	}))
	defer receiver.Close()

	var log bytes.Buffer
	address, err := url.Parse(strings.Replace(receiver.URL, "//", "//user:secret@", 1) + "/?key=secret")
	require.NoError(t, err)

	p := newPoster(address, map[string]string{"X-Key": "k"}, slog.New(slog.NewTextHandler(&log, nil)))
	send := func(answered ...int) {
		for _, s := range answered {
			status <- s
		}
		require.NoError(t, p.UploadTraces(t.Context(), []*wire.ResourceSpans{{}}))
	}

	send(503, 200)
	require.EqualValues(t, 2, answers.Load())
	require.Empty(t, log.String())
	send(400)
	send(400)
	require.EqualValues(t, 4, answers.Load())
	require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("traces are lost")), log.String())

	send(200)
	require.Contains(t, log.String(), "traces are received again")
	receiver.Close()
	ctx, over := context.WithTimeout(t.Context(), 10*time.Millisecond) // of which no second try is made
	defer over()
	require.NoError(t, p.UploadTraces(ctx, nil))
	require.Equal(t, 2, strings.Count(log.String(), "traces are lost"), log.String())
	require.NotContains(t, log.String(), "X-Key")
	require.NotContains(t, log.String(), "secret")
}

// received gives a server that takes spans, and what came to it.
func received(t *testing.T) (address string, all func() []*wire.Span) {
	var mu sync.Mutex
	var spans []*wire.Span
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(r.Body)
		var sent wire.TracesData
		if !assert.NoError(t, err) || !assert.NoError(t, proto.Unmarshal(body, &sent)) {
			return
		}
		mu.Lock()
		defer mu.Unlock()
		for _, of := range sent.ResourceSpans {
			for _, in := range of.ScopeSpans {
				spans = append(spans, in.Spans...)
			}
		}
	}))
	t.Cleanup(receiver.Close)
	return receiver.URL, func() []*wire.Span {
		mu.Lock()
		defer mu.Unlock()
		return spans
	}
}

func TestTracing_SendsWhatClientsChose(t *testing.T) {
	t.Parallel()
	address, all := received(t)
	tracing, err := NewTracing(t.Context(), TraceSettings{Endpoint: address}, slog.New(slog.DiscardHandler))
	require.NoError(t, err)

	for _, path := range []string{"/%ff", "/" + strings.Repeat("x", longestText), "/fine"} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", path, nil)
		r.Header.Set("traceparent", parent+"1")
		r.Header.Set("tracestate", "a="+path[:min(len(path), 200)])
		r, over := tracing.Request(r, "", "", "the-request")
		tracing.Submitted(r.Context(), "j")
		over(404)
	}
	tracing.Ended(t.Context(), compute.Job{ID: "j", WorkerID: "\xff", QueuedAt: time.Now(), TakenAt: time.Now(), EndedAt: time.Now()})
	require.NoError(t, tracing.Close(t.Context()))

	got := map[string]bool{}
	for _, span := range all() {
		for _, a := range span.Attributes {
			if a.Key == "url.path" || a.Key == "berth.worker.id" {
				got[a.Value.GetStringValue()] = true
			}
		}
	}
	require.Equal(t, map[string]bool{"/\uFFFD": true, "/" + strings.Repeat("x", longestText-1): true, "/fine": true, "\uFFFD": true}, got)
}

func TestTracing_KeepsNoLongState(t *testing.T) {
	t.Parallel()
	tracing, _ := traced(t)
	for state, want := range map[string]string{"a=b": "a=b", "a=" + strings.Repeat("x", 200) + ",b=" + strings.Repeat("x", 200) + ",c=" + strings.Repeat("x", 200): ""} {
		r := httptest.NewRequestWithContext(t.Context(), "GET", "/", nil)
		r.Header.Set("traceparent", parent+"1")
		r.Header.Set("tracestate", state)
		r, _ = tracing.Request(r, "", "", "the-request")
		in := trace.SpanContextFromContext(r.Context())
		require.Equal(t, "0af7651916cd43dd8448eb211c80319c", in.TraceID().String())
		require.Equal(t, want, in.TraceState().String())
	}
}

func TestPoster_SaysThatABatchCannotBeWritten(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	p := newPoster(&url.URL{Scheme: "http", Host: "127.0.0.1:1"}, nil, slog.New(slog.NewTextHandler(&log, nil)))
	require.NoError(t, p.UploadTraces(t.Context(), []*wire.ResourceSpans{{SchemaUrl: "\xff"}}))
	require.Equal(t, 1, strings.Count(log.String(), "traces are lost"), log.String())
	require.Contains(t, log.String(), "UTF-8")
}

func TestPoster_FollowsNoRedirect(t *testing.T) {
	t.Parallel()
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	for _, status := range []int{http.StatusMovedPermanently, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect} {
		receiver := httptest.NewServer(http.RedirectHandler(other.URL, status))
		var log bytes.Buffer
		address, err := url.Parse(receiver.URL)
		require.NoError(t, err)
		p := newPoster(address, map[string]string{"X-Key": "k"}, slog.New(slog.NewTextHandler(&log, nil)))
		require.NoError(t, p.UploadTraces(t.Context(), []*wire.ResourceSpans{{}}))
		receiver.Close()
		require.Contains(t, log.String(), fmt.Sprintf("traces are lost\" host=%s error=\"the receiver answered %d", address.Host, status))
	}
	require.Zero(t, elsewhere.Load())
}
