package httpapi

import (
	"bufio"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/journal"
)

// passing is a proxy before something that runs, whose requests are recorded and meet faults.
type passing struct {
	*testing.T
	*Handler
	url string
}

func newPassing(t *testing.T, behind http.HandlerFunc) *passing {
	back := httptest.NewServer(behind)
	t.Cleanup(back.Close)
	at, err := url.Parse(back.URL)
	require.NoError(t, err)
	relay := &httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(at) }, FlushInterval: -1}

	h := &Handler{services: &Services{Clock: compute.SystemClock{}, Log: slog.New(slog.DiscardHandler), Faults: &fault.Script{}}}
	h.services.record()
	of := []journal.Resource{{Kind: "endpoint", ID: "e"}}
	front := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		to, with, over := h.Record(w, r, journal.OperationProxyEndpoint, of...)
		defer over()
		h.Meet(to, with, journal.OperationProxyEndpoint, "k", of, relay.ServeHTTP)
	}))
	t.Cleanup(front.Close)
	return &passing{t, h, front.URL}
}

// reply is an answer that was read.
type reply struct {
	status int
	header http.Header
	text   string
}

// ask sends a request and gives the answer.
func (p *passing) ask(method, path, body string) (reply, error) {
	req, err := http.NewRequestWithContext(p.Context(), method, p.url+path, strings.NewReader(body))
	require.NoError(p, err)
	req.Header.Set("Authorization", "Bearer of-the-client")
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return reply{}, err
	}
	text, err := io.ReadAll(res.Body)
	require.NoError(p, res.Body.Close())
	return reply{res.StatusCode, res.Header, string(text)}, err
}

// entry waits for the entry that is the nth of the journal.
func (p *passing) entry(n int) *journal.Entry {
	var all []*journal.Entry
	require.Eventually(p, func() bool {
		all, _ = p.services.Journal.List(journal.Filter{})
		return len(all) >= n
	}, 10*time.Second, time.Millisecond)
	return all[n-1]
}

// counting counts the requests that are under way.
type counting struct {
	Controls
	now atomic.Int32
}

func (c *counting) Request() (answered, over func()) {
	c.now.Add(1)
	return func() {}, sync.OnceFunc(func() { c.now.Add(-1) })
}

func TestMeet_WhoMeetsAFaultIsUnderWay(t *testing.T) {
	t.Parallel()
	c, during := &counting{}, make(chan int32, 1)
	p := newPassing(t, func(http.ResponseWriter, *http.Request) { during <- c.now.Load() })
	p.services.Controls = c
	require.NoError(t, p.services.Faults.Set([]fault.Fault{{Operation: journal.OperationProxyEndpoint, When: fault.Before, Latency: time.Millisecond, Times: 1}}))
	for _, want := range []int32{1, 0} { // the second one meets none
		_, err := p.ask("GET", "/", "")
		require.NoError(t, err)
		require.Equal(t, want, <-during)
		require.Eventually(t, func() bool { return c.now.Load() == 0 }, 10*time.Second, time.Millisecond)
	}
}

func TestRecord_KeepsWhatPasses(t *testing.T) {
	t.Parallel()
	p := newPassing(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set(workerIDHeader, "w1")
		w.WriteHeader(http.StatusTeapot)
		_, _ = w.Write(body)
	})
	long := strings.Repeat("x", 200<<10)
	res, err := p.ask("PUT", "/a%2Fb?c=d&api_key=hidden", long)
	require.NoError(t, err)
	require.Len(t, res.text, len(long))

	e := p.entry(1)
	require.Equal(t, []any{"PUT", "/a%2Fb", http.StatusTeapot}, []any{e.Method, e.Path, e.Status})
	require.Equal(t, []journal.Resource{{Kind: "endpoint", ID: "e"}, {Kind: "worker", ID: "w1"}}, e.Resources)
	for _, m := range []journal.Message{e.Request, e.Response} {
		require.EqualValues(t, 200<<10, m.Body.Length)
		require.True(t, m.Body.Truncated)
		require.Len(t, m.Body.Text, 64<<10)
	}
	require.NotContains(t, e.Query, "hidden")
	require.NotContains(t, e.Request.Headers, journal.Header{Name: "Authorization", Value: "Bearer of-the-client"})
}

func TestRecord_ShowsNoSecrets(t *testing.T) {
	t.Parallel()
	p := newPassing(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.Copy(w, r.Body)
	})
	body := `{"user":"ada","password":"hush","env":{"API_TOKEN":"hush"}}`
	res, err := p.ask("POST", "/login", body)
	require.NoError(t, err)
	require.Equal(t, body, res.text, "what passes is as it was")

	for _, m := range []journal.Message{p.entry(1).Request, p.entry(1).Response} {
		require.Contains(t, m.Body.Text, "ada")
		require.NotContains(t, m.Body.Text, "hush")
	}
}

