package kubernetes_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/kubernetes"
	"github.com/berthdev/berth/impl/runtime/kubernetes/kubetest"
)

// outcome waits until the allocation has ended, which is reported, and gives its reason.
func outcome(t *testing.T, h *kubernetes.Runtime, a runtime.Allocation) string {
	t.Helper()
	require.NoError(t, h.Start(t.Context(), a))
	reported(t, h, a.ID)
	ended := await(t, h, a.ID, runtime.Ended)
	require.Equal(t, -1, ended.ExitCode)
	require.Zero(t, ended.StartedAt)
	require.Empty(t, logs(t, h, a.ID))
	return ended.Reason
}

func TestPull_ThatFailsIsTriedForAWhile(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.Refuse(image, "failed to do request: Get https://u:s3cret@registry.test/v2/?sig=s3cret: not found")
	h := open(t, s, kubernetes.Config{PullTimeout: time.Hour})
	require.NoError(t, h.Start(t.Context(), playing("a", "stay")))
	require.Eventually(t, func() bool { return state(t, h, "a").Reason != "" }, patience, look)
	waits := state(t, h, "a")
	require.Equal(t, runtime.Starting, waits.Phase)
	require.Contains(t, waits.Reason, `image "registry.test/player:1" cannot be pulled: `)
	require.NotContains(t, waits.Reason, "s3cret")
	s.Refuse(image, "")
	await(t, h, "a", runtime.Up)
	clears(t, s, h, "a")
}

func TestPull_ThatFailsForTooLongEndsIt(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.Refuse(image, "not found")
	h := open(t, s, kubernetes.Config{PullTimeout: 100 * time.Millisecond})
	reason := outcome(t, h, playing("a", "stay"))
	require.Contains(t, reason, `image "registry.test/player:1" cannot be pulled: `)
	require.Equal(t, reason, state(t, open(t, s, kubernetes.Config{}), "a").Reason, "who comes later knows why")
	clears(t, s, h, "a")
}

func TestPull_ThatIsNeverDoneEndsItAtOnce(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{Pull: kubernetes.PullNever, PullTimeout: time.Hour})
	require.Equal(t, `image "registry.test/player:1" is not on node n1, and images are not pulled`, outcome(t, h, playing("a", "stay")))
	clears(t, s, h, "a")
}

func TestPull_OfWhatIsNoNameEndsItAtOnce(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.Misname(image)
	h := open(t, s, kubernetes.Config{PullTimeout: time.Hour})
	require.Equal(t, `image "registry.test/player:1": this is no name of an image`, outcome(t, h, playing("a", "stay")))
	clears(t, s, h, "a")
}

func TestPull_OfAPrivateImageTakesTheCredential(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.Private(image, "u", "s3cret")
	h := open(t, s, kubernetes.Config{PullTimeout: 100 * time.Millisecond})
	a := playing("a", "stay")
	require.Contains(t, outcome(t, h, a), "401 Unauthorized")
	a.Credential, a.Generation = login, 2
	start(t, h, a)
	owner := s.Object("secrets", "berth-a-2-pull")["metadata"].(map[string]any)["ownerReferences"].([]any)[0].(map[string]any)
	require.Equal(t, "berth-a-2", owner["name"])
	clears(t, s, h, "a")
}

func TestContainer_ThatCannotBeMadeEndsIt(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	s.Block(image, "no such device")
	h := open(t, s, kubernetes.Config{PullTimeout: 100 * time.Millisecond})
	require.Equal(t, `its container of image "registry.test/player:1" cannot be made on node n1: no such device`, outcome(t, h, playing("a", "stay")))
	clears(t, s, h, "a")
}

func TestContainer_WhoseProgramIsNotThereEndsWithTheReason(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	a := playing("a")
	a.Args = `{"entrypoint": ["/nothing"], "cmd": ["a"]}`
	require.Contains(t, outcome(t, h, a), `its program cannot be started on node n1: exec: "/nothing"`)
	clears(t, s, h, "a")
}

func TestStart_WhoseWritesAreRefusedLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, resource := range []string{"pods", "secrets", "services", "persistentvolumeclaims"} {
		s := cluster(t)
		s.Forbid("create", resource)
		h := open(t, s, kubernetes.Config{})
		a := mounted("a")
		err := h.Start(t.Context(), a)
		require.ErrorContains(t, err, resource)
		require.NotErrorIs(t, err, runtime.ErrUnavailable)
		_, err = h.Inspect(t.Context(), "a")
		require.ErrorIs(t, err, runtime.ErrUnknown)
		clears(t, s, h, "a")
	}
}

