package graphql

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/vektah/gqlparser/v2/ast"

	"github.com/berthdev/berth/gen/graph"
)

// The libraries refuse some of these before; they need not for ever, and each has let something pass.
func TestArguments_WrongValueIsNamedWithItsPlace(t *testing.T) {
	t.Parallel()
	schema := graph.NewExecutableSchema(graph.Config{}).Schema()
	object := ast.NamedType("PodFindAndDeployOnDemandInput", nil)
	for _, of := range []struct {
		t      *ast.Type
		value  any
		places []string
	}{
		{object, map[string]any{}, nil},
		{object, "text", []string{"input: must be an object"}},
		{object, []any{map[string]any{}}, []string{"input: must be an object"}},
		{object, json.Number("7"), []string{"input: must be an object"}},
		{object, true, []string{"input: must be an object"}},
		{object, nil, nil},
		{ast.NonNullNamedType("PodStopInput", nil), nil, []string{"input: must not be null"}},
		{object, map[string]any{"env": "text"}, []string{"input.env: must be an object"}},
		{object, map[string]any{"env": []any{map[string]any{"key": 7}, "text", nil}}, []string{"input.env.0.key: must be text", "input.env.1: must be an object"}},
		{object, map[string]any{"env": map[string]any{"key": "one for a list of one"}}, nil},
		{object, map[string]any{"gpuCount": int64(1) << 31}, []string{"input.gpuCount: must be a whole number of 32 bits"}},
		{object, map[string]any{"gpuCount": int64(1)<<31 - 1}, nil},
		{object, map[string]any{"gpuCount": int64(-1) << 31}, nil},
		{object, map[string]any{"gpuCount": int64(-1)<<31 - 1}, []string{"input.gpuCount: must be a whole number of 32 bits"}},
		{object, map[string]any{"gpuCount": json.Number("2147483647")}, nil},
		{object, map[string]any{"gpuCount": json.Number("2147483648")}, []string{"input.gpuCount: must be a whole number of 32 bits"}},
		{object, map[string]any{"deployCost": json.Number("1e400")}, []string{"input.deployCost: must be a number"}},
		{object, map[string]any{"deployCost": json.Number("1.5")}, nil},
		{object, map[string]any{"startSsh": "true"}, []string{"input.startSsh: must be true or false"}},
		{object, map[string]any{"cloudType": "NONE"}, []string{"input.cloudType: must be one of the values of CloudTypeEnum"}},
		{object, map[string]any{"cloudType": "ALL"}, nil},
		{object, map[string]any{"stopAfter": "tomorrow"}, []string{"input.stopAfter: must be a time as RFC 3339 text"}},
		{object, map[string]any{"stopAfter": "2030-01-01T00:00:00Z"}, nil},
		{object, map[string]any{"port": true}, []string{"input.port: must be a number or text"}},
		{object, map[string]any{"port": "22"}, nil},
		{object, map[string]any{"port": int64(22)}, nil},
	} {
		a := arguments{schema: schema}
		a.value("input", of.t, of.value)
		require.Equal(t, of.places, a.fields, "%s %v", of.t, of.value)
	}
}
