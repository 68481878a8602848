package conformance

import (
	"fmt"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graphclient"
)

// onL4 deploys a pod with an L4 and more fields of the input, as they are.
func (c *Check) onL4(fields string) Answer {
	return c.graphQL(`mutation{podFindAndDeployOnDemand(input:{gpuTypeId:"NVIDIA L4",imageName:"i",` + fields + `}){id}}`)
}

// onCPUs deploys a CPU pod with these fields of the input, as they are.
func (c *Check) onCPUs(fields string) Answer {
	return c.graphQL(`mutation{deployCpuPod(input:{imageName:"i",` + fields + `}){id}}`)
}

// idOf gives the id of the pod that a mutation made.
func (c *Check) idOf(a Answer) string {
	for _, pod := range c.data(a) {
		return pod.(map[string]any)["id"].(string)
	}
	return ""
}

// narrowing are fields that only some hosts satisfy, with what the refusal says, on a host in EU-RO-1 with 100 GB of disk, 50 Mbit/s
// each way and no public address.
var narrowing = map[string]string{
	`supportPublicIp:true`: "public address", `minDownload:51`: "51 Mbit/s", `minUpload:51`: "51 up", `compliance:[GDPR,HIPAA]`: "HIPAA",
}

var _ = area(func() {
	small := `,"disk":100,"publicIp":false,"downloadMbps":50,"uploadMbps":50`
	satisfied := `supportPublicIp:false,minDownload:50,minUpload:50,compliance:[GDPR,PCI_DSS]`
	add("graphql.deploy.hosts", nil, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 4, small), fmt.Sprintf(`{"cpu":"cpu3g","dataCenterId":"EU-RO-1","count":8%s}`, small))()
		for field, words := range narrowing {
			refused := c.wrongly(c.onL4(field), 200, "REJECTED")
			require.Contains(c, refused, noCapacity)
			require.Contains(c, refused, words)
			require.Contains(c, c.wrongly(c.onCPUs(`instanceId:"cpu3g-2-8",`+field), 200, "REJECTED"), words)
		}

		require.Contains(c, c.wrongly(c.onL4(`minDisk:101`), 200, "REJECTED"), "101 GB of free disk")
		c.data(c.onL4(satisfied + `,minDisk:100`))
		c.data(c.onCPUs(`instanceId:"cpu3g-2-8",` + satisfied))
		c.data(c.onL4(`supportPublicIp:null,minDisk:0,minDownload:0,minUpload:0,compliance:[]`))
		for _, field := range []string{"minDisk", "minDownload", "minUpload"} {
			require.Contains(c, c.wrongly(c.onL4(field+`:-1`), 200, "INVALID"), field)
		}
		c.wrongly(c.onL4(`compliance:["GDPR"]`), 400, "INVALID")
		c.wrongly(c.onCPUs(`minUpload:-1`), 200, "INVALID")
	})

	add("graphql.deploy.hosts.values", nil, func(c *Check) {
		invalid := func(field string, a Answer) {
			message := c.wrongly(a, 200, "INVALID")
			require.Contains(c, message, "input."+field)
			require.NotContains(c, message, noCapacity)
		}
		prices := func(fields string) Answer {
			return c.graphQL(`{gpuTypes{lowestPrice(input:{` + fields + `}){stockStatus}}}`)
		}
		stock := func(fields string) Answer {
			return c.graphQL(`{dataCenters{gpuAvailability(input:{` + fields + `}){stockStatus}}}`)
		}
		bid := func(fields string) Answer {
			return c.graphQL(`mutation{podRentInterruptable(input:{gpuTypeId:"NVIDIA L4",bidPerGpu:9,imageName:"i",` + fields + `}){id}}`)
		}
		cluster := func(fields string) Answer {
			return c.graphQL(`mutation{createCluster(input:{gpuTypeId:"NVIDIA L4",podCount:2,imageName:"i",` + fields + `}){id}}`)
		}
		pod := c.deploy(nil).Id
		c.stop(pod)
		resume := func(fields string) Answer {
			return c.graphQL(`mutation{podResume(input:{podId:"` + pod + `",` + fields + `}){id}}`)
		}

		hosts := []func(string) Answer{c.onL4, bid, prices}
		for field, made := range map[string][]func(string) Answer{
			`allowedCudaVersions:["banana"]`: append(hosts, stock, cluster, resume), `allowedCudaVersions:["12.8","12"]`: append(hosts, stock, cluster, resume),
			`allowedCudaVersions:["12.4.1"]`: append(hosts, stock, cluster, resume), `cudaVersion:"12"`: hosts, `minCudaVersion:"x"`: append(hosts, stock),
			`minCudaVersion:"12.4.1"`: append(hosts, stock), `countryCode:"Romania"`: append(hosts, c.onCPUs), `countryCode:"ro"`: append(hosts, c.onCPUs),
		} {
			name, _, _ := strings.Cut(field, ":")
			for _, send := range made {
				invalid(name, send(field))
			}
		}

		c.idOf(c.onL4(`allowedCudaVersions:[null,"","12.8"],countryCode:"",cudaVersion:""`))
		c.idOf(c.onL4(`minCudaVersion:"12"`)) // as REST's filter takes it
	})

	add("graphql.texts", nil, func(c *Check) {
		for _, escaped := range []string{`\ud83d\ude00`, `\uD83D\uDE00`, `\u{1F600}`, `😀`} {
			made := c.data(c.graphQL(`mutation{deployCpuPod(input:{instanceId:"cpu3g-2-8",imageName:"i",dockerArgs:"say ` + escaped + ` \u0041"}){id dockerArgs}}`))
			require.Equal(c, "say 😀 A", made["deployCpuPod"].(map[string]any)["dockerArgs"], escaped)
		}
		for _, half := range []string{`\ud83d`, `\ude00`, `\ud83d\u0041`, `\u{d83d}`} {
			c.wrongly(c.graphQL(`{pod(input:{podId:"`+half+`"}){id}}`), 400, "REJECTED")
		}
		c.data(c.graphQL("# \\ud83d\n{pod(input:{podId:\"\"\"\\ud83d\"\"\"}){id}}")) // no escapes there
	})

	add("graphql.gpu-types.hosts", nil, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 4, small), l4s("AP-JP-1", 4, small))()
		stock := func(fields string) any {
			types := c.data(c.graphQL(`{gpuTypes(input:{id:"NVIDIA L4"}){lowestPrice(input:{` + fields + `}){stockStatus}}}`))["gpuTypes"].([]any)
			return types[0].(map[string]any)["lowestPrice"].(map[string]any)["stockStatus"]
		}
		for field := range narrowing {
			require.Equal(c, "None", stock(field), field)
		}

		for field, want := range map[string]string{
			"gpuCount:1": "Medium", satisfied: "Low", "minDisk:100": "Medium", "minDisk:101": "None", "totalDisk:60": "Low", "totalDisk:101": "None",
			"globalNetwork:true": "Low", `globalNetwork:true,dataCenterId:"AP-JP-1"`: "None", "globalNetwork:false,includeAiApi:true": "Medium",
		} {
			require.Equal(c, want, stock(field), field)
		}

		free := func(fields string) any {
			for _, d := range c.data(c.graphQL(`{dataCenters{id gpuAvailability(input:{` + fields + `}){gpuTypeId stockStatus}}}`))["dataCenters"].([]any) {
				for _, g := range d.(map[string]any)["gpuAvailability"].([]any) {
					if d.(map[string]any)["id"] == "EU-RO-1" && g.(map[string]any)["gpuTypeId"] == l4 {
						return g.(map[string]any)["stockStatus"]
					}
				}
			}
			return nil
		}

		require.Equal(c, []any{"Low", "None"}, []any{free("minDisk:100"), free("minDisk:101")})
		c.wrongly(c.graphQL(`{gpuTypes{lowestPrice(input:{totalDisk:-1}){minVcpu}}}`), 200, "INVALID")
		c.wrongly(c.graphQL(`{dataCenters{gpuAvailability(input:{minDisk:-1}){id}}}`), 200, "INVALID")
	})

	add("graphql.gpu-types.cuda", nil, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 1, `,"cudaVersion":"12.2"`), l4s("EU-RO-1", 5, `,"cudaVersion":"12.11"`))()
		versions := func(fields string) any {
			types := c.data(c.graphQL(`{gpuTypes(input:{id:"NVIDIA L4"}){lowestPrice(input:{` + fields + `}){gpuTypeCudaVersions{cudaVersion availability}}}}`))["gpuTypes"].([]any)
			return types[0].(map[string]any)["lowestPrice"].(map[string]any)["gpuTypeCudaVersions"]
		}
		row := func(version, word string) any { return map[string]any{"cudaVersion": version, "availability": word} }
		require.Equal(c, []any{row("12.11", "AVAILABLE"), row("12.2", "AVAILABLE")}, versions(`gpuCount:1`))
		require.Equal(c, []any{row("12.11", "AVAILABLE"), row("12.2", "UNAVAILABLE")}, versions(`gpuCount:2`))
		require.Equal(c, []any{row("12.11", "UNAVAILABLE"), row("12.2", "UNAVAILABLE")}, versions(`gpuCount:1000`))
		require.Equal(c, []any{row("12.11", "AVAILABLE")}, versions(`minCudaVersion:"12.3"`))
		require.Equal(c, []any{}, versions(`secureCloud:false`))
	})

	add("graphql.deploy.volume.least", []string{"getPod"}, func(c *Check) {
		for _, gb := range []string{"1", "9", "10"} {
			id := c.idOf(c.onL4(`volumeInGb:` + gb + `,volumeMountPath:"/runpod"`))
			require.Equal(c, map[string]any{"size": 10.0, "path": "/runpod"}, c.getPod(id)["mounts"].(map[string]any)["persistent"])
		}
		require.Contains(c, c.wrongly(c.onL4(`volumeInGb:-1`), 200, "INVALID"), "volumeInGb")
		require.Equal(c, 10, *c.saveTemplate("least", func(in *templateInput) { in.VolumeInGb = 1 }).VolumeInGb)
	})

	add("graphql.deploy.mounts", []string{"getPod"}, func(c *Check) {
		volume := *c.saveVolume("v", 20, "EU-CZ-1").Id
		for _, deploy := range []func(string) Answer{c.onL4, c.onCPUs} {
			for fields, path := range map[string]string{
				`volumeMounts:[{volumeId:"` + volume + `",volumeType:NETWORK_VOLUME,mountPath:"/m"}]`: "/m",
				`volumeMounts:{volumeId:"` + volume + `"},volumeMountPath:"/p"`:                       "/workspace",
				`networkVolumeId:"` + volume + `",volumeMountPath:"/p",volumeMounts:[]`:               "/p",
			} {
				mounts := c.getPod(c.idOf(deploy(fields)))["mounts"].(map[string]any)
				require.Equal(c, []any{map[string]any{"volumeId": volume, "path": path}}, mounts["network"])
			}

			refused := `volumeMounts:[{volumeId:"a",volumeType:OBJECT_STORE_VOLUME,mountPath:"/m"}]`
			require.Contains(c, c.wrongly(deploy(refused), 200, "REJECTED"), "OBJECT_STORE_VOLUME")
			two := `networkVolumeId:"` + volume + `",volumeMounts:[{volumeId:"` + volume + `"}]`
			require.Contains(c, c.wrongly(deploy(two), 200, "REJECTED"), "volumeMounts")
			require.Contains(c, c.wrongly(deploy(`volumeMounts:[{mountPath:"/m"}]`), 200, "INVALID"), "volumeMounts")
			require.Contains(c, c.wrongly(deploy(`volumeMounts:[{volumeId:"nosuch"}]`), 200, "NOT_FOUND"), "nosuch")
		}
	})

	add("graphql.deploy.data-centers", []string{"getPod"}, func(c *Check) {
		for _, deploy := range []func(string) Answer{c.onL4, c.onCPUs} {
			for fields, want := range map[string]string{
				`dataCenterIds:["US-MO-2"]`: "US-MO-2", `dataCenterIds:["US-NE-1","EU-RO-1"]`: "US-NE-1", `dataCenterId:"US-NC-2",dataCenterIds:["EU-RO-1"]`: "US-NC-2",
			} {
				require.Equal(c, want, c.getPod(c.idOf(deploy(fields)))["dataCenterId"])
			}
			c.data(deploy(`dataCenterId:"",dataCenterIds:[]`))
			require.Contains(c, c.wrongly(deploy(`dataCenterIds:["NOWHERE-1"]`), 200, "REJECTED"), "NOWHERE-1")
		}
	})

	add("graphql.cpu.one", []string{"getPod", "listPods"}, func(c *Check) {
		pod := c.deployCPU(graphclient.DeployCpuPodInput{InstanceId: to("cpu3c-1-2"), ImageName: to("i")})
		require.Equal(c, []float64{1, 2}, []float64{*pod.VcpuCount, *pod.MemoryInGb})
		require.Equal(c, map[string]any{"id": "cpu3c", "vcpuCount": 1.0, "memory": 2.0}, c.getPod(pod.Id)["cpu"])
		two := c.deployCPU(graphclient.DeployCpuPodInput{InstanceId: to("cpu3c-2-4"), ImageName: to("i")})
		require.InDelta(c, *two.CostPerHr, 2**pod.CostPerHr, 1e-9)

		s := c.flavors(to("cpu3c"), graphclient.SpecificsInput{InstanceId: to("cpu3c-1-2")})[0].Specifics
		require.Equal(c, *pod.CostPerHr, *s.SecurePrice)
		require.NotNil(c, s.StockStatus)
		e := c.saveEndpoint(func(in *endpointInput) {
			in.Name, in.TemplateId, in.InstanceIds = to("one"), c.serverlessTemplate("one vCPU"), []*string{to("cpu3g-1-4")}
		})
		require.Equal(c, []string{"cpu3g-1-4"}, all(e.InstanceIds))
		c.createRefused(withCPU(`{"id":"cpu3c","vcpuCount":1}`), 422, "/cpu/vcpuCount:")
	})

	add("graphql.cpu.input-type", nil, func(c *Check) {
		const document = `mutation deployCpuPod($input: deployCpuPodInput!) {deployCpuPod(input: $input) {id desiredStatus}}`
		input := map[string]any{"imageName": "i", "instanceId": "cpu3c-1-2", "supportPublicIp": true, "dataCenterIds": []string{"EU-RO-1"}, "ports": "8080/http"}
		c.idOf(c.graphQLAs("", document, map[string]any{"input": input}))
		require.Contains(c, c.wrongly(c.onCPUs(`startJupyter:true`), 200, "REJECTED"), "startJupyter")
	})

	add("graphql.cpu-flavors.serverless", nil, func(c *Check) {
		for _, worker := range []string{"true", "false", "null"} {
			flavors := c.data(c.graphQL(`{cpuFlavors(input:{id:"cpu3c",isSls:` + worker + `}){id specifics(input:{instanceId:"cpu3c-1-2",dataCenterId:"EU-RO-1",isSls:` + worker + `}){stockStatus slsPrice}}}`))["cpuFlavors"].([]any)
			require.Len(c, flavors, 1)
			specifics := flavors[0].(map[string]any)["specifics"].(map[string]any)
			require.Contains(c, []any{"High", "Medium", "Low"}, specifics["stockStatus"])
			require.Positive(c, specifics["slsPrice"])
		}
		c.wrongly(c.graphQL(`{cpuFlavors(input:{isSls:1}){id}}`), 400, "INVALID")
	})

	add("graphql.variables.ids", []string{"getPod"}, func(c *Check) {
		pod := c.idOf(c.onCPUs(`instanceId:"cpu3g-2-8"`))
		for _, declared := range []string{"$id: String!", "$id: ID!"} {
			got := c.data(c.graphQLAs("", "# für eine\nquery one("+declared+"){pod(input:{podId:$id}){id}}", map[string]any{"id": pod}))
			require.Equal(c, pod, got["pod"].(map[string]any)["id"])
		}
		listed := `mutation($ids:[ID!]){podFindAndDeployOnDemand(input:{gpuTypeIdList:$ids,imageName:"i"}){id}}`
		require.NotEmpty(c, c.idOf(c.graphQLAs("", listed, map[string]any{"ids": []string{"NVIDIA L4"}})))
		c.wrongly(c.graphQLAs("", `mutation($n:ID){podFindAndDeployOnDemand(input:{gpuTypeId:"NVIDIA L4",gpuCount:$n,imageName:"i"}){id}}`, map[string]any{"n": 1}), 400, "INVALID")
	})

	add("graphql.variables.empty", nil, func(c *Check) {
		e := c.newGraphEndpoint(c.serverlessTemplate("empty"))
		save := map[string]any{"input": map[string]any{"id": *e.Id, "name": "b", "flashBootType": "", "compliance": []any{""}, "scalerType": "", "minCudaVersion": "", "locations": ""}}
		saved := c.data(c.graphQLAs("", `mutation($input:EndpointInput!){saveEndpoint(input:$input){flashBootType}}`, save))["saveEndpoint"]
		require.Equal(c, map[string]any{"flashBootType": "OFF"}, saved)
		pod := map[string]any{"imageName": "i", "gpuTypeId": l4, "cloudType": "", "computeType": "", "stopAfter": "", "terminateAfter": "", "compliance": "", "countryCode": ""}
		c.idOf(c.graphQLAs("", `mutation($i:PodFindAndDeployOnDemandInput){podFindAndDeployOnDemand(input:$i){id}}`, map[string]any{"i": pod}))
		c.idOf(c.graphQLAs("", `mutation($c:CloudTypeEnum){podFindAndDeployOnDemand(input:{imageName:"i",gpuTypeId:"NVIDIA L4",cloudType:$c}){id}}`, map[string]any{"c": ""}))
		c.wrongly(c.graphQLAs("", `mutation($c:CloudTypeEnum){podFindAndDeployOnDemand(input:{imageName:"i",gpuTypeId:"NVIDIA L4",cloudType:$c}){id}}`, map[string]any{"c": " "}), 400, "INVALID")
	})

	add("graphql.pod.runtime.ports.public", []string{"getPod"}, func(c *Check) {
		id := c.running(with(`"ports":["22/tcp","80/http","53/udp"]`))
		mapped := c.mapped(id)
		ports := c.graphPod(id).Runtime.Ports
		require.Len(c, ports, len(mapped))
		for _, p := range ports {
			require.Equal(c, *p.Type != "http", *p.IsIpPublic, *p.Type)
		}
	})
})
