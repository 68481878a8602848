package docker

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"github.com/containerd/errdefs"
	"github.com/moby/moby/api/pkg/stdcopy"
	"github.com/moby/moby/client"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// Exec runs a command through the engine. An image that has no sh, grep and kill keeps a command that nobody waits for any more until the
// container ends.
func (h *Runtime) Exec(ctx context.Context, id string, e runtime.Exec) (int, error) {
	c, err := h.find(ctx, id)
	switch {
	case errors.Is(err, runtime.ErrUnknown) && h.isStarting(id):
		return 0, runtime.ErrNotUp
	case err != nil:
		return 0, err
	case !isUp(c) || c.State.Paused:
		return 0, runtime.ErrNotUp
	}

	mark := rand.Text()
	options := client.ExecCreateOptions{
		TTY: e.TTY != nil, AttachStdin: e.Stdin != nil, AttachStdout: true, AttachStderr: true,
		Env: append([]string{runtime.EnvExec + "=" + mark}, e.Env...), WorkingDir: e.Dir, Cmd: e.Command,
	}
	var size client.ConsoleSize
	if e.TTY != nil {
		size = client.ConsoleSize{Height: uint(e.TTY.Height), Width: uint(e.TTY.Width)}
	}
	options.ConsoleSize = size

	made, err := ask(ctx, func(ctx context.Context) (client.ExecCreateResult, error) {
		return h.engine.ExecCreate(ctx, c.ID, options)
	})
	if err != nil {
		return 0, execFault(err)
	}
	stream, err := h.engine.ExecAttach(ctx, made.ID, client.ExecAttachOptions{TTY: options.TTY, ConsoleSize: size})
	if err != nil {
		return 0, execFault(fault(err))
	}

	err = h.carry(ctx, made.ID, stream.HijackedResponse, e)
	switch {
	case ctx.Err() != nil:
		h.hangUp(c.ID, mark)
		return 0, ctx.Err()
	case err != nil:
		h.hangUp(c.ID, mark)
		return 0, fault(err)
	}
	return h.exitCode(ctx, made.ID)
}

// isStarting reports whether the allocation is being started, or could not be.
func (h *Runtime) isStarting(id string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	_, failed := h.failed[id]
	return failed || h.starts[id] != nil
}

// execFault gives the error of an engine that refuses a command: the container has ended meanwhile.
func execFault(err error) error {
	if errdefs.IsConflict(err) || errdefs.IsNotFound(err) {
		return fmt.Errorf("%w: %w", runtime.ErrNotUp, err)
	}
	return err
}

// carry brings what is said from one side to the other, until the command has ended or ctx ends.
func (h *Runtime) carry(ctx context.Context, id string, stream client.HijackedResponse, e runtime.Exec) error {
	var once atomic.Bool
	closed := func() {
		if once.CompareAndSwap(false, true) {
			stream.Close()
		}
	}
	defer closed()
	defer context.AfterFunc(ctx, closed)()

	over := make(chan struct{})
	defer close(over)
	if e.TTY != nil {
		resize := func(size runtime.Size) error {
			_, err := ask(ctx, func(ctx context.Context) (client.ExecResizeResult, error) {
				return h.engine.ExecResize(ctx, id, client.ExecResizeOptions{Height: uint(size.Height), Width: uint(size.Width)})
			})
			return err
		}
		go func() {
			// Engines before API 1.42 take no size with the start of a command, and until it has started, none at all.
			for range resizeTries {
				if e.TTY.Size == (runtime.Size{}) || resize(e.TTY.Size) == nil || compute.Pause(ctx, h.config.Clock, endPause) != nil {
					break
				}
			}
			e.TTY.Follow(over, func(size runtime.Size) { _ = resize(size) }) // or it goes on with the old one
		}()
	}
	if e.Stdin != nil {
		go func() {
			_, _ = io.Copy(stream.Conn, e.Stdin) // it need not read everything
			if e.TTY == nil {
				_ = stream.CloseWrite()
			}
		}()
	}

	stdout, stderr := e.Outputs()
	if e.TTY != nil {
		_, err := io.Copy(stdout, stream.Reader)
		return err
	}
	_, err := stdcopy.StdCopy(stdout, stderr, stream.Reader)
	return err
}

// How often, and after what pause, the engine is asked again whether a command has ended whose output has, and to give one its terminal's size.
const (
	endTries    = 100
	resizeTries = 50
	endPause    = 20 * time.Millisecond
)

// exitCode gives that of a command whose output has ended.
func (h *Runtime) exitCode(ctx context.Context, id string) (int, error) {
	for range endTries {
		found, err := ask(ctx, func(ctx context.Context) (client.ExecInspectResult, error) {
			return h.engine.ExecInspect(ctx, id, client.ExecInspectOptions{})
		})
		switch {
		case errdefs.IsNotFound(err):
			return 0, runtime.ErrNotUp // the container has ended and is gone
		case err != nil:
			return 0, err
		case !found.Running:
			return found.ExitCode, nil
		}
		if err := compute.Pause(ctx, h.config.Clock, endPause); err != nil {
			return 0, err
		}
	}
	return 0, fmt.Errorf("%w: the engine does not say how the command ended", runtime.ErrUnavailable)
}

// hangUp ends the command with that mark, beside everything else.
func (h *Runtime) hangUp(container, mark string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return
	}
	h.work.Go(func() {
		made, err := ask(h.ctx, func(ctx context.Context) (client.ExecCreateResult, error) {
			return h.engine.ExecCreate(ctx, container, client.ExecCreateOptions{
				User: "0", Cmd: runtime.HangUp(mark),
			})
		})
		if err == nil {
			_, err = ask(h.ctx, func(ctx context.Context) (client.ExecStartResult, error) {
				return h.engine.ExecStart(ctx, made.ID, client.ExecStartOptions{Detach: true})
			})
		}
		if err != nil && h.ctx.Err() == nil {
			h.config.Log.Debug("a command that nobody waits for could not be ended", "error", err)
		}
	})
}
