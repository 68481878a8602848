package kubernetes_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/kubernetes"
	"github.com/berthdev/berth/impl/runtime/kubernetes/kubetest"
)

const grace = 5 * time.Second

func TestEnds_SayWhatTheClusterDid(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		do     func(s *kubetest.Server, t *testing.T, pod string)
		reason string
		code   int
		oom    bool
	}{
		"deleted":   {func(s *kubetest.Server, t *testing.T, pod string) { s.Delete(t, pod) }, "it was deleted in the cluster, and not by berth", 0, false},
		"drained":   {func(s *kubetest.Server, _ *testing.T, pod string) { s.Drain(pod) }, "it was evicted from node n1: Eviction API: evicting", 0, false},
		"preempted": {func(s *kubetest.Server, _ *testing.T, pod string) { s.Preempt(pod) }, "it had to make room on node n1 for something of a higher priority", 0, false},
		"evicted": {
			func(s *kubetest.Server, _ *testing.T, pod string) {
				s.Evict(pod, "The node was low on resource: memory.")
			},
			"node n1 evicted it: The node was low on resource: memory.", 137, false,
		},
		"overrun": {
			func(s *kubetest.Server, _ *testing.T, pod string) { s.Overrun(pod) },
			"it ran for longer than it may: Pod was active on the node longer than the specified deadline", 137, false,
		},
		"exhausted": {func(s *kubetest.Server, _ *testing.T, pod string) { s.Exhaust(pod) }, "it used more memory than it may", 137, true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := cluster(t)
			h := open(t, s, kubernetes.Config{})
			a := playing("a", "stay")
			a.Generation, a.Ports = 36, []string{"80/tcp"}
			up := start(t, h, a)
			test.do(s, t, "berth-a-10")
			reported(t, h, "a")

			ended := await(t, h, "a", runtime.Ended)
			require.Equal(t, runtime.State{
				Phase: runtime.Ended, Generation: 36, ExitCode: test.code, OOM: test.oom, Reason: test.reason, HostID: "n1", StartedAt: up.StartedAt,
				EndedAt: ended.EndedAt,
			}, ended)
			require.False(t, ended.EndedAt.Before(up.StartedAt.Truncate(time.Second)), "the API has whole seconds")
			again := open(t, s, kubernetes.Config{})
			require.Equal(t, ended, state(t, again, "a"), "who comes later sees it, too")

			a.Generation++
			start(t, h, a)
			require.Equal(t, int64(37), state(t, h, "a").Generation)
			clears(t, s, h, "a")
		})
	}
}

func TestEnds_OfANodeThatIsLost(t *testing.T) {
	t.Parallel()
	for name, lose := range map[string]func(*kubetest.Server, *clock){
		"its node is gone": func(s *kubetest.Server, _ *clock) { s.RemoveNode("n1") },
		"its node is gone, and the cluster has seen to it": func(s *kubetest.Server, _ *clock) {
			s.RemoveNode("n1")
			s.CollectOrphans()
		},
		"its node is silent, and the cluster gave it up": func(s *kubetest.Server, c *clock) {
			s.SilenceNode("n1")
			s.TaintEvict("n1", 30)
			c.on.Add(int64(time.Minute))
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, c := cluster(t), &clock{}
			h := open(t, s, kubernetes.Config{Clock: c})
			start(t, h, playing("a", "stay"))
			lose(s, c)
			reported(t, h, "a")

			ended := await(t, h, "a", runtime.Ended)
			require.Equal(t, "its node n1 was lost", ended.Reason)
			require.Equal(t, -1, ended.ExitCode)
			require.True(t, ended.Lost)
			require.Empty(t, logs(t, h, "a"), "its log is lost, too")
			require.NoError(t, h.Stop(t.Context(), "a", grace))
			after := state(t, open(t, s, kubernetes.Config{}), "a")
			require.Equal(t, ended.Reason, after.Reason, "who comes later knows it, too")
			require.True(t, after.Lost)
			clears(t, s, h, "a")
		})
	}
}

func TestEnds_ANodeThatWasGoneBeforeBerthCame(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	start(t, open(t, s, kubernetes.Config{}), playing("a", "stay"))
	s.RemoveNode("n1")
	h := open(t, s, kubernetes.Config{})
	require.Equal(t, "its node n1 was lost", await(t, h, "a", runtime.Ended).Reason)
	clears(t, s, h, "a")
}

// Its container may be there still: nobody else would end it.
func TestEnds_ANodeThatComesBackFindsItsPodDeleted(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	start(t, h, playing("a", "stay"))
	lost := s.Object("nodes", "n1")
	s.Erase("nodes", "n1")
	reported(t, h, "a")
	require.True(t, await(t, h, "a", runtime.Ended).Lost)

	delete(lost["metadata"].(map[string]any), "resourceVersion")
	s.Put(t, "nodes", lost)
	changed(t, h, func(all []runtime.HostReport) bool { return len(all) == 1 })
	require.NoError(t, h.Stop(t.Context(), "a", grace))
	require.Equal(t, 0.0, s.Object("pods", "berth-a-0")["metadata"].(map[string]any)["deletionGracePeriodSeconds"])
	require.Eventually(t, func() bool {
		phase := s.Object("pods", "berth-a-0")["status"].(map[string]any)["phase"]
		return phase == "Failed" || phase == "Succeeded"
	}, patience, look, "its container goes on")
	require.Equal(t, "its node n1 was lost", state(t, open(t, s, kubernetes.Config{}), "a").Reason, "who comes later knows it, too")
	clears(t, s, h, "a")
}

