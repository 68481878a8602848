package loop_test

import (
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/store"
)

// host is a simulated fleet that can be away, counts what it is asked to do, and holds up the stop of one allocation.
type host struct {
	*sim.Fleet
	away   atomic.Bool
	starts atomic.Int64
	slow   compute.PodID
	stops  chan struct{} // receives when that one is being stopped or removed
	goOn   chan struct{} // which goes on when this is closed
	state  func(runtime.State) runtime.State
	asked  atomic.Int64 // Inspect and Stats
	stats  func() (runtime.Stats, error)
	last   atomic.Pointer[runtime.Allocation] // that was started
}

func (h *host) fails() error {
	if h.away.Load() {
		return runtime.ErrUnavailable
	}
	return nil
}

func (h *host) Start(ctx context.Context, a runtime.Allocation) error {
	h.starts.Add(1)
	h.last.Store(&a)
	if err := h.fails(); err != nil {
		return err
	}
	return h.Fleet.Start(ctx, a)
}

func (h *host) Stop(ctx context.Context, id string, grace time.Duration) error {
	if err := h.hesitate(ctx, id); err != nil {
		return err
	}
	return errors.Join(h.fails(), h.Fleet.Stop(ctx, id, grace))
}

// hesitate holds up the end of the slow one.
func (h *host) hesitate(ctx context.Context, id string) error {
	if compute.PodID(id) != h.slow {
		return nil
	}
	select {
	case h.stops <- struct{}{}:
	default:
	}
	select {
	case <-h.goOn:
		return h.fails()
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (h *host) Remove(ctx context.Context, id string) error {
	if err := h.hesitate(ctx, id); err != nil {
		return err
	}
	return errors.Join(h.fails(), h.Fleet.Remove(ctx, id))
}

func (h *host) Stats(ctx context.Context, id string) (runtime.Stats, error) {
	h.asked.Add(1)
	if h.stats != nil {
		return h.stats()
	}
	return h.Fleet.Stats(ctx, id)
}

func (h *host) Inspect(ctx context.Context, id string) (runtime.State, error) {
	h.asked.Add(1)
	if err := h.fails(); err != nil {
		return runtime.State{}, err
	}
	s, err := h.Fleet.Inspect(ctx, id)
	if h.state != nil {
		s = h.state(s)
	}
	return s, err
}

func (h *host) Logs(ctx context.Context, id string, q runtime.LogQuery, emit func(runtime.Line) error) error {
	if err := h.fails(); err != nil {
		return err
	}
	return h.Fleet.Logs(ctx, id, q, emit)
}

func (h *host) List(ctx context.Context) ([]string, error) {
	if err := h.fails(); err != nil {
		return nil, err
	}
	return h.Fleet.List(ctx)
}

// yard is a pods loop and what it works with.
type yard struct {
	*testing.T
	store store.Store
	clock *compute.SettableClock
	host  *host
	pods  *loop.Pods
	ctl   *control.Control
	fleet []control.Host // nil: the simulated one

	simulated bool // what pods run on is taken for one that simulates
	login     func(context.Context, compute.RegistryID) (compute.Login, error)
}

// packed places as the runtimes do that have no scheduler of their own.
var packed = control.PlacementOptions{Place: runtime.Pack}

type tx = store.Tx

func newYard(t *testing.T) *yard {
	db, clock := openStore(t)
	y := &yard{T: t, store: db, clock: clock, host: &host{Fleet: sim.New(clock)}}
	y.restart()
	return y
}

// restart puts a new loop in place of the old one, as a restart of berth does.
func (y *yard) restart() {
	catalog, err := control.BuiltInCatalog()
	require.NoError(y, err)
	if y.fleet == nil {
		y.fleet = control.SimulatedFleet(catalog)
	}
	placement, err := control.NewPlacement(y.Context(), y.store, catalog, y.fleet, packed)
	require.NoError(y, err)
	y.pods = loop.NewPods(loop.PodFleet{
		Store: y.store, Placement: placement, Runtime: y.host, Clock: y.clock, Log: slog.New(slog.DiscardHandler), Simulated: y.simulated,
		Key: compute.NewPodKeys([]byte("secret")).Token, URL: func() string { return "http://outer" }, Login: y.login,
	})
	y.ctl = control.New(y.store, compute.NewIDs(rand.Reader, y.clock), placement, control.Runtime{Can: compute.AllCapabilities}, control.Hints{Pod: y.pods.Hint, Volume: y.pods.HintVolume})
}

func (y *yard) create(env map[string]string) compute.PodID {
	p, err := y.ctl.CreatePod(y.Context(), "u", control.NewPod{
		Name: "a", Image: "i", Env: env, Ports: []string{"8888/http"}, CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2},
	})
	require.NoError(y, err)
	return p.ID
}

func (y *yard) pod(id compute.PodID) compute.Pod {
	p, err := y.ctl.GetPod(y.Context(), "u", id)
	require.NoError(y, err)
	return p
}

func (y *yard) act(id compute.PodID, action compute.PodEvent) {
	_, err := y.ctl.ActOnPod(y.Context(), "u", id, action)
	require.NoError(y, err)
}

// step lets the time pass, then the loop work.
func (y *yard) step(d time.Duration) {
	y.clock.Advance(d)
	y.pods.Step(y.Context())
}

// running creates a pod that is RUNNING.
func (y *yard) running(env map[string]string) compute.PodID {
	id := y.create(env)
	y.step(0)
	y.step(sim.DefaultBoot)
	require.Equal(y, compute.PodRunning, y.pod(id).Status)
	return id
}

func TestPods_WaitForARuntimeThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.host.away.Store(true)
	id := y.create(nil)
	for range 3 {
		y.step(time.Second)
		require.Equal(t, compute.PodProvisioning, y.pod(id).Status)
	}
	y.host.away.Store(false)
	y.step(time.Second)
	y.step(sim.DefaultBoot)
	require.Equal(t, compute.PodRunning, y.pod(id).Status)
	y.host.away.Store(true)
	y.step(time.Minute)
	require.Equal(t, compute.PodRunning, y.pod(id).Status, "nothing is known of it")
	y.act(id, compute.PodStop)
	y.step(time.Second)
	y.host.away.Store(false)
	y.step(time.Second)
	state, err := y.host.Inspect(t.Context(), string(id))
	require.NoError(t, err)
	require.Equal(t, runtime.Ended, state.Phase, "it is stopped when the runtime is back")
}

