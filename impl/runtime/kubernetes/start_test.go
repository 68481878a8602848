package kubernetes_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/kubernetes"
	"github.com/berthdev/berth/impl/runtime/kubernetes/kubetest"
)

// again does something until it is not ErrUnavailable.
func again(t *testing.T, do func() error) {
	t.Helper()
	var err error
	for range 5 {
		if err = do(); !errors.Is(err, runtime.ErrUnavailable) {
			break
		}
	}
	require.NoError(t, err)
}

// everything is an allocation with all that takes an object of the cluster.
func everything(generation int64) runtime.Allocation {
	a := mounted("a")
	a.Generation, a.Network = generation, &compute.NetworkMount{VolumeID: "v", Path: "/net"}
	return a
}

func TestAnswers_AnyOneThatIsLostChangesNothing(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]kubetest.Fault{
		"carried out, and lost":                {Times: 1},
		"refused":                              {Times: 1, Code: http.StatusInternalServerError},
		"of somebody else":                     {Times: 1, Code: http.StatusNotFound},
		"of the quota, which is being counted": {Method: http.MethodPost, Times: 1, Code: http.StatusConflict, Reason: "Conflict"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n, broke := 0, true; broke; n++ {
				require.Less(t, n, 100)
				fault.Skip = n
				broke = lives(t, cluster(t), kubernetes.Config{}, fault)
			}
		})
	}
}

// lives takes an allocation through its life while the fault happens, and reports whether it did.
func lives(t *testing.T, s *kubetest.Server, c kubernetes.Config, fault kubetest.Fault) (broke bool) {
	t.Helper()
	h := open(t, s, c)
	listed(t, s, h)
	asked := func(generation int64) runtime.Allocation {
		a := everything(generation)
		if c.GPUClass != "" {
			a = onGPUs(a, 1)
		}
		return a
	}
	s.Break(fault)
	for generation := range int64(2) {
		again(t, func() error { return h.Start(t.Context(), asked(generation)) })
		require.Equal(t, generation, await(t, h, "a", runtime.Up).Generation)
		again(t, func() error { return h.Stop(t.Context(), "a", grace) })
		require.Equal(t, runtime.Ended, state(t, h, "a").Phase)
	}
	again(t, func() error { return h.Start(t.Context(), asked(1)) }) // the same run once more: its names are taken
	await(t, h, "a", runtime.Up)

	again(t, func() error { return h.Remove(t.Context(), "a") })
	again(t, func() error { return h.RemoveVolume(t.Context(), "v") })
	again(t, func() error { return h.Sweep(t.Context()) })
	broke = s.Broke()
	s.Break()
	clears(t, s, h, "a")
	return broke
}

func TestStart_AfterABerthThatWasKilledInTheMidst(t *testing.T) {
	t.Parallel()
	for n, cut := 0, true; cut; n++ {
		require.Less(t, n, 20)
		s := cluster(t)
		h := open(t, s, kubernetes.Config{})
		listed(t, s, h)
		s.Break(kubetest.Fault{Method: http.MethodPost, Skip: n, Times: 1})
		cut = h.Start(t.Context(), everything(1)) != nil
		s.Break()

		next := open(t, s, kubernetes.Config{}) // which knows nothing
		again(t, func() error { return next.Start(t.Context(), everything(1)) })
		await(t, next, "a", runtime.Up)
		again(t, func() error { return next.RemoveVolume(t.Context(), "nothing") })
		require.NoError(t, next.Remove(t.Context(), "a"))
		require.NoError(t, next.RemoveVolume(t.Context(), "v"))
		require.NoError(t, next.Sweep(t.Context()))
		clears(t, s, next, "a")
	}
}

func TestStart_WaitsUntilANameIsFree(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{Clock: &clock{fast: true}})
	earlier := map[string]any{
		"metadata": map[string]any{
			"name": "berth-a-0", "labels": map[string]any{"berth.dev/owner": "test", "berth.dev/allocation": "a", "berth.dev/generation": "0"},
			"finalizers": []any{"berth.dev/end", "somebody.test/else"},
		},
		"spec": map[string]any{"containers": []any{map[string]any{"name": "main", "image": image, "args": []any{"exit 0"}}}},
	}
	s.Put(t, "pods", earlier)
	await(t, h, "a", runtime.Ended)
	started := make(chan error, 1)
	go func() { started <- h.Start(t.Context(), playing("a", "stay")) }()
	require.Eventually(t, func() bool {
		left := s.Object("pods", "berth-a-0")["metadata"].(map[string]any)["finalizers"].([]any)
		return len(left) == 1 && left[0] == "somebody.test/else"
	}, patience, look, "of others' finalizers berth takes none away")
	select {
	case err := <-started:
		require.Fail(t, "it did not wait", "%v", err)
	default:
	}
	s.Erase("pods", "berth-a-0")
	require.NoError(t, <-started)
	await(t, h, "a", runtime.Up)
	clears(t, s, h, "a")
}

func TestStart_OfTwoChangesAtATimeLosesNone(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	start(t, h, playing("a", "stay"))
	s.Break(kubetest.Fault{Method: http.MethodPatch, Skip: 0, Times: 3, Code: http.StatusConflict, Reason: "Conflict"})
	clears(t, s, h, "a")
	require.True(t, s.Broke())
}

