package main

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	_ "modernc.org/sqlite" // what a test damages

	"github.com/berthdev/berth/impl/app"
)

// did runs a command without a server, which must succeed, and gives its document.
func did[T any](t *testing.T, args ...string) (document T) {
	t.Helper()
	r := call(t.Context(), "", append(args, "--json")...)
	require.Zero(t, r.code, r.err)
	return decoded[T](t, r.out)
}

// decoded reads a document.
func decoded[T any](t *testing.T, text string) (document T) {
	t.Helper()
	require.NoError(t, json.Unmarshal([]byte(text), &document), text)
	return document
}

// refused runs a command without a server, which must fail with that in its message.
func refused(t *testing.T, message string, args ...string) {
	t.Helper()
	r := call(t.Context(), "", args...)
	require.NotZero(t, r.code, r.out)
	require.Contains(t, r.err, message)
	require.Empty(t, r.out)
}

// changed runs statements on a database that nobody uses.
func changed(t *testing.T, file string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+file)
	require.NoError(t, err)
	for _, s := range statements {
		_, err := db.Exec(s)
		require.NoError(t, err, s)
	}
	require.NoError(t, db.Close())
}

func TestBackup_OfAServerThatRunsIsServedElsewhere(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serving(t, app.Config{Data: dir}, "echo")
	job := s.document("jobs", "run", "echo", "--input", `{"a":1}`, "--wait")["id"].(string)
	value := filepath.Join(t.TempDir(), "value")
	require.NoError(t, os.WriteFile(value, []byte("sealed"), 0o600))
	s.done("secrets", "create", "--name", "t", "--value-file", value)

	file := filepath.Join(t.TempDir(), "b.db")
	b := did[app.Backup](t, "backup", file, "--data", dir, "--with-key")
	require.Equal(t, file, b.File)
	require.Equal(t, file+".key", b.KeyFile)
	for _, name := range []string{file, b.KeyFile} {
		info, err := os.Stat(name)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), name)
	}
	after := s.document("jobs", "run", "echo", "--input", `{"a":2}`, "--wait")["id"].(string)

	other := filepath.Join(t.TempDir(), "restored")
	r := did[app.Restored](t, "restore", file, "--data", other)
	require.Equal(t, filepath.Join(other, "berth.db"), r.Database)
	require.True(t, r.HasKey)
	require.Empty(t, r.Replaced)

	flags := s.flags[2:] // its key, which the other server has from the backup
	s = serving(t, app.Config{Data: other}, "echo")
	s.flags = append(s.flags[:2], flags...)
	require.Equal(t, map[string]any{"a": 1.0}, s.document("jobs", "status", "echo", job)["output"])
	s.refuses(exitRefused, s.run("jobs", "status", "echo", after).err, "jobs", "status", "echo", after)
	require.Contains(t, s.done("secrets", "list"), "t")
}

// plantFetched leaves what a restore leaves that is killed.
func plantFetched(t *testing.T, dir string) {
	t.Helper()
	require.NoError(t, os.Mkdir(filepath.Join(dir, "fetched-1"), 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(dir, "fetched-1", "berth.db.key"), []byte("a secret"), 0o600))
}

