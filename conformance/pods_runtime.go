package conformance

import (
	"fmt"
	"net/netip"
	"time"

	"github.com/stretchr/testify/require"
)

// runtimeOf gives what a RUNNING pod does, once it is measured.
func (c *Check) runtimeOf(id string) (r map[string]any) {
	c.Eventually(func() bool {
		r, _ = c.getPod(id)["runtime"].(map[string]any)
		return r["cpu"] != nil
	}, "the pod is measured")
	return r
}

// mapped gives those of the pod's runtime.ports that have a public number, which are those that GraphQL lists.
func (c *Check) mapped(id string) (ports []map[string]any) {
	for _, one := range c.runtimeOf(id)["ports"].([]any) {
		if port := one.(map[string]any); port["public"] != nil {
			ports = append(ports, port)
		}
	}
	return ports
}

// share asserts a whole percentage.
func (c *Check) share(value any) {
	n, ok := value.(float64)
	require.True(c, ok, "%v", value)
	require.InDelta(c, float64(int(n)), n, 0, "it is whole")
	require.GreaterOrEqual(c, n, 0.0)
	require.LessOrEqual(c, n, 100.0)
}

var _ = area(func() {
	read := []string{"createPod", "getPod"}
	for _, name := range []string{"cpu", "memory"} {
		add("pods.runtime."+name, append(read, "listPods"), func(c *Check) {
			id := c.running(cpuPod)
			c.share(c.runtimeOf(id)[name].(map[string]any)["util"])
			for _, one := range c.everyOne("/v2/pods", "pods") {
				if pod := one.(map[string]any); pod["id"] == id {
					c.share(pod["runtime"].(map[string]any)[name].(map[string]any)["util"])
					return
				}
			}
			require.Fail(c, "the pod is not listed")
		})
	}

	add("pods.runtime.gpus", read, func(c *Check) {
		gpus := c.runtimeOf(c.running(withGPU(`{"id":"NVIDIA L4","count":3}`)))["gpus"].([]any)
		require.Len(c, gpus, 3)
		for _, g := range gpus {
			require.Len(c, g, 2)
			c.share(g.(map[string]any)["util"])
			c.share(g.(map[string]any)["memoryUtil"])
		}
		require.Equal(c, []any{}, c.runtimeOf(c.running(cpuPod))["gpus"])
	})

	add("pods.runtime.ports.own", read, func(c *Check) {
		taken := map[string]string{}
		const body = `"ports":["8888/http","22/tcp"]`
		for _, id := range []string{c.running(cpuWith(body)), c.running(cpuWith(body)), c.running(cpuWith(body))} {
			mapped := c.mapped(id)
			over := c.graphPod(id).Runtime.Ports
			for i, port := range mapped {
				at := fmt.Sprint(port["ip"], ":", port["public"])
				require.Empty(c, taken[at], "%s is that of another pod", at)
				taken[at] = id
				require.Equal(c, at, fmt.Sprint(*over[i].Ip, ":", *over[i].PublicPort), "over GraphQL")
			}
		}
	})

	add("pods.runtime.ports", append(read, "podAction"), func(c *Check) {
		id := c.running(cpuWith(`"ports":["8888/http","22/tcp","53/udp"]`))
		check := func() {
			ports := c.runtimeOf(id)["ports"].([]any)
			require.Len(c, ports, 3)
			public := map[any]bool{}
			for i, want := range []map[string]any{{"private": 8888.0, "type": "http"}, {"private": 22.0, "type": "tcp"}, {"private": 53.0, "type": "udp"}} {
				port := ports[i].(map[string]any)
				require.Len(c, port, 4)
				require.Equal(c, want["private"], port["private"])
				require.Equal(c, want["type"], port["type"])

				if port["public"] != nil {
					require.Greater(c, port["public"], 0.0)
					require.Less(c, port["public"], 65_536.0)
					require.False(c, public[port["public"]])
					public[port["public"]] = true
				}

				if port["ip"] != nil {
					_, err := netip.ParseAddr(port["ip"].(string))
					require.NoError(c, err)
				}
			}
		}

		check()
		before := c.time(c.getPod(id)["startedAt"])
		c.acted(id, "restart", "STARTING")
		require.True(c, c.time(c.becomes(id, "RUNNING")["startedAt"]).After(before))

		check()
		require.Equal(c, []any{}, c.runtimeOf(c.running(cpuPod))["ports"])
	})

	add("pods.create.disk.wiped", []string{"createPod", "podAction", "getPodLogs"}, func(c *Check) {
		c.needsSim()
		id := c.running(with(`"env":{"BERTH_SIM_MARK":"mark"},"mounts":{"persistent":{"size":20,"path":"/d"}}`))
		s := c.logs(id, "?source=container", "")
		defer s.hangUp()
		s.until("sim: up")
		require.Equal(c, []string{"container disk has nothing", "persistent mount has nothing"}, s.texts(2))
		c.acted(id, "restart", "STARTING")
		s.until("sim: up")
		require.Equal(c, []string{"container disk has nothing", `persistent mount has "mark"`}, s.texts(2))
	})
})

