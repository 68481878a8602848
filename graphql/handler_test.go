package graphql_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/graphql"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/store"
)

// ask sends a request, with headers beside its content type: a name and a value each. It gives the whole answer.
func (e *edge) ask(method, target, body string, header ...string) *httptest.ResponseRecorder {
	r := httptest.NewRequestWithContext(e.Context(), method, target, strings.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	e.handler.ServeHTTP(w, r)
	return w
}

// withKey is where a document with the key of the edge is sent.
func (e *edge) withKey() string { return "/graphql?api_key=" + e.token }

func TestHandler_RefusalsSayWhatWouldDo(t *testing.T) {
	t.Parallel()
	off, on := open(t, nil), open(t, func(s *graphql.Services) { s.Playground = true })
	const document = `{"query":"{pod(input:{podId:\"x\"}){id}}"}`

	for _, w := range []*httptest.ResponseRecorder{
		off.ask(http.MethodPost, "/graphql", document), off.ask(http.MethodPost, "/graphql?api_key=wrong", document), off.ask(http.MethodPost, "/graphql", document, "Authorization", off.token),
	} {
		require.Equal(t, 401, w.Code)
		require.Equal(t, "Bearer", w.Header().Get("WWW-Authenticate"))
		require.Contains(t, w.Body.String(), `"code":"UNAUTHENTICATED"`)
	}

	for e, allow := range map[*edge]string{off: "POST", on: "GET, POST"} {
		w := e.ask(http.MethodPut, e.withKey(), document)
		require.Equal(t, 405, w.Code)
		require.Equal(t, allow, w.Header().Get("Allow"))
	}

	w := off.ask(http.MethodPost, off.withKey(), document, "Content-Encoding", "gzip")
	require.Equal(t, 415, w.Code)
	require.Equal(t, "identity", w.Header().Get("Accept-Encoding"))
	w = off.ask(http.MethodPost, off.withKey(), document, "Content-Type", "text/plain")
	require.Equal(t, 415, w.Code)
	require.Empty(t, w.Header().Get("Accept-Encoding"))
	w = off.ask(http.MethodPost, off.withKey(), document, "Content-Encoding", "identity")
	require.Equal(t, 200, w.Code)
	require.Empty(t, w.Header().Get("WWW-Authenticate"))
	require.Empty(t, w.Header().Get("Retry-After"))
}

func TestHandler_PlaygroundLoadsNothingFromElsewhere(t *testing.T) {
	t.Parallel()
	w := open(t, func(s *graphql.Services) { s.Playground = true }).ask(http.MethodGet, "/graphql", "")
	require.Equal(t, 200, w.Code)
	require.Equal(t, "text/html; charset=utf-8", w.Header().Get("Content-Type"))
	policy := w.Header().Get("Content-Security-Policy")
	require.Contains(t, policy, "connect-src 'self'")
	require.Contains(t, policy, "frame-ancestors 'none'")
}

func TestHandler_IntrospectionNeedsNoKeyWhereItIsOn(t *testing.T) {
	t.Parallel()
	e := open(t, func(s *graphql.Services) { s.Introspection = true })
	for _, document := range []string{`{__schema{queryType{name}}}`, `{__type(name:\"Query\"){name}}`, `{__typename}`} {
		w := e.ask(http.MethodPost, "/graphql", `{"query":"`+document+`"}`)
		require.Equal(t, 200, w.Code, "%s: %s", document, w.Body)
		require.Contains(t, w.Body.String(), `"Query"`, document)
	}
}

func TestHandler_PanicBeforeADocumentIsAnInternalError(t *testing.T) {
	t.Parallel()
	var with any
	e := open(t, func(s *graphql.Services) { s.Client = func(*http.Request) string { panic(with) } })
	for _, with = range []any{"something secret", errors.New("something secret")} {
		w := e.ask(http.MethodPost, e.withKey(), `{"query":"{__typename}"}`)
		require.Equal(t, 500, w.Code)
		require.Contains(t, w.Body.String(), `"code":"INTERNAL"`)
		require.NotContains(t, w.Body.String(), "secret")
	}
	require.Contains(t, e.log.String(), "something secret")

	with = http.ErrAbortHandler
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { e.ask(http.MethodPost, e.withKey(), `{"query":"{__typename}"}`) }, "the connection is to be cut")
}

func TestHandler_NotesRefusedKeys(t *testing.T) {
	t.Parallel()
	var noted []compute.Code
	var reader string
	e := open(t, func(s *graphql.Services) {
		var err error
		_, reader, err = s.Keyring.Create(t.Context(), control.NewKey{UserID: "u", Scopes: []compute.Scope{compute.ScopeGraphQLRead}})
		require.NoError(t, err)
		s.Refused = func(_ *http.Request, err error) { noted = append(noted, compute.CodeOf(err)) }
	})

	const query, mutation = `{"query":"{myself{id}}"}`, `{"query":"mutation{updateUserSettings{id}}"}`
	require.Equal(t, 200, e.ask(http.MethodPost, "/graphql?api_key="+reader, query).Code)
	require.Equal(t, 200, e.ask(http.MethodPost, "/graphql", query).Code)
	require.Empty(t, noted)
	for _, of := range []struct {
		target, body string
		status       int
		want         compute.Code
	}{
		{"/graphql?api_key=wrong", query, 401, compute.Unauthenticated}, {"/graphql", mutation, 401, compute.Unauthenticated}, {"/graphql?api_key=" + reader, mutation, 200, compute.Forbidden},
	} {
		noted = nil
		require.Equal(t, of.status, e.ask(http.MethodPost, of.target, of.body).Code)
		require.Equal(t, []compute.Code{of.want}, noted)
	}
}