func TestRecord_HoldsNothingUp(t *testing.T) {
	t.Parallel()
	goOn := make(chan bool)
	p := newPassing(t, func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, "first\n")
		_ = http.NewResponseController(w).Flush()
		<-goOn
		_, _ = io.WriteString(w, "last\n")
	})
	res, err := http.Get(p.url)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	read := bufio.NewReader(res.Body)
	line, err := read.ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "first\n", line)
	close(goOn)
	rest, err := io.ReadAll(read)
	require.NoError(t, err)
	require.Equal(t, "last\n", string(rest))
	require.Equal(t, "first\nlast\n", p.entry(1).Response.Body.Text)
}

func TestRecord_LetsConnectionsBeTakenOver(t *testing.T) {
	t.Parallel()
	p := newPassing(t, func(w http.ResponseWriter, _ *http.Request) {
		conn, both, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		defer func() { _ = conn.Close() }()
		_, _ = both.WriteString("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: lines\r\n\r\nhello\n")
		_ = both.Flush()
	})
	_, err := p.services.Faults.Add(fault.Fault{Operation: fault.Every, When: fault.After, Drop: true})
	require.NoError(t, err)
	req, err := http.NewRequestWithContext(t.Context(), "GET", p.url, nil)
	require.NoError(t, err)
	req.Header = http.Header{"Connection": {"Upgrade"}, "Upgrade": {"lines"}}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, "hello\n", string(text))
	require.Equal(t, http.StatusSwitchingProtocols, p.entry(1).Status)
}

func TestMeet_HasFaultsBeforeAndAfter(t *testing.T) {
	t.Parallel()
	came := make(chan string, 10)
	p := newPassing(t, func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		came <- string(body)
		_, _ = io.WriteString(w, "done")
	})
	set := func(f fault.Fault) {
		f.Operation = journal.OperationProxyEndpoint
		require.NoError(t, p.services.Faults.Set([]fault.Fault{f}))
	}

	set(fault.Fault{When: fault.Before, Status: 503, KeyID: "k", Resource: "e", Times: 1})
	res, err := p.ask("GET", "/", "")
	require.NoError(t, err)
	require.Equal(t, []any{503, "1"}, []any{res.status, res.header.Get("Retry-After")})
	require.Equal(t, "application/problem+json", res.header.Get("Content-Type"))
	require.Empty(t, came)
	require.Equal(t, 503, p.entry(1).Fault.Status)

	set(fault.Fault{When: fault.After, Status: 500, Body: []journal.Value{{Pointer: "/n", Equals: []byte("7")}}})
	for body, want := range map[string]int{`{"n":7}`: 500, `{"n":8}`: 200, strings.Repeat(" ", 2<<20) + `{"n":7}`: 200} {
		res, err = p.ask("POST", "/", body)
		require.NoError(t, err)
		require.Equal(t, want, res.status)
		require.Equal(t, body, <-came, "it came whole, and its effect is kept")
	}

	set(fault.Fault{When: fault.After, Drop: true})
	_, err = p.ask("POST", "/", "x")
	require.Error(t, err)
	require.Equal(t, "x", <-came)
	require.Zero(t, p.entry(5).Status)
}

func TestPeek_LeavesTheBodyAsItWas(t *testing.T) {
	t.Parallel()
	over := errors.New("the connection broke")
	r := httptest.NewRequest(http.MethodPost, "/", io.MultiReader(strings.NewReader("ab"), failing{over}))
	require.Equal(t, "ab", string(peek(r)))
	text, err := io.ReadAll(r.Body)
	require.ErrorIs(t, err, over)
	require.Equal(t, "ab", string(text))

	long := strings.Repeat("x", 1<<20+5)
	r = httptest.NewRequest(http.MethodPost, "/", strings.NewReader(long))
	require.Len(t, peek(r), 1<<20+1, "one byte more than is looked at, which shows that there are more")
	text, err = io.ReadAll(r.Body)
	require.NoError(t, err)
	require.Len(t, text, len(long))
	require.NoError(t, r.Body.Close())
	require.Nil(t, peek(&http.Request{}))
}

func TestRecord_OfAConnectionThatCannotBeTakenOverHasItsAnswer(t *testing.T) {
	t.Parallel()
	h := &Handler{services: &Services{Clock: compute.SystemClock{}, Log: slog.New(slog.DiscardHandler)}}
	h.services.record()
	pod := journal.Resource{Kind: "pod", ID: "p"}
	to, with, over := h.Record(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/", http.NoBody), journal.OperationProxyPod, pod)
	require.Equal(t, http.NoBody, with.Body, "there is nothing to see of it")
	_, _, err := to.(http.Hijacker).Hijack()
	require.Error(t, err)
	to.Header().Set(workerIDHeader, "w1")
	to.WriteHeader(http.StatusTeapot)
	over()
	over() // again, which is nothing
	entries, _ := h.services.Journal.List(journal.Filter{})
	require.Len(t, entries, 1)
	require.Equal(t, http.StatusTeapot, entries[0].Status)
	require.Equal(t, []journal.Resource{pod}, entries[0].Resources, "a pod has no workers")
}
