package main

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// place writes an executable file and gives its path.
func place(t *testing.T, text string, parts ...string) string {
	t.Helper()
	path := filepath.Join(parts...)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	require.NoError(t, os.WriteFile(path, []byte(text), 0o700))
	return path
}

func TestDev_TakesAHandlerFileOrACommand(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	handler := place(t, "", dir, "handler.py")
	w, err := devWorker([]string{"sh", handler}, true)
	require.NoError(t, err)
	require.Equal(t, []string{"sh", handler}, w.command)
	require.Equal(t, []string{handler}, w.files, "what changes it")

	for want, args := range map[string][]string{
		"berth: worker.mjs is not a .py file; give any other worker as a command after --\nhint: see berth dev --help\n":     {"worker.mjs"},
		"berth: name a handler file, or a command after --\nhint: see berth dev --help\n":                                    {},
		"berth: the handler file: stat " + dir + "/none.py: no such file or directory\nhint: see berth dev --help\n":         {dir + "/none.py"},
		"berth: the handler file: " + dir + "/d.py is no file\nhint: see berth dev --help\n":                                 {dir + "/d.py"},
		"berth: the command of the worker: exec: \"none\": executable file not found in $PATH\nhint: see berth dev --help\n": {"--", "none"},
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "d.py"), 0o700))
		r := call(t.Context(), "", append([]string{"dev"}, args...)...)
		require.Equal(t, want, r.err)
		require.Equal(t, exitUsage, r.code, args)
	}
}

func TestDev_FindsThePythonOfTheVirtualEnvironment(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	handler := place(t, "", dir, "handler.py")
	onPath, why, err := pythonFor(handler, "")
	if err == nil {
		require.Contains(t, why, "on the PATH")
	}
	passed, _, err2 := pythonFor(handler, filepath.Join(dir, "is-none"))
	require.Equal(t, err, err2)
	require.Equal(t, onPath, passed, "an environment that is not there is passed over")

	beside := place(t, "#!/bin/sh\n", dir, ".venv", "bin", "python")
	python, why, err := pythonFor(handler, "")
	require.NoError(t, err)
	require.Equal(t, beside, python)
	require.Contains(t, why, "beside the handler")

	named := place(t, "#!/bin/sh\n", dir, "other", "bin", "python")
	python, why, err = pythonFor(handler, filepath.Join(dir, "other"))
	require.NoError(t, err)
	require.Equal(t, named, python)
	require.Contains(t, why, "VIRTUAL_ENV")
}

func TestWatch_ReportsEachChangeOnce(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	handler := place(t, "1", dir, "handler.py")
	module := place(t, "1", dir, "pkg", "deep", "module.py")
	apart := []string{
		place(t, "1", dir, "notes.txt"), place(t, "1", dir, ".hidden", "a.py"), place(t, "1", dir, "venv", "a.py"),
		place(t, "1", dir, "berth-data", "a.py"), place(t, "1", dir, "__pycache__", "a.py"),
	}
	place(t, "", dir, "venv", "pyvenv.cfg")

	w := newWatch([]string{handler}, filepath.Join(dir, "berth-data"))
	at := time.Now()
	touch := func(path string) {
		at = at.Add(time.Minute)
		require.NoError(t, os.Chtimes(path, at, at))
	}

	changes := func() (n int) {
		for range 4 {
			if w.changed() {
				n++
			}
		}
		return n
	}

	require.Zero(t, changes())
	for _, path := range []string{handler, module} {
		touch(path)
		require.False(t, w.changed(), "it may go on changing")
		touch(path)
		require.Equal(t, 1, changes(), path)
	}

	added := place(t, "1", dir, "added.py")
	require.Equal(t, 1, changes(), "a new module")
	require.NoError(t, os.Remove(added))
	require.Equal(t, 1, changes())

	for _, path := range apart {
		touch(path)
	}
	require.Zero(t, changes(), "of what is no module of the handler")

	require.NoError(t, os.Rename(handler, handler+".bak"))
	require.Zero(t, changes(), "an editor is at it")
	require.NoError(t, os.Rename(handler+".bak", handler))
	touch(handler)
	require.Equal(t, 1, changes())
}

func TestWatch_FollowsTheLinkToItsDirectory(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	place(t, "1", dir, "project", "handler.py")
	module := place(t, "1", dir, "project", "module.py")
	link := filepath.Join(dir, "link")
	if err := os.Symlink(filepath.Join(dir, "project"), link); err != nil {
		t.Skip("SKIPPED: no links can be made here: " + err.Error())
	}
	w := newWatch([]string{filepath.Join(link, "handler.py")}, "")
	require.False(t, w.changed())
	at := time.Now().Add(time.Minute)
	require.NoError(t, os.Chtimes(module, at, at))
	require.False(t, w.changed(), "it may go on changing")
	require.True(t, w.changed())
}

func TestWatch_IsBounded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range mostFiles + 50 {
		require.NoError(t, os.WriteFile(filepath.Join(dir, time.Duration(i).String()+".py"), nil, 0o600))
	}
	w := newWatch([]string{place(t, "", dir, "zz", "handler.py"), place(t, "", dir, "handler.py")}, "")
	require.LessOrEqual(t, len(w.seen), mostFiles)
	require.Contains(t, w.seen, filepath.Join(dir, "handler.py"), "first of all those that are named")
	w.took = time.Second
	require.Equal(t, watchShare*time.Second, w.pause())
}