// TestHandler_CreatesNothingForAUserWhoIsGone: the key is found in memory while another process deletes the user.
func TestHandler_CreatesNothingForAUserWhoIsGone(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	const document = `mutation{podFindAndDeployOnDemand(input:{gpuTypeId:"NVIDIA L4",imageName:"i"}){id}}`
	_, body := e.send(document)
	require.NotContains(t, body, "errors")
	require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) error { return tx.DeleteUser("u") }))
	_, body = e.send(document)
	require.Contains(t, body, `"code":"UNAUTHENTICATED"`)
}

// hurried is an answer whose connection has deadlines.
type hurried struct {
	*httptest.ResponseRecorder
	deadlines int
}

func (h *hurried) SetReadDeadline(time.Time) error {
	h.deadlines++
	return nil
}

func TestHandler_GivesTheRestOfARefusedBodyLittleTime(t *testing.T) {
	t.Parallel()
	e := open(t, func(s *graphql.Services) { s.Limits.Body = 100 })
	long := `{"query":"` + strings.Repeat(" ", 100) + `{__typename}"}`
	for _, of := range []struct {
		method, target, body string
		status, deadlines    int
	}{
		{http.MethodPost, e.withKey(), `{"query":"{__typename}"}`, 200, 0},
		{http.MethodPost, e.withKey(), `{"query":"{nosuch}"}`, 400, 0},
		{http.MethodPost, "/graphql?api_key=wrong", `{"query":"{__typename}"}`, 401, 1},
		{http.MethodPut, e.withKey(), `{"query":"{__typename}"}`, 405, 1},
		{http.MethodPost, e.withKey(), long, 413, 1},
		{http.MethodPost, "/graphql", long, 413, 1},
	} {
		r := httptest.NewRequestWithContext(t.Context(), of.method, of.target, strings.NewReader(of.body))
		r.Header.Set("Content-Type", "application/json")
		w := &hurried{ResponseRecorder: httptest.NewRecorder()}
		e.handler.ServeHTTP(w, r)
		require.Equal(t, of.status, w.Code, "%s %s: %s", of.method, of.body, w.Body)
		require.Equal(t, of.deadlines, w.deadlines, "%s %s", of.method, of.body)
	}
}

func TestHandler_BodiesHaveTheirBoundsToTheByte(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	body := func(bytes int) string {
		const begin, end = `{"query":"{__typename}","variables":{"a":"`, `"}}`
		return begin + strings.Repeat("x", bytes-len(begin)-len(end)) + end
	}
	for target, most := range map[string]int{"/graphql": 64 << 10, e.withKey(): 1 << 20} {
		require.Equal(t, 200, e.ask(http.MethodPost, target, body(most)).Code)
		w := e.ask(http.MethodPost, target, body(most+1))
		require.Equal(t, 413, w.Code)
		require.Contains(t, w.Body.String(), "the body is over the limit of")
	}
	small := open(t, func(s *graphql.Services) { s.Limits.Body = 100 })
	require.Equal(t, 200, small.ask(http.MethodPost, "/graphql", body(100)).Code)
	require.Equal(t, 413, small.ask(http.MethodPost, "/graphql", body(101)).Code, "without a key, too")
}

func TestHandler_AnswersHaveTheMemoryOfTheirValues(t *testing.T) {
	t.Parallel()
	answers := limit.NewAnswers(100 * time.Millisecond)
	e := open(t, func(s *graphql.Services) { s.Answers = answers })
	_, ok := answers.Try("one", 20_000_000)
	require.True(t, ok)
	leave, ok := answers.Try("two", 12_000_000-400)
	require.True(t, ok)
	for range 3 { // each gives back what it had
		require.Equal(t, 200, e.ask(http.MethodPost, e.withKey(), `{"query":"{__typename}"}`).Code)
	}

	leave()
	leave, ok = answers.Try("two", 12_000_000-399)
	require.True(t, ok)
	w := e.ask(http.MethodPost, e.withKey(), `{"query":"{__typename}"}`)
	require.Equal(t, 503, w.Code)
	require.Equal(t, limit.RetryAfter, w.Header().Get("Retry-After"))
	require.Contains(t, w.Body.String(), `"code":"UNAVAILABLE"`)
	leave()
	require.Equal(t, 200, e.ask(http.MethodPost, e.withKey(), `{"query":"{__typename}"}`).Code)
}