// networked is the body of a globally networked pod with more members.
func networked(members string) string { return with(`"globalNetworking":true` + members) }

// network gives globalNetworking of a pod.
func (c *Check) network(id string) map[string]any {
	return c.getPod(id)["globalNetworking"].(map[string]any)
}

// reaches gives what a new pod says of a name in its network.
func (c *Check) reaches(body func(members string) string, name string) string {
	s := c.logs(c.running(body(`,"env":{"BERTH_SIM_REACH":"`+name+`"}`)), "?source=container", "")
	defer s.hangUp()
	s.until("sim: up")
	return s.texts(1)[0]
}

var _ = area(func() {
	ops := []string{"createPod", "getPod", "podAction"}
	off := map[string]any{"enabled": false}
	add("pods.global-networking.ip", ops, func(c *Check) {
		made := c.createPod(networked(""))["globalNetworking"].(map[string]any)
		require.Equal(c, true, made["enabled"])
		ip, err := netip.ParseAddr(made["ip"].(string))
		require.NoError(c, err)
		require.True(c, ip.IsPrivate())
		require.Equal(c, off, c.network(c.newPod(gpuPod)))
	})

	add("pods.global-networking.reach", append(ops, "getPodLogs"), func(c *Check) {
		c.needsSim()
		to := c.network(c.running(networked("")))
		name := to["internalDns"].(string)
		require.Equal(c, "reaches "+name+" at "+to["ip"].(string), c.reaches(networked, name))
	})

	add("pods.global-networking.account", append(ops, "getPodLogs"), func(c *Check) {
		c.needsSim()
		first := c.network(c.running(networked("")))
		name := first["internalDns"].(string)
		require.NotEqual(c, first["ip"], c.network(c.newPod(networked("")))["ip"])
		require.Equal(c, "does not reach "+name, c.reaches(func(members string) string { return with(members[1:]) }, name))
		_, c.Key = c.newKey(`,"user":"stranger"`, "all") // from here on somebody else asks
		other := c.newPod(networked(""))
		require.NotEqual(c, first["ip"], c.network(other)["ip"])
		require.Equal(c, "does not reach "+name, c.reaches(networked, name))
	})

	add("pods.global-networking.keep", ops, func(c *Check) {
		id := c.running(networked(""))
		before := c.network(id)
		c.acted(id, "stop", "EXITED")
		require.Equal(c, before, c.network(id))
		require.NotEqual(c, before["ip"], c.network(c.newPod(networked("")))["ip"])
		c.acted(id, "start", "PROVISIONING")
		require.Equal(c, before, c.network(id))
	})

	add("pods.patch.global-networking", append(ops, "updatePod"), func(c *Check) {
		c.needsControls()
		id := c.running(with(`"dataCenterIds":["EU-RO-1"]`))
		require.Equal(c, off, c.patched(id, `{"globalNetworking":true}`)["globalNetworking"])
		c.advance(10 * time.Second)
		require.Equal(c, off, c.network(id))

		c.acted(id, "restart", "STARTING")
		require.Equal(c, true, c.network(id)["enabled"])
		require.NotEmpty(c, c.network(id)["ip"])
		c.becomes(id, "RUNNING")
		require.Equal(c, true, c.patched(id, `{"globalNetworking":false}`)["globalNetworking"].(map[string]any)["enabled"])

		c.acted(id, "stop", "EXITED")
		require.Equal(c, true, c.network(id)["enabled"])
		c.acted(id, "start", "PROVISIONING")
		require.Equal(c, off, c.network(id))
	})
})
