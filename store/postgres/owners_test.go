//go:build unix

package postgres_test

import (
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/postgres"
)

// requireBlocked waits until somebody waits for a lock that the connection has.
func requireBlocked(t *testing.T, url string, by *pgx.Conn) {
	t.Helper()
	looks := connected(t, url) // what a transaction sees of others stays as it was at first
	require.Eventually(t, func() bool {
		var n int
		err := looks.QueryRow(t.Context(), `SELECT count(*) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND $1::int = ANY (pg_blocking_pids(pid))`,
			int64(by.PgConn().PID())).Scan(&n)
		require.NoError(t, err)
		return n > 0
	}, time.Minute, 10*time.Millisecond)
}

// TestHold_SeesWhomItHasWaitedFor: a replica takes the store, and its commit is under way while another one tries to.
func TestHold_SeesWhomItHasWaitedFor(t *testing.T) {
	t.Parallel()
	const hour = `(extract(epoch FROM clock_timestamp()) * 1000)::bigint + 3600000`
	for name, c := range map[string]struct {
		before func(*postgres.Owners)
		take   string
		epoch  int64
	}{
		"nobody had it": {
			func(*postgres.Owners) {},
			`INSERT INTO owners (shard, replica, address, epoch, until) VALUES (0, 'other', 'http://127.0.0.1:2', 1, ` + hour + `)`, 1,
		},
		"it had it itself": {
			func(o *postgres.Owners) {
				_, err := o.Hold(t.Context(), me, -time.Hour) // a lease that is over
				require.NoError(t, err)
			},
			`UPDATE owners SET replica = 'other', address = 'http://127.0.0.1:2', epoch = epoch + 1, until = ` + hour, 2,
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := emptied(t)
			owners, err := postgres.OpenOwners(t.Context(), url)
			require.NoError(t, err)
			t.Cleanup(func() { require.NoError(t, owners.Close()) })
			c.before(owners)
			other := connected(t, url)
			execute(t, other, "BEGIN", c.take)

			type held struct {
				owner store.Owner
				err   error
			}
			answered := make(chan held, 1)
			go func() {
				owner, err := owners.Hold(t.Context(), me, time.Hour)
				answered <- held{owner, err}
			}()
			requireBlocked(t, url, other)
			execute(t, other, "COMMIT")

			got := <-answered
			require.NoError(t, got.err)
			require.Greater(t, got.owner.Left, 50*time.Minute)
			got.owner.Left = 0
			require.Equal(t, store.Owner{ID: "other", Address: "http://127.0.0.1:2", Epoch: c.epoch}, got.owner)
		})
	}
}

// TestHold_TakesWhatTheOneThatItWaitedForGaveUp: the row that was in its way is gone when it looks whose it is.
func TestHold_TakesWhatTheOneThatItWaitedForGaveUp(t *testing.T) {
	t.Parallel()
	url := emptied(t)
	owners, err := postgres.OpenOwners(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, owners.Close()) })
	c := connected(t, url)
	rule := func(often string) { // the first insertions of the replica do nothing, as if there were a row, and there is none
		execute(t, c, `DROP SEQUENCE IF EXISTS tries CASCADE`, `CREATE SEQUENCE tries`,
			`CREATE OR REPLACE FUNCTION skip() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN IF nextval(''tries'') <= `+often+` THEN RETURN NULL; END IF; RETURN NEW; END'`,
			`CREATE OR REPLACE TRIGGER skips BEFORE INSERT ON owners FOR EACH ROW EXECUTE FUNCTION skip()`)
	}

	rule("1000")
	_, err = owners.Hold(t.Context(), me, time.Hour)
	require.ErrorContains(t, err, "the row of the owner comes and goes", "it does not try for ever")
	rule("2")
	owner, err := owners.Hold(t.Context(), me, time.Hour)
	require.NoError(t, err)
	require.Equal(t, me.ID, owner.ID)
	require.EqualValues(t, 1, owner.Epoch)
}

// TestJoin_OfTwoAtOnceOneSeesTheOther: else nobody would compare their settings.
func TestJoin_OfTwoAtOnceOneSeesTheOther(t *testing.T) {
	t.Parallel()
	url := emptied(t)
	all := make([]*postgres.Owners, 6)
	for i := range all {
		var err error
		all[i], err = postgres.OpenOwners(t.Context(), url)
		require.NoError(t, err)
		t.Cleanup(func() { require.NoError(t, all[i].Close()) })
		_, err = all[i].See(t.Context()) // it is connected
		require.NoError(t, err)
	}

	for round := range 20 {
		id := func(i int) string { return fmt.Sprint("r", round, "-", i) }
		saw := make([][]store.Replica, len(all))
		errs := make([]error, len(all))
		var joining sync.WaitGroup
		for i, o := range all {
			joining.Go(func() { saw[i], errs[i] = o.Join(t.Context(), store.Replica{ID: id(i)}, time.Hour) })
		}
		joining.Wait()
		sees := func(i, j int) bool {
			return slices.ContainsFunc(saw[i], func(r store.Replica) bool { return r.ID == id(j) })
		}
		for i := range all {
			require.NoError(t, errs[i])
			for j := range i {
				require.True(t, sees(i, j) || sees(j, i), "%s, %s", id(i), id(j))
			}
		}
	}
}

// TestJoin_AgainWaitsForNobody: what holds up one that joins does not hold up those that run.
func TestJoin_AgainWaitsForNobody(t *testing.T) {
	t.Parallel()
	url := emptied(t)
	owners, err := postgres.OpenOwners(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, owners.Close()) })
	_, err = owners.Join(t.Context(), me, time.Hour)
	require.NoError(t, err)
	other := connected(t, url)
	execute(t, other, "BEGIN", `SELECT FROM berth_schema FOR UPDATE`)
	_, err = owners.Join(t.Context(), me, time.Hour)
	require.NoError(t, err)

	joined := make(chan error, 1)
	go func() {
		_, err := owners.Join(t.Context(), store.Replica{ID: "new"}, time.Hour)
		joined <- err
	}()
	requireBlocked(t, url, other)
	execute(t, other, "COMMIT")
	require.NoError(t, <-joined)
}
