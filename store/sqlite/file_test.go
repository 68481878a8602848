package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/sqlite"
)

// contents gives what is in a directory: the content of files, where links lead, nothing of directories.
func contents(t *testing.T, dir string) map[string]string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	require.NoError(t, err)

	all := map[string]string{}
	for _, e := range entries {
		path, content := filepath.Join(dir, e.Name()), ""
		switch {
		case e.Type().IsRegular():
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			content = string(text)
		case e.Type() == os.ModeSymlink:
			content, err = os.Readlink(path)
			require.NoError(t, err)
		}

		all[e.Name()] = content
	}

	return all
}

func TestOpen_RefusesAFileThatIsNotOfBerth(t *testing.T) {
	t.Parallel()
	text := func(content string) func(*testing.T, string) {
		return func(t *testing.T, path string) { require.NoError(t, os.WriteFile(path, []byte(content), 0o600)) }
	}

	database := func(statements string) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			db := outside(t, path)
			_, err := db.Exec(statements)
			require.NoError(t, err)
			require.NoError(t, db.Close())
		}
	}

	made := func(then func(t *testing.T, path string)) func(*testing.T, string) {
		return func(t *testing.T, path string) {
			db, err := sqlite.Open(t.Context(), path, compute.SystemClock{})
			require.NoError(t, err)
			require.NoError(t, db.Write(t.Context(), insertJob("a")))
			require.NoError(t, db.Close())
			then(t, path)
		}
	}

	link := func(t *testing.T, path string) {
		require.NoError(t, os.Rename(path, path+".elsewhere"))
		require.NoError(t, os.Symlink(path+".elsewhere", path))
	}
	for name, c := range map[string]struct {
		prepare func(*testing.T, string)
		says    string
	}{
		"nothing in it":              {text(""), "it is empty"},
		"text":                       {text(strings.Repeat("This is my diary. ", 1000)), "it is no database, or a damaged one"},
		"a few bytes":                {text("short"), "it is no database, or a damaged one"},
		"another program's":          {database("CREATE TABLE contacts (id INTEGER)"), "no database of berth: its schema is version 0"},
		"another program's, version": {database("PRAGMA journal_mode = WAL; CREATE TABLE jobs (id INTEGER); PRAGMA user_version = 1"), "no database of berth: it has no table endpoints"},
		"without a table":            {database("PRAGMA user_version = 0; VACUUM"), "no database of berth: its schema is version 0"},
		"a version below 0":          {made(database("PRAGMA user_version = -1")), "no database of berth: its schema is version -1"},
		"a version of 0":             {made(database("PRAGMA user_version = 0")), "no database of berth: its schema is version 0"},
		"a directory":                {func(t *testing.T, path string) { require.NoError(t, os.Mkdir(path, 0o700)) }, "no regular file"},
		"a link":                     {made(link), "make its directory a link"},
		"a link to nothing":          {func(t *testing.T, path string) { require.NoError(t, os.Symlink("nothing", path)) }, "no regular file"},
		"its log alone":              {func(t *testing.T, path string) { text("log")(t, path+"-wal") }, "it is missing, but its berth.db-wal is there"},
		"its journal alone":          {func(t *testing.T, path string) { text("log")(t, path+"-journal") }, "it is missing, but its berth.db-journal is there"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if runtime.GOOS == "windows" && strings.Contains(name, "link") {
				t.Skip("SKIPPED: links need a privilege there")
			}
			dir := t.TempDir()
			path := filepath.Join(dir, "berth.db")
			c.prepare(t, path)

			before := contents(t, dir)
			for range 2 {
				_, err := sqlite.Open(context.WithoutCancel(t.Context()), path, compute.SystemClock{})
				require.ErrorContains(t, err, c.says)
				require.ErrorContains(t, err, path, "it says which file")
				require.Equal(t, before, contents(t, dir))
			}
		})
	}
}

func TestOpen_DirectoryMayBeALink(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "large disk"), 0o700))
	if err := os.Symlink("large disk", filepath.Join(dir, "data")); err != nil {
		t.Skip("SKIPPED:", err)
	}
	path := filepath.Join(dir, "data", "berth.db")
	for range 2 {
		require.NoError(t, openAt(t, path).Close())
	}
	require.FileExists(t, filepath.Join(dir, "large disk", "berth.db"))
}

// A backup by VACUUM INTO is in another mode.
func TestOpen_TakesABackup(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	s := openAt(t, path)
	require.NoError(t, s.Write(t.Context(), insertJob("a")))

	backup := filepath.Join(t.TempDir(), "berth.db")
	_, err := outside(t, path).Exec("VACUUM INTO ?", backup)
	require.NoError(t, err)
	restored := openAt(t, backup)
	require.NoError(t, restored.Write(t.Context(), insertJob("b")))

	var mode string
	require.NoError(t, outside(t, backup).QueryRow("PRAGMA journal_mode").Scan(&mode))
	require.Equal(t, "wal", mode)
	var n int
	require.NoError(t, outside(t, backup).QueryRow("SELECT count(*) FROM jobs").Scan(&n))
	require.Equal(t, 2, n)
}
