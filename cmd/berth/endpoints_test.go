package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

func TestEndpoints_WholeLife(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	volume := s.document("volumes", "create", "--name", "data", "--size", "20", "--data-center", "EU-RO-1")["id"].(string)
	template := s.document("templates", "create", "--name", "words", "--image", "acme/words:1", "--serverless", "--category", "CPU", "--env", "A=1")["id"].(string)
	made := s.document("endpoints", "create", "--name", "words", "--template", template, "--cpu", "cpu3g:2,cpu3c:4", "--volume", volume,
		"--workers-max", "5", "--request-count", "7", "--execution-timeout", "2m", "--data-center", "EU-RO-1")
	id := made["id"].(string)
	require.Equal(t, map[string]any{"type": "REQUEST_COUNT", "requestCount": 7.0}, made["scaling"])
	require.EqualValues(t, 5, made["workers"].(map[string]any)["max"])
	require.EqualValues(t, 120_000, made["timeout"])
	require.Len(t, made["cpu"], 2)
	require.Equal(t, []any{volume}, made["networkVolumes"])
	require.Equal(t, strings.TrimLeft(`
ID              NAME   TYPE   WORKERS  SCALING          MACHINE                                       IMAGE         CREATED
ENDPOINT______  words  QUEUE  0-5      REQUEST_COUNT 7  cpu3g, 2 vCPUs, 8 GB or cpu3c, 4 vCPUs, 8 GB  acme/words:1  TTTTTTTTTTTTTTTTTTTT
`, "\n"), still(s.done("endpoints", "list"), "ENDPOINT", id))

	gpu := s.document("endpoints", "create", "--name", "images", "--image", "i", "--gpu-pool", "ADA_24", "--gpu-pool", "AMPERE_24", "--gpu-count", "2", "--min-cuda-version", "12.0", "--wait")
	require.Equal(t, map[string]any{"type": "QUEUE_DELAY", "queueDelay": 4.0}, gpu["scaling"])
	require.Contains(t, s.done("endpoints", "get", "images"), "machine            2 × ADA_24 or AMPERE_24\n")

	require.Equal(t, map[string]any{"type": "QUEUE_DELAY", "queueDelay": 1.5}, s.document("endpoints", "update", "words", "--queue-delay", "1500ms", "--idle-timeout", "30s", "--image", "acme/words:2")["scaling"])
	require.Contains(t, s.done("endpoints", "releases", "words"), "  image")
	require.Len(t, s.document("endpoints", "releases", "words")["releases"], 2)
	require.Equal(t, "ID  STATUS  VERSION  STALE  GPUS  IMAGE  DATA CENTER  STARTED  REASON\n", s.done("endpoints", "workers", "words"))
	require.Empty(t, s.document("endpoints", "workers", "words")["workers"])

	s.refuses(exitFailed, "berth: endpoint words has no worker, and none has ended\n", "endpoints", "logs", "words")
	s.refuses(exitUsage, "berth: --cpu: \"cpu3g\" is not FLAVOR:VCPUS\n", "endpoints", "update", "words", "--cpu", "cpu3g")

	require.Equal(t, "deleted "+id+"\n", s.done("endpoints", "delete", "words"))
	s.refuses(exitRefused, `berth: 404 Not Found: endpoint "`+id+`" does not exist`+"\nhint: berth endpoints list shows those that there are\n", "endpoints", "get", id)
	require.EqualValues(t, 40, s.document("volumes", "update", volume, "--size", "40")["size"])
	require.Equal(t, "id           "+volume+"\nname         data\nsize         40 GB\ndata center  EU-RO-1\ntype         STANDARD\n", s.done("volumes", "get", volume))
	require.Contains(t, s.done("templates", "list"), template+"  words  acme/words:1  CPU")
	require.Equal(t, "deleted "+template+"\n", s.done("templates", "delete", template))
	require.Equal(t, "deleted "+volume+"\n", s.done("volumes", "delete", volume))
}

func TestGlobalVolumes_WholeLife(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	volume := s.document("global-volumes", "create", "--name", "models")["id"].(string)
	require.Equal(t, "weights", s.document("global-volumes", "update", volume, "--name", "weights")["name"])
	require.Equal(t, "ID              NAME     CREATED\nVOLUME________  weights  TTTTTTTTTTTTTTTTTTTT\n", still(s.done("global-volumes", "list"), "VOLUME", volume))

	made := s.document("endpoints", "create", "--name", "words", "--image", "i", "--gpu-pool", "ADA_24", "--global-volume", volume)
	require.Equal(t, map[string]any{"network": []any{}, "global": []any{map[string]any{"volumeId": volume}}}, made["mounts"])
	require.Contains(t, s.done("endpoints", "get", "words"), volume)
	require.Empty(t, s.document("endpoints", "update", "words", "--global-volume", "")["mounts"].(map[string]any)["global"])
	require.Equal(t, "deleted "+volume+"\n", s.done("global-volumes", "delete", volume))
}

func TestEndpoints_WaitEndsInTimeWithoutWorkers(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{}) // whose simulated workers take no jobs, and so are never up
	r := s.run("endpoints", "create", "--name", "words", "--image", "i", "--cpu", "cpu3g:2", "--workers-min", "1", "--wait", "--timeout", "2s")
	require.Equal(t, exitTimeout, r.code)
	require.Regexp(t, `^berth: endpoint \S+ has 0 of 1 workers up, and 0 of an earlier release after 2s\nhint: berth endpoints workers \S+ shows them\n$`, r.err)
}

func TestCatalog_ListsWhatCanBeHad(t *testing.T) {
	t.Parallel()
	s := serving(t, app.Config{})
	require.Contains(t, s.done("catalog", "gpus"), "NVIDIA L4 ")
	require.Contains(t, s.done("catalog", "cpus"), "cpu3g  General            2-32   4        0.04        HIGH\n")
	require.Contains(t, s.done("catalog", "datacenters"), "EU-RO-1   EU Romania 1         EUROPE         STANDARD, HIGH_PERFORMANCE  true\n")
	require.NotEmpty(t, s.document("catalog", "gpus")["gpus"])
}
