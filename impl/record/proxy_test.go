package record_test

import (
	"bufio"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/record"
)

// upstream starts a service of one handler.
func upstream(t *testing.T, h http.HandlerFunc) string {
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

// answered is the head of an answer.
type answered struct {
	StatusCode int
	Header     http.Header
}

// sent sends a request and gives the answer with its body.
func sent(t *testing.T, method, address, body string, headers ...string) (answered, string) {
	req, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(body))
	require.NoError(t, err)
	for i := 0; i < len(headers); i += 2 {
		req.Header.Set(headers[i], headers[i+1])
	}
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	return answered{res.StatusCode, res.Header}, string(text)
}

// said collects what a recorder says.
type said struct {
	mu  sync.Mutex
	all []string
}

func (s *said) say(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all = append(s.all, text)
}

func (s *said) text() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.all, "\n")
}

func TestRecorder_PassesOnWhatCameAndKeepsNoSecret(t *testing.T) {
	t.Parallel()
	var got *http.Request
	var body string
	address, file := recorder(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		text, _ := io.ReadAll(r.Body)
		got, body = r.Clone(context.Background()), string(text)
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("Set-Cookie", "session=hunter22")
		w.Header().Set("X-Kept", "yes")
		w.WriteHeader(http.StatusCreated)
		_, _ = io.WriteString(w, `{"id":"a","env":{"A_TOKEN":"hunter22","B":"seen"},"echo":"sesame-sesame"}`)
	}), record.Settings{})

	res, answer := sent(t, "POST", address+"/v2/pods?b=1;2&a=%20x&api_key=sesame-sesame", `{"name":"n", "env": {"A_TOKEN":"hunter22"}}`,
		"Authorization", "Bearer sesame-sesame", "Connection", "X-Hop", "X-Hop", "1", "Cookie", "session=hunter22", "Content-Type", "application/json")
	require.Equal(t, 201, res.StatusCode)
	require.Contains(t, answer, "hunter22", "the client has all of it")
	require.Equal(t, "b=1;2&a=%20x&api_key=sesame-sesame", got.URL.RawQuery, "to the byte")
	require.Equal(t, `{"name":"n", "env": {"A_TOKEN":"hunter22"}}`, body)
	require.Equal(t, "Bearer sesame-sesame", got.Header.Get("Authorization"))
	require.Empty(t, got.Header.Get("X-Hop"), "it is of one connection")
	require.Empty(t, got.Header.Get("X-Forwarded-For"))

	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NotContains(t, string(text), "hunter22")
	require.NotContains(t, string(text), "sesame")
	x := loaded(t, file).Exchanges[0]
	require.Equal(t, "createPod", x.Operation)
	require.Equal(t, 1, x.Key)
	require.Equal(t, `{"name":"n", "env": {"A_TOKEN":"***"}}`, x.Request.Body)
	require.Equal(t, `{"id":"a","env":{"A_TOKEN":"***","B":"seen"},"echo":"***"}`, x.Response.Body)
	require.Equal(t, "yes", x.Response.Header("X-Kept"))
	require.Equal(t, "***", x.Request.Header("Authorization"))
}

func TestRecorder_TellsInterfacesAndKeysApart(t *testing.T) {
	t.Parallel()
	named := func(name string) string {
		return upstream(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, name+" "+r.URL.Path) })
	}
	file := filepath.Join(t.TempDir(), "r.jsonl")
	w, err := record.Create(file, "", time.Now())
	require.NoError(t, err)
	proxy, err := record.NewRecorder(record.Settings{Upstream: record.Upstream{
		REST: parsed(t, named("rest")+"/base/"), Queue: parsed(t, named("queue")), GraphQL: parsed(t, named("graphql")),
	}}, w)
	require.NoError(t, err)
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)

	for request, want := range map[string]string{
		"GET /v2/pods": "rest /base/v2/pods", "POST /v2/abc/run": "queue /v2/abc/run", "PUT /v2/abc/run": "queue /v2/abc/run", "GET /v2/abc/job-take/w": "queue /v2/abc/job-take/w",
		"POST /graphql": "graphql /graphql", "GET /else": "rest /base/else", "GET /healthz": "rest /base/healthz",
	} {
		method, path, _ := strings.Cut(request, " ")
		_, got := sent(t, method, front.URL+path, "")
		require.Equal(t, want, got, request)
	}
	for _, key := range []string{"one-of-them", "another-one", "one-of-them"} {
		sent(t, "GET", front.URL+"/v2/pods", "", "Authorization", "Bearer "+key)
	}
	require.NoError(t, w.Close())
	var keys []int
	for _, x := range loaded(t, file).Exchanges {
		require.NotEqual(t, "/healthz", x.Path)
		keys = append(keys, x.Key)
	}
	require.Equal(t, []int{0, 0, 0, 0, 0, 0, 1, 2, 1}, keys)
}

