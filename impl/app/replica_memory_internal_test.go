//go:build unix

package app

import (
	"errors"
	"runtime"
	"testing"
	"time"
	"weak"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/replica"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/pgtest"
	"github.com/berthdev/berth/store/postgres"
)

// newCluster starts a PostgreSQL of the test's own.
func newCluster(t *testing.T) *pgtest.Cluster {
	t.Helper()
	cluster, err := pgtest.Start(t.Context(), "fsync=off")
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip("SKIPPED:", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Stop()) })
	return cluster
}

// TestReplica_KeepsNothingOfAServiceThatItLost: what an owner has in memory may be much, and a replica runs for long after it lost the store.
func TestReplica_KeepsNothingOfAServiceThatItLost(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	other := store.Replica{ID: "other", Address: "http://127.0.0.1:1"}

	for name, starts := range map[string]bool{"it starts as the owner": true, "it becomes the owner later": false} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url, err := cluster.Schema(t.Context())
			require.NoError(t, err)
			owners, err := postgres.OpenOwners(t.Context(), url)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, owners.Close()) })
			if !starts {
				_, err := owners.Hold(t.Context(), other, time.Hour)
				require.NoError(t, err)
			}
			s, err := Start(t.Context(), Config{Data: t.TempDir(), Listen: "127.0.0.1:0", Store: url, TestControls: true})
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, s.Close()) })
			first, controls := s.FirstKey(), s.ControlsKey()
			require.Equal(t, starts, first != "")
			require.Equal(t, starts, controls != "")
			require.NoError(t, owners.Release(t.Context(), other))
			require.Eventually(t, func() bool { return s.current() != nil }, time.Minute, 10*time.Millisecond)
			lost := memoryOf(s)

			c, err := pgx.Connect(t.Context(), url)
			require.NoError(t, err)
			_, err = c.Exec(t.Context(), `UPDATE owners SET replica = $1, epoch = epoch + 1, until = until + 3600000`, other.ID)
			require.NoError(t, err)
			require.NoError(t, c.Close(t.Context()))
			require.Eventually(t, func() bool {
				_, err := owners.Hold(t.Context(), other, replica.Lease) // it runs
				require.NoError(t, err)
				runtime.GC()
				return s.current() == nil && !lost()
			}, time.Minute, 50*time.Millisecond)
			require.Equal(t, first, s.FirstKey())
			require.Equal(t, controls, s.ControlsKey())
		})
	}
}

// memoryOf gives what reports whether something of the service is kept, and keeps nothing of it itself.
func memoryOf(s *Server) (kept func() bool) {
	v := s.current()
	service, keyring, work, use := weak.Make(v), weak.Make(v.keyring), weak.Make(v.work), weak.Make(v.controls.use)
	return func() bool {
		return service.Value() != nil || keyring.Value() != nil || work.Value() != nil || use.Value() != nil
	}
}
