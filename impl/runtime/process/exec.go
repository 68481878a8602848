package process

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/berthdev/berth/impl/runtime"
)

// Exec runs a command as the user that runs berth, where the allocation's process runs and with its environment, if Config.Rules let it:
// it may do whatever berth may.
func (h *Runtime) Exec(ctx context.Context, id string, e runtime.Exec) (int, error) {
	r, err := h.run(id)
	switch {
	case err != nil:
		return 0, err
	case r.over() || r.isStopping():
		return 0, runtime.ErrNotUp
	case !h.rules.Commands:
		return 0, runtime.ErrNotAccepted
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-r.done:
			cancel(runtime.ErrNotUp)
		case <-ctx.Done():
		}
	}()

	stdout, stderr := e.Outputs()
	cmd := exec.Command(e.Command[0], e.Command[1:]...)
	cmd.Dir, cmd.Env = h.workDir, append(append([]string{}, r.env...), e.Env...)
	if e.Dir != "" {
		cmd.Dir = e.Dir
	}
	if !strings.ContainsRune(e.Command[0], filepath.Separator) {
		if cmd.Path, err = lookPath(e.Command[0], cmd.Env); err != nil {
			return notRun(stderr, e.Command[0], err), nil
		}
		cmd.Err = nil
	}

	c := &command{Cmd: cmd}
	if err := c.open(e); err != nil {
		return 0, fmt.Errorf("process: %w", err)
	}
	if err := c.start(ctx); err != nil {
		c.close()
		return notRun(stderr, e.Command[0], err), nil
	}
	return c.finish(ctx, e, stdout, stderr)
}

// lookPath finds a program in the PATH of an environment, in which the last of equal names wins.
func lookPath(name string, env []string) (string, error) {
	path := ""
	for _, v := range env {
		if value, is := strings.CutPrefix(v, "PATH="); is {
			path = value
		}
	}
	for _, dir := range filepath.SplitList(path) {
		found := filepath.Join(dir, name)
		if info, err := os.Stat(found); filepath.IsAbs(found) && err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return found, nil
		}
	}
	return "", exec.ErrNotFound
}

// notRun says that a command could not be started, and gives its exit code.
func notRun(stderr io.Writer, name string, err error) int {
	_, _ = fmt.Fprintf(stderr, "berth: %s: %v\n", name, err) // nobody may read it
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, fs.ErrNotExist) {
		return runtime.ExitNotFound
	}
	return runtime.ExitNotRun
}

// command is a command on its way, with the ends of its streams.
type command struct {
	*exec.Cmd
	stdin, stdout, stderr *os.File // ours; with a terminal all but stderr are the same, and that is nil
	theirs                []*os.File

	ended chan struct{} // closed once state is there
	state *os.ProcessState

	mu     sync.Mutex
	reaped bool
}

// open makes the streams.
func (c *command) open(e runtime.Exec) (err error) {
	c.SysProcAttr = attributes()
	if e.TTY != nil {
		ours, theirs, err := openTTY(c.SysProcAttr, e.TTY.Size)
		if err != nil {
			return err
		}
		c.stdin, c.stdout, c.theirs = ours, ours, []*os.File{theirs}
		c.Stdin, c.Stdout, c.Stderr = theirs, theirs, theirs
		return nil
	}

	pipe := func() (out, in *os.File) {
		if err == nil {
			out, in, err = os.Pipe()
		}
		return out, in
	}
	var input, output, errors *os.File
	if e.Stdin != nil {
		input, c.stdin = pipe()
		c.Stdin = input
	}
	c.stdout, output = pipe()
	c.stderr, errors = pipe()
	c.Stdout, c.Stderr = output, errors
	for _, one := range []*os.File{input, output, errors} {
		if one != nil {
			c.theirs = append(c.theirs, one)
		}
	}
	if err != nil {
		c.closeTheirs()
		c.close()
	}
	return err
}

