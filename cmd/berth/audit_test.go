package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestAudit(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	s.done("volumes", "create", "--name", "data", "--size", "10", "--data-center", "EU-RO-1")
	listed := s.done("audit", "--kind", "volume")
	require.Regexp(t, `createNetworkVolume +volume +\S+ +created +-`, listed)
	require.Contains(t, s.done("audit", "--kind", "volume", "--json"), `"change":"created"`)
	require.NotContains(t, s.done("audit", "--until", "2020-01-01T00:00:00Z"), "volume")
	require.NotContains(t, s.done("audit", "--user", "nobody"), "volume")
	s.done("volumes", "create", "--name", "more", "--size", "10", "--data-center", "EU-RO-1")
	require.Contains(t, s.run("audit", "--limit", "1").err, "these are 1; there are more")

	require.NotZero(t, call(t.Context(), "", "pods", "list", "--server", s.server.URL(), "--key", "nonsense").code)
	require.Regexp(t, `rest +malformed +1\n`, s.done("audit", "refusals"))
	require.Contains(t, s.done("audit", "refusals", "--json"), `"reason":"malformed"`)
	require.NotContains(t, s.done("audit", "refusals", "--client", "192.0.2.1"), "malformed")

	for _, wrong := range []struct {
		args []string
		says string
		code int
	}{
		{args: []string{"audit", "--limit", "0"}, says: "--limit", code: exitUsage},
		{args: []string{"audit", "--since", "yesterday"}, says: "--since", code: exitUsage},
		{args: []string{"audit", "refusals", "--limit", "0"}, says: "--limit", code: exitUsage},
		{args: []string{"audit", "refusals", "--until", "soon"}, says: "--until", code: exitUsage},
		{args: []string{"audit", "--kind", "potato"}, says: "query.kind", code: exitRefused},
	} {
		got := s.run(wrong.args...)
		require.Equal(t, wrong.code, got.code, "%v: %s", wrong.args, got.err)
		require.Contains(t, got.err, wrong.says, "%v", wrong.args)
	}
}
