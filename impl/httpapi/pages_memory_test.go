package httpapi_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/limit"
	"github.com/berthdev/berth/store"
)

// TestPages_GiveTheMemoryOfTheirRowsBack reads a page of each list that has pages, whose rows are more than a page has for nothing.
func TestPages_GiveTheMemoryOfTheirRowsBack(t *testing.T) {
	t.Parallel()
	answers := limit.NewAnswers(time.Minute)
	e := openWith(t, func(s *httpapi.Services) { s.Answers = answers })
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeAll}})
	long := strings.Repeat("x", 700_000)
	require.NoError(t, e.db.Write(t.Context(), func(tx store.Tx) (err error) {
		for i := range 3 {
			id, at := fmt.Sprintf("onewithalongr%d", i), tx.Wall()
			err = errors.Join(err,
				tx.InsertPod(compute.Pod{
					ID: compute.PodID(id), UserID: "u", Name: "a", Image: "i", Ports: []string{}, Env: map[string]string{"A": long}, Cloud: compute.Secure,
					CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}, Status: compute.PodExited, Version: 1, CreatedAt: at,
				}),
				tx.InsertEndpoint(compute.Endpoint{ID: compute.EndpointID(id), UserID: "u", Name: "e", Type: compute.QueueEndpoint, Image: "i", Env: map[string]string{"A": long}, WorkersMax: 1, CreatedAt: at}),
				tx.InsertVolume(compute.Volume{ID: compute.VolumeID(id), UserID: "u", Name: long, SizeGB: 1, DataCenterID: "EU-RO-1", Type: compute.StandardVolume, CreatedAt: at}),
				tx.InsertGlobalVolume(compute.GlobalVolume{ID: compute.VolumeID("g" + id[1:]), UserID: "u", Name: long, CreatedAt: at}),
				tx.InsertBuild(compute.Build{ID: compute.BuildID(id), EndpointID: e.endpoint, Status: compute.BuildFailed, Image: "i", Error: long, CreatedAt: at}),
				tx.InsertRelease(compute.Release{
					ID: compute.ReleaseID(id), EndpointID: e.endpoint, Version: int64(100 + i), CreatedAt: at,
					Diff: []compute.FieldChange{{Field: "args", Old: json.RawMessage(`"` + long + `"`), New: json.RawMessage(`""`)}},
				}),
			)
		}
		return err
	}))

	of := "/v2/serverless/" + string(e.endpoint)
	for _, path := range []string{"/v2/pods", "/v2/serverless", "/v2/network-volumes", "/v2/global-volumes", of + "/builds", of + "/releases"} {
		rec := httptest.NewRecorder()
		e.handler.ServeHTTP(rec, with("GET", path, token, ""))
		require.Equal(t, 200, rec.Code, path)
		require.Greater(t, rec.Body.Len(), 3*len(long), path)
		one, free := answers.Try("one", 20_000_000)
		require.True(t, free, path)
		other, free := answers.Try("other", 12_000_000)
		require.True(t, free, path)
		one()
		other()
	}
}
