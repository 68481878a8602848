package main

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
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
	require.NotContains(t, r.err, "hint:", "the server that could run it again is gone")

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
	require.NotContains(t, r.err, "hint:", "the job ends with the server")
}

func TestDev_HandlerThatKeepsEndingBeforeItTakesItsJobFailsIt(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	for code, script := range map[string]string{"7": `printf 'Traceback\nno module torch\n' >&2; exit 7`, "0": "exit 0"} {
		r := call(t.Context(), "", "dev", "--data", data, "--listen", "127.0.0.1:0", "--log-level", "error", "--input", `{"ms":600000}`, "--timeout", "1m", "--", "sh", "-c", script)
		require.Equal(t, exitEnded, r.code, r.err)
		require.Regexp(t, `status +IN_QUEUE`, r.out)
		require.Regexp(t, `berth: the handler ended 3 times and did not take job \S+: the worker ended with exit code `+code, r.err)
		if code == "7" {
			require.Contains(t, r.err, "exit code 7\n  Traceback\n  no module torch\n")
		}
		require.NotContains(t, r.err, "hint:", "nothing goes on")
	}

	r := call(t.Context(), "", "dev", "--data", data, "--listen", "127.0.0.1:0", "--log-level", "error", "--input", `{"ms":1}`, "--timeout", "1m",
		"--", "env", asProgram+"=1", os.Args[0], "worker", "--handler", "sleep")
	require.Zero(t, r.code, "no earlier job is before it: %s", r.err)
}

func TestDev_EndsWithTheTimeForItsJob(t *testing.T) {
	t.Parallel()
	args := []string{"dev", "--data", t.TempDir(), "--listen", "127.0.0.1:0", "--log-level", "error", "--timeout", "5s"}
	worker := []string{"--", "env", asProgram + "=1", os.Args[0], "worker", "--handler", "sleep"}
	r := call(t.Context(), "", slices.Concat(args, []string{"--input", `{"ms":600000}`}, worker)...)
	require.Equal(t, exitTimeout, r.code, r.err)
	require.Regexp(t, `berth: job \S+ is IN_(QUEUE|PROGRESS) after 5s\n$`, r.err)

	r = call(t.Context(), "", slices.Concat(args, worker)...)
	require.Equal(t, exitUsage, r.code)
	require.Contains(t, r.err, "--timeout goes with --input")
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