func TestBackup_WhatAKilledOneLeftIsRemoved(t *testing.T) {
	t.Parallel()
	dir, to := t.TempDir(), t.TempDir()
	file := filepath.Join(to, "b.db")
	require.NoError(t, serving(t, app.Config{Data: dir}).server.Close())

	old := time.Now().Add(-2 * time.Hour)
	for name, when := range map[string]time.Time{
		"b.db.unfinished-123": old, "b.db.unfinished-123-wal": old,
		"b.db.unfinished-124": time.Now(), "b.db.unfinished-mine": old, "b.db.unfinished-": old, "c.db.unfinished-123": old,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(to, name), []byte("half"), 0o600))
		require.NoError(t, os.Chtimes(filepath.Join(to, name), when, when))
	}
	did[app.Backup](t, "backup", file, "--data", dir)
	left, err := os.ReadDir(to)
	require.NoError(t, err)
	var names []string
	for _, one := range left {
		names = append(names, one.Name())
	}
	require.Equal(t, []string{"b.db", "b.db.unfinished-", "b.db.unfinished-124", "b.db.unfinished-mine", "c.db.unfinished-123"}, names)

	// And what a killed restore left, by the next one and by a server.
	plantFetched(t, dir)
	require.NoError(t, os.Mkdir(filepath.Join(dir, "fetched-mine"), 0o700))
	found := filepath.Join(dir, "fetched-2")
	require.NoError(t, os.Mkdir(found, 0o700))
	require.NoError(t, os.Rename(file, filepath.Join(found, "berth.db")))
	did[app.Restored](t, "restore", filepath.Join(found, "berth.db"), "--data", dir, "--force")
	require.NoDirExists(t, filepath.Join(dir, "fetched-1"))
	require.FileExists(t, filepath.Join(found, "berth.db"), "the backup itself")
	plantFetched(t, dir)
	halves := []string{"berth.db.restoring", "berth.db.restoring-wal", "berth.db.loading", "berth.db.saving", "berth.db.saving.unfinished", "berth.db.saving.unfinished.new"}
	for _, name := range halves {
		require.NoError(t, os.WriteFile(filepath.Join(dir, name), []byte("half"), 0o600))
	}
	require.NoError(t, serving(t, app.Config{Data: dir}).server.Close())
	for _, name := range halves {
		require.NoFileExists(t, filepath.Join(dir, name))
	}
	require.NoDirExists(t, filepath.Join(dir, "fetched-1"))
	require.NoDirExists(t, found)
	require.DirExists(t, filepath.Join(dir, "fetched-mine"))
}

func TestBackup_OfAServerThatShipsIsRestoredWithoutIt(t *testing.T) {
	t.Parallel()
	dir, place := t.TempDir(), filepath.Join(t.TempDir(), "shipped")
	s := serving(t, app.Config{Data: dir, BackupTo: place, BackupWithKey: true}, "echo")
	job := s.document("jobs", "run", "echo", "--input", `{"a":1}`, "--wait")["id"].(string)
	require.NoError(t, s.server.Close())
	require.NoError(t, os.RemoveAll(dir))
	all := did[[]app.Generation](t, "backup", "list", place)
	require.Len(t, all, 1)
	require.Equal(t, 1, all[0].Bases)
	require.Empty(t, all[0].Missing)
	require.True(t, all[0].HasKey)
	require.Contains(t, call(t.Context(), "", "backup", "list", place).out, all[0].Name)

	other := filepath.Join(t.TempDir(), "restored")
	refused(t, "what can be restored is as it was from "+all[0].From.Format(time.RFC3339Nano), "restore", place, "--data", other, "--at", "2020-01-01T00:00:00Z")
	refused(t, "is no time such as", "restore", place, "--data", other, "--at", "yesterday")
	refused(t, "no generation x", "restore", place, "--data", other, "--generation", "x")
	refused(t, "has no backup", "restore", t.TempDir(), "--data", other)
	refused(t, "has no backup", "backup", "list", t.TempDir())
	file := filepath.Join(t.TempDir(), "file")
	require.NoError(t, os.WriteFile(file, nil, 0o600))
	refused(t, "is no folder", "backup", "list", file)
	refused(t, "there is no folder", "backup", "list", file+"s")
	require.Equal(t, 1, call(t.Context(), "", "backup", "list", file).code)
	require.NoError(t, os.Chmod(other, 0o755)) // as an image has its volume
	plantFetched(t, other)
	r := did[app.Restored](t, "restore", place, "--data", other)
	require.True(t, r.HasKey)
	require.NoDirExists(t, filepath.Join(other, "fetched-1"))
	require.Equal(t, all[0].Name, r.Shipped.Generation)
	require.True(t, r.Shipped.Upto.Equal(all[0].To), "%s, %s", r.Shipped.Upto, all[0].To)
	refused(t, "berth.db is there already", "restore", place, "--data", other)
	require.Contains(t, call(t.Context(), "", "restore", place, "--data", other, "--force").out, "All that was acknowledged before "+instant(r.Shipped.Upto))
	left, err := filepath.Glob(filepath.Join(other, "fetched-*"))
	require.NoError(t, err)
	require.Empty(t, left)

	flags := s.flags[2:]
	s = serving(t, app.Config{Data: other}, "echo")
	s.flags = append(s.flags[:2], flags...)
	require.Equal(t, map[string]any{"a": 1.0}, s.document("jobs", "status", "echo", job)["output"])
}

