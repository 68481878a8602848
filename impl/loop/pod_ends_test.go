package loop_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
)

func TestPods_SayWhatEndedThem(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	finishes := y.running(map[string]string{sim.EnvExitAfter: "1m"})
	fails := y.running(map[string]string{sim.EnvExitAfter: "1m", sim.EnvExitCode: "3"})
	refused := y.create(map[string]string{sim.EnvStartError: "no such image"})
	y.step(0)
	y.step(time.Minute)

	for _, c := range []struct {
		id     compute.PodID
		status compute.PodStatus
		by     compute.PodEnd
		reason string
	}{
		{finishes, compute.PodExited, compute.EndedByItself, ""},
		{fails, compute.PodError, compute.EndedByFailure, "its container ended with exit code 3"},
		{refused, compute.PodError, compute.EndedByFailure, "no such image"},
	} {
		p := y.pod(c.id)
		require.Equal(t, c.status, p.Status)
		require.Equal(t, c.by, p.EndedBy, p.Status)
		require.Equal(t, c.reason, p.Reason)
	}
}

func TestPods_WhoseContainerNeverComesUp(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.host.state = func(s runtime.State) runtime.State {
		return runtime.State{Phase: runtime.Ended, ExitCode: -1, Generation: s.Generation}
	}
	id := y.create(nil)
	y.step(0)
	y.step(time.Second)
	require.Equal(t, compute.PodError, y.pod(id).Status)
	require.Equal(t, "its container did not come up", y.pod(id).Reason)
}

func TestPods_OfAHostThatCannotBeReachedEndByIt(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.fleet = []control.Host{{
		ID: "c", DataCenterID: "EU-RO-1", Cloud: compute.Secure, CPUs: []string{"cpu3g"}, VCPUs: 8, MemoryGB: 64, DiskGB: 500, Engine: "tcp://c:2376",
	}}
	y.restart()
	y.pods.Placement.SetEngine("c", control.HostEngine{Answers: true})
	away, vanished := y.running(nil), y.running(nil)
	require.NoError(t, y.host.Remove(t.Context(), string(vanished)))
	y.step(2 * time.Second)
	require.Equal(t, "its container is gone", y.pod(vanished).Reason)
	require.Equal(t, compute.EndedByFailure, y.pod(vanished).EndedBy)

	y.pods.Placement.SetEngine("c", control.HostEngine{Reason: "no route to host"})
	require.NoError(t, y.host.Remove(t.Context(), string(away)))
	y.step(2 * time.Second)
	p := y.pod(away)
	require.Equal(t, compute.PodError, p.Status)
	require.Equal(t, "its host c cannot be reached: no route to host", p.Reason)
	require.Equal(t, compute.EndedByHost, p.EndedBy)
}

// refusing is a host that does not start one of its allocations.
type refusing struct {
	*host
	id string
}

func (r *refusing) Start(ctx context.Context, a runtime.Allocation) error {
	if a.ID == r.id {
		return errors.New("the image is gone")
	}
	return r.host.Start(ctx, a)
}

func TestPods_OneThatCannotBeTakenUpAgainHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	lost, other := y.running(nil), y.running(nil)
	y.host.Fleet = sim.New(y.clock)
	y.restart()
	y.pods.Runtime = &refusing{host: y.host, id: string(lost)}
	y.step(0)
	require.Equal(t, compute.PodError, y.pod(lost).Status)
	require.Equal(t, "its container is gone", y.pod(lost).Reason)
	require.Equal(t, compute.PodRunning, y.pod(other).Status)
	state, err := y.host.Inspect(t.Context(), string(other))
	require.NoError(t, err)
	require.Equal(t, runtime.Up, state.Phase)
}

func TestPods_OneThatCannotBeStartedAgainFails(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.running(nil)
	r := &refusing{host: y.host}
	y.pods.Runtime = r
	r.id = string(id)
	y.act(id, compute.PodRestart)
	y.step(0)
	require.Equal(t, compute.PodError, y.pod(id).Status)
	require.Equal(t, "the image is gone", y.pod(id).Reason)
	require.Zero(t, y.pods.Live(id))
}

// graced is a host that notes how long each allocation got to end by itself.
type graced struct {
	*host
	mu     sync.Mutex
	graces map[string]time.Duration
}