func TestHandler_GivesTheMemoryOfBodiesAndAnswersBack(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "overflow") // where bodies and answers come for which there is no memory
	bodies, err := limit.NewBodies(dir, time.Minute)
	require.NoError(t, err)
	e := open(t, func(s *graphql.Services) { s.Bodies = bodies })

	for _, body := range []string{strings.Repeat("x", 1_000_000), `{"query":"{__typename}","variables":{"a":"` + strings.Repeat("x", 1_000_000) + `"}}`} {
		for range 21 { // more than one key can have at once
			e.ask(http.MethodPost, e.withKey(), body)
		}
		require.NoDirExists(t, dir)
	}

	e.largeOfEach(0, 3)
	for range 8 {
		status, body := e.send(`{myself{podTemplates{env{value}}}}`)
		require.Equal(t, 200, status)
		require.Greater(t, len(body), 3_000_000)
	}
	require.NoDirExists(t, dir)
}

// firstError gives the first error of an answer.
func firstError(t *testing.T, body string) (message string, extensions map[string]any) {
	t.Helper()
	var answer struct {
		Errors []struct {
			Message    string
			Extensions map[string]any
		}
	}
	require.NoError(t, json.Unmarshal([]byte(body), &answer), body)
	require.NotEmpty(t, answer.Errors, body)
	return answer.Errors[0].Message, answer.Errors[0].Extensions
}

func TestHandler_InputsThatAreAbsentAreEmpty(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	for document, want := range map[string]string{
		`{myself{cluster{id}}}`:                `{"data":{"myself":{"cluster":null}}}`,
		`{pod{id}}`:                            `{"data":{"pod":null}}`,
		`mutation{updateUserSettings{id}}`:     `{"data":{"updateUserSettings":{"id":"u"}}}`,
		`{gpuTypes(input:{cluster:true}){id}}`: `{"data":{"gpuTypes":[]}}`,
	} {
		status, body := e.send(document)
		require.Equal(t, 200, status)
		require.JSONEq(t, want, body, document)
	}

	for document, want := range map[string][]any{
		`mutation{updateEndpointTemplate{id}}`:                                 {"input.endpointId: is required", "input.templateId: is required"},
		`mutation{podFindAndDeployOnDemand{id}}`:                               {"input.gpuTypeId: is required"},
		`mutation{saveTemplate{id}}`:                                           {"input.name: must not be empty", "input.imageName: is required", "input.containerDiskInGb: must be >= 1"},
		`mutation{createNetworkVolume(input:{}){id}}`:                          {"input.name: is required", "input.size: must be 10 to 4096", "input.dataCenterId: is required"},
		`mutation{updateEndpointTemplate(input:{templateId:"t"}){id}}`:         {"input.endpointId: is required"},
		`mutation{podBidResume(input:{podId:"x",bidPerGpu:0,gpuCount:1}){id}}`: {"input.bidPerGpu: must be > 0"},
	} {
		status, body := e.send(document)
		require.Equal(t, 200, status)
		message, extensions := firstError(t, body)
		require.Equal(t, "INVALID", extensions["code"], document)
		require.Equal(t, want, extensions["errors"], document)
		for _, line := range want {
			require.Contains(t, message, line)
		}
	}
}

func TestHandler_WritesErrorsAsTheyRead(t *testing.T) {
	t.Parallel()
	e := open(t, nil)
	_, body := e.send(`mutation{podFindAndDeployOnDemand(input:{gpuTypeId:"a",ports:"<&>"}){id}}`)
	require.Contains(t, body, `\"<&>\" is not port/protocol`)
	_, body = e.send(`{pod(input:`)
	message, extensions := firstError(t, body)
	require.NotEmpty(t, message)
	require.Equal(t, map[string]any{"code": "REJECTED"}, extensions, "with neither a list nor a title")
	require.Contains(t, body, `"locations"`)
}

// reading is an answer whose client does something else while it is written.
type reading struct {
	*httptest.ResponseRecorder
	meanwhile func()
}

func (r *reading) Write(p []byte) (int, error) {
	if do := r.meanwhile; do != nil {
		r.meanwhile = nil
		do()
	}
	return r.ResponseRecorder.Write(p)
}

// What a request holds is given back before its answer is written: a client that reads slowly keeps others from nothing.
func TestHandler_SlowReadersHoldNothing(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "overflow")
	bodies, err := limit.NewBodies(dir, time.Minute)
	require.NoError(t, err)
	e := open(t, func(s *graphql.Services) { s.Bodies = bodies })
	send := func(target, body string, meanwhile func()) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodPost, target, strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		w := &reading{httptest.NewRecorder(), meanwhile}
		e.handler.ServeHTTP(w, r)
		require.Equal(t, 200, w.Code, w.Body)
	}

	send("/graphql", `{"query":"{__typename}"}`, func() { send("/graphql", `{"query":"{__typename}"}`, nil) })
	require.NoDirExists(t, dir)

	long := `{"query":"{__typename}","variables":{"a":"` + strings.Repeat("x", 1_000_000) + `"}}`
	var next func()
	left := 23 // more than one key can have at once
	next = func() {
		if left--; left > 0 {
			send(e.withKey(), long, next)
		}
	}
	next()
	require.NoDirExists(t, dir)
}
