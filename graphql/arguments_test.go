package graphql_test

import (
	"encoding/json"
	"math/rand/v2"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/graph"
)

// any JSON value, now and then one that fits.
func anyValue(r *rand.Rand, depth int) any {
	texts := []string{"", "a", "1", "1.5", "SECURE", "ALL", "NVIDIA L4", "22/tcp", "2030-01-01T00:00:00Z", "nosuchpod", "cpu3g-2-8", "é\u0000", "GDPR", "CPU"}
	names := []string{"podId", "name", "imageName", "gpuTypeId", "gpuCount", "env", "key", "value", "ports", "cloudType", "allowedCudaVersions", "id", "ids", "__typename", "compliance", "savingsPlan", "port", "stopAfter"}
	switch n := r.IntN(10); {
	case n < 3:
		return texts[r.IntN(len(texts))]
	case n < 5:
		return json.Number([]string{"0", "1", "-1", "2147483648", "99999999999999999999", "1.5", "1e3", "1e400", "-0"}[r.IntN(9)])
	case n < 6:
		return r.IntN(2) == 0
	case n < 7 || depth == 0:
		return nil
	case n < 8:
		list := make([]any, r.IntN(3))
		for i := range list {
			list[i] = anyValue(r, depth-1)
		}
		return list
	}

	object := map[string]any{}
	for range r.IntN(6) {
		object[names[r.IntN(len(names))]] = anyValue(r, depth-1)
	}
	return object
}

// What clients send is never a fault of ours, whatever it is: it fits, or it is refused.
func TestArguments_NoneMakeAnInternalError(t *testing.T) {
	t.Parallel()
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	e := open(t, nil)
	r := rand.New(rand.NewPCG(1, 2))

	outcomes := map[int]int{}
	for _, root := range []string{"Query", "Mutation"} {
		for _, field := range schema.Types[root].Fields {
			if len(field.Arguments) == 0 {
				continue
			}
			argument := field.Arguments[0]
			selection := "{__typename}"
			if field.Type.Name() == "Void" {
				selection = ""
			}
			keyword := map[string]string{"Query": "query", "Mutation": "mutation"}[root]

			document := keyword + "($i:" + argument.Type.String() + "){" + field.Name + "(" + argument.Name + ":$i)" + selection + "}"
			for range 500 {
				body, err := json.Marshal(map[string]any{"query": document, "variables": map[string]any{"i": anyValue(r, 4)}})
				require.NoError(t, err)
				status, answer := e.do(http.MethodPost, "/graphql?api_key="+e.token, string(body))
				require.Contains(t, []int{200, 400}, status, "%s: %s", body, answer)
				require.NotContains(t, answer, "INTERNAL", "%s", body)
				outcomes[status]++
			}
		}
	}

	require.Positive(t, outcomes[200])
	require.Positive(t, outcomes[400])
}
