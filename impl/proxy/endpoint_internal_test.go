package proxy

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store/sqlite"
)

const endpoint = "bbbbbbbbbbbbbb"

// oneKey knows the key "good" of the user u, which may call every queue, and "other", which may call none.
type oneKey struct{}

func (oneKey) Authenticate(_ context.Context, header string, bareToo bool) (compute.Key, bool, error) {
	switch strings.TrimPrefix(header, "Bearer ") {
	case "good":
		return compute.Key{UserID: "u", Scopes: []compute.Scope{compute.ScopeInvoke(endpoint)}}, true, nil
	case "other":
		return compute.Key{UserID: "u", Scopes: []compute.Scope{compute.ScopeRESTRead}}, true, nil
	}
	return compute.Key{}, bareToo, compute.Errorf(compute.Unauthenticated, "invalid API key")
}

// crew are workers with the addresses of their servers.
type crew struct {
	*server
	queue *queue.Queue
	clock *compute.SettableClock
	ports map[compute.WorkerID][]compute.PublishedPort // set before anybody asks
}

// newCrew makes an endpoint with a healthy worker for each server: w0, w1 and so on.
func newCrew(t testing.TB, workers []http.HandlerFunc, changes ...func(*Config)) *crew {
	c := &crew{ports: map[compute.WorkerID][]compute.PublishedPort{}, clock: compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000))}
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), c.clock)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	c.queue, err = queue.New(t.Context(), db, c.clock, compute.NewIDs(rand.Reader, c.clock), queue.DefaultSettings(), queue.Hooks{})
	require.NoError(t, err)
	c.queue.SetEndpoint(compute.Endpoint{ID: endpoint, UserID: "u", Type: compute.LoadBalancer, WorkersMax: 3, Version: 1})
	for i, handler := range workers {
		backend := httptest.NewServer(handler)
		t.Cleanup(backend.Close)
		c.add(i, netip.MustParseAddrPort(backend.Listener.Addr().String()).Port())
	}

	c.server = newServer(t, func(w http.ResponseWriter, r *http.Request) { // in a pod
		w.Header().Set("Set-Cookie", "a=b")
		w.Header().Set("Content-Security-Policy", "default-src *")
		w.Header().Set("Clear-Site-Data", `"*"`)
		w.WriteHeader(http.StatusEarlyHints)
		_, _ = io.WriteString(w, r.RequestURI+" "+r.Header.Get("X-Forwarded-Prefix")+" "+r.Header.Get("Cookie"))
	}, append([]func(*Config){func(config *Config) {
		config.Keys, config.Requests, config.Clock = oneKey{}, c.queue, c.clock
		config.Ports = func(id compute.WorkerID) []compute.PublishedPort { return c.ports[id] }
	}}, changes...)...)
	return c
}

// add has there be a healthy worker whose port 80 is that port of this machine.
func (c *crew) add(i int, port uint16) {
	id := compute.WorkerID(fmt.Sprint("w", i))
	c.ports[id] = []compute.PublishedPort{{Private: 80, Public: int(port), Type: "http"}}
	c.queue.WorkerStarted(endpoint, id, 1)
	c.queue.SetCondition(endpoint, id, queue.Healthy, "")
}

// send sends a request to the endpoint, with the good key, or what the changes say.
func (c *crew) send(t testing.TB, method, path, body string, changes ...func(*http.Request)) answer {
	return c.ask(t, method, path, body, append([]func(*http.Request){func(r *http.Request) {
		r.Host = endpoint + ".localhost"
		r.Header.Set("Authorization", "Bearer good")
	}}, changes...)...)
}

// told gives the problem that was answered.
func told(t *testing.T, res answer, status int) (detail, reason string) {
	body := text(t, res)
	require.Equal(t, status, res.StatusCode, body)
	require.Equal(t, "application/problem+json", res.Header.Get("Content-Type"))
	var problem struct{ Title, Detail, Error string }
	require.NoError(t, json.Unmarshal([]byte(body), &problem))
	require.NotEmpty(t, problem.Title)
	return problem.Detail, problem.Error
}

func header(name, value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set(name, value) }
}

// closedPort is a port on which nobody listens: none that a program is given by chance.
const closedPort = 1

