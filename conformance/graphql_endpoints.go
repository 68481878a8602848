package conformance

import (
	"context"
	"path"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graphclient"
)

type endpointInput = graphclient.EndpointInput

const endpointPath = "/v2/serverless"

// serverlessTemplate makes a template for endpoints by GraphQL and gives its id.
func (c *Check) serverlessTemplate(name string) *string {
	return c.saveTemplate(name, func(in *templateInput) {
		in.IsServerless, in.Env = to(true), []*graphclient.EnvironmentVariableInput{variable("A", "1")}
	}).Id
}

// saveEndpoint makes an endpoint by GraphQL with what set says, or changes one.
func (c *Check) saveEndpoint(set func(*endpointInput)) graphclient.EndpointFields {
	in := endpointInput{}
	set(&in)
	answer, err := graphclient.SaveEndpoint(context.Background(), c, &in)
	require.NoError(c, err)
	made := answer.SaveEndpoint.EndpointFields
	return made
}

// newGraphEndpoint makes an endpoint of two pools from a template.
func (c *Check) newGraphEndpoint(template *string) graphclient.EndpointFields {
	return c.saveEndpoint(func(in *endpointInput) {
		in.Name, in.TemplateId, in.GpuIds = to("mine"), template, to("AMPERE_16,ADA_24,-NVIDIA RTX A4000")
	})
}

// savingEndpoint sends saveEndpoint with these fields, as they are.
func (c *Check) savingEndpoint(fields string) Answer {
	a := c.graphQL(`mutation{saveEndpoint(input:{` + fields + `}){id}}`)
	return a
}

// graphEndpoint reads an endpoint by GraphQL; nil: there is none.
func (c *Check) graphEndpoint(id string) *graphclient.EndpointFields {
	answer, err := graphclient.MyEndpoint(context.Background(), c, id)
	require.NoError(c, err)
	if answer.Myself.Endpoint == nil {
		return nil
	}
	return &answer.Myself.Endpoint.EndpointFields
}