func TestBackup_RefusesWhatWouldLoseSomething(t *testing.T) {
	t.Parallel()
	dir, tmp := t.TempDir(), t.TempDir()
	refused(t, "it is no data directory of berth", "backup", filepath.Join(tmp, "b.db"), "--data", dir)
	_, err := app.OpenKeys(t.Context(), dir, "")
	require.Error(t, err, "nothing was made")
	s := serving(t, app.Config{Data: dir})
	require.NoError(t, s.server.Close())

	database := filepath.Join(dir, "berth.db")
	refused(t, "is the database itself", "backup", database, "--data", dir, "--force")
	refused(t, "pg_dump", "backup", filepath.Join(tmp, "b.db"), "--store", "postgres://u@h/d")
	refused(t, "pg_dump", "restore", filepath.Join(tmp, "b.db"), "--store", "postgres://u@h/d")

	file := filepath.Join(tmp, "b.db")
	require.NoError(t, os.WriteFile(file, []byte("of somebody"), 0o600))
	refused(t, "--force replaces it", "backup", file, "--data", dir)
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	require.Equal(t, "of somebody", string(text))

	b := did[app.Backup](t, "backup", file, "--data", dir, "--force")
	require.Empty(t, b.KeyFile)
	require.Equal(t, filepath.Join(dir, "secret.key"), b.SecretKey)
	entries, err := os.ReadDir(tmp)
	require.NoError(t, err)
	require.Len(t, entries, 1, "nothing half is left")

	require.NoError(t, os.WriteFile(file+".key", []byte("of another server"), 0o600))
	refused(t, "b.db.key is there already, and is not the key of ", "backup", file, "--data", dir, "--force")
	did[app.Backup](t, "backup", file, "--data", dir, "--force", "--with-key")
	did[app.Backup](t, "backup", file, "--data", dir, "--force")
}

// The containers and volumes of pods are found by a name that is in the data directory alone.
func TestRestore_SaysWhichFileFindsTheContainers(t *testing.T) {
	t.Parallel()
	dir, other, file := t.TempDir(), t.TempDir(), filepath.Join(t.TempDir(), "b.db")
	require.NoError(t, serving(t, app.Config{Data: dir}).server.Close())
	did[app.Backup](t, "backup", file, "--data", dir)
	require.Empty(t, did[app.Restored](t, "restore", file, "--data", other).MissingOwner, "there are none")

	changed(t, filepath.Join(dir, "berth.db"), `INSERT INTO runtimes VALUES ('docker', 'unix:///here')`)
	did[app.Backup](t, "backup", file, "--data", dir, "--force")
	owner := filepath.Join(other, "runtime-owner")
	require.Equal(t, owner, did[app.Restored](t, "restore", file, "--data", other, "--force").MissingOwner)
	r := call(t.Context(), "", "restore", file, "--data", other, "--force")
	require.Zero(t, r.code)
	require.Contains(t, r.out, owner+" is missing: copy it from the data directory of before")
	r = call(t.Context(), "", "check", "--data", other)
	require.Contains(t, r.err, "not looked at: runtime docker at unix:///here: "+owner+", with the name by which what is there is found, is missing")

	require.NoError(t, os.WriteFile(owner, []byte("abc"), 0o600))
	require.Empty(t, did[app.Restored](t, "restore", file, "--data", other, "--force").MissingOwner)
}

func TestBackup_OfADamagedLogIsRefused(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serving(t, app.Config{Data: dir})
	for range 3 {
		require.Zero(t, call(t.Context(), "", "keys", "create", "--data", dir).code)
	}
	log, err := os.ReadFile(filepath.Join(dir, "berth.db-wal"))
	require.NoError(t, err)
	require.NoError(t, s.server.Close())
	for i := 40; i < 80; i++ {
		log[i] ^= 0xff
	}
	require.NoError(t, os.WriteFile(filepath.Join(dir, "berth.db-wal"), log, 0o600))
	refused(t, "start a server on it once", "backup", filepath.Join(t.TempDir(), "b.db"), "--data", dir)
}

