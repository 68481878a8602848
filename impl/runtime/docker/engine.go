package docker

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/client"

	"github.com/berthdev/berth/impl/runtime"
)

const (
	lookTick  = 5 * time.Second // between two looks at the engine of a host
	lookTime  = 5 * time.Second // in which it must answer
	queryTime = 5 * time.Minute // in which it must be found out which GPUs the host has, with pulling the image for that
	mostQuery = 1 << 20         // bytes that are read of what that said
)

// engine is the engine of one host, and how it is.
type engine struct {
	*Runtime
	runtime.Engine
	fleet   *Fleet
	leaving atomic.Bool // its host is not in the fleet any more
	gone    atomic.Bool // it was let go
	answers atomic.Bool

	mu       sync.Mutex
	reached  bool                     // it answered the last ping: it is not lost, whatever else is not known of its host
	since    time.Time                // when it began or ceased to answer
	times    int                      // it began to
	looked   bool                     // at least once
	reason   string                   // what is the matter with it though it was reached; why it was not is for the log, as it names addresses
	has      runtime.Machine          // what the host has
	asked    bool                     // and that was found out
	seen     map[string]runtime.State // of allocations, when they were looked at last
	answer   context.Context          // ends when the engine ceases to answer
	unanswer context.CancelCauseFunc
}

// watch looks at the engine until the fleet is closed or the host is let go.
func (e *engine) watch() {
	defer e.cease(errClosed)
	for e.fleet.ctx.Err() == nil && !e.gone.Load() {
		e.look()
		if e.leaving.Load() && e.isLeft() {
			e.fleet.mu.Lock()
			if e.leaving.Load() {
				e.fleet.let(e)
				e.fleet.mu.Unlock()
				return
			}
			e.fleet.mu.Unlock()
		}

		over, stop := e.config.Clock.After(lookTick)
		select {
		case <-over:
		case <-e.fleet.ctx.Done():
		}
		stop()
	}
}

// look notes whether the engine answers.
func (e *engine) look() {
	ctx, cancel := context.WithTimeout(e.fleet.ctx, lookTime)
	defer cancel()
	err := e.Ping(ctx)
	reached := err == nil
	e.noteReached(reached)
	if reached && e.Ask && !e.leaving.Load() && !e.wasAsked() {
		err = e.find()
	}
	if e.fleet.ctx.Err() != nil {
		return
	}

	e.mu.Lock()
	defer e.mu.Unlock()
	first := !e.looked
	e.looked = true
	switch was := e.answers.Load(); {
	case err == nil && !was:
		e.since, e.reason = e.config.Clock.Now(), ""
		e.times++
		e.answer, e.unanswer = context.WithCancelCause(e.fleet.ctx)
		e.answers.Store(true)
		e.config.Log.Info("the engine of the host answers", "address", e.Address)
	case err != nil:
		if was {
			e.since = e.config.Clock.Now()
			e.cancelCalls(fmt.Errorf("host %s: its engine does not", e.HostID))
			e.listenAnew()
		}
		if was || first {
			e.config.Log.Warn("the engine of the host does not answer", "address", e.Address, "error", whole(err))
		}
		e.reason = ""
		if reached {
			e.reason = ": " + err.Error()
		}
	}
}

// noteReached notes whether the last ping was answered.
func (e *engine) noteReached(is bool) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.reached && !is && !e.answers.Load() {
		e.since = e.config.Clock.Now() // only now it does not answer
	}
	e.reached = is
}

// cease has the engine answer no more.
func (e *engine) cease(why error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.cancelCalls(why)
}

// cancelCalls ends the calls that are under way. The caller has the lock.
func (e *engine) cancelCalls(why error) {
	e.answers.Store(false)
	if e.unanswer != nil {
		e.unanswer(fmt.Errorf("%w: %w", runtime.ErrUnavailable, why))
	}
}

// isLeft reports whether there is nothing on a host that is not in the fleet any more, or nobody can say.
func (e *engine) isLeft() bool {
	if !e.answers.Load() {
		return e.now().Lost
	}
	ids, err := with(e.fleet.ctx, e, e.List)
	return err == nil && len(ids) == 0
}

