package docker

import (
	"net/netip"
	"strconv"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/moby/moby/api/types/system"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
)

func TestPlan_GivesTheDevicesOfTheAllocationAlone(t *testing.T) {
	t.Parallel()
	h := &Runtime{config: Config{Owner: "o", Publish: netip.MustParseAddr("127.0.0.1")}}
	engine := system.Info{NCPU: 4, Runtimes: map[string]system.RuntimeWithStatus{nvidia: {}}}
	a := runtime.Allocation{ID: "a", Image: "i", GPUs: runtime.GPUs{Count: 2, Devices: []string{"GPU-b", "GPU-d"}}, Env: map[string]string{envGPUs: "all", "A": "1"}}
	p, err := h.plan(a, engine)
	require.NoError(t, err)
	require.Equal(t, []container.DeviceRequest{{DeviceIDs: []string{"GPU-b", "GPU-d"}, Capabilities: [][]string{{"gpu"}}}}, p.container.HostConfig.DeviceRequests)
	require.Equal(t, []string{"A=1"}, environment(a, "", nil), "what the user says of devices is not heeded")

	a.GPUs = runtime.GPUs{Count: 2}
	require.Equal(t, []container.DeviceRequest{{Count: 2, Capabilities: [][]string{{"gpu"}}}}, resources(a, system.Info{NCPU: 4}).DeviceRequests, "the engine chooses")
	a.GPUs = runtime.GPUs{}
	p, err = h.plan(a, engine)
	require.NoError(t, err)
	require.Empty(t, p.container.HostConfig.DeviceRequests)
	require.Equal(t, []string{"A=1", envGPUs + "=" + noGPU}, environment(a, "", nil))
}

func TestPlan_NoPrivilegesUnlessTheSettingsSaySo(t *testing.T) {
	t.Parallel()
	for privileges, want := range map[bool][]string{false: {"no-new-privileges"}, true: nil} {
		h := &Runtime{config: Config{Owner: "o", AllowNewPrivileges: privileges}}
		p, err := h.plan(runtime.Allocation{ID: "a", Image: "i"}, system.Info{NCPU: 4})
		require.NoError(t, err)
		require.Equal(t, want, p.container.HostConfig.SecurityOpt)
		require.False(t, p.container.HostConfig.Privileged)
	}
}

func TestPlan_ArgumentsMayNameTheEntrypoint(t *testing.T) {
	t.Parallel()
	h := &Runtime{config: Config{Owner: "o"}}
	p, err := h.plan(runtime.Allocation{ID: "a", Image: "i", Args: `{"entrypoint":["sh","-c"],"cmd":["it's"]}`, Hostname: "here"}, system.Info{NCPU: 4})
	require.NoError(t, err)
	require.Equal(t, []string{"sh", "-c"}, []string(p.container.Config.Entrypoint))
	require.Equal(t, []string{"it's"}, []string(p.container.Config.Cmd))
	require.Equal(t, "here", p.container.Config.Hostname)
	p, err = h.plan(runtime.Allocation{ID: "a", Image: "i"}, system.Info{NCPU: 4})
	require.NoError(t, err)
	require.Nil(t, p.container.Config.Entrypoint)
	_, err = h.plan(runtime.Allocation{ID: "a", Image: "i", Args: `{"cmd":7}`}, system.Info{NCPU: 4})
	require.ErrorContains(t, err, "args: JSON must be")
}

func TestPlan_GivesAContainerItsPorts(t *testing.T) {
	t.Parallel()
	local := netip.MustParseAddr("127.0.0.1")
	h := &Runtime{config: Config{Owner: "o", Publish: local}}
	a := runtime.Allocation{ID: "a", Image: "i", Ports: []string{"22/tcp", "8080/http", "53/udp", "80/tcp"}, Env: map[string]string{"A": "1"}, GPUs: runtime.GPUs{Count: 1, Devices: []string{"0"}}}
	p, err := h.plan(a, system.Info{NCPU: 4, Runtimes: map[string]system.RuntimeWithStatus{nvidia: {}}})
	require.NoError(t, err)

	ports := reserve(a.Ports, local)
	defer ports.release()
	require.Len(t, ports.ports, 2)
	require.NotEqual(t, ports.ports[0].Public, ports.ports[1].Public)

	o := h.complete(p.container, a, ports.ports)
	require.Equal(t, []string{
		"A=1", "RUNPOD_PUBLIC_IP=127.0.0.1", "RUNPOD_TCP_PORT_22=" + strconv.Itoa(ports.ports[0].Public), "RUNPOD_TCP_PORT_80=" + strconv.Itoa(ports.ports[1].Public),
	}, o.Config.Env)

	bound := func(text string) string { return o.HostConfig.PortBindings[network.MustParsePort(text)][0].HostPort }
	require.Equal(t, strconv.Itoa(ports.ports[0].Public), bound("22/tcp"))
	require.Equal(t, strconv.Itoa(ports.ports[1].Public), bound("80/tcp"))
	require.Empty(t, bound("8080/tcp"))
	require.Empty(t, bound("53/udp"))
	require.Empty(t, p.container.HostConfig.PortBindings[network.MustParsePort("22/tcp")][0].HostPort, "another try has other ports")
}

func TestPorts_AreReservedUpToABound(t *testing.T) {
	t.Parallel()
	var many []string
	for port := range 1000 {
		many = append(many, strconv.Itoa(port+1)+"/tcp")
	}
	ports := reserve(many, netip.MustParseAddr("127.0.0.1"))
	require.Len(t, ports.listeners, mostReserved)
	ports.release()
	require.Empty(t, reserve(many, netip.MustParseAddr("192.0.2.1")).ports, "that is no address of this machine")
}
