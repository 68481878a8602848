package faulttest_test

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/faulttest"
)

// makeOld makes the database of the program before the last migration, with a key in it, and gives the version that this program
// has.
func makeOld(t *testing.T, path string) (version int) {
	t.Helper()
	files, err := filepath.Glob("../sqlite/migrations/*.sql")
	require.NoError(t, err)
	require.NotEmpty(t, files)

	version = len(files)
	require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	raw, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)

	raw.SetMaxOpenConns(1)
	_, err = raw.Exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
	require.NoError(t, err)
	for _, file := range files[:version-1] {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		_, err = raw.Exec(string(text))
		require.NoError(t, err)
	}

	_, err = raw.Exec("INSERT INTO keys (id, user_id, name, scopes, hash, worker_id, exempt) VALUES ('old', 'u', 'n', '[]', zeroblob(32), '', 0)")
	require.NoError(t, err)
	_, err = raw.Exec(fmt.Sprintf("PRAGMA user_version = %d", version-1))
	require.NoError(t, err)
	require.NoError(t, raw.Close())
	return version
}

// migrated reports what is wrong with a database that is to be whole, and of the version once it is opened.
func migrated(t *testing.T, path string, version int) error {
	t.Helper()
	if err := newLedger().survived(path, 0); err != nil {
		return err
	}
	raw, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)

	var found int
	require.NoError(t, raw.QueryRow("PRAGMA user_version").Scan(&found))
	require.NoError(t, raw.Close())
	if found != version {
		return fmt.Errorf("version %d", found)
	}

	db, err := open(path)
	require.NoError(t, err)
	err = db.Read(t.Context(), func(tx store.Tx) error {
		_, err := tx.Key("old")
		return err
	})
	require.NoError(t, db.Close())

	return err
}

func TestMigrate_IsWholeOrNotWhateverFails(t *testing.T) {
	t.Parallel()
	for n, more := 0, true; more; n += step(29) {
		for _, how := range []faulttest.Fault{faulttest.Failing, faulttest.Full} {
			dir := scratch(t)
			version := makeOld(t, in(dir))
			disk := faulttest.New(t, dir)
			disk.Fail(faulttest.Nth(n, how))

			db, err := open(in(dir))
			if err == nil {
				calls, _ := disk.Calls()
				more = n < calls
				require.NoError(t, db.Close())
			}

			disk.Fail(nil)
			require.NoError(t, migrated(t, in(dir), version), "call %d fails by %d", n, how)
			require.NoError(t, os.RemoveAll(dir))
		}
	}
}

func TestMigrate_IsWholeOrNotWhereverPowerIsLost(t *testing.T) {
	t.Parallel()
	dir, at := scratch(t), scratch(t)
	version := makeOld(t, in(dir))

	disk, rng, images := faulttest.New(t, dir), random(), 0
	disk.Watch(func(c faulttest.Call) {
		if !c.Kind.Changes() || c.N%step(9) != 0 {
			return
		}
		for _, loss := range []faulttest.Loss{faulttest.Everything, faulttest.Some} {
			image := filepath.Join(at, fmt.Sprint(images))
			require.NoError(t, os.Mkdir(image, 0o700))
			disk.Loses(t, image, loss, rng)
			require.NoError(t, migrated(t, in(image), version), "power lost before call %d, %s of %s", c.N, c.Kind, c.Path)
			require.NoError(t, os.RemoveAll(image))
			images++
		}
	})

	db, err := open(in(dir))
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertKey(compute.Key{ID: "new", UserID: "u", Scopes: []compute.Scope{compute.ScopeAll}})
	}))
	require.NoError(t, db.Close())
	t.Log(images, "images")
}
