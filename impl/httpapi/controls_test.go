package httpapi_test

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/httpapi"
)

// workshop is a server with test controls that keep what they are told, and a key for them.
type workshop struct {
	*edge
	tools *tools
	token string
}

func newWorkshop(t *testing.T, change func(*httpapi.Services)) *workshop {
	w := &workshop{tools: &tools{mode: httpapi.ClockFrozen}}
	w.edge = openWith(t, func(s *httpapi.Services) {
		s.Controls, s.Faults = w.tools, &fault.Script{}
		change(s)
	})
	w.tools.clock = w.clock
	w.token = w.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeControls}})
	return w
}

// set calls a control, and gives what it told.
func (w *workshop) set(method, path, body string, status int) []string {
	w.tools.told = nil
	answer := w.call(method, "/_berth/"+path, w.token, body)
	require.Equal(w, status, answer.Code, "%s %s", path, answer.Body)
	return w.tools.told
}

func TestControls_ClockIsSetAsItIsAsked(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, func(*httpapi.Services) {})
	require.Equal(t, []string{"clock frozen 0s 0s"}, w.set("POST", "clock/freeze", "", 200))
	require.Equal(t, []string{"clock running 0s 0s"}, w.set("POST", "clock/resume", "", 200))
	require.Equal(t, []string{"advance 1.5s"}, w.set("POST", "clock/advance", `{"milliseconds":1500}`, 200))
	require.Equal(t, []string{"step -2s"}, w.set("POST", "clock/step", `{"milliseconds":-2000}`, 200))
	require.Equal(t, []string{"clock auto 0s 20ms"}, w.set("POST", "clock/auto", `{}`, 200))
	require.Equal(t, []string{"clock auto 5s 0s"}, w.set("POST", "clock/auto", `{"milliseconds":5000,"settle":0}`, 200))

	w.tools.advance = compute.Errorf(compute.Rejected, "not so far")
	require.Equal(t, []string{"advance 1ms"}, w.set("POST", "clock/advance", `{"milliseconds":1}`, 400))
	require.Equal(t, []string{"step 1ms"}, w.set("POST", "clock/step", `{"milliseconds":1}`, 400))
}

func TestControls_ClockSaysHowLongItGoesByItself(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, func(*httpapi.Services) {})
	clock := func() (shown controls.Clock) {
		require.NoError(t, json.Unmarshal(w.call("GET", "/_berth/clock", w.token, "").Body.Bytes(), &shown))
		return shown
	}
	stands := clock()
	require.Nil(t, stands.Until)
	require.True(t, stands.Frozen)
	require.True(t, w.clock.Wall().Equal(stands.Now))
	w.tools.mode, w.tools.left = httpapi.ClockAuto, 3*time.Second
	goes := clock()
	require.False(t, goes.Frozen)
	require.Equal(t, httpapi.ClockAuto, goes.Mode)
	require.True(t, goes.Until.Equal(w.clock.Wall().Add(3*time.Second)))
}

func TestControls_SleepEndsWithTheServer(t *testing.T) {
	t.Parallel()
	stopping, stop := context.WithCancel(t.Context())
	w := newWorkshop(t, func(s *httpapi.Services) { s.Draining = stopping })
	w.set("POST", "clock/sleep", `{"milliseconds":0}`, 200)
	require.Equal(t, 1, w.tools.seen, "who sleeps is under way")
	w.set("GET", "clock", "", 200)
	require.Zero(t, w.tools.seen, "who asks for the time is not")
	stop()
	answer := w.call("POST", "/_berth/clock/sleep", w.token, `{"milliseconds":1000}`)
	require.Equal(t, 503, answer.Code)
	require.Contains(t, answer.Body.String(), "the server is stopping")
}

func TestControls_RequestsAreUnderWayUntilTheyAreAnswered(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, func(*httpapi.Services) {})
	all := w.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	during := -1
	w.echo.GET("/v2/pods/look/now", func(echo.Context) error {
		during = w.tools.working
		return echo.ErrNotFound
	})
	require.Equal(t, 404, w.call("GET", "/v2/pods/look/now", all, "").Code)
	require.Equal(t, 1, during)
	require.Zero(t, w.tools.working)

	for path, want := range map[string]int{"/_berth/clock/look": 0, "/_berth/clock/sleep/look": 0, "/_berth/inbox/look/now": 0, "/_berth/look": 1} {
		during = -1
		w.echo.GET(path, func(echo.Context) error {
			during = w.tools.working
			return echo.ErrNotFound
		})
		require.Equal(t, 404, w.call("GET", path, all, "").Code)
		require.Equal(t, want, during, path)
		require.Zero(t, w.tools.working)
	}
}

func TestControls_QuotasOfTheQueueComeFirst(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, func(*httpapi.Services) {})
	require.Equal(t, []string{"quotas 1 2 3"}, w.set("PUT", "quotas", `{"minute":1,"hour":2,"day":3}`, 204))
	require.Equal(t, []string{"queue none", "quotas 1 2 3"}, w.set("PUT", "quotas", `{"minute":1,"hour":2,"day":3,"queue":"none"}`, 204))
	require.Equal(t, []string{"queue published"}, w.set("PUT", "quotas", `{"minute":1,"hour":2,"day":3,"queue":"published"}`, 400), "what is refused sets nothing")
	require.Equal(t, []string{"storage full"}, w.set("PUT", "storage", `{"state":"full"}`, 204))
}

