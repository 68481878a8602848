// Package process is a runtime that maps an image's name to a local command and runs that, so that a laptop runs a real
// handler with no container engine. It limits nothing and measures nothing: a process may read what the user that runs
// berth may read, and use what there is. It listens on the machine's own ports and has the machine's own disk, which
// nobody wipes; Start refuses mounts, GPUs and networks.
//
// It runs nothing but those commands: an allocation adds arguments and variables to one only as far as Config.Rules lets it, and of
// berth's own environment a process gets what every program needs, and what Config.Inherit names.
//
// Each allocation is a process group of its own. When its first process has ended, whatever is left of the group is
// killed: a child that lives on, such as the pinger of the Python SDK, would claim jobs that nobody works on. On Linux so is what
// left the group, as a daemon does: it is found by the BERTH_ALLOCATION in its environment.
//
// No process outlives berth. Close kills them all; on Linux the kernel kills them if berth dies without Close, and New
// kills what is left even then (their children), which it finds by the BERTH_OWNER in their environment.
package process

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/args"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// The variables that each process gets besides those of its allocation.
const (
	EnvAllocation = "BERTH_ALLOCATION" // the id of the allocation
	EnvOwner      = "BERTH_OWNER"      // Config.Dir as an absolute path: whose process it is
)

// markFile is there if a process was started since New last looked for leftovers.
const markFile = "started"

var (
	errClosed     = errors.New("process: the runtime is closed")
	errEntrypoint = errors.New("args: a process has no entrypoint that could be another one")
)

var _ runtime.Runtime = (*Runtime)(nil)

// Config is what a runtime is made of.
type Config struct {
	// Dir is made if it is missing. It names the runtime: New kills every process of an earlier runtime of the same Dir, so only
	// one runtime may use it at a time.
	Dir string
	// WorkDir is the directory that commands run in; Dir if it is empty.
	WorkDir string
	// Commands maps images to commands: the program and its first arguments.
	Commands map[string][]string
	// Inherit names variables of berth's own environment that processes get besides those that every program needs.
	Inherit []string
	// Rules say what an allocation may set of its process.
	Rules compute.ProcessRules
	// Output gets every line that a process writes, after "<allocation id> | ", if it is not nil. It is written to by one
	// goroutine at a time. A slow one slows the processes down.
	Output io.Writer
}

// Runtime runs allocations as processes of this machine.
type Runtime struct {
	owner   string
	workDir string
	inherit []string
	rules   compute.ProcessRules
	output  *lines
	ends    *runtime.Ends

	mark string // file that shows the next runtime of the directory that there may be leftovers

	mu       sync.Mutex
	closed   bool
	marked   bool
	commands map[string][]string
	runs     map[string]*run // the last run of each allocation
}

// New makes a runtime and kills what an earlier one of the same Dir left behind. It fails on Windows.
func New(c Config) (*Runtime, error) {
	if err := Supported(); err != nil {
		return nil, err
	}
	if err := os.MkdirAll(c.Dir, 0o700); err != nil {
		return nil, fmt.Errorf("process: directory: %w", err)
	}

	owner, err := filepath.Abs(c.Dir)
	if err != nil {
		return nil, fmt.Errorf("process: directory: %w", err)
	}
	if owner, err = filepath.EvalSymlinks(owner); err != nil { // the same directory by another name is the same owner
		return nil, fmt.Errorf("process: directory: %w", err)
	}

	workDir := owner
	if c.WorkDir != "" {
		if workDir, err = filepath.Abs(c.WorkDir); err != nil {
			return nil, fmt.Errorf("process: working directory: %w", err)
		}
	}

	mark := filepath.Join(owner, markFile)
	if _, err := os.Stat(mark); !errors.Is(err, fs.ErrNotExist) { // looking at every process of the machine takes milliseconds
		if err := killLeftovers(owner); err != nil {
			return nil, fmt.Errorf("process: leftovers: %w", err)
		}
		if err := os.Remove(mark); err != nil {
			return nil, fmt.Errorf("process: leftovers: %w", err)
		}
	}

	h := &Runtime{
		owner: owner, mark: mark, workDir: workDir, inherit: slices.Clone(c.Inherit), rules: c.Rules, output: &lines{to: c.Output}, ends: runtime.NewEnds(),
		commands: map[string][]string{}, runs: map[string]*run{},
	}
	for image, argv := range c.Commands {
		h.Map(image, argv)
	}

	return h, nil
}

// Map makes the image mean the command from the next Start on. With an empty argv it means nothing any more.
func (h *Runtime) Map(image string, argv []string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(argv) == 0 {
		delete(h.commands, image)
		return
	}
	h.commands[image] = slices.Clone(argv)
}

// Start runs the image's command, followed by the words of the allocation's arguments. If the allocation is being stopped,
// Start waits until it has ended, then runs it again.
func (h *Runtime) Start(ctx context.Context, a runtime.Allocation) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		stopping, err := h.tryStart(a)
		if stopping == nil {
			return err
		}

		select {
		case <-stopping:
		case <-ctx.Done():
		}
	}
}

