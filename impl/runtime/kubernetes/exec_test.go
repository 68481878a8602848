package kubernetes_test

import (
	"bytes"
	"context"
	"io"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/kubernetes"
	"github.com/berthdev/berth/impl/runtime/runtimetest/play"
)

// asPlayer makes the test binary carry out the steps of package play.
const asPlayer = "BERTH_TEST_PLAYER"

func TestMain(m *testing.M) {
	if os.Getenv(asPlayer) != "" {
		os.Exit(play.Run(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// inPod gives the command that carries out steps in a Pod.
func inPod(steps ...string) []string {
	return append([]string{"env", asPlayer + "=1", os.Args[0]}, steps...)
}

func TestExec_TerminalsHaveASizeThatChanges(t *testing.T) {
	t.Parallel()
	h := open(t, cluster(t), kubernetes.Config{})
	start(t, h, playing("a", "stay"))
	sizes := make(chan runtime.Size)
	in, keys := io.Pipe()
	defer func() { _ = keys.Close() }()
	out, lines := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		code, err := h.Exec(t.Context(), "a", runtime.Exec{
			Command: []string{"sh", "-c", `until [ "$(stty size)" = "24 80" ]; do sleep 0.01; done; echo first; until [ "$(stty size)" = "50 120" ]; do sleep 0.01; done; echo second; exit 5`},
			Stdin:   in, Stdout: lines, TTY: &runtime.TTY{Size: runtime.Size{Width: 80, Height: 24}, Resize: sizes},
		})
		_ = lines.CloseWithError(err)
		ended <- code
	}()
	read := make([]byte, len("first\r\n"))
	_, err := io.ReadFull(out, read)
	require.NoError(t, err)
	require.Equal(t, "first\r\n", string(read))
	sizes <- runtime.Size{Width: 120, Height: 50}
	rest, _ := io.ReadAll(out)
	require.Equal(t, "second\r\n", string(rest))
	require.Equal(t, 5, <-ended)
}

func TestExec_OneThatIsLeftIsEnded(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	start(t, h, playing("a", "stay"))
	out, lines := io.Pipe()
	ctx, leave := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := h.Exec(ctx, "a", runtime.Exec{Command: []string{"sh", "-c", "echo up; sleep 1000"}, Stdout: lines})
		ended <- err
	}()
	_, err := io.ReadFull(out, make([]byte, 3))
	require.NoError(t, err)
	leave()
	require.ErrorIs(t, <-ended, context.Canceled)
	require.Eventually(t, func() bool { return len(s.Commands()) == 3 }, patience, look)
	commands := s.Commands()
	require.Equal(t, []string{"sh", "-c", ":"}, commands[0], "whether there is a shell")
	mark := commands[1][4]
	require.Equal(t, runtime.HangUp(mark), commands[2], "it is found by its mark")

	var text bytes.Buffer
	code, err := h.Exec(t.Context(), "a", runtime.Exec{Command: []string{"env"}, Stdout: &text})
	require.NoError(t, err)
	require.Zero(t, code)
	require.Contains(t, text.String(), runtime.EnvExec+"=")
	require.Len(t, s.Commands(), 4, "it is known that there is a shell")
}

func TestExec_AnImageWithoutAShellRunsItsProgram(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.Lack("sh")
	h := open(t, s, kubernetes.Config{})
	start(t, h, playing("a", "stay"))
	var out bytes.Buffer
	code, err := h.Exec(t.Context(), "a", runtime.Exec{Command: []string{"cat"}, Stdin: strings.NewReader("one"), Stdout: &out})
	require.NoError(t, err)
	require.Zero(t, code)
	require.Equal(t, "one", out.String())
	code, err = h.Exec(t.Context(), "a", runtime.Exec{Command: []string{"berth-test-no-such-program"}})
	require.NoError(t, err)
	require.Equal(t, runtime.ExitNotFound, code)
	code, err = h.Exec(t.Context(), "a", runtime.Exec{Command: []string{"cat"}, Env: []string{"A=b"}})
	require.NoError(t, err)
	require.Equal(t, runtime.ExitNotFound, code, "a variable takes a shell")
}

func TestExec_NeedsTheRight(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	start(t, h, playing("a", "stay"))
	s.Forbid("get", "pods")
	_, err := h.Exec(t.Context(), "a", runtime.Exec{Command: []string{"true"}})
	require.ErrorContains(t, err, "run a command in pod berth-a-", "what it may not is said")
	require.NotErrorIs(t, err, runtime.ErrNotUp)
	require.NotErrorIs(t, err, runtime.ErrUnavailable)
}
