package berth_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

func echo(_ context.Context, input json.RawMessage) (any, error) { return input, nil }

// call sends a request over a connection of its own and gives the status and the answer, which is nil unless it is an object.
func call(t testing.TB, method, url, key, body string) (int, map[string]any) {
	t.Helper()
	transport := &http.Transport{DisableKeepAlives: true}
	req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), method, url, strings.NewReader(body))
	require.NoError(t, err)

	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := transport.RoundTrip(req)
	require.NoError(t, err)

	defer func() { require.NoError(t, res.Body.Close()) }()
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	var answer map[string]any
	_ = json.Unmarshal(text, &answer)
	return res.StatusCode, answer
}

// pod creates a pod and gives its id.
func pod(t testing.TB, s *berth.Server) string {
	t.Helper()
	status, made := call(t, "POST", s.URL()+"/v2/pods", s.Key(), `{"name":"first","image":"ubuntu:24.04","cpu":{"id":"cpu3g","vcpuCount":2}}`)
	require.Equal(t, 201, status, made)
	return made["id"].(string)
}

// run runs a job and gives its document.
func run(t testing.TB, s *berth.Server, endpoint, input string) map[string]any {
	t.Helper()
	status, document := call(t, "POST", s.QueueURL()+"/v2/"+s.Endpoint(endpoint)+"/runsync", s.Key(), `{"input":`+input+`}`)
	require.Equal(t, 200, status, document)
	return document
}

func TestHandler_WorksOnTheJobsOfItsEndpoint(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{Endpoints: []berth.Endpoint{
		{Name: "double", Handler: func(_ context.Context, input json.RawMessage) (any, error) {
			var in struct{ N int }
			err := json.Unmarshal(input, &in)
			return map[string]int{"n": 2 * in.N}, err
		}},
		{Name: "fail", Handler: func(context.Context, json.RawMessage) (any, error) { return nil, errors.New("no luck") }},
		{Name: "panic", Handler: func(context.Context, json.RawMessage) (any, error) { panic("dear me") }},
		{Name: "goexit", Handler: func(context.Context, json.RawMessage) (any, error) { runtime.Goexit(); return nil, nil }},
	}})

	document := run(t, s, "double", `{"n":21}`)
	require.Equal(t, "COMPLETED", document["status"])
	require.Equal(t, map[string]any{"n": 42.0}, document["output"])
	document = run(t, s, "fail", `{}`)
	require.Equal(t, "FAILED", document["status"])
	require.Equal(t, "no luck", document["error"])
	require.Equal(t, "panic: dear me", run(t, s, "panic", `{}`)["error"])
	require.Equal(t, "the handler ended its goroutine, as t.FailNow does", run(t, s, "goexit", `{}`)["error"])
}

func TestStreamHandler_GivesValuesAsTheyCome(t *testing.T) {
	t.Parallel()
	read := make(chan struct{})
	s := berthtest.Start(t, berth.Options{Endpoints: []berth.Endpoint{
		{Name: "words", Stream: func(_ context.Context, input json.RawMessage, emit func(any) error) error {
			if err := emit(input); err != nil {
				return err
			}
			<-read // only then there is more
			return emit(map[string]int{"n": 2})
		}},
		{Name: "none", Stream: func(context.Context, json.RawMessage, func(any) error) error { return nil }},
		{Name: "fail", Stream: func(_ context.Context, _ json.RawMessage, emit func(any) error) error {
			return errors.Join(emit(1), errors.New("no luck"))
		}},
		{Name: "panic", Stream: func(context.Context, json.RawMessage, func(any) error) error { panic("dear me") }},
		{Name: "no JSON", Stream: func(_ context.Context, _ json.RawMessage, emit func(any) error) error { return emit(read) }},
	}})

	at := s.QueueURL() + "/v2/" + s.Endpoint("words")
	_, job := call(t, "POST", at+"/run", s.Key(), `{"input":{"text":"one"}}`)
	_, part := call(t, "GET", at+"/stream/"+job["id"].(string), s.Key(), "")
	require.Equal(t, "IN_PROGRESS", part["status"])
	require.Equal(t, map[string]any{"text": "one"}, part["stream"].([]any)[0].(map[string]any)["output"])
	close(read)
	_, job = call(t, "GET", at+"/status-sync/"+job["id"].(string), s.Key(), "")
	require.Equal(t, "COMPLETED", job["status"])
	require.Equal(t, []any{map[string]any{"text": "one"}, map[string]any{"n": 2.0}}, job["output"])

	require.Equal(t, []any{}, run(t, s, "none", `{}`)["output"])
	require.Equal(t, "no luck", run(t, s, "fail", `{}`)["error"])
	require.Equal(t, "panic: dear me", run(t, s, "panic", `{}`)["error"])
	require.Contains(t, run(t, s, "no JSON", `{}`)["error"], "unsupported type")
}

