package app_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// mutate makes a mutation and gives its result.
func mutate(t *testing.T, s *app.Server, key, mutation string) map[string]any {
	t.Helper()
	status, document := call(t, "POST", s.URL()+"/graphql", key, fmt.Sprintf(`{"query":%q}`, "mutation{r:"+mutation+"}"))
	require.Equal(t, 200, status, document)
	require.NotContains(t, document, "errors")
	return document["data"].(map[string]any)["r"].(map[string]any)
}

func TestTimers_OutliveTheServer(t *testing.T) {
	t.Parallel()
	c := app.Config{Data: t.TempDir(), TestControls: true}
	s := start(t, c)
	key := s.FirstKey()
	s.Clock().Freeze()
	deploy := func(timer string, after time.Duration) string {
		return mutate(t, s, key, fmt.Sprintf(`podFindAndDeployOnDemand(input:{gpuTypeId:"NVIDIA L4",imageName:"i",%s:"%s"}){id}`,
			timer, s.Clock().Wall().Add(after).Format(time.RFC3339)))["id"].(string)
	}
	soon, later, ends := deploy("stopAfter", 2*time.Second), deploy("stopAfter", time.Hour), deploy("terminateAfter", 2*time.Second)
	require.NoError(t, s.Close())

	s = start(t, c)
	require.NoError(t, s.Advance(t.Context(), time.Minute))
	status := func(id string) any {
		t.Helper()
		_, pod := call(t, "GET", s.URL()+"/v2/pods/"+id, key, "")
		return pod["status"]
	}
	require.Equal(t, "EXITED", status(soon))
	require.Equal(t, "RUNNING", status(later))
	require.EqualValues(t, 404, status(ends))
	require.NoError(t, s.Advance(t.Context(), time.Hour))
	require.Equal(t, "EXITED", status(later))
	require.NoError(t, s.Close())
}
