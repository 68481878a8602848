package proxy

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
)

const pod = "abcdefghijklmn"

// onePod is a pod that shows one port, whose status is what it says.
type onePod compute.PodStatus

func (o onePod) HTTPPod(_ context.Context, id compute.PodID, port int) (compute.Pod, error) {
	switch {
	case id != pod || port != 8888:
		return compute.Pod{}, compute.Errorf(compute.NotFound, "there is no such pod")
	case o == "":
		return compute.Pod{}, compute.Errorf(compute.Unavailable, "the storage is in trouble")
	}
	return compute.Pod{ID: id, Status: compute.PodStatus(o)}, nil
}

// server is a proxy before an API that answers 200 with a text, for a pod whose port is that of the handler.
type server struct {
	*Proxy
	url  string
	live []compute.PublishedPort
}

func newServer(t testing.TB, inPod http.HandlerFunc, changes ...func(*Config)) *server {
	s := &server{}
	if inPod != nil {
		backend := httptest.NewServer(inPod)
		t.Cleanup(backend.Close)
		at := netip.MustParseAddrPort(backend.Listener.Addr().String())
		s.live = []compute.PublishedPort{{Private: 22, Public: 1, Type: "tcp"}, {Private: 8888, Public: int(at.Port()), Type: "http", IP: at.Addr().String()}}
	}

	c := Config{
		Domain: "localhost", Pods: onePod(compute.PodRunning), Dial: (&net.Dialer{}).DialContext, Ending: t.Context(), Log: slog.New(slog.DiscardHandler),
		Live: func(compute.PodID) compute.PodRuntime { return compute.PodRuntime{Ports: s.live} },
	}
	for _, change := range changes {
		change(&c)
	}
	s.Proxy = New(c)
	bound := limit.NewConnections(0, limit.DefaultSpan) // of a real server
	front := httptest.NewUnstartedServer(nil)
	front.Listener = bound.Listen(front.Listener)
	front.Config = bound.Server(s.Before(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "the API") })))
	front.Start()
	t.Cleanup(front.Close)
	s.url = front.URL
	return s
}

// answer is one whose body is closed after the test.
type answer struct{ *http.Response }

// ask sends a request to the port of the pod, or what the changes say.
func (s *server) ask(t testing.TB, method, path, body string, changes ...func(*http.Request)) answer {
	req, err := http.NewRequestWithContext(t.Context(), method, s.url+path, strings.NewReader(body))
	require.NoError(t, err)
	req.Host = pod + "-8888.localhost:8765"
	for _, change := range changes {
		change(req)
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	t.Cleanup(func() { _ = res.Body.Close() })
	return answer{res}
}

// text gives the body of an answer.
func text(t *testing.T, res answer) string {
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	return string(body)
}

func TestProxy_PassesOnWhatWasAsked(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body string
	s := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		read, _ := io.ReadAll(r.Body)
		got, body = r, string(read)
		w.Header().Set("X-From", "the pod")
		w.WriteHeader(http.StatusTeapot)
		_, _ = io.WriteString(w, "short and stout")
	})

	res := s.ask(t, "PATCH", "/a%2Fb//c/../d?x=1;y=%zz", "what I send", func(r *http.Request) {
		r.Header.Set("Authorization", "Bearer of the pod's own")
		r.Header.Set("X-Forwarded-For", "203.0.113.9")
		r.Header.Set("X-Forwarded-Host", "evil.example")
		r.Header.Set("Connection", "X-Hop")
		r.Header.Set("X-Hop", "mine")
	})
	require.Equal(t, http.StatusTeapot, res.StatusCode)
	require.Equal(t, "the pod", res.Header.Get("X-From"))
	require.Equal(t, "short and stout", text(t, res))

	require.Equal(t, "PATCH", got.Method)
	require.Equal(t, "/a%2Fb//c/../d?x=1;y=%zz", got.RequestURI)
	require.Equal(t, "what I send", body)
	require.Equal(t, pod+"-8888.localhost:8765", got.Host)
	require.Equal(t, "Bearer of the pod's own", got.Header.Get("Authorization"))
	require.Equal(t, "127.0.0.1", got.Header.Get("X-Forwarded-For"), "nobody may say who asked but who is trusted")
	require.Equal(t, got.Host, got.Header.Get("X-Forwarded-Host"))
	require.Equal(t, "http", got.Header.Get("X-Forwarded-Proto"))
	require.Empty(t, got.Header.Get("X-Hop"))
}

