package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/rest"
)

// podBody is a body of createPod of about 600 bytes, brokenPodBody the same with six faults.
var (
	podBody = []byte(`{"name":"bench","image":"registry.example/library/image:latest","args":"--port 8080 --verbose","disk":50,` +
		`"ports":["8080/http","22/tcp"],"env":{"MODEL":"some-model-name","TOKEN":"` + strings.Repeat("t", 200) + `","MODE":"fast"},"registry":null,` +
		`"mounts":{"network":[{"volumeId":"vol123","path":"/workspace"}]},"gpu":{"id":"NVIDIA GeForce RTX 4090","count":2},` +
		`"cloud":"SECURE","dataCenterIds":["EU-RO-1","US-TX-3"],"globalNetworking":false}`)
	brokenPodBody = []byte(strings.NewReplacer(`"name":"bench"`, `"name":""`, `"disk":50`, `"disk":0`, `22/tcp`, `99999/tcp`, `"count":2`, `"count":"2"`,
		`"SECURE"`, `"HOME"`, `"globalNetworking"`, `"globalnetworking"`).Replace(string(podBody)))
)

var errFaults = errors.New("another number of faults than the body has")

// contenders are what is measured side by side, each a function that reads one body.
func contenders(tb testing.TB) (names []string, read []func() error) {
	add := func(name string, f func() error) { names, read = append(names, name), append(read, f) }
	validate := func(body []byte, faults int) func() error {
		return func() error {
			_, violations, err := rest.Ops["createPod"].Decode(body)
			if len(violations) != faults {
				return errFaults
			}
			return err
		}
	}

	add("generated", validate(podBody, 0))
	add("encoding-json", func() error {
		var r rest.CreatePodRequest
		return json.Unmarshal(podBody, &r)
	})
	kin := kinOpenAPI(tb)
	add("kin-openapi", func() error { return kin(podBody) })
	add("generated-six-faults", validate(brokenPodBody, 6))
	for i, name := range names {
		require.NoError(tb, read[i](), name)
	}
	require.Error(tb, kin(brokenPodBody))

	return names, read
}

// kinOpenAPI gives a function that validates a request with the body by the document, then decodes the body. It is shown the
// document as one of OpenAPI 3.0, for which it has a validator of its own; for 3.1 it compiles the schema anew for each
// request, which takes a millisecond. The route is found once, beforehand.
func kinOpenAPI(tb testing.TB) func(body []byte) error {
	text, err := os.ReadFile("../../spec/rest.yaml")
	require.NoError(tb, err)
	doc, err := openapi3.NewLoader().LoadFromData(text)
	require.NoError(tb, err)

	router, err := legacy.NewRouter(doc)
	require.NoError(tb, err)
	doc.OpenAPI = "3.0.3"
	registry := doc.Components.Schemas["CreatePodRequest"].Value.Properties["registry"].Value
	registry.Type, registry.Nullable = &openapi3.Types{"string"}, true
	route, params, err := router.FindRoute(httptest.NewRequest(http.MethodPost, "/v2/pods", nil))
	require.NoError(tb, err)

	return func(body []byte) error {
		request, err := http.NewRequest(http.MethodPost, "/v2/pods", bytes.NewReader(body))
		if err != nil {
			return err
		}
		request.Header.Set("Content-Type", "application/json")
		input := &openapi3filter.RequestValidationInput{
			Request: request, Route: route, PathParams: params,
			Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc},
		}
		if err := openapi3filter.ValidateRequest(tb.Context(), input); err != nil {
			return err
		}
		if body, err = io.ReadAll(request.Body); err != nil {
			return err
		}

		var r rest.CreatePodRequest
		return json.Unmarshal(body, &r)
	}
}

func BenchmarkCreatePodBody(b *testing.B) {
	names, read := contenders(b)
	for i, name := range names {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := read[i](); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// BenchmarkRatios measures the contenders in rounds, in turn, and reports the medians of the rounds and their ratios: those
// mean something on another machine. One iteration is a round, in which each has long enough to pay for the memory it uses.
func BenchmarkRatios(b *testing.B) {
	const turn, repeats = 20 * time.Millisecond, 50
	names, read := contenders(b)
	times := make([][]float64, len(read))
	for b.Loop() {
		for i := range read {
			n, start := 0, time.Now()
			for time.Since(start) < turn {
				for range repeats {
					if err := read[i](); err != nil {
						b.Fatal(err)
					}
				}
				n += repeats
			}

			times[i] = append(times[i], float64(time.Since(start).Nanoseconds())/float64(n))
		}
	}

	median := make([]float64, len(read))
	for i := range times {
		slices.Sort(times[i])
		median[i] = times[i][len(times[i])/2]
		b.ReportMetric(median[i], names[i]+"-ns")
	}

	b.ReportMetric(median[0]/median[1], "generated/encoding-json")
	b.ReportMetric(median[0]/median[2], "generated/kin-openapi")
	b.ReportMetric(median[3]/median[1], "six-faults/encoding-json")
	b.ReportMetric(0, "ns/op") // of all together: it says nothing
}

func TestContenders_BodiesAreWhatTheyAreCalled(t *testing.T) {
	t.Parallel()
	contenders(t)
	require.InDelta(t, 600, len(podBody), 20)
}
