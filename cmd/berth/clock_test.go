package main

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestClock(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{TestControls: true})
	require.Contains(t, s.run("clock", "show").err, "the clock takes the key of the test controls")
	s.flags = []string{"--server", s.server.URL(), "--key", s.server.ControlsKey()}

	require.Regexp(t, ` frozen +- +0\n$`, s.done("clock", "freeze"))
	before := s.done("clock", "show")
	require.Equal(t, before, s.done("clock", "show"))
	require.Regexp(t, ` frozen `, s.done("clock", "advance", "1h30m"))
	require.NotEqual(t, before, s.done("clock", "show"))
	require.Regexp(t, ` auto +- `, s.done("clock", "auto", "--settle", "1ms"))
	require.Regexp(t, `"now"`, s.done("clock", "sleep", "23h", "--json"))
	require.Regexp(t, ` (auto +\d|frozen)`, s.done("clock", "auto", "--for", "24h", "--settle", "1ms"))
	require.Eventually(t, func() bool { return s.server.Clock().Frozen() }, 10*time.Second, 5*time.Millisecond)
	require.Regexp(t, ` running `, s.done("clock", "resume"))

	for _, wrong := range [][]string{{"clock", "advance", "soon"}, {"clock", "sleep", "5"}, {"clock", "auto", "--for", "1us"}} {
		r := s.run(wrong...)
		require.Equal(t, 2, r.code, r.err)
		require.Contains(t, r.err, "is no duration of whole milliseconds")
	}
	require.Regexp(t, `milliseconds`, s.run("clock", "auto", "--for", "0s").err)
}
