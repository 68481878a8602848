package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestAligned_CutsTheWidestCells(t *testing.T) {
	t.Parallel()
	lines := [][]string{{"ID", "NAME", "IMAGE"}, {"k3v9x2m1q8w7rt", "größer", "registry.example/team/image:1.0"}, {"a", "", "b"}}
	require.Equal(t, "ID              NAME    IMAGE\nk3v9x2m1q8w7rt  größer  registry.example/team/image:1.0\na                       b\n", aligned(lines, 0))
	require.Equal(t, aligned(lines, 0), aligned(lines, 55), "they fit")
	require.Equal(t, "ID              NAME    IMAGE\nk3v9x2m1q8w7rt  größer  registry.examp…\na                       b\n", aligned(lines, 39))
	for line := range strings.Lines(aligned(lines, 39)) {
		require.LessOrEqual(t, utf8.RuneCountInString(strings.TrimSuffix(line, "\n")), 39)
	}
	require.Equal(t, "ID              NAME    IMAGE\nk3v9x2m1q8w7rt  größer  regis…\na                       b\n", aligned(lines, 5), "ids stay whole, and a little of the rest")
}

// TestQuiet_PrintsIDsAlone: lists and what is created; nothing of what else is done.
func TestQuiet_PrintsIDsAlone(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{Endpoints: []app.Endpoint{{Name: "e"}}})
	made := s.done("volumes", "create", "--name", "data", "--size", "10", "--data-center", "EU-RO-1", "--quiet")
	require.Regexp(t, `^[a-z0-9]{14}\n$`, made)
	require.Equal(t, made, s.done("volumes", "list", "-q"))
	require.Empty(t, s.done("volumes", "delete", "data", "-q"))
	require.Empty(t, s.done("volumes", "list", "-q"))
	require.Empty(t, s.done("jobs", "health", "e", "-q"), "it has no ids")
	require.Empty(t, s.done("jobs", "purge", "e", "-q"))
	require.Contains(t, s.done("endpoints", "list", "-q", "--json"), `"endpoints":[`)
	require.Equal(t, "berth dev\n", call(t.Context(), "", "--version").out)
	require.Contains(t, call(t.Context(), "", "--version", "--json").out, `"version":"dev"`)
}
