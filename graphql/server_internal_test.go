package graphql

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/errcode"
	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"github.com/berthdev/berth/impl/audit"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/limit"
)

// operationOf gives the context of a document that is executed.
func operationOf(t *testing.T, document string) *graphql.OperationContext {
	t.Helper()
	d := parsed(t, document)
	return &graphql.OperationContext{Doc: d, Operation: d.Operations[0]}
}

// failed is an error at a place of an answer.
func failed(err error, path ...ast.PathElement) *gqlerror.Error {
	return &gqlerror.Error{Err: err, Path: path}
}

func TestRetryAfter_IsThatOfADocumentOfWhichNothingWasDone(t *testing.T) {
	t.Parallel()
	const query, mutation = `{a:myself{id} b:myself{id}}`, `mutation{a:updateUserSettings{id} b:updateUserSettings{id}}`
	away := &compute.Error{Code: compute.Unavailable, Detail: "the database is away", RetryAfter: 7 * time.Second}
	other := compute.Errorf(compute.NotFound, "there is none")
	a, b, id := ast.PathName("a"), ast.PathName("b"), ast.PathName("id")
	for name, of := range map[string]struct {
		document string
		errs     gqlerror.List
		want     string
	}{
		"nothing failed":                   {query, nil, ""},
		"all failed":                       {query, gqlerror.List{failed(away, a), failed(away, b)}, "7"},
		"all failed below":                 {query, gqlerror.List{failed(away, a, id), failed(away, b, id)}, "7"},
		"one failed":                       {query, gqlerror.List{failed(away, b)}, ""},
		"one failed otherwise":             {query, gqlerror.List{failed(away, a), failed(other, b)}, ""},
		"one failed twice":                 {query, gqlerror.List{failed(away, a), failed(away, a)}, ""},
		"nobody knows which failed":        {query, gqlerror.List{failed(away)}, ""},
		"and something besides":            {query, gqlerror.List{failed(away), failed(other, a), failed(away, a), failed(away, b)}, "7"},
		"all of a mutation":                {mutation, gqlerror.List{failed(away, a), failed(away, b)}, "7"},
		"a mutation, of which one is done": {mutation, gqlerror.List{failed(away, a), failed(away, b, id)}, ""},
		"one mutation":                     {mutation, gqlerror.List{failed(away, a)}, ""},
	} {
		require.Equal(t, of.want, retryAfter(operationOf(t, of.document), of.errs), name)
	}
}

func TestDone_AreTheFieldsThatWereNotRefused(t *testing.T) {
	t.Parallel()
	ctx, _ := asking(t.Context())
	o := operationOf(t, `{a:myself{id} gpuTypes{id} c:countryCodes}`)
	err := errors.New("refused")
	for _, of := range []struct {
		errs gqlerror.List
		want []string
	}{
		{nil, []string{"graphql.myself", "graphql.gpuTypes", "graphql.countryCodes"}},
		{gqlerror.List{failed(err, ast.PathName("a"))}, []string{"graphql.gpuTypes", "graphql.countryCodes"}},
		{gqlerror.List{failed(err, ast.PathName("gpuTypes"), ast.PathIndex(0)), failed(err, ast.PathName("c"))}, []string{"graphql.myself"}},
		{gqlerror.List{failed(err)}, nil},
	} {
		var names []string
		for _, call := range done(ctx, o, of.errs) {
			require.Equal(t, compute.KeyID("k"), call.KeyID)
			names = append(names, call.Operation)
		}
		require.Equal(t, of.want, names)
	}
}

func TestCall_ReadsTheEndpointsOnce(t *testing.T) {
	t.Parallel()
	c, reads := &call{}, 0
	var fault error
	var stored []compute.Endpoint
	ask := func() []compute.Endpoint {
		before := reads
		all, anew, err := c.owned(func() ([]compute.Endpoint, error) {
			reads++
			return stored, fault
		})
		require.Equal(t, fault, err)
		require.Equal(t, reads > before && fault == nil, anew)
		return all
	}

	fault = errors.New("broken")
	require.Nil(t, ask())
	fault = nil
	require.Empty(t, ask())
	require.Empty(t, ask())
	require.Equal(t, 2, reads, "that there are none is known, an error is not")

	stored = []compute.Endpoint{{ID: "e"}}
	require.Empty(t, ask())
	c.forget()
	ask()[0].ID = "changed by who asked"
	require.Equal(t, stored, ask())
	require.Equal(t, 3, reads)
}

