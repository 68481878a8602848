package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestDev_RunsOneJobAndEnds(t *testing.T) {
	t.Parallel()
	once := func(handler string, more ...string) ran {
		args := []string{"dev", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--log-level", "error"}
		args = append(append(args, more...), "--", "env", asProgram+"=1", os.Args[0], "worker", "--handler", handler)
		return call(t.Context(), `{"n":3}`, args...)
	}

	r := once("echo", "--input", `{"n":1}`, "--json")
	require.Zero(t, r.code, r.err)
	var job map[string]any
	require.NoError(t, json.Unmarshal([]byte(r.out), &job), r.out)
	require.Equal(t, "COMPLETED", job["status"])
	require.Equal(t, map[string]any{"n": 1.0}, job["output"])

	r = once("echo", "--input", "@-")
	require.Zero(t, r.code, r.err)
	require.Regexp(t, `output +\{"n":3\}`, r.out)
	require.NotContains(t, r.out, "Paste this", "nothing is served")

	r = once("fail", "--input", `{"n":2}`)
	require.Equal(t, exitEnded, r.code, r.err)
	require.Contains(t, r.out, "FAILED")

	r = once("echo", "--input", `{"n":`)
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.err, "--input: it is not JSON")
}

func TestDev_InterruptedBeforeItsJobEndsFails(t *testing.T) {
	t.Parallel()
	ctx, interrupt := context.WithCancel(t.Context())
	defer interrupt()
	running := filepath.Join(t.TempDir(), "running")
	context.AfterFunc(t.Context(), interrupt)
	go func() {
		for ctx.Err() == nil {
			if _, err := os.Stat(running); err == nil {
				interrupt()
			}
			<-time.After(10 * time.Millisecond)
		}
	}()

	r := call(ctx, "", "dev", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--log-level", "error", "--input", `{"ms":600000}`,
		"--", "env", asProgram+"=1", "sh", "-c", `touch "$1"; exec "$2" worker --handler sleep`, "sh", running, os.Args[0])
	require.Equal(t, exitInterrupted, r.code, r.err)
}

func TestDev_KnowsTheEnvironmentThatItIsInstalledIn(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	program := place(t, "", dir, "bin", "berth")
	require.Empty(t, environmentOf(program), "a directory that is none")
	place(t, "", dir, "pyvenv.cfg")
	require.Equal(t, dir, environmentOf(program))
	require.Empty(t, environmentOf(filepath.Join(dir, "berth")))
}

func TestVersion_IsThatOfTheModuleWhereNoneWasLinked(t *testing.T) {
	t.Parallel()
	module := func(version string) func() (*debug.BuildInfo, bool) {
		return func() (*debug.BuildInfo, bool) { return &debug.BuildInfo{Main: debug.Module{Version: version}}, true }
	}
	require.Equal(t, "v1.2.3", orModule("dev", module("v1.2.3")))
	require.Equal(t, "v2.0.0", orModule("v2.0.0", module("v1.2.3")))
	require.Equal(t, "dev", orModule("dev", module("(devel)")))
	require.Equal(t, "dev", orModule("dev", func() (*debug.BuildInfo, bool) { return nil, false }))
}
