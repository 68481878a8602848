package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// TestNames_StandForIDs: an id comes first, then a name that one thing alone has.
func TestNames_StandForIDs(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	create := func(name string) string {
		return s.document("pods", "create", "--name", name, "--image", "i", "--cpu", "cpu3g", "--vcpus", "2", "--wait")["id"].(string)
	}
	first := create("first")
	like := create("imageprocessor") // it looks like an id
	other := create(first)           // it is called what the first one's id is

	require.Equal(t, first, s.document("pods", "get", "first")["id"])
	require.Equal(t, like, s.document("pods", "get", "imageprocessor")["id"])
	require.Equal(t, first, s.document("pods", "get", first)["id"], "the id comes first")
	require.Equal(t, "EXITED", s.document("pods", "stop", "imageprocessor", "--wait")["status"])
	require.Contains(t, s.done("pods", "logs", "imageprocessor"), "[system] pod is EXITED\n")
	require.Equal(t, like, s.document("pods", "update", "imageprocessor", "--name", "second")["id"])
	require.Contains(t, s.done("pods", "why", "second"), "EXITED")
	require.Contains(t, s.done("pods", "history", "second"), "AT")

	s.document("pods", "update", other, "--name", "second")
	r := s.run("pods", "delete", "second")
	require.Equal(t, exitUsage, r.code)
	require.Regexp(t, `^berth: 2 pods have the name "second": \S+, \S+\nhint: give the id of one\n$`, r.err)
	require.Contains(t, r.err, like)
	require.Contains(t, r.err, other)
	s.refuses(exitUsage, "berth: there is no pod \"third\"\nhint: berth pods list shows those that there are\n", "pods", "get", "third")
	s.refuses(exitRefused, "berth: 404 Not Found: pod \"abcdefghijklmn\" does not exist\nhint: berth pods list shows those that there are\n", "pods", "get", "abcdefghijklmn")
	require.Equal(t, "deleted "+first+"\n", s.done("pods", "delete", "first"))
}

// TestNames_OfEveryKind: flags and arguments take names of whatever can be named.
func TestNames_OfEveryKind(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	id := func(args ...string) string { return s.document(args...)["id"].(string) }
	volume := id("volumes", "create", "--name", "data", "--size", "10", "--data-center", "EU-RO-1")
	global := id("global-volumes", "create", "--name", "models")
	template := id("templates", "create", "--name", "words", "--image", "i", "--serverless", "--category", "CPU")
	file := filepath.Join(t.TempDir(), "word")
	require.NoError(t, os.WriteFile(file, []byte("secret\n"), 0o600))
	registry := id("registries", "create", "--name", "private", "--username", "robot", "--password-file", file)

	pod := s.document("pods", "create", "--name", "a", "--image", "i", "--cpu", "cpu3g", "--vcpus", "2", "--registry", "private", "--volume", "data:/data")
	require.Equal(t, registry, pod["registry"])
	require.Equal(t, volume, pod["mounts"].(map[string]any)["network"].([]any)[0].(map[string]any)["volumeId"])
	endpoint := s.document("endpoints", "create", "--name", "e", "--template", "words", "--cpu", "cpu3g:2", "--volume", "data")
	require.Equal(t, []any{volume}, endpoint["networkVolumes"])
	require.Equal(t, template, s.document("templates", "get", "words")["id"])
	mounted := s.document("endpoints", "create", "--name", "g", "--image", "i", "--gpu-pool", "ADA_24", "--global-volume", "models")
	require.Equal(t, []any{map[string]any{"volumeId": global}}, mounted["mounts"].(map[string]any)["global"])

	s.refuses(exitUsage, "berth: there is no template \"none\"\nhint: berth templates list shows those that there are\n",
		"endpoints", "create", "--name", "f", "--template", "none", "--cpu", "cpu3g:2")
	for _, kind := range []string{"volumes", "global-volumes", "templates", "registries", "secrets", "clusters", "endpoints"} {
		require.Equal(t, exitUsage, s.run(kind, "get", "no such name").code, kind)
	}
}