func TestEndpoint_WorkersGetWhatWasAskedWithoutTheKey(t *testing.T) {
	t.Parallel()
	got := make(chan *http.Request, 1)
	c := newCrew(t, []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		got <- r
		w.Header().Set(workerHeader, "somebody else")
		_, _ = io.WriteString(w, "hello")
	}})
	res := c.send(t, "PUT", "/a%2Fb//c/../d?x=%zz", "body", header("X-Forwarded-Prefix", "/evil"), header("Cookie", "of=its own"))
	require.Equal(t, "hello", text(t, res))
	require.Equal(t, []string{"w0"}, res.Header.Values(workerHeader))
	seen := <-got
	require.Equal(t, "/a%2Fb//c/../d?x=%zz", seen.RequestURI)
	require.Empty(t, seen.Header.Get("Authorization"))
	require.Empty(t, seen.Header.Get("X-Forwarded-Prefix"))
	require.Equal(t, "of=its own", seen.Header.Get("Cookie"))

	res = c.send(t, "GET", "/", "", func(r *http.Request) { r.Host = strings.ToUpper(endpoint) + ".localhost:1" }, header("Authorization", "good"))
	require.Equal(t, 200, res.StatusCode, "a bare key, as of the queue")
	<-got
}

func TestEndpoint_IsForWhoMayCallIt(t *testing.T) {
	t.Parallel()
	c := newCrew(t, []http.HandlerFunc{func(http.ResponseWriter, *http.Request) {}})
	told(t, c.send(t, "GET", "/", "", header("Authorization", "")), 401)
	told(t, c.send(t, "GET", "/", "", header("Authorization", "Bearer bad")), 401)
	detail, _ := told(t, c.send(t, "GET", "/", "", header("Authorization", "Bearer other")), 403)
	require.Contains(t, detail, "queue:"+endpoint+":invoke")

	c.queue.SetEndpoint(compute.Endpoint{ID: endpoint, UserID: "another", Type: compute.LoadBalancer, WorkersMax: 3})
	told(t, c.send(t, "GET", "/", ""), 404)
	c.queue.SetEndpoint(compute.Endpoint{ID: endpoint, UserID: "u", Type: compute.QueueEndpoint, WorkersMax: 3})
	detail, _ = told(t, c.send(t, "GET", "/", ""), 404)
	require.Contains(t, detail, "has a queue")
}

func TestEndpoint_IsReachedByPath(t *testing.T) {
	t.Parallel()
	c := newCrew(t, []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Set-Cookie", "a=b")
		_, _ = io.WriteString(w, r.RequestURI+" "+r.Header.Get("X-Forwarded-Prefix")+" "+r.Header.Get("Cookie"))
	}})
	local := func(r *http.Request) { r.Host = "localhost" }
	const at = "/proxy/endpoints/" + endpoint
	for sent, got := range map[string]string{
		"": "/", "/": "/", "/a?b": "/a?b", "//a": "//a", "/../../v2/pods": "/../../v2/pods", "/%2e%2e/%2e%2e/v2": "/%2e%2e/%2e%2e/v2", "/a%2Fb%2f..": "/a%2Fb%2f..", "/" + at: "/" + at,
	} {
		res := c.send(t, "GET", at+sent, "", local, header("Cookie", "of=the interfaces"))
		require.Equal(t, got+" "+at+" ", text(t, res), sent)
		require.Empty(t, res.Header.Get("Set-Cookie"))
		require.Equal(t, sandboxed, res.Header.Get("Content-Security-Policy"))
	}

	for _, path := range []string{
		"/proxy/endpoints/" + endpoint + "x/", "/proxy/endpoints/" + endpoint + "%2f", "//proxy/endpoints/" + endpoint + "/", "/v2/../proxy/endpoints/" + endpoint + "/", "/proxy//endpoints/" + endpoint,
		"/%70roxy/endpoints/" + endpoint + "/", "/proxy%2fendpoints/" + endpoint + "/", "/proxy/endpoints/../endpoints/" + endpoint + "/", "/proxy/", "/proxy", "/proxy/endpoints/" + strings.ToUpper(endpoint),
		"/proxy/pods/" + pod + "/8888/",
	} {
		require.Equal(t, "the API", text(t, c.send(t, "GET", path, "", local)), path)
	}
}

