package httpapi_test

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/conformance"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// edge is the HTTP edge over a real file, without loops and listeners.
type edge struct {
	testing.TB
	echo     *echo.Echo
	handler  http.Handler
	db       store.Store
	clock    *compute.SettableClock
	keyring  *control.Keyring
	endpoint compute.EndpointID
	log      bytes.Buffer
}

func open(t testing.TB) *edge { return openWith(t, func(*httpapi.Services) {}) }

// openWith is open with other services.
func openWith(t testing.TB, change func(*httpapi.Services)) *edge {
	e := &edge{TB: t, clock: compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000))}
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), e.clock)
	require.NoError(t, err)
	e.db = db
	t.Cleanup(func() { _ = db.Close() })
	ids := compute.NewIDs(rand.Reader, e.clock)
	e.keyring, err = control.NewKeyring(t.Context(), db, ids, e.clock, nil)
	require.NoError(t, err)

	q, err := queue.New(t.Context(), db, e.clock, ids, queue.DefaultSettings(), queue.Hooks{})
	require.NoError(t, err)
	catalog, err := control.BuiltInCatalog()
	require.NoError(t, err)

	placement, err := control.NewPlacement(t.Context(), db, catalog, control.SimulatedFleet(catalog), control.PlacementOptions{Place: runtime.Pack})
	require.NoError(t, err)
	ctl := control.New(db, ids, placement, control.Runtime{Can: compute.AllCapabilities}, control.Hints{Pod: func(compute.PodID) {}})
	endpoints := control.NewEndpoints(db, ids, placement, q, control.Runtime{Can: compute.AllCapabilities})
	made, err := endpoints.Declare(t.Context(), "u", control.NewEndpoint{Name: "one", Image: "one"})
	require.NoError(t, err)

	e.endpoint = made.ID
	rates, err := control.NewRates(t.Context(), db, e.clock, compute.Windows(20, 30, 40))
	require.NoError(t, err)
	sealer, err := control.NewSealer(make([]byte, control.SecretKeySize))
	require.NoError(t, err)

	registries, err := control.NewRegistries(t.Context(), db, ids, sealer)
	require.NoError(t, err)
	secrets, err := control.NewSecrets(t.Context(), db, ids, sealer)
	require.NoError(t, err)
	artifacts := limit.NewArtifacts(filepath.Join(t.TempDir(), "artifacts"), 2)
	bodies, err := limit.NewBodies(filepath.Join(t.TempDir(), "bodies"), time.Minute)
	require.NoError(t, err)

	hosts, err := limit.NewHosts([]string{"example.com"}) // that of httptest
	require.NoError(t, err)
	services := httpapi.Services{
		Bodies: bodies, Answers: limit.NewAnswers(time.Minute), Hosts: hosts,
		Control: ctl, Endpoints: endpoints, QueueURL: func(*http.Request) string { return "http://queue" }, Registries: registries, Secrets: secrets, Artifacts: artifacts, Flash: control.NewFlash(db, ids, endpoints, sealer, e.clock, artifacts), Queue: q, Keyring: e.keyring, Rates: rates,
		Pods: loop.NewPods(loop.PodFleet{Store: db, Placement: placement, Clock: e.clock}), Draining: context.Background(),
		QueueRates: control.NewQueueRates(e.clock, nil), IDs: ids, Clock: e.clock,
		Log:   slog.New(slog.NewTextHandler(&e.log, &slog.HandlerOptions{Level: slog.LevelDebug})),
		Ready: func(context.Context) error { return errors.New("the secret reason") },
	}

	change(&services)
	handler, err := httpapi.New(services)
	require.NoError(t, err)
	e.handler, e.echo = handler, handler.Echo
	return e
}

func (e *edge) key(n control.NewKey) string {
	if n.UserID == "" {
		n.UserID = "u"
	}
	_, token, err := e.keyring.Create(e.Context(), n)
	require.NoError(e, err)
	return token
}

func (e *edge) call(method, path, token, body string) *httptest.ResponseRecorder {
	req := httptest.NewRequestWithContext(e.Context(), method, path, strings.NewReader(body))
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	return e.serve(req)
}

// serve answers the request and holds the answer against the documents.
func (e *edge) serve(req *http.Request) *httptest.ResponseRecorder {
	rec := httptest.NewRecorder()
	e.handler.ServeHTTP(rec, req)
	documents, err := loadDocuments()
	require.NoError(e, err)
	documents.Check(e, req, conformance.Answer{Status: rec.Code, Header: rec.Header(), Body: rec.Body.Bytes()})
	return rec
}

var loadDocuments = sync.OnceValues(func() (*conformance.Documents, error) { return conformance.LoadDocuments("") })

const pod = `{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":2}}`

