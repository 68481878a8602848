//go:build unix

package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/pgtest"
	"github.com/berthdev/berth/store/postgres"
)

// primary is a PostgreSQL that can have its commits wait for a standby, which there is not.
type primary struct {
	*testing.T
	url  string
	conn *pgx.Conn
}

func (p *primary) run(command string) {
	p.Helper()
	_, err := p.conn.Exec(p.Context(), command)
	require.NoError(p, err)
}

func (p *primary) standbys(names string) {
	p.Helper()
	p.run("ALTER SYSTEM SET synchronous_standby_names = '" + names + "'")
	p.run("SELECT pg_reload_conf()")
	require.Eventually(p, func() bool {
		var now string
		require.NoError(p, p.conn.QueryRow(p.Context(), "SHOW synchronous_standby_names").Scan(&now))
		return now == names
	}, 10*time.Second, time.Millisecond)
}

// cancelled begins a write and ends the wait of its commit for a standby, as people do. It gives what comes of the write.
func (p *primary) cancelled(write func() error) <-chan error {
	p.Helper()
	done := make(chan error, 1)
	begin := func() { go func() { done <- write() }() }
	begin()
	require.Eventually(p, func() bool {
		select {
		case err := <-done: // commits wait only once the checkpointer, too, has read the settings again
			require.NoError(p, err)
			begin()
		default:
		}

		var cancelled int
		err := p.conn.QueryRow(p.Context(), "SELECT count(pg_cancel_backend(pid)) FROM pg_stat_activity WHERE wait_event = 'SyncRep'").Scan(&cancelled)
		require.NoError(p, err)
		return cancelled > 0
	}, 30*time.Second, 10*time.Millisecond)
	return done
}

func newPrimary(t *testing.T) *primary {
	t.Helper()
	own, err := pgtest.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, own.Stop()) })
	p := &primary{T: t, url: own.URL("")}
	p.conn, err = pgx.Connect(t.Context(), p.url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, p.conn.Close(context.WithoutCancel(t.Context()))) })
	return p
}

func (p *primary) open(with ...postgres.Option) *postgres.DB {
	p.Helper()
	db, err := postgres.Open(p.Context(), p.url, compute.SystemClock{}, with...)
	require.NoError(p, err)
	p.Cleanup(func() { require.NoError(p, db.Close()) })
	return db
}

func lag(ctx context.Context, db store.Store) error {
	return db.Write(ctx, func(tx store.Tx) error { return tx.SetLag(time.Second) })
}

func TestStandby_CancelledWaitIsNotAcknowledged(t *testing.T) {
	t.Parallel()
	p := newPrimary(t)
	db := p.open()
	p.standbys("none")
	done := p.cancelled(func() error { return lag(t.Context(), db) })
	require.True(t, store.IsUnknown(<-done), "it may be on this server alone")
	p.standbys("")
	require.NoError(t, lag(t.Context(), db))
}

func TestStandby_OwnersWriteWaitsOnThoughCancelled(t *testing.T) {
	t.Parallel()
	p := newPrimary(t)
	p.open() // makes the tables
	owners, err := postgres.OpenOwners(t.Context(), p.url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, owners.Close()) })
	owner, err := owners.Hold(t.Context(), me, time.Hour)
	require.NoError(t, err)
	db := p.open(postgres.Of(owner.Epoch))

	p.standbys("none")
	done := p.cancelled(func() error { return lag(t.Context(), db) })
	select {
	case err := <-done:
		require.Fail(t, "it is on this server alone", "%v", err)
	case <-time.After(time.Second):
	}
	p.standbys("")
	require.NoError(t, <-done)
}
