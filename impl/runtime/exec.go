package runtime

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"
)

var (
	// ErrNoExec says that the runtime runs no commands beside what its allocations run.
	ErrNoExec = errors.New("this runtime runs no further commands")
	// ErrSimulated is ErrNoExec of what only simulates.
	ErrSimulated = fmt.Errorf("%w: they are simulated", ErrNoExec)
	// ErrNotAccepted is ErrNoExec of a machine that must not run what whoever has a key likes.
	ErrNotAccepted = fmt.Errorf("%w: the settings do not accept any", ErrNoExec)
	// ErrNotUp says that no process of the allocation runs, and so no command can run beside it.
	ErrNotUp = errors.New("it is not up")
)

// HangUpTime is how long a command has from SIGHUP, which it gets where nobody waits for it any more, until it is killed.
const HangUpTime = 2 * time.Second

// The exit codes of commands that did not run, as shells have them.
const (
	ExitNotRun   = 126 // there is such a file, and it cannot be run
	ExitNotFound = 127
)

// EnvExec marks, in their environment, the processes of a command in a container: engines can start commands and not end them, so they are found by it.
const EnvExec = "BERTH_EXEC"

// hangUp ends the commands with the mark in its first argument: those whose parent is outside of the container, with their groups.
const hangUp = `for d in /proc/[0-9]*; do
	grep -q "` + EnvExec + `=$1" "$d/environ" 2>/dev/null && grep -q '^PPid:[^0-9]*0$' "$d/status" 2>/dev/null || continue
	p=${d#/proc/}
	kill -HUP "-$p" 2>/dev/null || kill -HUP "$p" 2>/dev/null
	sleep "$2"
	kill -KILL "-$p" 2>/dev/null || kill -KILL "$p" 2>/dev/null
done`

// HangUp gives the command that ends, in a container, the commands that have the mark in EnvExec. It takes sh, grep and kill.
func HangUp(mark string) []string {
	return []string{"sh", "-c", hangUp, "sh", mark, fmt.Sprint(HangUpTime.Seconds())}
}

// Execer runs commands beside what an allocation runs: in its file system, as its user and with its environment.
type Execer interface {
	// Exec runs a command in an allocation that is up, and gives its exit code once it has ended and what it wrote is written: 128 and
	// the signal's number, or -1, if a signal ended it, ExitNotFound or ExitNotRun if there is no such command. When ctx ends, or the allocation does,
	// the command and what it started beside itself get SIGHUP, and SIGKILL after HangUpTime, as far as they can be found: what has
	// left for a session of its own stays. ErrUnknown, ErrNotUp, ErrNoExec, or the error of ctx.
	Exec(ctx context.Context, id string, e Exec) (exitCode int, err error)
}

// Exec is a command that is to run in an allocation.
type Exec struct {
	Command []string // the program, which is looked for in the PATH of the allocation, and its arguments
	Env     []string // NAME=VALUE, added to the environment of the allocation
	Dir     string   // where it runs; empty: where the allocation does
	// Stdin is read until it ends, or an error; nil: there is none. One call of Read may be under way when Exec returns: who gave it
	// ends that.
	Stdin  io.Reader
	Stdout io.Writer // nil: nobody reads it
	Stderr io.Writer // nil: nobody reads it; with a terminal there is none
	TTY    *TTY      // nil: no terminal
}

// TTY is the terminal of a command.
type TTY struct {
	Size
	Resize <-chan Size // nil, or once it is closed: it stays as it is
}

// Follow calls resize with each new size, until there will be none or ended is closed.
func (t TTY) Follow(ended <-chan struct{}, resize func(Size)) {
	for {
		select {
		case size, more := <-t.Resize:
			if !more {
				return
			}
			resize(size)
		case <-ended:
			return
		}
	}
}

// Size is that of a terminal, in characters; zero: the runtime's default.
type Size struct{ Width, Height uint16 }

// Outputs gives both writers, of which each forgets where it is nil.
func (e Exec) Outputs() (stdout, stderr io.Writer) {
	stdout, stderr = e.Stdout, e.Stderr
	if stdout == nil {
		stdout = io.Discard
	}
	if stderr == nil {
		stderr = io.Discard
	}
	return stdout, stderr
}