func (g *graced) Stop(ctx context.Context, id string, grace time.Duration) error {
	g.mu.Lock()
	g.graces[id] = grace
	g.mu.Unlock()
	return g.host.Stop(ctx, id, grace)
}

func TestPods_InterruptedOnesGetLessTimeToEnd(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	stopped, interrupted, restarted := y.running(nil), y.running(nil), y.running(nil)
	g := &graced{host: y.host, graces: map[string]time.Duration{}}
	y.pods.Runtime = g
	y.act(stopped, compute.PodStop)
	y.act(restarted, compute.PodRestart)
	p := y.pod(interrupted)
	p.Status, p.InterruptedAt = compute.PodExited, y.clock.Now()
	require.NoError(t, y.store.Write(t.Context(), func(tx tx) error {
		_, err := tx.MovePod(p)
		return err
	}))
	y.pods.Hint(interrupted)
	y.step(0)
	require.Equal(t, map[string]time.Duration{
		string(stopped): 10 * time.Second, string(restarted): 10 * time.Second, string(interrupted): 5 * time.Second,
	}, g.graces)
}

// sweeping is a host that counts how often it is asked to remove what nobody has.
type sweeping struct {
	*host
	sweeps atomic.Int64
}

func (s *sweeping) Sweep(ctx context.Context) error {
	s.sweeps.Add(1)
	return s.host.Sweep(ctx)
}

// As if the engine had started it late, for a call of a berth that was killed.
func TestPods_Run_StopsAContainerOfAPodThatIsStopped(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.running(nil)
	y.act(id, compute.PodStop)
	y.step(0)
	s := &sweeping{host: y.host}
	y.pods.Runtime = s
	end := y.run()
	defer end()

	require.NoError(t, y.host.Start(t.Context(), runtime.Allocation{ID: string(id)}))
	require.Eventually(t, func() bool {
		y.clock.Advance(10 * time.Second)
		state, err := y.host.Inspect(t.Context(), string(id))
		return err == nil && state.Phase == runtime.Ended && s.sweeps.Load() > 0
	}, 10*time.Second, time.Millisecond)
	require.Equal(t, compute.PodExited, y.pod(id).Status)
}

func TestPods_Measured_GivesThoseThatAreMeasured(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	first, second := y.running(nil), y.running(nil)
	y.host.stats = func() (runtime.Stats, error) { return runtime.Stats{}, runtime.ErrNoStats }
	third := y.running(nil)
	require.NotEmpty(t, y.pods.Live(third).Ports)
	var ids []compute.PodID
	y.pods.Measured(func(id compute.PodID, r compute.PodRuntime) {
		require.NotNil(t, r.CPUPercent)
		ids = append(ids, id)
	})
	want := []compute.PodID{first, second}
	slices.Sort(want)
	require.Equal(t, want, ids)
}

func TestPods_SecretsAreOpenedForEachRun(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	var failure error
	y.pods.Secrets = func(context.Context, compute.UserID, map[string]string) (map[string]string, []string, error) {
		return map[string]string{"A": "opened"}, []string{"b", "a"}, failure
	}
	unknown := func(id compute.PodID) (n int) {
		for _, line := range y.lines(id) {
			if strings.Contains(line, "there is no secret of this name") {
				require.True(t, strings.HasSuffix(line, ": a, b"), line)
				n++
			}
		}
		return n
	}

	y.host.away.Store(true)
	id := y.create(map[string]string{"A": "1"})
	for range 3 {
		y.step(time.Minute)
	}
	require.Zero(t, unknown(id), "it was not started yet")
	y.host.away.Store(false)
	y.step(time.Minute)
	y.step(sim.DefaultBoot)
	require.Equal(t, compute.PodRunning, y.pod(id).Status)
	require.Equal(t, map[string]string{"A": "opened"}, y.host.last.Load().Env)
	require.Equal(t, 1, unknown(id), "once, however often its start was tried")

	failure = compute.Errorf(compute.Unavailable, "the store is away")
	id = y.create(nil)
	y.step(time.Minute)
	require.Equal(t, compute.PodProvisioning, y.pod(id).Status)
	require.NotEmpty(t, y.pods.Behind(id))
	failure = compute.Errorf(compute.Rejected, "the key of the secrets is another one")
	y.step(time.Minute)
	require.Equal(t, compute.PodError, y.pod(id).Status)
	require.Equal(t, "the key of the secrets is another one", y.pod(id).Reason)
}