func TestPods_TakeUpAgainWhatIsUp(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.running(nil)
	before, starts := y.pod(id), y.host.starts.Load()
	y.clock.Advance(time.Hour)
	y.restart()
	y.host.away.Store(true)
	y.step(0)
	y.host.away.Store(false)
	y.step(time.Second)
	y.step(time.Second)
	require.Equal(t, before, y.pod(id))
	require.Equal(t, starts, y.host.starts.Load(), "it is not started again")
}

func TestPods_StartAgainWhatEndedWithTheRuntime(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	running, starting := y.running(nil), y.create(nil)
	y.step(0)
	require.Equal(t, compute.PodStarting, y.pod(starting).Status)
	y.host.Fleet = sim.New(y.clock)
	y.restart()
	y.step(0)
	require.Equal(t, compute.PodRunning, y.pod(running).Status)
	y.step(sim.DefaultBoot)
	require.Equal(t, compute.PodRunning, y.pod(starting).Status)
}

func TestPods_StartedAtFollowsTheContainer(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.running(nil)
	later := y.clock.Now().Add(time.Minute)
	y.host.state = func(s runtime.State) runtime.State {
		s.StartedAt = later
		return s
	}
	y.step(0)
	require.True(t, later.Equal(y.pod(id).StartedAt))
	require.Equal(t, compute.PodRunning, y.pod(id).Status)
}

