package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/validate"
	"github.com/berthdev/berth/spec"
)

// bodies is how many bodies the differential test makes for each schema; BERTH_BODIES makes a longer run.
func bodies(t *testing.T) int {
	text := os.Getenv("BERTH_BODIES")
	if text == "" {
		return 5000
	}
	n, err := strconv.Atoi(text)
	require.NoError(t, err)
	return n
}

// TestTheGeneratedValidatorsAgreeWithAnIndependentOne makes valid bodies and mutations of them and compares accept and
// reject with a 2020-12 validator. Not compared: duplicate members and integers written as 5.0, which only ours refuses.
func TestTheGeneratedValidatorsAgreeWithAnIndependentOne(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		document, schema string
		op               validate.Op
		seeds            []string
	}{
		{"rest", "CreatePodRequest", rest.Ops["createPod"], []string{
			`{"name":"a","image":"i","gpu":{"id":"x","count":2},"mounts":{"persistent":{"size":20,"path":"/d"}},"ports":["80/http"],"env":{"A":"b"},"registry":null,"disk":5}`,
			`{"name":"é","image":"","cpu":{"id":"c","vcpuCount":4},"mounts":{"network":[{"volumeId":"v","path":"/n"}]},"cloud":"COMMUNITY","dataCenterIds":["X"],"globalNetworking":true,"args":"","registry":"r"}`,
		}},
		{"queue", "Submission", queue.Ops["run"], []string{
			`{"input":{"a":[1,2,{"b":null}]},"webhook":"https://example.org/x?y=1","policy":{"executionTimeout":5000,"ttl":10000,"lowPriority":true},"s3Config":{"accessId":"a"}}`,
			`{"input":{}}`,
		}},
		{"worker", "Report", worker.Ops["finishJob"], []string{`{"output":{"a":1},"error":"x","stopPod":true,"status":"IN_PROGRESS","other":[]}`}},
	} {
		t.Run(c.schema, func(t *testing.T) {
			t.Parallel()
			text, err := spec.JSON(c.document)
			require.NoError(t, err)
			parsed, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
			require.NoError(t, err)
			compiler := jsonschema.NewCompiler()
			compiler.AssertFormat()
			require.NoError(t, compiler.AddResource("d.json", parsed))
			oracle, err := compiler.Compile("d.json#/components/schemas/" + c.schema)
			require.NoError(t, err)
			random := rand.New(rand.NewPCG(1, 2))
			accepted := 0
			for range bodies(t) {
				var value any
				require.NoError(t, json.Unmarshal([]byte(c.seeds[random.IntN(len(c.seeds))]), &value))
				for range random.IntN(4) {
					value = mutate(random, value)
				}
				body, err := json.Marshal(value)
				require.NoError(t, err)
				instance, err := jsonschema.UnmarshalJSON(bytes.NewReader(body))
				require.NoError(t, err)
				want := oracle.Validate(instance)
				_, violations, err := c.op.Decode(body)
				require.NoError(t, err)
				require.Equal(t, want == nil, len(violations) == 0, "%s\noracle: %v\nours: %v", body, want, violations)
				if want == nil {
					accepted++
				}
			}
			require.Greater(t, accepted, bodies(t)/20, "too few bodies are valid for the test to mean anything")
		})
	}
}

// odd are values that some schema somewhere refuses.
var odd = []string{
	`null`, `true`, `""`, `"x"`, `"80/tcp"`, `"99999/tcp"`, `"SECURE"`, `"ftp://x/"`, `"http://x y/"`, `"http://x/"`, `"relative"`,
	`0`, `1`, `-1`, `2`, `3`, `4`, `9`, `10`, `4999`, `604800001`, `1.5`,
	`[]`, `["1/udp"]`, `[null]`, `{}`, `{"a":"b"}`, `{"a":1}`, `"` + strings.Repeat("y", 50) + `"`,
}

// oddOne gives a fresh one of them: mutations change values in place.
func oddOne(random *rand.Rand) any {
	var value any
	if err := json.Unmarshal([]byte(odd[random.IntN(len(odd))]), &value); err != nil {
		panic(err)
	}
	return value
}

// mutate changes one place of the value: replaces, removes or adds.
func mutate(random *rand.Rand, value any) any {
	if random.IntN(5) == 0 {
		return oddOne(random)
	}
	switch v := value.(type) {
	case map[string]any:
		if len(v) == 0 || random.IntN(6) == 0 {
			v[fmt.Sprintf("m%d", random.IntN(3))] = oddOne(random)
			return v
		}
		names := slices.Sorted(maps.Keys(v)) // in order, so that a seed replays
		name := names[random.IntN(len(names))]
		if random.IntN(6) == 0 {
			delete(v, name)
		} else {
			v[name] = mutate(random, v[name])
		}
	case []any:
		if len(v) == 0 || random.IntN(4) == 0 {
			return append(v, oddOne(random))
		}
		i := random.IntN(len(v))
		v[i] = mutate(random, v[i])
	default:
		return oddOne(random)
	}
	return value
}

func BenchmarkCreatePodBody(b *testing.B) {
	body := []byte(`{"name":"bench","image":"registry.example/library/image:latest","args":"--port 8080 --verbose","disk":50,` +
		`"ports":["8080/http","22/tcp"],"env":{"MODEL":"some-model-name","TOKEN":"` + strings.Repeat("t", 200) + `","MODE":"fast"},"registry":null,` +
		`"mounts":{"network":[{"volumeId":"vol123","path":"/workspace"}]},"gpu":{"id":"NVIDIA GeForce RTX 4090","count":2},` +
		`"cloud":"SECURE","dataCenterIds":["EU-RO-1","US-TX-3"],"globalNetworking":false}`)
	b.Run("validgen", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, violations, err := rest.Ops["createPod"].Decode(body); err != nil || len(violations) > 0 {
				b.Fatal(violations, err)
			}
		}
	})
	b.Run("encoding-json", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			var r rest.CreatePodRequest
			if err := json.Unmarshal(body, &r); err != nil {
				b.Fatal(err)
			}
		}
	})
}
