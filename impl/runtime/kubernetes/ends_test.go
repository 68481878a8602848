package kubernetes_test

import (
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
			}, ended)
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
			require.Empty(t, logs(t, h, "a"), "its log is lost, too")
			require.NoError(t, h.Stop(t.Context(), "a", grace))
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
