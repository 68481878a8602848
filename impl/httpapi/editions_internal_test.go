package httpapi

import (
	"net/http/httptest"
	"testing"

	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/validate"
)

func TestEditions_OperationOfAnotherIsNotFoundAndNamed(t *testing.T) {
	t.Parallel()
	only := validate.Op{Method: "GET", Path: "/v2/things"}
	f := &front{op: only, ops: []*validate.Op{nil, &only}}
	r := &request{Context: echo.New().NewContext(httptest.NewRequest("GET", "/v2/things", nil), httptest.NewRecorder())}
	_, err := f.in(r)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.ErrorContains(t, err, "GET /v2/things is not in edition 2.0.0; public-2026-10 has it (--contract, or the header Berth-Contract)")

	r.answerIn(1)
	op, err := f.in(r)
	require.NoError(t, err)
	require.Same(t, &only, op)
}

func TestEditions_OfAllDocumentsAreTheSame(t *testing.T) {
	t.Parallel()
	for _, editions := range interfaces {
		require.Len(t, editions, len(rest.Editions))
		for i, e := range editions {
			require.Equal(t, rest.Editions[i].Name, e.Name)
		}
	}
}

func TestEditions_AreFoundByEitherName(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]string{"2.0.0": "2.0.0", "public": "public-2026-10", "public-2026-10": "public-2026-10"} {
		got, err := Contract(name)
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
	for _, name := range []string{"", "2", "Public"} {
		_, err := Contract(name)
		require.Equal(t, compute.Rejected, compute.CodeOf(err), name)
	}
}

// An operation that its document opens has no scope, but is asked for a key like any other unless Services.authenticated lets its path pass.
func TestOperations_ThatAskForNoKeyAreLetPass(t *testing.T) {
	t.Parallel()
	pass := map[string]func(path string) bool{"receiveWebhook": isInbox}
	open := map[string]string{} // their paths
	for _, editions := range interfaces {
		for id, op := range ofAny(editions) {
			if op.Open {
				open[id] = op.Path
			}
		}
	}

	for id, path := range open {
		require.Contains(t, pass, id, "%s has an empty list as its security, but authenticated asks for a key: have it let %s pass, and add it here", id, path)
		require.True(t, pass[id](path), "%s is not at %s any more", id, path)
	}
	require.Len(t, open, len(pass), "one has a key again")
}

func TestEditions_TwoHeadersNameNone(t *testing.T) {
	t.Parallel()
	sent := httptest.NewRequest("GET", "/v2/things", nil)
	for _, name := range []string{"public", "2.0.0"} {
		sent.Header.Add(contractHeader, name)
	}
	r := &request{Context: echo.New().NewContext(sent, httptest.NewRecorder())}
	(&Services{}).asked(r)
	require.ErrorContains(t, r.agreed(), `no edition "public, 2.0.0"`)
}
