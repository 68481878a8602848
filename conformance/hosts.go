package conformance

import (
	"fmt"
	"net/url"

	"github.com/stretchr/testify/require"
)

// box is a host in a data center whose own host for CPU pods is box's rival: what asks for that data center gets one of the two.
const (
	box   = `{"id":"box","dataCenterId":"EU-RO-1","cpus":["cpu3g"],"vcpus":4,"memoryGb":64,"diskGb":100}`
	rival = "EU-RO-1/SECURE/cpu"
	inBox = `{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":4},"dataCenterIds":["EU-RO-1"]}`
)

// hosts gives the hosts of the fleet by their ids.
func (c *Check) hosts() map[string]map[string]any {
	a := c.control("GET", "hosts", "")
	require.Equal(c, 200, a.Status, "%s", a.Body)
	all := map[string]map[string]any{}
	for _, one := range a.JSON["hosts"].([]any) {
		h := one.(map[string]any)
		all[h["id"].(string)] = h
	}
	return all
}

// addBox adds box, which is the only host for pods that ask for inBox until it is taken out again by the function it gives.
func (c *Check) addBox() (remove func()) {
	require.Contains(c, c.hosts(), rival, "the target's fleet is another one")
	a := c.control("POST", "hosts", box)
	require.Equal(c, 201, a.Status, "%s", a.Body)
	c.drain(rival, true)
	return func() {
		c.drain(rival, false)
		c.control("DELETE", "hosts/box", "")
	}
}

func (c *Check) drain(host string, on bool) {
	a := c.control("PATCH", "hosts/"+url.PathEscape(host), fmt.Sprintf(`{"draining":%t}`, on))
	require.Equal(c, 200, a.Status, "%s", a.Body)
	require.Equal(c, on, a.JSON["draining"])
}

// freeOf gives the vCPUs of a host that nobody holds.
func (c *Check) freeOf(host string) any {
	return c.hosts()[host]["free"].(map[string]any)["vcpus"]
}

var _ = area(func() {
	add("hosts.list", []string{"listHosts"}, func(c *Check) {
		defer c.addBox()()
		require.EqualValues(c, 4, c.hosts()["box"]["vcpus"])
		require.EqualValues(c, 4, c.freeOf("box"))
		pod := c.newPod(inBox)
		require.EqualValues(c, 0, c.freeOf("box"))
		c.delete(pod)
		require.EqualValues(c, 4, c.freeOf("box"))
	})

	add("hosts.add", []string{"addHost"}, func(c *Check) {
		defer c.addBox()()
		c.newPod(inBox)
		c.full(inBox)
		c.Refused(c.control("POST", "hosts", box), 409)
		c.Refused(c.control("POST", "hosts", `{"id":"x","dataCenterId":"XX"}`), 400)
		c.Refused(c.control("POST", "hosts", `{"id":"x","dataCenterId":"EU-RO-1","gpuCount":1}`), 400)
		require.Len(c, c.Refused(c.control("POST", "hosts", `{"dataCenterId":"EU-RO-1","vcpu":4}`), 422), 2)
		require.NotContains(c, c.hosts(), "x")
	})

	add("hosts.drain", []string{"changeHost"}, func(c *Check) {
		defer c.addBox()()
		pod := c.newPod(`{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":2},"dataCenterIds":["EU-RO-1"]}`)
		c.drain("box", true)
		c.full(inBox)
		require.NotEqual(c, "ERROR", c.getPod(pod)["status"])
		c.delete(pod)
		c.full(inBox)
		c.drain("box", false)
		c.newPod(inBox)
		require.Equal(c, 200, c.control("PATCH", "hosts/"+rival, `{"draining":true}`).Status, "its id has slashes, which need not be escaped")
		c.Refused(c.control("PATCH", "hosts/nosuchhost", `{"draining":true}`), 404)
	})

	add("hosts.remove", []string{"removeHost"}, func(c *Check) {
		defer c.addBox()()
		pod := c.newPod(inBox)
		c.set("DELETE", "hosts/box", "")
		c.becomes(pod, "ERROR")
		c.systemLog(pod, "its host box left the fleet")
		require.NotContains(c, c.hosts(), "box")
		c.full(inBox)
		c.Refused(c.control("DELETE", "hosts/nosuchhost", ""), 404)
	})

	add("hosts.engine", []string{"addHost"}, func(c *Check) {
		for _, engine := range []string{"unix:///nowhere/docker.sock", "nowhere"} { // a target with test controls simulates
			a := c.control("POST", "hosts", `{"id":"x","dataCenterId":"EU-RO-1","diskGb":1,"vcpus":1,"engine":"`+engine+`"}`)
			c.Refused(a, 400)
			require.Contains(c, a.JSON["detail"], "engine")
		}
		require.NotContains(c, c.hosts(), "x")
		c.Refused(c.control("POST", "hosts", `{"id":"x","dataCenterId":"EU-RO-1","engine":""}`), 422)
	})

	add("hosts.scope", []string{"listHosts", "addHost", "changeHost", "removeHost"}, func(c *Check) {
		c.needsControls()
		_, writer := c.newKey("", "rest:write", "rest:read", "queue:*:invoke")
		for _, op := range c.Operations() {
			if op.Document == "controls" && isHosts(op) {
				c.Refused(c.Send(Request{Method: op.Method, URL: c.URL + op.Path, Body: "{}", Key: "Bearer " + writer}), 403)
			}
		}

		_, admin := c.newKey("", "admin")
		require.Equal(c, 200, c.Send(Request{Method: "GET", URL: c.URL + controlsPath + "hosts", Key: "Bearer " + admin}).Status)
		c.Refused(c.listPods(admin), 403)
	})
})
