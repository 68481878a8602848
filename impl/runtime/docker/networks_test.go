package docker_test

import (
	"context"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/moby/moby/client"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/docker"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
)

// subnets are far from those that berth gives, so that a server on the same engine is in no way.
var subnets = []netip.Prefix{netip.MustParsePrefix("10.203.0.0/20"), netip.MustParsePrefix("10.203.16.0/20")}

func link(subnet netip.Prefix, last byte, name string) *runtime.Link {
	ip := subnet.Addr().As4()
	ip[3] = last
	return &runtime.Link{Subnet: subnet, Address: netip.AddrFrom4(ip), Name: name}
}

func TestNetworks_JoinContainersOfOneSubnetAlone(t *testing.T) {
	t.Parallel()
	c, owner := dockertest.Need(t)
	host := open(t, docker.Config{Owner: owner})
	serving := playing("serving", "serve 8080", "stay")
	serving.Ports = []string{"8080/http"}
	serving.Link = link(subnets[0], 2, "serving.pod.berth.internal")
	require.NoError(t, host.Start(t.Context(), serving))
	require.NotZero(t, await(t, host, "serving", runtime.Up).Ports[0].Public, "ports are published all the same")

	fetch := []string{"fetch serving.pod.berth.internal:8080", "fetch " + serving.Link.Address.String() + ":8080"}
	for id, want := range map[string]struct {
		link    *runtime.Link
		answers []string
	}{
		"friend":   {link(subnets[0], 3, "friend.pod.berth.internal"), []string{"ok", "ok"}},
		"stranger": {link(subnets[1], 2, "stranger.pod.berth.internal"), []string{"unreachable", "unreachable"}},
		"alone":    {nil, []string{"unreachable", "unreachable"}},
	} {
		a := playing(id, fetch...)
		a.Link = want.link
		require.NoError(t, host.Start(t.Context(), a))
		await(t, host, id, runtime.Ended)
		var answers []string
		for line := range strings.Lines(logs(t, host, id)) {
			answers = append(answers, strings.TrimSpace(line[strings.LastIndex(line, ": ")+2:]))
		}
		require.Equal(t, want.answers, answers, id)
	}

	networks := func() (names []string) {
		found, err := c.NetworkList(t.Context(), client.NetworkListOptions{Filters: make(client.Filters).Add("label", "dev.berth.owner="+owner)})
		require.NoError(t, err)
		for _, one := range found.Items {
			names = append(names, one.Name)
		}
		return names
	}

	require.Len(t, networks(), 2)
	require.NoError(t, host.Remove(t.Context(), "friend"))
	require.NoError(t, host.Remove(t.Context(), "stranger"))
	require.Equal(t, []string{"berth-" + owner + "-net-10-203-0-0"}, networks(), "one container is still up in it")
	require.NoError(t, host.Remove(t.Context(), "serving"))
	require.Empty(t, networks())
}

func TestRuntime_PullsAPrivateImageWithItsLogin(t *testing.T) {
	t.Parallel()
	_, owner := dockertest.Need(t)
	host := open(t, docker.Config{Owner: owner})
	image := dockertest.Registry(t, "user", "s3cret")

	var opened atomic.Int64
	login := func(password string) func(context.Context) (runtime.Credential, error) {
		return func(context.Context) (runtime.Credential, error) {
			opened.Add(1)
			return runtime.Credential{User: "user", Password: password}, nil
		}
	}

	a := runtime.Allocation{ID: "a", Image: image, Args: "stay"}
	require.NoError(t, host.Start(t.Context(), a))
	require.Contains(t, await(t, host, "a", runtime.Ended).Reason, "cannot be pulled", "without a login")
	a.Credential = login("wr0ng")
	require.NoError(t, host.Start(t.Context(), a))
	require.Eventually(t, func() bool { return opened.Load() == 1 }, patience, look)

	reason := await(t, host, "a", runtime.Ended).Reason
	require.Contains(t, reason, "cannot be pulled")
	require.NotContains(t, reason, "wr0ng")
	a.Credential = login("s3cret")
	require.NoError(t, host.Start(t.Context(), a))

	await(t, host, "a", runtime.Up)
	require.EqualValues(t, 2, opened.Load())
	require.NoError(t, host.Remove(t.Context(), "a"))
	require.NoError(t, host.Start(t.Context(), a))

	await(t, host, "a", runtime.Up)
	require.EqualValues(t, 2, opened.Load(), "the image is there: nobody opens the login")
}

func TestNetworks_EmptyOnesAreSweptAway(t *testing.T) {
	t.Parallel()
	c, owner := dockertest.Need(t)
	host := open(t, docker.Config{Owner: owner})
	a := playing("a", "stay")
	a.Link = link(netip.MustParsePrefix("10.203.32.0/20"), 2, "a.pod.berth.internal")
	require.NoError(t, host.Start(t.Context(), a))

	await(t, host, "a", runtime.Up)
	// As a berth leaves it that is killed between the removal of a container and that of its network.
	_, err := c.NetworkCreate(t.Context(), "berth-"+owner+"-net-left", client.NetworkCreateOptions{Labels: map[string]string{"dev.berth.owner": owner}})
	require.NoError(t, err)

	networks := func() int {
		found, err := c.NetworkList(t.Context(), client.NetworkListOptions{Filters: make(client.Filters).Add("label", "dev.berth.owner="+owner)})
		require.NoError(t, err)
		return len(found.Items)
	}

	require.Equal(t, 2, networks())
	require.NoError(t, host.Sweep(t.Context()))
	require.Equal(t, 1, networks(), "the other one is in use")
	require.NoError(t, host.Remove(t.Context(), "a"))
	require.NoError(t, host.Sweep(t.Context()))
	require.Zero(t, networks())
}