// now gives how the engine is.
func (e *engine) now() runtime.EngineState {
	if e.fleet == nil { // that of the settings
		return runtime.EngineState{Answers: true}
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	s := runtime.EngineState{Asked: e.looked, Answers: e.answers.Load(), Times: e.times, Has: e.has}
	if s.Answers {
		return s
	}
	away := e.config.Clock.Now().Sub(e.since)
	s.Lost = !e.reached && away >= e.fleet.config.LostAfter
	s.Reason = fmt.Sprintf("its engine has not answered for %s%s", away.Round(time.Second), e.reason)
	return s
}

// remember notes how an allocation was, for when the host is lost.
func (e *engine) remember(id string, s runtime.State) {
	if e.fleet == nil {
		return
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.seen == nil {
		e.seen = map[string]runtime.State{}
	}
	e.seen[id] = runtime.State{Generation: s.Generation, StartedAt: s.StartedAt}
}

// lost is how an allocation is whose host is lost.
func (e *engine) lost(id, why string) runtime.State {
	e.mu.Lock()
	defer e.mu.Unlock()
	s := e.seen[id]
	s.Phase, s.ExitCode, s.Reason, s.Lost = runtime.Ended, -1, lostReason(e.HostID, why), true
	return s
}

func lostReason(hostID, why string) string {
	return fmt.Sprintf("its host %s is lost: %s", hostID, why)
}

// forget forgets how an allocation was.
func (e *engine) forget(id string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	delete(e.seen, id)
}

// do is with for what gives nothing.
func (e *engine) do(ctx context.Context, call func(context.Context) error) error {
	_, err := with(ctx, e, func(ctx context.Context) (struct{}, error) { return struct{}{}, call(ctx) })
	return err
}

// with calls the engine. It gives ErrUnavailable at once if the engine does not answer, or ceases to meanwhile.
func with[T any](ctx context.Context, e *engine, call func(context.Context) (T, error)) (answer T, err error) {
	if e.fleet == nil {
		return call(ctx)
	}
	e.mu.Lock()
	session, answers := e.answer, e.answers.Load()
	e.mu.Unlock()
	if !answers {
		return answer, fmt.Errorf("%w: host %s: %s", runtime.ErrUnavailable, e.HostID, e.now().Reason)
	}

	within, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(session, cancel)()
	answer, err = call(within)
	switch _, unheard := errors.AsType[*unreached](err); {
	case err != nil && ctx.Err() == nil && session.Err() != nil:
		err = context.Cause(session)
	case unheard:
		err = fmt.Errorf("host %s: %w", e.HostID, err)
	}
	return answer, err
}

func (e *engine) wasAsked() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.asked
}

// find finds out what the host has.
func (e *engine) find() error {
	ctx, cancel := context.WithTimeout(e.fleet.ctx, queryTime)
	defer cancel()
	info, err := e.info(ctx)
	if err != nil {
		return err
	}

	has := runtime.Machine{VCPUs: int64(info.NCPU), MemoryGB: info.MemTotal >> 30}
	if _, gives := info.Runtimes[nvidia]; gives {
		list, err := e.query(ctx, runtime.GPUListCommand)
		if err != nil {
			return e.noGPUs(err)
		}
		summary, err := e.query(ctx, runtime.GPUSummaryCommand)
		if err != nil {
			return e.noGPUs(err)
		}
		has.GPUs, has.CUDA = runtime.ParseGPUs(list, summary)
	}

	e.mu.Lock()
	defer e.mu.Unlock()
	e.has, e.asked = has, true
	return nil
}

// noGPUs says why it is not known which GPUs the host has.
func (e *engine) noGPUs(err error) error {
	return fmt.Errorf("its GPUs, as %s in the image of --%s gives them: %w", runtime.GPUSummaryCommand[0], querySetting, err)
}

// query runs a command in a container that sees all GPUs of the host, and gives what it wrote.
func (e *engine) query(ctx context.Context, command []string) (string, error) {
	a := runtime.Allocation{ID: "gpu-query", Image: e.fleet.config.QueryImage}
	if err := e.pull(ctx, a); err != nil {
		return "", err
	}
	if err := e.discard(ctx, a.ID); err != nil {
		return "", err
	}

	made := client.ContainerCreateOptions{
		Name: e.name(a.ID),
		Config: &container.Config{
			Image: a.Image, Entrypoint: command[:1], Cmd: command[1:], Labels: map[string]string{labelOwner: e.config.Owner, labelAllocation: a.ID},
		},
		HostConfig: &container.HostConfig{
			SecurityOpt: []string{"no-new-privileges"}, NetworkMode: "none",
			Resources: container.Resources{DeviceRequests: []container.DeviceRequest{{Count: -1, Capabilities: [][]string{{"gpu", "utility"}}}}},
		},
	}
	if _, err := e.engine.ContainerCreate(ctx, made); err != nil {
		return "", fault(err)
	}
	defer func() { _ = e.discard(context.WithoutCancel(ctx), a.ID) }()
	if _, err := e.engine.ContainerStart(ctx, made.Name, client.ContainerStartOptions{}); err != nil {
		return "", fault(err)
	}

	wait := e.engine.ContainerWait(ctx, made.Name, client.ContainerWaitOptions{Condition: container.WaitConditionNotRunning})
	select {
	case err := <-wait.Error:
		return "", fault(err)
	case end := <-wait.Result:
		if end.StatusCode != 0 {
			return "", fmt.Errorf("%s ended with exit code %d in image %q", command[0], end.StatusCode, a.Image)
		}
	}

	var out bytes.Buffer
	err := e.Logs(ctx, a.ID, runtime.LogQuery{}, func(line runtime.Line) error {
		if out.Len() > mostQuery {
			return errors.New("it wrote too much")
		}
		if line.Stream == runtime.Stdout {
			fmt.Fprintln(&out, line.Text)
		}
		return nil
	})
	return out.String(), err
}