func TestReset_ForgetsWhatWasMade(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{Endpoints: []berth.Endpoint{{Name: "echo", Handler: echo}}})
	status, _ := call(t, "POST", s.URL()+"/v2/pods", s.Key(), `{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":2}}`)
	require.Equal(t, 201, status)
	require.NoError(t, s.Reset(t.Context()))
	_, pods := call(t, "GET", s.URL()+"/v2/pods", s.Key(), "")
	require.Empty(t, pods["pods"])
	require.Equal(t, map[string]any{"still": "here"}, run(t, s, "echo", `{"still":"here"}`)["output"])
}

func TestHandler_CancelledJobEndsItsContext(t *testing.T) {
	t.Parallel()
	begun, ended := make(chan struct{}), make(chan struct{})
	s := berthtest.Start(t, berth.Options{Endpoints: []berth.Endpoint{{Name: "wait", Handler: func(ctx context.Context, _ json.RawMessage) (any, error) {
		close(begun)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}}}})

	at := s.QueueURL() + "/v2/" + s.Endpoint("wait")
	_, job := call(t, "POST", at+"/run", s.Key(), `{"input":{}}`)
	<-begun
	_, job = call(t, "POST", at+"/cancel/"+job["id"].(string), s.Key(), "")
	require.Equal(t, "CANCELLED", job["status"])
	<-ended
}

func TestServer_Close_KeepsTheJobAtWork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	begun := make(chan struct{})
	first, err := berth.Start(t.Context(), berth.Options{Dir: dir, Endpoints: []berth.Endpoint{{Name: "slow", Handler: func(ctx context.Context, _ json.RawMessage) (any, error) {
		close(begun)
		<-ctx.Done()
		return nil, ctx.Err()
	}}}})
	require.NoError(t, err)

	_, job := call(t, "POST", first.QueueURL()+"/v2/"+first.Endpoint("slow")+"/run", first.Key(), `{"input":{"n":1}}`)
	<-begun
	require.NoError(t, first.Close())

	second := berthtest.Start(t, berth.Options{Dir: dir, Endpoints: []berth.Endpoint{{Name: "slow", Handler: echo}}})
	require.NotEqual(t, first.Key(), second.Key())
	second.Clock().Freeze()
	require.NoError(t, second.Clock().Advance(t.Context(), time.Minute)) // over the lease

	_, document := call(t, "GET", second.QueueURL()+"/v2/"+second.Endpoint("slow")+"/status-sync/"+job["id"].(string), second.Key(), "")
	require.Equal(t, "COMPLETED", document["status"])
	require.Equal(t, map[string]any{"n": 1.0}, document["output"])
}

func TestClock_AdvanceRunsWhatIsDue(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{})
	clock := s.Clock()
	clock.Freeze()
	before := clock.Now()
	id := pod(t, s)
	require.NoError(t, clock.Advance(t.Context(), time.Hour))
	require.Equal(t, time.Hour, clock.Now().Sub(before))
	_, document := call(t, "GET", s.URL()+"/v2/pods/"+id, s.Key(), "")
	require.Equal(t, "RUNNING", document["status"])
	clock.Resume()
	require.GreaterOrEqual(t, clock.Now().Sub(before), time.Hour)
}