func TestPods_AreReachedByPathWhereThatIsSet(t *testing.T) {
	t.Parallel()
	c := newCrew(t, nil, func(c *Config) { c.PodPaths = true })
	const at = "/proxy/pods/" + pod + "/8888"
	res := c.ask(t, "GET", at+"/../../a%2f?b", "", func(r *http.Request) { r.Host = "localhost" }, header("Cookie", "of=the interfaces"))
	require.Equal(t, "/../../a%2f?b "+at+" ", text(t, res))
	require.Empty(t, res.Header.Get("Set-Cookie"))
	require.Empty(t, res.Header.Get("Clear-Site-Data"))
	require.Equal(t, []string{sandboxed}, res.Header.Values("Content-Security-Policy"))
	require.Equal(t, "a=b", c.ask(t, "GET", "/", "").Header["Set-Cookie"][0], "by name a pod has an origin of its own")

	for _, path := range []string{"/proxy/pods/" + pod, "/proxy/pods/" + pod + "/08888/", "/proxy/pods/" + pod + "/8888%2f", "/proxy/pods/x/8888/"} {
		require.Equal(t, "the API", text(t, c.ask(t, "GET", path, "", func(r *http.Request) { r.Host = "localhost" })), path)
	}
}

func TestEndpoint_NameOfTheServerItselfIsNone(t *testing.T) {
	t.Parallel()
	c := newCrew(t, nil, func(c *Config) { c.Own = endpoint + ".localhost:443" })
	require.Equal(t, "the API", text(t, c.send(t, "GET", "/", "")))
}

func TestEndpoint_AnotherWorkerGetsWhatOneCouldNotBeSent(t *testing.T) {
	t.Parallel()
	c := newCrew(t, []http.HandlerFunc{0: func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		_, _ = w.Write(body)
	}})
	c.add(1, closedPort)
	for range 4 {
		res := c.send(t, "POST", "/", "what I send", header(workerHeader, "w1"))
		require.Equal(t, "what I send", text(t, res))
		require.Equal(t, "w0", res.Header.Get(workerHeader))
	}
	for _, w := range c.queue.Served() {
		require.Equal(t, w.Worker == "w0", w.Ready, "one that is not reached is out at once")
	}
}

func TestEndpoint_WorkersListenWhereTheirReleaseSays(t *testing.T) {
	t.Parallel()
	pinged := make(chan struct{}, 1)
	c := newCrew(t, []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, r.URL.Path)
		if r.URL.Path == "/ping" {
			select {
			case pinged <- struct{}{}:
			default:
			}
		}
	}})
	c.queue.SetEndpoint(compute.Endpoint{
		ID: endpoint, UserID: "u", Type: compute.LoadBalancer, WorkersMax: 3, Version: 2,
		Env: map[string]string{compute.EnvPort: "8000", compute.EnvHealthPath: "/health"},
	})
	h := NewHealth(c.queue, func(id compute.WorkerID) []compute.PublishedPort { return c.ports[id] }, c.Dial, c.Log)
	var under sync.WaitGroup
	h.round(t.Context(), c.clock.Now(), &under)
	under.Wait()
	require.Len(t, pinged, 1)
	require.True(t, c.queue.Served()[0].Ready)
	require.Equal(t, "/mine", text(t, c.send(t, "GET", "/mine", "")))
}

func TestEndpoint_NothingIsSentTwice(t *testing.T) {
	t.Parallel()
	runs := make(chan string, 10)
	cut := func(name string) http.HandlerFunc {
		return func(http.ResponseWriter, *http.Request) {
			runs <- name
			panic(http.ErrAbortHandler)
		}
	}
	c := newCrew(t, []http.HandlerFunc{cut("w0"), cut("w1")})
	for _, method := range []string{"GET", "POST"} {
		detail, _ := told(t, c.send(t, method, "/", "", header("Idempotency-Key", "x")), 502)
		require.Contains(t, detail, "ended the connection")
		<-runs
		require.Empty(t, runs)
	}
	for _, w := range c.queue.Served() {
		require.False(t, w.Ready, "each is asked how it is before it gets more")
	}
}

func TestEndpoint_RefusesInTheWordsOfThePublicService(t *testing.T) {
	t.Parallel()
	c := newCrew(t, nil)
	answers := make(chan answer)
	go func() { answers <- c.send(t, "GET", "/", "") }()
	require.Eventually(t, func() bool { return c.queue.Standing(endpoint).Waiting == 1 }, 10*time.Second, time.Millisecond)
	c.clock.Advance(2 * time.Minute)
	_, reason := told(t, <-answers, 400)
	require.Equal(t, "no workers available", reason)

	for _, mode := range []string{"strict", "strict-resume"} {
		_, reason = told(t, c.send(t, "GET", "/", "", header(workerHeader, mode+" w9")), 404)
		require.Equal(t, "affinity_worker_gone", reason)
	}

	c.queue.WorkerStarted(endpoint, "w0", 1)
	go func() { answers <- c.send(t, "GET", "/", "", header(workerHeader, "strict w0")) }()
	require.Eventually(t, func() bool { return c.queue.Standing(endpoint).Waiting == 1 }, 10*time.Second, time.Millisecond)
	c.clock.Advance(5 * time.Minute)
	_, reason = told(t, <-answers, 400)
	require.Equal(t, "worker_timeout", reason)
}

