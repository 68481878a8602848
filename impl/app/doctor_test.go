package app_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/runtime/docker/dockertest"
	"github.com/berthdev/berth/impl/setting"
)

// finding gives what the examination says of the name.
func finding(t *testing.T, name string) app.Finding {
	for _, f := range app.Examine(t.Context(), nil) {
		if f.Name == name {
			return f
		}
	}
	require.Fail(t, "there is no finding about "+name)
	return app.Finding{}
}

func TestExamine_ListsTheGPUs(t *testing.T) {
	dir := t.TempDir()
	t.Setenv("PATH", dir+string(os.PathListSeparator)+os.Getenv("PATH"))
	tool := func(script string) {
		require.NoError(t, os.WriteFile(filepath.Join(dir, "nvidia-smi"), []byte("#!/bin/sh\n"+script+"\n"), 0o700))
	}
	tool(`echo 'NVIDIA A40, 46068 MiB, 550.54.15'; echo 'NVIDIA A40, 46068 MiB, 550.54.15'`)
	require.Equal(t, app.Finding{
		Name: "gpu", Available: true, Warnings: []string{}, Lacks: []string{},
		Detail: "0: NVIDIA A40, 46068 MiB, driver 550.54.15; 1: NVIDIA A40, 46068 MiB, driver 550.54.15",
	}, finding(t, "gpu"))

	tool(`exit 9`)
	require.Equal(t, "none found: nvidia-smi: exit status 9", finding(t, "gpu").Detail)
	tool(`echo No devices were found`)
	require.False(t, finding(t, "gpu").Available)
}

func TestExamine_AsksTheEngineOfTheSettings(t *testing.T) {
	t.Parallel()
	for _, f := range app.Examine(t.Context(), setting.Values{"docker-host": {"tcp://127.0.0.1:1"}}) {
		if f.Name == "docker" {
			require.False(t, f.Available)
			require.Contains(t, f.Detail, "127.0.0.1:1")
			return
		}
	}
	require.Fail(t, "there is no finding about the engine")
}

func TestExamine_AsksTheEnginesOfTheFleet(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "fleet.json")
	examined := func(fleet string) (all map[string]app.Finding) {
		require.NoError(t, os.WriteFile(file, []byte(fleet), 0o600))
		all = map[string]app.Finding{}
		for _, f := range app.Examine(t.Context(), setting.Values{"runtime": {"docker"}, "fleet": {file}}) {
			all[f.Name] = f
		}
		return all
	}

	found := examined(`{"hosts":[{"id":"box","dataCenterId":"EU-RO-1","cloud":"SECURE","engine":"unix:///no/such/docker.sock","diskGb":1}]}`)
	require.False(t, found["engine of host box"].Available)
	require.Contains(t, found["engine of host box"].Detail, "/no/such/docker.sock")
	found = examined(`{"hosts":[{"id":"box","dataCenterId":"EU-RO-1","cloud":"SECURE","engine":"tcp://192.0.2.1:2376","diskGb":1}]}`)
	require.Contains(t, found["fleet"].Detail, "engine of host box: an engine over TCP needs certificates")

	require.Equal(t, []string{}, found["docker"].Lacks)
	require.Contains(t, found["process"].Lacks, "GPUs")
	require.Contains(t, found["kubernetes"].Lacks, "global networking")
	require.Contains(t, found["sim"].Lacks, "anything that really runs")
}

func TestExamine_NamesTheEngineAndWhatItCannotDo(t *testing.T) {
	engine, _ := dockertest.Need(t)
	f := finding(t, "docker")
	require.True(t, f.Available)
	require.Contains(t, f.Detail, engine.DaemonHost())
	require.Contains(t, f.Detail, "API "+engine.ClientVersion())
	require.Contains(t, strings.Join(f.Warnings, "\n"), "does not limit the size of persistent mounts")
}
