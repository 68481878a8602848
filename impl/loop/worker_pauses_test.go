package loop_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
)

func TestWorkers_NextIsWhenSomethingMayBeDecided(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, nil)
	s.step(0)
	require.Zero(t, s.workers.Next())

	_, err := s.queue.Run(t.Context(), "u", s.e.ID, queue.Submission{Input: []byte(`{}`)})
	require.NoError(t, err)
	s.step(0)
	begun := s.clock.Now()
	_, ids := s.seen()
	require.Equal(t, begun.Add(250*time.Millisecond), s.workers.Next(), "the job may be overdue")

	taken, err := s.queue.Take(t.Context(), "u", s.e.ID, ids[0], 1)
	require.NoError(t, err)
	require.Equal(t, begun.Add(7*time.Minute), s.workers.Next(), "it may have sent no request")
	s.clock.Advance(time.Second)
	require.NoError(t, s.queue.Finish(t.Context(), "u", s.e.ID, ids[0], taken[0].ID, queue.Report{}))
	require.Positive(t, s.e.IdleTimeout)
	require.Equal(t, begun.Add(time.Second).Add(s.e.IdleTimeout), s.workers.Next(), "it may have idled for long enough")

	full := serve(t, 3, nil)
	full.step(0)
	require.Equal(t, full.clock.Now().Add(time.Second), full.workers.Next(), "there may be room")
}

func TestWorkers_PauseSaysWhyThereIsNone(t *testing.T) {
	t.Parallel()
	s := serve(t, 3, nil)
	require.Zero(t, s.workers.Pause(s.e.ID))
	s.step(0)
	pause := s.workers.Pause(s.e.ID)
	require.True(t, strings.HasPrefix(pause.Reason, "nothing can hold the worker now: asked for 2 vCPUs of cpu3g"), pause.Reason)
	pause.Reason = ""
	require.Equal(t, compute.WorkerPause{Cause: compute.PauseFull, Until: s.clock.Now().Add(time.Second), Missing: 1}, pause)

	name, image, least := "large", "i", int64(1)
	large, err := s.endpoints.Create(t.Context(), "u", compute.QueueEndpoint, control.EndpointChange{
		Name: &name, Image: &image, CPUs: []compute.CPU{{ID: "cpu3g", VCPUCount: 8}}, WorkersMin: &least,
		Scaling: &control.Scaling{Scaler: compute.ByDelay, Value: 4},
	})
	require.NoError(t, err)
	s.step(0)
	require.Equal(t, compute.PauseNever, s.workers.Pause(large.ID).Cause, "the host has 4 vCPUs in all")
	s.step(time.Second)
	pause = s.workers.Pause(s.e.ID)
	require.Equal(t, compute.PauseFull, pause.Cause)
	require.Equal(t, s.clock.Now().Add(time.Second), pause.Until)
	require.Equal(t, 1, pause.Missing)
}

func TestWorkers_ThatFailMakeTheNextOneWaitForAMinuteAtMost(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, map[string]string{sim.EnvExitAfter: "0s", sim.EnvExitCode: "1"})
	s.step(0)
	for _, seconds := range []time.Duration{1, 2, 4, 8, 16, 32, 60, 60} {
		_, ids := s.seen()
		s.step(sim.DefaultBoot)
		pause := s.workers.Pause(s.e.ID)
		pause.Reason = firstLine(pause.Reason)
		require.Equal(t, compute.WorkerPause{
			Cause: compute.PauseFailing, Reason: "worker " + string(ids[0]) + ": the worker ended with exit code 1",
			Until: s.clock.Now().Add(seconds * time.Second), Missing: 1,
		}, pause)
		s.step(seconds * time.Second)
		require.Equal(t, compute.PauseFailing, s.workers.Pause(s.e.ID).Cause, "the next one has yet to do better")
		require.Zero(t, s.workers.Pause(s.e.ID).Missing)
	}

	s.workers.Replace(s.e.ID)
	require.Zero(t, s.workers.Pause(s.e.ID), "what is made anew is tried at once")
}

