package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
)

func TestProblem_OfTheRouterIsNamedAndOtherwiseHidden(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		err    error
		status int
		detail string
	}{
		{echo.ErrNotFound, 404, "there is nothing at this path"},
		{echo.ErrMethodNotAllowed, 405, "the path does not know this method; the Allow header lists those that it knows"},
		{errSlow, 408, "the body came too slowly"},
		{echo.NewHTTPError(http.StatusRequestEntityTooLarge, "too long"), 413, "too long"},
		{echo.NewHTTPError(http.StatusUnsupportedMediaType, "no JSON"), 415, "no JSON"},
		{echo.NewHTTPError(http.StatusBadRequest, "the secret reason"), 422, "a parameter breaks its schema"},
		{echo.NewHTTPError(http.StatusTeapot, "the secret reason"), 500, ""},
		{errors.New("the secret reason"), 500, ""},
		{fmt.Errorf("wrapped: %w", compute.Errorf(compute.Conflict, "not now")), 409, "not now"},
		{&compute.Error{Code: compute.Conflict, Detail: "not now", Cause: echo.ErrNotFound}, 409, "not now"},
		{&retiredError{detail: "it has ended", lines: []string{"a"}}, 410, "it has ended"},
		{newWorkerError(599, "c", "it broke"), 599, "it broke"},
	} {
		p := problemOf(c.err)
		require.Equal(t, c.status, p.Status, c.err)
		require.NotEmpty(t, p.Title, c.err)
		if c.detail != "" {
			require.Equal(t, c.detail, p.Detail)
		}
		require.NotContains(t, p.Detail, "secret")
	}
	require.Equal(t, "Worker Error", problemOf(newWorkerError(599, "c", "it broke")).Title, "the status has no name")
}

// refused is what a server answers when a request at a path fails.
func refused(t *testing.T, s *Services, sent *http.Request, err error) (*httptest.ResponseRecorder, map[string]any) {
	rec := httptest.NewRecorder()
	s.writeError(err, &request{Context: echo.New().NewContext(sent, rec)})
	var body map[string]any
	if rec.Body.Len() > 0 {
		require.NoError(t, json.Unmarshal(rec.Body.Bytes(), &body))
	}
	return rec, body
}

// silentServices log nothing and know no route.
func silentServices() (*Services, *strings.Builder) {
	log := &strings.Builder{}
	s := &Services{Log: slog.New(slog.NewTextHandler(log, nil))}
	s.observed()
	return s, log
}

func TestProblem_IsSaidAsTheInterfaceOfThePathHasIt(t *testing.T) {
	t.Parallel()
	s, log := silentServices()
	invalid := &compute.Error{Code: compute.Invalid, Detail: "one fault", Fields: []string{"/a: is wrong"}}
	get := func(path string) *http.Request { return httptest.NewRequest(http.MethodGet, path, http.NoBody) }
	_, ofREST := refused(t, s, get("/v2/pods"), invalid)
	require.Equal(t, map[string]any{"title": "Unprocessable Entity", "status": 422.0, "detail": "one fault", "errors": []any{"/a: is wrong"}}, ofREST)
	_, ofQueue := refused(t, s, get("/v2/abc/run"), invalid)
	require.NotContains(t, ofQueue, "status", "a client would take it for a job's")
	require.Equal(t, "one fault", ofQueue["error"])
	_, ofOpenAI := refused(t, s, get("/v2/abc/openai/v1/models"), invalid)
	require.Equal(t, "one fault: /a: is wrong", ofOpenAI["error"].(map[string]any)["message"])
	rec, ofWorker := refused(t, s, get("/v2/abc/openai/v1/models"), newWorkerError(502, "c", "it broke"))
	require.Equal(t, 502, rec.Code)
	require.Equal(t, "c", ofWorker["error"].(map[string]any)["code"])
	require.Empty(t, log.String(), "none is a failure of this server")

	head := httptest.NewRequest(http.MethodHead, "/v2/pods", http.NoBody)
	rec, _ = refused(t, s, head, invalid)
	require.Equal(t, 422, rec.Code)
	require.Zero(t, rec.Body.Len())
	rec, _ = refused(t, s, get("/v2/pods"), compute.Errorf(compute.Unauthenticated, "no key"))
	require.Equal(t, "Bearer", rec.Header().Get("WWW-Authenticate"))
	rec, _ = refused(t, s, get("/v2/pods"), compute.Errorf(compute.Forbidden, "not with this key"))
	require.Empty(t, rec.Header().Get("WWW-Authenticate"))
}

