package control

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

// capable can do everything but what is taken away.
func capable(without func(*compute.Capabilities)) Runtime {
	can := compute.AllCapabilities
	without(&can)
	return Runtime{Can: can}
}

func TestRuntime_RefusesThePodsThatItCannotRun(t *testing.T) {
	t.Parallel()
	whole := compute.Pod{
		GPU: &compute.GPU{ID: "g", Count: 1}, Persistent: &compute.PersistentMount{SizeGB: 10, Path: "/p"}, GlobalNetworking: true, RegistryID: "r",
	}
	require.NoError(t, Runtime{Can: compute.AllCapabilities}.checkPod(whole))
	require.NoError(t, Runtime{}.checkPod(compute.Pod{CPU: &compute.CPU{}}), "one that asks for nothing of that")

	for field, c := range map[string]struct {
		runtime Runtime
		pod     compute.Pod
	}{
		"gpu":              {capable(func(c *compute.Capabilities) { c.GPUs = false }), compute.Pod{GPU: whole.GPU}},
		"mounts":           {capable(func(c *compute.Capabilities) { c.Mounts = false }), compute.Pod{Persistent: whole.Persistent}},
		"globalNetworking": {capable(func(c *compute.Capabilities) { c.Networks = false }), compute.Pod{GlobalNetworking: true}},
		"registry":         {capable(func(c *compute.Capabilities) { c.Registry = false }), compute.Pod{RegistryID: "r"}},
	} {
		for _, pod := range []compute.Pod{c.pod, whole} {
			err := c.runtime.checkPod(pod)
			require.Equal(t, compute.Rejected, compute.CodeOf(err), field)
			require.ErrorContains(t, err, field+": what this server runs pods and workers on has none")
		}
		require.NoError(t, c.runtime.checkPod(compute.Pod{}), field)
	}
	network := compute.Pod{Network: &compute.NetworkMount{VolumeID: "v", Path: "/v"}}
	require.ErrorContains(t, capable(func(c *compute.Capabilities) { c.Mounts = false }).checkPod(network), "mounts: ")
}

func TestRuntime_RefusesTheEndpointsThatItCannotRun(t *testing.T) {
	t.Parallel()
	for field, c := range map[string]struct {
		runtime  Runtime
		endpoint compute.Endpoint
	}{
		"gpu":            {capable(func(c *compute.Capabilities) { c.GPUs = false }), compute.Endpoint{GPU: &compute.EndpointGPU{}}},
		"networkVolumes": {capable(func(c *compute.Capabilities) { c.Mounts = false }), compute.Endpoint{VolumeIDs: []compute.VolumeID{"v"}}},
		"mounts":         {capable(func(c *compute.Capabilities) { c.Mounts = false }), compute.Endpoint{GlobalVolumeID: "v"}},
		"registry":       {capable(func(c *compute.Capabilities) { c.Registry = false }), compute.Endpoint{RegistryID: "r"}},
	} {
		err := c.runtime.checkEndpoint(c.endpoint)
		require.Equal(t, compute.Rejected, compute.CodeOf(err), field)
		require.ErrorContains(t, err, field+": ")
		require.NoError(t, c.runtime.checkEndpoint(compute.Endpoint{VolumeIDs: []compute.VolumeID{}}), field)
		require.NoError(t, Runtime{Can: compute.AllCapabilities}.checkEndpoint(c.endpoint), field)

		c.endpoint.Declared = true
		require.NoError(t, c.runtime.checkEndpoint(c.endpoint), "%s: what the operator declares is theirs to know", field)
	}
}

func TestRuntime_HasWhatRunsCheckedByTheRuntimeItself(t *testing.T) {
	t.Parallel()
	refused := errors.New("nothing of the kind")
	env := map[string]string{"A": "b"}
	asked := 0
	r := Runtime{Can: compute.AllCapabilities, Check: func(image, args string, have map[string]string) error {
		asked++
		require.Equal(t, "i", image)
		require.Equal(t, "a", args)
		require.Equal(t, env, have)
		return refused
	}}
	require.ErrorIs(t, r.checkPod(compute.Pod{Image: "i", Args: "a", Env: env}), refused)
	require.ErrorIs(t, r.checkEndpoint(compute.Endpoint{Image: "i", Args: "a", Env: env}), refused)
	require.Equal(t, 2, asked)
}