func TestGate_NotesMutationsAsTheCallersAndReadsAnew(t *testing.T) {
	t.Parallel()
	caller := audit.Actor{User: "u", Key: "k", Request: "r", Operation: "podStop", Client: "192.0.2.1"}
	for _, of := range []struct {
		operation ast.Operation
		key       *compute.Key
		noted     bool
	}{
		{ast.Query, &compute.Key{ID: "k", UserID: "u"}, false}, {ast.Mutation, nil, false}, {ast.Mutation, &compute.Key{ID: "k", UserID: "u"}, true},
	} {
		c := &call{key: of.key, requestID: "r", client: "192.0.2.1", endpoints: []compute.Endpoint{{ID: "e"}}}
		ctx := graphql.WithOperationContext(context.WithValue(t.Context(), callKey{}, c), &graphql.OperationContext{Operation: &ast.OperationDefinition{Operation: of.operation}})
		ctx = graphql.WithRootFieldContext(ctx, &graphql.RootFieldContext{Field: graphql.CollectedField{Field: &ast.Field{Name: "podStop"}}})

		resolved := false
		gate{}.InterceptRootField(ctx, func(ctx context.Context) graphql.Marshaler {
			resolved = true
			actor, noted := audit.Of(ctx)
			require.Equal(t, of.noted, noted)
			if noted {
				require.Equal(t, caller, actor)
			}
			return graphql.Null
		})
		require.True(t, resolved)
		require.Equal(t, of.noted, c.endpoints == nil)
	}
}

func TestHandler_RefusalSaysWhenToComeBack(t *testing.T) {
	t.Parallel()
	bodies, err := limit.NewBodies(filepath.Join(t.TempDir(), "bodies"), time.Minute)
	require.NoError(t, err)
	h := &Handler{Services: Services{Bodies: bodies, Log: slog.New(slog.DiscardHandler)}}
	ctx, _ := asking(t.Context())
	for _, of := range []struct {
		status      int
		err         error
		after, ways string
		title       bool
	}{
		{http.StatusServiceUnavailable, &compute.Error{Code: compute.Unavailable, Title: "Storage Full", RetryAfter: 7 * time.Second}, "7", "", true},
		{http.StatusTooManyRequests, &compute.Error{Code: compute.TooMany, Cause: limit.ErrBusy}, limit.RetryAfter, "", false},
		{http.StatusUnauthorized, compute.Errorf(compute.Unauthenticated, "no"), "", "Bearer", false},
		{http.StatusBadRequest, compute.Errorf(compute.Rejected, "no"), "", "", false},
	} {
		w := httptest.NewRecorder()
		h.refuse(ctx, w, of.status, of.err)
		require.Equal(t, of.status, w.Code)
		require.Equal(t, of.after, w.Header().Get("Retry-After"))
		require.Equal(t, of.ways, w.Header().Get("WWW-Authenticate"))
		require.Equal(t, "application/json", w.Header().Get("Content-Type"))
		if of.title {
			require.Contains(t, w.Body.String(), `"title":"Storage Full"`)
		} else {
			require.NotContains(t, w.Body.String(), `"title"`)
		}
	}
}

func TestHandler_LogsWhatIsItsOwnFaultAlone(t *testing.T) {
	t.Parallel()
	var log bytes.Buffer
	h := &Handler{Services: Services{Log: slog.New(slog.NewTextHandler(&log, nil))}}
	ctx, _ := asking(t.Context())
	gone, leave := context.WithCancel(ctx)
	leave()
	require.Equal(t, "NOT_FOUND", h.present(ctx, compute.Errorf(compute.NotFound, "no such pod")).Extensions["code"])
	require.Equal(t, "INTERNAL", h.present(ctx, &fault.Answer{Status: http.StatusTeapot, Operation: "graphql.pod"}).Extensions["code"])
	require.Equal(t, "INTERNAL", h.present(gone, errors.New("broken")).Extensions["code"])
	require.Empty(t, log.String(), "nobody's fault, asked for, and for nobody")

	e := h.present(ctx, errors.New("broken"))
	require.Equal(t, map[string]any{"code": "INTERNAL"}, e.Extensions)
	require.NotContains(t, e.Message, "broken")
	require.Contains(t, log.String(), "broken")
}

func TestHandler_PresentsWhatIsWrongWithADocument(t *testing.T) {
	t.Parallel()
	h := &Handler{Services: Services{Log: slog.New(slog.DiscardHandler)}}
	ctx, _ := asking(t.Context())
	for code, want := range map[string]string{errcode.ParseFailed: "REJECTED", errcode.ValidationFailed: "INVALID"} {
		document := &gqlerror.Error{
			Message: "nothing is called that", Path: ast.Path{ast.PathName("a")}, Locations: []gqlerror.Location{{Line: 1, Column: 2}}, Extensions: map[string]any{"code": code},
		}
		e := h.present(ctx, document)
		require.Equal(t, "nothing is called that", e.Message)
		require.Equal(t, map[string]any{"code": want}, e.Extensions)
		require.Equal(t, document.Locations, e.Locations)
		require.Equal(t, document.Path, e.Path)
	}

	e := h.present(ctx, &gqlerror.Error{Message: "the inside of a resolver"})
	require.Equal(t, "INTERNAL", e.Extensions["code"])
	require.NotContains(t, e.Message, "inside")
	e = h.present(ctx, &coded{error: compute.Errorf(compute.NotFound, "there is none"), code: unknownCluster})
	require.Equal(t, map[string]any{"code": "Cluster not found"}, e.Extensions)
	require.Equal(t, "there is none", e.Message)
	e = h.present(ctx, &compute.Error{Code: compute.Invalid, Detail: "two things", Fields: []string{"one", "two"}})
	require.Equal(t, map[string]any{"code": "INVALID", "errors": []string{"one", "two"}}, e.Extensions)
}
