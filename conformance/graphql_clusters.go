package conformance

import (
	"path"
	"strings"

	"github.com/stretchr/testify/require"
)

// clustering makes a cluster of two pods with an L4 each and more fields of the input, as they are.
func (c *Check) clustering(fields string) Answer {
	return c.graphQL(`mutation{createCluster(input:{gpuTypeId:"NVIDIA L4",imageName:"i",podCount:2,` + fields + `}){id name type podCount gpuCountPerPod pods{id clusterIp clusterIdx clusterRole}}}`)
}

var _ = area(func() {
	read := []string{"getCluster", "listClusterPods"}
	add("graphql.clusters.create", read, func(c *Check) {
		made := c.data(c.clustering(`clusterName:"mine",type:TRAINING,gpuCountPerPod:2,deployCost:100,dockerArgs:"a",ports:"22/tcp",env:[{key:"A",value:"1"}],containerDiskInGb:30,dataCenterId:"EU-RO-1"`))["createCluster"].(map[string]any)
		at := clusters + "/" + made["id"].(string)
		shown := c.read(at)
		require.Equal(c, []any{"mine", "TRAINING", "EU-RO-1"}, []any{shown["name"], shown["type"], shown["dataCenterId"]})
		require.Equal(c, map[string]any{"gpuTypeId": "NVIDIA L4", "gpuCountPerPod": 2.0, "podCount": 2.0}, shown["compute"])
		require.Equal(c, []any{"mine", "TRAINING", 2.0, 2.0}, []any{made["name"], made["type"], made["podCount"], made["gpuCountPerPod"]})
		for i, pod := range c.members(at) {
			require.Equal(c, made["pods"].([]any)[i].(map[string]any)["id"], pod["id"])
			require.Equal(c, []any{"i", "a", []any{"22/tcp"}, map[string]any{"A": "1"}, 30.0}, []any{pod["image"], pod["args"], pod["ports"], pod["env"], pod["disk"]})
		}

		bare := c.data(c.clustering(`clusterName:"",dataCenterId:"",networkVolumeId:null`))["createCluster"].(map[string]any)
		require.Equal(c, []any{"NVIDIA L4 x 2", "APPLICATION", 1.0}, []any{bare["name"], bare["type"], bare["gpuCountPerPod"]})
	})

	add("graphql.clusters.pods", nil, func(c *Check) {
		c.needsSim()
		for center, linked := range map[string]bool{"EU-RO-1": true, "EUR-IS-1": false} {
			made := c.data(c.clustering(`dataCenterId:"` + center + `"`))["createCluster"].(map[string]any)
			seen := map[any]bool{}
			for i, one := range made["pods"].([]any) {
				pod := one.(map[string]any)
				require.EqualValues(c, i, pod["clusterIdx"])
				require.Equal(c, linked, pod["clusterIp"] != nil, center)
				seen[pod["clusterIp"]] = true
			}
			require.Equal(c, linked, len(seen) == 2)
		}
		pod := c.data(c.graphQL(`{pod(input:{podId:"` + c.idOf(c.onL4(`gpuCount:1`)) + `"}){clusterIp clusterIdx}}`))["pod"]
		require.Equal(c, map[string]any{"clusterIp": nil, "clusterIdx": nil}, pod)
	})

	add("graphql.clusters.values", nil, func(c *Check) {
		for fields, code := range map[string]string{
			`templateId:"x"`: "NOT_FOUND", `throughput:1`: "REJECTED", `volumeKey:"k"`: "REJECTED", `startJupyter:true`: "REJECTED",
			`ports:"x"`: "INVALID", `gpuCountPerPod:0`: "INVALID", `deployCost:-1`: "INVALID",
		} {
			field, _, _ := strings.Cut(fields, ":")
			require.Contains(c, c.wrongly(c.clustering(fields), 200, code), strings.TrimSuffix(field, "PerPod"))
		}
		c.wrongly(c.clustering(`deployCost:0.5`), 200, "REJECTED")
		for _, input := range []string{`{gpuTypeId:"NVIDIA L4",podCount:2}`, `{gpuTypeId:"NVIDIA L4",imageName:"i"}`, `{imageName:"i",podCount:2}`, `{gpuTypeId:"NVIDIA L4",imageName:"i",podCount:1}`} {
			c.wrongly(c.graphQL(`mutation{createCluster(input:`+input+`){id}}`), 200, "INVALID")
		}
		require.Contains(c, c.wrongly(c.clustering(`dataCenterId:"EU-RO-1",gpuCountPerPod:9,podCount:2`), 400, "INVALID"), "podCount")
		template := path.Base(c.newTemplate(`{"name":"` + c.own("of clusters") + `","image":"templated","env":{"A":"1"}}`))
		of := c.data(c.graphQL(`mutation{createCluster(input:{gpuTypeId:"NVIDIA L4",podCount:2,templateId:"` + template + `"}){id pods{imageName env}}}`))["createCluster"].(map[string]any)
		c.owns(clusters+"/"+of["id"].(string), "")
		require.Len(c, of["pods"], 2)
		require.Equal(c, "templated", of["pods"].([]any)[1].(map[string]any)["imageName"])
		require.Contains(c, of["pods"].([]any)[1].(map[string]any)["env"], "A=1")
		defer c.capacity(l4s("EU-RO-1", 1, ""))()
		require.Contains(c, c.wrongly(c.clustering(`gpuCountPerPod:1`), 200, "REJECTED"), noCapacity)
	})

	add("graphql.clusters.get", []string{"createCluster"}, func(c *Check) {
		id := strings.TrimPrefix(c.newCluster(cluster), clusters+"/")
		query := `{myself{cluster(input:{id:"` + id + `"}){id podCount pods{id}}}}`
		shown := c.data(c.graphQL(query))["myself"].(map[string]any)["cluster"].(map[string]any)
		require.Equal(c, []any{id, 3.0}, []any{shown["id"], shown["podCount"]})
		require.Len(c, shown["pods"], 3)
		none := map[string]any{"cluster": nil}
		require.Equal(c, none, c.data(c.graphQL(`{myself{cluster(input:{id:"nosuch"}){id}}}`))["myself"])
		_, other := c.newKey(`,"user":"somebody"`, "all")
		require.Equal(c, none, c.data(c.graphQLAs("Bearer "+other, query, nil))["myself"])
	})

	add("graphql.clusters.delete", []string{"createCluster", "getCluster"}, func(c *Check) {
		at := c.newCluster(cluster)
		pods := c.members(at)
		id := strings.TrimPrefix(at, clusters+"/")
		require.Equal(c, true, c.data(c.graphQL(`mutation{deleteCluster(input:{id:"` + id + `"})}`))["deleteCluster"])
		c.Refused(c.REST("GET", at, ""), 404)
		for _, pod := range pods {
			c.Refused(c.REST("GET", "/v2/pods/"+pod["id"].(string), ""), 404)
		}
	})

	add("graphql.clusters.delete.unknown", nil, func(c *Check) {
		c.wrongly(c.graphQL(`mutation{deleteCluster(input:{id:"nosuch"})}`), 200, "Cluster not found")
	})
})