func TestWorkers_ThatRanForAWhileMakeTheNextOneWaitAsAtFirst(t *testing.T) {
	t.Parallel()
	for after, second := range map[string]time.Duration{"58s": 2 * time.Second, "59s": time.Second} { // boots take 2 s
		s := serve(t, 1, map[string]string{sim.EnvExitAfter: after, sim.EnvExitCode: "1"})
		lives, err := time.ParseDuration(after)
		require.NoError(t, err)
		s.step(0)
		for _, pause := range []time.Duration{time.Second, second} {
			s.step(sim.DefaultBoot + lives)
			require.Equal(t, s.clock.Now().Add(pause), s.workers.Pause(s.e.ID).Until, after)
			s.step(pause)
		}
	}
}

// TestWorkers_ThatHangAreReplaced: they were at work, and say nothing any more.
func TestWorkers_ThatHangAreReplaced(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.step(0)
	s.step(sim.DefaultBoot)
	_, before := s.seen()
	j := s.busy(before[0])
	require.NoError(t, s.queue.Finish(t.Context(), "u", s.e.ID, before[0], j.ID, queue.Report{}))
	s.step(2*time.Minute - time.Millisecond)
	_, now := s.seen()
	require.Equal(t, before, now)

	s.step(time.Millisecond)
	id, reason, err := s.ended()
	require.NoError(t, err)
	require.Equal(t, before[0], id)
	require.Equal(t, "the worker was up and sent no request for too long", firstLine(reason))
	require.Equal(t, compute.PauseFailing, s.workers.Pause(s.e.ID).Cause)
	s.step(time.Second)
	statuses, now := s.seen()
	require.Equal(t, []compute.WorkerStatus{initializing}, statuses)
	require.NotEqual(t, before, now)
}

func TestWorkers_ThatSendNoRequestAreReplacedLater(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.step(0)
	_, before := s.seen()
	s.step(7*time.Minute - time.Millisecond)
	_, now := s.seen()
	require.Equal(t, before, now)

	s.step(time.Millisecond)
	id, reason, err := s.ended()
	require.NoError(t, err)
	require.Equal(t, before[0], id)
	require.Equal(t, "the worker sent no request within 7m0s", firstLine(reason))
	pause := s.workers.Pause(s.e.ID)
	require.Equal(t, compute.PauseFailing, pause.Cause)
	require.Equal(t, "worker "+string(id)+": the worker sent no request within 7m0s", pause.Reason)
	require.Equal(t, s.clock.Now().Add(time.Second), pause.Until)
	s.step(time.Second)
	statuses, now := s.seen()
	require.Equal(t, []compute.WorkerStatus{initializing}, statuses)
	require.NotEqual(t, before, now)
}

func TestWorkers_Interrupt(t *testing.T) {
	t.Parallel()
	s := serve(t, 2, nil)
	g := &graced{host: &host{Fleet: s.containers}, graces: map[string]time.Duration{}}
	s.workers.Runtime = g
	s.step(0)
	s.step(sim.DefaultBoot)
	_, ids := s.seen()
	require.Len(t, ids, 2)

	require.Zero(t, s.workers.Interrupt("another", ""))
	require.Zero(t, s.workers.Interrupt(s.e.ID, "another"))
	require.Equal(t, 1, s.workers.Interrupt(s.e.ID, ids[0]))
	require.Zero(t, s.workers.Interrupt(s.e.ID, ids[0]), "it is to end already")
	s.step(0)
	id, reason, err := s.ended()
	require.NoError(t, err)
	require.Equal(t, ids[0], id)
	require.Equal(t, "the worker was interrupted", reason)
	require.Equal(t, map[string]time.Duration{string(ids[0]): 5 * time.Second}, g.graces)

	_, now := s.seen()
	require.Contains(t, now, ids[1], "the other one goes on")
	require.Equal(t, 2, s.workers.Interrupt(s.e.ID, ""))
	s.step(0)
	require.Equal(t, 5*time.Second, g.graces[string(ids[1])])
	require.Len(t, s.rows(), 2, "others come in their place")
	require.NoError(t, s.endpoints.Delete(t.Context(), "u", s.e.ID))
	clear(g.graces)
	s.step(0)
	require.Len(t, g.graces, 2)
	for _, grace := range g.graces {
		require.Equal(t, 10*time.Second, grace)
	}
}

