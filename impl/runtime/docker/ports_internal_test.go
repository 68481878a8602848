package docker

import (
	"fmt"
	"net"
	"net/netip"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
)

// opened gives a runtime whose ports are chosen by choose, which gets how often it was asked before.
func opened(t *testing.T, choose func(n int64, ports []string, address netip.Addr) reserved) *Runtime {
	_, owner := dockertest.Need(t)
	host, err := New(Config{Owner: owner, Clock: compute.SystemClock{}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, host.Close()) })
	var asked atomic.Int64
	host.reserve = func(ports []string, address netip.Addr) reserved { return choose(asked.Add(1)-1, ports, address) }
	return host
}

func awaitPhase(t *testing.T, h *Runtime, id string, phase runtime.Phase) (state runtime.State) {
	t.Helper()
	require.Eventually(t, func() bool {
		var err error
		state, err = h.Inspect(t.Context(), id)
		require.NoError(t, err)
		return state.Phase == phase
	}, 30*time.Second, 10*time.Millisecond)
	return state
}

func TestPorts_TakenOneIsReplaced(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer func() { _ = taken.Close() }()
	port := taken.Addr().(*net.TCPAddr).Port

	stolen := reserved{ports: []compute.PublishedPort{{Private: 22, Public: port, Type: "tcp"}}}
	host := opened(t, func(n int64, ports []string, address netip.Addr) reserved {
		if n == 0 {
			return stolen
		}
		return reserve(ports, address)
	})

	a := runtime.Allocation{ID: "a", Image: dockertest.Image(), Args: "stay", Ports: []string{"22/tcp"}}
	require.NoError(t, host.Start(t.Context(), a))
	ports := awaitPhase(t, host, "a", runtime.Up).Ports
	require.NotZero(t, ports[0].Public)
	require.NotEqual(t, port, ports[0].Public)

	c, err := host.engine.ContainerInspect(t.Context(), host.name("a"), client.ContainerInspectOptions{})
	require.NoError(t, err)
	require.Contains(t, c.Container.Config.Env, "RUNPOD_TCP_PORT_22="+strconv.Itoa(ports[0].Public))

	unlucky := opened(t, func(int64, []string, netip.Addr) reserved { return stolen })
	a.Generation = 7
	require.NoError(t, unlucky.Start(t.Context(), a))
	state := awaitPhase(t, unlucky, "a", runtime.Ended)
	require.Equal(t, int64(7), state.Generation)
	require.Contains(t, state.Reason, strconv.Itoa(port), "it is given up, and the reason says why")
}

func TestPorts_EngineChoosesThoseOfAForeignAddress(t *testing.T) {
	t.Parallel()
	host := opened(t, func(int64, []string, netip.Addr) reserved { return reserved{} })
	a := runtime.Allocation{ID: "a", Image: dockertest.Image(), Args: "'env RUNPOD_TCP_PORT_22' stay", Ports: []string{"22/tcp"}}
	require.NoError(t, host.Start(t.Context(), a))
	require.NotZero(t, awaitPhase(t, host, "a", runtime.Up).Ports[0].Public)

	require.Eventually(t, func() bool {
		var log string
		err := host.Logs(t.Context(), "a", runtime.LogQuery{}, func(l runtime.Line) error {
			log += fmt.Sprintln(l.Text)
			return nil
		})
		return err == nil && log == "RUNPOD_TCP_PORT_22=\n"
	}, 30*time.Second, 10*time.Millisecond)
}
