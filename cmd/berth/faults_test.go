package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestFaults(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{TestControls: true})
	create := []string{"pods", "create", "--name", "first", "--image", "i", "--cpu", "cpu3g", "--vcpus", "2"}
	require.Contains(t, s.run("faults", "list").err, "the faults take the key of the test controls")
	key := s.flags
	s.flags = []string{"--server", s.server.URL(), "--key", s.server.ControlsKey()}
	controls := s.flags

	require.Regexp(t, `(?m)^lost +createPod +after +status 503 +0 +0$`,
		s.done("faults", "add", "--id", "lost", "--operation", "createPod", "--when", "after", "--status", "503", "--retry-after", "0", "--times", "1", "--body", `/name="first"`))
	s.flags = key
	require.Contains(t, s.run(create...).err, "a scripted fault of createPod")
	s.done(create...)
	s.flags = controls
	require.Regexp(t, `(?m)^lost +createPod +after +status 503 +2 +1$`, s.done("faults", "list"))
	require.Regexp(t, `503 .* after: status 503\n`, s.done("journal", "list"))
	require.Contains(t, s.done("faults", "list", "--json"), `"body":[{"equals":"first","pointer":"/name"}]`)

	require.Empty(t, s.done("faults", "delete", "lost"))
	added := s.done("faults", "add", "--operation", "listPods", "--when", "after", "--latency", "1", "--latency-max", "2", "--seed", "3", "--half", "0", "--garbage",
		"--bytes-per-second", "9", "--every", "2", "--after", "1", "--probability", "0.5", "--key-id", "k", "--resource", "r", "--json")
	for _, member := range []string{`"latency":1`, `"latencyMax":2`, `"seed":3`, `"half":0`, `"garbage":true`, `"bytesPerSecond":9`, `"every":2`, `"after":1`, `"probability":0.5`, `"keyId":"k"`, `"resource":"r"`} {
		require.Contains(t, added, member)
	}
	require.Regexp(t, `latency 1, latencyMax 2, half 0, garbage, bytesPerSecond 9`, s.done("faults", "list"))
	require.Regexp(t, `nth`, s.run("faults", "add", "--operation", "run", "--drop", "--nth", "1", "--times", "1").err)

	require.Zero(t, s.feed(`[{"operation":"run","drop":true}]`, "faults", "set", "-").code)
	require.Regexp(t, `run +before +drop +0 +0\n$`, s.done("faults", "list"))
	file := filepath.Join(t.TempDir(), "faults.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"faults":[{"operation":"runSync","status":500}]}`), 0o600))
	require.Empty(t, s.done("faults", "set", file))
	require.Contains(t, s.done("faults", "list"), "runSync")
	require.Empty(t, s.done("faults", "clear"))
	require.NotContains(t, s.done("faults", "list"), "runSync")
}

func TestFaults_NameWhatMakesNoSense(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{TestControls: true})
	s.flags = []string{"--server", s.server.URL(), "--key", s.server.ControlsKey()}

	for _, wrong := range []struct {
		args        []string
		stdin, says string
		code        int
	}{
		{args: []string{"faults", "add", "--drop"}, says: "operation", code: exitUsage},
		{args: []string{"faults", "add", "--operation", "createPods", "--drop"}, says: `no operation "createPods"; there are createPod, `, code: exitRefused},
		{args: []string{"faults", "add", "--operation", "run", "--half", "50"}, says: `/half: `, code: exitRefused},
		{args: []string{"faults", "add", "--operation", "run", "--status", "200"}, says: "/status", code: exitRefused},
		{args: []string{"faults", "add", "--operation", "run", "--drop", "--body", "/name=first"}, says: "--body", code: exitUsage},
		{args: []string{"faults", "add", "--operation", "run", "--drop", "--when", "during"}, says: "/when", code: exitRefused},
		{args: []string{"faults", "set", "-"}, stdin: `[`, says: "is not JSON", code: exitUsage},
		{args: []string{"faults", "set", "-"}, stdin: `[{"operation":"run"}]`, says: "/faults/0", code: exitRefused},
		{args: []string{"faults", "delete", "nosuch"}, says: `no fault "nosuch"`, code: exitRefused},
	} {
		got := s.feed(wrong.stdin, wrong.args...)
		require.Equal(t, wrong.code, got.code, "%v: %s", wrong.args, got.err)
		require.Contains(t, got.err, wrong.says, "%v", wrong.args)
	}
}
