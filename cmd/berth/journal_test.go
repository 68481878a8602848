package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestJournal(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{TestControls: true})
	key := s.server.FirstKey()
	s.done("pods", "create", "--name", "first", "--image", "i", "--cpu", "cpu3g", "--vcpus", "2")
	require.Equal(t, exitRefused, s.run("pods", "get", "nosuchpodofall").code)
	require.Contains(t, s.run("journal", "list").err, "the journal takes the key of the test controls")

	s.flags = []string{"--server", s.server.URL(), "--key", s.server.ControlsKey()}
	require.Regexp(t, `1 +\S+ +201 +\d+ +POST +/v2/pods +createPod +\S+ +-\n2 +\S+ +404 +\d+ +GET +/v2/pods/nosuchpodofall +getPod`, s.done("journal", "list"))
	list := s.done("journal", "list", "--status", "4xx", "--since", "2001-01-01T00:00:00Z", "--after", "1", "--limit", "5", "--json")
	require.Contains(t, list, `"resources":{"pod":"nosuchpodofall"}`)
	require.NotContains(t, list, "createPod")
	require.NotContains(t, list, key)

	shown := s.done("journal", "show", "1")
	require.Regexp(t, `operation +createPod`, shown)
	require.Contains(t, shown, "  Authorization: ***\n")
	require.Regexp(t, `(?s)request\n.*"name":"first".*response\n.*"status":`, shown)
	require.Equal(t, "1\n", s.done("journal", "show", "1", "-q"))
	require.Equal(t, s.done("journal", "show", "2", "--json"), s.done("journal", "show", "2", "--json"))

	file := filepath.Join(t.TempDir(), "requests.har")
	require.Empty(t, s.done("journal", "export", "--har", file, "--operation", "getPod"))
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	var har struct{ Log struct{ Entries []any } }
	require.NoError(t, json.Unmarshal(text, &har))
	require.Len(t, har.Log.Entries, 1)
	require.Contains(t, s.done("journal", "export", "--har", "-"), `"version":"1.2"`)

	require.Empty(t, s.done("journal", "clear"))
	require.NotContains(t, s.done("journal", "list"), "createPod")
}

func TestJournal_Verify(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{TestControls: true})
	s.run("pods", "get", "aaaaaaaaaaaaa1")
	s.run("pods", "get", "aaaaaaaaaaaaa2")
	s.flags = []string{"--server", s.server.URL(), "--key", s.server.ControlsKey()}

	held := s.feed(`[{"operation":"getPod","times":{"exactly":2}}]`, "journal", "verify", "-")
	require.Zero(t, held.code, held.err)
	require.Empty(t, held.out)
	file := filepath.Join(t.TempDir(), "expected.json")
	require.NoError(t, os.WriteFile(file, []byte(`{"expectations":[{"resource":"aaaaaaaaaaaaa2"},{"resource":"aaaaaaaaaaaaa1"},{"operation":"getPod","status":"200"}],"inOrder":true}`), 0o600))
	failed := s.run("journal", "verify", file)
	require.Equal(t, exitFailed, failed.code)
	require.Regexp(t, regexp.MustCompile(`^1: requests with resource aaaaaaaaaaaaa1: expected after request 3, .*\n2: requests with operation getPod, status 200: expected at least 1, found 0; the nearest is number 4: operation is listPods, expected getPod\n$`), failed.out)
	require.Contains(t, failed.err, "2 of the expectations do not hold")
	failed = s.run("journal", "verify", file, "--json")
	require.Equal(t, exitFailed, failed.code)
	require.Contains(t, failed.out, `"ok":false`)

	for _, wrong := range []struct {
		args        []string
		stdin, says string
		code        int
	}{
		{args: []string{"journal", "verify", "-"}, stdin: `[`, says: "is not JSON", code: exitUsage},
		{args: []string{"journal", "verify", "-"}, stdin: `[]`, says: "/expectations", code: exitRefused},
		{args: []string{"journal", "verify", "-"}, stdin: `[{"operation":"run","times":{"exactly":1,"atMost":1}}]`, says: "exactly stands alone", code: exitRefused},
		{args: []string{"journal", "verify", filepath.Join(t.TempDir(), "none")}, says: "none", code: exitUsage},
		{args: []string{"journal", "list", "--since", "today"}, says: "--since", code: exitUsage},
		{args: []string{"journal", "list", "--status", "5x"}, says: "status", code: exitRefused},
		{args: []string{"journal", "show", "first"}, says: "not the number", code: exitUsage},
		{args: []string{"journal", "show", "77"}, says: "no entry 77", code: exitRefused},
		{args: []string{"journal", "export"}, says: "--har", code: exitUsage},
		{args: []string{"journal", "export", "--har", t.TempDir()}, says: "--har: open", code: exitFailed},
	} {
		got := s.feed(wrong.stdin, wrong.args...)
		require.Equal(t, wrong.code, got.code, "%v: %s", wrong.args, got.err)
		require.Contains(t, got.err, wrong.says, "%v", wrong.args)
	}
}
