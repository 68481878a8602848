package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestScript(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{TestControls: true})
	id := s.document("endpoints", "create", "--name", "drawn", "--image", "i", "--cpu", "cpu3c:2")["id"].(string)
	require.Contains(t, s.run("script", "show", "drawn").err, "a script takes the key of the test controls")
	s.flags = []string{"--server", s.server.URL(), "--key", s.server.ControlsKey()}

	require.Contains(t, s.run("script", "show", id).err, "has no script")
	require.Zero(t, s.feed(`[{"match":[{"pointer":"/n","equals":1}],"delay":{"fixed":5},"chunks":[{"value":"{{/n}}"}],"times":2},{"crash":{}}]`, "script", "set", id, "-").code)
	require.Regexp(t, `(?m)^0 +/n=1 +delay, chunks +2 +0\n1 +crash +always +0$`, s.done("script", "show", id))
	require.Contains(t, s.done("script", "show", id, "--json"), `"used":[0,0]`)

	file := filepath.Join(t.TempDir(), "script.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"answers":[{"error":"no"}],"seed":3}`), 0o600))
	require.Empty(t, s.done("script", "set", id, file))
	require.Regexp(t, `0 +error +always +0`, s.done("script", "show", id))
	require.Empty(t, s.done("script", "delete", id))

	for _, wrong := range []struct {
		script, says string
		code         int
	}{
		{`[`, "is not JSON", exitUsage}, {`[{}]`, "/answers/0: it needs output", exitRefused}, {`[{"outputs":1}]`, "/answers/0/outputs: is not a known member; the closest is output", exitRefused},
	} {
		got := s.feed(wrong.script, "script", "set", id, "-")
		require.Equal(t, wrong.code, got.code, "%s", got.err)
		require.Contains(t, got.err, wrong.says)
	}
	for _, args := range [][]string{{"show", "drawn"}, {"set", "drawn", file}, {"delete", "drawn"}} {
		r := s.run(append([]string{"script"}, args...)...)
		require.Equal(t, exitRefused, r.code, args)
		require.Contains(t, r.err, "hint: with the key of the test controls an endpoint is named by its id", args)
	}
	require.NotContains(t, s.run("script", "delete", "aaaaaaaaaaaaaa").err, "hint:", "it is an id")
	require.Contains(t, s.run("script", "delete", "nosuch").err, `endpoint "nosuch" does not exist`)
}