func TestClock_GoesByItselfWhileEverybodySleeps(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{Endpoints: []berth.Endpoint{{Name: "idle"}}})
	clock := s.Clock()
	clock.Freeze()
	before := clock.Now()
	_, job := call(t, "POST", s.QueueURL()+"/v2/"+s.Endpoint("idle")+"/run", s.Key(), `{"input":{},"policy":{"ttl":3600000}}`)
	clock.Auto(0, time.Second)
	require.NoError(t, clock.Sleep(t.Context(), 61*time.Minute))
	require.GreaterOrEqual(t, clock.Now().Sub(before), 61*time.Minute)

	clock.Freeze()
	_, document := call(t, "GET", s.QueueURL()+"/v2/"+s.Endpoint("idle")+"/status/"+job["id"].(string), s.Key(), "")
	require.Equal(t, "TIMED_OUT", document["status"])
	stopped, stop := context.WithCancel(t.Context())
	stop()
	require.ErrorIs(t, clock.Sleep(stopped, time.Hour), context.Canceled)
}

func TestServer_SharesNothingWithAnother(t *testing.T) {
	t.Parallel()
	a, b := berthtest.Start(t, berth.Options{}), berthtest.Start(t, berth.Options{})
	id := pod(t, a)
	status, _ := call(t, "GET", b.URL()+"/v2/pods/"+id, b.Key(), "")
	require.Equal(t, 404, status)
	status, _ = call(t, "GET", b.URL()+"/v2/pods", a.Key(), "")
	require.Equal(t, 401, status)
	a.Clock().Freeze()
	require.NoError(t, a.Clock().Advance(t.Context(), 24*time.Hour))
	require.Less(t, time.Until(b.Clock().Now()), time.Hour)
}

func TestServer_NewKey_HasItsScopesOnly(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{})
	key, err := s.NewKey(t.Context(), "rest:read")
	require.NoError(t, err)
	status, _ := call(t, "GET", s.URL()+"/v2/pods", key, "")
	require.Equal(t, 200, status)
	status, _ = call(t, "POST", s.URL()+"/v2/pods", key, "{}")
	require.Equal(t, 403, status)
	_, err = s.NewKey(t.Context(), "everything")
	require.ErrorContains(t, err, `scope "everything"`)
	_, err = s.NewKey(t.Context())
	require.Error(t, err)
}

func TestServer_AnswersAtEveryAddress(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{})
	status, answer := call(t, "POST", s.GraphQLURL(), s.Key(), `{"query":"{ myself { id } }"}`)
	require.Equal(t, 200, status)
	require.NotContains(t, answer, "errors")
	status, _ = call(t, "GET", s.ControlsURL()+"/clock", s.ControlsKey(), "")
	require.Equal(t, 200, status)
}

func TestServer_HasNoClockOnARealRuntime(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{Runtime: berth.RuntimeProcess, Endpoints: []berth.Endpoint{{Name: "echo", Handler: echo}}})
	require.Panics(t, func() { s.Clock() })
	require.Panics(t, func() { s.Endpoint("other") })
	require.Empty(t, s.ControlsURL())
	require.Equal(t, "COMPLETED", run(t, s, "echo", `{}`)["status"])
}

func TestStart_KeepsTheDirectory(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	first, err := berth.Start(t.Context(), berth.Options{Dir: dir})
	require.NoError(t, err)

	id := pod(t, first)
	require.NoError(t, first.Close())
	require.NoError(t, first.Close(), "closing again does nothing")

	second, err := berth.Start(t.Context(), berth.Options{Dir: dir})
	require.NoError(t, err)
	status, _ := call(t, "GET", second.URL()+"/v2/pods/"+id, second.Key(), "")
	require.Equal(t, 200, status)

	_, err = berth.Start(t.Context(), berth.Options{Dir: dir})
	require.ErrorContains(t, err, "another berth")
	passing := second.Key()
	require.NoError(t, second.Close())

	third := berthtest.Start(t, berth.Options{Dir: dir})
	status, _ = call(t, "GET", third.URL()+"/v2/pods", first.Key(), "")
	require.Equal(t, 200, status, "the first key lasts")
	status, _ = call(t, "GET", third.URL()+"/v2/pods", passing, "")
	require.Equal(t, 401, status, "a later one ends with its server")
}

