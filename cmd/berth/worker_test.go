package main

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/worker"
)

const workerPatience = 20 * time.Second // real time until a test gives up

// workerServer plays the server's side of the protocol.
type workerServer struct {
	*httptest.Server
	jobs  chan string // bodies of answers to takes; an empty one is a 204
	stops chan string // bodies of answers to polls for stops
	takes chan *url.URL
	pings chan *url.URL
	posts chan workerPost
	// fails gives the status to answer with instead of success, or 0. Set before the worker runs.
	fails func(*http.Request) int
	left  chan string // paths of polls that the worker gave up
}

type workerPost struct {
	path, query, body string
}

func newWorkerServer(t *testing.T) *workerServer {
	s := &workerServer{
		jobs: make(chan string, 100), stops: make(chan string, 100), takes: make(chan *url.URL, 100),
		pings: make(chan *url.URL, 1000), posts: make(chan workerPost, 1000), left: make(chan string, 100),
		fails: func(*http.Request) int { return 0 },
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *workerServer) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	if r.Header.Get("Authorization") != "the-key" {
		w.WriteHeader(http.StatusUnauthorized)
		return
	}
	if status := s.fails(r); status != 0 {
		w.WriteHeader(status)
		return
	}

	var held chan string
	switch action := strings.Split(r.URL.Path, "/")[3]; action {
	case "job-take", "job-take-batch":
		s.takes <- r.URL
		held = s.jobs
	case "job-stop":
		held = s.stops
	case "ping":
		select {
		case s.pings <- r.URL:
		default:
		}
		return
	default:
		s.posts <- workerPost{path: r.URL.Path, query: r.URL.RawQuery, body: strings.TrimSpace(string(body))}
		return
	}

	select {
	case text := <-held:
		if text == "" {
			w.WriteHeader(http.StatusNoContent)
			return
		}
		_, _ = io.WriteString(w, text)
	case <-r.Context().Done():
		s.left <- r.URL.Path
	}
}

func (s *workerServer) env() map[string]string {
	base := s.URL + "/v2/ep"
	return map[string]string{
		envTake: base + "/job-take/$ID?gpu=none", envDone: base + "/job-done/$RUNPOD_POD_ID/$ID?gpu=none",
		envStream: base + "/job-stream/$RUNPOD_POD_ID/$ID?gpu=none", envPing: base + "/ping/$RUNPOD_POD_ID?gpu=none",
		envPingInterval: "20", envWorkerKey: "the-key", envWorkerID: "w1",
	}
}

// runningWorker is a worker that runs beside the test.
type runningWorker struct {
	terminate func()        // what SIGTERM does
	ended     chan struct{} // closed when it has ended
	exits     chan int
	log       *workerLog
}

// start runs a worker with the flags; the test's end ends it.
func (s *workerServer) start(t *testing.T, flags func(*workerSettings)) runningWorker {
	t.Helper()
	settings := workerSettings{Settings: worker.Settings{Concurrency: 1}, handler: "echo"}
	flags(&settings)
	env := s.env()
	require.NoError(t, settings.complete(func(name string) string { return env[name] }))

	settings.Pauses.FirstPost, settings.Pauses.AfterFail = time.Millisecond, time.Millisecond
	settings.Pauses.AfterMany, settings.Pauses.AfterPoll = time.Millisecond, time.Millisecond
	ctx, cancel := context.WithCancel(t.Context())
	running := runningWorker{terminate: cancel, ended: make(chan struct{}), exits: make(chan int, 1), log: &workerLog{}}
	w := settings.worker(slog.New(slog.NewTextHandler(running.log, nil)), func(code int) { running.exits <- code })
	go func() {
		defer close(running.ended)
		w.Run(ctx)
	}()

	t.Cleanup(func() {
		cancel()
		<-running.ended
		require.NotContains(t, running.log.String(), "the-key")
	})

	return running
}

// workerLog is written to by several goroutines.
type workerLog struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *workerLog) Write(b []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(b)
}

func (l *workerLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// receive gives what comes next.
func receive[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(workerPatience):
		require.FailNow(t, "nothing came")
		panic("unreachable")
	}
}

// receiveUntil drops what comes until it is wanted.
func receiveUntil[T any](t *testing.T, from <-chan T, wanted func(T) bool) T {
	t.Helper()
	for {
		if v := receive(t, from); wanted(v) {
			return v
		}
	}
}

