package app_test

import (
	"encoding/hex"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	wire "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/setting"
)

// receiver takes spans by OTLP over HTTP.
type receiver struct {
	*httptest.Server
	mu    sync.Mutex
	spans []*wire.Span
}

func receive(t *testing.T) *receiver {
	r := &receiver{}
	r.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		body, err := io.ReadAll(q.Body)
		var sent wire.TracesData
		if err != nil || q.URL.Path != "/v1/traces" || proto.Unmarshal(body, &sent) != nil {
			w.WriteHeader(http.StatusBadRequest)
			return
		}

		r.mu.Lock()
		defer r.mu.Unlock()
		for _, of := range sent.GetResourceSpans() {
			for _, scope := range of.GetScopeSpans() {
				r.spans = append(r.spans, scope.GetSpans()...)
			}
		}
	}))

	t.Cleanup(r.Close)
	return r
}

// named gives the span of the name in the trace, of which there is one.
func (r *receiver) named(t *testing.T, trace, name string) (found *wire.Span) {
	r.mu.Lock()
	defer r.mu.Unlock()

	var names []string
	for _, s := range r.spans {
		if hex.EncodeToString(s.GetTraceId()) != trace {
			continue
		}
		names = append(names, s.GetName())
		if s.GetName() == name {
			require.Nil(t, found, name)
			found = s
		}
	}

	require.NotNil(t, found, "%s among %v", name, names)
	return found
}

// work takes one job of the endpoint and completes it.
func work(t *testing.T, s *app.Server, endpoint string) {
	base := s.QueueURL() + "/v2/" + endpoint
	status, job := call(t, "GET", base+"/job-take/w?job_in_progress=0", s.FirstKey(), "")
	require.Equal(t, 200, status)
	status, _ = call(t, "POST", base+"/job-done/w/"+job["id"].(string)+"?isStream=false", s.FirstKey(), `{"output":1}`)
	require.Equal(t, 200, status)
}

// runSync runs one job, which a worker takes meanwhile, as a part of the trace.
func runSync(t *testing.T, s *app.Server, endpoint, trace string) {
	var worker sync.WaitGroup
	worker.Go(func() { work(t, s, endpoint) })
	req, err := http.NewRequestWithContext(t.Context(), "POST", s.QueueURL()+"/v2/"+endpoint+"/runsync", strings.NewReader(`{"input":{}}`))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+s.FirstKey())
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("traceparent", "00-"+trace+"-b7ad6b7169203331-01")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode)
	worker.Wait()
}

func TestObservers_TraceShowsThePartsOfRunSync(t *testing.T) {
	t.Parallel()
	to := receive(t)
	s := start(t, app.Config{Data: t.TempDir(), Endpoints: []app.Endpoint{{Name: "one"}}, TracesEndpoint: to.URL})
	const trace = "0af7651916cd43dd8448eb211c80319c"
	runSync(t, s, string(s.Endpoints()["one"]), trace)
	require.NoError(t, s.Close()) // sends the last spans

	edge := to.named(t, trace, "POST /v2/:endpointId/runsync")
	require.Equal(t, wire.Span_SPAN_KIND_SERVER, edge.GetKind())
	require.Equal(t, "b7ad6b7169203331", hex.EncodeToString(edge.GetParentSpanId()))

	var last uint64
	for _, name := range []string{"validation", "commit", "wait"} {
		part := to.named(t, trace, name)
		require.Equal(t, edge.GetSpanId(), part.GetParentSpanId(), name)
		require.GreaterOrEqual(t, part.GetStartTimeUnixNano(), max(last, edge.GetStartTimeUnixNano()), "%s comes after what is before it", name)
		require.GreaterOrEqual(t, part.GetEndTimeUnixNano(), part.GetStartTimeUnixNano(), name)
		require.LessOrEqual(t, part.GetEndTimeUnixNano(), edge.GetEndTimeUnixNano(), name)
		last = part.GetEndTimeUnixNano()
	}

	for _, name := range []string{"queue", "execution"} {
		part := to.named(t, trace, name)
		require.Equal(t, edge.GetSpanId(), part.GetParentSpanId(), name)
		require.Len(t, part.GetLinks(), 1, "to the worker's request")
	}
}

func TestObservers_MetricsHaveTheirOwnAddress(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), Endpoints: []app.Endpoint{{Name: "one"}}, MetricsListen: "127.0.0.1:0"})
	endpoint := string(s.Endpoints()["one"])
	runSync(t, s, endpoint, "0af7651916cd43dd8448eb211c80319c")
	_, _ = call(t, "POST", s.URL()+"/v2/"+endpoint+"/run", s.FirstKey(), `{"input":{}}`)
	_, _ = call(t, "POST", s.URL()+"/v2/pods", s.FirstKey(), `{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":2}}`)
	status, _ := call(t, "GET", s.URL()+"/metrics", s.FirstKey(), "")
	require.Equal(t, 404, status)

	lines := func() []string {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.MetricsURL(), nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		require.Equal(t, 200, res.StatusCode)
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return strings.Split(string(text), "\n")
	}

	of := `{endpoint="` + endpoint + `"`
	for _, line := range []string{
		`berth_http_requests_total{operation="runSync",status="2xx"} 1`,
		`berth_http_requests_total{operation="unknown",status="4xx"} 1`,
		`berth_jobs_submitted_total` + of + `} 2`,
		`berth_jobs_ended_total` + of + `,status="COMPLETED"} 1`,
		`berth_queue_delay_seconds_count` + of + `} 1`,
		`berth_job_execution_seconds_count` + of + `} 1`,
		`berth_jobs` + of + `,status="IN_QUEUE"} 1`,
		`berth_jobs` + of + `,status="IN_PROGRESS"} 0`,
		`berth_workers` + of + `,status="IDLE"} 1`,
		`berth_placements_total{for="pod",outcome="placed"} 1`,
	} {
		// A request is counted once it is answered, when its client may know already.
		require.Eventually(t, func() bool { return slices.Contains(lines(), line) }, 10*time.Second, 5*time.Millisecond, line)
	}

	require.NotContains(t, lines(), "berth_store_commit_seconds_count 0")
	require.NoError(t, s.Close())
}

