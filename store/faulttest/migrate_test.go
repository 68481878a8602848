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

// makeOld makes the database of the program before the last migration, with a key in it if it had a table for it, and gives the
// version that this program has.
func makeOld(t *testing.T, path string) (version int, withKey bool) {
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
		withKey = true
	}
	if withKey {
		_, err = raw.Exec("INSERT INTO keys (id, user_id, name, scopes, hash, worker_id, exempt) VALUES ('old', 'u', 'n', '[]', zeroblob(32), '', 0)")
		require.NoError(t, err)
	}
	_, err = raw.Exec(fmt.Sprintf("PRAGMA user_version = %d", version-1))
	require.NoError(t, err)
	require.NoError(t, raw.Close())
	return version, withKey
}

// migrated tells what is wrong with a database that is to be whole, and of the version once it is opened.
func migrated(t *testing.T, path string, version int, withKey bool) error {
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
		if !withKey {
			return nil
		}
		_, err := tx.Key("old")
		return err
	})
	require.NoError(t, db.Close())
	return err
}

func TestAMigrationIsWholeOrNotAtAllWhateverFails(t *testing.T) {
	t.Parallel()
	for n, more := 0, true; more; n += step(29) {
		for _, how := range []faulttest.Fault{faulttest.Failing, faulttest.Full} {
			dir := scratch(t)
			version, withKey := makeOld(t, in(dir))
			disk := faulttest.New(t, dir)
			disk.Fail(faulttest.Nth(n, how))
			db, err := open(in(dir))
			if err == nil {
				calls, _ := disk.Calls()
				more = n < calls
				require.NoError(t, db.Close())
			}
			disk.Fail(nil)
			require.NoError(t, migrated(t, in(dir), version, withKey), "call %d fails by %d", n, how)
			require.NoError(t, os.RemoveAll(dir))
		}
	}
}

func TestAMigrationIsWholeOrNotAtAllWhereverThePowerIsLost(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	version, withKey := makeOld(t, in(dir))
	disk := faulttest.New(t, dir)
	m := newImages(t, disk, newLedger())
	disk.Watch(m.before(step(9), faulttest.Everything, faulttest.Some))
	db, err := open(in(dir))
	require.NoError(t, err)
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertKey(compute.Key{ID: "new", UserID: "u", Scopes: []compute.Scope{compute.ScopeAll}})
	}))
	require.NoError(t, db.Close())
	disk.Watch(nil)
	t.Log(len(m.all), "images")
	for _, i := range m.all {
		require.NoError(t, migrated(t, in(i.dir), version, withKey), i.what)
	}
}
