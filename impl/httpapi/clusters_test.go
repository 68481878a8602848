package httpapi_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/limit"
)

func TestClusters_LargePodsAreListedWhenThereIsMemoryForThem(t *testing.T) {
	t.Parallel()
	answers := limit.NewAnswers(time.Millisecond)
	e := openWith(t, func(s *httpapi.Services) { s.Answers = answers })
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	made := e.call("POST", "/v2/clusters", token, `{"name":"c","type":"TRAINING","image":"i","env":{"A":"`+strings.Repeat("x", 900_000)+`"},"compute":{"gpuTypeId":"NVIDIA L4","gpuCountPerPod":1,"podCount":2}}`)
	require.Equal(t, 201, made.Code)
	var cluster struct{ ID string }
	require.NoError(t, json.Unmarshal(made.Body.Bytes(), &cluster))
	path := "/v2/clusters/" + cluster.ID + "/pods"

	others, ok := answers.Try("others", 20_000_000)
	require.True(t, ok)
	more, ok := answers.Try("more", 12_000_000)
	require.True(t, ok)
	busy := e.call("GET", path, token, "")
	require.Equal(t, 503, busy.Code, "that is no fault of the request")
	require.Contains(t, busy.Body.String(), "too many large answers are under way")
	require.Equal(t, limit.RetryAfter, busy.Header().Get("Retry-After"))

	others()
	more()
	for range 2 {
		listed := e.call("GET", path, token, "")
		require.Equal(t, 200, listed.Code)
		require.Greater(t, listed.Body.Len(), 1_800_000)
	}
	_, ok = answers.Try("others", 20_000_000)
	require.True(t, ok, "what the list had is given back")
	_, ok = answers.Try("more", 12_000_000)
	require.True(t, ok)
}
