//go:build unix

package app

import (
	"database/sql"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store/sqlite"
)

func TestKeys_NewerProgramLeavesTheDatabaseToAServer(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "data")
	s, err := Start(t.Context(), Config{Data: dir, Listen: "127.0.0.1:0", Version: "1.2.3"})
	require.NoError(t, err)

	_, err = lockToMigrate(dir, 7, 8)
	require.ErrorContains(t, err, dir+" is served by berth 1.2.3, process ")
	require.ErrorContains(t, err, "whose database is of version 7; this berth would make it version 8")
	unlock, err := lockToMigrate(dir, 8, 8)
	require.NoError(t, err, "nothing is to be done")
	require.NoError(t, unlock())

	require.NoError(t, os.Truncate(filepath.Join(dir, lockFile), 0)) // as programs before this one had it
	_, err = lockToMigrate(dir, 7, 8)
	require.ErrorContains(t, err, "is served by an older berth, which does not say its version")
	require.NoError(t, s.Close())

	unlock, err = lockToMigrate(dir, 7, 8)
	require.NoError(t, err, "nobody serves")
	_, err = Start(t.Context(), Config{Data: dir, Listen: "127.0.0.1:0"})
	require.ErrorContains(t, err, "another berth is serving from "+dir+": berth keys, process ")
	require.NoError(t, unlock())
}

// loadRelease makes a data directory of the first release.
func loadRelease(t *testing.T) (dir string) {
	t.Helper()
	text, err := os.ReadFile("../../store/sqlite/testdata/released/1.sql")
	require.NoError(t, err)
	dir = filepath.Join(t.TempDir(), "data")
	require.NoError(t, os.Mkdir(dir, 0o700))

	db, err := sql.Open("sqlite", "file:"+filepath.Join(dir, databaseFile))
	require.NoError(t, err)
	_, err = db.Exec(string(text))
	require.NoError(t, err)

	_, err = db.Exec("DELETE FROM webhooks") // nothing is sent
	require.NoError(t, err)
	require.NoError(t, db.Close())
	require.NoError(t, os.WriteFile(filepath.Join(dir, secretFile), []byte("thirty-two bytes, known to all.."), 0o600))
	return dir
}

func TestKeys_OfADirectoryThatAnOlderServerServes(t *testing.T) {
	t.Parallel()
	dir := loadRelease(t)
	unlock, err := lock(dir, "berth 0.9")
	require.NoError(t, err)

	file := filepath.Join(dir, databaseFile)
	has, knows, err := sqlite.Versions(t.Context(), file)
	require.NoError(t, err)
	require.Equal(t, 1, has)

	keys, err := OpenKeys(t.Context(), dir, "")
	if has < knows {
		require.ErrorContains(t, err, "is served by berth 0.9")
	} else {
		require.NoError(t, err)
		require.NoError(t, keys.Close())
	}

	still, _, err := sqlite.Versions(t.Context(), file)
	require.NoError(t, err)
	require.Equal(t, has, still)

	require.NoError(t, unlock())
	keys, err = OpenKeys(t.Context(), dir, "")
	require.NoError(t, err)
	require.Len(t, keys.Keys(false), 1)
	require.NoError(t, keys.Close())

	now, _, err := sqlite.Versions(t.Context(), file)
	require.NoError(t, err)
	require.Equal(t, knows, now, "nobody serves")
}