func TestProxy_BehindATrustedProxyTheClientIsWhoItSays(t *testing.T) {
	t.Parallel()
	proxies, err := limit.NewProxies([]string{"127.0.0.1"})
	require.NoError(t, err)
	got := make(chan *http.Request, 1)
	s := newServer(t, func(_ http.ResponseWriter, r *http.Request) { got <- r }, func(c *Config) { c.Proxies, c.Domain = proxies, "pods.example.com" })

	res := s.ask(t, "GET", "/", "", func(r *http.Request) {
		r.Host = "10.0.0.7"
		r.Header.Set("X-Forwarded-For", "203.0.113.9")
		r.Header.Set("X-Forwarded-Host", pod+"-8888.pods.example.com")
		r.Header.Set("X-Forwarded-Proto", "https")
	})
	require.Equal(t, http.StatusOK, res.StatusCode)
	seen := <-got
	require.Equal(t, pod+"-8888.pods.example.com", seen.Host)
	require.Equal(t, []string{"203.0.113.9", "127.0.0.1"}, seen.Header["X-Forwarded-For"])
	require.Equal(t, "https", seen.Header.Get("X-Forwarded-Proto"))
}

func TestProxy_GoesToWhereBerthReachesThePod(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "inside") })
	inner := net.JoinHostPort(s.live[1].IP, strconv.Itoa(s.live[1].Public))
	for _, public := range []int{0, 1} { // it is not published, or where berth does not come to
		s.live = []compute.PublishedPort{{Private: 8888, Public: public, Type: "tcp", Inner: "192.0.2.1:1"}, {Private: 8888, Public: public, Type: "http", Inner: inner}}
		require.Equal(t, "inside", text(t, s.ask(t, "GET", "/", "")))
	}
}

func TestProxy_StreamsAsItComes(t *testing.T) {
	t.Parallel()
	more := make(chan string)
	s := newServer(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for line := range more {
			_, _ = io.WriteString(w, line)
			_ = http.NewResponseController(w).Flush()
		}
	})

	go func() { more <- "data: 1\n" }()
	res := s.ask(t, "GET", "/", "")
	lines := bufio.NewReader(res.Body)
	for _, next := range []string{"data: 2\n", "data: 3\n", ""} {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Contains(t, line, "data: ")
		if next != "" {
			more <- next // only now: what came was not held back
		}
	}
	close(more)
	require.Empty(t, text(t, answer{&http.Response{Body: io.NopCloser(lines)}}))
}

// echo takes over the connection, as websockets do, and sends back each line that comes.
func echo(w http.ResponseWriter, r *http.Request) {
	conn, both, err := http.NewResponseController(w).Hijack()
	if err != nil || r.Header.Get("Upgrade") != "lines" {
		return
	}
	defer func() { _ = conn.Close() }()
	_, _ = both.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n")
	for err = both.Flush(); err == nil; err = both.Flush() {
		line, err := both.ReadString('\n')
		if err != nil {
			return
		}
		_, _ = both.WriteString("you said " + line)
	}
}

