package conformance

import (
	"sync"

	"github.com/stretchr/testify/require"
)

// oneL4 is the body of a pod with one L4; more are further members.
func oneL4(more string) string {
	return `{"name":"a","image":"i","gpu":{"id":"NVIDIA L4"}` + more + `}`
}

// full asserts that nothing can hold the pod now, and gives the detail.
func (c *Check) full(body string) string {
	a := c.REST("POST", "/v2/pods", body)
	require.Empty(c, c.Refused(a, 400))
	require.Contains(c, a.JSON["detail"], "nothing can hold the pod now")
	return a.JSON["detail"].(string)
}

// delete deletes the pod.
func (c *Check) delete(id string) {
	require.Equal(c, 204, c.REST("DELETE", "/v2/pods/"+id, "").Status)
}

var _ = area(func() {
	create, act := []string{"createPod"}, []string{"createPod", "podAction"}
	add("placement.full", create, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 2, ""), l4s("AP-JP-1", 1, ""))()
		detail := c.full(withGPU(`{"id":"NVIDIA L4","count":3}`))
		require.Contains(c, detail, "asked for 3 GPUs of NVIDIA L4")
		require.Contains(c, detail, "3 in all, at most 2")
	})

	add("placement.full.nothing", []string{"createPod", "listPods"}, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 1, ""))()
		before := len(c.listed())
		c.full(withGPU(`{"id":"NVIDIA L4","count":2}`))
		require.Len(c, c.listed(), before)
		c.createPod(oneL4(""))
	})

	add("placement.one-host", create, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 2, ""), l4s("EU-RO-1", 2, ""))()
		c.full(withGPU(`{"id":"NVIDIA L4","count":3}`))
		c.createPod(withGPU(`{"id":"NVIDIA L4","count":2}`))
		c.createPod(withGPU(`{"id":"NVIDIA L4","count":2}`))
		c.full(oneL4(""))
	})

	add("placement.gaps", create, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 2, ""), l4s("EU-RO-1", 1, ""))()
		c.createPod(oneL4(""))
		c.createPod(withGPU(`{"id":"NVIDIA L4","count":2}`))
	})

	add("placement.cpu", create, func(c *Check) {
		defer c.capacity(cpu3gs("EU-RO-1", 6))()
		c.createPod(cpuPod)
		require.Contains(c, c.full(cpuPod), "asked for 4 vCPUs of cpu3g")
		c.createPod(withCPU(`{"id":"cpu3g","vcpuCount":2}`))
		c.full(withCPU(`{"id":"cpu3g","vcpuCount":2}`))
	})

	add("placement.disk", create, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 5, `,"disk":100`))()
		c.createPod(oneL4(`,"disk":60`))
		require.Contains(c, c.full(oneL4(`,"disk":41`)), "41 GB of disk")
		c.full(oneL4(`,"disk":20,"mounts":{"persistent":{"size":21,"path":"/d"}}`))
		c.full(oneL4(`,"disk":9223372036854775807,"mounts":{"persistent":{"size":9223372036854775807,"path":"/d"}}`))
		c.createPod(oneL4(`,"disk":20,"mounts":{"persistent":{"size":20,"path":"/d"}}`))
		c.full(oneL4(`,"disk":1`))
	})

	add("placement.disk.patch", []string{"createPod", "updatePod"}, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 5, `,"disk":100`))()
		id := c.newPod(oneL4(`,"disk":50,"mounts":{"persistent":{"size":10,"path":"/d"}}`))
		for _, disk := range []string{"91", "3000000000", "9223372036854775807"} {
			c.Refused(c.patch(id, `{"disk":`+disk+`}`), 400)
		}
		c.Refused(c.patch(id, `{"mounts":{"persistent":{"size":51,"path":"/d"}}}`), 400)
		require.EqualValues(c, 50, c.getPod(id)["disk"])

		c.patched(id, `{"disk":90}`)
		c.full(oneL4(`,"disk":1`))
		c.patched(id, `{"disk":10}`)
		other := c.newPod(oneL4(`,"disk":80`))
		c.full(oneL4(`,"disk":1`))
		c.delete(id)
		c.full(oneL4(`,"disk":21`))
		c.delete(other)
		c.createPod(oneL4(`,"disk":100`))
	})

	add("placement.cloud", create, func(c *Check) {
		host := `{"gpu":"NVIDIA GeForce RTX 4090","dataCenterId":"EU-RO-1","count":1,"cloud":"COMMUNITY"}`
		defer c.capacity(host)()
		require.Contains(c, c.full(gpuPod), "SECURE")
		c.createPod(with(`"cloud":"COMMUNITY"`))
	})

	add("placement.data-centers", create, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 1, ""), l4s("AP-JP-1", 1, ""), l4s("US-KS-2", 1, ""))()
		body := oneL4(`,"dataCenterIds":["US-KS-2","EU-RO-1"]`)
		require.Equal(c, "US-KS-2", c.createPod(body)["dataCenterId"])
		require.Equal(c, "EU-RO-1", c.createPod(body)["dataCenterId"])
		require.Contains(c, c.full(body), "US-KS-2 or EU-RO-1")
		require.Equal(c, "AP-JP-1", c.createPod(oneL4(""))["dataCenterId"])
	})

	add("placement.global-networking", create, func(c *Check) {
		defer c.capacity(l4s("AP-JP-1", 5, ""), l4s("EU-CZ-1", 1, ""))()
		require.Equal(c, "EU-CZ-1", c.createPod(oneL4(`,"globalNetworking":true`))["dataCenterId"])
		require.Contains(c, c.full(oneL4(`,"globalNetworking":true`)), "global networking")
	})

	add("placement.parallel", create, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 100, ""), l4s("AP-JP-1", 60, ""))()
		answers := make([]Answer, 200)
		var group sync.WaitGroup
		for i := range answers {
			group.Go(func() { answers[i] = c.REST("POST", "/v2/pods", oneL4("")) })
		}
		group.Wait()

		made := 0
		for _, a := range answers {
			if a.Status == 201 {
				made++
			} else {
				c.Refused(a, 400)
			}
		}

		require.Equal(c, 160, made)
	})

	add("placement.released", act, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 1, ""))()
		id := c.newPod(oneL4(""))
		c.full(oneL4(""))
		c.acted(id, "stop", "EXITED")
		c.createPod(oneL4(""))
	})

	add("placement.released.terminate", append(act, "deletePod"), func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 1, ""))()
		id := c.newPod(oneL4(`,"mounts":{"persistent":{"size":20,"path":"/d"}}`))
		require.Equal(c, 204, c.act(id, "terminate").Status)
		id = c.newPod(oneL4(""))
		c.delete(id)
		c.createPod(oneL4(""))
	})

	add("placement.released.ended", create, func(c *Check) {
		c.needsSim()
		defer c.capacity(l4s("EU-RO-1", 1, ""))()
		for env, status := range map[string]string{
			`{"BERTH_SIM_START_ERROR":"as asked"}`:                    "ERROR",
			`{"BERTH_SIM_EXIT_AFTER":"1s"}`:                           "EXITED",
			`{"BERTH_SIM_EXIT_AFTER":"1s","BERTH_SIM_EXIT_CODE":"1"}`: "ERROR",
		} {
			c.becomes(c.newPod(oneL4(`,"env":`+env)), status)
		}
	})

	add("placement.restart", act, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 1, ""))()
		id := c.running(oneL4(""))
		c.acted(id, "restart", "STARTING")
		c.full(oneL4(""))
	})

	add("placement.start.full", act, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 1, ""))()
		id := c.newPod(oneL4(""))
		c.acted(id, "stop", "EXITED")
		other := c.newPod(oneL4(""))
		a := c.act(id, "start")
		c.Refused(a, 400)
		require.Contains(c, a.JSON["detail"], "nothing can hold the pod now")
		require.Equal(c, "EXITED", c.getPod(id)["status"])

		c.delete(other)
		c.acted(id, "start", "PROVISIONING")
		c.full(oneL4(""))
	})

	add("placement.start.data-center", act, func(c *Check) {
		defer c.capacity(l4s("AP-JP-1", 1, ""), l4s("EU-RO-1", 5, ""))()
		id := c.newPod(oneL4(`,"dataCenterIds":["AP-JP-1"]`))
		c.acted(id, "stop", "EXITED")
		other := c.newPod(oneL4(`,"dataCenterIds":["AP-JP-1"]`))
		c.Refused(c.act(id, "start"), 400)
		c.delete(other)
		c.acted(id, "start", "PROVISIONING")
		require.Equal(c, "AP-JP-1", c.getPod(id)["dataCenterId"])
	})

	// Two hosts of one data center have one GPU each. One of the two other pods has the pinned pod's host: only when that one
	// goes the pinned pod can be started.
	add("placement.pinned", act, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 1, ""), l4s("EU-RO-1", 1, ""))()
		pinned := c.newPod(oneL4(`,"mounts":{"persistent":{"size":20,"path":"/d"}}`))
		c.acted(pinned, "stop", "EXITED")
		first, second := c.newPod(oneL4("")), c.newPod(oneL4(""))

		starts := 0
		for _, id := range []string{first, second} {
			c.delete(id)
			if a := c.act(pinned, "start"); a.Status == 200 {
				starts++
				c.acted(pinned, "stop", "EXITED")
			} else {
				c.Refused(a, 400)
				require.Contains(c, a.JSON["detail"], "the host that holds its data")
			}
			c.newPod(oneL4(""))
		}

		require.Equal(c, 1, starts)
	})

	add("placement.pinned.storage", act, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 1, `,"disk":100`))()
		id := c.newPod(oneL4(`,"disk":10,"mounts":{"persistent":{"size":60,"path":"/d"}}`))
		c.acted(id, "stop", "EXITED")
		c.full(oneL4(`,"disk":41`))
		c.delete(c.newPod(oneL4(`,"disk":40`)))
		c.delete(id)
		c.createPod(oneL4(`,"disk":100`))
	})

	add("placement.cuda", []string{"getPod"}, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 5, `,"cudaVersion":"12.4"`), l4s("AP-JP-1", 2, `,"cudaVersion":"12.8"`), l4s("US-KS-2", 5, `,"cudaVersion":"12.11"`))()
		placed := func(versions ...*string) any {
			return c.deployed(func(in *deployInput) { in.GpuTypeId, in.AllowedCudaVersions = to(l4), versions })["dataCenterId"]
		}
		require.Equal(c, "AP-JP-1", placed(to("12.8")))
		require.Equal(c, "US-KS-2", placed(to("99.0"), to("12.11")))
		require.Equal(c, "EU-RO-1", placed(to("12.4")))
		require.Equal(c, "AP-JP-1", placed(to("12.8")))

		a := c.graphQL(`mutation{podFindAndDeployOnDemand(input:{imageName:"i",gpuCount:1,gpuTypeId:"` + l4 + `",allowedCudaVersions:["12.8"]}){id}}`)
		require.Contains(c, c.wrongly(a, 200, "REJECTED"), "CUDA 12.8")
	})

	add("pods.patch.global-networking.data-center", []string{"createPod", "updatePod"}, func(c *Check) {
		id := c.newPod(with(`"dataCenterIds":["AP-JP-1"]`))
		c.Refused(c.patch(id, `{"globalNetworking":true}`), 400)
		c.patched(c.newPod(with(`"dataCenterIds":["EU-RO-1"]`)), `{"globalNetworking":true}`)
	})
})