func TestRestore_RefusesWhatIsNoWholeBackup(t *testing.T) {
	t.Parallel()
	dir, tmp := t.TempDir(), t.TempDir()
	s := serving(t, app.Config{Data: dir})
	file, other := filepath.Join(tmp, "b.db"), filepath.Join(tmp, "data")
	did[app.Backup](t, "backup", file, "--data", dir)
	refused(t, "stop it first", "restore", file, "--data", dir, "--force")
	require.NoError(t, s.server.Close())
	refused(t, "berth.db is there already", "restore", file, "--data", dir)
	refused(t, "and no backup of it", "restore", filepath.Join(dir, "berth.db"), "--data", dir, "--force")
	for _, option := range []string{"--at=2026-11-23T10:00:00Z", "--generation=one"} {
		refused(t, "is one backup of one moment", "restore", file, "--data", other, option)
	}
	refused(t, "there is no ", "restore", filepath.Join(tmp, "none.db"), "--data", other)

	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(file, whole[:len(whole)-8192], 0o600))
	refused(t, "damaged", "restore", file, "--data", other)
	require.NoError(t, os.WriteFile(file, []byte("no database of anybody, but long enough to be looked at as one"), 0o600))
	refused(t, "it is no database", "restore", file, "--data", other)

	require.NoError(t, os.WriteFile(file, whole, 0o600))
	changed(t, file, "PRAGMA user_version = 9999")
	refused(t, "a newer berth wrote it", "restore", file, "--data", other)
	require.NoError(t, os.WriteFile(file, whole, 0o600))
	changed(t, file, "INSERT INTO chunks (job_seq, n) VALUES (1, 1)")
	refused(t, "hangs on one of jobs", "restore", file, "--data", other)

	_, err = os.Stat(other)
	require.ErrorIs(t, err, os.ErrNotExist, "nothing was made")
}

func TestRestore_WithForceMovesAsideWhatIsThere(t *testing.T) {
	t.Parallel()
	dir, tmp := t.TempDir(), t.TempDir()
	s := serving(t, app.Config{Data: dir})
	key := s.flags
	require.NoError(t, s.server.Close())
	file, other := filepath.Join(tmp, "b.db"), filepath.Join(tmp, "data")
	did[app.Backup](t, "backup", file, "--data", dir, "--with-key")
	require.NoError(t, serving(t, app.Config{Data: other}).server.Close())
	before, err := os.ReadFile(filepath.Join(other, "berth.db"))
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(other, "berth.db-wal"), nil, 0o600))

	refused(t, "is another key", "restore", file, "--data", other)
	r := did[app.Restored](t, "restore", file, "--data", other, "--force")
	require.Equal(t, []string{filepath.Join(other, "berth.db.replaced"), filepath.Join(other, "berth.db.replaced-wal"), filepath.Join(other, "secret.key.replaced")}, r.Replaced)
	aside, err := os.ReadFile(filepath.Join(other, "berth.db.replaced"))
	require.NoError(t, err)
	require.Equal(t, before, aside)

	s = serving(t, app.Config{Data: other})
	s.flags = append(s.flags[:2], key[2:]...)
	s.done("pods", "list")
}

func TestRestore_ThatWasCutOffIsSeenAndEndedByTheNextOne(t *testing.T) {
	t.Parallel()
	dir, file := t.TempDir(), filepath.Join(t.TempDir(), "b.db")
	s := serving(t, app.Config{Data: dir})
	require.NoError(t, s.server.Close())
	did[app.Backup](t, "backup", file, "--data", dir)

	// As if the power had failed when the database was moved aside, and what is beside it was not yet.
	database := filepath.Join(dir, "berth.db")
	require.NoError(t, os.Rename(database, database+".replaced"))
	require.NoError(t, os.WriteFile(database+"-wal", []byte("of the database of before"), 0o600))
	_, err := app.Start(t.Context(), app.Config{Data: dir, Listen: "127.0.0.1:0"})
	require.ErrorContains(t, err, "is missing")

	did[app.Restored](t, "restore", file, "--data", dir, "--force")
	_, err = os.Stat(database + ".replaced")
	require.NoError(t, err, "it is what was there")
	require.NoError(t, serving(t, app.Config{Data: dir}).server.Close())
}

// A relative path is one like "berth-data", which is the default of --data.
func TestBackup_TakesRelativePaths(t *testing.T) {
	t.Chdir(t.TempDir())
	s := serving(t, app.Config{Data: "data"}, "echo")
	did[map[string]any](t, "backup", "beside.db", "--data", "data")
	did[map[string]any](t, "check", "--data", "data")
	require.NoError(t, s.server.Close())

	did[map[string]any](t, "backup", "after.db", "--data", "data", "--with-key")
	did[map[string]any](t, "restore", "after.db", "--data", "restored")
	require.Empty(t, did[app.CheckReport](t, "check", "--data", "restored").Flaws)
	require.NoError(t, os.WriteFile("text", []byte("no database"), 0o600))
	refused(t, "text", "restore", "text", "--data", "none")
}
