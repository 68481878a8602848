package conformance

import (
	"context"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graphclient"
)

const volumePath = "/v2/network-volumes"

// saveRegistry stores a login by GraphQL and gives its id.
func (c *Check) saveRegistry(name string) string {
	answer, err := graphclient.SaveRegistry(context.Background(), c, &graphclient.SaveRegistryAuthInput{Name: name, Username: "u", Password: "a-secret-password"})
	require.NoError(c, err)
	require.Equal(c, name, *answer.SaveRegistryAuth.Name)
	return *answer.SaveRegistryAuth.Id
}

// saveVolume makes a network volume by GraphQL.
func (c *Check) saveVolume(name string, size int, dataCenter string) graphclient.VolumeFields {
	in := graphclient.CreateNetworkVolumeInput{Name: &name, Size: &size, DataCenterId: &dataCenter}
	answer, err := graphclient.CreateVolume(context.Background(), c, &in)
	require.NoError(c, err)
	made := answer.CreateNetworkVolume.VolumeFields
	return made
}

var _ = area(func() {
	deleteRegistry := func(c *Check, id string) Answer {
		return c.graphQL(`mutation{deleteRegistryAuth(registryAuthId:"` + id + `")}`)
	}
	add("graphql.registries.save", []string{"getRegistry", "createPod"}, func(c *Check) {
		id := c.saveRegistry("mine")
		require.Equal(c, map[string]any{"id": id, "name": "mine"}, c.read(registries+"/"+id))
		require.Equal(c, id, c.createPod(with(`"registry":"` + id + `"`))["registry"])
		login := func(name, username, password string) Answer {
			return c.graphQL(`mutation{saveRegistryAuth(input:{name:"` + name + `",username:"` + username + `",password:"` + password + `"}){id}}`)
		}
		long, secret := strings.Repeat("é", 191), strings.Repeat("é", 16_384)
		made := c.data(login(long, long, secret))["saveRegistryAuth"].(map[string]any)["id"].(string)
		require.Equal(c, long, c.read(registries + "/" + made)["name"])
		for _, a := range []Answer{
			login("", "u", "p"), login("n", "", "p"), login("n", "u", ""), login(long+"x", "u", "p"), login("n", long+"x", "p"), login("n", "u", secret+"x"),
			c.graphQL(`mutation{updateRegistryAuth(input:{id:"` + made + `",username:"` + long + `x",password:"p"}){id}}`),
		} {
			c.wrongly(a, 200, "INVALID")
		}
	})

	add("graphql.registries.update", nil, func(c *Check) {
		id := c.saveRegistry("kept")
		answer, err := graphclient.UpdateRegistry(context.Background(), c, &graphclient.UpdateRegistryAuthInput{Id: id, Username: "v", Password: "q"})
		require.NoError(c, err)
		require.Equal(c, []string{id, "kept"}, []string{*answer.UpdateRegistryAuth.Id, *answer.UpdateRegistryAuth.Name})

		update := func(key, id, password string) Answer {
			return c.graphQLAs(key, `mutation{updateRegistryAuth(input:{id:"`+id+`",username:"v",password:"`+password+`"}){id}}`, nil)
		}
		c.wrongly(update("", "nosuch", "p"), 200, "NOT_FOUND")
		c.wrongly(update("", id, ""), 200, "INVALID")
		_, other := c.newKey(`,"user":"somebody"`, "all")
		c.wrongly(update("Bearer "+other, id, "p"), 200, "NOT_FOUND")
	})

	add("graphql.registries.delete", []string{"getRegistry"}, func(c *Check) {
		id := c.saveRegistry("gone")
		pod := c.deploy(func(in *deployInput) { in.ContainerRegistryAuthId = &id })
		require.Contains(c, c.wrongly(deleteRegistry(c, id), 200, "REJECTED"), pod.Id)
		c.data(c.graphQL(`mutation{podTerminate(input:{podId:"` + pod.Id + `"})}`))
		require.Equal(c, map[string]any{"deleteRegistryAuth": nil}, c.data(deleteRegistry(c, id)))
		c.Refused(c.REST("GET", registries+"/"+id, ""), 404)
		c.wrongly(deleteRegistry(c, id), 200, "NOT_FOUND")
	})

	add("graphql.registries.list", []string{"createRegistry"}, func(c *Check) {
		first, second := c.saveRegistry("first"), c.newRegistry()
		a := c.graphQL(`{myself{containerRegistryCreds{id name}}}`)
		require.NotContains(c, string(a.Body), "secret")
		answer, err := graphclient.MyRegistries(context.Background(), c)
		require.NoError(c, err)

		var order []string
		for _, r := range answer.Myself.ContainerRegistryCreds {
			order = append(order, *r.Id)
		}
		require.Greater(c, indexOf(order, second), indexOf(order, first), "oldest first")
		require.NotEqual(c, -1, indexOf(order, first))
	})

	add("graphql.volumes.create", []string{"getNetworkVolume"}, func(c *Check) {
		made := c.saveVolume("mine", 20, "EU-RO-1")
		rest := c.read(volumePath + "/" + *made.Id)
		require.Equal(c, []any{"mine", 20.0, "EU-RO-1"}, []any{rest["name"], rest["size"], rest["dataCenter"]})
		require.Equal(c, []string{"EU-RO-1", "EU-RO-1", "EU-RO-1"}, []string{*made.DataCenterId, *made.DataCenter.Id, *made.DataCenter.Name})
		require.Equal(c, 20, *made.Size)
		pod := c.deployed(func(in *deployInput) { in.NetworkVolumeId, in.GpuTypeId = made.Id, to("NVIDIA L4") })
		require.Equal(c, "EU-RO-1", pod["dataCenterId"])
	})

	add("graphql.volumes.values", nil, func(c *Check) {
		for _, fields := range []string{`name:"",size:10,dataCenterId:"EU-RO-1"`, `name:"a",size:9,dataCenterId:"EU-RO-1"`, `name:"a",size:4097,dataCenterId:"EU-RO-1"`, `name:"a",size:10`, ``} {
			c.wrongly(c.graphQL(`mutation{createNetworkVolume(input:{`+fields+`}){id}}`), 200, "INVALID")
		}
		refused := c.graphQL(`mutation{createNetworkVolume(input:{name:"a",size:10,dataCenterId:"NOWHERE-1"}){id}}`)
		require.Contains(c, c.wrongly(refused, 200, "REJECTED"), "NOWHERE-1")
	})

	add("graphql.volumes.update", []string{"getNetworkVolume"}, func(c *Check) {
		made := c.saveVolume("a", 20, "EU-RO-1")
		update := func(name *string, size *int) graphclient.VolumeFields {
			answer, err := graphclient.UpdateVolume(context.Background(), c, &graphclient.UpdateNetworkVolumeInput{Id: *made.Id, Name: name, Size: size})
			require.NoError(c, err)
			return answer.UpdateNetworkVolume.VolumeFields
		}

		require.Equal(c, "b", *update(to("b"), nil).Name)
		require.Equal(c, 30, *update(nil, to(30)).Size)
		require.Equal(c, []any{"b", 30.0}, []any{c.read(volumePath + "/" + *made.Id)["name"], c.read(volumePath + "/" + *made.Id)["size"]})
		for fields, code := range map[string]string{`size:20`: "REJECTED", `size:9`: "INVALID", `name:""`: "INVALID"} {
			c.wrongly(c.graphQL(`mutation{updateNetworkVolume(input:{id:"`+*made.Id+`",`+fields+`}){id}}`), 200, code)
		}
		c.wrongly(c.graphQL(`mutation{updateNetworkVolume(input:{id:"nosuch",name:"a"}){id}}`), 200, "NOT_FOUND")
	})

	deleteVolume := func(c *Check, id string) Answer {
		return c.graphQL(`mutation{deleteNetworkVolume(input:{id:"` + id + `"})}`)
	}
	add("graphql.volumes.delete", []string{"getNetworkVolume"}, func(c *Check) {
		id := *c.saveVolume("a", 20, "EU-RO-1").Id
		pod := c.deploy(func(in *deployInput) { in.NetworkVolumeId, in.GpuTypeId = &id, to("NVIDIA L4") })
		require.Contains(c, c.wrongly(deleteVolume(c, id), 200, "REJECTED"), pod.Id)
		c.data(c.graphQL(`mutation{podTerminate(input:{podId:"` + pod.Id + `"})}`))
		require.Equal(c, map[string]any{"deleteNetworkVolume": nil}, c.data(deleteVolume(c, id)))
		c.Refused(c.REST("GET", volumePath+"/"+id, ""), 404)
	})

	add("graphql.volumes.delete.unknown", nil, func(c *Check) {
		require.Contains(c, c.wrongly(deleteVolume(c, "nosuch"), 200, "NOT_FOUND"), "Tried to delete nonexistent network volume")
	})
	add("graphql.volumes.list", []string{"createNetworkVolume"}, func(c *Check) {
		first, second := *c.saveVolume("a", 20, "EU-RO-1").Id, c.newVolume()
		answer, err := graphclient.MyVolumes(context.Background(), c)
		require.NoError(c, err)
		var order []string
		for _, v := range answer.Myself.NetworkVolumes {
			order = append(order, *v.Id)
		}
		require.Less(c, indexOf(order, second), indexOf(order, first), "newest first")
		require.NotEqual(c, -1, indexOf(order, second))

		_, other := c.newKey(`,"user":"somebody"`, "all")
		myself := c.data(c.graphQLAs("Bearer "+other, `{myself{networkVolumes{id} podTemplates{id} containerRegistryCreds{id}}}`, nil))["myself"]
		require.Equal(c, map[string]any{"networkVolumes": []any{}, "podTemplates": []any{}, "containerRegistryCreds": []any{}}, myself)
	})
})
