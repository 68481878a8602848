package app_test

import (
	"net/http"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestPlacement_Policies(t *testing.T) {
	t.Parallel()
	fleet := filepath.Join(t.TempDir(), "fleet.json")
	require.NoError(t, os.WriteFile(fleet, []byte(`{"hosts":[
		{"id":"a","dataCenterId":"EU-RO-1","cloud":"SECURE","cpus":["cpu3g"],"vcpus":8,"memoryGb":64,"diskGb":500},
		{"id":"b","dataCenterId":"EU-RO-1","cloud":"SECURE","cpus":["cpu3g"],"vcpus":8,"memoryGb":64,"diskGb":500}]}`), 0o600))
	for policy, want := range map[string][]float64{"": {0, 8}, "pack": {0, 8}, "spread": {4, 4}} {
		s := start(t, app.Config{Data: t.TempDir(), Fleet: fleet, Placement: policy})
		for range 2 {
			status, _ := call(t, "POST", s.URL()+"/v2/pods", s.FirstKey(), `{"name":"a","image":"i","cpu":{"id":"cpu3g","vcpuCount":4}}`)
			require.Equal(t, http.StatusCreated, status)
		}

		_, answer := call(t, "GET", s.URL()+"/_berth/hosts", s.FirstKey(), "")
		var free []float64
		for _, one := range answer["hosts"].([]any) {
			free = append(free, one.(map[string]any)["free"].(map[string]any)["vcpus"].(float64))
		}
		require.ElementsMatch(t, want, free, policy)
	}
}