func TestControls_FleetIsSetAsFarAsItIsSaid(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, func(*httpapi.Services) {})
	require.Equal(t, []string{"boot 2s"}, w.set("PUT", "fleet", `{"boot":2000}`, 204))
	require.Equal(t, []string{"interruptions 1s 0"}, w.set("PUT", "fleet", `{"interruptAfter":1000}`, 204))
	require.Equal(t, []string{"interruptions 0s 7", "boot 0s"}, w.set("PUT", "fleet", `{"interruptAfter":0,"interruptSeed":7,"boot":0}`, 204))
}

func TestControls_InterruptTellsWhatItInterrupted(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, func(*httpapi.Services) {})
	for body, want := range map[string]struct{ told, answer string }{
		`{}`:               {"interrupt pods ", `{"pods":2,"workers":0}`},
		`{"pod":"a"}`:      {"interrupt pods a", `{"pods":2,"workers":0}`},
		`{"endpoint":"e"}`: {"interrupt workers e ", `{"pods":0,"workers":3}`},
		`{"worker":"w"}`:   {"interrupt workers  w", `{"pods":0,"workers":3}`},
	} {
		w.tools.told = nil
		answer := w.call("POST", "/_berth/interrupt", w.token, body)
		require.Equal(t, 200, answer.Code, body)
		require.JSONEq(t, want.answer, answer.Body.String(), body)
		require.Equal(t, []string{want.told}, w.tools.told, body)
	}
	w.set("POST", "interrupt", `{"worker":"none"}`, 404)
	w.set("POST", "interrupt", `{"pod":"none"}`, 500)
}

func TestControls_KeysAreTheOwnersUnlessTheyNameAUser(t *testing.T) {
	t.Parallel()
	w := newWorkshop(t, func(*httpapi.Services) {})
	made := func(body string) compute.Key {
		answer := w.call("POST", "/_berth/keys", w.token, body)
		require.Equal(t, 201, answer.Code, answer.Body)
		var key controls.Key
		require.NoError(t, json.Unmarshal(answer.Body.Bytes(), &key))
		found, err := w.keyring.Find(t.Context(), key.Key)
		require.NoError(t, err)
		return found
	}
	require.Equal(t, compute.UserID("u"), made(`{"scopes":["all"]}`).UserID)
	all := made(`{"scopes":["rest:read","rest:write"],"user":"v","name":"n","exempt":true,"expiresIn":1500,"spendLimit":2.5,"contract":"public"}`)
	require.Equal(t, compute.UserID("v"), all.UserID)
	require.Equal(t, []compute.Scope{"rest:read", "rest:write"}, all.Scopes)
	require.Equal(t, []any{"n", true, "public-2026-10", 2.5}, []any{all.Name, all.Exempt, all.Contract, all.SpendLimit})
	require.True(t, all.ExpiresAt.Equal(w.clock.Wall().Add(1500*time.Millisecond)))
	w.set("POST", "keys", `{"scopes":["all"],"contract":"none"}`, 400)
}

func TestControls_AreNotFoundWithoutTheirSetting(t *testing.T) {
	t.Parallel()
	e := openWith(t, func(s *httpapi.Services) {
		s.PodAddress = func(*http.Request) compute.PodAddress { return "http://{podId}" }
		s.Version, s.Runtime, s.Simulate = "1.2.3", "sim", true
	})
	controlsKey := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeControls}})
	admin := e.key(control.NewKey{UserID: "boss", Scopes: []compute.Scope{compute.ScopeAdmin}})
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/_berth/clock", ""}, {"POST", "/_berth/reset", ""}, {"POST", "/_berth/keys", `{"scopes":["all"]}`}, {"GET", "/_berth/journal", ""}, {"GET", "/_berth/faults", ""},
	} {
		for _, token := range []string{controlsKey, admin} {
			answer := httptest.NewRecorder() // the document of the controls is of a server that has them
			e.handler.ServeHTTP(answer, with(c.method, c.path, token, c.body))
			require.Equal(t, 404, answer.Code, c.path)
			require.Contains(t, answer.Body.String(), "the server has no test controls", c.path)
		}
	}
	for _, path := range []string{"/_berth/hosts", "/_berth/users", "/_berth/keys", "/_berth/jobs", "/_berth/audit", "/_berth/session"} {
		key := admin
		if path == "/_berth/jobs" {
			key = e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeInvoke(e.endpoint)}})
		}
		answer := e.call("GET", path, key, "")
		require.Equal(t, 200, answer.Code, "%s %s", path, answer.Body)
	}
	for _, path := range []string{"/_berth/hosts", "/_berth/users", "/_berth/keys"} {
		require.Equal(t, 403, e.call("GET", path, e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeRESTRead}}), "").Code, path)
	}

	var session controls.Session
	require.NoError(t, json.Unmarshal(e.call("GET", "/_berth/session", admin, "").Body.Bytes(), &session))
	require.Equal(t, []any{"1.2.3", "sim", true, false, "http://{podId}", "2.0.0"}, []any{session.Version, session.Runtime, session.Simulated, session.TestControls, session.PodAddress, session.Contract})
	require.Equal(t, controls.SessionRights{Hosts: true}, session.May)
	answer := httptest.NewRecorder()
	e.handler.ServeHTTP(answer, with("POST", "/_berth/inbox/a", "", "{}"))
	require.Equal(t, 401, answer.Code, "there is no inbox, and so no path without a key")
}