func TestEnds_ANodeThatGoesLaterChangesNothing(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	require.NoError(t, h.Start(t.Context(), playing("a", "exit 3")))
	ended := await(t, h, "a", runtime.Ended)
	require.Equal(t, 3, ended.ExitCode)
	drain(h)
	s.RemoveNode("n1")
	changed(t, h, func(all []runtime.HostReport) bool { return len(all) == 0 })
	require.Equal(t, ended, state(t, h, "a"))
	s.CollectOrphans()
	require.Eventually(t, func() bool {
		return s.Object("pods", "berth-a-0")["metadata"].(map[string]any)["deletionTimestamp"] != nil
	}, patience, look)
	require.Equal(t, 3, state(t, h, "a").ExitCode)
	clears(t, s, h, "a")
}

func TestStop_OfASilentNodeForcesTheEnd(t *testing.T) {
	t.Parallel()
	s, c := cluster(t), &clock{}
	h := open(t, s, kubernetes.Config{Clock: c})
	start(t, h, playing("a", "stay"))
	s.SilenceNode("n1")
	changed(t, h, func(all []runtime.HostReport) bool { return len(all) == 1 && !all[0].Ready })

	stopped := make(chan error, 1)
	go func() { stopped <- h.Stop(t.Context(), "a", time.Second) }()
	require.Eventually(t, func() bool {
		return s.Object("pods", "berth-a-0")["metadata"].(map[string]any)["deletionTimestamp"] != nil
	}, patience, look)
	c.on.Add(int64(time.Minute))
	select {
	case err := <-stopped:
		require.NoError(t, err)
	case <-time.After(patience):
		require.Fail(t, "it waits for a node that is silent")
	}
	require.Equal(t, runtime.Ended, state(t, h, "a").Phase)
	require.True(t, state(t, h, "a").Lost)
	require.Equal(t, 0.0, s.Object("pods", "berth-a-0")["metadata"].(map[string]any)["deletionGracePeriodSeconds"])
	clears(t, s, h, "a")
}

func TestStop_KillsAfterTheGraceWhoHeedsNoSIGTERM(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	start(t, h, playing("a", "tick 100000"))
	began := time.Now()
	require.NoError(t, h.Stop(t.Context(), "a", time.Second))
	require.GreaterOrEqual(t, time.Since(began), time.Second)
	require.Equal(t, 137, state(t, h, "a").ExitCode)
	select {
	case id := <-h.Ended():
		require.Fail(t, "an end that was asked for was reported", id)
	default:
	}
	clears(t, s, h, "a")
}

// A Pod that does not end is looked after by its Stop alone, which has the allocation meanwhile.
func TestSweep_WaitsForNoStop(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	a := playing("a", "tick 100000")
	a.Ports = []string{"80/tcp"}
	start(t, h, a)
	ctx, cancel := context.WithCancel(t.Context())
	stopped := make(chan error, 1)
	go func() { stopped <- h.Stop(ctx, "a", time.Hour) }()
	require.Eventually(t, func() bool {
		return s.Object("pods", "berth-a-0")["metadata"].(map[string]any)["deletionTimestamp"] != nil
	}, patience, look)

	short, end := context.WithTimeout(t.Context(), patience)
	defer end()
	require.NoError(t, h.Sweep(short))
	require.Contains(t, s.Left(), "services/berth-a")
	cancel()
	require.ErrorIs(t, <-stopped, context.Canceled)
	clears(t, s, h, "a")
}

func TestStop_TakesAwayWhatARunNeededAndKeepsItsEnd(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	a := playing("a", "stay")
	a.Env["KEY"], a.Ports, a.Credential = "s3cret", []string{"80/tcp"}, login
	start(t, h, a)
	require.ElementsMatch(t, []string{"pods/berth-a-0", "secrets/berth-a-0-env", "secrets/berth-a-0-pull", "services/berth-a"}, s.Left())
	require.NoError(t, h.Stop(t.Context(), "a", grace))
	require.Equal(t, []string{"pods/berth-a-0"}, s.Left())
	clears(t, s, h, "a")
}

func TestStop_TakesAwayTheServiceOfARunThatEndedByItself(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	a := playing("a", "exit 3")
	a.Ports = []string{"80/tcp"}
	require.NoError(t, h.Start(t.Context(), a))
	require.Equal(t, "a", <-h.Ended())
	require.Contains(t, s.Left(), "services/berth-a")
	require.NoError(t, h.Stop(t.Context(), "a", grace))
	require.Equal(t, []string{"pods/berth-a-0"}, s.Left())
	clears(t, s, h, "a")
}