// upgraded opens a connection of its own through the proxy. Lines may come with its request.
func (s *server) upgraded(t *testing.T, with ...string) (net.Conn, *bufio.Reader) {
	conn, err := (&net.Dialer{}).DialContext(t.Context(), "tcp", strings.TrimPrefix(s.url, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	_, err = io.WriteString(conn, "GET /ws HTTP/1.1\r\nHost: "+pod+"-8888.localhost\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\n"+strings.Join(with, ""))
	require.NoError(t, err)
	lines := bufio.NewReader(conn)
	res, err := http.ReadResponse(lines, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusSwitchingProtocols, res.StatusCode)
	_ = res.Body.Close()
	return conn, lines
}

func TestProxy_ConnectionsAreTakenOver(t *testing.T) {
	t.Parallel()
	ending, end := context.WithCancel(t.Context())
	s := newServer(t, echo, func(c *Config) { c.Ending = ending })
	conn, lines := s.upgraded(t)
	for _, line := range []string{"one\n", "two\n"} {
		_, err := io.WriteString(conn, line)
		require.NoError(t, err)
		answer, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "you said "+line, answer)
	}

	end() // of the server
	_, err := lines.ReadString('\n')
	require.Error(t, err)
	require.Eventually(t, func() bool {
		s.busy.mu.Lock()
		defer s.busy.mu.Unlock()
		return s.busy.all == 0 && len(s.busy.of) == 0
	}, 10*time.Second, time.Millisecond)
}

func TestProxy_WhatComesWithARequestIsTheProgramsWhereTheConnectionIsTakenOver(t *testing.T) {
	t.Parallel()
	conn, lines := newServer(t, echo).upgraded(t, "zero\n", "o")
	_, err := io.WriteString(conn, "ne\n")
	require.NoError(t, err)
	for _, line := range []string{"zero\n", "one\n"} {
		answer, err := lines.ReadString('\n')
		require.NoError(t, err)
		require.Equal(t, "you said "+line, answer)
	}
}

func TestProxy_RefusesAsAProblem(t *testing.T) {
	t.Parallel()
	host := func(name string) func(*http.Request) { return func(r *http.Request) { r.Host = name } }
	gone, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	require.NoError(t, err)
	require.NoError(t, gone.Close())
	ok := func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }

	for name, c := range map[string]struct {
		server  *server
		method  string
		change  func(*http.Request)
		status  int
		retries bool
	}{
		"an unknown pod":       {newServer(t, ok), "GET", host("aaaaaaaaaaaaaa-8888.localhost"), 404, false},
		"an undeclared port":   {newServer(t, ok), "GET", host(pod + "-22.localhost"), 404, false},
		"a pod that is ended":  {newServer(t, ok, func(c *Config) { c.Pods = onePod(compute.PodExited) }), "GET", nil, 502, false},
		"a simulated pod":      {newServer(t, ok, func(c *Config) { c.Simulated = true }), "GET", nil, 502, false},
		"no port yet":          {newServer(t, nil), "GET", nil, 502, true},
		"storage in trouble":   {newServer(t, ok, func(c *Config) { c.Pods = onePod("") }), "GET", nil, 503, true},
		"a long body":          {newServer(t, ok), "POST", func(r *http.Request) { r.ContentLength, r.Body = MostBody+1, io.NopCloser(zeros(MostBody+1)) }, 413, false},
		"a long body in parts": {newServer(t, ok), "POST", func(r *http.Request) { r.ContentLength, r.Body = -1, io.NopCloser(zeros(MostBody+1)) }, 413, false},
		"a tunnel":             {newServer(t, ok), "CONNECT", nil, 405, false},
		"what is no HTTP":      {newServer(t, func(w http.ResponseWriter, _ *http.Request) { garbage(w) }), "GET", nil, 502, false},
		"a pod that cuts":      {newServer(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), "POST", nil, 502, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			change := c.change
			if change == nil {
				change = func(*http.Request) {}
			}
			res := c.server.ask(t, c.method, "/", "", change)
			body := text(t, res)
			require.Equal(t, c.status, res.StatusCode, body)
			require.Equal(t, "application/problem+json", res.Header.Get("Content-Type"))
			require.Equal(t, c.retries, res.Header.Get("Retry-After") != "")
			var problem struct {
				Title, Detail string
				Status        int
			}
			require.NoError(t, json.Unmarshal([]byte(body), &problem))
			require.NotEmpty(t, problem.Title)
			require.NotEmpty(t, problem.Detail)
			require.Equal(t, c.status, problem.Status)
		})
	}

	nobody := newServer(t, nil)
	nobody.live = []compute.PublishedPort{{Private: 8888, Public: gone.Addr().(*net.TCPAddr).Port, Type: "http"}}
	require.Equal(t, 502, nobody.ask(t, "GET", "/", "").StatusCode, "nothing listens")
}

func garbage(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_, _ = io.WriteString(conn, "220 mail.example ESMTP\r\n")
		_ = conn.Close()
	}
}

// zeros reads as many zero bytes.
func zeros(n int64) io.Reader { return io.LimitReader(endless{}, n) }

type endless struct{}

func (endless) Read(p []byte) (int, error) {
	clear(p)
	return len(p), nil
}

func TestProxy_WaitsForAnAnswerOnlyForSoLong(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	s := newServer(t, func(http.ResponseWriter, *http.Request) { <-release })
	t.Cleanup(func() { close(release) })
	s.firstByte = time.Millisecond
	res := s.ask(t, "GET", "/", "")
	require.Equal(t, 524, res.StatusCode)
	require.Contains(t, text(t, res), `"title":"A Timeout Occurred"`)
}

