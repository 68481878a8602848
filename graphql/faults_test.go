package graphql_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/graphql"
	"github.com/berthdev/berth/impl/fault"
)

// scripted makes an edge that shows faults.
func scripted(t *testing.T, faults ...fault.Fault) *edge {
	script := new(fault.Script)
	require.NoError(t, script.Set(faults))
	return open(t, func(s *graphql.Services) { s.Faults = script })
}

func TestFaults_OneOfADocumentIsMet(t *testing.T) {
	t.Parallel()
	const document = `{"query":"{gpuTypes(input:{id:\"x\"}){id} myself{id}}"}`
	before := fault.Fault{Operation: "graphql.gpuTypes", When: fault.Before}
	after := fault.Fault{Operation: "graphql.myself", When: fault.After, Status: http.StatusServiceUnavailable}

	e := scripted(t, after)
	w := e.ask(http.MethodPost, e.withKey(), document)
	require.Equal(t, 503, w.Code)
	require.Equal(t, "1", w.Header().Get("Retry-After"))
	require.Contains(t, w.Body.String(), "a scripted fault of graphql.myself")

	e = scripted(t, before, after)
	w = e.ask(http.MethodPost, e.withKey(), document)
	require.Equal(t, 200, w.Code, "the document met another one before")
	require.JSONEq(t, `{"data":{"gpuTypes":[],"myself":{"id":"u"}}}`, w.Body.String())
}

func TestFaults_WithAStatusAreTheWholeAnswer(t *testing.T) {
	t.Parallel()
	for _, when := range []fault.When{fault.Before, fault.After} {
		e := scripted(t, fault.Fault{Operation: "graphql.myself", When: when, Status: http.StatusTeapot})
		w := e.ask(http.MethodPost, e.withKey(), `{"query":"{gpuTypes{id} myself{id}}"}`)
		require.Equal(t, http.StatusTeapot, w.Code, when)
		require.NotContains(t, w.Header(), "Retry-After", when)
		require.JSONEq(t, `{"errors":[{"message":"a scripted fault of graphql.myself","extensions":{"code":"INTERNAL"}}],"data":null}`, w.Body.String(), when)
		require.Equal(t, 200, e.ask(http.MethodPost, e.withKey(), `{"query":"{gpuTypes{id}}"}`).Code, "another field")
	}

	e := scripted(t, fault.Fault{Operation: "graphql.myself", When: fault.Before, Drop: true})
	require.PanicsWithValue(t, http.ErrAbortHandler, func() { e.ask(http.MethodPost, e.withKey(), `{"query":"{myself{id}}"}`) })
}

func TestFaults_DroppedConnectionsHoldNothing(t *testing.T) {
	t.Parallel()
	e := scripted(t, fault.Fault{Operation: "graphql.countryCodes", When: fault.Before, Drop: true})
	for range 3 {
		require.PanicsWithValue(t, http.ErrAbortHandler, func() { e.ask(http.MethodPost, "/graphql", `{"query":"{countryCodes}"}`) })
	}
	require.Equal(t, 200, e.ask(http.MethodPost, "/graphql", `{"query":"{__typename}"}`).Code, "those without a key have their turn")
}
