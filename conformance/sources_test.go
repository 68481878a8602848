package conformance_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/conformance/tree"
	"github.com/berthdev/berth/spec"
)

func TestRules_EverySourceIsAHeadingOfTheContract(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../docs/contract.md")
	require.NoError(t, err)

	cited := map[string]bool{} // by heading
	for line := range strings.Lines(string(page)) {
		if heading, ok := strings.CutPrefix(line, "### "); ok {
			cited[strings.TrimSpace(heading)] = false
		}
	}

	rules, err := spec.Rules()
	require.NoError(t, err)
	for _, r := range rules {
		require.Contains(t, cited, r.Source, "%s cites what docs/contract.md does not have", r.ID)
		cited[r.Source] = true
	}
	for heading, used := range cited {
		require.True(t, used, "no rule cites %q of docs/contract.md", heading)
	}
}

// ruleID is the id of a rule, or of a family of them, as in a.b.*
const ruleID = `[a-z][a-z0-9-]*(?:\.[a-z0-9-]+)+(?:\.\*)?`

// ruleNamed finds the ids of rules that a comment names after the word rule or rules.
var ruleNamed = regexp.MustCompile(`\brules? (` + ruleID + `(?:(?:, | and )` + ruleID + `)*)`)

func TestRules_ThoseThatCommentsNameExist(t *testing.T) {
	t.Parallel()
	rules, err := spec.Rules()
	require.NoError(t, err)

	known := map[string]bool{}
	for _, r := range rules {
		known[r.ID] = true
		for family, last := r.ID, strings.LastIndex(r.ID, "."); last > 0; last = strings.LastIndex(family, ".") {
			family = family[:last]
			known[family+".*"] = true
		}
	}

	named := 0
	files, err := tree.Files("..", ".go", ".md")
	require.NoError(t, err)
	for _, path := range files {
		if path == "CONTRIBUTING.md" { // whose example has a rule of its own
			continue
		}
		text, err := os.ReadFile(filepath.Join("..", path))
		require.NoError(t, err)

		for _, match := range ruleNamed.FindAllStringSubmatch(strings.ReplaceAll(string(text), "\n// ", " "), -1) {
			for id := range strings.SplitSeq(strings.ReplaceAll(match[1], " and ", ", "), ", ") {
				require.True(t, known[id], "%s names the rule %s", path, id)
				named++
			}
		}
	}

	require.Greater(t, named, 50)
}
