package main

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestStates(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{TestControls: true})
	s.done("volumes", "create", "--name", "kept", "--size", "10", "--data-center", "EU-RO-1")
	user, controls := s.flags, []string{"--server", s.server.URL(), "--key", s.server.ControlsKey()}

	s.flags = controls
	require.Empty(t, s.done("states", "save", "first"))
	require.Regexp(t, `NAME +SAVED +BYTES\nfirst +\S+ +\d+\n`, s.done("states", "list"))
	require.Contains(t, s.done("states", "list", "--json"), `"name":"first"`)
	s.flags = user
	s.done("volumes", "create", "--name", "later", "--size", "10", "--data-center", "EU-RO-1")

	s.flags = controls
	require.Empty(t, s.done("states", "load", "first"))
	s.flags = user
	list := s.done("volumes", "list")
	require.Contains(t, list, "kept")
	require.NotContains(t, list, "later")
	require.Contains(t, s.run("states", "list").err, "the states take the key of the test controls")

	s.flags = controls
	require.Empty(t, s.done("states", "delete", "first"))
	require.Equal(t, exitRefused, s.run("states", "load", "first").code)
}
