package process

import (
	"context"
	"os/exec"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// drainTime is how long output may still come after the group was killed: a process that left the group can hold the
// pipe open for ever.
const drainTime = time.Second

// run is one run of an allocation: a process group.
type run struct {
	id         string
	generation int64
	ports      []compute.PublishedPort
	env        []string
	log        *book // shared by all runs of the allocation
	startedAt  time.Time
	done       chan struct{} // closed once the process has ended and its output is in the log

	mu       sync.Mutex
	pid      int  // the first process's, and so the group's
	stopping bool // Stop, Remove or Close asked for the end
	reaped   bool // the pid may belong to somebody else
	exitCode int
}

func newRun(a runtime.Allocation, last *run) *run {
	r := &run{id: a.ID, generation: a.Generation, ports: published(a.Ports), done: make(chan struct{})}
	if last != nil {
		r.log = last.log
	} else {
		r.log = newBook()
	}
	return r
}

// address is where what listens on the machine's ports is reached for certain.
const address = "127.0.0.1"

// published gives where the ports are: a process listens on the ports of the machine itself.
func published(ports []string) (all []compute.PublishedPort) {
	for _, p := range ports {
		number, kind, _ := strings.Cut(p, "/")
		private, _ := strconv.Atoi(number)
		all = append(all, compute.PublishedPort{Private: private, Public: private, Type: kind, IP: address})
	}
	return all
}

// launch starts the process and a goroutine that waits for its end.
//
// The two are one goroutine locked to its thread because of the signal that Linux sends to the child when its parent
// dies: "parent" is the thread that forked, not the process, and Go ends threads as it likes. A locked goroutine keeps its
// thread for as long as the child runs.
func (h *Runtime) launch(r *run, argv, env []string) error {
	started := make(chan error, 1)
	go func() {
		goruntime.LockOSThread()
		defer goruntime.UnlockOSThread()
		cmd := exec.Command(argv[0], argv[1:]...)
		cmd.Dir, cmd.Env, cmd.SysProcAttr = h.workDir, env, attributes()
		pipes, err := newPipes() // our own, since Cmd.Wait would wait for all who hold them open
		if err != nil {
			started <- err
			return
		}

		cmd.Stdout, cmd.Stderr = pipes[0].in, pipes[1].in
		err = cmd.Start()
		pipes.closeIn()
		if err != nil {
			pipes.closeOut()
			started <- err
			return
		}

		r.pid, r.startedAt = cmd.Process.Pid, time.Now().UTC()
		started <- nil // before it no other goroutine has r

		var copied sync.WaitGroup
		for _, p := range pipes {
			copied.Go(func() { h.copy(r, p.stream, p.out) })
		}
		state, err := awaitEnd(cmd.Process, r.signalLast)
		code := -1
		if err == nil {
			code = state.ExitCode()
		}
		killStrays(h.owner, r.id)
		for _, p := range pipes {
			_ = p.out.SetReadDeadline(time.Now().Add(drainTime))
		}
		copied.Wait()
		pipes.closeOut()

		r.mu.Lock()
		r.exitCode = code
		unasked := !r.stopping
		close(r.done)
		r.mu.Unlock()
		if unasked {
			h.ends.Add(r.id)
		}
	}()

	return <-started
}

// signalLast kills what is left of the group; after it nobody signals the group any more.
func (r *run) signalLast() {
	r.mu.Lock()
	defer r.mu.Unlock()
	_ = signalGroup(r.pid, syscall.SIGKILL)
	r.reaped = true
}

// ask asks for the end: with SIGTERM or SIGKILL.
func (r *run) ask(s syscall.Signal) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopping = true
	if !r.reaped {
		_ = signalGroup(r.pid, s) // it fails if they have ended: good
	}
}

func (r *run) kill() { r.ask(syscall.SIGKILL) }

// stop asks for the end and makes sure of it after grace, whoever waits for it.
func (r *run) stop(grace time.Duration) {
	if r.over() {
		return
	}
	r.ask(syscall.SIGTERM)
	timer := time.AfterFunc(grace, r.kill)
	go func() {
		<-r.done
		timer.Stop()
	}()
}

// wait returns once the process has ended.
func (r *run) wait(ctx context.Context) error {
	select {
	case <-r.done:
		return nil
	default:
	}
	select {
	case <-r.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (r *run) over() bool {
	select {
	case <-r.done:
		return true
	default:
		return false
	}
}

func (r *run) isStopping() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.stopping
}

func (r *run) state() runtime.State {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.over() {
		return runtime.State{Phase: runtime.Up, Generation: r.generation, StartedAt: r.startedAt, Ports: r.ports}
	}
	return runtime.State{Phase: runtime.Ended, Generation: r.generation, StartedAt: r.startedAt, ExitCode: r.exitCode}
}