func TestStart_RefusesWhatCannotRun(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	for says, change := range map[string]func(*runtime.Allocation){
		"this runtime has no networks": func(a *runtime.Allocation) {
			a.Link = &runtime.Link{Subnet: netip.MustParsePrefix("10.64.0.0/20"), Name: "x"}
		},
		"must be of at most 40 lower-case letters and digits": func(a *runtime.Allocation) { a.ID = "Not/OK" },
		"port \"0/tcp\": it must be a number from 1 to 65535": func(a *runtime.Allocation) { a.Ports = []string{"0/tcp"} },
		"port \"1/sctp\": it must be":                         func(a *runtime.Allocation) { a.Ports = []string{"1/sctp"} },
		"may have 64 ports, and not 65":                       func(a *runtime.Allocation) { a.Ports = make([]string, 65) },
		"args: a word has 131072 bytes, and a program takes at most 131071": func(a *runtime.Allocation) {
			a.Args = strings.Repeat("x", 131_072)
		},
		"args: they have over 2097152 bytes": func(a *runtime.Allocation) { a.Args = strings.Repeat(strings.Repeat("x", 131_071)+" ", 17) },
		"image \"registry.test/player:1\": the registry credential cannot be had: no such row": func(a *runtime.Allocation) {
			a.Credential = func(context.Context) (runtime.Credential, error) {
				return runtime.Credential{}, errors.New("no such row")
			}
		},
	} {
		a := playing("a", "stay")
		change(&a)
		require.ErrorContains(t, h.Start(t.Context(), a), says)
		require.Empty(t, s.Left())
	}
}

func TestStart_ArgumentsAndVariablesAreNotExpanded(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	for args, want := range map[string]string{
		`'say $(SECRET) $$ $HOME' 'env SECRET' 'env odd name'`:           "$(SECRET) $$ $HOME\nSECRET=$(PATH)\nodd name=$(PATH) $$\n",
		`{"entrypoint": ["/player", "say $(SECRET)"], "cmd": ["say b"]}`: "$(SECRET)\nb\n",
		`{"entrypoint": [], "cmd": ["/player", "say $$"]}`:               "$$\n",
		`{"cmd": ["say a"]}`: "a\n",
	} {
		a := playing("a")
		a.Args, a.Env = args, map[string]string{"SECRET": "$(PATH)", "odd name": "$(PATH) $$"}
		require.NoError(t, h.Start(t.Context(), a))
		await(t, h, "a", runtime.Ended)
		require.Equal(t, want, logs(t, h, "a"))
	}
	clears(t, s, h, "a")
}

func TestStart_KeepsSecretsOutOfThePod(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	start(t, h, everything(1))
	require.NotContains(t, fmt.Sprint(s.Object("pods", "berth-a-1")), "s3cret")
	require.Equal(t, "czNjcmV0", s.Object("secrets", "berth-a-1-env")["data"].(map[string]any)["KEY"])
	s.Delete(t, "berth-a-1")
	reported(t, h, "a")
	s.Erase("pods", "berth-a-1")
	require.Eventually(t, func() bool {
		return s.Object("secrets", "berth-a-1-env") == nil && s.Object("secrets", "berth-a-1-pull") == nil
	}, patience, look,
		"they go with the Pod, whoever removes it")
}

func TestPull_EndsItWhenTheTimeoutHasPassedAndNotBefore(t *testing.T) {
	t.Parallel()
	s, c := cluster(t), &clock{fast: true}
	h := open(t, s, kubernetes.Config{Clock: c, PullTimeout: time.Hour})
	s.Refuse(image, "not found")
	require.NoError(t, h.Start(t.Context(), playing("a", "stay")))
	require.Eventually(t, func() bool { return state(t, h, "a").Reason != "" }, patience, look)
	c.on.Add(int64(59 * time.Minute))
	require.Never(t, func() bool { return state(t, h, "a").Phase == runtime.Ended }, 100*time.Millisecond, look)
	c.on.Add(int64(2 * time.Minute))
	reported(t, h, "a")
	require.Contains(t, await(t, h, "a", runtime.Ended).Reason, "cannot be pulled")
	clears(t, s, h, "a")
}

func TestStart_TakesNoServiceThatIsBeingRemoved(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{Service: kubernetes.LoadBalancer, Clock: &clock{fast: true}})
	s.Put(t, "services", map[string]any{
		"metadata": map[string]any{"name": "berth-a", "labels": map[string]any{"berth.dev/owner": "test", "berth.dev/allocation": "a"}, "finalizers": []any{"cloud.test/cleanup"}},
		"spec":     map[string]any{"type": "LoadBalancer", "ports": []any{map[string]any{"name": "p22-tcp", "protocol": "TCP", "port": 22.0, "targetPort": 22.0}}},
	})
	a := playing("a", "stay")
	a.Ports = []string{"22/tcp"}
	start(t, h, a)
	require.NoError(t, h.Stop(t.Context(), "a", grace)) // the Service goes once the cloud has cleaned up

	a.Generation = 1
	started := make(chan error, 1)
	go func() { started <- h.Start(t.Context(), a) }()
	select {
	case err := <-started:
		require.Fail(t, "it took what goes", "%v", err)
	case <-time.After(200 * time.Millisecond):
	}
	s.Erase("services", "berth-a")
	require.NoError(t, <-started)
	s.Balance("203.0.113.7")
	require.Eventually(t, func() bool { ports := state(t, h, "a").Ports; return len(ports) == 1 && ports[0].Public == 22 }, patience, look)
}

// A token that is just being replaced says nothing of a pod.
func TestStart_GoesOnOnceItIsKnownAgain(t *testing.T) {
	t.Parallel()
	s := cluster(t)
	h := open(t, s, kubernetes.Config{})
	listed(t, s, h)
	s.Token("another")
	require.ErrorIs(t, h.Start(t.Context(), playing("a", "stay")), runtime.ErrUnavailable)
	s.Token("")
	start(t, h, playing("a", "stay"))
}
