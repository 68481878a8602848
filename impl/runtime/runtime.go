// Package runtime is the interface to what pods and workers run on. It has one implementation in each folder below it,
// and runtimetest is the suite that all of them pass.
package runtime

import (
	"context"
	"errors"
	"io"
	"time"
)

// ErrUnknown says that the runtime knows no allocation of that id.
var ErrUnknown = errors.New("runtime: unknown allocation")

// Runtime starts and stops allocations. It is safe for concurrent use.
type Runtime interface {
	// Start begins to start the allocation and returns without waiting for it to be up. Starting one that is up or
	// starting changes nothing; starting one that has ended runs it again.
	Start(ctx context.Context, a Allocation) error
	// Stop asks the allocation to end (SIGTERM where there is a process) and kills it after grace. It returns once it has
	// ended. Stopping one that has ended changes nothing. ErrUnknown.
	Stop(ctx context.Context, id string, grace time.Duration) error
	// Remove kills the allocation if it is up and forgets it; an unknown id is no error.
	Remove(ctx context.Context, id string) error
	// Inspect tells how the allocation is. ErrUnknown.
	Inspect(ctx context.Context, id string) (State, error)
	// Logs copies what the allocation wrote so far, oldest first, at most the last limit bytes kept. ErrUnknown.
	Logs(ctx context.Context, id string, w io.Writer) error
	// Ended delivers the id of each allocation that ended by itself; a hint, so that nobody needs to poll. The channel
	// is the runtime's own and is never closed.
	Ended() <-chan string
	// Close kills what is up.
	Close() error
}

// Allocation is what is to run.
type Allocation struct {
	ID        string // unique among all pods and workers
	Image     string
	Args      string
	Env       map[string]string
	StartedAt time.Time // set when it was up before a restart of berth: the simulated fleet takes it as up since then
}

// Phase is how far an allocation is.
type Phase string

// The phases.
const (
	Starting Phase = "starting"
	Up       Phase = "up"
	Ended    Phase = "ended"
)

// State is how an allocation is.
type State struct {
	Phase     Phase
	ExitCode  int       // when Ended; -1 if a signal ended it
	StartedAt time.Time // when it came up; zero while Starting
}