func TestStart_NamesTheOptionThatMakesNoSense(t *testing.T) {
	t.Parallel()
	for want, o := range map[string]berth.Options{
		"it has no Name":    {Endpoints: []berth.Endpoint{{Handler: echo}}},
		"it has both a Str": {Endpoints: []berth.Endpoint{{Name: "e", Handler: echo, Stream: func(context.Context, json.RawMessage, func(any) error) error { return nil }}}},
		"both":              {Endpoints: []berth.Endpoint{{Name: "e", Handler: echo, Command: []string{"true"}}}},
		"Workers is -1":     {Endpoints: []berth.Endpoint{{Name: "e", Workers: -1}}},
		"nowhere.json":      {Catalog: "nowhere.json"},
		`runtime "moon"`:    {Runtime: "moon"},
		"missing port":      {Listen: "127.0.0.1"},
		"not a directory":   {Dir: filepath.Join(os.Args[0], "x")},
		"fleet-nowhere.jso": {Fleet: "fleet-nowhere.json"},
	} {
		_, err := berth.Start(t.Context(), o)
		require.ErrorContains(t, err, want)
	}
}

// leftovers gives the temporary directories of servers that this process has open or has left.
func leftovers(t *testing.T, dir string) []string {
	found, err := filepath.Glob(filepath.Join(dir, "berth-*"))
	require.NoError(t, err)
	return found
}

// files gives the open files of this process; none where the system does not list them.
func files(t *testing.T) (open []string) {
	if runtime.GOOS != "linux" {
		return nil
	}
	entries, err := os.ReadDir("/proc/self/fd")
	require.NoError(t, err)
	for _, e := range entries {
		if to, err := os.Readlink("/proc/self/fd/" + e.Name()); err == nil { // not the one that read the directory
			open = append(open, to)
		}
	}
	return open
}

// It has no t.Parallel: it counts what the whole process has open.
func TestServer_Close_LeavesNothingOfAHundredServers(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	use := func(t *testing.T, o berth.Options) {
		o.Endpoints = []berth.Endpoint{{Name: "echo", Handler: echo}}
		s, err := berth.Start(t.Context(), o)
		require.NoError(t, err)
		id := pod(t, s)
		s.Clock().Freeze()
		require.NoError(t, s.Clock().Advance(t.Context(), time.Minute))

		_, document := call(t, "GET", s.URL()+"/v2/pods/"+id, s.Key(), "")
		require.Equal(t, "RUNNING", document["status"])
		require.Equal(t, "COMPLETED", run(t, s, "echo", `{"n":1}`)["status"])
		require.NoError(t, s.Close())
	}

	use(t, berth.Options{}) // what is made once in a process
	before, ignored := files(t), goleak.IgnoreCurrent()
	t.Run("in parallel", func(t *testing.T) {
		for i := range 100 {
			t.Run(fmt.Sprint(i), func(t *testing.T) {
				t.Parallel()
				use(t, berth.Options{})
			})
		}
	})

	goleak.VerifyNone(t, ignored)
	require.ElementsMatch(t, before, files(t))
	require.Empty(t, leftovers(t, dir))
}

// BenchmarkServer starts, uses and closes a server.
func BenchmarkServer(b *testing.B) {
	for b.Loop() {
		s, err := berth.Start(b.Context(), berth.Options{Endpoints: []berth.Endpoint{{Name: "echo", Handler: echo}}})
		require.NoError(b, err)
		pod(b, s)
		require.Equal(b, "COMPLETED", run(b, s, "echo", `{"n":1}`)["status"])
		require.NoError(b, s.Close())
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "servers/s")
}

func TestStart_EndpointHasItsID(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{Endpoints: []berth.Endpoint{{ID: "f08vqgrv1p2xkd", Name: "fixed"}, {Name: "any"}}})
	require.Equal(t, "f08vqgrv1p2xkd", s.Endpoint("fixed"))
	require.NotEqual(t, s.Endpoint("fixed"), s.Endpoint("any"))
	_, err := berth.Start(t.Context(), berth.Options{Endpoints: []berth.Endpoint{{ID: "short", Name: "fixed"}}})
	require.ErrorContains(t, err, "14 lower-case letters and digits")
}