func TestProblem_BusyServerAsksToComeBackAndLogsNothing(t *testing.T) {
	t.Parallel()
	s, log := silentServices()
	busy := &compute.Error{Code: compute.Unavailable, Detail: "too much", Cause: limit.ErrBusy}
	rec, _ := refused(t, s, httptest.NewRequest(http.MethodGet, "/v2/pods", http.NoBody), busy)
	require.Equal(t, 503, rec.Code)
	require.Equal(t, limit.RetryAfter, rec.Header().Get("Retry-After"))
	require.Empty(t, log.String())

	rec, _ = refused(t, s, httptest.NewRequest(http.MethodGet, "/v2/pods", http.NoBody), compute.Errorf(compute.Unavailable, "for another reason"))
	require.Empty(t, rec.Header().Get("Retry-After"))
	require.Contains(t, log.String(), "for another reason")
}

func TestProblem_OfAClientThatIsGoneIsNoSuccess(t *testing.T) {
	t.Parallel()
	s, log := silentServices()
	ctx, hangUp := context.WithCancel(t.Context())
	sent := httptest.NewRequestWithContext(ctx, http.MethodGet, "/v2/pods", http.NoBody)
	rec, _ := refused(t, s, sent, context.Canceled)
	require.Equal(t, 500, rec.Code, "something else was cancelled")
	require.Contains(t, log.String(), "level=ERROR")
	log.Reset()
	hangUp()
	rec, body := refused(t, s, sent, fmt.Errorf("wrapped: %w", context.Canceled))
	require.Equal(t, 499, rec.Code)
	require.Equal(t, "application/problem+json", rec.Header().Get("Content-Type"))
	require.EqualValues(t, 499, body["status"])
	require.Empty(t, log.String())
	rec, _ = refused(t, s, sent, compute.Errorf(compute.Conflict, "not now"))
	require.Equal(t, 409, rec.Code, "the failure was found before")
}

func TestProblem_NothingIsWrittenBehindAnAnswer(t *testing.T) {
	t.Parallel()
	s, _ := silentServices()
	rec := httptest.NewRecorder()
	c := echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/v2/pods", http.NoBody), rec)
	require.NoError(t, c.String(http.StatusOK, "done"))
	s.writeError(errors.New("too late"), &request{Context: c})
	require.Equal(t, "done", rec.Body.String())
}

func TestRefuse_SaysWhatWasFoundBefore(t *testing.T) {
	t.Parallel()
	rec := httptest.NewRecorder()
	Refuse(rec, httptest.NewRequest(http.MethodPost, "/v2/pods", http.NoBody), fmt.Errorf("read: %w", os.ErrDeadlineExceeded))
	require.Equal(t, 408, rec.Code)
	require.Contains(t, rec.Body.String(), "the body came too slowly")
	rec = httptest.NewRecorder()
	Refuse(rec, httptest.NewRequest(http.MethodPost, "/v2/abc/run", http.NoBody), &compute.Error{Code: compute.Unavailable, Detail: "not now", RetryAfter: 1})
	require.Equal(t, 503, rec.Code)
	require.Equal(t, "1", rec.Header().Get("Retry-After"))
	require.Contains(t, rec.Body.String(), `"error":"not now"`)
	rec = httptest.NewRecorder()
	Refuse(rec, httptest.NewRequest(http.MethodPost, "/v2/abc/run", http.NoBody), compute.Errorf(compute.Unavailable, "not now"))
	require.NotContains(t, rec.Header(), "Retry-After")
}

func TestJSON_IsWrittenAsItIsAndFailsWhereItCannotBe(t *testing.T) {
	t.Parallel()
	var b strings.Builder
	require.NoError(t, writeJSON(&b, map[string]string{"a": "<&>"}))
	require.Equal(t, "{\"a\":\"<&>\"}\n", b.String())
	require.Error(t, writeJSON(io.Discard, func() {}))
	require.Error(t, (&request{Context: echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/", http.NoBody), httptest.NewRecorder())}).JSON(200, func() {}))

	rec := httptest.NewRecorder()
	require.NoError(t, serializer{}.Serialize(echo.New().NewContext(httptest.NewRequest(http.MethodGet, "/", http.NoBody), rec), map[string]int{"a": 1}, ""), "no edition was agreed on")
	require.JSONEq(t, `{"a":1}`, rec.Body.String())
}
