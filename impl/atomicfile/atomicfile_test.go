package atomicfile_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/atomicfile"
)

func TestWrite_ReplacesAFileForItsOwnerAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "f")
	require.NoError(t, os.WriteFile(path, []byte("something longer"), 0o600))
	require.NoError(t, atomicfile.Write(path, []byte("new"), true))

	text, err := os.ReadFile(path)
	require.NoError(t, err)
	require.Equal(t, "new", string(text))
	info, err := os.Stat(path)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	all, err := os.ReadDir(filepath.Dir(path))
	require.NoError(t, err)
	require.Len(t, all, 1, "nothing else is left")
}

func TestWrite_FailureLeavesNothingHalf(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	path := filepath.Join(dir, "d")
	require.NoError(t, os.Mkdir(path, 0o700))
	require.Error(t, atomicfile.Write(path, []byte("new"), true))
	all, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Len(t, all, 1)
}

func TestMakeDir_MakesThoseAboveItToo(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	in, err := atomicfile.MakeDir(filepath.Join(dir, "a", "b", "c"))
	require.NoError(t, err)
	require.Equal(t, []string{dir, filepath.Join(dir, "a"), filepath.Join(dir, "a", "b")}, in)
	require.NoError(t, atomicfile.SyncDir(in...))

	info, err := os.Stat(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())

	in, err = atomicfile.MakeDir(filepath.Join(dir, "a", "b", "c"))
	require.NoError(t, err)
	require.Empty(t, in, "it is there")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))

	for _, no := range []string{"f", filepath.Join("f", "d")} {
		_, err = atomicfile.MakeDir(filepath.Join(dir, no))
		require.Error(t, err)
	}
	require.Error(t, atomicfile.SyncDir(filepath.Join(dir, "nothing")))

	if runtime.GOOS == "linux" { // where no name can be made, although the directory is there
		_, err = atomicfile.MakeDir("/proc/x/y")
		require.ErrorIs(t, err, fs.ErrNotExist)
	}
}

func TestMakeLastDir_MakesNoneAboveIt(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	_, err := atomicfile.MakeLastDir(filepath.Join(dir, "a", "b"))
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoDirExists(t, filepath.Join(dir, "a"))
	in, err := atomicfile.MakeLastDir(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.Equal(t, []string{dir}, in)
	in, err = atomicfile.MakeLastDir(filepath.Join(dir, "a"))
	require.NoError(t, err)
	require.Empty(t, in, "it is there")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "f"), nil, 0o600))
	_, err = atomicfile.MakeLastDir(filepath.Join(dir, "f"))
	require.ErrorContains(t, err, "not a directory")
}