func TestServer_Close_EndsReadinessBeforeTheAddress(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), DrainNotice: 8 * time.Second})
	probe := func(path string) (int, string) {
		req, err := http.NewRequestWithContext(t.Context(), "GET", s.URL()+path, nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		defer func() { _ = res.Body.Close() }()
		text, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(text)
	}

	status, _ := probe("/readyz")
	require.Equal(t, 200, status)
	over := make(chan error, 1)
	go func() { over <- s.Close() }()
	var detail string
	require.Eventually(t, func() bool {
		status, detail = probe("/readyz")
		return status == 503
	}, 10*time.Second, time.Millisecond)
	require.Contains(t, detail, "not ready: the server is draining")

	status, _ = probe("/healthz")
	require.Equal(t, 200, status)
	require.NoError(t, <-over)
}

func TestServer_WithoutItsEngineIsHealthyButNotReady(t *testing.T) {
	t.Parallel()
	s := start(t, app.Config{Data: t.TempDir(), Runtime: "docker", RuntimeSettings: setting.Values{"docker-host": {"tcp://127.0.0.1:1"}}})
	status, _ := call(t, "GET", s.URL()+"/healthz", "", "")
	require.Equal(t, 200, status)
	status, problem := call(t, "GET", s.URL()+"/readyz", "", "")
	require.Equal(t, 503, status)
	require.Equal(t, "not ready: what pods and workers run on does not answer", problem["detail"])
	require.NoError(t, s.Close())
}

func TestStart_RefusesATracesEndpointThatIsNoURL(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := app.Start(t.Context(), app.Config{Data: dir, Listen: "127.0.0.1:0", TracesEndpoint: "collector:4318"})
	require.EqualError(t, err, `traces-endpoint "collector:4318": it must be a URL that begins with http:// or https://, and has a host`)
	require.NoError(t, start(t, app.Config{Data: dir}).Close(), "nothing is left locked")
}

func TestServer_LogNamesRequestsAndIDsButNoSecret(t *testing.T) {
	t.Parallel()
	var log lines
	s := start(t, app.Config{
		Data: t.TempDir(), Endpoints: []app.Endpoint{{Name: "one"}}, TracesEndpoint: receive(t).URL, TracesHeaders: map[string]string{"X-Key": "secret-header"},
		Log: slog.New(slog.NewJSONHandler(&log, &slog.HandlerOptions{Level: slog.LevelDebug})),
	})
	key, endpoint := s.FirstKey(), string(s.Endpoints()["one"])
	const trace = "1af7651916cd43dd8448eb211c80319d"
	runSync(t, s, endpoint, trace)

	_, registry := call(t, "POST", s.URL()+"/v2/registries", key, `{"name":"n","username":"secret-user","password":"secret-password"}`)
	_, pod := call(t, "POST", s.URL()+"/v2/pods", key,
		`{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":2},"env":{"TOKEN":"secret-env"},"registry":"`+registry["id"].(string)+`"}`)
	_, _ = call(t, "PATCH", s.URL()+"/v2/pods/"+pod["id"].(string), key, `{"env":{"TOKEN":"secret-env"}}`)
	_, _ = call(t, "POST", s.URL()+"/v2/pods", key, `{"env":{"TOKEN":7},"secret-member":"secret-value"}`)
	_, _ = call(t, "GET", s.URL()+"/v2/pods?api_key="+key, "secret-wrong-key", "")
	_, _ = call(t, "POST", s.URL()+"/graphql?api_key="+key, "", `{"query":"mutation{saveRegistryAuth(input:{name:\"m\",username:\"secret-user\",password:\"secret-password\"}){id}}"}`)
	_, _ = call(t, "POST", s.URL()+"/v2/"+endpoint+"/run", key, `{"input":{"password":"secret-input"},"webhook":"http://127.0.0.1:1/?secret-hook=1"}`)
	work(t, s, endpoint)
	require.NoError(t, s.Close())

	text := log.text.String()
	require.NotContains(t, text, "secret")
	require.NotContains(t, text, key[len(key)-40:])

	seen := map[string]bool{}
	for line := range strings.Lines(text) {
		var of struct{ Msg, Request, Operation, Method, Route, Endpoint, Job, Worker, Pod, Trace string }
		require.NoError(t, json.Unmarshal([]byte(line), &of), line)
		if of.Msg != "request" {
			continue
		}

		require.Len(t, of.Request, 16, line)
		require.NotEmpty(t, of.Operation, line)
		require.NotEmpty(t, of.Method, line)
		switch of.Operation {
		case "runSync":
			require.Equal(t, trace, of.Trace)
			require.Equal(t, endpoint, of.Endpoint)
			require.True(t, strings.HasPrefix(of.Job, "sync-"), line)
		case "takeJob", "finishJob":
			require.Equal(t, "w", of.Worker)
			require.NotEmpty(t, of.Job, line)
		case "updatePod":
			require.Equal(t, pod["id"], of.Pod)
		}

		seen[of.Operation] = true
	}

	for _, operation := range []string{"runSync", "takeJob", "finishJob", "createPod", "updatePod", "graphql", "listPods"} {
		require.True(t, seen[operation], "%s among %v", operation, seen)
	}
}