func TestWorkers_GetWhatTheirEndpointAsksFor(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, map[string]string{"A": "1"})
	h := &host{Fleet: s.containers}
	s.workers.Runtime = h
	s.workers.Secrets = func(context.Context, compute.UserID, map[string]string) (map[string]string, []string, error) {
		return map[string]string{"A": "opened"}, []string{"b", "a"}, nil
	}
	s.step(0)
	w, a := s.rows()[0], h.last.Load()
	require.Equal(t, string(w.ID), a.ID)
	require.Equal(t, "h", a.HostID)
	require.Equal(t, "i", a.Image)
	require.Equal(t, s.e.DiskGB, a.DiskGB)
	require.EqualValues(t, 2, a.VCPUs)
	require.Equal(t, w.CPU.MemoryGB*1_073_741_824, a.MemoryBytes)
	require.EqualValues(t, 32_768, a.Pids)
	require.Equal(t, map[string]string{"dev.berth.name": "e"}, a.Labels)
	require.True(t, a.GPUs.None())
	require.Nil(t, a.Boot)
	require.Nil(t, a.Credential)
	require.Equal(t, map[string]string{"A": "opened"}, a.Env)

	var texts []string
	require.NoError(t, s.db.Read(t.Context(), func(tx tx) error {
		lines, err := tx.SystemLines(string(w.ID), 0)
		for _, l := range lines {
			texts = append(texts, l.Text)
		}
		return err
	}))
	require.Contains(t, texts, "there is no secret of this name, and the environment keeps what refers to it: a, b")
}

func TestWorkers_WhoseSecretsCannotBeOpenedAreNotStarted(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	var failure error = compute.Errorf(compute.Rejected, "the key of the secrets is another one")
	s.workers.Secrets = func(context.Context, compute.UserID, map[string]string) (map[string]string, []string, error) {
		return nil, nil, failure
	}
	s.step(0)
	require.Empty(t, s.rows())
	require.Empty(t, s.keyring.Keys(true))
	require.Zero(t, s.workersOn("h"))
	pause := s.workers.Pause(s.e.ID)
	require.Equal(t, compute.PauseFailing, pause.Cause)
	require.Equal(t, "the key of the secrets is another one", pause.Reason)

	failure = nil
	s.step(time.Second)
	require.Len(t, s.rows(), 1)
}

// mute is a host that says nothing of its allocations as long as it is silent.
type mute struct {
	*host
	silent atomic.Bool
}

func (m *mute) Inspect(ctx context.Context, id string) (runtime.State, error) {
	if m.silent.Load() {
		return runtime.State{}, runtime.ErrUnavailable
	}
	return m.host.Inspect(ctx, id)
}

func TestWorkers_WhoseHostDoesNotAnswerAreTakenUp(t *testing.T) {
	t.Parallel()
	s := serve(t, 2, nil)
	s.step(0)
	s.step(sim.DefaultBoot)
	_, before := s.seen()
	s.begin()
	m := &mute{host: &host{Fleet: s.containers}}
	s.workers.Runtime = m
	m.silent.Store(true)
	s.step(0)
	s.step(time.Second)
	_, now := s.seen()
	require.Equal(t, before, now)
	require.Contains(t, s.workers.Behind(before[0]), runtime.ErrUnavailable.Error(), "people see what is the matter")

	m.silent.Store(false)
	s.step(time.Minute)
	_, now = s.seen()
	require.Equal(t, before, now)
	require.Empty(t, s.workers.Behind(before[0]))
	require.Len(t, s.keyring.Keys(true), 2)
}