// tryStart starts the allocation unless it is up. If it is being stopped, it gives what to wait for.
func (h *Runtime) tryStart(a runtime.Allocation) (stopping <-chan struct{}, err error) {
	h.mu.Lock() // over the start, so that an allocation is not started twice; it takes a few milliseconds
	defer h.mu.Unlock()

	if h.closed {
		return nil, errClosed
	}

	last := h.runs[a.ID]
	if last != nil && !last.over() {
		if last.isStopping() {
			return last.done, nil
		}
		return nil, nil
	}

	argv := h.commands[a.Image]
	if argv == nil {
		return nil, fmt.Errorf("image %q is not mapped to a command", a.Image)
	}
	if err := h.rules.Check(a.Args, a.Env); err != nil {
		return nil, err
	}

	command, err := args.Parse(a.Args)
	switch {
	case err != nil:
		return nil, err
	case command.Entrypoint != nil:
		return nil, errEntrypoint
	case a.Persistent != nil || a.Network != nil:
		return nil, runtime.ErrNoMounts
	case a.Link != nil:
		return nil, runtime.ErrNoNetworks
	case !a.GPUs.None():
		return nil, runtime.ErrNoGPU
	}

	if !h.marked {
		if err := os.WriteFile(h.mark, nil, 0o600); err != nil {
			return nil, fmt.Errorf("process: %w", err)
		}
		h.marked = true
	}

	r := newRun(a, last)
	r.env = h.environment(a, r.ports)
	if err := h.launch(r, slices.Concat(argv, command.Words), r.env); err != nil {
		return nil, fmt.Errorf("process: image %q: %w", a.Image, err)
	}
	h.runs[a.ID] = r
	return nil, nil
}

func (h *Runtime) run(id string) (*run, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	r, ok := h.runs[id]
	if !ok {
		return nil, runtime.ErrUnknown
	}
	return r, nil
}

// Stop sends SIGTERM to the allocation's processes, and SIGKILL after grace. If ctx ends first it returns, and the
// SIGKILL comes all the same.
func (h *Runtime) Stop(ctx context.Context, id string, grace time.Duration) error {
	r, err := h.run(id)
	if err != nil {
		return err
	}
	r.stop(grace)
	return r.wait(ctx)
}

// Remove kills the allocation's processes and forgets it with its logs.
func (h *Runtime) Remove(ctx context.Context, id string) error {
	r, err := h.run(id)
	if errors.Is(err, runtime.ErrUnknown) {
		return nil
	}
	if err != nil {
		return err
	}

	r.kill()
	if err := r.wait(ctx); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.runs[id] == r { // and not one that was started meanwhile
		delete(h.runs, id)
	}

	return nil
}

// Inspect reports how the allocation is. It is up as soon as its process has started: nothing more is known of it.
func (h *Runtime) Inspect(ctx context.Context, id string) (runtime.State, error) {
	if err := ctx.Err(); err != nil {
		return runtime.State{}, err
	}
	r, err := h.run(id)
	if err != nil {
		return runtime.State{}, err
	}
	return r.state(), nil
}

// Stats gives ErrNoStats.
func (h *Runtime) Stats(_ context.Context, id string) (runtime.Stats, error) {
	if _, err := h.run(id); err != nil {
		return runtime.Stats{}, err
	}
	return runtime.Stats{}, runtime.ErrNoStats
}

// Logs gives the last 256 KiB, or some more, that the allocation's processes wrote, over all of its runs. They are kept in memory only.
func (h *Runtime) Logs(ctx context.Context, id string, q runtime.LogQuery, emit func(runtime.Line) error) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	r, err := h.run(id)
	if err != nil {
		return err
	}
	return r.log.follow(ctx, q, r.done, emit)
}

// List gives the allocations of this runtime: none is left of an earlier one.
func (h *Runtime) List(ctx context.Context) ([]string, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Sorted(maps.Keys(h.runs)), ctx.Err()
}

// Sweep has nothing to remove.
func (h *Runtime) Sweep(ctx context.Context) error { return ctx.Err() }

// Place packs.
func (h *Runtime) Place(rooms iter.Seq[compute.HostRoom]) (compute.HostRoom, bool) {
	return runtime.Pack(rooms)
}

// Ended delivers the ids of allocations whose process ended without Stop, Remove or Close.
func (h *Runtime) Ended() <-chan string { return h.ends.Out() }

// Close kills every process, returns once they have ended, and refuses further starts.
func (h *Runtime) Close() error {
	h.mu.Lock()
	h.closed = true
	runs := make([]*run, 0, len(h.runs))
	for _, r := range h.runs {
		runs = append(runs, r)
	}
	h.mu.Unlock()
	for _, r := range runs {
		r.kill()
	}
	for _, r := range runs {
		<-r.done
	}
	h.ends.Close()

	return nil
}

// Volumes gives none: nothing is mounted.
func (h *Runtime) Volumes(ctx context.Context) ([]compute.VolumeID, error) { return nil, ctx.Err() }

// RemoveVolume changes nothing.
func (h *Runtime) RemoveVolume(ctx context.Context, _ compute.VolumeID) error { return ctx.Err() }
