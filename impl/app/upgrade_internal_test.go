//go:build unix

package app

import (
	"context"
	"encoding/json"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

// The rows are those of releasedRows in store/sqlite.
func TestUpgrade_ServesTheDirectoryOfARelease(t *testing.T) {
	t.Parallel()
	dir := loadRelease(t)
	const token, endpoint = "brt_releasedke_0123456789012345678901234567890123456789", "k3m9x2m4p6q8e1"
	for range 2 {
		clock := compute.NewFrozenClock(time.Date(2026, 3, 1, 12, 20, 0, 0, time.UTC))
		s, err := Start(t.Context(), Config{Data: dir, Listen: "127.0.0.1:0", clock: clock})
		require.NoError(t, err)
		require.Empty(t, s.FirstKey())

		get := func(path string) (answer map[string]any) {
			req, err := http.NewRequestWithContext(context.WithoutCancel(t.Context()), http.MethodGet, s.URL()+path, nil)
			require.NoError(t, err)
			req.Header.Set("Authorization", "Bearer "+token)
			res, err := http.DefaultClient.Do(req)
			require.NoError(t, err)
			defer func() { require.NoError(t, res.Body.Close()) }()
			require.Equal(t, 200, res.StatusCode, path)
			require.NoError(t, json.NewDecoder(res.Body).Decode(&answer))
			return answer
		}

		names := func(of map[string]any, member string) (all []any) {
			for _, one := range of[member].([]any) {
				all = append(all, one.(map[string]any)["name"])
			}
			return all
		}

		require.Equal(t, []any{"on CPUs", "stopped"}, names(get("/v2/pods"), "pods"), "the others are gone and of a cluster")
		require.Equal(t, map[string]any{"A": "1", "Ü": "line\nline"}, get("/v2/pods/k3m9x2m4p6q8r1")["env"])
		require.Equal(t, []any{"ghcr"}, names(get("/v2/registries"), "registries"), "the key of the release opens it")
		require.Equal(t, []any{"trainer"}, names(get("/v2/templates"), "templates"))
		require.Equal(t, []any{"datasets"}, names(get("/v2/network-volumes"), "networkVolumes"))
		require.Equal(t, map[string]any{"text": "HELLO, ü"}, get("/v2/" + endpoint + "/status/sync-01958fb9-3c01-7001-9abc-000000000003")["output"])
		require.Equal(t, "IN_QUEUE", get("/v2/" + endpoint + "/status/01958fb9-3c00-7000-9abc-000000000001")["status"])
		require.Equal(t, "FAILED", get("/v2/" + endpoint + "/status/01958fb9-3c02-7fff-9abc-000000000004")["status"])
		require.InDelta(t, 1, get("/v2/" + endpoint + "/health")["jobs"].(map[string]any)["completed"], 0)
		require.NoError(t, s.Close())
	}
}