func TestWorkers_ThatDidNotOutliveARestartSayWhy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env    map[string]string
		up     time.Duration
		reason string
		code   *int64
	}{
		"it was coming up":     {nil, time.Second, "the worker did not outlive a restart of the server", nil},
		"it ended in the time": {map[string]string{sim.EnvExitAfter: "10s", sim.EnvExitCode: "4"}, sim.DefaultBoot, "the worker ended with exit code 4", ptr(int64(4))},
	} {
		s := serve(t, 1, c.env)
		s.step(0)
		s.step(c.up)
		_, before := s.seen()
		if c.env != nil {
			s.clock.Advance(time.Minute)
		}
		s.begin()
		s.workers.Simulated = true
		s.step(0)
		all, err := s.endpoints.EndedWorkers(t.Context(), "u", s.e.ID)
		require.NoError(t, err)
		require.Len(t, all, 1, name)
		require.Equal(t, before[0], all[0].ID, name)
		require.Equal(t, c.reason, firstLine(all[0].Reason), name)
		require.Equal(t, c.code, all[0].ExitCode, name)
		_, now := s.seen()
		require.Len(t, now, 1)
		require.NotEqual(t, before, now, name)
	}
}

func ptr[T any](v T) *T { return &v }

// firstLine is why a worker ended, without what it wrote last.
func firstLine(reason string) string {
	line, _, _ := strings.Cut(reason, "\n")
	return line
}

func TestWorkers_ThatFailedLongAgoAreForgiven(t *testing.T) {
	t.Parallel()
	for after, want := range map[time.Duration]time.Duration{10 * time.Minute: 2 * time.Second, 10*time.Minute + time.Millisecond: time.Second} {
		s := serve(t, 1, map[string]string{sim.EnvExitAfter: "0s", sim.EnvExitCode: "1"})
		s.step(0)
		s.step(sim.DefaultBoot)
		least := func(n int) {
			e := s.e
			e.WorkersMin = n
			s.set(e)
		}
		least(0)
		s.step(s.workers.Pause(s.e.ID).Until.Sub(s.clock.Now()) + after)
		require.Empty(t, s.rows())

		least(1)
		s.step(0)
		require.Len(t, s.rows(), 1)
		s.step(sim.DefaultBoot)
		require.Equal(t, s.clock.Now().Add(want), s.workers.Pause(s.e.ID).Until, after)
	}
}

func TestWorkers_ThatSendNoRequestMakeTheNextOneWaitLonger(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.step(0)
	for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		s.step(7 * time.Minute)
		require.Equal(t, s.clock.Now().Add(pause), s.workers.Pause(s.e.ID).Until)
		s.step(pause)
	}
}

func TestWorkers_WaitWhileAPodsContainerHasWhatTheyWouldGet(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	held, asked := true, ""
	s.workers.Held = func(hostID string, _ []string) bool {
		asked = hostID
		return held
	}
	s.step(0)
	require.Equal(t, "h", asked)
	require.Empty(t, s.rows())
	require.Zero(t, s.workersOn("h"))
	require.Equal(t, compute.WorkerPause{
		Cause: compute.PauseFull, Reason: "the container of a pod that has the GPU is still being stopped", Until: s.clock.Now().Add(time.Second), Missing: 1,
	}, s.workers.Pause(s.e.ID))
	held = false
	s.step(time.Second)
	require.Len(t, s.rows(), 1)
	require.Zero(t, s.workers.Pause(s.e.ID))
}

func TestWorkers_NextWhereLoadIsBalanced(t *testing.T) {
	t.Parallel()
	s, _ := balancing(t, nil)
	now := s.clock.Now()
	for _, c := range []struct {
		is   queue.Condition
		next time.Duration
	}{
		{queue.Loading, 7*time.Minute - sim.DefaultBoot}, {queue.Healthy, 10 * time.Second}, {queue.Unhealthy, 10 * time.Second}, {queue.Loading, 7*time.Minute - sim.DefaultBoot},
	} {
		s.condition(c.is)
		require.Equal(t, now.Add(c.next), s.workers.Next(), c.is)
	}
}