func TestStart_IsTriedAgainWhereTheServerSaysSo(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	listed(t, s, h)
	s.Break(kubetest.Fault{Times: 2, Code: http.StatusTooManyRequests, Reason: "TooManyRequests", Retry: "0"})
	start(t, h, playing("a", "stay"))
	require.True(t, s.Broke())
	s.Break(kubetest.Fault{Times: 1, Code: http.StatusServiceUnavailable, Retry: "0"})
	require.NoError(t, h.Stop(t.Context(), "a", grace))

	s.Break(kubetest.Fault{Times: 100, Code: http.StatusTooManyRequests, Retry: "0"})
	require.ErrorIs(t, h.Start(t.Context(), playing("b", "stay")), runtime.ErrUnavailable)
	s.Break(kubetest.Fault{Times: 1, Code: http.StatusInternalServerError})
	require.ErrorIs(t, h.Start(t.Context(), playing("b", "stay")), runtime.ErrUnavailable)
	start(t, h, playing("b", "stay"))
	clears(t, s, h, "a", "b")
}

func TestSweep_RemovesWhatNobodyNeeds(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	of := func(name, id, owner string) map[string]any {
		return map[string]any{"metadata": map[string]any{"name": name, "labels": map[string]any{"berth.dev/owner": owner, "berth.dev/allocation": id}}}
	}
	s.Put(t, "secrets", of("berth-gone-1-env", "gone", "test"))
	s.Put(t, "secrets", of("berth-a-1-env", "a", "test"))
	s.Put(t, "secrets", of("other", "gone", "somebody"))
	service := of("berth-gone", "gone", "test")
	service["spec"] = map[string]any{"type": "NodePort", "selector": map[string]any{"a": "b"}, "ports": []any{map[string]any{"name": "p", "port": 1.0, "protocol": "TCP", "targetPort": 1.0}}}
	s.Put(t, "services", service)

	h := open(t, s, kubernetes.Config{})
	a := playing("a", "stay")
	a.Generation, a.Env["KEY"] = 2, "v"
	start(t, h, a)
	require.NoError(t, h.Sweep(t.Context()))
	require.ElementsMatch(t, []string{"pods/berth-a-2", "secrets/berth-a-2-env", "secrets/other"}, s.Left())
	require.NoError(t, h.Sweep(t.Context()))
	require.Equal(t, runtime.Up, state(t, h, "a").Phase)
}

func TestPorts_OfALoadBalancerAreThoseOfItsAddress(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{Service: kubernetes.LoadBalancer})
	a := playing("a", "env RUNPOD_TCP_PORT_22", "env RUNPOD_PUBLIC_IP", "stay")
	a.Ports = []string{"22/tcp", "80/http", "80/tcp"}
	up := start(t, h, a)
	require.Zero(t, up.Ports[0].Public, "it is not there yet")
	s.Balance("203.0.113.7")
	require.Eventually(t, func() bool { return state(t, h, "a").Ports[0].Public == 22 }, patience, look)
	ports := state(t, h, "a").Ports
	require.Len(t, ports, 3)
	for _, p := range ports {
		require.Equal(t, "203.0.113.7", p.IP)
		require.Equal(t, p.Private, p.Public)
	}
	require.Eventually(t, func() bool { return logs(t, h, "a") == "RUNPOD_TCP_PORT_22=22\nRUNPOD_PUBLIC_IP=\n" }, patience, look)
	clears(t, s, h, "a")
}

func TestPorts_AreAtTheOuterAddressOfANodeThatHasOne(t *testing.T) {
	t.Parallel()
	s := kubetest.New(t)
	s.AddNode(t, kubetest.Node{Name: "n1", CPUs: 4, MemoryGB: 16, DiskGB: 100, External: "203.0.113.9"})
	h := open(t, s, kubernetes.Config{})
	a := playing("a", "env RUNPOD_PUBLIC_IP", "stay")
	a.Ports = []string{"22/tcp"}
	require.Equal(t, "203.0.113.9", start(t, h, a).Ports[0].IP)
	require.Eventually(t, func() bool { return logs(t, h, "a") == "RUNPOD_PUBLIC_IP=\n" }, patience, look, "a container does not know another one")

	a.Ports = []string{"22/tcp", "9000/udp"}
	require.NoError(t, h.Stop(t.Context(), "a", grace))
	require.Len(t, start(t, h, a).Ports, 2)
	clears(t, s, h, "a")
}
