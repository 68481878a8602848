//go:build unix

package process_test

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/process"
)

func TestExec_TerminalHasASizeThatChanges(t *testing.T) {
	t.Parallel()
	host := newRuntime(t, process.Config{})
	require.NoError(t, host.Start(t.Context(), playing("a", "stay")))
	sizes := make(chan runtime.Size)
	in, keys := io.Pipe()
	out, lines := io.Pipe()
	ended := make(chan int, 1)
	go func() {
		code, err := host.Exec(t.Context(), "a", runtime.Exec{
			Command: []string{"sh", "-c", "stty size; trap 'stty size' WINCH; until [ \"$x\" = again ]; do read x; echo got $x; done; exit 5"},
			TTY:     &runtime.TTY{Size: runtime.Size{Width: 80, Height: 24}, Resize: sizes}, Stdin: in, Stdout: lines,
		})
		_ = lines.CloseWithError(err)
		ended <- code
	}()

	read := func(until string) {
		var text strings.Builder
		for b := make([]byte, 1); !strings.Contains(text.String(), until); {
			_, err := out.Read(b)
			require.NoError(t, err, text.String())
			text.Write(b)
		}
	}
	read("24 80\r\n")
	_, err := io.WriteString(keys, "hello\n")
	require.NoError(t, err)
	read("got hello\r\n")
	for range 2 { // the second is taken when the first has been set
		sizes <- runtime.Size{Width: 132, Height: 43}
	}
	_, err = io.WriteString(keys, "again\n") // a shell heeds a signal between two commands
	require.NoError(t, err)
	read("43 132\r\n")
	go func() { _, _ = io.Copy(io.Discard, out) }() // the terminal may echo what was typed after that
	require.Equal(t, 5, <-ended)
}

func TestExec_RunsNothingUnlessTheRulesLetIt(t *testing.T) {
	t.Parallel()
	host := strict(t, process.Config{Commands: map[string][]string{"i": {"sleep", "1000"}}, Rules: compute.ProcessRules{Args: true, AnyEnv: true}})
	require.NoError(t, host.Start(t.Context(), runtime.Allocation{ID: "a", Image: "i"}))
	_, err := host.Exec(t.Context(), "a", runtime.Exec{Command: []string{"true"}})
	require.ErrorIs(t, err, runtime.ErrNotAccepted)
	require.ErrorIs(t, err, runtime.ErrNoExec)
}

func TestExec_GivesWhatShellsGive(t *testing.T) {
	t.Parallel()
	host := newRuntime(t, process.Config{})
	require.NoError(t, host.Start(t.Context(), playing("a", "stay")))
	run := func(command ...string) (int, string) {
		var errs bytes.Buffer
		code, err := host.Exec(t.Context(), "a", runtime.Exec{Command: command, Stderr: &errs})
		require.NoError(t, err)
		return code, errs.String()
	}
	code, _ := run("sh", "-c", "kill -KILL $$")
	require.Equal(t, 128+9, code)
	code, text := run("/etc/passwd")
	require.Equal(t, runtime.ExitNotRun, code)
	require.Contains(t, text, "berth: /etc/passwd: ")
	code, text = run("./berth-no-such-program")
	require.Equal(t, runtime.ExitNotFound, code)
	require.Contains(t, text, "no such file")
}

func TestExec_EndsWithWhoAskedAndWithTheProcess(t *testing.T) {
	t.Parallel()
	host := newRuntime(t, process.Config{})
	require.NoError(t, host.Start(t.Context(), playing("a", "stay")))
	begin := func(ctx context.Context) chan error {
		out, lines := io.Pipe()
		ended := make(chan error, 1)
		go func() {
			_, err := host.Exec(ctx, "a", runtime.Exec{Command: []string{"sh", "-c", "trap '' HUP; echo up; sleep 1000 & wait"}, Stdout: lines})
			ended <- err
		}()
		_, err := io.ReadFull(out, make([]byte, 3))
		require.NoError(t, err)
		return ended
	}
	ctx, cancel := context.WithCancel(t.Context())
	ended := begin(ctx)
	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)

	ended = begin(t.Context())
	require.NoError(t, host.Remove(t.Context(), "a"))
	<-ended // with the exit code of a signal, or ErrNotUp: who is first
}

// slow is a writer that takes longer for its first bytes than is waited for who holds a pipe open.
type slow struct{ text bytes.Buffer } // and not one itself: that would read by itself, without a pause

func (s *slow) Write(p []byte) (int, error) {
	if s.text.Len() == 0 {
		<-time.After(1500 * time.Millisecond)
	}
	return s.text.Write(p)
}

func TestExec_ReaderThatPausesGetsTheEnd(t *testing.T) {
	t.Parallel()
	host := newRuntime(t, process.Config{})
	require.NoError(t, host.Start(t.Context(), playing("a", "stay")))
	var out slow
	code, err := host.Exec(t.Context(), "a", runtime.Exec{Command: []string{"sh", "-c", "head -c 60000 /dev/zero; exit 3"}, Stdout: &out})
	require.NoError(t, err)
	require.Equal(t, 3, code)
	require.Equal(t, 60_000, out.text.Len())
}

// What was there at the end of a command comes all the same, however long who it has left behind goes on to write.
func TestExec_WhoIsLeftBehindKeepsNobodyWaiting(t *testing.T) {
	t.Parallel()
	host := newRuntime(t, process.Config{})
	require.NoError(t, host.Start(t.Context(), playing("a", "stay")))
	var out slow
	ended := make(chan int, 1)
	go func() {
		script := "head -c 60000 /dev/zero; (while echo more; do sleep 0.1; done) & exit 3"
		code, err := host.Exec(t.Context(), "a", runtime.Exec{Command: []string{"sh", "-c", script}, Stdout: &out})
		if err != nil {
			t.Error(err)
		}
		ended <- code
	}()

	select {
	case code := <-ended:
		require.Equal(t, 3, code)
		require.GreaterOrEqual(t, out.text.Len(), 60_000)
	case <-time.After(30 * time.Second):
		t.Error("it is read still")
	}
}
