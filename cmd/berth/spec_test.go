package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSpecDiffFailsAtWhatIsNotExpectedAndAtWhatIsExpectedInVain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		return path
	}

	a := write("a.yaml", "paths: {/x: {get: {responses: {'200': {}, '422': {}}}}}")
	b := write("b.json", `{"paths":{"/x":{"get":{"responses":{"200":{}}}}}}`)
	run := func(args ...string) (string, error) {
		var out bytes.Buffer
		cmd := newCommand()
		cmd.SetArgs(append([]string{"spec", "diff"}, args...))
		cmd.SetOut(&out)
		cmd.SetErr(&bytes.Buffer{})
		err := cmd.ExecuteContext(t.Context())
		return out.String(), err
	}

	out, err := run(a, a)
	require.NoError(t, err)
	require.Empty(t, out)
	out, err = run(a, b)
	require.Error(t, err)
	require.Equal(t, "GET /x/responses/422: present | absent\n", out)

	entry := "- {at: 'GET /x/responses/422', a: present, b: absent, reason: it is so}\n"
	out, err = run(a, b, "--expected", write("right.yaml", entry))
	require.NoError(t, err)
	require.Empty(t, out)

	out, err = run(a, b, "--expected", write("vain.yaml", entry+"- {at: gone, a: x, b: y, reason: it was so}\n"))
	require.Error(t, err)
	require.Equal(t, "not there: gone: x | y\n", out)
	_, err = run(a, b, "--expected", filepath.Join(dir, "none.yaml"))
	require.Error(t, err)
}
