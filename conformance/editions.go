package conformance

import (
	"maps"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// The editions of the contract that rules name.
const (
	strictEdition = "2.0.0"
	publicEdition = "public-2026-10"
)

// in gives a Check of the same rule whose requests name an edition.
func (c *Check) in(edition string) *Check {
	other := *c
	other.Contract = edition
	return &other
}

// edition gives the edition that an answer was given in.
func (a Answer) edition() string { return a.Header.Get(contractHeader) }

var _ = area(func() {
	create := []string{"createPod"}
	wide := with(`"startSsh":false`)

	add("editions.header", create, func(c *Check) {
		for name, edition := range map[string]string{publicEdition: publicEdition, "public": publicEdition, strictEdition: strictEdition} {
			require.Equal(c, edition, c.in(name).REST("GET", "/v2/pods", "").edition())
		}
		require.Equal(c, 201, c.in("public").REST("POST", "/v2/pods", wide).Status)
		require.Equal(c, []string{"/startSsh:"}, places(c.Refused(c.in(strictEdition).REST("POST", "/v2/pods", wide), 422)))
	})

	add("editions.unknown", []string{"listPods"}, func(c *Check) {
		c.inUnknown("/v2/nothing", 404)
		c.inUnknown("/v1/pods", 410)
		for _, path := range []string{c.URL + "/v2/pods", c.URL + "/v2/openapi.json", c.URL + graphqlPath} {
			_, a := c.exchange(Request{Method: "GET", URL: path, Header: map[string]string{contractHeader: "1.0.0"}}) // no operation describes it
			a.JSON = a.object()
			c.Refused(a, 400)
			for _, name := range []string{strictEdition, publicEdition, "public"} {
				require.Contains(c, a.JSON["detail"], name)
			}
		}
	})

	add("editions.answers", []string{"listPods", "status"}, func(c *Check) {
		for _, edition := range []string{strictEdition, publicEdition} {
			other := c.in(edition)
			for _, a := range []Answer{
				other.REST("GET", "/v2/pods", ""), other.REST("GET", "/v2/nothing", ""), other.REST("PUT", "/v2/pods", ""),
				other.Send(Request{Method: "GET", URL: c.URL + "/v2/pods", Key: "-"}), other.Queue("GET", "status/none", ""),
				other.Send(Request{Method: "GET", URL: c.URL + "/openapi/worker.json", Key: "-"}),
			} {
				require.Equal(c, edition, a.edition())
			}
		}
	})

	add("editions.key", []string{"listPods"}, func(c *Check) {
		_, key := c.newKey(`,"contract":"public"`, "all")
		other := c.in("")
		other.Key = key
		require.Equal(c, publicEdition, other.REST("GET", "/v2/pods", "").edition())
		require.Equal(c, 201, other.REST("POST", "/v2/pods", wide).Status)
		strict := other.in(strictEdition)
		require.Equal(c, strictEdition, strict.REST("GET", "/v2/pods", "").edition())
	})

	add("editions.refused", create, func(c *Check) {
		refusal := " is not a known member of edition 2.0.0; public-2026-10 has it (--contract, or the header Berth-Contract)"
		for body, place := range map[string]string{
			wide: "/startSsh:", with(`"templateId":"t"`): "/templateId:", withGPU(`{"id":"NVIDIA L4","minRamPerGpu":1}`): "/gpu/minRamPerGpu:",
		} {
			require.Equal(c, []string{place + refusal}, c.Refused(c.REST("POST", "/v2/pods", body), 422))
		}
		require.Equal(c, []string{"/webhookV2:" + refusal}, c.Refused(c.Queue("POST", "run", `{"input":{},"webhookV2":""}`), 422))
		require.Equal(c, []string{"/startssh: is not a known member"}, c.Refused(c.REST("POST", "/v2/pods", with(`"startssh":true`)), 422))
	})

	add("editions.views", []string{"createPod", "getPod", "listPods"}, func(c *Check) {
		others := []string{"ssh", "cudaVersion", "cmd", "entrypoint"}
		strict, public := c.in(strictEdition), c.in(publicEdition)
		id := public.newPod(gpuPod)
		for _, member := range others {
			require.Contains(c, public.getPod(id), member)
			require.NotContains(c, strict.getPod(id), member)
		}
		require.ElementsMatch(c, []string{"id", "count"}, keys(strict.getPod(id)["gpu"].(map[string]any)))
		for _, pod := range strict.everyOne("/v2/pods", "pods") {
			require.NotContains(c, pod, "ssh")
		}
	})

	add("editions.documents.marked", nil, func(c *Check) {
		schemas := func(edition string) map[string]any {
			a := c.Send(Request{Method: "GET", URL: c.URL + "/v2/openapi.json?contract=" + edition, Key: "-"})
			require.Equal(c, 200, a.Status)
			return a.JSON["components"].(map[string]any)["schemas"].(map[string]any)
		}
		marked := func(schema any) bool {
			description, _ := schema.(map[string]any)["description"].(string)
			return strings.HasPrefix(description, "Edition "+publicEdition+".")
		}
		public, strict := schemas(publicEdition), schemas(strictEdition)
		of := func(schema any) map[string]any { return schema.(map[string]any)["properties"].(map[string]any) }
		for member, property := range of(public["CreatePodRequest"]) {
			require.Equal(c, of(strict["CreatePodRequest"])[member] == nil, marked(property), member)
		}
		require.True(c, marked(public["PodSsh"]))
		require.False(c, marked(public["Pod"]))
	})

	add("editions.documents", nil, func(c *Check) {
		has := func(a Answer) bool {
			require.Equal(c, 200, a.Status)
			schemas := a.JSON["components"].(map[string]any)["schemas"].(map[string]any)
			return slices.Contains(slices.Collect(maps.Keys(schemas["CreatePodRequest"].(map[string]any)["properties"].(map[string]any))), "startSsh")
		}
		get := func(c *Check, query string) Answer {
			return c.Send(Request{Method: "GET", URL: c.URL + "/v2/openapi.json" + query, Key: "-"})
		}
		require.False(c, has(get(c.in(strictEdition), "")))
		require.True(c, has(get(c.in(publicEdition), "")))
		require.True(c, has(get(c.in(""), "?contract=public")))
		named := get(c.in(publicEdition), "?contract="+strictEdition)
		require.False(c, has(named))
		require.Equal(c, strictEdition, named.edition())
		c.Refused(get(c.in(""), "?contract=1.0.0"), 400)
	})
})

// gpuOf gives the gpu of a pod without what only some editions have (rules editions.views, public.pod.gpu).
func gpuOf(pod map[string]any) map[string]any {
	gpu, _ := pod["gpu"].(map[string]any)
	delete(gpu, "vcpuCount")
	delete(gpu, "memory")
	return gpu
}

// places gives what lines of errors are about.
func places(lines []string) (all []string) {
	for _, line := range lines {
		place, _, _ := strings.Cut(line, " ")
		all = append(all, place)
	}
	return all
}

// inUnknown asks for a path in an edition that there is not, which is refused with the status.
func (c *Check) inUnknown(path string, status int) Answer {
	_, a := c.exchange(Request{Method: "GET", URL: c.URL + path, Header: map[string]string{contractHeader: "1.0.0"}}) // no operation describes it
	a.JSON = a.object()
	c.Refused(a, status)
	return a
}
