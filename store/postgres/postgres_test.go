//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/pgtest"
	"github.com/berthdev/berth/store/postgres"
	"github.com/berthdev/berth/store/storetest"
)

var cluster *pgtest.Cluster

func TestMain(m *testing.M) {
	var err error
	cluster, err = pgtest.Start(context.Background())
	switch {
	case errors.Is(err, pgtest.ErrMissing):
		fmt.Println("SKIPPED: store/postgres:", err)
		os.Exit(0)
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	if err := cluster.Stop(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		code = 1
	}
	os.Exit(code)
}

// opened gives a function that opens the same database of one test again and again.
func opened() func(*testing.T, compute.Clock) store.Store {
	var mu sync.Mutex
	urls := map[*testing.T]string{}
	return func(t *testing.T, clock compute.Clock) store.Store {
		t.Helper()
		mu.Lock()
		defer mu.Unlock()
		if urls[t] == "" {
			url, err := cluster.Schema(t.Context())
			require.NoError(t, err)
			urls[t] = url
		}

		db, err := postgres.Open(t.Context(), urls[t], clock)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, db.Close()) })
		return db
	}
}

func TestStore_KeepsWhatPackageStorePromises(t *testing.T) {
	t.Parallel()
	storetest.Run(t, opened())
}

// TestOpen_DoesNotTryAgainWhatCannotBeMade: a table that a migration makes is there already, so that making it fails for good.
func TestOpen_DoesNotTryAgainWhatCannotBeMade(t *testing.T) {
	t.Parallel()
	url, err := cluster.Schema(t.Context())
	require.NoError(t, err)
	db, err := postgres.Open(t.Context(), url, compute.SystemClock{})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	conn, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	_, err = conn.Exec(t.Context(), "UPDATE berth_schema SET version = version - 1")
	require.NoError(t, err)
	require.NoError(t, conn.Close(t.Context()))

	_, err = postgres.Open(t.Context(), url, compute.SystemClock{})
	require.ErrorContains(t, err, "migrate to version")
}