func handlerIs(name string) func(*workerSettings) {
	return func(s *workerSettings) { s.handler = name }
}

func TestWorker_EchoesAndAsksForMore(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	s.start(t, handlerIs("echo"))
	first := receive(t, s.takes)
	require.Equal(t, "/v2/ep/job-take/w1", first.Path)
	require.Equal(t, "gpu=none&job_in_progress=0", first.RawQuery)
	s.jobs <- `{"id":"j1","input":{"a":"<é>"},"webhook":"x"}`
	require.Equal(t, workerPost{"/v2/ep/job-done/w1/j1", "gpu=none&isStream=false", `{"output":{"a":"<é>"}}`}, receive(t, s.posts))
	receive(t, s.takes)
	s.jobs <- `{"id":"j2","input":null}`
	require.Equal(t, `{"output":null}`, receive(t, s.posts).body)
}

func TestWorker_SleepsAsLongAsItIsAsked(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	s.start(t, handlerIs("sleep"))
	s.jobs <- `{"id":"j1","input":{"ms":30}}`
	begun := time.Now()
	require.Equal(t, `{"output":{"slept":30}}`, receive(t, s.posts).body)
	require.GreaterOrEqual(t, time.Since(begun), 25*time.Millisecond)
	s.jobs <- `{"id":"j2","input":{"ms":-1}}`
	require.Contains(t, receive(t, s.posts).body, `"error":"input.ms`)
	s.jobs <- `{"id":"j3","input":"soon"}`
	require.Contains(t, receive(t, s.posts).body, `"error":"input`)
}

func TestWorker_FailsWithTheTextAskedFor(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	s.start(t, func(w *workerSettings) { w.handler, w.errorText = "fail", "by flag" })
	s.jobs <- `{"id":"j1","input":{"error":"by input"}}`
	require.Equal(t, workerPost{"/v2/ep/job-done/w1/j1", "gpu=none&isStream=false", `{"error":"by input"}`}, receive(t, s.posts))
	s.jobs <- `{"id":"j2","input":[1]}`
	require.Equal(t, `{"error":"by flag"}`, receive(t, s.posts).body)
}

func TestWorker_StreamsItsChunksInOrder(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	s.start(t, handlerIs("stream"))
	s.jobs <- `{"id":"j1","input":{"chunks":["a",{"b":1}]}}`
	require.Equal(t, workerPost{"/v2/ep/job-stream/w1/j1", "gpu=none&isStream=false", `{"output":"a"}`}, receive(t, s.posts))
	require.Equal(t, workerPost{"/v2/ep/job-stream/w1/j1", "gpu=none&isStream=false", `{"output":{"b":1}}`}, receive(t, s.posts))
	require.Equal(t, workerPost{"/v2/ep/job-done/w1/j1", "gpu=none&isStream=true", `{"output":[]}`}, receive(t, s.posts))
	s.jobs <- `{"id":"j2","input":{"chunks":"many"}}`
	require.Equal(t, "gpu=none&isStream=true", receive(t, s.posts).query)
}

func TestWorker_GivesAllChunksAgainWithAggregate(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	s.start(t, func(w *workerSettings) { w.handler, w.aggregate = "stream", true })
	s.jobs <- `{"id":"j1","input":{"chunks":2}}`
	require.Equal(t, `{"output":0}`, receive(t, s.posts).body)
	require.Equal(t, `{"output":1}`, receive(t, s.posts).body)
	require.Equal(t, `{"output":[0,1]}`, receive(t, s.posts).body)
	s.jobs <- `{"id":"j2","input":{"chunks":0}}`
	require.Equal(t, `{"output":[]}`, receive(t, s.posts).body)
}

func TestWorker_CrashesInTheMiddleOfAJob(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	running := s.start(t, handlerIs("crash"))
	s.jobs <- `{"id":"j1","input":{}}`
	require.Equal(t, exitCrash, receive(t, running.exits))
}