// start starts the command, and a goroutine that waits for its end; the two are one for the reason that launch has.
func (c *command) start(ctx context.Context) error {
	started := make(chan error, 1)
	c.ended = make(chan struct{})
	go func() {
		goruntime.LockOSThread()
		defer goruntime.UnlockOSThread()
		err := c.Start()
		c.closeTheirs()
		started <- err
		if err != nil {
			return
		}
		stop := context.AfterFunc(ctx, c.hangUp)
		state, _ := awaitEnd(c.Process, func() {
			c.mu.Lock()
			defer c.mu.Unlock()
			c.reaped = true
		})
		stop()
		c.state = state
		close(c.ended)
	}()
	return <-started
}

// hangUp ends the command: nobody waits for it any more.
func (c *command) hangUp() {
	signal := func(s syscall.Signal) {
		c.mu.Lock()
		defer c.mu.Unlock()
		if !c.reaped {
			_ = signalGroup(c.Process.Pid, s) // it fails if they have ended: good
		}
	}
	signal(syscall.SIGHUP)
	timer := time.AfterFunc(runtime.HangUpTime, func() { signal(syscall.SIGKILL) })
	<-c.ended
	timer.Stop()
}

// finish carries what is said until the command has ended.
func (c *command) finish(ctx context.Context, e runtime.Exec, stdout, stderr io.Writer) (int, error) {
	defer c.close()
	if c.stdin != nil && e.Stdin != nil {
		go func() {
			_, _ = io.Copy(c.stdin, e.Stdin) // it need not read everything
			if e.TTY == nil {
				_ = c.stdin.Close()
			}
		}()
	}
	if e.TTY != nil {
		go e.TTY.Follow(c.ended, func(size runtime.Size) { _ = resize(c.stdout, size) })
	}

	var copied sync.WaitGroup
	copied.Go(func() { c.carry(stdout, c.stdout) })
	if c.stderr != nil {
		copied.Go(func() { c.carry(stderr, c.stderr) })
	}
	<-c.ended
	for _, one := range []*os.File{c.stdout, c.stderr} {
		if one != nil {
			_ = one.SetReadDeadline(time.Now().Add(drainTime))
		}
	}
	copied.Wait()
	if ctx.Err() != nil {
		return 0, context.Cause(ctx)
	}
	return exitCode(c.state), nil
}

// carry copies one stream. Who writes to what nobody takes is ended by that, as it would be by a closed pipe.
func (c *command) carry(to io.Writer, from *os.File) {
	if _, err := io.Copy(to, &rest{from: from}); err != nil && from != c.stdin {
		_ = from.Close()
	}
}

const (
	mostRest = 1 << 20                // bytes of what is in a pipe at its end
	restTime = 250 * time.Millisecond // what is there is read at once, by who has a processor
)

// rest reads also what is there already at the deadline, which is for who holds the pipe open still: who takes it may be slow. It is all read at
// once then, before who takes it has any, so that who writes on does not make it longer.
type rest struct {
	from  *os.File
	there bytes.Buffer // at the deadline
	over  error        // why there is no more than that
}

func (r *rest) Read(p []byte) (int, error) {
	if r.over == nil {
		n, err := r.from.Read(p)
		if n > 0 || !errors.Is(err, os.ErrDeadlineExceeded) {
			return n, err
		}
		r.over = err
		_ = r.from.SetReadDeadline(time.Now().Add(restTime))
		_, _ = io.CopyN(&r.there, r.from, mostRest) // to the end, to that deadline, or to what is too much
	}
	if r.there.Len() == 0 {
		return 0, r.over
	}
	return r.there.Read(p)
}

func (c *command) closeTheirs() {
	for _, one := range c.theirs {
		_ = one.Close()
	}
}

// close closes what is ours; what is closed already does not mind.
func (c *command) close() {
	for _, one := range []*os.File{c.stdin, c.stdout, c.stderr} {
		if one != nil {
			_ = one.Close()
		}
	}
}

// exitCode gives that of a process; 128 and the signal's number if one ended it.
func exitCode(state *os.ProcessState) int {
	if state == nil {
		return -1
	}
	if status, ok := state.Sys().(syscall.WaitStatus); ok && status.Signaled() {
		return 128 + int(status.Signal())
	}
	return state.ExitCode()
}
