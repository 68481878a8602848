package sqlite_test

import (
	"bytes"
	"context"
	"database/sql"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// put stores a key.
func put(t *testing.T, db *sqlite.DB, id compute.KeyID, name string) {
	t.Helper()
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertKey(compute.Key{ID: id, UserID: "u", Name: name})
	}))
}

// names gives the names of the keys in a file.
func names(t *testing.T, file string) (all []string) {
	t.Helper()
	db, err := sqlite.OpenUnsynced(t.Context(), file, compute.SystemClock{})
	require.NoError(t, err)
	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) error {
		keys, err := tx.ListKeys()
		for _, k := range keys {
			all = append(all, k.Name)
		}
		return err
	}))
	require.NoError(t, db.Close())
	return all
}

func TestCopy_HasAllThatWasWrittenBeforeItBegan(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
	db, err := sqlite.OpenUnsynced(t.Context(), from, compute.SystemClock{})
	require.NoError(t, err)
	put(t, db, "k0", "before")

	ctx, stop := context.WithCancel(t.Context())
	var writers sync.WaitGroup
	begun := make(chan struct{})
	var once sync.Once
	for w := range 4 {
		writers.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				_ = db.Write(context.WithoutCancel(ctx), func(tx store.Tx) error {
					id := compute.KeyID(rune('a'+w)) + compute.KeyID(time.Now().Format("150405.000000000"))
					return tx.InsertKey(compute.Key{ID: id, UserID: "u", Name: "beside"})
				})
				once.Do(func() { close(begun) })
			}
		})
	}
	<-begun

	program, err := sqlite.Copy(t.Context(), from, to, false)
	require.NoError(t, err)
	stop()
	writers.Wait()
	require.NoError(t, db.Close())
	schema, known, err := sqlite.Verify(t.Context(), to)
	require.NoError(t, err)
	require.Equal(t, program, schema)
	require.Equal(t, known, schema)
	require.Contains(t, names(t, to), "before")
}

func TestCopy_IsADatabaseAsANewOneIsAndItsOwnersAlone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
	db, err := sqlite.OpenUnsynced(t.Context(), from, compute.SystemClock{})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	_, err = sqlite.Copy(t.Context(), from, to, true)
	require.NoError(t, err)
	info, err := os.Stat(to)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o600), info.Mode().Perm())

	for _, pragma := range []string{"auto_vacuum", "user_version", "page_size", "encoding"} {
		require.Equal(t, pragmaOf(t, from, pragma), pragmaOf(t, to, pragma), pragma)
	}
	_, err = sqlite.Copy(t.Context(), from, to, true)
	require.Error(t, err, "there is something")
}

func TestCopy_HasNothingOfWhatWasDeleted(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	from, to := filepath.Join(dir, "a.db"), filepath.Join(dir, "b.db")
	db, err := sqlite.OpenUnsynced(t.Context(), from, compute.SystemClock{})
	require.NoError(t, err)
	put(t, db, "k0", "a name that is deleted")
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return tx.DeleteKey("k0") }))
	_, err = sqlite.Copy(t.Context(), from, to, false)
	require.NoError(t, err)
	require.NoError(t, db.Close())

	content, err := os.ReadFile(to)
	require.NoError(t, err)
	require.False(t, bytes.Contains(content, []byte("a name that is deleted")))
}

func TestVerify_FindsAnIndexThatLacksARow(t *testing.T) {
	t.Parallel()
	file := filepath.Join(t.TempDir(), "a.db")
	db, err := sqlite.OpenUnsynced(t.Context(), file, compute.SystemClock{})
	require.NoError(t, err)
	put(t, db, "k0", "n")
	require.NoError(t, db.Close())
	_, _, err = sqlite.Verify(t.Context(), file)
	require.NoError(t, err)

	pool, err := sql.Open("sqlite", "file:"+file)
	require.NoError(t, err)
	for _, statement := range []string{ // an index of another table takes the place of the one that has the row
		"CREATE TABLE other (id TEXT); CREATE UNIQUE INDEX of_other ON other (id)",
		"PRAGMA writable_schema = 1",
		"UPDATE sqlite_schema SET rootpage = (SELECT rootpage FROM sqlite_schema WHERE name = 'of_other') WHERE name = 'sqlite_autoindex_keys_1'",
	} {
		_, err := pool.Exec(statement)
		require.NoError(t, err)
	}
	require.NoError(t, pool.Close())
	_, _, err = sqlite.Verify(t.Context(), file)
	require.ErrorContains(t, err, "it is damaged")
}

func pragmaOf(t *testing.T, file, name string) (value string) {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+file+"?mode=ro")
	require.NoError(t, err)
	require.NoError(t, pool.QueryRow("PRAGMA "+name).Scan(&value))
	require.NoError(t, pool.Close())
	return value
}
