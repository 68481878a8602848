//go:build unix

package app_test

import (
	"context"
	"database/sql"
	"io/fs"
	"log/slog"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// served is a data directory that a server was started from, and closed. With a credential, something in it is sealed.
func served(t *testing.T, credential bool) (dir, key string) {
	t.Helper()
	dir = filepath.Join(t.TempDir(), "data")
	s := start(t, app.Config{Data: dir})
	if credential {
		status, _ := call(t, "POST", s.URL()+"/v2/registries", s.FirstKey(), `{"name":"n","username":"u","password":"p"}`)
		require.Equal(t, 201, status)
	}
	require.NoError(t, s.Close())
	return dir, s.FirstKey()
}

func mode(t *testing.T, path string) fs.FileMode {
	t.Helper()
	info, err := os.Lstat(path)
	require.NoError(t, err)
	return info.Mode().Perm()
}

// state reports what a directory has: the modes of all and the content of files.
func state(t *testing.T, dir string) map[string]string {
	t.Helper()
	all := map[string]string{}
	require.NoError(t, filepath.WalkDir(dir, func(path string, e fs.DirEntry, err error) error {
		require.NoError(t, err)
		info, err := e.Info()
		require.NoError(t, err)

		content := info.Mode().String() + " "
		if info.Mode().IsRegular() && e.Name() != "lock" {
			text, err := os.ReadFile(path)
			require.NoError(t, err)
			content += string(text)
		}

		all[path] = content
		return nil
	}))

	delete(all, filepath.Join(dir, "lock")) // whoever tries has it
	return all
}

// refused starts a server that must not start, and must change nothing, and gives why. The keys are not opened either.
func refused(t *testing.T, dir string) string {
	t.Helper()
	before := state(t, dir)
	_, err := app.Start(t.Context(), app.Config{Data: dir, Listen: "127.0.0.1:0"})
	require.Error(t, err)
	require.Equal(t, before, state(t, dir))
	return err.Error()
}

func TestDirectory_IsClosedToOthers(t *testing.T) {
	t.Parallel()
	dir, key := served(t, true)
	for _, name := range []string{"", "secret.key", "berth.db"} {
		require.NoError(t, os.Chmod(filepath.Join(dir, name), 0o777))
	}
	var log lines
	s := start(t, app.Config{Data: dir, Log: slog.New(slog.NewTextHandler(&log, nil))})
	status, _ := call(t, "GET", s.URL()+"/v2/registries", key, "")
	require.Equal(t, 200, status)
	require.Equal(t, fs.FileMode(0o700), mode(t, dir))

	for _, name := range []string{"secret.key", "berth.db", "berth.db-wal", "berth.db-shm", "lock"} {
		require.Equal(t, fs.FileMode(0o600), mode(t, filepath.Join(dir, name)), name)
	}
	require.NoError(t, s.Close())
	require.Contains(t, log.text.String(), "was open to others")
	require.Contains(t, log.text.String(), "secret.key")

	empty := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.Mkdir(empty, 0o755))
	require.NoError(t, start(t, app.Config{Data: empty}).Close())
	require.Equal(t, fs.FileMode(0o700), mode(t, empty))
}

func TestOpenKeys_ClosesTheDirectoryToOthersOrRefuses(t *testing.T) {
	t.Parallel()
	dir, _ := served(t, false)
	require.NoError(t, os.Chmod(dir, 0o755))
	keys, err := app.OpenKeys(t.Context(), dir, "")
	require.NoError(t, err)
	require.NoError(t, keys.Close())
	require.Equal(t, fs.FileMode(0o700), mode(t, dir))

	require.NoError(t, os.Chmod(dir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "letter.txt"), nil, 0o644))
	_, err = app.OpenKeys(t.Context(), dir, "")
	require.ErrorContains(t, err, "letter.txt")
	require.Equal(t, fs.FileMode(0o755), mode(t, dir))
}

func TestDirectory_IsNotClosedIfOthersMayNeedIt(t *testing.T) {
	t.Parallel()
	shared, _ := served(t, false)
	require.NoError(t, os.WriteFile(filepath.Join(shared, "letter.txt"), nil, 0o644))
	require.NoError(t, os.Chmod(shared, 0o755))

	why := refused(t, shared)
	require.Contains(t, why, "letter.txt in it, which is not berth's: chmod 700 it")
	require.Contains(t, why, filepath.Join(shared, "berth-data"))
	require.NoError(t, start(t, app.Config{Data: filepath.Join(shared, "berth-data")}).Close(), "as the error says")
	require.NoError(t, os.Chmod(shared, 0o700))
	require.NoError(t, start(t, app.Config{Data: shared}).Close(), "as the error says")

	temporary := t.TempDir()
	require.NoError(t, os.Chmod(temporary, 0o777|fs.ModeSticky))
	require.Contains(t, refused(t, temporary), "is meant to be")

	dir, _ := served(t, false)
	require.NoError(t, os.Chmod(dir, 0o750))
	link := filepath.Join(t.TempDir(), "link")
	require.NoError(t, os.Symlink(dir, link))
	require.Contains(t, refused(t, link), "what a link leads to is not changed")
	require.Equal(t, fs.FileMode(0o750), mode(t, dir))
	require.NoError(t, os.Chmod(dir, 0o700))
	require.NoError(t, start(t, app.Config{Data: link}).Close())
}

