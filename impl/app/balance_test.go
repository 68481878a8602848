package app_test

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// asServing has the test binary be a worker of an endpoint that balances load. It says what it was given.
const asServing = "BERTH_TEST_SERVING"

// servingOn is the address of the machine that it listens at, which is 127.0.0.1 without it.
const servingOn = "BERTH_TEST_SERVING_ON"

// serveRequests serves at PORT, and PORT_HEALTH: what release it is of, who it is, and the key that it was sent.
func serveRequests() error {
	mux := http.NewServeMux()
	mux.HandleFunc("/ping", func(http.ResponseWriter, *http.Request) {})
	mux.HandleFunc("/crash", func(http.ResponseWriter, *http.Request) { os.Exit(3) })
	mux.HandleFunc("/stream", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for i := 0; r.Context().Err() == nil; i++ {
			_, _ = fmt.Fprintf(w, "data: %d\n\n", i)
			_ = http.NewResponseController(w).Flush()
			<-time.After(20 * time.Millisecond)
		}
	})
	mux.HandleFunc("/", func(w http.ResponseWriter, r *http.Request) {
		if took, err := time.ParseDuration(r.URL.Query().Get("takes")); err == nil {
			<-time.After(took)
		}
		_, _ = fmt.Fprintf(w, "%s %s %q %s", os.Getenv(asServing), os.Getenv("RUNPOD_POD_ID"), r.Header.Get("Authorization"), r.URL.Path)
	})
	return http.ListenAndServe(net.JoinHostPort(cmp.Or(os.Getenv(servingOn), "127.0.0.1"), os.Getenv("PORT")), mux)
}

// serving gives a declared endpoint whose command is such a worker, as an image for others.
func serving(release string) app.Endpoint {
	return app.Endpoint{Name: release, Command: []string{"env", asServing + "=" + release, os.Args[0]}}
}

// balanced is an endpoint whose workers are such processes.
type balanced struct {
	*testing.T
	*app.Server
	key, id string
}

func balance(t *testing.T, scaling, workers string) *balanced {
	s := start(t, app.Config{Data: t.TempDir(), Runtime: "process", Endpoints: []app.Endpoint{serving("first"), serving("second")}})
	b := &balanced{T: t, Server: s, key: s.FirstKey()}
	b.make(`"image":"first"`, scaling, workers)
	return b
}

// make makes the endpoint.
func (b *balanced) make(image, scaling, workers string) {
	status, made := call(b.T, "POST", b.URL()+"/v2/serverless", b.key,
		`{"name":"lb","type":"LOAD_BALANCER",`+image+`,"cpu":[{"id":"cpu3g","vcpuCount":2}],"scaling":{"type":"REQUEST_COUNT","requestCount":`+scaling+`},"workers":`+workers+`}`)
	require.Equal(b, 201, status, "%v", made)
	b.id = made["id"].(string)
}

// replied is what was answered.
type replied struct {
	status       int
	body, worker string
}

// ask sends a request by path, with a header if it is not empty.
func (b *balanced) ask(ctx context.Context, path string, header ...string) (r replied, err error) {
	req, err := http.NewRequestWithContext(ctx, "GET", b.URL()+"/proxy/endpoints/"+b.id+path, nil)
	if err != nil {
		return r, err
	}
	req.Header.Set("Authorization", "Bearer "+b.key)
	if len(header) > 0 {
		req.Header.Set("X-Runpod-Worker-Id", header[0])
	}
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return r, err
	}
	defer func() { _ = res.Body.Close() }()
	body, err := io.ReadAll(res.Body)
	return replied{res.StatusCode, string(body), res.Header.Get("X-Runpod-Worker-Id")}, err
}

// under asks from so many clients at a time until over is called, which gives how many answers came from which release and worker, and fails
// the test if one request was not served.
func (b *balanced) under(clients int, path string) (over func() (releases, workers map[string]int)) {
	releases, workers := map[string]int{}, map[string]int{}
	var mu sync.Mutex
	var all sync.WaitGroup
	var stop atomic.Bool
	for range clients {
		all.Go(func() {
			for !stop.Load() {
				r, err := b.ask(context.WithoutCancel(b.Context()), path)
				mu.Lock()
				if err != nil || r.status != 200 {
					b.Errorf("a request was not served: %v %v", r, err)
					stop.Store(true)
				} else {
					releases[strings.Fields(r.body)[0]]++
					workers[r.worker]++
				}
				mu.Unlock()
			}
		})
	}
	return func() (map[string]int, map[string]int) {
		stop.Store(true)
		all.Wait()
		return releases, workers
	}
}

// workers gives the statuses of the workers that are there.
func (b *balanced) workers() (statuses []string) {
	_, list := call(b.T, "GET", b.URL()+"/v2/serverless/"+b.id+"/workers", b.key, "")
	for _, w := range list["workers"].([]any) {
		statuses = append(statuses, w.(map[string]any)["status"].(string))
	}
	return statuses
}

