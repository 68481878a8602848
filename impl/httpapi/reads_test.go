package httpapi_test

import (
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/validate"
)

func TestReads_AreWhatMayBeAnsweredTwice(t *testing.T) {
	t.Parallel()
	all := map[string]validate.Op{}
	for _, e := range slices.Concat(rest.Editions, queue.Editions, []validate.Edition{{Ops: worker.Ops}, {Ops: controls.Ops}}) {
		maps.Copy(all, e.Ops)
	}
	require.Greater(t, len(all), 100)

	var not []string // of those that are asked for by GET
	parameter := regexp.MustCompile(`{\w+}`)
	for id, op := range all {
		reads := httpapi.Reads(httptest.NewRequest(op.Method, parameter.ReplaceAllString(op.Path, "f08vqgrv1p2xkd"), http.NoBody))
		switch {
		case op.Method != http.MethodGet:
			require.False(t, reads, id)
		case !reads:
			not = append(not, id)
		}
	}
	require.ElementsMatch(t, []string{"stream", "openAIModels", "openAIRouteGet", "execPod", "execWorker"}, not)
}

func TestReads_NothingElseIsOne(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]bool{
		"/": true, "/healthz": true, "/readyz": true, "/console": true, "/console/pods": true, "/docs": true, "/docs/rest": true, "/v2/openapi.json": true,
		"/_berth/artifacts/a?b=c": true, "/v2/pods?limit=1": true, "/v2/%70ods": true,

		"/consoles": false, "/docsify": false, "/graphql": false, "/v2": false, "/v2/pods/": false, "/v2/pods//logs": false, "/v2/e/status/a%2Fb": false,
		"/v2/e/%73tream/j": false, "/v2/e/stream/status": false, "/v2/e/openai/v2/models": false, "/_berth/none": false, "/proxy/pods/a/80": false,
	} {
		require.Equal(t, want, httpapi.Reads(httptest.NewRequest(http.MethodGet, path, http.NoBody)), path)
		require.Equal(t, want, httpapi.Reads(httptest.NewRequest(http.MethodHead, path, http.NoBody)), path)
		require.False(t, httpapi.Reads(httptest.NewRequest(http.MethodPost, path, http.NoBody)), path)
	}
}
