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
		Name: "gpu", Available: true, Warnings: []string{},
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

func TestExamine_NamesTheEngineAndWhatItCannotDo(t *testing.T) {
	engine, _ := dockertest.Need(t)
	f := finding(t, "docker")
	require.True(t, f.Available)
	require.Contains(t, f.Detail, engine.DaemonHost())
	require.Contains(t, f.Detail, "API "+engine.ClientVersion())
	require.Contains(t, strings.Join(f.Warnings, "\n"), "does not limit the size of persistent mounts")
}
