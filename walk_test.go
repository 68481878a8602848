package berth

// This file holds the examples of CONTRIBUTING.md against the tree.

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// TestContributing_ExamplesApply finds a diff that no longer fits the file that it is of, and a walk that takes too many files.
func TestContributing_ExamplesApply(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("CONTRIBUTING.md")
	require.NoError(t, err)
	block := regexp.MustCompile("(?s)```diff\n(.*?)```")
	header := regexp.MustCompile(`(?m)^--- (.*)\n\+\+\+ b/(.*)\n`)
	most := map[string]int{"Add an operation": 5, "Add a property of a pod": 6}
	for _, section := range strings.Split(string(text), "\n## ") {
		title, _, _ := strings.Cut(section, "\n")
		files := map[string]bool{}
		for _, b := range block.FindAllStringSubmatch(section, -1) {
			places := header.FindAllStringSubmatchIndex(b[1], -1)
			for i, p := range places {
				end := len(b[1])
				if i+1 < len(places) {
					end = places[i+1][0]
				}
				name := b[1][p[4]:p[5]]
				files[name] = true
				if b[1][p[2]:p[3]] != "/dev/null" {
					applies(t, name, b[1][p[1]:end])
				}
			}
		}
		if limit, is := most[title]; is {
			assert.NotEmpty(t, files, title)
			assert.LessOrEqual(t, len(files), limit, "%s takes more than %d files", title, limit)
			delete(most, title)
		}
	}
	require.Empty(t, most, "these sections are missing")
}

// applies checks that what each hunk begins with is in the file.
func applies(t *testing.T, name, diff string) {
	t.Helper()
	file, err := os.ReadFile(name)
	require.NoError(t, err)
	for _, hunk := range strings.Split(diff, "@@ -")[1:] {
		_, lines, _ := strings.Cut(hunk, "\n")
		var before strings.Builder
		for line := range strings.Lines(lines) {
			if line[0] == ' ' || line[0] == '-' {
				before.WriteString(line[1:])
			}
		}
		assert.Contains(t, string(file), before.String(), "CONTRIBUTING.md shows %s as it is not", name)
	}
}
