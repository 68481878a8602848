package docker

import (
	"net"
	"net/netip"
	"os"
	"testing"

	"github.com/moby/moby/api/types/container"
	"github.com/moby/moby/api/types/network"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestThrough_AddressMeansAPortOfOneMachine(t *testing.T) {
	t.Parallel()
	at := netip.MustParseAddrPort("127.0.0.1:20001")
	one, other := through("ssh://berth@box-1", "pod", at), through("ssh://berth@box-2", "pod", at)
	require.NotEqual(t, one, other, "they share no connection")
	to, ok := beyond(one)
	require.True(t, ok)
	require.Equal(t, beyondSSH{"ssh://berth@box-1", "pod", "127.0.0.1:20001"}, to)

	for _, text := range []string{"127.0.0.1:80", "box.example:80", "xyz" + throughName + ":80", "6162" + throughName + ":80", throughName} {
		_, ok := beyond(text)
		require.False(t, ok, text)
	}
}

func TestTunnels_AreBounded(t *testing.T) {
	t.Parallel()
	var all tunnels
	box := func(allocation string) beyondSSH { return beyondSSH{engine: "ssh://box", allocation: allocation} }
	for range mostOfOne {
		_, err := all.begin(box("greedy"))
		require.NoError(t, err)
	}
	_, err := all.dial(t.Context(), "tcp", through("ssh://box", "greedy", netip.MustParseAddrPort("127.0.0.1:1")))
	require.ErrorIs(t, err, errManyThrough, "one has as many as one may")
	require.Equal(t, compute.Unavailable, compute.CodeOf(err))

	for range mostThrough - mostOfOne {
		_, err := all.begin(box("another"))
		require.NoError(t, err)
	}
	all.end(box("greedy"))
	options, err := all.begin(beyondSSH{engine: "ssh://another", allocation: "third"})
	require.NoError(t, err)
	first, err := all.begin(box("greedy"))
	require.ErrorIs(t, err, errManyThrough, "all have")
	require.Empty(t, first)
	require.NotContains(t, options, all.shared["ssh://box"], "each machine has a connection of its own")

	all.end(box("another"))
	dir := all.dir
	require.NoError(t, os.RemoveAll(dir)) // as those who tidy up do
	_, err = all.begin(box("another"))
	require.NoError(t, err)
	require.DirExists(t, all.dir)
	dir = all.dir
	all.close()
	require.NoDirExists(t, dir)
	_, err = all.begin(box("another"))
	require.ErrorIs(t, err, errClosed)
}

// Where an engine is on another machine, its loopback is not this one's.
func TestReached_IsWhereTheEngineIs(t *testing.T) {
	t.Parallel()
	every, loopback, other := netip.IPv4Unspecified(), netip.MustParseAddr("127.0.0.1"), netip.MustParseAddr("10.0.0.7")
	for name, c := range map[string]struct {
		host   string
		direct bool
		bound  netip.Addr
		via    string
		inner  string
	}{
		"this machine":          {"unix:///run/docker.sock", false, every, "", ""},
		"by SSH":                {"ssh://berth@box", false, every, "127.0.0.1:5000", ""},
		"by SSH, its loopback":  {"ssh://berth@box", false, loopback, "127.0.0.1:5000", ""},
		"by SSH, one address":   {"ssh://berth@box", false, other, "10.0.0.7:5000", ""},
		"by SSH, directly":      {"ssh://berth@box", true, every, "", "box:5000"},
		"by TCP":                {"tcp://box:2376", false, every, "", "box:5000"},
		"by TCP, its loopback":  {"tcp://box:2376", false, loopback, "", "box:5000"},
		"by TCP, one address":   {"tcp://box:2376", false, other, "", ""},
		"the engine of DOCKER_": {"", false, loopback, "", ""},
	} {
		h := &Runtime{config: Config{Host: c.host, DirectHTTP: c.direct}}
		p := h.reached(compute.PublishedPort{Private: 80, Public: 5000}, "pod", c.bound)
		require.Equal(t, c.inner, p.Inner, name)
		if c.via == "" {
			require.Empty(t, p.Via, name)
			continue
		}
		to, ok := beyond(p.Via)
		require.True(t, ok, name)
		require.Equal(t, beyondSSH{c.host, "pod", c.via}, to, name)
	}

	h := &Runtime{config: Config{Host: "ssh://box"}}
	require.Equal(t, compute.PublishedPort{Private: 80}, h.reached(compute.PublishedPort{Private: 80}, "pod", netip.Addr{}), "it is not published")
	_, _, err := net.SplitHostPort(through("ssh://box", "pod", netip.MustParseAddrPort("[::1]:80")))
	require.NoError(t, err)
}

// What is published on every address of another machine is at that machine, not where the server is.
func TestMachineIP_IsThatOfTheEngine(t *testing.T) {
	t.Parallel()
	for host, want := range map[string]string{
		"": "", "unix:///run/docker.sock": "", "tcp://127.0.0.1:2375": "", "tcp://[::1]:2375": "", "tcp://localhost:2375": "",
		"tcp://192.0.2.7:2376": "192.0.2.7", "ssh://berth@192.0.2.7": "192.0.2.7", "tcp://[2001:db8::7]:2376": "2001:db8::7",
	} {
		h := &Runtime{ctx: t.Context(), config: Config{Host: host}}
		require.Equal(t, want, h.machineIP(), host)
	}
	h := &Runtime{ctx: t.Context(), config: Config{Host: "ssh://127.0.0.1", machine: "127.0.0.1"}}
	require.Equal(t, "127.0.0.1", h.machineIP(), "a host of the fleet says where it is")

	h = &Runtime{ctx: t.Context(), config: Config{Host: "tcp://192.0.2.7:2376", Publish: netip.IPv4Unspecified()}}
	require.Equal(t, "192.0.2.7", h.publicIP())
	all := h.published(container.InspectResponse{
		Config: &container.Config{Labels: map[string]string{labelPorts: "22/tcp"}},
		NetworkSettings: &container.NetworkSettings{Ports: network.PortMap{
			network.MustParsePort("22/tcp"): {{HostIP: netip.IPv4Unspecified(), HostPort: "5000"}},
		}},
	})
	require.Equal(t, []compute.PublishedPort{{Private: 22, Public: 5000, Type: "tcp", IP: "192.0.2.7", Inner: "192.0.2.7:5000"}}, all)
}