// TestEndpoint_NobodyWaitsForAClientThatHasLeft: its request is not counted any more, so that no worker is started for it.
func TestEndpoint_NobodyWaitsForAClientThatHasLeft(t *testing.T) {
	t.Parallel()
	c := newCrew(t, nil)
	defer c.clock.Advance(2 * time.Minute) // whoever waits still
	head := "Host: " + endpoint + ".localhost\r\nAuthorization: Bearer good\r\n"
	for what, request := range map[string]string{
		"no body": "GET / HTTP/1.1\r\n" + head + "\r\n",
		"a body":  "POST / HTTP/1.1\r\n" + head + "Content-Length: 5\r\n\r\nhello",
	} {
		conn, _ := c.open(t, request)
		require.Eventually(t, func() bool { return c.queue.Standing(endpoint).Waiting == 1 }, 10*time.Second, time.Millisecond, what)
		require.NoError(t, conn.Close())
		require.Eventually(t, func() bool { return c.queue.Standing(endpoint).Waiting == 0 }, 10*time.Second, time.Millisecond, what)
	}
}

func TestEndpoint_LimitsHold(t *testing.T) {
	t.Parallel()
	release, slow := make(chan struct{}), make(chan struct{})
	c := newCrew(t, []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/read":
			_, _ = io.Copy(io.Discard, r.Body)
		case "/write":
			w.Header().Set("Content-Length", fmt.Sprint(MostOfEndpoint+1))
		case "/stream":
			_, _ = io.Copy(w, zeros(MostOfEndpoint+1))
		case "/slow":
			close(slow)
			<-release
		}
	}})
	t.Cleanup(func() { close(release) })
	told(t, c.send(t, "POST", "/read", "", func(r *http.Request) {
		r.ContentLength, r.Body = MostOfEndpoint+1, io.NopCloser(zeros(MostOfEndpoint+1))
	}), 413)
	told(t, c.send(t, "POST", "/read", "", func(r *http.Request) { r.ContentLength, r.Body = -1, io.NopCloser(zeros(MostOfEndpoint+1)) }), 413)
	told(t, c.send(t, "GET", "/write", ""), 502)
	_, err := io.Copy(io.Discard, c.send(t, "GET", "/stream", "").Body)
	require.Error(t, err)
	told(t, c.send(t, "CONNECT", "/", ""), 405)

	answers := make(chan answer)
	go func() { answers <- c.send(t, "GET", "/slow", "") }()
	<-slow // it has its time from before on
	c.clock.Advance(processTime)
	told(t, <-answers, 524)
	require.Eventually(t, func() bool { return c.queue.Standing(endpoint).Workers[0].Jobs == 0 }, 10*time.Second, time.Millisecond)
}

// lapsing is a key that is good until it is revoked.
type lapsing struct{ revoked *atomic.Bool }

func (k lapsing) Authenticate(ctx context.Context, header string, bareToo bool) (compute.Key, bool, error) {
	if k.revoked.Load() {
		header = ""
	}
	return oneKey{}.Authenticate(ctx, header, bareToo)
}

// watched is a clock that tells when somebody waits for the next look at a key.
type watched struct {
	*compute.SettableClock
	waits chan struct{}
}

func (c watched) After(d time.Duration) (<-chan time.Time, func()) {
	over, stop := c.SettableClock.After(d)
	if d == keyLook {
		c.waits <- struct{}{}
	}
	return over, stop
}

