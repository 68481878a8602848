package conformance

import (
	"context"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graphclient"
)

// myPods gives the caller's pods by GraphQL, and their places in the list.
func (c *Check) myPods() (pods map[string]graphclient.PodFields, order []string) {
	answer, err := graphclient.Myself(context.Background(), c)
	require.NoError(c, err)
	pods = map[string]graphclient.PodFields{}
	for _, p := range answer.Myself.Pods {
		pods[p.Id] = p.PodFields
		order = append(order, p.Id)
	}
	return pods, order
}

// resume sends podResume.
func (c *Check) resume(in graphclient.PodResumeInput) graphclient.PodFields {
	answer, err := graphclient.Resume(context.Background(), c, &in)
	require.NoError(c, err)
	return answer.PodResume.PodFields
}

// stop sends podStop.
func (c *Check) stop(id string) graphclient.PodFields {
	answer, err := graphclient.Stop(context.Background(), c, id)
	require.NoError(c, err)
	return answer.PodStop.PodFields
}

// edit sends podEditJob.
func (c *Check) edit(in graphclient.PodEditJobInput) graphclient.PodFields {
	answer, err := graphclient.Edit(context.Background(), c, &in)
	require.NoError(c, err)
	return answer.PodEditJob.PodFields
}

var _ = area(func() {
	add("graphql.resume", []string{"getPod"}, func(c *Check) {
		id := c.exited()
		require.Equal(c, graphclient.PodStatusRunning, *c.resume(graphclient.PodResumeInput{PodId: id}).DesiredStatus)
		c.becomes(id, "RUNNING")
		require.NotNil(c, c.graphPod(id).Runtime)
		c.wrongly(c.graphQL(`mutation{podResume(input:{podId:"`+id+`"}){id}}`), 200, "CONFLICT")
		c.wrongly(c.graphQL(`mutation{podResume(input:{podId:"nosuchpod"}){id}}`), 200, "NOT_FOUND")
	})

	add("graphql.resume.input", nil, func(c *Check) {
		id := c.exited()
		require.Contains(c, c.wrongly(c.graphQL(`mutation{podResume(input:{podId:"`+id+`",gpuCount:2}){id}}`), 200, "REJECTED"), "gpuCount")
		refused := c.graphQL(`mutation{podResume(input:{podId:"` + id + `",gpuCount:1,allowedCudaVersions:["99.0"]}){id}}`)
		require.Contains(c, c.wrongly(refused, 200, "REJECTED"), "not enough free GPUs")
		c.resume(graphclient.PodResumeInput{PodId: id, GpuCount: to(1), AllowedCudaVersions: []*string{to("12.8")}})
	})

	add("graphql.resume.unserved", []string{"getPod"}, func(c *Check) {
		id := c.exited()
		for fields, words := range map[string]string{`computeType:CPU`: "computeType", `syncMachine:true`: "syncMachine"} {
			require.Contains(c, c.wrongly(c.graphQL(`mutation{podResume(input:{podId:"`+id+`",`+fields+`}){id}}`), 200, "REJECTED"), words)
		}
		require.Equal(c, "EXITED", c.getPod(id)["status"])

		c.resume(graphclient.PodResumeInput{PodId: id, ComputeType: to(graphclient.ComputeTypeGpu), SyncMachine: to(false)})
		cpu := c.running(cpuPod)
		require.Contains(c, c.wrongly(c.graphQL(`mutation{podStop(input:{podId:"`+cpu+`",incrementVersion:true}){id}}`), 200, "REJECTED"), "incrementVersion")
		require.Equal(c, "RUNNING", c.getPod(cpu)["status"])

		c.stop(cpu)
		c.wrongly(c.graphQL(`mutation{podResume(input:{podId:"`+cpu+`",computeType:GPU}){id}}`), 200, "REJECTED")
		c.resume(graphclient.PodResumeInput{PodId: cpu, ComputeType: to(graphclient.ComputeTypeCpu)})
	})

	add("graphql.resume.result", nil, func(c *Check) {
		id := c.exited()
		pod := c.resume(graphclient.PodResumeInput{PodId: id})
		require.Equal(c, id, pod.Id)
		require.Equal(c, "i", *pod.ImageName)
		require.Equal(c, graphclient.PodStatusRunning, *pod.DesiredStatus)
		require.Positive(c, *pod.CostPerHr)
	})

	add("graphql.stop", []string{"getPod"}, func(c *Check) {
		id := c.running(gpuPod)
		require.Equal(c, graphclient.PodStatusExited, *c.stop(id).DesiredStatus)
		require.Equal(c, "EXITED", c.getPod(id)["status"])
		require.Equal(c, graphclient.PodStatusExited, *c.graphPod(id).DesiredStatus)
	})

	add("graphql.stop.released", []string{"getPod"}, func(c *Check) {
		restore := c.capacityWhereItCanBeSet(l4s("EU-RO-1", 1, ""))
		defer restore()
		body := oneL4(`,"env":{"BERTH_SIM_MARK":"mark"},"mounts":{"persistent":{"size":20,"path":"/a"}}`)
		id := c.running(body)
		if c.ControlsKey != "" {
			c.full(oneL4(""))
		}
		pod := c.stop(id)
		if c.ControlsKey != "" {
			c.delete(c.newPod(oneL4(""))) // the only GPU is free
		}
		require.Zero(c, *pod.CostPerHr)
		require.Nil(c, pod.Runtime)
		require.InDelta(c, 20, *pod.VolumeInGb, 0)
		require.Equal(c, "/a", *pod.VolumeMountPath)
		require.InDelta(c, 20, *c.resume(graphclient.PodResumeInput{PodId: id}).VolumeInGb, 0)

		if c.ControlsKey != "" { // the simulated fleet logs what it finds
			c.becomes(id, "RUNNING")
			s := c.logs(id, "?source=container", "")
			defer s.hangUp()
			s.until("sim: up")
			require.Equal(c, []string{"container disk has nothing", "persistent mount has nothing"}, s.texts(2))
			s.until("sim: up")
			require.Equal(c, []string{"container disk has nothing", `persistent mount has "mark"`}, s.texts(2))
		}
	})

	add("graphql.stop.result", nil, func(c *Check) {
		id := c.newPod(gpuPod)
		data := c.data(c.graphQL(`mutation{podStop(input:{podId:"` + id + `",incrementVersion:false}){id desiredStatus}}`))
		require.Equal(c, map[string]any{"id": id, "desiredStatus": "EXITED"}, data["podStop"])
	})

	add("graphql.restart", []string{"getPod"}, func(c *Check) {
		id := c.running(gpuPod)
		data := c.data(c.graphQL(`mutation{podRestart(input:{podId:"` + id + `"}){id desiredStatus}}`))
		require.Equal(c, map[string]any{"id": id, "desiredStatus": "RUNNING"}, data["podRestart"])
		c.becomes(id, "RUNNING")
		c.stop(id)
		c.wrongly(c.graphQL(`mutation{podRestart(input:{podId:"`+id+`"}){id}}`), 200, "CONFLICT")
	})

	add("graphql.terminate", []string{"getPod"}, func(c *Check) {
		id := c.newPod(gpuPod)
		require.Equal(c, map[string]any{"podTerminate": nil}, c.data(c.graphQL(`mutation{podTerminate(input:{podId:"`+id+`"})}`)))
		c.gone(id)
		require.Nil(c, c.graphPod(id))
		pods, _ := c.myPods()
		require.NotContains(c, pods, id)
	})

	add("graphql.terminate.unknown", nil, func(c *Check) {
		a := c.graphQL(`mutation{podTerminate(input:{podId:"nosuchpod"})}`)
		require.Equal(c, "pod not found to terminate", c.wrongly(a, 200, "NOT_FOUND"))
	})

	add("graphql.edit", []string{"getPod"}, func(c *Check) {
		id := c.running(with(`"args":"x","env":{"A":"1"},"ports":["80/http"],"mounts":{"persistent":{"size":20,"path":"/a"}}`))
		before := c.getPod(id)
		c.edit(graphclient.PodEditJobInput{PodId: id})
		require.Equal(c, before["args"], c.getPod(id)["args"])

		c.edit(graphclient.PodEditJobInput{PodId: id, ImageName: to(""), ContainerRegistryAuthId: to(""), VolumeMountPath: to("")})
		require.Equal(c, []any{before["image"], before["mounts"], "RUNNING"}, []any{c.getPod(id)["image"], c.getPod(id)["mounts"], c.getPod(id)["status"]})
		pod := c.edit(graphclient.PodEditJobInput{
			PodId: id, ImageName: to("j"), DockerArgs: to(""), Ports: to("22/tcp"), ContainerDiskInGb: to(30), VolumeInGb: to(40),
			Env: []*graphclient.EnvironmentVariableInput{{Key: to("B"), Value: to("2")}},
		})
		require.Equal(c, "j", *pod.ImageName)

		after := c.getPod(id)
		require.Equal(c, map[string]any{"B": "2"}, after["env"])
		require.Equal(c, []any{"22/tcp"}, after["ports"])
		require.Empty(c, after["args"])
		require.EqualValues(c, 30, after["disk"])
		require.Equal(c, map[string]any{"size": 40.0, "path": "/a"}, after["mounts"].(map[string]any)["persistent"])

		c.becomes(id, "RUNNING")
		c.wrongly(c.graphQL(`mutation{podEditJob(input:{podId:"nosuchpod"}){id}}`), 200, "NOT_FOUND")
		c.wrongly(c.graphQL(`mutation{podEditJob(input:{podId:"`+id+`",containerDiskInGb:0}){id}}`), 200, "INVALID")
		c.wrongly(c.graphQL(`mutation{podEditJob(input:{podId:"`+id+`",volumeInGb:10}){id}}`), 200, "REJECTED")
		c.wrongly(c.graphQL(`mutation{podEditJob(input:{podId:"`+id+`",containerRegistryAuthId:"nosuch"}){id}}`), 200, "NOT_FOUND")
	})

	add("graphql.edit.volume", []string{"getPod"}, func(c *Check) {
		edit := func(id, fields string) Answer {
			return c.graphQL(`mutation{podEditJob(input:{podId:"` + id + `",` + fields + `}){id}}`)
		}
		for _, fields := range []string{`volumeInGb:0,volumeMountPath:"/runpod-volume"`, `volumeMountPath:"/workspace"`} {
			id := c.idOf(c.onL4(fields))
			c.data(edit(id, fields+`,imageName:"j"`))
			require.Equal(c, []any{"j", map[string]any{}}, []any{c.getPod(id)["image"], c.getPod(id)["mounts"]})
			require.Contains(c, c.wrongly(edit(id, `volumeInGb:20`), 200, "REJECTED"), "created without one")
		}

		id := c.idOf(c.onL4(`volumeInGb:1,volumeMountPath:"/a"`))
		for fields, want := range map[string]map[string]any{
			`volumeInGb:1`: {"size": 10.0, "path": "/a"}, `volumeInGb:0`: {"size": 10.0, "path": "/a"}, `volumeInGb:null,volumeMountPath:""`: {"size": 10.0, "path": "/a"},
		} {
			c.data(edit(id, fields))
			require.Equal(c, want, c.getPod(id)["mounts"].(map[string]any)["persistent"], fields)
		}

		c.data(edit(id, `volumeInGb:20,volumeMountPath:"/b"`))
		require.Equal(c, map[string]any{"size": 20.0, "path": "/b"}, c.getPod(id)["mounts"].(map[string]any)["persistent"])
		c.wrongly(edit(id, `volumeInGb:1`), 200, "REJECTED")
		c.wrongly(edit(id, `volumeInGb:-1`), 200, "INVALID")
		require.Contains(c, c.wrongly(edit(id, `port:22`), 200, "REJECTED"), "port")

		volume := *c.saveVolume("v", 20, "EU-RO-1").Id
		mounted := c.idOf(c.onL4(`networkVolumeId:"` + volume + `",volumeMountPath:"/a"`))
		c.data(edit(mounted, `volumeInGb:0,volumeMountPath:"/b"`))
		require.Equal(c, []any{map[string]any{"volumeId": volume, "path": "/b"}}, c.getPod(mounted)["mounts"].(map[string]any)["network"])
	})

	add("graphql.myself", nil, func(c *Check) {
		c.needsControls()
		first, second := c.running(gpuPod), c.newPod(cpuPod)
		pods, order := c.myPods()
		require.Equal(c, "a", *pods[first].Name)
		require.NotNil(c, pods[first].Runtime)
		require.Less(c, indexOf(order, second), indexOf(order, first), "newest first")

		_, other := c.newKey(`,"user":"somebody"`, "all")
		myself := c.data(c.graphQLAs("Bearer "+other, `{myself{id pods{id}}}`, nil))["myself"].(map[string]any)
		require.Empty(c, myself["pods"])
		require.NotEmpty(c, myself["id"])
	})

	add("graphql.myself.stopped", nil, func(c *Check) {
		id := c.exited()
		pods, _ := c.myPods()
		require.Contains(c, pods, id)
		require.Nil(c, pods[id].Runtime)
	})

	add("graphql.myself.clusters", []string{"createCluster", "listClusterPods"}, func(c *Check) {
		_, key := c.newKey(`,"user":"spender"`, "all")
		c.Key = key // whose pods are none but these
		members := c.members(c.newCluster(cluster))
		pods, _ := c.myPods()
		require.Len(c, pods, len(members))

		sum := 0.0
		for _, pod := range members {
			require.Contains(c, pods, pod["id"])
			sum += pod["cost"].(float64)
		}
		spend := c.data(c.graphQL(`{myself{currentSpendPerHr}}`))["myself"].(map[string]any)["currentSpendPerHr"]
		require.Positive(c, sum)
		require.InDelta(c, sum, spend, 1e-9)
	})

	add("graphql.myself.spend", nil, func(c *Check) {
		_, key := c.newKey(`,"user":"spender"`, "all")
		spend := func() float64 {
			myself := c.data(c.graphQLAs("Bearer "+key, `{myself{currentSpendPerHr clientBalance}}`, nil))["myself"].(map[string]any)
			require.Nil(c, myself["clientBalance"])
			return myself["currentSpendPerHr"].(float64)
		}

		require.Zero(c, spend())
		price := c.gpuType(rtx4090, graphclient.GpuLowestPriceInput{GpuCount: to(2), SecureCloud: to(true)}).LowestPrice.UninterruptablePrice
		deploy := `mutation{podFindAndDeployOnDemand(input:{imageName:"i",gpuCount:2,gpuTypeId:"` + rtx4090 + `"}){id}}`
		id := c.data(c.graphQLAs("Bearer "+key, deploy, nil))["podFindAndDeployOnDemand"].(map[string]any)["id"].(string)
		require.InDelta(c, *price, spend(), 1e-9)

		c.data(c.graphQLAs("Bearer "+key, `mutation{podStop(input:{podId:"`+id+`"}){id}}`, nil))
		require.Zero(c, spend())
		c.data(c.graphQLAs("Bearer "+key, `mutation{podTerminate(input:{podId:"`+id+`"})}`, nil))
	})

	add("graphql.myself.spend.exact", nil, func(c *Check) {
		_, key := c.newKey(`,"user":"adder"`, "all")
		ask := func(document string) map[string]any { return c.data(c.graphQLAs("Bearer "+key, document, nil)) }
		for range 7 { // floating point adds up to 14.980000000000002
			ask(`mutation{deployCpuPod(input:{imageName:"i",instanceId:"cpu5c-2-4"}){id}}`)
			ask(`mutation{podFindAndDeployOnDemand(input:{imageName:"i",gpuCount:3,gpuTypeId:"` + rtx4090 + `"}){id}}`)
		}
		a := c.graphQLAs("Bearer "+key, `{myself{currentSpendPerHr pods{id costPerHr}}}`, nil)
		sum := int64(0)
		for _, pod := range c.data(a)["myself"].(map[string]any)["pods"].([]any) {
			sum += nano(pod.(map[string]any)["costPerHr"])
			ask(`mutation{podTerminate(input:{podId:"` + pod.(map[string]any)["id"].(string) + `"})}`)
		}
		require.Regexp(c, `"currentSpendPerHr":[0-9]+(\.[0-9]{1,9})?[,}]`, string(a.Body))
		require.Equal(c, sum, nano(c.data(a)["myself"].(map[string]any)["currentSpendPerHr"]))
	})

	add("graphql.pod", nil, func(c *Check) {
		id := c.newPod(gpuPod)
		require.Equal(c, id, c.graphPod(id).Id)
		_, other := c.newKey(`,"user":"somebody"`, "all")
		a := c.graphQLAs("Bearer "+other, `{pod(input:{podId:"`+id+`"}){id}}`, nil)
		require.Equal(c, map[string]any{"pod": nil}, c.data(a))
	})

	add("graphql.pod.unknown", nil, func(c *Check) {
		for _, document := range []string{anyPod, `{pod(input:{}){id}}`, `{pod{id}}`} {
			require.Equal(c, map[string]any{"pod": nil}, c.data(c.graphQL(document)))
		}
	})

	add("graphql.pod.fields", nil, func(c *Check) {
		pod := c.graphPod(c.newPod(with(`"mounts":{"persistent":{"size":20,"path":"/a"}}`)))
		require.Equal(c, []string{"a", "i"}, []string{*pod.Name, *pod.ImageName})
		require.NotEmpty(c, *pod.MachineId)
		require.NotEmpty(c, *pod.Machine.PodHostId)
		require.Equal(c, "RTX 4090", *pod.Machine.GpuDisplayName)
		require.Equal(c, graphclient.PodStatusRunning, *pod.DesiredStatus)
		require.NotEmpty(c, *pod.LastStatusChange)
		require.Equal(c, graphclient.PodTypeReserved, *pod.PodType)
	})

	add("graphql.pod.failed", nil, func(c *Check) {
		id := c.failed()
		pod := c.graphPod(id)
		require.Equal(c, graphclient.PodStatusExited, *pod.DesiredStatus)
		require.Equal(c, "exited", *pod.LatestTelemetry.State)
		require.Contains(c, *pod.LastStatusChange, "as asked")
	})

	add("graphql.pod.env", nil, func(c *Check) {
		pod := c.graphPod(c.newPod(with(`"env":{"B":"2","A":"1=1"}`)))
		require.Equal(c, []string{"A=1=1", "B=2"}, all(pod.Env))
		require.Empty(c, c.graphPod(c.newPod(gpuPod)).Env)
	})

	add("graphql.pod.runtime", nil, func(c *Check) {
		c.frozen(func() {
			id := c.newPod(gpuPod)
			require.Nil(c, c.graphPod(id).Runtime)
			c.becomes(id, "RUNNING")
			before := *c.graphPod(id).Runtime.UptimeInSeconds
			c.advance(time.Minute)
			pod := c.graphPod(id)
			require.Equal(c, before+60, *pod.Runtime.UptimeInSeconds)
			require.Equal(c, before+60, *pod.UptimeSeconds)
		})
	})

	add("graphql.pod.runtime.ports", nil, func(c *Check) {
		id := c.running(with(`"ports":["22/tcp","80/http"]`))
		mapped := c.mapped(id)
		ports := c.graphPod(id).Runtime.Ports
		require.Len(c, ports, len(mapped), "those that have a public number")
		for i, want := range mapped {
			require.EqualValues(c, want["private"], *ports[i].PrivatePort)
			require.EqualValues(c, want["public"], *ports[i].PublicPort)
			require.Equal(c, want["type"], *ports[i].Type)
			require.NotEmpty(c, *ports[i].Ip)
			require.NotNil(c, ports[i].IsIpPublic)
		}
	})

	add("graphql.pod.runtime.gpus", nil, func(c *Check) {
		gpus := c.graphPod(c.running(withGPU(`{"id":"` + rtx4090 + `","count":2}`))).Runtime.Gpus
		require.Len(c, gpus, 2)
		require.NotEqual(c, *gpus[0].Id, *gpus[1].Id)
		for _, g := range gpus {
			c.percent(g.GpuUtilPercent)
			c.percent(g.MemoryUtilPercent)
		}
	})

	add("graphql.pod.runtime.container", nil, func(c *Check) {
		container := c.graphPod(c.running(cpuPod)).Runtime.Container
		require.NotNil(c, container)
		c.percent(container.CpuPercent)
		c.percent(container.MemoryPercent)
	})
})

// percent asserts a percentage, or none where nothing is measured.
func (c *Check) percent(n *int) {
	if n != nil {
		require.GreaterOrEqual(c, *n, 0)
		require.LessOrEqual(c, *n, 100)
	}
}

func indexOf(list []string, id string) int {
	for i, one := range list {
		if one == id {
			return i
		}
	}
	return -1
}