func TestRecorder_StreamsComeAsTheyAreSent(t *testing.T) {
	t.Parallel()
	goOn := make(chan struct{})
	address, file := recorder(t, upstream(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/plain") // net/http itself sees to event streams
		_, _ = io.WriteString(w, "data: 1\n\n")
		_ = http.NewResponseController(w).Flush()
		<-goOn
		_, _ = io.WriteString(w, "data: 2\n\n")
		if strings.HasSuffix(r.URL.Path, "cut") {
			panic(http.ErrAbortHandler)
		}
	}), record.Settings{})

	res, err := http.Get(address + "/v2/pods/p/logs")
	require.NoError(t, err)
	line, err := bufio.NewReader(res.Body).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "data: 1\n", line, "before the second is sent")
	close(goOn)
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	res, err = http.Get(address + "/v2/cut")
	require.NoError(t, err)
	_, err = io.Copy(io.Discard, res.Body)
	require.Error(t, err, "the client sees that it was cut")
	require.NoError(t, res.Body.Close())

	require.Eventually(t, func() bool { return len(loaded(t, file).Exchanges) == 2 }, 10*time.Second, 10*time.Millisecond)
	all := loaded(t, file).Exchanges
	require.Equal(t, "data: 1\n\ndata: 2\n\n", all[0].Response.Body)
	require.False(t, all[0].Response.Truncated)
	require.True(t, all[1].Response.Truncated)
}

func TestRecorder_IsBoundedAndSaysSo(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 100_000)
	var s said
	address, file := recorder(t, upstream(t, func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, long) }), record.Settings{Most: 2, Body: 1000, Say: s.say})
	for range 4 {
		_, got := sent(t, "POST", address+"/v2/pods", long)
		require.Equal(t, long, got)
	}
	require.Eventually(t, func() bool { return len(loaded(t, file).Exchanges) == 2 }, 10*time.Second, 10*time.Millisecond)
	x := loaded(t, file).Exchanges[0]
	require.True(t, x.Response.Truncated)
	require.Len(t, x.Response.Body, 1000)
	require.Len(t, x.Request.Body, 1000)
	require.EqualValues(t, 100_000, x.Response.Length)
	require.Equal(t, 1, strings.Count(s.text(), "has 2 exchanges"), s.text())
	require.Contains(t, s.text(), "kept to 1000 bytes")
}

func TestRecorder_SaysWhyTheUpstreamDoesNotAnswer(t *testing.T) {
	t.Parallel()
	address, file := recorder(t, "http://127.0.0.1:1", record.Settings{})
	res, body := sent(t, "GET", address+"/v2/pods", "")
	require.Equal(t, 502, res.StatusCode)
	require.Equal(t, "application/problem+json", res.Header.Get("Content-Type"))
	require.Contains(t, body, `"detail":"the upstream 127.0.0.1:1 does not answer: dial tcp 127.0.0.1:1`)
	_, body = sent(t, "POST", address+"/v2/abc/run", "")
	require.Contains(t, body, `"error":"the upstream`)
	require.Empty(t, loaded(t, file).Exchanges)
}