func TestWorker_TakesNoMoreThanItCanRun(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	s.start(t, func(w *workerSettings) { w.handler, w.Concurrency = "sleep", 3 })
	first := receive(t, s.takes)
	require.Equal(t, "/v2/ep/job-take-batch/w1", first.Path)
	require.Equal(t, "gpu=none&batch_size=3&job_in_progress=0", first.RawQuery)

	s.jobs <- `[{"id":"j1","input":{"ms":3600000}},{"id":"j2","input":{"ms":3600000}}]`
	second := receive(t, s.takes)
	require.Equal(t, "/v2/ep/job-take/w1", second.Path)
	require.Equal(t, "gpu=none&job_in_progress=1", second.RawQuery)

	s.jobs <- `{"id":"j3","input":{"ms":3600000}}`
	receiveUntil(t, s.pings, func(u *url.URL) bool { return u.Query().Get("job_id") == "j1,j2,j3" })
	receive(t, s.pings)
	require.Empty(t, s.takes) // it is full

	s.stops <- `{"jobsToStop":["j1","j2","j3","unknown"]}`
	receive(t, s.takes)
}

func TestWorker_PingsWithTheJobsItHolds(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	s.start(t, handlerIs("sleep"))
	first := receive(t, s.pings)
	require.Equal(t, "/v2/ep/ping/w1", first.Path)
	require.Equal(t, "gpu=none", first.RawQuery)
	s.jobs <- `{"id":"j1","input":{"ms":3600000}}`
	receiveUntil(t, s.pings, func(u *url.URL) bool { return u.RawQuery == "gpu=none&job_id=j1" })
	s.stops <- `{"jobsToStop":["j1"]}`
	receiveUntil(t, s.pings, func(u *url.URL) bool { return u.RawQuery == "gpu=none" })
}

func TestWorker_DoesNotReportAStoppedJob(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	s.start(t, func(w *workerSettings) { w.handler, w.Concurrency = "sleep", 2 })
	s.jobs <- `[{"id":"j1","input":{"ms":3600000}},{"id":"j2","input":{"ms":3600000}}]`
	receiveUntil(t, s.pings, func(u *url.URL) bool { return u.Query().Get("job_id") == "j1,j2" })
	s.stops <- "" // nothing to stop within the hold
	s.stops <- `{"jobsToStop":["j1"]}`
	receiveUntil(t, s.pings, func(u *url.URL) bool { return u.Query().Get("job_id") == "j2" })
	s.jobs <- `{"id":"j3","input":{"ms":0}}`
	require.Equal(t, "/v2/ep/job-done/w1/j3", receive(t, s.posts).path)
	s.stops <- `{"jobsToStop":["j2"]}`
}

func TestWorker_RunsAJobTakenTwiceOnce(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	s.start(t, func(w *workerSettings) { w.handler, w.Concurrency = "stream", 2 })
	s.jobs <- `[{"id":"j1","input":{"chunks":2,"ms":100}},{"id":"j1","input":{"chunks":2,"ms":100}}]`
	require.Equal(t, `{"output":0}`, receive(t, s.posts).body)
	require.Equal(t, `{"output":1}`, receive(t, s.posts).body)
	require.Equal(t, `{"output":[]}`, receive(t, s.posts).body)
}

func TestWorker_PassesOverAJobItCannotRead(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	s.start(t, handlerIs("echo"))
	for _, text := range []string{"", "null", "[]", "{", `"x"`, `{"id":"j0"}`, `{"input":{}}`} {
		s.jobs <- text
	}
	s.jobs <- `[{"id":"j1","input":1},{"id":"j2"}]`
	require.Equal(t, "/v2/ep/job-done/w1/j1", receive(t, s.posts).path)
}

func TestWorker_TriesAgainWhenTheServerHasTrouble(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	var takes, posts atomic.Int32
	s.fails = func(r *http.Request) int {
		switch {
		case strings.Contains(r.URL.Path, "/job-take/"):
			return []int{500, 429, 401, 0, 0, 0, 0}[min(takes.Add(1)-1, 6)]
		case r.Method == http.MethodPost:
			return []int{500, 503, 429, 0}[min(posts.Add(1)-1, 3)]
		default:
			return 0
		}
	}

	s.start(t, handlerIs("echo"))
	s.jobs <- `{"id":"j1","input":1}`
	require.Equal(t, `{"output":1}`, receive(t, s.posts).body)
	require.EqualValues(t, 4, posts.Load())
}

func TestWorker_TriesAgainWhenTheConnectionBreaks(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	var posts atomic.Int32
	s.fails = func(r *http.Request) int {
		if r.Method == http.MethodPost && posts.Add(1) < 3 {
			panic(http.ErrAbortHandler)
		}
		return 0
	}
	s.start(t, handlerIs("echo"))
	s.jobs <- `{"id":"j1","input":1}`
	require.Equal(t, `{"output":1}`, receive(t, s.posts).body)
}

