package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestCosts(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{TestControls: true})
	s.done("volumes", "create", "--name", "kept", "--size", "10", "--data-center", "EU-RO-1")
	s.done("volumes", "create", "--name", "large", "--size", "100", "--data-center", "EU-RO-1")
	require.Contains(t, s.run("costs").err, "the costs take the key of the test controls")

	s.flags = []string{"--server", s.server.URL(), "--key", s.server.ControlsKey()}
	s.done("clock", "freeze")
	s.done("clock", "advance", (24 * time.Hour).String())
	require.Regexp(t, `^KIND +ID +USER +RAN +USD\nvolume +\S+ +\S+ +24h\S* +0\.\d+\nvolume +\S+ +\S+ +24h\S* +0\.\d+\ntotal: 0\.\d+ USD\n$`, s.done("costs"))
	require.Regexp(t, `\nvolume +\S+ +\S+ +24h\S* +0\.\d+\ntotal: 0\.\d+ USD, with 1 that are not shown\n$`, s.done("costs", "--limit", "1"))
	require.Regexp(t, `\nvolume +- +- +48h\S* +0\.\d+\ntotal`, s.done("costs", "--by", "kind"))
	require.Contains(t, s.done("costs", "--user", "nobody", "--json"), `"total":0,`)
	require.Contains(t, s.done("costs", "--since", "2999-01-01T00:00:00Z"), "total: 0 USD\n")

	for _, args := range [][]string{{"--by", "test"}, {"--since", "yesterday"}, {"--until", "tomorrow"}} {
		require.Equal(t, exitUsage, s.run(append([]string{"costs"}, args...)...).code, args)
	}
	require.Equal(t, exitRefused, s.run("costs", "--limit", "1001").code)
}
