package runtimetest

import (
	"bytes"
	"context"
	"io"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
)

// run runs steps in the allocation and gives what they wrote.
func (f Fixture) run(t *testing.T, id string, e runtime.Exec, steps ...string) (code int, stdout, stderr string) {
	t.Helper()
	var out, errs bytes.Buffer
	if steps != nil {
		e.Command = f.Command(steps...)
	}
	e.Stdout, e.Stderr = &out, &errs
	code, err := f.Runtime.Exec(t.Context(), id, e)
	require.NoError(t, err)
	return code, out.String(), errs.String()
}

func commands(t *testing.T, f Fixture) {
	f.needs(t, Commands)
	a := f.Stays("a")
	a.Env["OF_THE_POD"] = "kept"
	f.start(t, a)
	f.await(t, "a", runtime.Up)

	code, out, errs := f.run(t, "a", runtime.Exec{Env: []string{"ASKED=for"}}, "say one", "complain two", "env OF_THE_POD", "env ASKED", "terminal", "exit 7")
	require.Equal(t, 7, code)
	require.Equal(t, "one\nOF_THE_POD=kept\nASKED=for\na terminal: false\n", strings.Replace(out, "a terminal: true\n", "a terminal: false\n", 1)) // without an input it may read /dev/null
	require.Equal(t, "two\n", errs)

	long := strings.Repeat("a long text\n", 100_000)
	code, out, _ = f.run(t, "a", runtime.Exec{Stdin: strings.NewReader(long)}, "echo", "say end")
	require.Zero(t, code)
	require.Equal(t, len(long)+len("end\n"), len(out))

	code, _, _ = f.run(t, "a", runtime.Exec{Dir: "/"}, "write berth.test.not.there/x y")
	require.Equal(t, 99, code)
	code, _, _ = f.run(t, "a", runtime.Exec{Command: []string{"berth-test-no-such-program"}})
	require.Contains(t, []int{runtime.ExitNotFound, runtime.ExitNotRun}, code)
	require.Equal(t, runtime.Up, f.state(t, "a").Phase, "the program goes on")
}

func commandsWithTerminals(t *testing.T, f Fixture) {
	f.needs(t, Commands)
	f.start(t, f.Stays("a"))
	f.await(t, "a", runtime.Up)
	sizes := make(chan runtime.Size, 1)
	sizes <- runtime.Size{Width: 120, Height: 50}
	in, keys := io.Pipe()
	defer func() { _ = keys.Close() }()
	code, out, _ := f.run(t, "a", runtime.Exec{Stdin: in, TTY: &runtime.TTY{Size: runtime.Size{Width: 80, Height: 24}, Resize: sizes}}, "terminal", "complain two", "exit 3")
	require.Equal(t, 3, code)
	require.Equal(t, "a terminal: true\r\ntwo\r\n", out)
}

// signal is a writer that says when something was written.
type signal struct {
	once    sync.Once
	written chan struct{}
}

func (s *signal) Write(p []byte) (int, error) {
	s.once.Do(func() { close(s.written) })
	return len(p), nil
}

func commandsEnd(t *testing.T, f Fixture) {
	f.needs(t, Commands)
	f.start(t, f.Stays("a"))
	f.await(t, "a", runtime.Up)
	begin := func(ctx context.Context, tty *runtime.TTY) chan error {
		up, ended := &signal{written: make(chan struct{})}, make(chan error, 1)
		go func() {
			_, err := f.Runtime.Exec(ctx, "a", runtime.Exec{Command: f.Command("say up", "stay"), Stdout: up, TTY: tty})
			ended <- err
		}()
		select {
		case <-up.written:
		case err := <-ended:
			require.NoError(t, err)
			require.Fail(t, "the command has ended")
		}
		return ended
	}

	for _, tty := range []*runtime.TTY{nil, {}} {
		ctx, cancel := context.WithCancel(t.Context())
		ended := begin(ctx, tty)
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)
	}

	ended := begin(t.Context(), nil)
	require.NoError(t, f.Runtime.Stop(t.Context(), "a", grace))
	<-ended // with an exit code of a signal, or an error
}

func noCommands(t *testing.T, f Fixture) {
	_, err := f.Runtime.Exec(t.Context(), "a", runtime.Exec{Command: []string{"true"}})
	require.ErrorIs(t, err, runtime.ErrUnknown)
	f.start(t, f.Exits("a", 0))
	f.await(t, "a", runtime.Ended)
	_, err = f.Runtime.Exec(t.Context(), "a", runtime.Exec{Command: []string{"true"}})
	require.ErrorIs(t, err, runtime.ErrNotUp)
	if f.has(Commands) {
		return
	}
	f.start(t, f.Stays("b"))
	f.await(t, "b", runtime.Up)
	_, err = f.Runtime.Exec(t.Context(), "b", runtime.Exec{Command: []string{"true"}})
	require.ErrorIs(t, err, runtime.ErrNoExec)
}
