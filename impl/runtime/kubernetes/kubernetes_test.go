package kubernetes_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/kballard/go-shellquote"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/kubernetes"
	"github.com/berthdev/berth/impl/runtime/kubernetes/kubetest"
	"github.com/berthdev/berth/impl/runtime/runtimetest"
)

const (
	patience = 20 * time.Second
	look     = 5 * time.Millisecond
	image    = "registry.test/player:1"
)

// clock is the machine's, moved on by what a test says.
type clock struct {
	compute.SystemClock
	on   atomic.Int64
	fast bool // nothing is waited for longer than a moment
}

func (c *clock) After(d time.Duration) (<-chan time.Time, func()) {
	if c.fast {
		d = min(d, 10*look)
	}
	return c.SystemClock.After(d)
}

func (c *clock) Now() time.Time  { return c.SystemClock.Now().Add(time.Duration(c.on.Load())) }
func (c *clock) Wall() time.Time { return c.SystemClock.Wall().Add(time.Duration(c.on.Load())) }

// cluster gives a cluster of one large node.
func cluster(t *testing.T) *kubetest.Server {
	t.Helper()
	s := kubetest.New(t)
	s.AddNode(t, kubetest.Node{Name: "n1", CPUs: 64, MemoryGB: 256, DiskGB: 1000})
	return s
}

// open gives a runtime on the cluster.
func open(t *testing.T, s *kubetest.Server, c kubernetes.Config) *kubernetes.Runtime {
	t.Helper()
	c.File = s.Kubeconfig(t)
	if c.Owner == "" {
		c.Owner = "test"
	}
	if c.Clock == nil {
		c.Clock = compute.SystemClock{}
	}
	h, err := kubernetes.New(c)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })
	return h
}

// listed waits until the first lists have come, so that a fault is met by what follows.
func listed(t *testing.T, s *kubetest.Server, h *kubernetes.Runtime) {
	t.Helper()
	_, err := h.List(t.Context())
	require.NoError(t, err)
	require.Eventually(t, func() bool { return s.Watches() >= 3 }, patience, look)
}

func playing(id string, steps ...string) runtime.Allocation {
	return runtime.Allocation{ID: id, Image: image, Args: shellquote.Join(steps...), Env: map[string]string{}}
}

func state(t *testing.T, h *kubernetes.Runtime, id string) runtime.State {
	t.Helper()
	s, err := h.Inspect(t.Context(), id)
	require.NoError(t, err)
	return s
}

func await(t *testing.T, h *kubernetes.Runtime, id string, phase runtime.Phase) (s runtime.State) {
	t.Helper()
	require.Eventually(t, func() bool {
		s = state(t, h, id)
		return s.Phase == phase
	}, patience, look, "%s is not %s", id, phase)
	return s
}

func start(t *testing.T, h *kubernetes.Runtime, a runtime.Allocation) runtime.State {
	t.Helper()
	require.NoError(t, h.Start(t.Context(), a))
	return await(t, h, a.ID, runtime.Up)
}

// reported waits until the end of the allocation is reported.
func reported(t *testing.T, h *kubernetes.Runtime, id string) {
	t.Helper()
	select {
	case ended := <-h.Ended():
		require.Equal(t, id, ended)
	case <-time.After(patience):
		require.Fail(t, "the end was not reported")
	}
}

// clears removes the allocations and holds that nothing is left of them.
func clears(t *testing.T, s *kubetest.Server, h *kubernetes.Runtime, ids ...string) {
	t.Helper()
	for _, id := range ids {
		require.NoError(t, h.Remove(t.Context(), id))
		_, err := h.Inspect(t.Context(), id)
		require.ErrorIs(t, err, runtime.ErrUnknown)
	}
	require.Eventually(t, func() bool { return len(s.Left()) == 0 }, patience, look, "%v are left", s.Left())
}

func logs(t *testing.T, h *kubernetes.Runtime, id string) string {
	t.Helper()
	var text strings.Builder
	require.NoError(t, h.Logs(t.Context(), id, runtime.LogQuery{}, func(l runtime.Line) error {
		text.WriteString(l.Text + "\n")
		return nil
	}))
	return text.String()
}

func TestRuntime_PassesTheSuite(t *testing.T) {
	t.Parallel()
	runtimetest.Run(t, func(t *testing.T) runtimetest.Fixture {
		s := cluster(t)
		return runtimetest.Fixture{
			Runtime: open(t, s, kubernetes.Config{}),
			Reopen:  func(t *testing.T) runtime.Runtime { return open(t, s, kubernetes.Config{}) },
			Stays:   func(id string) runtime.Allocation { return playing(id, "say hello", "stay") },
			Exits: func(id string, code int) runtime.Allocation {
				return playing(id, "say hello", fmt.Sprint("exit ", code))
			},
			Fails:   func(id string) runtime.Allocation { return runtime.Allocation{ID: id, Image: "NO IMAGE"} },
			Plays:   playing,
			Command: inPod,
			Line:    "hello",
			Lacks:   lacks,
		}
	})
}

// lacks is what the runtime over the double does not do.
var lacks = map[runtimetest.Ability]string{
	runtimetest.OldLogs: "the logs go with the Pod, and each run is one",
	runtimetest.Streams: "the API gives one log of both",
	runtimetest.Moments: "the API has times in whole seconds",
	runtimetest.Limits:  "the programs of the double are in the process of the test",
}

// login gives a credential.
func login(context.Context) (runtime.Credential, error) {
	return runtime.Credential{User: "u", Password: "s3cret"}, nil
}
