package berth_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"github.com/testcontainers/testcontainers-go"

	berth "github.com/berthdev/berth/deploy/testcontainers"
)

// image is what is tested: the image of this tree.
func image() string { return os.Getenv("BERTH_IMAGE") }

// ask sends a request and gives the answer, which must have the status.
func ask(t *testing.T, want int, method, url, key, body string) (answer map[string]any) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	require.NoError(t, err)
	req.Header.Set("Authorization", "Bearer "+key)
	req.Header.Set("Content-Type", "application/json")
	res, err := http.DefaultClient.Do(req)
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	require.Equal(t, want, res.StatusCode)
	_ = json.NewDecoder(res.Body).Decode(&answer) // some have none
	return answer
}

func TestRun_GivesAServerOfTheTestsOwn(t *testing.T) {
	t.Parallel()
	seed := filepath.Join(t.TempDir(), "seed.yaml")
	require.NoError(t, os.WriteFile(seed, []byte("pods:\n  - {name: seeded, image: i, cpu: {id: cpu3g, vcpuCount: 2}}\n"), 0o600))

	c, err := berth.Run(t.Context(), image(), berth.WithArgs("--endpoint", "echo="), berth.WithSeed(seed))
	testcontainers.CleanupContainer(t, c)
	require.NoError(t, err)

	pods := ask(t, 200, "GET", c.URL+"/v2/pods", c.Key, "")["pods"].([]any)
	require.Len(t, pods, 1)
	require.Equal(t, "seeded", pods[0].(map[string]any)["name"])
	require.Len(t, ask(t, 200, "GET", c.URL+"/v2/serverless", c.Key, "")["endpoints"], 1)

	ask(t, 201, "POST", c.URL+"/_berth/faults", c.ControlsKey, `{"operation":"createPod","status":503,"times":1}`)
	ask(t, 503, "POST", c.URL+"/v2/pods", c.Key, `{"name":"b","image":"i","cpu":{"id":"cpu3g","vcpuCount":2}}`)
}

func TestRun_SaysWhyAServerDoesNotStart(t *testing.T) {
	t.Parallel()
	c, err := berth.Run(t.Context(), image(), berth.WithArgs("--no-such-setting"))
	testcontainers.CleanupContainer(t, c)
	require.Error(t, err)
}