func TestWorker_DoesNotResendARefusedResult(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	var refused atomic.Int32
	s.fails = func(r *http.Request) int {
		if strings.HasSuffix(r.URL.Path, "/j1") {
			refused.Add(1)
			return http.StatusRequestEntityTooLarge
		}
		return 0
	}

	running := s.start(t, handlerIs("echo"))
	s.jobs <- `{"id":"j1","input":1}`
	s.jobs <- `{"id":"j2","input":2}`
	require.Equal(t, `{"output":2}`, receive(t, s.posts).body)
	require.EqualValues(t, 1, refused.Load())
	require.Contains(t, running.log.String(), "result was lost")
}

func TestWorker_EndsAtOnceWhenIdle(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	running := s.start(t, handlerIs("echo"))
	receive(t, s.takes)
	running.terminate()
	receive(t, running.ended)
	require.Contains(t, receive(t, s.left), "/job-")
}

func TestWorker_FinishesItsJobsBeforeItEnds(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	release := make(chan struct{})
	s.fails = func(r *http.Request) int {
		if strings.Contains(r.URL.Path, "/job-stream/") {
			<-release
		}
		return 0
	}

	running := s.start(t, func(w *workerSettings) { w.handler, w.Concurrency = "stream", 2 })
	s.jobs <- `[{"id":"j1","input":{"chunks":1}},{"id":"j2","input":{"chunks":["x"],"ms":1}}]`
	receiveUntil(t, s.pings, func(u *url.URL) bool { return u.Query().Get("job_id") == "j1,j2" })
	running.terminate()
	for len(s.pings) > 0 {
		<-s.pings
	}
	receiveUntil(t, s.pings, func(u *url.URL) bool { return u.Query().Get("job_id") == "j1,j2" }) // it still pings
	s.stops <- `{"jobsToStop":["j2"]}`                                                            // and asks what to stop
	receiveUntil(t, s.pings, func(u *url.URL) bool { return u.Query().Get("job_id") == "j1" })
	close(release)
	receiveUntil(t, s.posts, func(p workerPost) bool { return p.path == "/v2/ep/job-done/w1/j1" })
	receive(t, running.ended)
	for len(s.posts) > 0 {
		require.NotContains(t, (<-s.posts).path, "job-done") // j2 has its end from the server
	}
}

func TestWorker_NamesWhatItsEnvironmentLacks(t *testing.T) {
	t.Parallel()
	env := newWorkerServer(t).env()
	for name := range env {
		if name == envPingInterval {
			continue
		}
		without := func(n string) string {
			if n == name {
				return ""
			}
			return env[n]
		}

		requireUsageError(t, without, name)
	}
}

func TestWorker_RefusesSettingsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	env := newWorkerServer(t).env()
	for name, value := range map[string]string{
		envPingInterval: "often", envPing: "ftp://x/", envDone: "/v2/ep", envTake: "http://x/take/$ID",
	} {
		with := func(n string) string {
			if n == name {
				return value
			}
			return env[n]
		}
		requireUsageError(t, with, name)
	}

	requireUsageError(t, func(n string) string { return env[n] }, "--handler", "--handler", "magic")
	requireUsageError(t, func(n string) string { return env[n] }, "--concurrency", "--concurrency", "0")
}

func requireUsageError(t *testing.T, getenv func(string) string, contains string, args ...string) {
	t.Helper()
	code := 0
	cmd := workerCommand(getenv, func(c int) { code = c })
	var text strings.Builder
	cmd.SetErr(&text)
	cmd.SetOut(io.Discard)
	cmd.SetArgs(args)
	require.Error(t, cmd.ExecuteContext(t.Context()))
	require.Equal(t, exitUsage, code)
	require.Contains(t, text.String(), contains)
	require.NotContains(t, text.String(), "the-key")
}

func TestWorker_CommandRunsUntilItsContextEnds(t *testing.T) {
	t.Parallel()
	s := newWorkerServer(t)
	env := s.env()
	delete(env, envPingInterval)
	cmd := workerCommand(func(name string) string { return env[name] }, os.Exit)
	cmd.SetErr(io.Discard)
	cmd.SetArgs([]string{"--handler", "fail", "--error", ""})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- cmd.ExecuteContext(ctx) }()
	s.jobs <- `{"id":"j1","input":{}}`
	require.Equal(t, `{"error":""}`, receive(t, s.posts).body)

	cancel()
	require.NoError(t, receive(t, ended))
}
