package control_test

import (
	"database/sql"
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store/sqlite"
)

func TestRates_Save_WritesInTheOrderOfTheUsers(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	db, err := sqlite.Open(t.Context(), path, compute.SystemClock{})
	require.NoError(t, err)

	t.Cleanup(func() { require.NoError(t, db.Close()) })
	other, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, other.Close()) })
	_, err = other.Exec(`CREATE TABLE written (n INTEGER PRIMARY KEY, user_id TEXT);
CREATE TRIGGER note AFTER INSERT ON request_counts BEGIN INSERT INTO written (user_id) VALUES (new.user_id); END`)
	require.NoError(t, err)

	rates, err := control.NewRates(t.Context(), db, compute.SystemClock{}, compute.Windows(1, 1, 1)[:1])
	require.NoError(t, err)
	for i := range 30 {
		rates.Count(compute.UserID(fmt.Sprintf("user %d", i)))
	}
	require.NoError(t, rates.Save(t.Context()))

	rows, err := other.Query("SELECT user_id FROM written ORDER BY n")
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()

	var users []string
	for rows.Next() {
		var user string
		require.NoError(t, rows.Scan(&user))
		users = append(users, user)
	}
	require.NoError(t, rows.Err())

	require.Len(t, users, 30)
	require.True(t, slices.IsSorted(users), users)
}
