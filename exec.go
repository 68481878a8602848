package berth

import (
	"context"
	"errors"
	"fmt"
	"io"
	nethttp "net/http" // http is a name of the tests of this package
	"strconv"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/controlsclient"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/shell/wire"
)

// Command is a command that runs beside what a pod or a worker runs: in its file system, as its user and with its environment. Its fields are
// those of exec.Cmd in os/exec.
type Command struct {
	// Args are the program, which is looked for in the PATH of the pod, and its arguments; without any a shell runs: bash if there is one, or sh.
	Args []string
	// Stdin is read until it ends; nil: the command reads nothing. One call of Read may be under way when the command has ended.
	Stdin io.Reader
	// Stdout and Stderr get what it writes; nil: nobody does. With a Terminal all comes to Stdout.
	Stdout, Stderr io.Writer
	// Terminal is what the command has as one; nil: none.
	Terminal *Terminal
}

// Terminal is the terminal of a command.
type Terminal struct {
	TerminalSize                     // at first; zero: that of the runtime
	Resize       <-chan TerminalSize // gives others; nil, or once it is closed: it stays as it is
}

// TerminalSize is the size of a terminal: Width and Height in characters.
type TerminalSize = runtime.Size

// ExitError is the error of a command that ended with another exit code than 0.
type ExitError struct {
	// Code is 128 and the signal's number, or -1, if a signal ended it, 127 if there is no such command and 126 if it cannot be run.
	Code int
}

// Error gives the code.
func (e *ExitError) Error() string { return "exit status " + strconv.Itoa(e.Code) }

// ExecPod runs a command in a pod, which must be RUNNING, and returns once it has ended and what it wrote is written. A simulated pod runs none; one
// of RuntimeProcess does if Options.ProcessAccept has commands. The error is an *ExitError, that of ctx, of the reader or a writer, or what the server
// says. When ctx ends, the command gets SIGHUP.
func (s *Server) ExecPod(ctx context.Context, pod string, c Command) error {
	return s.exec(ctx, c, func(p controls.ExecPodParams) (*nethttp.Request, error) {
		return controlsclient.NewExecPodRequest(s.QueueURL(), pod, &p)
	})
}

// ExecWorker is ExecPod for a worker of an endpoint, by their ids.
func (s *Server) ExecWorker(ctx context.Context, endpoint, worker string, c Command) error {
	return s.exec(ctx, c, func(p controls.ExecPodParams) (*nethttp.Request, error) {
		return controlsclient.NewExecWorkerRequest(s.QueueURL(), endpoint, worker, (*controls.ExecWorkerParams)(&p))
	})
}

// exec runs a command by the request, at the address that speaks plain HTTP with TLSCert, too: it is on this machine.
func (s *Server) exec(ctx context.Context, c Command, request func(controls.ExecPodParams) (*nethttp.Request, error)) error {
	e := runtime.Exec{Command: c.Args, Stdin: c.Stdin, Stdout: c.Stdout, Stderr: c.Stderr}
	if c.Terminal != nil {
		e.TTY = &runtime.TTY{Size: c.Terminal.TerminalSize, Resize: c.Terminal.Resize}
	}
	r, err := request(wire.Params(e))
	if err != nil {
		return err
	}
	r.Header.Set("Authorization", "Bearer "+s.key)

	code, err := wire.Run(ctx, r, e)
	if no, is := errors.AsType[*wire.Refused](err); is {
		return refused(no.Status, no.Body)
	}
	if err != nil {
		return fmt.Errorf("berth: %w", err)
	}
	if code != 0 {
		return &ExitError{code}
	}
	return nil
}