func TestDirectory_FollowsLinksOnlyToClosedFiles(t *testing.T) {
	t.Parallel()
	dir, key := served(t, true)
	secret := filepath.Join(dir, "secret.key")
	elsewhere := filepath.Join(t.TempDir(), "mounted")
	require.NoError(t, os.Rename(secret, elsewhere))
	require.NoError(t, os.Symlink(elsewhere, secret))

	s := start(t, app.Config{Data: dir})
	status, _ := call(t, "GET", s.URL()+"/v2/registries", key, "")
	require.Equal(t, 200, status)
	require.NoError(t, s.Close())

	require.NoError(t, os.Chmod(elsewhere, 0o644))
	require.Contains(t, refused(t, dir), "is a link to a file that is open to others")
	require.Equal(t, fs.FileMode(0o644), mode(t, elsewhere))

	require.NoError(t, os.Remove(elsewhere))
	require.Contains(t, refused(t, dir), "no such file")

	dir, _ = served(t, false)
	lock := filepath.Join(dir, "lock")
	require.NoError(t, os.WriteFile(elsewhere, []byte("of somebody"), 0o600))
	require.NoError(t, os.Remove(lock))
	require.NoError(t, os.Symlink(elsewhere, lock))

	refused(t, dir)
	text, err := os.ReadFile(elsewhere)
	require.NoError(t, err)
	require.Equal(t, "of somebody", string(text))
}

// A file that a crash left, or that somebody put there, lends its mode to nothing.
func TestDirectory_DoesNotTakeUpHalfFiles(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(dir, 0o700))
	for _, name := range []string{"secret.key.new", "berth.db.new"} {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600))
		require.NoError(t, os.Chmod(filepath.Join(dir, name), 0o666))
	}
	s := start(t, app.Config{Data: dir})
	require.NotEmpty(t, s.FirstKey())

	for _, name := range []string{"secret.key", "berth.db"} {
		require.Equal(t, fs.FileMode(0o600), mode(t, filepath.Join(dir, name)), name)
	}
	require.NoError(t, s.Close())
}

func TestDirectory_NoNewDatabaseOverAnEarlierOne(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		credential bool
		spoil      func(t *testing.T, dir string)
		says       []string
	}{
		"without the database": {false, func(t *testing.T, dir string) { remove(t, dir, "berth.db") }, []string{"secret.key is there, but berth.db is missing", "backup"}},
		"without both, with containers": {false, func(t *testing.T, dir string) {
			require.NoError(t, os.WriteFile(filepath.Join(dir, "runtime-owner"), []byte("abc"), 0o600))
			remove(t, dir, "berth.db", "secret.key")
		}, []string{"runtime-owner is there, but berth.db is missing"}},
		"without the key":        {true, func(t *testing.T, dir string) { remove(t, dir, "secret.key") }, []string{"secret.key is missing", "credentials", "backup", "docs/operating.md"}},
		"with another key":       {true, func(t *testing.T, dir string) { write(t, dir, "secret.key", strings.Repeat("x", 32)) }, []string{"secret.key is not the one of this database", "backup"}},
		"with half a key":        {false, func(t *testing.T, dir string) { write(t, dir, "secret.key", "half") }, []string{"secret.key has 4 bytes, not 32", "backup"}},
		"with an empty database": {false, func(t *testing.T, dir string) { write(t, dir, "berth.db", "") }, []string{"berth.db: it is empty", "backup"}},
		"with another file":      {false, func(t *testing.T, dir string) { write(t, dir, "berth.db", strings.Repeat("a diary ", 1000)) }, []string{"berth.db: it is no database", "backup"}},
		"with an empty one alone": {false, func(t *testing.T, dir string) {
			remove(t, dir, "secret.key")
			write(t, dir, "berth.db", "")
		}, []string{"berth.db: it is empty"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, _ := served(t, c.credential)
			c.spoil(t, dir)
			for range 2 {
				why := refused(t, dir)
				for _, says := range c.says {
					require.Contains(t, why, says)
				}
			}
		})
	}
}

func remove(t *testing.T, dir string, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, os.Remove(filepath.Join(dir, name)))
	}
}

func write(t *testing.T, dir, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600))
}

// Nothing was sealed yet: a crash of the first start leaves it so, and a backup of the database alone.
func TestSecretKey_IsMadeAnewWithoutCredentials(t *testing.T) {
	t.Parallel()
	dir, key := served(t, false)
	remove(t, dir, "secret.key")
	s := start(t, app.Config{Data: dir})
	require.Empty(t, s.FirstKey())
	status, _ := call(t, "POST", s.URL()+"/v2/registries", key, `{"name":"n","username":"u","password":"p"}`)
	require.Equal(t, 201, status)
	require.NoError(t, s.Close())
	require.NoError(t, start(t, app.Config{Data: dir}).Close())
}

