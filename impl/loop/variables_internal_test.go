package loop

import (
	goruntime "runtime"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestProtocol_IsWhatAWorkerGoesBy(t *testing.T) {
	t.Parallel()
	require.Equal(t, map[string]string{
		"RUNPOD_WEBHOOK_GET_JOB":         "http://q/v2/e/job-take/$ID?gpu=none",
		"RUNPOD_WEBHOOK_POST_OUTPUT":     "http://q/v2/e/job-done/$RUNPOD_POD_ID/$ID?gpu=none",
		"RUNPOD_WEBHOOK_POST_STREAM":     "http://q/v2/e/job-stream/$RUNPOD_POD_ID/$ID?gpu=none",
		"RUNPOD_WEBHOOK_PING":            "http://q/v2/e/ping/$RUNPOD_POD_ID?gpu=none",
		"RUNPOD_PING_INTERVAL":           "2500",
		"RUNPOD_AI_API_KEY":              "k",
		"RUNPOD_POD_ID":                  "w",
		"RUNPOD_POD_HOSTNAME":            "w",
		"RUNPOD_ENDPOINT_ID":             "e",
		"RUNPOD_SKIP_AUTO_SYSTEM_CHECKS": "true",
		"RUNPOD_SKIP_GPU_CHECK":          "true",
	}, protocol("e", "w", "http://q", "k", 2500*time.Millisecond))
	for ping, want := range map[time.Duration]string{0: "1000", 999 * time.Millisecond: "1000", time.Second: "1000", 1001 * time.Millisecond: "1001"} {
		require.Equal(t, want, protocol("e", "w", "", "", ping)["RUNPOD_PING_INTERVAL"], "the SDK's pinger dies below 1000")
	}
}

func TestDescription_OfWhatHoldsNoHost(t *testing.T) {
	t.Parallel()
	all := description{id: "w", hostname: "n", base: "http://q", key: "k"}.variables()
	require.Equal(t, map[string]string{
		"RUNPOD_POD_ID": "w", "RUNPOD_POD_HOSTNAME": "n", "RUNPOD_GPU_COUNT": "0", "RUNPOD_CPU_COUNT": strconv.Itoa(goruntime.NumCPU()),
		"RUNPOD_API_KEY": "k", "RUNPOD_API_BASE_URL": "http://q", "RUNPOD_ENDPOINT_BASE_URL": "http://q/v2",
	}, all)
}

func TestWithout_LeavesWhatIsTheUsers(t *testing.T) {
	t.Parallel()
	require.Equal(t, map[string]string{"A": "1"}, without(map[string]string{"A": "1", "B": "2"}, map[string]string{"B": "", "C": "3"}))
}

func TestServed_AreThePortsThatRequestsComeOn(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		env    map[string]string
		asked  []string
		ports  []string
		listen map[string]int
	}{
		"as it is by itself":           {nil, nil, []string{"80/http"}, map[string]int{"PORT": 80, "PORT_HEALTH": 80}},
		"beside its own":               {nil, []string{"22/tcp", "80/tcp"}, []string{"22/tcp", "80/http", "80/tcp"}, map[string]int{"PORT": 80, "PORT_HEALTH": 80}},
		"named already":                {nil, []string{"80/http"}, []string{"80/http"}, map[string]int{"PORT": 80, "PORT_HEALTH": 80}},
		"with a port of its own":       {map[string]string{"PORT": "5000"}, nil, []string{"5000/http"}, map[string]int{"PORT_HEALTH": 5000}},
		"with a port for its health":   {map[string]string{"PORT_HEALTH": "5001"}, nil, []string{"5001/http", "80/http"}, map[string]int{"PORT": 80}},
		"with a port that is no port":  {map[string]string{"PORT": "http"}, nil, []string{"80/http"}, map[string]int{"PORT_HEALTH": 80}},
		"with ports of its own, named": {map[string]string{"PORT": "1", "PORT_HEALTH": "2"}, []string{"2/http", "1/http"}, []string{"1/http", "2/http"}, map[string]int{}},
	} {
		asked := slices.Clone(c.asked)
		ports, listen := served(compute.Endpoint{Env: c.env, Ports: c.asked})
		slices.Sort(ports)
		require.Equal(t, c.ports, ports, name)
		require.Equal(t, c.listen, listen, name)
		require.Equal(t, asked, c.asked, "those of the endpoint stay as they are: %s", name)
	}
}