// newSecretOver stores a secret over GraphQL, with the value very-secret.
func (c *Check) newSecretOver(name string) Answer {
	return c.graphQL(`mutation{secretCreate(input:{name:"` + name + `",value:"very-secret",description:"d"}){id name description createdAt}}`)
}

var _ = area(func() {
	add("graphql.secrets", []string{"getSecret"}, func(c *Check) {
		name := c.own("over")
		a := c.newSecretOver(name)
		require.NotContains(c, string(a.Body), "very-secret")
		id := c.idOf(a)
		shown := c.read(secrets + "/" + id)
		require.Equal(c, []any{name, "d"}, []any{shown["name"], shown["description"]})
		newer := c.idOf(c.newSecretOver(c.own("newer")))

		list := c.graphQL(`{myself{secrets{id name description createdAt updatedAt lastUpdatedAt}}}`)
		require.NotContains(c, string(list.Body), "very-secret")
		var ids []any
		for _, one := range c.data(list)["myself"].(map[string]any)["secrets"].([]any) {
			if s := one.(map[string]any); s["id"] == id || s["id"] == newer {
				ids = append(ids, s["id"])
			}
		}
		require.Equal(c, []any{newer, id}, ids)
	})

	add("graphql.secrets.values", nil, func(c *Check) {
		name := c.own("twice")
		c.idOf(c.newSecretOver(name))
		c.wrongly(c.newSecretOver(name), 200, "CONFLICT")
		c.wrongly(c.newSecretOver("RUNPOD_X"), 200, "REJECTED")
		for _, bad := range []string{"", "1a", "a b", strings.Repeat("n", 192)} {
			require.Contains(c, c.wrongly(c.newSecretOver(bad), 200, "INVALID"), "name")
		}
		c.wrongly(c.graphQL(`mutation{secretCreate(input:{name:"`+c.own("empty")+`",value:""}){id}}`), 200, "INVALID")
	})

	add("graphql.secrets.delete", []string{"getSecret"}, func(c *Check) {
		id := c.idOf(c.newSecretOver(c.own("gone")))
		remove := `mutation{secretDelete(id:"` + id + `")}`
		require.Nil(c, c.data(c.graphQL(remove))["secretDelete"])
		c.Refused(c.REST("GET", secrets+"/"+id, ""), 404)
		c.wrongly(c.graphQL(remove), 200, "NOT_FOUND")
	})
})