// outside runs statements on the database of a data directory as another program would.
func outside(t *testing.T, dir, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, "berth.db"))
	require.NoError(t, err)
	_, err = db.Exec(statements)
	require.NoError(t, err)
	require.NoError(t, db.Close())
}

// As docs/operating.md says it.
func TestSecretKey_LostOneCostsOnlyTheCredentials(t *testing.T) {
	t.Parallel()
	dir, key := served(t, true)
	remove(t, dir, "secret.key")
	refused(t, dir)
	outside(t, dir, "DELETE FROM registries")
	s := start(t, app.Config{Data: dir})
	status, answer := call(t, "GET", s.URL()+"/v2/registries", key, "")
	require.Equal(t, 200, status)
	require.Empty(t, answer["registries"])
	require.NoError(t, s.Close())
}

func TestDirectory_IsRefusedIfItCannotBeClosed(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can be another user")
	}
	top, err := os.MkdirTemp("", "berth-others-") // t.TempDir() lets nobody else in
	require.NoError(t, err)

	t.Cleanup(func() { require.NoError(t, os.RemoveAll(top)) })
	require.NoError(t, os.Chmod(top, 0o755))
	dir, program := filepath.Join(top, "data"), filepath.Join(top, "program")
	require.NoError(t, os.Mkdir(dir, 0o700))
	require.NoError(t, os.Chmod(dir, 0o777))

	text, err := os.ReadFile(os.Args[0])
	require.NoError(t, err)
	syscall.ForkLock.RLock() // a process begun meanwhile would have the file open to write, and a file so open is not run
	err = os.WriteFile(program, text, 0o755)
	syscall.ForkLock.RUnlock()
	require.NoError(t, err)

	cmd := exec.CommandContext(t.Context(), "/bin/sh", "-c", `exec "$0"`, program)
	cmd.Dir, cmd.Env = top, []string{asOther + "=" + dir, "TMPDIR=" + dir}
	cmd.SysProcAttr = &syscall.SysProcAttr{Credential: &syscall.Credential{Uid: 65534, Gid: 65534}}
	out, err := cmd.CombinedOutput()
	require.NoError(t, err, string(out))
}

func TestDirectory_OfAnotherUserHasNoFilesOfRootOnceRootFilledIt(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can fill a directory of another user")
	}
	source, _ := served(t, true)
	backup := filepath.Join(t.TempDir(), "b.db")
	_, err := app.BackUp(t.Context(), app.BackupOptions{Data: source, File: backup, WithKey: true})
	require.NoError(t, err)

	for name, fill := range map[string]func(dir string) error{
		"restore": func(dir string) error {
			_, err := app.Restore(t.Context(), app.RestoreOptions{File: backup, Data: dir})
			return err
		},
		"migrate": func(dir string) error {
			from, err := app.ParseLocation(source)
			require.NoError(t, err)
			to, err := app.ParseLocation(dir)
			require.NoError(t, err)
			_, err = app.Migrate(t.Context(), from, to, func(string, int64) {})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "data")
			require.NoError(t, os.Mkdir(dir, 0o700))
			require.NoError(t, os.Chown(dir, 65534, 65534))
			require.NoError(t, fill(dir))
			entries, err := os.ReadDir(dir)
			require.NoError(t, err)
			require.Contains(t, []int{2, 3}, len(entries), "the database, the lock, and the key of a backup")

			for _, e := range entries {
				info, err := e.Info()
				require.NoError(t, err)
				owner := info.Sys().(*syscall.Stat_t)
				require.Equal(t, []uint32{65534, 65534}, []uint32{owner.Uid, owner.Gid}, e.Name())
				require.NoError(t, os.Remove(filepath.Join(dir, e.Name())))
			}

			elsewhere := filepath.Join(t.TempDir(), "elsewhere")
			require.NoError(t, os.WriteFile(elsewhere, nil, 0o600))
			require.NoError(t, os.Link(elsewhere, filepath.Join(dir, "lock")))
			require.NoError(t, fill(dir))
			info, err := os.Stat(elsewhere)
			require.NoError(t, err)
			require.Zero(t, info.Sys().(*syscall.Stat_t).Uid, "who owns the directory gets nothing else of root's")
		})
	}
}

func TestDirectory_RefusesAFileOfAnotherUser(t *testing.T) {
	t.Parallel()
	if os.Geteuid() != 0 {
		t.Skip("SKIPPED: only root can give a file away")
	}

	for _, name := range []string{"secret.key", "berth.db"} {
		dir, _ := served(t, false)
		require.NoError(t, os.Chown(filepath.Join(dir, name), 65534, 65534))
		require.Contains(t, refused(t, dir), "belongs to user 65534, who is not the owner of its directory")
		require.NoError(t, os.Chown(dir, 65534, 65534))
		s, err := app.Start(context.WithoutCancel(t.Context()), app.Config{Data: dir, Listen: "127.0.0.1:0"})
		require.NoError(t, err, "as after sudo")
		require.NoError(t, s.Close())
	}
}
