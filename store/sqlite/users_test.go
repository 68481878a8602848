package sqlite_test

import (
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
	"github.com/berthdev/berth/store/storetest"
)

func TestUpgrade_MakesUsersOfKeys(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	open := func(t *testing.T, clock compute.Clock) store.Store {
		db, err := sqlite.Open(t.Context(), path, clock)
		require.NoError(t, err)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	storetest.UsersOfKeys(t, open, func(t *testing.T) {
		db, err := sql.Open("sqlite", "file:"+path)
		require.NoError(t, err)
		_, err = db.Exec(`DROP TABLE users; DROP TABLE logins; DROP TABLE charge_sums; DROP INDEX charges_ended; ALTER TABLE charges DROP COLUMN summed_until; ALTER TABLE clock DROP COLUMN seen_at;
PRAGMA user_version = 24`)
		require.NoError(t, err)
		require.NoError(t, db.Close())
	})
}
