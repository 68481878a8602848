package conformance

import (
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graphclient"
)

type deployInput = graphclient.PodFindAndDeployOnDemandInput

// noCapacity is in the words for a pod that no host can hold: clients look for it.
const noCapacity = "no longer any instances available"

var _ = area(func() {
	add("graphql.deploy", []string{"getPod"}, func(c *Check) {
		pod := c.deploy(nil)
		require.Equal(c, graphclient.PodStatusRunning, *pod.DesiredStatus)
		require.Regexp(c, `^[a-z0-9]{14}$`, pod.Id)
		shown := c.getPod(pod.Id)
		require.Equal(c, "i", shown["image"])
		require.Contains(c, c.listed(), pod.Id)
	})

	add("graphql.deploy.cloud-type", []string{"getPod"}, func(c *Check) {
		for kind, cloud := range map[graphclient.CloudTypeEnum]string{graphclient.CloudTypeEnumSecure: "SECURE", graphclient.CloudTypeEnumCommunity: "COMMUNITY"} {
			require.Equal(c, cloud, c.deployed(func(in *deployInput) { in.CloudType = &kind })["cloud"])
		}
		price := c.gpuType(rtx4090, graphclient.GpuLowestPriceInput{GpuCount: to(1)}).LowestPrice.UninterruptablePrice
		pod := c.deploy(func(in *deployInput) { in.CloudType = to(graphclient.CloudTypeEnumAll) })
		require.InDelta(c, *price, *pod.CostPerHr, 1e-9)
		require.Equal(c, "SECURE", c.deployed(nil)["cloud"])
		c.wrongly(c.deploying(`cloudType:"ALL"`), 400, "INVALID")
		c.wrongly(c.deploying(`cloudType:EVERYWHERE`), 400, "INVALID")
	})

	add("graphql.deploy.gpu-count", []string{"getPod"}, func(c *Check) {
		pod := c.deploy(func(in *deployInput) { in.GpuCount = to(3) })
		require.Equal(c, 3, *pod.GpuCount)
		require.EqualValues(c, 3, c.getPod(pod.Id)["gpu"].(map[string]any)["count"])
		require.EqualValues(c, 1, c.deployed(nil)["gpu"].(map[string]any)["count"])
		c.wrongly(c.deploying(`gpuCount:1.5`), 400, "INVALID")
		for _, n := range []string{"0", "-1"} {
			require.Contains(c, c.wrongly(c.deploying(`gpuCount:`+n), 200, "INVALID"), "gpuCount")
		}
	})

	add("graphql.deploy.gpu-type", []string{"getPod"}, func(c *Check) {
		require.Equal(c, rtx4090, c.deployed(nil)["gpu"].(map[string]any)["id"])
		require.Contains(c, c.wrongly(c.graphQL(`mutation{podFindAndDeployOnDemand(input:{imageName:"i",gpuTypeId:"no such GPU"}){id}}`), 200, "REJECTED"), "no such GPU")
		require.Contains(c, c.wrongly(c.graphQL(`mutation{podFindAndDeployOnDemand(input:{imageName:"i"}){id}}`), 200, "INVALID"), "gpuTypeId")
	})

	add("graphql.deploy.gpu-types", []string{"getPod"}, func(c *Check) {
		pod := c.deployed(func(in *deployInput) {
			in.GpuTypeId, in.GpuTypeIdList, in.GpuCount = nil, []*string{to("no such GPU"), to("NVIDIA L4"), to(rtx4090)}, to(1)
		})
		require.Equal(c, "NVIDIA L4", pod["gpu"].(map[string]any)["id"])
		second := func(in *deployInput) { in.GpuTypeId, in.GpuTypeIdList = to("NVIDIA L4"), []*string{to(rtx4090)} }
		require.Equal(c, "NVIDIA L4", c.deployed(second)["gpu"].(map[string]any)["id"])
		defer c.capacity(l4s("EU-RO-1", 0, ""))()
		require.Equal(c, rtx4090, c.deployed(second)["gpu"].(map[string]any)["id"])
	})

	add("graphql.deploy.volume", []string{"getPod"}, func(c *Check) {
		pod := c.deploy(func(in *deployInput) { in.VolumeInGb, in.VolumeMountPath = to(20), to("/data") })
		require.InDelta(c, 20, *pod.VolumeInGb, 0)
		require.Equal(c, "/data", *pod.VolumeMountPath)
		mounts := c.getPod(pod.Id)["mounts"].(map[string]any)
		require.Equal(c, map[string]any{"size": 20.0, "path": "/data"}, mounts["persistent"])
		mounts = c.deployed(func(in *deployInput) { in.VolumeInGb = to(10) })["mounts"].(map[string]any)
		require.Equal(c, "/workspace", mounts["persistent"].(map[string]any)["path"])
		mounts = c.deployed(func(in *deployInput) { in.VolumeInGb, in.VolumeMountPath = to(0), to("/data") })["mounts"].(map[string]any)
		require.Empty(c, mounts)
	})

	add("graphql.deploy.disk", []string{"getPod"}, func(c *Check) {
		pod := c.deploy(func(in *deployInput) { in.ContainerDiskInGb = to(7) })
		require.Equal(c, 7, *pod.ContainerDiskInGb)
		require.EqualValues(c, 7, c.getPod(pod.Id)["disk"])
		require.EqualValues(c, 20, c.deployed(nil)["disk"])
		c.wrongly(c.deploying(`containerDiskInGb:0`), 200, "INVALID")
	})

	add("graphql.deploy.minimum-vcpu", nil, func(c *Check) {
		pod := c.deploy(func(in *deployInput) { in.MinVcpuCount = to(2) })
		require.GreaterOrEqual(c, *pod.VcpuCount, 2.0)
		require.Contains(c, c.wrongly(c.deploying(`minVcpuCount:100000`), 200, "REJECTED"), noCapacity)
		c.wrongly(c.deploying(`minVcpuCount:2.5`), 400, "INVALID")
	})

	add("graphql.deploy.minimum-memory", nil, func(c *Check) {
		pod := c.deploy(func(in *deployInput) { in.MinMemoryInGb = to(8) })
		require.GreaterOrEqual(c, *pod.MemoryInGb, 8.0)
		require.Contains(c, c.wrongly(c.deploying(`minMemoryInGb:100000`), 200, "REJECTED"), noCapacity)
		c.wrongly(c.deploying(`minMemoryInGb:"8"`), 400, "INVALID")
	})

	add("graphql.deploy.name", []string{"getPod"}, func(c *Check) {
		pod := c.deploy(func(in *deployInput) { in.Name = to("mine") })
		require.Equal(c, "mine", *pod.Name)
		require.Equal(c, "mine", c.getPod(pod.Id)["name"])
		require.Equal(c, "i", c.deployed(nil)["name"])
	})

	add("graphql.deploy.image", []string{"getPod"}, func(c *Check) {
		pod := c.deploy(func(in *deployInput) { in.ImageName = to("ubuntu:24.04") })
		require.Equal(c, "ubuntu:24.04", *pod.ImageName)
		require.Equal(c, "ubuntu:24.04", c.getPod(pod.Id)["image"])
		require.Contains(c, c.wrongly(c.graphQL(`mutation{podFindAndDeployOnDemand(input:{gpuTypeId:"NVIDIA L4"}){id}}`), 200, "INVALID"), "imageName")
	})

	add("graphql.deploy.args", []string{"getPod"}, func(c *Check) {
		const args = `{"cmd":["bash","-c","echo \"<a> & b\""]}`
		pod := c.deploy(func(in *deployInput) { in.DockerArgs = to(args) })
		require.Equal(c, args, *pod.DockerArgs)
		require.Equal(c, args, c.getPod(pod.Id)["args"])
		inline := c.data(c.deploying(`dockerArgs:"{\"cmd\":[\"a\"]}"`))["podFindAndDeployOnDemand"].(map[string]any)["id"].(string)
		require.Equal(c, `{"cmd":["a"]}`, c.getPod(inline)["args"])
	})

	add("graphql.deploy.ports", []string{"getPod"}, func(c *Check) {
		pod := c.deploy(func(in *deployInput) { in.Ports = to("8888/http, 22/tcp") })
		require.Equal(c, "8888/http,22/tcp", *pod.Ports)
		require.Equal(c, []any{"8888/http", "22/tcp"}, c.getPod(pod.Id)["ports"])
		for _, ports := range []string{"22", "0/tcp", "65536/tcp", "22/sctp"} {
			require.Contains(c, c.wrongly(c.deploying(`ports:"`+ports+`"`), 200, "INVALID"), "ports")
		}
		c.wrongly(c.deploying(`ports:"22/tcp,22/udp"`), 200, "REJECTED")
	})

	add("graphql.deploy.env", []string{"getPod"}, func(c *Check) {
		pod := c.deploy(func(in *deployInput) {
			in.Env = []*graphclient.EnvironmentVariableInput{{Key: to("B"), Value: to("2=3")}, {Key: to("A"), Value: to("")}}
		})
		require.Equal(c, []string{"A=", "B=2=3"}, all(pod.Env))
		require.Equal(c, map[string]any{"A": "", "B": "2=3"}, c.getPod(pod.Id)["env"])
		c.wrongly(c.deploying(`env:[{value:"1"}]`), 200, "INVALID")
		c.data(c.deploying(`env:{key:"A",value:"1"}`))
	})

	add("graphql.deploy.env.twice", nil, func(c *Check) {
		twice := c.data(c.graphQL(`mutation{podFindAndDeployOnDemand(input:{gpuTypeId:"NVIDIA GeForce RTX 4090",imageName:"i",env:[{key:"A",value:"1"},{key:"A",value:"2"}]}){id env}}`))
		require.Equal(c, []any{"A=2"}, twice["podFindAndDeployOnDemand"].(map[string]any)["env"])
	})

	add("graphql.deploy.cuda", nil, func(c *Check) {
		c.deploy(func(in *deployInput) { in.AllowedCudaVersions = []*string{to("99.0"), to("12.8")} })
		c.deploy(func(in *deployInput) { in.AllowedCudaVersions = []*string{} })
		for _, fields := range []string{`allowedCudaVersions:["99.0"]`, `minCudaVersion:"99.0"`, `cudaVersion:"99.0"`} {
			require.Contains(c, c.wrongly(c.deploying(fields), 200, "REJECTED"), noCapacity)
		}
	})

	add("graphql.deploy.result", nil, func(c *Check) {
		pod := c.deploy(func(in *deployInput) {
			in.Env = []*graphclient.EnvironmentVariableInput{{Key: to("A"), Value: to("1")}}
		})
		require.Equal(c, "i", *pod.ImageName)
		require.Equal(c, []string{"A=1"}, all(pod.Env))
		require.Regexp(c, `^[a-z0-9]{12}$`, *pod.MachineId)
		require.Regexp(c, `^`+pod.Id+`-[0-9a-f]{8}$`, *pod.Machine.PodHostId)
		require.Positive(c, *pod.CostPerHr)
	})

	add("graphql.deploy.capacity", nil, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 2, ""))()
		l4 := func(count int) *graphclient.GPUTypesGpuTypesGpuTypeLowestPrice {
			return c.gpuType("NVIDIA L4", graphclient.GpuLowestPriceInput{GpuCount: &count}).LowestPrice
		}
		require.Equal(c, []int{1, 2}, all(l4(1).AvailableGpuCounts))

		pod := c.deploy(func(in *deployInput) { in.GpuTypeId, in.GpuCount = to("NVIDIA L4"), to(1) })
		require.Equal(c, []int{1}, all(l4(1).AvailableGpuCounts))
		require.Equal(c, []string{"Low", "None"}, []string{*l4(1).StockStatus, *l4(2).StockStatus})
		two := `mutation{podFindAndDeployOnDemand(input:{gpuTypeId:"NVIDIA L4",imageName:"i",gpuCount:2}){id}}`
		require.Contains(c, c.wrongly(c.graphQL(two), 200, "REJECTED"), noCapacity)

		c.stop(pod.Id)
		require.Equal(c, []int{1, 2}, all(l4(1).AvailableGpuCounts))
		c.deploy(func(in *deployInput) { in.GpuTypeId, in.GpuCount = to("NVIDIA L4"), to(2) })
		resume := c.graphQL(`mutation{podResume(input:{podId:"` + pod.Id + `"}){id}}`)
		full := c.wrongly(resume, 200, "REJECTED")
		require.Contains(c, full, "not enough free GPUs")
		require.Contains(c, full, "out of stock", "by which the SDK goes on to its next choice")
	})

	add("graphql.deploy.unset", []string{"getPod"}, func(c *Check) {
		unset := `name:"",dockerArgs:"",ports:"",env:[],dataCenterId:"",networkVolumeId:"",templateId:"",containerRegistryAuthId:"",minCudaVersion:"",minVcpuCount:0,minMemoryInGb:0,volumeInGb:0`
		for _, fields := range []string{unset, `dataCenterId:null,gpuCount:null,cloudType:null,env:null`} {
			id := c.data(c.deploying(fields))["podFindAndDeployOnDemand"].(map[string]any)["id"].(string)
			pod := c.getPod(id)
			require.Equal(c, "i", pod["name"])
			require.Empty(c, pod["ports"])
			require.Empty(c, pod["mounts"])
		}
	})

	add("graphql.deploy.cost", nil, func(c *Check) {
		c.wrongly(c.deploying(`deployCost:0.01`), 200, "REJECTED")
		c.data(c.deploying(`deployCost:100`))
	})

	add("graphql.deploy.unserved", nil, func(c *Check) {
		for field, given := range map[string]string{
			"startJupyter": "true", "volumeKey": `"a"`,
			"savingsPlan": `{planLength:"a"}`, "aiApiId": `"a"`, "computeType": "CPU", "instanceIds": `["cpu3g-2-8"]`, "port": "22",
		} {
			require.Contains(c, c.wrongly(c.deploying(field+":"+given), 200, "REJECTED"), field)
		}
		c.data(c.deploying(`port:null,startJupyter:false,computeType:GPU,aiApiId:"",volumeKey:"",instanceIds:[]`))
	})

	add("graphql.deploy.missing", nil, func(c *Check) {
		for _, fields := range []string{`networkVolumeId:"nosuch"`, `containerRegistryAuthId:"nosuch"`, `templateId:"nosuch"`} {
			require.Contains(c, c.wrongly(c.deploying(fields), 200, "NOT_FOUND"), "nosuch")
		}
		require.Contains(c, c.wrongly(c.deploying(`dataCenterId:"NOWHERE-1"`), 200, "REJECTED"), "NOWHERE-1")
	})

	add("graphql.cpu", []string{"getPod"}, func(c *Check) {
		pod := c.deployCPU(graphclient.DeployCpuPodInput{InstanceId: to("cpu3g-4-16"), ImageName: to("i"), Name: to("mine")})
		require.InDelta(c, 16, *pod.MemoryInGb, 0)
		require.InDelta(c, 4, *pod.VcpuCount, 0)
		require.Zero(c, *pod.GpuCount)
		require.Equal(c, map[string]any{"id": "cpu3g", "vcpuCount": 4.0, "memory": 16.0}, c.getPod(pod.Id)["cpu"])
	})

	add("graphql.cpu.instance", []string{"getPod"}, func(c *Check) {
		pod := c.deployCPU(graphclient.DeployCpuPodInput{ImageName: to("i")})
		require.NotNil(c, c.getPod(pod.Id)["cpu"])
		for id, code := range map[string]string{"cpu3g": "INVALID", "cpu3g-0-0": "INVALID", "cpu3g-3-12": "INVALID", "cpu3g-4-x": "INVALID", "cpu3g-4-17": "REJECTED", "nosuch-4-16": "REJECTED"} {
			c.wrongly(c.graphQL(`mutation{deployCpuPod(input:{imageName:"i",instanceId:"`+id+`"}){id}}`), 200, code)
		}
	})

	add("graphql.cpu.template", nil, func(c *Check) {
		c.deployCPU(graphclient.DeployCpuPodInput{ImageName: to("i"), TemplateId: to("runpod-ubuntu")})
		c.wrongly(c.graphQL(`mutation{deployCpuPod(input:{imageName:"i",templateId:"nosuch"}){id}}`), 200, "NOT_FOUND")
	})

	add("graphql.settings", nil, func(c *Check) {
		c.keepSSHKeys()
		const text = ed25519Key + " a@b\n\n" + ed25519Key + " \"c\""
		c.setKeys(text)
		require.Equal(c, text, c.data(c.graphQL(`{myself{pubKey}}`))["myself"].(map[string]any)["pubKey"])
		c.data(c.graphQL(`mutation{updateUserSettings(input:{}){id}}`))
		require.Equal(c, text, c.data(c.graphQL(`{myself{pubKey}}`))["myself"].(map[string]any)["pubKey"])
		_, other := c.newKey(`,"user":"somebody"`, "all")
		require.Nil(c, c.data(c.graphQLAs("Bearer "+other, `{myself{pubKey}}`, nil))["myself"].(map[string]any)["pubKey"])
	})

	add("graphql.deploy.ssh", []string{"getPod"}, func(c *Check) {
		c.keepSSHKeys()
		c.setKeys("")
		ssh := func(in *deployInput) { in.StartSsh = to(true) }
		require.Empty(c, c.deployed(ssh)["env"])
		c.setKeys(ed25519Key)
		require.Equal(c, map[string]any{"PUBLIC_KEY": ed25519Key}, c.deployed(ssh)["env"])
		require.Empty(c, c.deployed(nil)["env"])

		own := c.deployed(func(in *deployInput) {
			ssh(in)
			in.Env = []*graphclient.EnvironmentVariableInput{{Key: to("PUBLIC_KEY"), Value: to("mine")}}
		})
		require.Equal(c, map[string]any{"PUBLIC_KEY": "mine"}, own["env"])
	})
})

// setKeys sets the user's SSH keys.
func (c *Check) setKeys(text string) {
	text = strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`, "\t", `\t`).Replace(text)
	c.data(c.graphQL(`mutation{updateUserSettings(input:{pubKey:"` + text + `"}){id pubKey}}`))
}
