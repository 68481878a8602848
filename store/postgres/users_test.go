package postgres_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/postgres"
	"github.com/berthdev/berth/store/storetest"
)

func TestUpgrade_MakesUsersOfKeys(t *testing.T) {
	t.Parallel()
	url, err := cluster.Schema(t.Context())
	require.NoError(t, err)
	open := func(t *testing.T, clock compute.Clock) store.Store {
		db, err := postgres.Open(t.Context(), url, clock)
		require.NoError(t, err)
		t.Cleanup(func() { _ = db.Close() })
		return db
	}
	storetest.UsersOfKeys(t, open, func(t *testing.T) {
		conn, err := pgx.Connect(t.Context(), url)
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close(t.Context())) }()
		for _, statement := range []string{
			"DROP TABLE users, logins, charge_sums", "DROP INDEX charges_ended", "ALTER TABLE charges DROP COLUMN summed_until", "ALTER TABLE clock DROP COLUMN seen_at",
			"UPDATE berth_schema SET version = 4",
		} {
			_, err := conn.Exec(t.Context(), statement)
			require.NoError(t, err)
		}
	})
}

// twoProcesses opens one database twice, as the server and a command beside it do.
func twoProcesses(t *testing.T) (both [2]store.Store) {
	url, err := cluster.Schema(t.Context())
	require.NoError(t, err)
	for i := range both {
		both[i], err = postgres.Open(t.Context(), url, compute.SystemClock{})
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, both[i].Close()) })
	}
	return both
}

// TestHoldAdmins_OneOfTwoProcessesWaits: berth users works beside the server, and each sees what became of the admins of the other.
func TestHoldAdmins_OneOfTwoProcessesWaits(t *testing.T) {
	t.Parallel()
	both := twoProcesses(t)
	names := [2]compute.UserID{"ada", "bob"}
	for _, name := range names {
		require.NoError(t, both[0].Write(t.Context(), func(tx store.Tx) error {
			return tx.InsertUser(compute.User{Name: name, Role: compute.RoleAdmin})
		}))
	}

	for range 20 {
		var left [2]bool
		var done sync.WaitGroup
		for i, s := range both {
			done.Go(func() {
				err := s.Write(t.Context(), func(tx store.Tx) error {
					n, err := tx.HoldAdmins()
					left[i] = n > 1
					if err != nil || n == 1 {
						return err
					}
					return tx.UpdateUser(compute.User{Name: names[i], Role: compute.RoleMember})
				})
				require.NoError(t, err)
			})
		}
		done.Wait()
		require.NotEqual(t, left[0], left[1], "one of the two went")
		for _, name := range names {
			require.NoError(t, both[0].Write(t.Context(), func(tx store.Tx) error {
				return tx.UpdateUser(compute.User{Name: name, Role: compute.RoleAdmin})
			}))
		}
	}
}

// TestHoldUser_OneOfTwoProcessesWaits: berth users deletes beside the server, and sees what the server created for the user before.
func TestHoldUser_OneOfTwoProcessesWaits(t *testing.T) {
	t.Parallel()
	both := twoProcesses(t)

	for i := range 20 {
		name := compute.UserID(fmt.Sprint("user", i))
		require.NoError(t, both[0].Write(t.Context(), func(tx store.Tx) error {
			return tx.InsertUser(compute.User{Name: name, Role: compute.RoleMember})
		}))
		var there bool
		var has int
		var done sync.WaitGroup
		done.Go(func() {
			assert.NoError(t, both[0].Write(t.Context(), func(tx store.Tx) (err error) {
				if there, err = tx.HoldUser(name); err != nil || !there {
					return err
				}
				return tx.InsertVolume(compute.Volume{ID: compute.VolumeID(name), UserID: name, CreatedAt: tx.Wall()})
			}))
		})
		done.Go(func() {
			assert.NoError(t, both[1].Write(t.Context(), func(tx store.Tx) error {
				if err := tx.DeleteUser(name); err != nil {
					return err
				}
				all, _, err := tx.PageVolumes(name, compute.Page{Limit: 10})
				has = len(all)
				return err
			}))
		})
		done.Wait()
		require.Equal(t, there, has == 1, "who is deleted has what was created for it, or that was refused")
	}
}
