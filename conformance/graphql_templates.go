package conformance

import (
	"context"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graphclient"
)

type templateInput = graphclient.SaveTemplateInput

// saveTemplate makes a template by GraphQL with what set says, or changes one.
func (c *Check) saveTemplate(name string, set func(*templateInput)) graphclient.TemplateFields {
	in := templateInput{Name: name, ImageName: to("i"), ContainerDiskInGb: 10}
	if set != nil {
		set(&in)
	}
	answer, err := graphclient.SaveTemplate(context.Background(), c, &in)
	require.NoError(c, err)
	made := answer.SaveTemplate.TemplateFields
	return made
}

// savingTemplate sends saveTemplate with a name, an image and more fields, as they are.
func (c *Check) savingTemplate(fields string) Answer {
	a := c.graphQL(`mutation{saveTemplate(input:{name:"` + c.worker("refused") + `",imageName:"i",containerDiskInGb:10,volumeInGb:0,` + fields + `}){id}}`)
	return a
}

// graphTemplate reads a template by GraphQL; nil: there is none.
func (c *Check) graphTemplate(id string) *graphclient.TemplateFields {
	answer, err := graphclient.Template(context.Background(), c, id)
	require.NoError(c, err)
	if answer.PodTemplate == nil {
		return nil
	}
	return &answer.PodTemplate.TemplateFields
}

// variable is an environment variable of an input.
func variable(key, value string) *graphclient.EnvironmentVariableInput {
	return &graphclient.EnvironmentVariableInput{Key: &key, Value: &value}
}

