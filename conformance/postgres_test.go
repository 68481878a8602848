//go:build unix

package conformance_test

import (
	"errors"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/conformance"
	"github.com/berthdev/berth/store/pgtest"
)

// ofOneServer are rules that do not hold where a replica sends requests on: of a connection that the owner cuts off before an answer, or in
// it, the client of another replica gets 503, or as much as that one had sent on; and no state is loaded where servers share a database.
var ofOneServer = []string{
	"controls.faults", "controls.faults.after", "controls.faults.graphql", "controls.faults.graphql.after", "controls.faults.half",
	"controls.faults.held", "controls.journal.faults", "controls.states.costs", "controls.states.load",
}

// TestRules_HoldOnThreeReplicas runs every rule against three servers over one PostgreSQL, each request of it against any of them.
func TestRules_HoldOnThreeReplicas(t *testing.T) {
	cluster, err := pgtest.Start(t.Context(), "fsync=off")
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip("SKIPPED:", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Stop()) })
	stores := make([]string, 2)
	for i := range stores {
		stores[i], err = cluster.Schema(t.Context())
		require.NoError(t, err)
	}

	transport := http.DefaultTransport.(*http.Transport)
	transport.DisableKeepAlives = true // each connection goes to any of the replicas
	t.Cleanup(func() { transport.DisableKeepAlives = false })
	target, stop, err := conformance.OwnReplicas(t.Context(), t.TempDir(), 3, stores[0], stores[1])
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stop()) })
	documents, err := conformance.LoadDocuments("")
	require.NoError(t, err)
	rules, err := conformance.RulesOf("")
	require.NoError(t, err)
	rules = slices.DeleteFunc(rules, func(r conformance.Rule) bool { return slices.Contains(ofOneServer, r.ID) })
	requireHold(t, &conformance.Suite{Target: target, Documents: documents}, rules)
}