func TestBalance_WorkersComeWithRequestsAndGoWithoutThem(t *testing.T) {
	t.Parallel()
	b := balance(t, "2", `{"min":0,"max":3,"idleTimeout":1}`)
	r, err := b.ask(t.Context(), "/a/b") // held until there is a worker
	require.NoError(t, err)
	require.Equal(t, 200, r.status, r.body)
	require.Equal(t, `first `+r.worker+` "" /a/b`, r.body, "the key stays with the server")

	over := b.under(6, "/?takes=50ms")
	require.Eventually(t, func() bool {
		there := b.workers()
		return len(there) == 3 && strings.Join(there, " ") == "RUNNING RUNNING RUNNING"
	}, time.Minute, 20*time.Millisecond)
	_, workers := over()
	require.Len(t, workers, 3)

	over = b.under(1, "/") // all of them get some, and none idles
	require.Eventually(t, func() bool { return len(b.workers()) == 1 }, time.Minute, 50*time.Millisecond)
	over()
	require.Eventually(t, func() bool { return len(b.workers()) == 0 }, time.Minute, 50*time.Millisecond)

	_, health := call(t, "GET", b.URL()+"/v2/"+b.id+"/health", b.key, "")
	jobs := health["jobs"].(map[string]any)
	require.Greater(t, jobs["completed"], 6.0)
	require.InDelta(t, 0, jobs["inProgress"], 0)
	require.InDelta(t, 0, jobs["failed"], 0)
	require.NoError(t, b.Close())
}

func TestBalance_AReleaseLosesNoRequest(t *testing.T) {
	t.Parallel()
	for name, workers := range map[string]string{"room for another worker": `{"min":2,"max":3}`, "room for none": `{"min":1,"max":1}`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := balance(t, "4", workers)
			over := b.under(4, "/?takes=30ms")
			require.Eventually(t, func() bool { return strings.Contains(strings.Join(b.workers(), " "), "RUNNING") }, time.Minute, 20*time.Millisecond)
			status, changed := call(t, "PATCH", b.URL()+"/v2/serverless/"+b.id, b.key, `{"image":"second"}`)
			require.Equal(t, 200, status, "%v", changed)
			require.Eventually(t, func() bool {
				_, list := call(t, "GET", b.URL()+"/v2/serverless/"+b.id+"/workers", b.key, "")
				for _, w := range list["workers"].([]any) {
					if w.(map[string]any)["isStale"] == true || w.(map[string]any)["status"] != "RUNNING" {
						return false
					}
				}
				return len(list["workers"].([]any)) > 0
			}, time.Minute, 20*time.Millisecond)
			releases, _ := over()
			require.NotZero(t, releases["first"])
			require.NotZero(t, releases["second"])
			require.NoError(t, b.Close())
		})
	}
}

func TestBalance_AWorkerThatCrashesIsReplaced(t *testing.T) {
	t.Parallel()
	b := balance(t, "4", `{"min":1,"max":1}`)
	for range 2 {
		r, err := b.ask(t.Context(), "/crash")
		require.NoError(t, err)
		require.Equal(t, 502, r.status, r.body)
		require.NotEmpty(t, r.worker)
		next, err := b.ask(t.Context(), "/") // held until another worker is healthy
		require.NoError(t, err)
		require.Equal(t, 200, next.status, next.body)
		require.NotEqual(t, r.worker, next.worker)

		gone, err := b.ask(t.Context(), "/", "strict "+r.worker)
		require.NoError(t, err)
		require.Equal(t, 404, gone.status, gone.body)
		require.Contains(t, gone.body, `"error":"affinity_worker_gone"`)
	}
	require.NoError(t, b.Close())
}

func TestBalance_AStreamKeepsItsWorkerUntilItEnds(t *testing.T) {
	t.Parallel()
	b := balance(t, "1", `{"min":0,"max":1,"idleTimeout":1}`)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	req, err := http.NewRequestWithContext(ctx, "GET", b.URL()+"/stream", nil)
	require.NoError(t, err)
	req.Host = b.id + ".localhost"
	req.Header.Set("Authorization", b.key)
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	require.Equal(t, 200, res.StatusCode)
	lines := bufio.NewReader(res.Body)
	read := func() {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, "data: ")
		_, err = lines.ReadString('\n')
		require.NoError(t, err)
	}

	read()
	worker := res.Header.Get("X-Runpod-Worker-Id")
	status, _ := call(t, "PATCH", b.URL()+"/v2/serverless/"+b.id, b.key, `{"image":"second"}`)
	require.Equal(t, 200, status)
	require.Eventually(t, func() bool { // it is seen soon that the worker is one of before, and then another one may be there
		next, err := b.ask(t.Context(), "/")
		require.NoError(t, err)
		require.Equal(t, 200, next.status, next.body)
		return next.worker != worker
	}, time.Minute, 10*time.Millisecond)
	for range 100 { // 2 seconds, which is longer than the idle timeout
		read()
	}
	leave()
	require.Eventually(t, func() bool { return len(b.workers()) == 0 }, time.Minute, 50*time.Millisecond)
	require.NoError(t, b.Close())
}

func TestBalance_WorkersTellWhereTheyListenAndHowTheyAre(t *testing.T) {
	t.Parallel()
	b := balance(t, "4", `{"min":1,"max":1}`)
	r, err := b.ask(t.Context(), "/")
	require.NoError(t, err)
	require.Equal(t, 200, r.status)

	status, crew := call(t, "GET", b.URL()+"/_berth/endpoints/"+b.id+"/workers", b.key, "")
	require.Equal(t, 200, status)
	require.Equal(t, []any{80.0, "/ping"}, []any{crew["port"], crew["healthPath"]})
	one := crew["workers"].([]any)[0].(map[string]any)
	require.Equal(t, []any{r.worker, "healthy"}, []any{one["id"], one["health"]})
	res, err := http.Get("http://" + one["address"].(string) + "/ping")
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode)
}