func TestPods_RemoveLeftoversAndStopWhatIsStopped(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	stopped, terminated := y.running(nil), y.running(nil)
	require.NoError(t, y.host.Fleet.Start(t.Context(), runtime.Allocation{ID: "nobody"}))
	y.act(stopped, compute.PodStop)
	y.act(terminated, compute.PodTerminate)
	y.restart() // before the loop did anything about it
	y.step(0)
	ids, err := y.host.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{string(stopped)}, ids)
	state, err := y.host.Inspect(t.Context(), string(stopped))
	require.NoError(t, err)
	require.Equal(t, runtime.Ended, state.Phase)
}

func TestPods_EndOfAnEarlierRunDoesNotCount(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.running(map[string]string{"BERTH_SIM_EXIT_AFTER": "1h"})
	y.clock.Advance(time.Hour) // it has ended, and nobody has looked
	y.act(id, compute.PodRestart)
	y.step(0)
	y.step(sim.DefaultBoot)
	require.Equal(t, compute.PodRunning, y.pod(id).Status)
	state, err := y.host.Inspect(t.Context(), string(id))
	require.NoError(t, err)
	require.Equal(t, y.pod(id).RestartAt.UnixMilli(), state.Generation)
}

func TestPods_ReasonSaysHowAContainerEnded(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.running(map[string]string{"BERTH_SIM_EXIT_AFTER": "1m", "BERTH_SIM_EXIT_CODE": "137"})
	y.host.state = func(s runtime.State) runtime.State {
		s.OOM, s.Reason = true, "it used more memory than it may"
		return s
	}
	y.step(time.Minute)
	p := y.pod(id)
	require.Equal(t, compute.PodError, p.Status)
	require.Equal(t, "its container ended with exit code 137: it used more memory than it may", p.Reason)
}

func TestPods_SlowStopHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	slow := y.running(nil)
	y.host.slow, y.host.stops, y.host.goOn = slow, make(chan struct{}, 1), make(chan struct{})
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { y.pods.Run(ctx) })
	y.act(slow, compute.PodStop)
	<-y.host.stops
	other := y.create(nil)
	require.Eventually(t, func() bool { return y.pod(other).Status == compute.PodStarting }, 10*time.Second, time.Millisecond)
	close(y.host.goOn)
	cancel()
	run.Wait()
}

func TestPods_Run_SeesToEndsBeforeItLeaves(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		stopped, terminated, slow, stays := y.running(nil), y.running(nil), y.running(nil), y.running(nil)
		y.host.slow, y.host.stops, y.host.goOn = slow, make(chan struct{}, 1), make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			defer close(left)
			y.pods.Run(ctx)
		}()
		y.act(slow, compute.PodTerminate)
		<-y.host.stops
		cancel() // and then there are ends that nobody has looked at
		y.act(stopped, compute.PodStop)
		y.act(terminated, compute.PodTerminate)
		synctest.Wait()
		select {
		case <-left:
			require.Fail(t, "a container is being removed")
		default:
		}
		close(y.host.goOn)
		<-left
		ids, err := y.host.List(t.Context())
		require.NoError(t, err)
		require.ElementsMatch(t, []string{string(stopped), string(stays)}, ids)
		state, err := y.host.Inspect(t.Context(), string(stopped))
		require.NoError(t, err)
		require.Equal(t, runtime.Ended, state.Phase)
		state, err = y.host.Inspect(t.Context(), string(stays))
		require.NoError(t, err)
		require.Equal(t, runtime.Up, state.Phase, "it goes on without berth")
	})
}

func TestPods_Run_DoesNotWaitForEverForEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		slow := y.running(nil)
		y.host.slow, y.host.stops, y.host.goOn = slow, make(chan struct{}, 1), make(chan struct{})
		ctx, cancel := context.WithCancel(t.Context())
		left := make(chan struct{})
		go func() {
			defer close(left)
			y.pods.Run(ctx)
		}()
		y.act(slow, compute.PodTerminate)
		<-y.host.stops
		cancel()
		begin := time.Now()
		<-left
		require.Equal(t, 15*time.Second, time.Since(begin))
		close(y.host.goOn)
		y.restart()
		y.step(0)
		ids, err := y.host.List(t.Context())
		require.NoError(t, err)
		require.Empty(t, ids, "the next one takes it up")
	})
}

