package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestHosts(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	const box = `{"id":"box-7","dataCenterId":"EU-RO-1","cpus":["cpu3g"],"vcpus":16,"memoryGb":64,"diskGb":500}`
	file := filepath.Join(t.TempDir(), "box.json")
	require.NoError(t, os.WriteFile(file, []byte(box), 0o600))

	added := s.done("hosts", "add", "--file", file)
	require.Regexp(t, `box-7 +EU-RO-1 +- +0/0 +16/16 +64/64 GB +500/500 GB +in use`, added)
	require.Regexp(t, `box-7 .* draining`, s.done("hosts", "drain", "box-7"))
	require.Contains(t, s.done("hosts", "list", "--json"), `"draining":true`)
	require.Regexp(t, `box-7 .* in use`, s.done("hosts", "drain", "box-7", "--undo"))
	require.Equal(t, "removed box-7\n", s.done("hosts", "remove", "box-7"))
	require.NotContains(t, s.done("hosts", "list"), "box-7")

	for _, wrong := range []struct {
		args        []string
		stdin, says string
		code        int
	}{
		{args: []string{"hosts", "add", "--file", filepath.Join(t.TempDir(), "none")}, says: "--file: ", code: exitUsage},
		{args: []string{"hosts", "add", "--file", "-"}, stdin: `{"id":`, says: "is not JSON", code: exitUsage},
		{args: []string{"hosts", "add", "--file", "-"}, stdin: `{"id":"x","dataCenterId":"EU-RO-1","vcpu":1}`, says: "/vcpu", code: exitRefused},
		{args: []string{"hosts", "drain", "nobody"}, says: `host "nobody" is not in the fleet`, code: exitRefused},
		{args: []string{"hosts", "add"}, says: "file", code: exitUsage},
	} {
		got := s.feed(wrong.stdin, wrong.args...)
		require.Equal(t, wrong.code, got.code, "%v: %s", wrong.args, got.err)
		require.Contains(t, got.err, wrong.says, "%v", wrong.args)
	}
}
