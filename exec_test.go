package berth_test

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

// processPod gives a server that runs commands, and a pod of it that is RUNNING.
func processPod(t *testing.T) (*berth.Server, string) {
	s := berthtest.Start(t, berth.Options{
		Runtime: berth.RuntimeProcess, ProcessAccept: []string{"commands", "env:SAID"}, Endpoints: []berth.Endpoint{{Name: "stays", Command: []string{"sleep", "1000"}}},
	})
	status, made := call(t, "POST", s.URL()+"/v2/pods", s.Key(), `{"name":"a","image":"stays","cpu":{"id":"cpu3g","vcpuCount":2},"env":{"SAID":"hello"}}`)
	require.Equal(t, 201, status, "%v", made)
	id := made["id"].(string)
	require.Eventually(t, func() bool {
		_, p := call(t, "GET", s.URL()+"/v2/pods/"+id, s.Key(), "")
		return p["status"] == "RUNNING"
	}, time.Minute, 10*time.Millisecond)
	return s, id
}

func TestExecPod_HandsOverStreamsAndTheExitCode(t *testing.T) {
	t.Parallel()
	s, id := processPod(t)
	var stdout, stderr bytes.Buffer
	err := s.ExecPod(t.Context(), id, berth.Command{
		Args: []string{"sh", "-c", `cat; echo "$SAID $1"; echo wrong >&2; exit 7`, "sh", "a b"}, Stdin: strings.NewReader("read\n"), Stdout: &stdout, Stderr: &stderr,
	})
	var exit *berth.ExitError
	require.ErrorAs(t, err, &exit)
	require.Equal(t, 7, exit.Code)
	require.Equal(t, "exit status 7", err.Error())
	require.Equal(t, "read\nhello a b\n", stdout.String())
	require.Equal(t, "wrong\n", stderr.String())

	require.NoError(t, s.ExecPod(t.Context(), id, berth.Command{Args: []string{"true"}}))
	require.ErrorAs(t, s.ExecPod(t.Context(), id, berth.Command{Args: []string{"no-such-command"}}), &exit)
	require.Equal(t, 127, exit.Code)
	require.ErrorContains(t, s.ExecPod(t.Context(), "aaaaaaaaaaaaaa", berth.Command{Args: []string{"true"}}), "does not exist")
	require.ErrorContains(t, s.ExecWorker(t.Context(), s.Endpoint("stays"), "nobody", berth.Command{Args: []string{"true"}}), "does not exist")
}

// broken is an input that cannot be read to its end.
type broken struct{ begins *strings.Reader }

var errBroken = errors.New("the download broke off")

func (b broken) Read(p []byte) (int, error) {
	if n, err := b.begins.Read(p); err == nil {
		return n, nil
	}
	return 0, errBroken
}

func TestExecPod_EndsWithAnInputThatCannotBeRead(t *testing.T) {
	t.Parallel()
	s, id := processPod(t)
	err := s.ExecPod(t.Context(), id, berth.Command{Args: []string{"cat"}, Stdin: broken{strings.NewReader("some")}})
	require.ErrorIs(t, err, errBroken)
}

func TestExecPod_HasATerminalOfTheSize(t *testing.T) {
	t.Parallel()
	s, id := processPod(t)
	var stdout bytes.Buffer
	require.NoError(t, s.ExecPod(t.Context(), id, berth.Command{
		Args: []string{"stty", "size"}, Stdout: &stdout, Terminal: &berth.Terminal{TerminalSize: berth.TerminalSize{Width: 91, Height: 17}},
	}))
	require.Equal(t, "17 91\r\n", stdout.String())
}

func TestExecPod_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	s, id := processPod(t)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, s.ExecPod(ctx, id, berth.Command{Args: []string{"sleep", "100"}}), context.DeadlineExceeded)
}

func TestExecPod_SaysThatSimulatedPodsRunNothing(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{})
	id := pod(t, s)
	require.NoError(t, s.Clock().Advance(t.Context(), time.Minute))
	require.ErrorContains(t, s.ExecPod(t.Context(), id, berth.Command{}), "simulated")
}