func TestEndpoint_RequestsEndWithTheirKey(t *testing.T) {
	t.Parallel()
	var revoked atomic.Bool
	var seen atomic.Int64
	release, waits := make(chan struct{}), make(chan struct{}, 100)
	c := newCrew(t, []http.HandlerFunc{func(_ http.ResponseWriter, r *http.Request) {
		seen.Add(1)
		select {
		case <-release:
		case <-r.Context().Done():
		}
	}}, func(c *Config) { c.Keys, c.Clock = lapsing{&revoked}, watched{c.Clock.(*compute.SettableClock), waits} })
	t.Cleanup(func() { close(release) })

	answers := make(chan answer)
	go func() { answers <- c.send(t, "GET", "/", "") }()
	require.Eventually(t, func() bool { return seen.Load() == 1 }, 10*time.Second, time.Millisecond)
	<-waits
	c.clock.Advance(keyLook)
	<-waits // it is good still
	require.Equal(t, 1, c.queue.Standing(endpoint).Workers[0].Jobs)
	revoked.Store(true)
	c.clock.Advance(keyLook)
	told(t, <-answers, 401)
	require.Eventually(t, func() bool { return c.queue.Standing(endpoint).Workers[0].Jobs == 0 }, 10*time.Second, time.Millisecond)

	revoked.Store(false)
	c.queue.SetCondition(endpoint, "w0", queue.Unhealthy, "") // no worker can have it
	go func() { answers <- c.send(t, "GET", "/", "") }()
	require.Eventually(t, func() bool { return c.queue.Standing(endpoint).Waiting == 1 }, 10*time.Second, time.Millisecond)
	revoked.Store(true)
	c.clock.Advance(time.Second)
	c.queue.SetCondition(endpoint, "w0", queue.Healthy, "")
	told(t, <-answers, 401)
	require.EqualValues(t, 1, seen.Load(), "the worker did not see the second one")
}

func TestEndpoint_SimulatedWorkersSaySo(t *testing.T) {
	t.Parallel()
	c := newCrew(t, []http.HandlerFunc{func(http.ResponseWriter, *http.Request) {}}, func(c *Config) { c.Simulated = true })
	res := c.send(t, "GET", "/", "")
	detail, _ := told(t, res, 502)
	require.Contains(t, detail, "simulated")
	require.Equal(t, "w0", res.Header.Get(workerHeader))
}

func TestEndpoint_ConnectionsThatAreTakenOverAreInProgress(t *testing.T) {
	t.Parallel()
	c := newCrew(t, []http.HandlerFunc{echo})
	res := c.send(t, "GET", "/", "", header("Connection", "Upgrade"), header("Upgrade", "lines"))
	require.Equal(t, 101, res.StatusCode)
	require.Equal(t, 1, c.queue.Standing(endpoint).Workers[0].Jobs)
	require.False(t, c.queue.Drain(endpoint, "w0"))
	_, err := io.WriteString(res.Body.(io.Writer), "hello\n")
	require.NoError(t, err)
	line := make([]byte, len("you said hello\n"))
	_, err = io.ReadFull(res.Body, line)
	require.NoError(t, err)
	require.Equal(t, "you said hello\n", string(line))
	require.NoError(t, res.Body.Close())
	require.Eventually(t, func() bool { return c.queue.Drain(endpoint, "w0") }, 10*time.Second, time.Millisecond)
}

func TestHealth_IsWhatWorkersSay(t *testing.T) {
	t.Parallel()
	status := make(chan int, 1)
	c := newCrew(t, []http.HandlerFunc{func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/ping" {
			w.WriteHeader(<-status)
		}
	}})
	h := NewHealth(c.queue, func(id compute.WorkerID) []compute.PublishedPort { return c.ports[id] }, c.Dial, c.Log)
	at := compute.Endpoint{}.Serving()
	address, ok := Where(c.ports["w0"], 80)
	require.True(t, ok)
	for code, want := range map[int]queue.Condition{200: queue.Healthy, 204: queue.Loading, 500: queue.Unhealthy, 302: queue.Unhealthy, 404: queue.Unhealthy} {
		status <- code
		got, detail, _ := h.check(t.Context(), address, at)
		require.Equal(t, want, got, code)
		require.Equal(t, code == 200, detail == "")
	}
	got, _, _ := h.check(t.Context(), fmt.Sprint("127.0.0.1:", closedPort), at)
	require.Equal(t, queue.Unreachable, got)

	ctx, end := context.WithCancel(t.Context())
	ended := make(chan struct{})
	go func() {
		h.Run(ctx)
		close(ended)
	}()
	ready := func(want bool) func() bool { return func() bool { return c.queue.Served()[0].Ready == want } }
	status <- 500
	require.Eventually(t, ready(false), 10*time.Second, time.Millisecond)
	status <- 204
	status <- 200
	require.Eventually(t, ready(true), 10*time.Second, time.Millisecond)
	end()
	close(status)
	<-ended
}
