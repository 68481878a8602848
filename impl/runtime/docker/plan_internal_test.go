package docker

import (
	"net/netip"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/system"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
)

func TestAContainerGetsTheDevicesOfItsAllocationAndNoOthers(t *testing.T) {
	t.Parallel()
	h := &Runtime{config: Config{Owner: "o", Publish: netip.MustParseAddr("127.0.0.1")}}
	engine := system.Info{NCPU: 4, Runtimes: map[string]system.RuntimeWithStatus{nvidia: {}}}
	a := runtime.Allocation{ID: "a", Image: "i", GPUs: []string{"GPU-b", "GPU-d"}, Env: map[string]string{envGPUs: "all", "A": "1"}}
	p, err := h.plan(a, engine)
	require.NoError(t, err)
	require.Equal(t, []container.DeviceRequest{{DeviceIDs: []string{"GPU-b", "GPU-d"}, Capabilities: [][]string{{"gpu"}}}}, p.container.HostConfig.DeviceRequests)
	require.Equal(t, []string{"A=1"}, p.container.Config.Env, "what the user says of devices is not heeded")
	a.GPUs = nil
	p, err = h.plan(a, engine)
	require.NoError(t, err)
	require.Empty(t, p.container.HostConfig.DeviceRequests)
	require.Equal(t, []string{"A=1", envGPUs + "=" + noGPU}, p.container.Config.Env)
}
