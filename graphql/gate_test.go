package graphql_test

import (
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/graphql"
)

// fields gives a selection of n fields.
func fields(n int) string { return strings.Repeat("id ", n) }

func TestLimits_BoundTheFieldsOfADocument(t *testing.T) {
	t.Parallel()
	e := open(t, func(s *graphql.Services) { s.Limits.Fields = 100 })
	for document, refused := range map[string]bool{
		`{gpuTypes{` + fields(99) + `}}`:  false,
		`{gpuTypes{` + fields(100) + `}}`: true,
		// Asked for twice by a text that is short.
		`{a:gpuTypes{...f} b:gpuTypes{...f}} fragment f on GpuType{` + fields(49) + `}`: false,
		`{a:gpuTypes{...f} b:gpuTypes{...f}} fragment f on GpuType{` + fields(50) + `}`: true,
		// Long, though it does not ask for it.
		`query a{gpuTypes{id}} query b{gpuTypes{` + fields(97) + `}}`:                             false,
		`query a{gpuTypes{id}} query b{gpuTypes{` + fields(98) + `}}`:                             true,
		`query a{gpuTypes{id}} query b{gpuTypes{...f}} fragment f on GpuType{` + fields(95) + `}`: false,
		`query a{gpuTypes{id}} query b{gpuTypes{...f}} fragment f on GpuType{` + fields(97) + `}`: true,
		`query a{gpuTypes{id}} query b{gpuTypes{... on GpuType{` + fields(96) + `}}}`:             false,
		`query a{gpuTypes{id}} query b{gpuTypes{... on GpuType{` + fields(97) + `}}}`:             true,
	} {
		body, err := json.Marshal(map[string]any{"query": document, "operationName": map[bool]any{true: "a"}[strings.HasPrefix(document, "query a")]})
		require.NoError(t, err)
		status, answer := e.do(http.MethodPost, "/graphql?api_key="+e.token, string(body))
		if refused {
			require.Equal(t, 400, status, document)
			require.Contains(t, answer, "too many fields; the limit is 100", document)
		} else {
			require.Equal(t, 200, status, "%s: %s", document, answer)
		}
	}
}

func TestVariables_AreOfTheTypesOfTheOperationThatIsAskedFor(t *testing.T) {
	t.Parallel()
	e := open(t, func(*graphql.Services) {})
	const document = `mutation a($v:CloudTypeEnum){podFindAndDeployOnDemand(input:{imageName:"i",cloudType:$v}){id}}
		query b($v:String!){pod(input:{podId:$v}){id}}`
	ask := func(operation string, variables map[string]any) (int, string) {
		body, err := json.Marshal(map[string]any{"query": document, "operationName": operation, "variables": variables})
		require.NoError(t, err)
		return e.do(http.MethodPost, "/graphql?api_key="+e.token, string(body))
	}

	status, answer := ask("b", map[string]any{"v": ""})
	require.Equal(t, 200, status, answer)
	require.JSONEq(t, `{"data":{"pod":null}}`, answer)
	status, answer = ask("", nil)
	require.Equal(t, 400, status)
	require.Contains(t, answer, "operationName is missing")
}