func TestProxy_OnePodHasSoManyRequests(t *testing.T) {
	t.Parallel()
	s := newServer(t, func(http.ResponseWriter, *http.Request) {})
	var all []func()
	for range mostOfPod {
		over, why := s.busy.begin(pod)
		require.Empty(t, why)
		all = append(all, over)
	}
	res := s.ask(t, "GET", "/", "")
	require.Equal(t, 503, res.StatusCode)
	require.Equal(t, "1", res.Header.Get("Retry-After"))

	all[0]()
	require.Equal(t, 200, s.ask(t, "GET", "/", "").StatusCode)
	require.Eventually(t, func() bool { // the answer is there a moment before
		s.busy.mu.Lock()
		defer s.busy.mu.Unlock()
		return s.busy.all == mostOfPod-1
	}, 10*time.Second, time.Millisecond)
	begin := func(n int, id func(i int) string) {
		for i := range n {
			over, why := s.busy.begin(compute.PodID(id(i)))
			require.Empty(t, why)
			all = append(all, over)
		}
	}
	begin(mostBusy-spare-mostOfPod+1, func(i int) string { return fmt.Sprint("flooded", i%3) })
	_, why := s.busy.begin("flooded0")
	require.NotEmpty(t, why, "what is left is for others")
	begin(spare, func(i int) string { return fmt.Sprint("other", i/fewOfPod) })
	_, why = s.busy.begin("another")
	require.NotEmpty(t, why)

	for _, over := range all[1:] {
		over()
	}
	require.Zero(t, s.busy.all)
	require.Empty(t, s.busy.of)
}

func TestName_IsThatOfAPortOfAPod(t *testing.T) {
	t.Parallel()
	n := newName("pods.example.com")
	for _, host := range []string{pod + "-8888.pods.example.com", pod + "-8888.pods.example.com:443", pod + "-8888.PODS.example.com.", strings.ToUpper(pod) + "-8888.pods.example.com:1"} {
		id, port, ok := n.of(host)
		require.True(t, ok, host)
		require.Equal(t, compute.PodID(pod), id)
		require.Equal(t, 8888, port)
	}

	for _, host := range []string{
		"", "pods.example.com", pod + ".pods.example.com", pod + "-8888.pods.example.com.evil.example", "x." + pod + "-8888.pods.example.com", pod + "-8888.localhost",
		pod + "-08888.pods.example.com", pod + "-0.pods.example.com", pod + "-888888.pods.example.com", pod + "-8888pods.example.com", pod + "-8888.pods.example.com/", pod + "-8888.pods.example.com\n",
		pod + "--8888.pods.example.com", pod + "-+888.pods.example.com", "../../../../x-8888.pods.example.com", "[" + pod + "-8888.pods.example.com]",
	} {
		_, _, ok := n.of(host)
		require.False(t, ok, host)
	}

	s := newServer(t, func(http.ResponseWriter, *http.Request) {})
	require.Equal(t, "the API", text(t, s.ask(t, "GET", "/", "", func(r *http.Request) { r.Host = "localhost" })))
}

func TestDomain_IsAName(t *testing.T) {
	t.Parallel()
	for _, good := range []string{"localhost", "pods.example.com", "a-b.c"} {
		require.NoError(t, CheckDomain(good))
	}
	for _, bad := range []string{"", ".localhost", "example.com.", "*.example.com", "https://example.com", "example.com:80", "a..b", "-a.b", "ä.example", strings.Repeat("a", 201)} {
		require.Error(t, CheckDomain(bad), bad)
	}
}

func TestProxy_AClientThatLeavesIsNotAnswered(t *testing.T) {
	t.Parallel()
	there, over := make(chan struct{}), make(chan error, 1)
	s := newServer(t, func(_ http.ResponseWriter, r *http.Request) {
		close(there)
		<-r.Context().Done()
		over <- r.Context().Err()
	})
	ctx, leave := context.WithCancel(t.Context())
	go func() {
		<-there
		leave()
	}()
	req, err := http.NewRequestWithContext(ctx, "GET", s.url, nil)
	require.NoError(t, err)
	req.Host = pod + "-8888.localhost"
	_, err = http.DefaultClient.Do(req) //nolint:bodyclose // there is none
	require.ErrorIs(t, err, context.Canceled)
	require.True(t, errors.Is(<-over, context.Canceled), "the pod is asked to stop")
}