func TestServices_KeyIsNotInvalidIfTheStoreFails(t *testing.T) {
	t.Parallel()
	e := open(t)
	unknown := compute.NewToken(compute.NewIDs(rand.Reader, e.clock), "0123456789")
	require.Equal(t, 401, e.call("GET", "/v2/pods", unknown, "").Code)
	require.Equal(t, 401, e.call("GET", "/v2/"+string(e.endpoint)+"/health", unknown, "").Code)
	require.NoError(t, e.db.Close())
	for _, path := range []string{"/v2/pods", "/v2/" + string(e.endpoint) + "/health"} {
		rec := e.call("GET", path, unknown, "")
		require.Equal(t, 503, rec.Code, path)
		require.Contains(t, rec.Body.String(), "the store is closed")
		require.Equal(t, "1", rec.Header().Get("Retry-After"), path)
	}
}

// TestServices_CreateNothingForAUserWhoIsGone: the key is found in memory while another process deletes the user.
func TestServices_CreateNothingForAUserWhoIsGone(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	require.Equal(t, 201, e.call("POST", "/v2/pods", token, pod).Code)
	require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) error { return tx.DeleteUser("u") }))
	require.Equal(t, 401, e.call("POST", "/v2/pods", token, pod).Code)
	require.Equal(t, 401, e.call("POST", "/v2/templates", token, `{"name":"a","image":"i"}`).Code)
	require.NoError(t, e.keyring.Refresh(t.Context()))
	require.Equal(t, 401, e.call("GET", "/v2/pods", token, "").Code, "as what comes after it")
}

func TestServices_KeyWithoutTheScopeIsForbidden(t *testing.T) {
	t.Parallel()
	e := open(t)
	reader := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeRESTRead}})
	require.Equal(t, 200, e.call("GET", "/v2/pods", reader, "").Code)

	for _, rec := range []*httptest.ResponseRecorder{
		e.call("POST", "/v2/pods", reader, pod),
		e.call("DELETE", "/v2/pods/x", reader, ""),
		e.call("POST", "/v2/"+string(e.endpoint)+"/run", reader, `{"input":{}}`),
		e.call("GET", "/v2/"+string(e.endpoint)+"/job-take/w", reader, ""),
	} {
		require.Equal(t, 403, rec.Code)
		require.Contains(t, rec.Body.String(), "lacks the scope")
	}

	invoker := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeInvoke(e.endpoint)}})
	require.Equal(t, 200, e.call("POST", "/v2/"+string(e.endpoint)+"/run", invoker, `{"input":{}}`).Code)
	require.Equal(t, 403, e.call("POST", "/v2/otherendpoint1/run", invoker, `{"input":{}}`).Code)
}

func TestServices_WorkersKeyIsForThatWorkerAlone(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{WorkerID: "w1", Scopes: []compute.Scope{compute.ScopeWork(e.endpoint)}})
	require.Equal(t, 200, e.call("GET", "/v2/"+string(e.endpoint)+"/ping/w1?gpu=x", token, "").Code)
	require.Equal(t, 200, e.call("GET", "/v2/"+string(e.endpoint)+"/ping/w1&job_in_progress=0", token, "").Code, "a URL without a query")
	require.Equal(t, 403, e.call("GET", "/v2/"+string(e.endpoint)+"/ping/w2", token, "").Code)
	require.Equal(t, 403, e.call("GET", "/v2/pods", token, "").Code)
}

func TestServices_ExpiredAndDeletedKeysAreRefused(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}, Expiry: time.Hour})
	require.Equal(t, 200, e.call("GET", "/v2/pods", token, "").Code)
	e.clock.Advance(time.Hour)
	rec := e.call("GET", "/v2/pods", token, "")
	require.Equal(t, 401, rec.Code)
	require.Contains(t, rec.Body.String(), "expired")
	for _, k := range e.keyring.Keys(false) {
		require.NoError(t, e.keyring.Delete(t.Context(), k.ID))
	}
	require.Contains(t, e.call("GET", "/v2/pods", token, "").Body.String(), "invalid API key")
}

func TestServices_PodOfAnotherUserIsNotFound(t *testing.T) {
	t.Parallel()
	e := open(t)
	mine := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	theirs := e.key(control.NewKey{UserID: "v", Scopes: []compute.Scope{compute.ScopeAll}})
	rec := e.call("POST", "/v2/pods", mine, pod)
	require.Equal(t, 201, rec.Code)
	id := strings.Split(strings.Split(rec.Body.String(), `"id":"`)[2], `"`)[0]
	require.Equal(t, 200, e.call("GET", "/v2/pods/"+id, mine, "").Code)
	require.Equal(t, 404, e.call("GET", "/v2/pods/"+id, theirs, "").Code)
	require.Equal(t, 404, e.call("DELETE", "/v2/pods/"+id, theirs, "").Code)
	require.NotContains(t, e.call("GET", "/v2/pods", theirs, "").Body.String(), id)
	require.Equal(t, 404, e.call("POST", "/v2/"+string(e.endpoint)+"/run", theirs, `{"input":{}}`).Code)
}