func TestRecorder_RefusesACertificateThatNobodySigned(t *testing.T) {
	t.Parallel()
	s := httptest.NewTLSServer(http.NotFoundHandler())
	t.Cleanup(s.Close)
	address, _ := recorder(t, s.URL, record.Settings{})
	res, body := sent(t, "GET", address+"/v2/pods", "")
	require.Equal(t, 502, res.StatusCode)
	require.Contains(t, body, "certificate")
	trusting, _ := recorder(t, s.URL, record.Settings{Client: s.Client().Transport})
	res, _ = sent(t, "GET", trusting+"/v2/pods", "")
	require.Equal(t, 404, res.StatusCode)
}

func TestLoad_NamesTheLineThatIsWrong(t *testing.T) {
	t.Parallel()
	const first, good = `{"recording":1}`, `{"number":1,"method":"GET","path":"/v2/pods","status":200}`
	for text, says := range map[string]string{
		"":                                "line 1: the file is empty",
		good:                              "line 1: this is not a recording",
		"x":                               "line 1: this is not a recording",
		`{"recording":2}`:                 "line 1: the recording has the form 2",
		first + "\n" + good[:20]:          "line 2: the line ends before the exchange does",
		first + "\n" + good + "\n[]":      "line 3: this is no exchange",
		first + "\n" + good + "\n" + good: "line 3: number 1 is that of line 2",
		first + "\n{}":                    "line 2: the exchange has no number",
		first + "\n" + `{"number":1,"method":"GET","path":"pods","status":200}`:                                      "line 2: the path",
		first + "\n" + `{"number":1,"method":"GET","path":"/","status":20}`:                                          "line 2: 20 is not the status",
		first + "\n" + `{"number":1,"method":"GET","path":"/","status":200,"response":{"body":"?","base64":true}}`:   "line 2: the body of the answer is not in base64",
		first + "\n" + `{"number":1,"method":"POST","path":"/","status":200,"request":{"body":"aGk","base64":true}}`: "line 2: the body of the request is not in base64",
	} {
		file := filepath.Join(t.TempDir(), "r.jsonl")
		require.NoError(t, os.WriteFile(file, []byte(text), 0o600))
		_, err := record.Load(file)
		require.ErrorContains(t, err, says, text)
		require.ErrorContains(t, err, file)
	}
}

func TestCreate_OverwritesNothing(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "r.jsonl")
	require.NoError(t, os.WriteFile(file, []byte("kept"), 0o600))
	_, err := record.Create(file, "", time.Now())
	require.ErrorIs(t, err, os.ErrExist)
}

func TestRecorder_BodyThatTheUpstreamLeavesIsNotWhole(t *testing.T) {
	t.Parallel()
	leave := make(chan struct{})
	at := upstream(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/v2/pods" {
			_, _ = io.Copy(io.Discard, r.Body)
			return
		}
		w.Header().Set("Connection", "close")
		w.WriteHeader(http.StatusRequestEntityTooLarge)
	})
	file := filepath.Join(t.TempDir(), "recording.jsonl")
	w, err := record.Create(file, at, time.Now())
	require.NoError(t, err)
	proxy, err := record.NewRecorder(record.Settings{Upstream: record.Upstream{REST: parsed(t, at)}}, w)
	require.NoError(t, err)
	serve := func(method, path string, body io.Reader) int {
		answer := httptest.NewRecorder()
		proxy.ServeHTTP(answer, httptest.NewRequestWithContext(t.Context(), method, path, body))
		return answer.Code
	}
	require.Equal(t, 200, serve(http.MethodPost, "/v2/pods", strings.NewReader(`{"name":"whole"}`)))
	require.Equal(t, 200, serve(http.MethodGet, "/v2/pods", http.NoBody))

	// The rest of the body comes only once its answer is there.
	body := io.MultiReader(strings.NewReader(`{"name":"`), after{leave}, strings.NewReader(`"}`))
	require.Equal(t, 413, serve(http.MethodPost, "/v2/templates", body))
	close(leave)
	require.NoError(t, w.Close())

	for _, x := range loaded(t, file).Exchanges {
		require.Equal(t, x.Path == "/v2/templates", x.Request.Truncated, "%s %s", x.Method, x.Path)
	}
}

// after is a reader that has nothing, and no end until then.
type after struct{ then chan struct{} }

func (a after) Read([]byte) (int, error) {
	<-a.then
	return 0, io.EOF
}
