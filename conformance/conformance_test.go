package conformance_test

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/conformance"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/spec"
)

// servers is how many of berth's own the rules are checked beside: most of what a rule takes is the server's time, but some only wait.
const servers = 3

// own starts berth's own servers for the rules of an edition; empty: the strict one.
func own(t *testing.T, edition string) *conformance.Suite {
	documents, err := conformance.LoadDocuments(edition)
	require.NoError(t, err)
	targets, stop, err := conformance.OwnSeveral(t.Context(), t.TempDir(), servers)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, stop()) })
	for i := range targets {
		targets[i].Contract = edition
	}
	return &conformance.Suite{Target: targets[0], Beside: targets[1:], Documents: documents}
}

// TestRules_HoldOnBerth runs every rule against berth's own servers, one after the other beside each: they play the worker of one endpoint
// and set its clock.
func TestRules_HoldOnBerth(t *testing.T) {
	suite := own(t, "")
	rules, err := conformance.RulesOf("")
	require.NoError(t, err)
	requireHold(t, suite, rules)
	requireSeen(t, suite.Documents)
}

// requireHold asserts that the rules hold.
func requireHold(t *testing.T, suite *conformance.Suite, rules []conformance.Rule) {
	suite.EachBeside(rules, func(target conformance.Target, rule conformance.Rule) {
		t.Run(rule.ID, func(t *testing.T) {
			rule.Test(suite.NewCheckOf(t.Context(), target, t, func(why string) { require.Fail(t, "skipped on berth's own server", why) }))
		})
	})
}

// ofEditions are the areas that are checked in every edition: the others have nothing to do with what an edition has.
// BERTH_EDITIONS=all checks all rules.
var ofEditions = []string{"editions", "public", "pods", "templates", "errors"}

// TestRules_HoldInEveryEdition runs the rules of every edition but the strict one.
func TestRules_HoldInEveryEdition(t *testing.T) {
	for _, edition := range rest.Editions[1:] {
		areas := ofEditions
		if os.Getenv("BERTH_EDITIONS") == "all" {
			areas = nil
		}
		rules, err := conformance.Select(edition.Name, nil, nil, areas)
		require.NoError(t, err)
		t.Run(edition.Name, func(t *testing.T) {
			requireHold(t, own(t, edition.Name), rules)
		})
	}
}

// requireSeen asserts that the rules produce every documented answer of every operation.
func requireSeen(t *testing.T, documents *conformance.Documents) {
	for operation, statuses := range documents.Pairs() {
		for _, status := range statuses {
			assert.True(t, documents.Seen(operation, status), "no rule produces %s %d", operation, status)
		}
	}
}

// `make rules` writes RULES.md again.
func TestWriteRules_RULESIsUpToDate(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	require.NoError(t, conformance.WriteRules(&b))
	if os.Getenv("BERTH_GOLDEN") == "write" {
		require.NoError(t, os.WriteFile("../RULES.md", b.Bytes(), 0o600))
	}
	golden, err := os.ReadFile("../RULES.md")
	require.NoError(t, err)
	require.Equal(t, string(golden), b.String())
}

func TestRules_EachHasATestAndViceVersa(t *testing.T) {
	t.Parallel()
	documented, err := spec.Rules()
	require.NoError(t, err)
	want, open := map[string]bool{}, map[string]bool{}
	openIn := map[string]int{} // by area
	areas := map[string]bool{} // that have begun

	area := ""
	for _, r := range documented {
		require.False(t, want[r.ID] || open[r.ID], "%s stands twice", r.ID)
		require.NotEmpty(t, r.Says, r.ID)
		require.NotEmpty(t, r.Source, r.ID)
		require.Contains(t, []string{"documented", "decided"}, r.Kind, r.ID)

		if next, _, _ := strings.Cut(r.ID, "."); next != area {
			require.False(t, areas[next], "%s stands apart from the other rules of its area", r.ID)
			area = next
			areas[area] = true
		}

		if r.Open {
			open[r.ID] = true
			openIn[area]++
		} else {
			want[r.ID] = true
		}
	}

	have := map[string]bool{}
	for _, r := range conformance.Rules() {
		require.False(t, have[r.ID], "%s is tested twice", r.ID)
		require.False(t, open[r.ID], "%s is tested but open", r.ID)
		have[r.ID] = true
	}

	require.Equal(t, want, have)

	// How many rules of each area are open may only shrink; nothing writes this file but who closes or opens a rule.
	var lines []string
	for area, n := range openIn {
		lines = append(lines, fmt.Sprintf("%s %d\n", area, n))
	}
	slices.Sort(lines)
	counted, err := os.ReadFile("testdata/open.txt")
	require.NoError(t, err)
	require.Equal(t, string(counted), strings.Join(lines, ""))
}
