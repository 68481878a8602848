package conformance

import (
	"net/http"

	"github.com/stretchr/testify/require"
)

// thrifty has f make requests with a key that may spend so much, of a user who has nothing.
func (c *Check) thrifty(usd string, f func(c *Check)) {
	_, key := c.newKey(`,"user":"thrifty","spendLimit":`+usd, "all")
	was := c.Key
	c.Key = key
	defer func() { c.Key = was }()
	f(c)
}

const overSpend = `the spend limit of the key is 1 USD an hour`

var _ = area(func() {
	ops := []string{"createPod", "podAction"}
	two4090 := `{"name":"p","image":"i","gpu":{"id":"` + rtx4090 + `","count":2}}` // 1.38 USD an hour
	one4090 := `{"name":"p","image":"i","gpu":{"id":"` + rtx4090 + `"}}`
	add("account.spend-limit", ops, func(c *Check) {
		c.thrifty("1", func(c *Check) {
			c.Refused(c.REST("POST", "/v2/pods", two4090), http.StatusPaymentRequired)
			c.newPod(one4090)
			again := c.REST("POST", "/v2/pods", one4090)
			c.Refused(again, http.StatusPaymentRequired)
			require.Equal(c, overSpend+": pods cost 0.69 now, and would cost 1.38", again.JSON["detail"])
			require.Len(c, c.REST("GET", "/v2/pods", "").JSON["pods"], 1)
			c.newPod(`{"name":"p","image":"i","cpu":{"id":"cpu3c","vcpuCount":2}}`)
		})
		c.thrifty("0", func(c *Check) { c.newPod(two4090) })
	})

	add("account.spend-limit.start", ops, func(c *Check) {
		c.thrifty("1", func(c *Check) {
			first := c.newPod(one4090)
			c.acted(first, "stop", "EXITED")
			second := c.newPod(one4090)
			c.Refused(c.act(first, "start"), http.StatusPaymentRequired)
			require.Equal(c, "EXITED", c.getPod(first)["status"])
			c.acted(second, "stop", "EXITED")
			require.Equal(c, 200, c.act(first, "start").Status)
		})
	})

	add("account.spend-limit.clusters", []string{"createCluster"}, func(c *Check) {
		c.thrifty("1", func(c *Check) {
			c.Refused(c.REST("POST", clusters, cluster), http.StatusPaymentRequired)
			require.Empty(c, c.REST("GET", "/v2/pods?includeClusterPods=true", "").JSON["pods"])
			c.newCluster(`{"name":"c","type":"TRAINING","image":"i","compute":{"gpuTypeId":"NVIDIA L4","gpuCountPerPod":1,"podCount":2}}`)
		})
	})

	add("graphql.spend-limit", nil, func(c *Check) {
		shown := func(c *Check) any {
			return c.data(c.graphQL(`{myself{spendLimit}}`))["myself"].(map[string]any)["spendLimit"]
		}
		require.Nil(c, shown(c))
		c.thrifty("1", func(c *Check) {
			require.InDelta(c, 1, shown(c), 0)
			deploy := `mutation{podFindAndDeployOnDemand(input:{imageName:"i",gpuTypeId:"` + rtx4090 + `"}){id}}`
			id := c.idOf(c.graphQL(deploy))
			require.Contains(c, c.wrongly(c.graphQL(deploy), 200, "OVER_SPEND"), overSpend)
			c.wrongly(c.clustering(`gpuCountPerPod:2`), 200, "OVER_SPEND")
			c.stop(id)
			other := c.idOf(c.graphQL(deploy))
			c.wrongly(c.graphQL(`mutation{podResume(input:{podId:"`+id+`"}){id}}`), 200, "OVER_SPEND")
			c.wrongly(c.graphQL(`mutation{podBidResume(input:{podId:"`+id+`",bidPerGpu:0.5,gpuCount:1}){id}}`), 200, "OVER_SPEND")
			c.stop(other)
		})
	})
})
