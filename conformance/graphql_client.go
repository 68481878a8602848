package conformance

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"

	"github.com/Khan/genqlient/graphql" // what the generated client sends with
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graphclient"
)

const graphqlPath = "/graphql"

// graphqlCodes are those of the table of errors, and the one that a client compares for itself.
var graphqlCodes = []string{
	"INVALID", "REJECTED", "UNAUTHENTICATED", "FORBIDDEN", "NOT_FOUND", "CONFLICT", "TOO_MANY", "UNAVAILABLE", "INTERNAL",
	"OVER_SPEND", "Cluster not found",
}

// checkGraphQL fails unless the answer is that of a GraphQL server: data, or errors each with a message and a code.
func checkGraphQL(c require.TestingT, a Answer) {
	kind := a.Header.Get("Content-Type")
	if strings.HasPrefix(kind, "text/html") && a.Status == http.StatusOK {
		return // the playground
	}
	require.Equal(c, "application/json", kind, "%s", a.Body)

	var answer map[string]any
	require.NoError(c, json.Unmarshal(a.Body, &answer), "%s", a.Body)
	require.Subset(c, []string{"data", "errors"}, keys(answer), "%s", a.Body)

	listed, failed := answer["errors"]
	if !failed {
		require.Equal(c, http.StatusOK, a.Status, "%s", a.Body)
		require.NotNil(c, answer["data"], "%s", a.Body)
		return
	}

	require.NotEmpty(c, listed, "%s", a.Body)
	for _, e := range listed.([]any) {
		fields := e.(map[string]any)
		require.Subset(c, []string{"message", "path", "locations", "extensions"}, keys(fields), "%s", a.Body)
		require.NotEmpty(c, fields["message"], "%s", a.Body)
		require.Contains(c, graphqlCodes, fields["extensions"].(map[string]any)["code"], "%s", a.Body)
	}
}

// graphQL sends a document with the key of the target.
//
//go:noinline
func (c *Check) graphQL(document string) Answer { return c.graphQLAs("", document, nil) }

// graphQLAs sends a document with variables and a key: "-" sends none, an empty one that of the target.
func (c *Check) graphQLAs(key, document string, variables any) Answer {
	body, err := json.Marshal(map[string]any{"query": document, "variables": variables})
	require.NoError(c, err)
	return c.Send(Request{Method: "POST", URL: c.URL + graphqlPath, Body: string(body), Key: key})
}

// data gives the data of an answer without errors.
func (c *Check) data(a Answer) map[string]any {
	require.Equal(c, 200, a.Status, "%s", a.Body)
	require.NotContains(c, a.JSON, "errors", "%s", a.Body)
	return a.JSON["data"].(map[string]any)
}

// wrongly asserts the status and the code of the first error, and gives its message.
func (c *Check) wrongly(a Answer, status int, code string) string {
	require.Equal(c, status, a.Status, "%s", a.Body)
	require.NotNil(c, a.JSON["errors"], "%s", a.Body)
	first := a.JSON["errors"].([]any)[0].(map[string]any)
	require.Equal(c, code, first["extensions"].(map[string]any)["code"], "%s", a.Body)
	return first["message"].(string)
}

// MakeRequest lets the generated client send through the check.
func (c *Check) MakeRequest(_ context.Context, r *graphql.Request, to *graphql.Response) error {
	a := c.graphQLAs("", r.Query, r.Variables)
	require.NotContains(c, a.JSON, "errors", "%s", a.Body)
	return json.Unmarshal(a.Body, to)
}

var _ graphql.Client = (*Check)(nil)

// deploy makes a GPU pod by GraphQL: an RTX 4090 unless set says otherwise.
func (c *Check) deploy(set func(*graphclient.PodFindAndDeployOnDemandInput)) graphclient.PodFields {
	in := graphclient.PodFindAndDeployOnDemandInput{GpuTypeId: to("NVIDIA GeForce RTX 4090"), ImageName: to("i")}
	if set != nil {
		set(&in)
	}
	answer, err := graphclient.Deploy(context.Background(), c, &in)
	require.NoError(c, err)
	pod := answer.PodFindAndDeployOnDemand.PodFields
	return pod
}

// deployed makes a GPU pod with more fields of the input, and gives what REST shows.
func (c *Check) deployed(set func(*graphclient.PodFindAndDeployOnDemandInput)) map[string]any {
	return c.getPod(c.deploy(set).Id)
}

// deployCPU makes a CPU pod by GraphQL.
func (c *Check) deployCPU(in graphclient.DeployCpuPodInput) graphclient.PodFields {
	answer, err := graphclient.DeployCPU(context.Background(), c, &in)
	require.NoError(c, err)
	pod := answer.DeployCpuPod.PodFields
	return pod
}

// deploying sends podFindAndDeployOnDemand with a GPU type, an image and more fields, as they are.
func (c *Check) deploying(fields string) Answer {
	a := c.graphQL(`mutation{podFindAndDeployOnDemand(input:{gpuTypeId:"NVIDIA GeForce RTX 4090",imageName:"i",` + fields + `}){id}}`)
	return a
}

// graphPod reads a pod by GraphQL; nil: there is none.
func (c *Check) graphPod(id string) *graphclient.PodFields {
	answer, err := graphclient.GetPod(context.Background(), c, id)
	require.NoError(c, err)
	if answer.Pod == nil {
		return nil
	}
	return &answer.Pod.PodFields
}

// gpuType reads one GPU type by GraphQL with what it costs.
func (c *Check) gpuType(id string, price graphclient.GpuLowestPriceInput) *graphclient.GPUTypesGpuTypesGpuType {
	answer, err := graphclient.GPUTypes(context.Background(), c, &graphclient.GpuTypeFilter{Id: &id}, &price)
	require.NoError(c, err)
	require.Len(c, answer.GpuTypes, 1)
	return answer.GpuTypes[0]
}

// to gives a pointer to v.
//
//go:noinline
func to[T any](v T) *T { return &v }

// all gives what the pointers point to.
func all[T any](list []*T) (values []T) {
	for _, p := range list {
		values = append(values, *p)
	}
	return values
}