var _ = area(func() {
	full := func(in *templateInput) {
		in.DockerArgs, in.Ports, in.VolumeInGb, in.VolumeMountPath = to("-x"), to("80/http,22/tcp"), 20, to("/d")
		in.Env = []*graphclient.EnvironmentVariableInput{variable("B", "2"), variable("A", "1")}
		in.IsServerless, in.StartSsh, in.StartJupyter, in.Readme, in.Category = to(true), to(false), to(false), to("# a"), to("AMD")
	}

	add("graphql.templates.save", []string{"getTemplate"}, func(c *Check) {
		made := c.saveTemplate("saved", full)
		rest := c.read(templates + "/" + *made.Id)
		delete(rest, "id")
		require.Equal(c, c.parsed(strings.NewReplacer(`"name":"t"`, `"name":"saved"`, `"disk":30`, `"disk":10`, `["12.4","12.11"]`, `[]`, `{"A":"1"}`, `{"A":"1","B":"2"}`).Replace(fullTemplate)), any(rest))
		require.Equal(c, &made, c.graphTemplate(*made.Id))
	})

	add("graphql.templates.fields", nil, func(c *Check) {
		made := c.saveTemplate("fielded", full)
		require.Equal(c, []*graphclient.TemplateFieldsEnvEnvironmentVariable{{Key: to("A"), Value: to("1")}, {Key: to("B"), Value: to("2")}}, made.Env)
		require.Equal(c, "80/http,22/tcp", *made.Ports)
		require.Equal(c, []string{"80", "22"}, []string{*made.PortsConfig[0].Port, *made.PortsConfig[1].Port})
		require.Equal(c, []int{20, 10}, []int{*made.VolumeInGb, *made.ContainerDiskInGb})
		require.Equal(c, []string{"i", "-x", "/d", "# a", "AMD"}, []string{*made.ImageName, *made.DockerArgs, *made.VolumeMountPath, *made.Readme, *made.Category})
		require.Equal(c, []bool{true, false, false, false, false}, []bool{*made.IsServerless, *made.IsPublic, *made.IsRunpod, *made.StartSsh, *made.StartJupyter})

		bare := c.saveTemplate("bare", nil)
		require.Equal(c, "", *bare.Ports)
		require.Empty(c, bare.Env)
		require.Zero(c, *bare.VolumeInGb)
		require.Nil(c, bare.VolumeMountPath)
		require.True(c, *bare.StartSsh)
	})

	add("graphql.templates.change", []string{"getTemplate"}, func(c *Check) {
		made := c.saveTemplate("before", func(in *templateInput) {
			full(in)
			in.ContainerRegistryAuthId = to(c.newRegistry())
		})
		kept := c.saveTemplate("after", func(in *templateInput) { in.Id, in.ImageName, in.VolumeInGb = made.Id, nil, 30 })
		require.Equal(c, "after", *kept.Name)

		made.Name, made.VolumeInGb = kept.Name, kept.VolumeInGb
		require.Equal(c, made, kept)
		cleared := c.saveTemplate("after", func(in *templateInput) {
			in.Id, in.ImageName, in.DockerArgs, in.Ports, in.ContainerRegistryAuthId = made.Id, to("j"), to(""), to(""), to("")
			in.Env = []*graphclient.EnvironmentVariableInput{}
		})
		require.Equal(c, []string{"j", "", ""}, []string{*cleared.ImageName, *cleared.DockerArgs, *cleared.Ports})
		require.Nil(c, cleared.ContainerRegistryAuthId)
		require.Nil(c, cleared.VolumeMountPath)
		c.wrongly(c.savingTemplate(`id:"nosuchtemplate"`), 200, "NOT_FOUND")
	})

	add("graphql.templates.values", nil, func(c *Check) {
		for _, fields := range []string{`volumeInGb:-1`, `containerDiskInGb:0`, `ports:"80"`, `name:""`, `imageName:""`, `category:"GPU"`, `env:[{key:"",value:"a"}]`} {
			field, _, _ := strings.Cut(fields, ":")
			document := `mutation{saveTemplate(input:{` + fields
			for _, more := range []string{`name:"a"`, `imageName:"i"`, `containerDiskInGb:10`, `volumeInGb:0`} {
				if !strings.HasPrefix(more, field+":") {
					document += "," + more
				}
			}
			require.Contains(c, c.wrongly(c.graphQL(document+`}){id}}`), 200, "INVALID"), "input."+field)
		}

		c.wrongly(c.graphQL(`mutation{saveTemplate{id}}`), 200, "INVALID")
		require.Contains(c, c.wrongly(c.savingTemplate(`ports:"80/http,80/tcp"`), 200, "REJECTED"), "ports")
		c.wrongly(c.savingTemplate(`containerRegistryAuthId:"nosuch"`), 200, "NOT_FOUND")
		for field, given := range map[string]string{"startScript": `"a"`, "advancedStart": "true"} {
			require.Contains(c, c.wrongly(c.savingTemplate(field+":"+given), 200, "REJECTED"), field)
		}
		c.data(c.savingTemplate(`startScript:"",advancedStart:false,config:{},portsConfig:[],ports:"",readme:"",containerRegistryAuthId:"",volumeMountPath:""`))
	})

	add("graphql.templates.name", nil, func(c *Check) {
		first := c.saveTemplate("taken", nil)
		require.Contains(c, c.wrongly(c.graphQL(`mutation{saveTemplate(input:{name:"taken",imageName:"i",containerDiskInGb:10,volumeInGb:0}){id}}`), 200, "REJECTED"), "taken")
		c.saveTemplate("taken", func(in *templateInput) { in.Id = first.Id })
	})

	add("graphql.templates.ports", []string{"updateTemplate"}, func(c *Check) {
		named := func(list string) string { return `ports:"8888/http,22/tcp",portsConfig:` + list }
		id := c.data(c.savingTemplate(named(`[{port:"8888",name:"Notebook"}]`)))["saveTemplate"].(map[string]any)["id"].(string)
		names := func() (all []string) {
			for _, p := range c.graphTemplate(id).PortsConfig {
				all = append(all, *p.Port)
				if p.Name != nil {
					all = append(all, *p.Name)
				}
			}
			return all
		}

		require.Equal(c, []string{"8888", "Notebook", "22"}, names())
		c.data(c.savingTemplate(`id:"` + id + `"`))
		require.Equal(c, []string{"8888", "Notebook", "22"}, names(), "null leaves them")
		c.data(c.savingTemplate(`id:"` + id + `",portsConfig:[{port:"22/tcp",name:"SSH"},{port:"8888",name:"Page"}]`))
		require.Equal(c, []string{"8888", "Page", "22", "SSH"}, names())

		c.changed(templates+"/"+id, `{"ports":["22/tcp","80/http"]}`)
		require.Equal(c, []string{"22", "SSH", "80"}, names(), "a port that is gone has no name")
		c.data(c.savingTemplate(`id:"` + id + `",portsConfig:[]`))
		require.Equal(c, []string{"22", "80"}, names())
		require.Contains(c, c.wrongly(c.savingTemplate(named(`[{port:"80",name:"a"}]`)), 200, "REJECTED"), "80")

		for _, list := range []string{`[{port:"22"}]`, `[{name:"a"}]`, `[{port:"22",name:""}]`, `[{port:"22",name:"a"},{port:"22/tcp",name:"b"}]`} {
			require.Contains(c, c.wrongly(c.savingTemplate(named(list)), 200, "INVALID"), "portsConfig")
		}
		c.wrongly(c.savingTemplate(`config:{a:1}`), 200, "REJECTED")
		c.data(c.savingTemplate(`id:"` + id + `",config:{}`))
	})

	add("graphql.templates.delete", []string{"getTemplate", "createTemplate"}, func(c *Check) {
		remove := func(name string) Answer {
			return c.graphQLAs("", `mutation($n:String){deleteTemplate(templateName:$n)}`, map[string]any{"n": name})
		}
		made := c.saveTemplate("doomed", nil)
		pod := c.deploy(func(in *deployInput) { in.TemplateId = made.Id })
		require.Contains(c, c.wrongly(remove("doomed"), 200, "REJECTED"), pod.Id)

		c.data(c.graphQL(`mutation{podTerminate(input:{podId:"` + pod.Id + `"})}`))
		require.Equal(c, map[string]any{"deleteTemplate": nil}, c.data(remove("doomed")))
		c.Refused(c.REST("GET", templates+"/"+*made.Id, ""), 404)
		require.Nil(c, c.graphTemplate(*made.Id))

		c.wrongly(remove("doomed"), 200, "NOT_FOUND")
		c.make(templates, `{"name":"twins","image":"i"}`)
		c.make(templates, `{"name":"twins","image":"i"}`)
		require.Contains(c, c.wrongly(remove("twins"), 200, "REJECTED"), "twins")
	})

	add("graphql.templates.list", []string{"createTemplate"}, func(c *Check) {
		first, second := c.saveTemplate("first", nil), c.make(templates, plainTemplate)["id"].(string)
		answer, err := graphclient.MyTemplates(context.Background(), c)
		require.NoError(c, err)
		var order []string
		for _, t := range answer.Myself.PodTemplates {
			order = append(order, *t.Id)
		}
		require.Less(c, indexOf(order, second), indexOf(order, *first.Id), "newest first")
		require.NotEqual(c, -1, indexOf(order, second))
	})

	add("graphql.templates.public", []string{"createPod"}, func(c *Check) {
		c.needsControls()
		made := c.saveTemplate("published", func(in *templateInput) {
			in.IsPublic, in.ContainerRegistryAuthId = to(true), to(c.newRegistry())
		})
		require.NotNil(c, made.ContainerRegistryAuthId)

		hidden := c.saveTemplate("hidden", nil)
		_, key := c.newKey(`,"user":"somebody"`, "all")
		read := func(id string) any {
			return c.data(c.graphQLAs("Bearer "+key, `{podTemplate(id:"`+id+`"){name containerRegistryAuthId}}`, nil))["podTemplate"]
		}
		require.Equal(c, map[string]any{"name": "published", "containerRegistryAuthId": nil}, read(*made.Id))
		require.Nil(c, read(*hidden.Id))
		require.Nil(c, read("nosuchtemplate"))
	})

	add("graphql.templates.catalog", []string{"getTemplate"}, func(c *Check) {
		list := func(filter *bool) (ids []string) {
			answer, err := graphclient.Templates(context.Background(), c, &graphclient.PodTemplateInput{IsRunpod: filter})
			require.NoError(c, err)
			for _, t := range answer.PodTemplates {
				require.True(c, *t.IsPublic)
				require.Equal(c, &t.TemplateFields, c.graphTemplate(*t.Id))
				require.Equal(c, *t.ImageName, c.read(templates + "/" + *t.Id)["image"])
				ids = append(ids, *t.Id)
			}
			return ids
		}

		official, others := list(to(true)), list(to(false))
		require.NotEmpty(c, official)
		require.ElementsMatch(c, append(official, others...), list(nil))
		for _, id := range official {
			require.NotContains(c, others, id)
		}
	})

	add("graphql.templates.use", []string{"getPod"}, func(c *Check) {
		registry := c.newRegistry()
		made := c.saveTemplate("used", func(in *templateInput) {
			full(in)
			in.ContainerRegistryAuthId = &registry
		})

		of := func(fields string) map[string]any {
			a := c.graphQL(`mutation{podFindAndDeployOnDemand(input:{gpuTypeId:"` + rtx4090 + `",templateId:"` + *made.Id + `",` + fields + `}){id}}`)
			id := c.data(a)["podFindAndDeployOnDemand"].(map[string]any)["id"].(string)
			return c.getPod(id)
		}

		pod := of(`imageName:"",dockerArgs:"",ports:"",volumeInGb:0,env:[]`)
		for member, want := range c.parsed(`{"name":"i","image":"i","args":"-x","disk":10,"ports":["80/http","22/tcp"],"env":{"A":"1","B":"2"},
			"mounts":{"persistent":{"size":20,"path":"/d"},"network":[]},"template":"` + *made.Id + `","registry":"` + registry + `"}`).(map[string]any) {
			if member != "mounts" {
				require.Equal(c, want, pod[member], member)
			}
		}

		require.Equal(c, map[string]any{"size": 20.0, "path": "/d"}, pod["mounts"].(map[string]any)["persistent"])
		own := of(`name:"n",imageName:"j",dockerArgs:"-y",ports:"443/http",volumeMountPath:"/e",containerDiskInGb:30,env:[{key:"A",value:"0"},{key:"C",value:"3"}]`)
		for member, want := range c.parsed(`{"name":"n","image":"j","args":"-y","disk":30,"ports":["443/http"],"env":{"A":"0","B":"2","C":"3"}}`).(map[string]any) {
			require.Equal(c, want, own[member], member)
		}
		require.Equal(c, map[string]any{"size": 20.0, "path": "/e"}, own["mounts"].(map[string]any)["persistent"])
		require.Contains(c, c.wrongly(c.graphQL(`mutation{podFindAndDeployOnDemand(input:{gpuTypeId:"`+rtx4090+`",templateId:"nosuch"}){id}}`), 200, "NOT_FOUND"), "templateId")

		cpu := c.saveTemplate("cpu", func(in *templateInput) { in.VolumeInGb = 20 })
		deployed := c.deployCPU(graphclient.DeployCpuPodInput{TemplateId: cpu.Id})
		require.Equal(c, "i", *deployed.ImageName)
		require.NotContains(c, c.getPod(deployed.Id)["mounts"], "persistent", "a CPU pod cannot have it")
		require.Contains(c, c.wrongly(c.graphQL(`mutation{deployCpuPod(input:{instanceId:"cpu3g-2-8"}){id}}`), 200, "INVALID"), "imageName")
	})
})