func TestPods_Run_RemovesWhatNobodyKnows(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.running(nil)
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { y.pods.Run(ctx) })
	defer func() {
		cancel()
		run.Wait()
	}()
	// As if the engine had made it late, for a call of a berth that was killed.
	require.NoError(t, y.host.Fleet.Start(t.Context(), runtime.Allocation{ID: "nobody"}))
	require.Eventually(t, func() bool {
		y.clock.Advance(10 * time.Second)
		ids, err := y.host.List(t.Context())
		require.NoError(t, err)
		return len(ids) == 1 && ids[0] == string(id)
	}, 10*time.Second, time.Millisecond)
}

func TestPods_Hint_DuringALookIsTakenUpAfter(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.running(nil)
	looking, goOn := make(chan struct{}), make(chan struct{})
	var once sync.Once
	y.host.state = func(s runtime.State) runtime.State {
		once.Do(func() { close(looking); <-goOn })
		return s
	}
	ctx, cancel := context.WithCancel(t.Context())
	var run sync.WaitGroup
	run.Go(func() { y.pods.Run(ctx) })
	y.clock.Advance(2 * time.Second)
	<-looking
	y.act(id, compute.PodStop)
	other := y.create(nil)
	require.Eventually(t, func() bool { return y.pod(other).Status == compute.PodStarting }, 10*time.Second, time.Millisecond)
	close(goOn)
	require.Eventually(t, func() bool {
		s, err := y.host.Fleet.Inspect(t.Context(), string(id))
		return errors.Is(err, runtime.ErrUnknown) || s.Phase == runtime.Ended
	}, 10*time.Second, time.Millisecond)
	cancel()
	run.Wait()
}

// counted is a store that counts its transactions.
type counted struct {
	store.Store
	reads, writes atomic.Int64
}

func (c *counted) Read(ctx context.Context, f func(store.Tx) error) error {
	c.reads.Add(1)
	return c.Store.Read(ctx, f)
}

func (c *counted) Write(ctx context.Context, f func(store.Tx) error) error {
	c.writes.Add(1)
	return c.Store.Write(ctx, f)
}

func TestPods_SimulatedOnesMoveTogether(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	all := &counted{Store: y.store}
	y.store, y.simulated = all, true
	y.restart()
	var ids []compute.PodID
	for range 40 {
		ids = append(ids, y.create(nil))
	}
	y.act(ids[0], compute.PodStop)
	require.NoError(t, y.ctl.DeletePod(t.Context(), "u", ids[1]))
	y.step(0) // takes up, which reads, too
	all.reads.Store(0)
	all.writes.Store(0)
	y.step(sim.DefaultBoot)
	require.Zero(t, all.reads.Load(), "they came up, as was to be expected")
	require.EqualValues(t, 2, all.writes.Load(), "32 at once")
	require.Equal(t, compute.PodExited, y.pod(ids[0]).Status)
	for _, id := range ids[2:] {
		require.Equal(t, compute.PodRunning, y.pod(id).Status)
	}
}

func TestPods_MovedMeanwhileAreLookedAtAnew(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.simulated = true
	y.restart()
	id, other := y.create(nil), y.create(nil)
	y.step(0)
	y.clock.Advance(sim.DefaultBoot)
	var once sync.Once
	y.host.state = func(s runtime.State) runtime.State {
		once.Do(func() { y.act(id, compute.PodStop) }) // between the look and its move
		return s
	}
	y.pods.Step(t.Context())
	y.step(0)
	require.Equal(t, compute.PodExited, y.pod(id).Status)
	require.Equal(t, compute.PodRunning, y.pod(other).Status)
	s, err := y.host.Fleet.Inspect(t.Context(), string(id))
	require.NoError(t, err)
	require.Equal(t, runtime.Ended, s.Phase)
}
