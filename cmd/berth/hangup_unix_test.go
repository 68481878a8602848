//go:build unix

package main

import (
	"bytes"
	"encoding/json"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// hangUp is a server that is to be hung up.
type hangUp struct {
	*testing.T
	cmd        *exec.Cmd
	log        bytes.Buffer
	URL, Key   string
	connection []string
}

func serveBy(t *testing.T, starter ...string) *hangUp {
	signal.Notify(make(chan os.Signal, 1), syscall.SIGHUP) // or who runs the tests under nohup has all of it ignore them
	h := &hangUp{T: t}
	args := append(starter, os.Args[0], "serve", "--json", "--listen", "127.0.0.1:0", "--data", t.TempDir(), //nolint:gocritic // a new list
		"--runtime", "process", "--process-accept", "commands", "--endpoint", "stays=sleep 1000")
	h.cmd = exec.CommandContext(t.Context(), args[0], args[1:]...)
	h.cmd.Env = append(os.Environ(), asProgram+"=1")
	h.cmd.Stderr = &h.log
	stdout, err := h.cmd.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, h.cmd.Start())
	require.NoError(t, json.NewDecoder(stdout).Decode(h))
	h.connection = []string{"--server", h.URL, "--key", h.Key}
	return h
}

func (h *hangUp) run(args ...string) ran {
	return call(h.Context(), "", append(append(args[:2:2], h.connection...), args[2:]...)...)
}

func TestHangUp_OfTheTerminalEndsAServerInOrder(t *testing.T) {
	t.Parallel()
	h := serveBy(t)
	require.NoError(t, h.cmd.Process.Signal(syscall.SIGHUP))
	require.NoError(t, h.cmd.Wait(), h.log.String())
	require.Contains(t, h.log.String(), "msg=draining")
}

// TestHangUp_IgnoredByTheServerAloneUnderNohup: nohup starts a program with hang-ups ignored, and what is ignored is so in the programs
// that it starts, which no shell can undo.
func TestHangUp_IgnoredByTheServerAloneUnderNohup(t *testing.T) {
	t.Parallel()
	h := serveBy(t, "sh", "-c", `trap "" HUP; exec "$0" "$@"`)
	created := h.run("pods", "create", "--name", "a", "--image", "stays", "--cpu", "cpu3g", "--vcpus", "2", "--wait", "--quiet")
	require.Zero(t, created.code, created.err)
	id := string(bytes.TrimSpace([]byte(created.out)))

	require.NoError(t, h.cmd.Process.Signal(syscall.SIGHUP))
	require.Equal(t, ran{code: 128 + int(syscall.SIGHUP)}, h.run("pods", "exec", id, "--", "sh", "-c", "kill -HUP $$; echo still here"))
	res, err := http.Get(h.URL + "/healthz") //nolint:noctx // of the test's own server
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, 200, res.StatusCode)

	require.NoError(t, h.cmd.Process.Signal(syscall.SIGTERM))
	require.NoError(t, h.cmd.Wait(), h.log.String())
}
