package main

import (
	"bytes"
	"log/slog"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// lockedBuffer is written to while others write.
type lockedBuffer struct {
	mu sync.Mutex
	bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.Buffer.Write(p)
}

func TestJobs_WaitSaysWhyWorkersCrash(t *testing.T) {
	t.Parallel()
	var log lockedBuffer
	crash := `echo starting; printf 'Traceback\n  File "handler.py"\nModuleNotFoundError: torch, token=hunter2\033[31m\n' >&2; exit 7`
	s := serving(t, app.Config{
		Log:       slog.New(slog.NewTextHandler(&log, nil)),
		Endpoints: []app.Endpoint{{Name: "words", Command: []string{"sh", "-c", crash}}},
	})

	for _, args := range [][]string{{"run", "--wait"}, {"run", "--follow"}, {"runsync"}} {
		r := s.run(append([]string{"jobs", args[0], "words", "--input", "{}", "--timeout", "15s"}, args[1:]...)...)
		require.Equal(t, exitTimeout, r.code, r.err)
		require.Contains(t, r.err, ": the worker ended with exit code 7\n    Traceback\n      File \"handler.py\"\n    ModuleNotFoundError: torch, token=hunter2 [31m\n", "%v", args)
		require.Equal(t, 1, strings.Count(r.err, "Traceback"), "once: %s", r.err)
		require.NotContains(t, r.err, "starting", "of the standard error alone")
	}

	list := s.done("endpoints", "workers", "words")
	require.Contains(t, list, "the worker ended with exit code 7: ModuleNotFoundError: torch")
	require.Contains(t, list, "    Traceback\n      File")
	require.Regexp(t, `^([a-z0-9]+\n)+$`, s.done("endpoints", "workers", "words", "-q"), "ids alone")
	ended := s.document("endpoints", "workers", "words")["ended"].([]any)
	logs := s.done("endpoints", "logs", "words", ended[0].(map[string]any)["id"].(string), "--source", "container")
	require.ElementsMatch(t, []string{"starting", "Traceback", `  File "handler.py"`, "ModuleNotFoundError: torch, token=hunter2\x1b[31m"},
		strings.Split(strings.TrimSuffix(logs, "\n"), "\n"), "two streams have no order between them")
	require.Contains(t, s.done("endpoints", "logs", "words"), "\n[system] the worker ended with exit code 7\n", "without an id")

	log.mu.Lock()
	defer log.mu.Unlock()
	require.Contains(t, log.String(), "worker ended by itself")
	require.NotContains(t, log.String(), "hunter2", "what a worker writes is not the server's")
}
