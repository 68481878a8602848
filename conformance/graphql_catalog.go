package conformance

import (
	"context"
	"strings"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graphclient"
)

// centers reads the data centers by GraphQL, and the countries.
func (c *Check) centers(in graphclient.GpuAvailabilityInput) (map[string]*graphclient.DataCentersDataCentersDataCenter, []string) {
	answer, err := graphclient.DataCenters(context.Background(), c, &in)
	require.NoError(c, err)
	centers := map[string]*graphclient.DataCentersDataCentersDataCenter{}
	for _, d := range answer.DataCenters {
		centers[*d.Id] = d
	}
	return centers, all(answer.CountryCodes)
}

// flavors reads the CPU flavors by GraphQL.
func (c *Check) flavors(id *string, size graphclient.SpecificsInput) []*graphclient.CPUFlavorsCpuFlavorsCpuFlavor {
	answer, err := graphclient.CPUFlavors(context.Background(), c, &graphclient.CpuFlavorInput{Id: id}, &size)
	require.NoError(c, err)
	return answer.CpuFlavors
}

var _ = area(func() {
	add("graphql.data-centers", []string{"listDataCenters"}, func(c *Check) {
		centers, _ := c.centers(graphclient.GpuAvailabilityInput{})
		rest := c.catalog("datacenters", "")
		require.Len(c, rest, len(centers))
		for _, row := range rest {
			d := centers[row["id"].(string)]
			require.Equal(c, *d.Id, *d.Name)
			require.True(c, *d.Listed)
			require.NotEmpty(c, *d.Location)
			require.Equal(c, row["globalNetwork"], *d.GlobalNetwork)
			require.Len(c, d.Compliance, len(row["compliance"].([]any)))
		}
	})

	add("graphql.data-centers.free", nil, func(c *Check) {
		defer c.capacity(l4s("EU-RO-1", 2, `,"cudaVersion":"12.8"`))()
		l4In := func(id string, in graphclient.GpuAvailabilityInput) []any {
			centers, _ := c.centers(in)
			for _, g := range centers[id].GpuAvailability {
				if *g.GpuTypeId == "NVIDIA L4" {
					require.Equal(c, []string{"NVIDIA L4", "L4", "L4"}, []string{*g.Id, *g.DisplayName, *g.GpuTypeDisplayName})
					return []any{*g.StockStatus, *g.Available}
				}
			}
			return nil
		}

		require.Equal(c, []any{"Low", true}, l4In("EU-RO-1", graphclient.GpuAvailabilityInput{}))
		require.Equal(c, []any{"None", false}, l4In("US-KS-2", graphclient.GpuAvailabilityInput{}))
		for _, in := range []graphclient.GpuAvailabilityInput{
			{GpuCount: to(3)}, {SecureCloud: to(false)}, {MinMemoryInGb: to(100_000)}, {MinVcpuCount: to(100_000)}, {MinCudaVersion: to("13.0")},
			{AllowedCudaVersions: []*string{to("12.4")}},
		} {
			require.Equal(c, []any{"None", false}, l4In("EU-RO-1", in))
		}

		unset := graphclient.GpuAvailabilityInput{GpuCount: to(2), MinMemoryInGb: to(0), MinVcpuCount: to(0), MinCudaVersion: to(""), AllowedCudaVersions: []*string{to("12.8")}}
		require.Equal(c, []any{"Low", true}, l4In("EU-RO-1", unset))
		c.wrongly(c.graphQL(`{dataCenters{gpuAvailability(input:{gpuCount:0}){id}}}`), 200, "INVALID")
	})

	add("graphql.countries", nil, func(c *Check) {
		_, countries := c.centers(graphclient.GpuAvailabilityInput{})
		require.Contains(c, countries, "RO")
		require.Contains(c, countries, "US")
		require.IsIncreasing(c, countries)

		defer c.capacity(l4s("EU-RO-1", 2, ""))()
		for country, stock := range map[string]string{"RO": "Low", "US": "None", "": "Low"} {
			require.Equal(c, stock, *c.gpuType("NVIDIA L4", graphclient.GpuLowestPriceInput{CountryCode: &country}).LowestPrice.StockStatus)
		}
		deploy := func(country string) Answer {
			return c.graphQL(`mutation{podFindAndDeployOnDemand(input:{gpuTypeId:"NVIDIA L4",imageName:"i",countryCode:"` + country + `"}){id}}`)
		}
		require.Contains(c, c.wrongly(deploy("US"), 200, "REJECTED"), "country US")
		c.data(deploy("RO"))
	})

	add("graphql.cpu-flavors", []string{"listCpus"}, func(c *Check) {
		flavors := c.flavors(nil, graphclient.SpecificsInput{})
		require.NotEmpty(c, flavors)
		for _, f := range flavors {
			require.Positive(c, *f.RamMultiplier)
			require.Positive(c, *f.DiskLimitPerVcpu)
			require.LessOrEqual(c, *f.MinVcpu, *f.MaxVcpu)
			require.Equal(c, strings.ToLower(*f.GroupName), *f.GroupId)
			require.NotEmpty(c, *f.DisplayName)
		}

		require.Equal(c, "cpu3g", *c.flavors(to("cpu3g"), graphclient.SpecificsInput{})[0].Id)
		require.Empty(c, c.flavors(to("nosuch"), graphclient.SpecificsInput{}))
		answer, err := graphclient.CPUFlavors(context.Background(), c, nil, nil)
		require.NoError(c, err)
		require.Len(c, answer.CpuTypes, len(flavors))
		require.Equal(c, *flavors[0].Id, *answer.CpuTypes[0].Id)
	})

	add("graphql.cpu-flavors.price", []string{"createPod"}, func(c *Check) {
		price := func(size graphclient.SpecificsInput) float64 {
			s := c.flavors(to("cpu3g"), size)[0].Specifics
			require.Contains(c, []string{"High", "Medium", "Low"}, *s.StockStatus)
			require.Positive(c, *s.SlsPrice)
			return *s.SecurePrice
		}
		smallest := price(graphclient.SpecificsInput{DataCenterId: to("")})
		require.InDelta(c, 2*smallest, price(graphclient.SpecificsInput{InstanceId: to("cpu3g-4-16")}), 1e-9)
		require.InDelta(c, smallest, *c.deployCPU(graphclient.DeployCpuPodInput{InstanceId: to("cpu3g-2-8"), ImageName: to("i")}).CostPerHr, 1e-9)
	})

	add("graphql.cpu-flavors.none", nil, func(c *Check) {
		defer c.capacity(cpu3gs("EU-RO-1", 4))()
		for _, size := range []graphclient.SpecificsInput{
			{InstanceId: to("cpu3g-4-17")}, {InstanceId: to("cpu3g-64-256")}, {InstanceId: to("cpu3c-2-4")}, {InstanceId: to("nonsense")},
		} {
			s := c.flavors(to("cpu3g"), size)[0].Specifics
			require.NotNil(c, s)
			require.Equal(c, []any{(*string)(nil), (*float64)(nil), (*float64)(nil)}, []any{s.StockStatus, s.SecurePrice, s.SlsPrice})
		}

		for size, smallest := range map[graphclient.SpecificsInput]float64{{DataCenterId: to("US-KS-2")}: 1, {InstanceId: to("cpu3g-8-32")}: 4} {
			s := c.flavors(to("cpu3g"), size)[0].Specifics
			require.Nil(c, s.StockStatus)
			require.InDelta(c, smallest*0.08, *s.SecurePrice, 1e-9)
			require.InDelta(c, smallest*0.10, *s.SlsPrice, 1e-9)
		}

		require.NotNil(c, c.flavors(to("cpu3g"), graphclient.SpecificsInput{DataCenterId: to("US-KS-2,EU-RO-1")})[0].Specifics.StockStatus)
	})

	add("graphql.anonymous.catalog", nil, func(c *Check) {
		c.data(c.graphQLAs("-", `{dataCenters{id gpuAvailability{gpuTypeId}} countryCodes cpuFlavors{id specifics{securePrice}} cpuTypes{id}}`, nil))
		for _, document := range []string{`{podTemplates{id}}`, `{podTemplate(id:"a"){id}}`} {
			c.wrongly(c.graphQLAs("-", document, nil), 401, "UNAUTHENTICATED")
		}
	})
})
