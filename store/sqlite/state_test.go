package sqlite_test

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

func TestOpenState_OpensACopyAndLeavesTheFileAlone(t *testing.T) {
	t.Parallel()
	file := sound(t)
	saved := contents(t, filepath.Dir(file))
	path := filepath.Join(t.TempDir(), "copy.db")
	for _, end := range []string{"", "-wal", "-shm", "-journal"} { // of another one, which was killed
		require.NoError(t, os.WriteFile(path+end, []byte("x"), 0o600))
	}

	s, err := sqlite.OpenState(t.Context(), file, path, compute.NewFrozenClock(start))
	require.NoError(t, err)
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		pod, err := tx.Pod("runs")
		require.Equal(t, compute.PodRunning, pod.Status)
		require.NoError(t, err)
		return tx.InsertPod(compute.Pod{ID: "new", UserID: "u", Status: compute.PodRunning})
	}))
	require.NoError(t, s.Close())
	require.Equal(t, saved, contents(t, filepath.Dir(file)))

	s, err = sqlite.OpenState(t.Context(), file, path, compute.NewFrozenClock(start))
	require.NoError(t, err)
	require.NoError(t, s.Read(t.Context(), func(tx store.Tx) error {
		_, err := tx.Pod("new")
		require.Equal(t, compute.NotFound, compute.CodeOf(err), "the copy is made anew")
		return nil
	}))
	require.NoError(t, s.Close())
	require.NoError(t, sqlite.RemoveFiles(path))
	require.Empty(t, contents(t, filepath.Dir(path)))
	require.NoError(t, sqlite.RemoveFiles(path), "twice does no harm")
}

func TestOpenState_LeavesNothingOfWhatItCannotOpen(t *testing.T) {
	t.Parallel()
	file := sound(t)
	planted(t, file, "PRAGMA user_version = 999")
	path := filepath.Join(t.TempDir(), "copy.db")
	_, err := sqlite.OpenState(t.Context(), file, path, compute.SystemClock{})
	require.ErrorContains(t, err, "a newer berth wrote it")
	require.ErrorContains(t, err, "the state "+filepath.Base(file))
	require.Empty(t, contents(t, filepath.Dir(path)))

	_, err = sqlite.OpenState(t.Context(), file+".none", path, compute.SystemClock{})
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	_, err = sqlite.OpenState(t.Context(), file, path, compute.SystemClock{})
	require.ErrorContains(t, err, "it is empty")
	require.Empty(t, contents(t, filepath.Dir(path)))

	require.NoError(t, os.MkdirAll(filepath.Join(path, "deep"), 0o700))
	_, err = sqlite.OpenState(t.Context(), sound(t), path, compute.SystemClock{})
	require.Error(t, err, "something that is no file cannot be removed")
	require.DirExists(t, filepath.Join(path, "deep"))
	require.Error(t, sqlite.RemoveFiles(path))
}

func TestVersions_AreThoseOfTheFileAndOfTheProgram(t *testing.T) {
	t.Parallel()
	path := sound(t)
	file, program, err := sqlite.Versions(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, program, file)
	planted(t, path, "PRAGMA user_version = 3")
	file, known, err := sqlite.Versions(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, 3, file)
	require.Equal(t, program, known)
	require.Equal(t, "3", pragmaOf(t, path, "user_version"), "nothing is changed")

	ended, cancel := context.WithCancel(t.Context())
	cancel()
	_, _, err = sqlite.Versions(ended, path)
	require.ErrorIs(t, err, context.Canceled)
	none := filepath.Join(t.TempDir(), "none.db")
	_, _, err = sqlite.Versions(t.Context(), none)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.ErrorContains(t, err, none)
	require.NoFileExists(t, none)
	require.NoError(t, os.WriteFile(none, []byte("This is my diary, and no database at all."), 0o600))
	_, _, err = sqlite.Versions(t.Context(), none)
	require.ErrorContains(t, err, "it is no database, or a damaged one")
}

func TestCopy_RefusesWhatANewerProgramWrote(t *testing.T) {
	t.Parallel()
	path := sound(t)
	planted(t, path, "PRAGMA user_version = 999")
	to := filepath.Join(t.TempDir(), "copy.db")
	_, err := sqlite.Copy(t.Context(), path, to, true)
	require.ErrorContains(t, err, "a newer berth wrote it: its schema is version 999")
	require.ErrorContains(t, err, "copy "+path)
	_, _, err = sqlite.Verify(t.Context(), path)
	require.ErrorContains(t, err, "a newer berth wrote it")

	planted(t, path, "PRAGMA user_version = 3")
	schema, err := sqlite.Copy(t.Context(), path, to, true)
	require.NoError(t, err, "an older one is copied as it is")
	require.Equal(t, 3, schema)
	require.Equal(t, "3", pragmaOf(t, to, "user_version"))
	_, err = sqlite.Copy(t.Context(), path, filepath.Join(to, "below a file"), true)
	require.ErrorContains(t, err, "copy "+path)
	_, err = sqlite.Copy(t.Context(), path+".none", filepath.Join(t.TempDir(), "copy.db"), true)
	require.ErrorIs(t, err, fs.ErrNotExist)
}

func TestVerify_ReadsTheLogAndLeavesNone(t *testing.T) {
	t.Parallel()
	path := sound(t)
	before := contents(t, filepath.Dir(path))
	require.False(t, sqlite.HasLog(path))
	_, _, err := sqlite.Verify(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, before, contents(t, filepath.Dir(path)))
	require.NoError(t, sqlite.CheckLog(path))
	require.Equal(t, []string{path + "-wal", path + "-shm", path + "-journal"}, sqlite.Beside(path))

	openAt(t, path)
	require.True(t, sqlite.HasLog(path))
}

func TestCheckLog_RefusesADamagedOne(t *testing.T) {
	t.Parallel()
	_, log, ends := crashed(t)
	path := filepath.Join(t.TempDir(), "berth.db")
	require.NoError(t, os.WriteFile(path+"-wal", log, 0o600))
	require.NoError(t, sqlite.CheckLog(path))
	log[ends[1]+100]++
	require.NoError(t, os.WriteFile(path+"-wal", log, 0o600))
	require.ErrorContains(t, sqlite.CheckLog(path), "start a server on it once")
	found, is := errors.AsType[*sqlite.Damage](sqlite.CheckLog(path))
	require.True(t, is)
	require.True(t, found.Certain())
}
