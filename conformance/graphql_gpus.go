package conformance

import (
	"context"
	"regexp"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graphclient"
)

const rtx4090 = "NVIDIA GeForce RTX 4090"

var _ = area(func() {
	add("graphql.gpu-types", nil, func(c *Check) {
		answer, err := graphclient.GPUTypes(context.Background(), c, nil, nil)
		require.NoError(c, err)
		ids := map[string]bool{}
		for _, t := range answer.GpuTypes {
			require.False(c, ids[t.Id], "%s stands twice", t.Id)
			ids[t.Id] = true
		}
		require.True(c, ids[rtx4090])
	})

	add("graphql.gpu-types.id", nil, func(c *Check) {
		require.Equal(c, rtx4090, c.gpuType(rtx4090, graphclient.GpuLowestPriceInput{}).Id)
		data := c.data(c.graphQL(`{gpuTypes(input:{id:"nosuch"}){id}}`))
		require.Equal(c, []any{}, data["gpuTypes"])
		data = c.data(c.graphQL(`{gpuTypes(input:{ids:["nosuch","NVIDIA L4"]}){id}}`))
		require.Equal(c, []any{map[string]any{"id": "NVIDIA L4"}}, data["gpuTypes"])
	})

	add("graphql.gpu-types.fields", nil, func(c *Check) {
		t := c.gpuType(rtx4090, graphclient.GpuLowestPriceInput{})
		require.Equal(c, "RTX 4090", *t.DisplayName)
		require.Equal(c, 24, *t.MemoryInGb)
		require.Equal(c, *t.SecurePrice > 0, *t.SecureCloud)
		require.Equal(c, *t.CommunityPrice > 0, *t.CommunityCloud)
		require.Positive(c, *t.MaxGpuCount)
	})

	add("graphql.gpu-types.selections", nil, func(c *Check) {
		const whole = `query($price:GpuLowestPriceInput){gpuTypes(input:{id:"NVIDIA L4"}){
			id displayName manufacturer memoryInGb cudaCores secureCloud communityCloud securePrice communityPrice secureSpotPrice communitySpotPrice
			clusterPrice oneWeekPrice oneMonthPrice threeMonthPrice sixMonthPrice oneYearPrice maxGpuCount maxGpuCountCommunityCloud
			maxGpuCountSecureCloud minPodGpuCount nodeGroupGpuSizes nodeGroupDatacenters{id name} throughput
			lowestPrice(input:$price){gpuName gpuTypeId minimumBidPrice uninterruptablePrice minMemory minVcpu rentalPercentage rentedCount totalCount
			stockStatus minDownload minDisk minUpload countryCode supportPublicIp compliance maxGpuCount maxUnreservedGpuCount availableGpuCounts
			gpuTypeCudaVersions{cudaVersion availability}}}}`

		price := map[string]any{
			"gpuCount": 1, "minDisk": nil, "minMemoryInGb": nil, "minVcpuCount": nil, "minCudaVersion": "12.8", "secureCloud": true, "dataCenterId": "EU-RO-1",
			"compliance": []any{}, "allowedCudaVersions": []any{}, "includeAiApi": false, "supportPublicIp": false, "totalDisk": 0,
		}
		row := c.data(c.graphQLAs("-", whole, map[string]any{"price": price, "GpuTypeFilter": nil}))["gpuTypes"].([]any)[0].(map[string]any)
		require.Equal(c, []any{}, row["nodeGroupDatacenters"])
		require.Nil(c, row["lowestPrice"].(map[string]any)["countryCode"])
	})

	add("graphql.gpu-types.price", nil, func(c *Check) {
		for _, secure := range []bool{true, false} {
			t := c.gpuType(rtx4090, graphclient.GpuLowestPriceInput{GpuCount: to(2), SecureCloud: &secure})
			each := *t.CommunityPrice
			if secure {
				each = *t.SecurePrice
			}
			require.InDelta(c, 2*each, *t.LowestPrice.UninterruptablePrice, 1e-9)
		}

		t := c.gpuType(rtx4090, graphclient.GpuLowestPriceInput{GpuCount: to(1)})
		require.InDelta(c, min(*t.SecurePrice, *t.CommunityPrice), *t.LowestPrice.UninterruptablePrice, 1e-9)
		c.wrongly(c.graphQL(`{gpuTypes{lowestPrice(input:{gpuCount:0}){minVcpu}}}`), 200, "INVALID")
	})

	add("graphql.gpu-types.stock", nil, func(c *Check) {
		answer, err := graphclient.GPUTypes(context.Background(), c, nil, &graphclient.GpuLowestPriceInput{GpuCount: to(1)})
		require.NoError(c, err)
		for _, t := range answer.GpuTypes {
			status := *t.LowestPrice.StockStatus
			require.Contains(c, []string{"High", "Medium", "Low", "None"}, status, t.Id)
			require.Equal(c, status == "None", t.LowestPrice.UninterruptablePrice == nil, t.Id)
		}
	})

	add("graphql.gpu-types.stock.none", nil, func(c *Check) {
		for _, w := range []graphclient.GpuLowestPriceInput{
			{GpuCount: to(1000)}, {GpuCount: to(1), MinVcpuCount: to(100_000)}, {GpuCount: to(1), MinMemoryInGb: to(100_000)},
			{GpuCount: to(1), AllowedCudaVersions: []*string{to("99.0")}}, {GpuCount: to(1), MinCudaVersion: to("99.0")},
			{GpuCount: to(1), DataCenterId: to("NOWHERE-1")},
		} {
			price := c.gpuType(rtx4090, w).LowestPrice
			require.Equal(c, "None", *price.StockStatus)
			require.Nil(c, price.UninterruptablePrice)
			require.Nil(c, price.MinMemory)
		}
	})

	add("graphql.gpu-types.counts", nil, func(c *Check) {
		t := c.gpuType(rtx4090, graphclient.GpuLowestPriceInput{GpuCount: to(1)})
		counts := all(t.LowestPrice.AvailableGpuCounts)
		require.NotEmpty(c, counts)
		for i, n := range counts {
			require.GreaterOrEqual(c, n, 1)
			require.LessOrEqual(c, n, *t.MaxGpuCount)
			require.True(c, i == 0 || n > counts[i-1], "%v", counts)
		}
		require.Contains(c, string(c.graphQL(`{gpuTypes(input:{id:"nosuch"}){lowestPrice{availableGpuCounts}}}`).Body), `[]`)
	})

	add("graphql.numbers", nil, func(c *Check) {
		c.frozen(func() {
			id := c.deploy(func(in *graphclient.PodFindAndDeployOnDemandInput) { in.VolumeInGb = to(20); in.Ports = to("22/tcp") }).Id
			c.deployCPU(graphclient.DeployCpuPodInput{ImageName: to("i")})
			c.becomes(id, "RUNNING")
			a := c.graphQL(`{myself{pods{memoryInGb vcpuCount volumeInGb containerDiskInGb gpuCount uptimeSeconds runtime{uptimeInSeconds ports{privatePort}}}}
gpuTypes{memoryInGb lowestPrice{minMemory minVcpu}}}`)
			c.data(a)
			sizes := regexp.MustCompile(`"[a-zA-Z]*(?:Gb|Count|Seconds|Port|Memory|Vcpu)":([^,}\]]*)`).FindAllSubmatch(a.Body, -1)
			require.Greater(c, len(sizes), 10)
			for _, size := range sizes {
				require.Regexp(c, `^(\d+|null)$`, string(size[1]), "%s", size[0])
			}
		})
	})
})