var _ = area(func() {
	add("graphql.endpoints.save", []string{"getEndpoint"}, func(c *Check) {
		template := c.serverlessTemplate("for endpoints")
		made := c.newGraphEndpoint(template)
		rest := c.read(endpointPath + "/" + *made.Id)
		for member, want := range c.parsed(`{"name":"mine","type":"QUEUE","image":"i","disk":10,"env":{"A":"1"},"dataCenterIds":[],"networkVolumes":[],
			"gpu":{"pools":["AMPERE_16","ADA_24"],"excludedTypes":["NVIDIA RTX A4000"],"count":1,"allowedCudaVersions":[],"minCudaVersion":null},
			"workers":{"min":0,"max":3,"idleTimeout":10},"scaling":{"type":"QUEUE_DELAY","queueDelay":4},"flashboot":"OFF"}`).(map[string]any) {
			require.Equal(c, want, rest[member], member)
		}

		require.Equal(c, &made, c.graphEndpoint(*made.Id))
		require.Nil(c, c.graphEndpoint("nosuchendpoint"))
		_, other := c.newKey(`,"user":"somebody"`, "all")
		myself := c.data(c.graphQLAs("Bearer "+other, `{myself{endpoint(id:"`+*made.Id+`"){id} endpoints{id}}}`, nil))["myself"]
		require.Equal(c, map[string]any{"endpoint": nil, "endpoints": []any{}}, myself)
	})

	add("graphql.endpoints.fields", []string{"getEndpoint"}, func(c *Check) {
		template, volume := c.serverlessTemplate("whole"), c.saveVolume("v", 20, "EU-RO-1")
		e := c.saveEndpoint(func(in *endpointInput) {
			in.Name, in.TemplateId, in.GpuIds, in.GpuCount = to("whole"), template, to("ADA_24"), to(2)
			in.Locations, in.NetworkVolumeId = to("EU-RO-1"), volume.Id
			in.WorkersMin, in.WorkersMax, in.IdleTimeout, in.ScalerType, in.ScalerValue = to(0), to(2), to(5), to("QUEUE_DELAY"), to(7)
			in.ExecutionTimeoutMs, in.AllowedCudaVersions, in.MinCudaVersion = to(60_000), to("12.8, 13.0"), to("12.8")
			in.FlashBootType, in.Type = to(graphclient.FlashBootTypeFlashboot), to("QB")
		})

		require.Equal(c, []string{"ADA_24", "EU-RO-1", "QUEUE_DELAY", "12.8,13.0", "12.8", "QB"},
			[]string{*e.GpuIds, *e.Locations, *e.ScalerType, *e.AllowedCudaVersions, *e.MinCudaVersion, *e.Type})
		require.Equal(c, []int{2, 0, 2, 5, 7, 60_000, 1}, []int{*e.GpuCount, *e.WorkersMin, *e.WorkersMax, *e.IdleTimeout, *e.ScalerValue, *e.ExecutionTimeoutMs, *e.Version})
		require.Equal(c, []string{*volume.Id, *volume.Id, "EU-RO-1"}, []string{*e.NetworkVolumeId, *e.NetworkVolumeIds[0].NetworkVolumeId, *e.NetworkVolumeIds[0].DataCenterId})
		require.Equal(c, "EU-RO-1", *e.NetworkVolume.DataCenterId)
		require.Equal(c, []string{*template, "A"}, []string{*e.TemplateId, *e.Env[0].Key})
		require.Equal(c, graphclient.FlashBootTypeFlashboot, *e.FlashBootType)
		require.Equal(c, graphclient.ComputeTypeGpu, *e.ComputeType)

		rest := c.read(endpointPath + "/" + *e.Id)
		require.Equal(c, []any{"FLASHBOOT", 60_000.0}, []any{rest["flashboot"], rest["timeout"]})
		bare := c.newGraphEndpoint(template)
		require.Nil(c, bare.Locations)
		require.Nil(c, bare.NetworkVolume)
		require.Nil(c, bare.MinCudaVersion)
		require.Empty(c, *bare.AllowedCudaVersions)

		var row map[string]any
		for _, one := range c.data(c.graphQL(`{myself{id endpoints{id userId aiKey version workersStandby workersPFBTarget compliance modelReferences flashEnvironmentId}}}`))["myself"].(map[string]any)["endpoints"].([]any) {
			if one.(map[string]any)["id"] == *bare.Id {
				row = one.(map[string]any)
			}
		}

		require.Equal(c, []any{nil, 1.0, 0.0, nil}, []any{row["aiKey"], row["version"], row["workersStandby"], row["flashEnvironmentId"]})
	})

	add("graphql.endpoints.cpu", []string{"getEndpoint"}, func(c *Check) {
		template := c.serverlessTemplate("of CPUs")
		e := c.saveEndpoint(func(in *endpointInput) {
			in.Name, in.TemplateId, in.GpuIds, in.InstanceIds = to("cpu"), template, to(""), []*string{to("cpu3g-4-16"), to("cpu3c-2-4")}
		})
		require.Equal(c, []string{"cpu3g-4-16", "cpu3c-2-4"}, all(e.InstanceIds))
		require.Equal(c, graphclient.ComputeTypeCpu, *e.ComputeType)
		require.Empty(c, *e.GpuIds)
		require.Len(c, c.read(endpointPath + "/" + *e.Id)["cpu"], 2)

		changed := c.saveEndpoint(func(in *endpointInput) { in.Id, in.AllowedCudaVersions, in.MinCudaVersion = e.Id, to(""), to("") })
		require.Equal(c, e.InstanceIds, changed.InstanceIds)
		named := `name:"a",templateId:"` + *template + `",`
		c.wrongly(c.savingEndpoint(named+`instanceIds:["nonsense"]`), 200, "INVALID")
		c.wrongly(c.savingEndpoint(named+`instanceIds:["cpu3g-4-17"]`), 200, "REJECTED")
		c.wrongly(c.savingEndpoint(named+`instanceIds:["cpu3g-4-16"],gpuIds:"ADA_24"`), 200, "REJECTED")
		c.wrongly(c.savingEndpoint(named), 200, "REJECTED")
	})

	add("graphql.endpoints.change", []string{"getEndpoint"}, func(c *Check) {
		template := c.serverlessTemplate("changed")
		before := c.saveEndpoint(func(in *endpointInput) {
			in.Name, in.TemplateId, in.GpuIds, in.Locations, in.WorkersMin = to("before"), template, to("ADA_24"), to("US"), to(1)
			in.WorkersMax, in.IdleTimeout, in.ScalerValue, in.AllowedCudaVersions, in.ExecutionTimeoutMs = to(5), to(99), to(9), to("12.8"), to(7_000)
		})
		after := c.saveEndpoint(func(in *endpointInput) { in.Id, in.Name = before.Id, to("after") })
		require.Equal(c, []int{3, 10, 4}, []int{*after.WorkersMax, *after.IdleTimeout, *after.ScalerValue})

		after.Pods, before.Pods = nil, nil
		before.Name, before.WorkersMax, before.IdleTimeout, before.ScalerValue = after.Name, after.WorkersMax, after.IdleTimeout, after.ScalerValue
		require.Equal(c, before, after)
		cleared := c.saveEndpoint(func(in *endpointInput) {
			in.Id, in.AllowedCudaVersions, in.Locations, in.GpuIds, in.WorkersMin = before.Id, to(""), to(""), to("AMPERE_16"), to(0)
			in.ScalerType, in.IdleTimeout = to("REQUEST_COUNT"), to(20)
		})
		require.Equal(c, 20, *cleared.IdleTimeout)
		require.Empty(c, *cleared.AllowedCudaVersions)
		require.Nil(c, cleared.Locations)
		require.Equal(c, []string{"AMPERE_16", "REQUEST_COUNT"}, []string{*cleared.GpuIds, *cleared.ScalerType})
		require.Contains(c, c.wrongly(c.savingEndpoint(`id:"`+*before.Id+`",type:"LB"`), 200, "REJECTED"), "type")
		c.wrongly(c.savingEndpoint(`id:"nosuchendpoint",name:"a"`), 200, "NOT_FOUND")
	})

	add("graphql.endpoints.values", []string{"getEndpoint"}, func(c *Check) {
		good := map[string]string{"name": `"a"`, "templateId": `"` + *c.serverlessTemplate("good") + `"`, "gpuIds": `"ADA_24"`}
		with := func(field, given string) Answer {
			fields := field + ":" + given
			for name, text := range good {
				if name != field {
					fields += "," + name + ":" + text
				}
			}
			return c.savingEndpoint(fields)
		}

		for field, values := range map[string][]string{
			"name": {`""`, `null`}, "templateId": {`""`, `null`}, "gpuCount": {`0`}, "idleTimeout": {`0`, `3601`}, "scalerType": {`"FAST"`}, "scalerValue": {`0`, `1000000001,scalerType:"REQUEST_COUNT"`},
			"workersMin": {`-1`}, "workersMax": {`-1`}, "executionTimeoutMs": {`-1`}, "type": {`"queue"`}, "allowedCudaVersions": {`"12"`}, "minCudaVersion": {`"x"`},
		} {
			for _, given := range values {
				require.Contains(c, c.wrongly(with(field, given), 200, "INVALID"), "input."+field)
			}
		}

		for field, given := range map[string]string{"hubReleaseId": `"a"`, "modelReferences": `["a"]`, "workersPFBTarget": "1", "compliance": "[GDPR,ITAR]"} {
			require.Contains(c, c.wrongly(with(field, given), 200, "REJECTED"), field)
		}
		for field, given := range map[string]string{"gpuIds": `"NO_SUCH_POOL"`, "locations": `"NOWHERE-1"`, "dataCenterIds": `["NOWHERE-1"]`, "workersMin": `4`} {
			c.wrongly(with(field, given), 200, "REJECTED")
		}
		for field, given := range map[string]string{"templateId": `"nosuch"`, "networkVolumeId": `"nosuch"`, "networkVolumeIds": `[{networkVolumeId:"nosuch"}]`} {
			require.Contains(c, c.wrongly(with(field, given), 200, "NOT_FOUND"), "nosuch")
		}
		require.Contains(c, c.wrongly(with("templateId", `"`+*c.saveTemplate("for pods", nil).Id+`"`), 200, "INVALID"), "for pods")
		c.data(with("idleTimeout", "3600"))
		c.data(with("scalerValue", `1000000000,scalerType:"REQUEST_COUNT"`))
		made := c.data(with("gpuIds", `"ADA_24,-NVIDIA L4, - NVIDIA L4"`))["saveEndpoint"].(map[string]any)["id"].(string)
		require.Equal(c, []any{"NVIDIA L4"}, c.read(endpointPath + "/" + made)["gpu"].(map[string]any)["excludedTypes"])
		c.data(with("networkVolumeId", `"",networkVolumeIds:null,locations:"",allowedCudaVersions:"",minCudaVersion:"",hubReleaseId:"",modelReferences:[],workersPFBTarget:0,compliance:[]`))
	})

	add("graphql.endpoints.template", []string{"getTemplate", "getEndpoint"}, func(c *Check) {
		own := func(in *endpointInput) {
			in.Name, in.GpuIds = to("with its own"), to("ADA_24")
			in.Template = &graphclient.EndpointTemplateInput{
				Name: to("brought along"), ImageName: to("j"), ContainerDiskInGb: to(64), Env: []*graphclient.EnvironmentVariableInput{variable("B", "2")},
				DockerArgs: to(""), Ports: to(""), StartScript: to(""), ContainerRegistryAuthId: to(""), AdvancedStart: to(false),
			}
		}

		e := c.saveEndpoint(own)
		at := templates + "/" + *e.TemplateId
		c.owns(at, "")
		require.Equal(c, []any{"brought along", "j", 64.0, true}, []any{c.read(at)["name"], c.read(at)["image"], c.read(at)["disk"], c.read(at)["serverless"]})
		require.Equal(c, "j", c.read(endpointPath + "/" + *e.Id)["image"])

		again := c.saveEndpoint(func(in *endpointInput) {
			own(in)
			in.Id, in.Template.ImageName = e.Id, to("k")
		})
		require.Equal(c, *e.TemplateId, *again.TemplateId)
		require.Equal(c, *e.Version+1, *again.Version)
		require.Equal(c, []any{"k", "k"}, []any{c.read(at)["image"], c.read(endpointPath + "/" + *e.Id)["image"]})

		require.Equal(c, 200, c.REST("PATCH", endpointPath+"/"+*e.Id, `{"env":{"B":"3"},"args":"-z"}`).Status)
		c.saveEndpoint(func(in *endpointInput) {
			in.Id, in.Template = e.Id, &graphclient.EndpointTemplateInput{ImageName: to("k2")}
		})
		have := c.read(endpointPath + "/" + *e.Id)
		require.Equal(c, []any{"k2", "-z", map[string]any{"B": "3"}, 64.0}, []any{have["image"], have["args"], have["env"], have["disk"]}, "what is given is changed")
		require.Equal(c, "brought along", c.read(at)["name"])

		bare := c.newEndpoint(fullEndpoint)
		c.saveEndpoint(func(in *endpointInput) {
			in.Id, in.Template = to(path.Base(bare)), &graphclient.EndpointTemplateInput{Name: to(c.own("late")), ImageName: to("k3")}
		})
		have = c.read(bare)
		brought := templates + "/" + *c.graphEndpoint(path.Base(bare)).TemplateId
		c.owns(brought, "")
		require.Equal(c, []any{"k3", "-x", map[string]any{"A": "1"}, 30.0, []any{"80/http"}}, []any{have["image"], have["args"], have["env"], have["disk"], have["ports"]})
		have = c.read(brought)
		require.Equal(c, []any{"k3", "-x", map[string]any{"A": "1"}}, []any{have["image"], have["args"], have["env"]})
		c.saveEndpoint(func(in *endpointInput) {
			in.Id, in.Template = e.Id, &graphclient.EndpointTemplateInput{ImageName: to("k")}
		})

		other := c.serverlessTemplate("named")
		both := `id:"` + *e.Id + `",templateId:"` + *other + `",template:{imageName:"l"}`
		require.Contains(c, c.wrongly(c.savingEndpoint(both), 200, "REJECTED"), "template beside templateId")
		require.Equal(c, []any{"k", "k"}, []any{c.read(at)["image"], c.read(endpointPath + "/" + *e.Id)["image"]})

		c.wrongly(c.savingEndpoint(`name:"a",gpuIds:"ADA_24",template:{name:"t",imageName:"i",config:{a:1}}`), 200, "REJECTED")
		c.wrongly(c.savingEndpoint(`name:"a",gpuIds:"ADA_24",template:{name:"t"}`), 200, "INVALID")
		c.wrongly(c.savingEndpoint(`name:"a",gpuIds:"ADA_24",template:{name:"t",imageName:"i",startScript:"x"}`), 200, "REJECTED")
	})

	add("graphql.endpoints.template.saved", []string{"getTemplate", "getEndpoint"}, func(c *Check) {
		e := c.saveEndpoint(func(in *endpointInput) {
			in.Name, in.GpuIds = to("with its own"), to("ADA_24")
			in.Template = &graphclient.EndpointTemplateInput{Name: to(c.own("saved")), ImageName: to("i"), DockerArgs: to("-a"), Env: []*graphclient.EnvironmentVariableInput{variable("A", "1")}}
		})
		at, endpoint := templates+"/"+*e.TemplateId, endpointPath+"/"+*e.Id
		c.owns(at, "")
		c.saveTemplate(c.own("saved"), func(in *templateInput) {
			in.Id, in.ImageName, in.Env, in.ContainerDiskInGb = e.TemplateId, to("j"), []*graphclient.EnvironmentVariableInput{variable("B", "2")}, 30
		})
		for _, one := range []string{at, endpoint} {
			have := c.read(one)
			require.Equal(c, []any{"j", "-a", map[string]any{"B": "2"}, 30.0}, []any{have["image"], have["args"], have["env"], have["disk"]}, one)
		}
		require.Equal(c, *e.Version+1, *c.graphEndpoint(*e.Id).Version)

		other := c.serverlessTemplate("another one")
		_ = c.data(c.graphQL(`mutation{updateEndpointTemplate(input:{endpointId:"` + *e.Id + `",templateId:"` + *other + `"}){id}}`))
		before := c.read(endpoint)
		c.saveTemplate(c.own("saved"), func(in *templateInput) { in.Id, in.ImageName = e.TemplateId, to("k") })
		require.Equal(c, "k", c.read(at)["image"])
		require.Equal(c, before, c.read(endpoint), "it has another template")
	})

	add("graphql.endpoints.template.gone", []string{"getTemplate", "deleteEndpoint"}, func(c *Check) {
		own := func(in *endpointInput) {
			in.Name, in.GpuIds = to("with its own"), to("ADA_24")
			in.Template = &graphclient.EndpointTemplateInput{Name: to(c.own("brought")), ImageName: to("i")}
		}
		first := c.saveEndpoint(own)
		at := templates + "/" + *first.TemplateId
		c.owns(at, "")
		require.Equal(c, 204, c.REST("DELETE", endpointPath+"/"+*first.Id, "").Status)
		require.Equal(c, 404, c.REST("GET", at, "").Status)

		second := c.saveEndpoint(own)
		at = templates + "/" + *second.TemplateId
		c.owns(at, "")
		user := c.newGraphEndpoint(second.TemplateId)
		require.Equal(c, 204, c.REST("DELETE", endpointPath+"/"+*second.Id, "").Status)
		require.Equal(c, 200, c.REST("GET", at, "").Status, "another endpoint uses it")
		require.Equal(c, 204, c.REST("DELETE", endpointPath+"/"+*user.Id, "").Status)
		require.Equal(c, 200, c.REST("GET", at, "").Status, "that one did not bring it along")
	})

	add("graphql.endpoints.template.set", []string{"getEndpoint"}, func(c *Check) {
		e, second := c.newGraphEndpoint(c.serverlessTemplate("one")), c.serverlessTemplate("two")
		set := func(endpoint, template string) Answer {
			return c.graphQL(`mutation{updateEndpointTemplate(input:{endpointId:"` + endpoint + `",templateId:"` + template + `"}){id templateId}}`)
		}
		answer, err := graphclient.SetEndpointTemplate(context.Background(), c, &graphclient.UpdateEndpointTemplateInput{EndpointId: e.Id, TemplateId: second})
		require.NoError(c, err)
		require.Equal(c, *second, *answer.UpdateEndpointTemplate.TemplateId)
		require.Equal(c, []int{*e.WorkersMax, *e.IdleTimeout}, []int{*answer.UpdateEndpointTemplate.WorkersMax, *answer.UpdateEndpointTemplate.IdleTimeout})

		c.wrongly(set(*e.Id, "nosuch"), 200, "NOT_FOUND")
		c.wrongly(set("nosuch", *second), 200, "NOT_FOUND")
		c.wrongly(set(*e.Id, ""), 200, "INVALID")
		require.Contains(c, c.wrongly(c.graphQL(`mutation{deleteTemplate(templateName:"two")}`), 200, "REJECTED"), *e.Id)
	})

	add("graphql.endpoints.idle-timeout", []string{"getEndpoint", "updateEndpoint"}, func(c *Check) {
		template := c.serverlessTemplate("idle")
		e := c.saveEndpoint(func(in *endpointInput) {
			in.Name, in.TemplateId, in.GpuIds, in.ScalerType, in.IdleTimeout = to("idle"), template, to("ADA_24"), to("REQUEST_COUNT"), to(60)
		})
		at := endpointPath + "/" + *e.Id
		require.Equal(c, []any{60, "REQUEST_COUNT"}, []any{*e.IdleTimeout, *e.ScalerType})
		require.NotContains(c, c.read(at)["workers"], "idleTimeout")

		c.Refused(c.REST("PATCH", at, `{"workers":{"idleTimeout":5}}`), 400)
		byDelay := c.changed(at, `{"scaling":{"type":"QUEUE_DELAY","queueDelay":4}}`)
		require.EqualValues(c, 60, byDelay["workers"].(map[string]any)["idleTimeout"])
	})

	add("graphql.endpoints.compliance", []string{"listEndpointReleases", "listEndpointWorkers"}, func(c *Check) {
		template := c.serverlessTemplate("compliant")
		e := c.saveEndpoint(func(in *endpointInput) {
			in.Name, in.TemplateId, in.GpuIds, in.WorkersMin, in.WorkersMax = to("compliant"), template, to("ADA_24"), to(1), to(1)
			in.Compliance = []*graphclient.Compliance{to(graphclient.ComplianceHipaa), to(graphclient.ComplianceGdpr)}
		})
		require.Equal(c, []graphclient.Compliance{graphclient.ComplianceHipaa, graphclient.ComplianceGdpr}, all(e.Compliance))

		var worker map[string]any
		c.Eventually(func() bool {
			for _, w := range c.read(endpointPath + "/" + *e.Id + "/workers")["workers"].([]any) {
				worker = w.(map[string]any)
			}
			return worker["dataCenterId"] != nil
		}, "a worker is placed")

		require.Equal(c, "EU-FR-1", worker["dataCenterId"], "the one that meets both")
		kept := c.saveEndpoint(func(in *endpointInput) { in.Id, in.WorkersMax = e.Id, to(1) })
		require.Equal(c, e.Compliance, kept.Compliance)
		require.Equal(c, 1, *kept.Version)

		c.data(c.savingEndpoint(`id:"` + *e.Id + `",compliance:[]`))
		require.Empty(c, c.graphEndpoint(*e.Id).Compliance)
		require.Equal(c, 2, *c.graphEndpoint(*e.Id).Version)
		refused := c.savingEndpoint(`id:"` + *e.Id + `",dataCenterIds:["US-TX-3"],compliance:[GDPR]`)
		require.Contains(c, c.wrongly(refused, 200, "REJECTED"), "compliance")
	})

	add("graphql.endpoints.volumes", []string{"getEndpoint"}, func(c *Check) {
		template, first, second := c.serverlessTemplate("of volumes"), *c.saveVolume("a", 20, "EU-RO-1").Id, *c.saveVolume("b", 20, "EU-CZ-1").Id
		e := c.saveEndpoint(func(in *endpointInput) {
			in.Name, in.TemplateId, in.GpuIds = to("of volumes"), template, to("ADA_24")
			in.NetworkVolumeIds = []*graphclient.NetworkVolumeIdsInput{{NetworkVolumeId: &first}}
			in.Volumes = []*graphclient.EndpointVolumeInput{{VolumeId: &second, VolumeType: to(graphclient.VolumeTypeNetworkVolume)}, {VolumeId: &first}}
		})

		at := endpointPath + "/" + *e.Id
		require.Equal(c, []any{first, second}, c.read(at)["networkVolumes"])
		c.data(c.savingEndpoint(`id:"` + *e.Id + `",volumes:[]`))
		require.Len(c, c.read(at)["networkVolumes"], 2)

		c.data(c.savingEndpoint(`id:"` + *e.Id + `",volumes:[],networkVolumeIds:[]`))
		require.Empty(c, c.read(at)["networkVolumes"])
		c.wrongly(c.savingEndpoint(`id:"`+*e.Id+`",volumes:[{volumeId:"nosuch"}]`), 200, "NOT_FOUND")

		everywhere, other := c.newGlobalVolume(), c.newGlobalVolume()
		global := func(ids ...string) string {
			var list []string
			for _, id := range ids {
				list = append(list, `{volumeId:"`+id+`",volumeType:OBJECT_STORE_VOLUME}`)
			}
			return `id:"` + *e.Id + `",volumes:[` + strings.Join(list, ",") + `]`
		}
		mounted := func() any { return c.read(at)["mounts"].(map[string]any)["global"] }
		c.data(c.savingEndpoint(global(everywhere)))
		require.Equal(c, []any{map[string]any{"volumeId": everywhere}}, mounted())
		c.data(c.savingEndpoint(`id:"` + *e.Id + `",workersMax:1`))
		require.Len(c, mounted(), 1)
		require.Contains(c, c.wrongly(c.savingEndpoint(global(everywhere, other)), 200, "REJECTED"), "OBJECT_STORE_VOLUME")
		c.wrongly(c.savingEndpoint(global("nosuch")), 200, "NOT_FOUND")
		c.wrongly(c.savingEndpoint(`id:"`+*e.Id+`",networkVolumeIds:[{networkVolumeId:"`+first+`"}]`), 200, "REJECTED")
		c.data(c.savingEndpoint(global() + `,networkVolumeIds:[{networkVolumeId:"` + first + `"}]`))
		require.Equal(c, []any{first}, c.read(at)["networkVolumes"])
		require.Empty(c, mounted())
	})

	add("graphql.endpoints.delete", []string{"getEndpoint"}, func(c *Check) {
		e := c.newGraphEndpoint(c.serverlessTemplate("short-lived"))
		remove := func() Answer { return c.graphQL(`mutation{deleteEndpoint(id:"` + *e.Id + `")}`) }
		require.Equal(c, map[string]any{"deleteEndpoint": nil}, c.data(remove()))
		c.Refused(c.REST("GET", endpointPath+"/"+*e.Id, ""), 404)
		require.Nil(c, c.graphEndpoint(*e.Id))
		c.wrongly(remove(), 200, "NOT_FOUND")
	})

	add("graphql.endpoints.list", []string{"createEndpoint", "updateEndpoint"}, func(c *Check) {
		first := c.newGraphEndpoint(c.serverlessTemplate("listed"))
		second := c.make(endpointPath, `{"name":"by REST","type":"QUEUE","image":"i","cpu":[{"id":"cpu3g","vcpuCount":2}],"scaling":{"type":"QUEUE_DELAY","queueDelay":0.5}}`)["id"].(string)
		answer, err := graphclient.MyEndpoints(context.Background(), c)
		require.NoError(c, err)

		var order []string
		for _, e := range answer.Myself.Endpoints {
			order = append(order, *e.Id)
		}
		require.Less(c, indexOf(order, second), indexOf(order, *first.Id), "newest first")

		byREST := answer.Myself.Endpoints[indexOf(order, second)]
		require.Nil(c, byREST.TemplateId)
		require.Equal(c, []int{1, 300_000}, []int{*byREST.ScalerValue, *byREST.ExecutionTimeoutMs})
		c.changed(endpointPath+"/"+*first.Id, `{"name":"changed by REST"}`)
		require.Equal(c, "changed by REST", *c.graphEndpoint(*first.Id).Name)
	})

	add("graphql.endpoints.settings", []string{"getEndpoint"}, func(c *Check) {
		require.Nil(c, c.graphEndpoint(strings.TrimPrefix(c.declared(), serverless+"/")).ComputeType)
	})
	add("graphql.endpoints.pods", []string{"getEndpoint"}, func(c *Check) {
		template := c.serverlessTemplate("worked")
		e := c.saveEndpoint(func(in *endpointInput) {
			in.Name, in.TemplateId, in.GpuIds, in.WorkersMin, in.WorkersMax = to("working"), template, to("ADA_24"), to(1), to(1)
		})
		c.Eventually(func() bool { return len(c.graphEndpoint(*e.Id).Pods) == 1 }, "a worker is started")
		worker := c.graphEndpoint(*e.Id).Pods[0]
		require.Equal(c, graphclient.PodStatusRunning, *worker.DesiredStatus)
		require.Equal(c, "i", *worker.ImageName)
		require.NotEmpty(c, worker.Id)
		require.Nil(c, c.graphPod(worker.Id), "it is no pod of the user's")
	})

	add("graphql.pools", nil, func(c *Check) {
		answer, err := graphclient.Pools(context.Background(), c)
		require.NoError(c, err)
		pools := map[string][]string{}
		for _, p := range answer.ServerlessGpuPools {
			pools[*p.Id] = all(p.GpuTypeIds)
		}
		require.Contains(c, pools["ADA_24"], rtx4090)
		require.Nil(c, c.data(c.graphQL(`{myself{serverlessDiscount{discountFactor}}}`))["myself"].(map[string]any)["serverlessDiscount"])
	})
})