func TestServices_InternalFaultIsNotShownOutside(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	e.echo.GET("/v2/pods/panic/now", func(echo.Context) error { panic("the secret reason") })
	e.echo.GET("/v2/pods/fault/now", func(echo.Context) error { return errors.New("the secret reason") })

	for _, path := range []string{"/v2/pods/panic/now", "/v2/pods/fault/now"} {
		rec := e.call("GET", path, token, "")
		require.Equal(t, 500, rec.Code)
		require.Equal(t, "application/problem+json", rec.Header().Get("Content-Type"))
		require.NotContains(t, rec.Body.String(), "secret")
	}

	rec := e.call("GET", "/healthz", "", "")
	require.Equal(t, 503, rec.Code)
	require.NotContains(t, rec.Body.String(), "secret")
	require.Contains(t, e.log.String(), "the secret reason")
	require.NoError(t, e.db.Close())
	require.Equal(t, 503, e.call("POST", "/v2/pods", token, pod).Code)
}

func TestServices_LogHasNoKeys(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	e.call("GET", "/v2/pods?api_key="+token, token, "")
	e.call("POST", "/v2/pods", token, `{"env":"`+token+`"}`)
	require.NotEmpty(t, e.log.String())
	require.NotContains(t, e.log.String(), token[len(token)-40:])
}

func TestServices_EveryAnswerHasItsRequestID(t *testing.T) {
	t.Parallel()
	e := open(t)
	first, second := e.call("GET", "/v2/pods", "x", ""), e.call("GET", "/v2/pods", "x", "")
	require.NotEmpty(t, first.Header().Get(echo.HeaderXRequestID))
	require.NotEqual(t, first.Header().Get(echo.HeaderXRequestID), second.Header().Get(echo.HeaderXRequestID))
	require.Equal(t, "Bearer", first.Header().Get("WWW-Authenticate"))
}

func TestServices_BodyWithoutALengthIsLimited(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, "/v2/pods", strings.NewReader(strings.Repeat(" ", 1<<20+1)))
	req.ContentLength = -1
	req.Header.Set("Authorization", "Bearer "+token)
	req.Header.Set("Content-Type", "application/json")
	require.Equal(t, 413, e.serve(req).Code)
}

// sent gives a header under the very name that was written.
func sent(rec *httptest.ResponseRecorder, name string) []string { return rec.Header()[name] }

func TestServices_RequestsAreCountedInThreeWindows(t *testing.T) {
	t.Parallel()
	e := open(t)
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	exempt := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}, Exempt: true})
	rec := e.call("GET", "/v2/pods", token, "")

	// The clock stands at 2023-11-14 22:13:20.
	require.Equal(t, []string{`"minute";r=19;t=40, "hour";r=29;t=2800, "day";r=39;t=6400`}, sent(rec, "RateLimit"))
	require.Equal(t, []string{`"minute";q=20;w=60, "hour";q=30;w=3600, "day";q=40;w=86400`}, sent(rec, "RateLimit-Policy"))
	spend := func(n int) (rec *httptest.ResponseRecorder) {
		for range n {
			rec = e.call("GET", "/v2/pods/x", token, "")
		}
		return rec
	}

	require.Equal(t, 404, spend(19).Code, "answers of any kind count")
	rec = spend(1)
	require.Equal(t, 429, rec.Code)
	require.Equal(t, "40", rec.Header().Get("Retry-After"))
	require.Contains(t, rec.Body.String(), "20 requests each minute")
	require.Contains(t, sent(rec, "RateLimit")[0], `"minute";r=0;t=40`)
	require.Equal(t, 200, e.call("GET", "/v2/pods", exempt, "").Code)
	require.Empty(t, sent(e.call("GET", "/v2/pods", exempt, ""), "RateLimit"))
	require.Equal(t, 200, e.call("GET", "/v2/"+string(e.endpoint)+"/health", token, "").Code, "the queue is not counted")

	e.clock.Advance(40 * time.Second)
	require.Equal(t, 404, spend(9).Code)
	require.Contains(t, spend(1).Body.String(), "30 requests each hour")
	e.clock.Advance(time.Hour)
	require.Equal(t, 404, spend(9).Code)

	rec = spend(1)
	require.Contains(t, rec.Body.String(), "40 requests each day")
	require.Equal(t, "2760", rec.Header().Get("Retry-After"))
	e.clock.Advance(2760 * time.Second)
	require.Equal(t, 404, spend(1).Code)
}
