package sqlite

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqldb"
	"github.com/berthdev/berth/store/transfer"
)

// room opens a store that is closed at the end of the test.
func room(t *testing.T) *DB {
	t.Helper()
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })
	return d
}

func TestShrink_IsLookedForAfterEveryDeletion(t *testing.T) {
	t.Parallel()
	d := room(t)
	clock := compute.NewFrozenClock(at(0))
	later := at(1000)
	part := func() *sqldb.Tx { return sqldb.NewTx(d.engine.conn, clock, sqldb.Counts{}, 0) }
	entries := func(tx *sqldb.Tx) error { _, err := tx.DeleteAudit(later, 10, 10); return err }
	for what, c := range map[string]struct{ put, remove func(*sqldb.Tx) error }{
		"an entry of the audit log": {func(tx *sqldb.Tx) error { return tx.InsertAudit(compute.AuditEntry{}) }, entries},
		"refusals": {
			func(tx *sqldb.Tx) error { return tx.AddRefusals([]compute.Refusal{{At: at(0), Count: 1}}) },
			func(tx *sqldb.Tx) error { _, err := tx.DeleteRefusals(later, 10, 10); return err },
		},
		"a pod": {
			func(tx *sqldb.Tx) error {
				return tx.InsertPod(compute.Pod{ID: "p", Status: compute.PodTerminated, MovedAt: at(0)})
			},
			func(tx *sqldb.Tx) error { _, err := tx.DeleteTerminated(later, 10); return err },
		},
		"a delivery": {
			func(tx *sqldb.Tx) error { return tx.InsertWebhook(compute.Webhook{CreatedAt: at(0)}) },
			func(tx *sqldb.Tx) error { _, err := tx.DeleteWebhooks(later, 10); return err },
		},
		"a job": {
			func(tx *sqldb.Tx) error {
				return tx.InsertJob(compute.Job{ID: "j", Status: compute.JobCompleted, EndedAt: at(0), ExpiresAt: at(0)}, nil)
			},
			func(tx *sqldb.Tx) error { _, err := tx.DeleteJob("j", later); return err },
		},
		"a charge": {
			func(tx *sqldb.Tx) error {
				if err := tx.OpenCharge(compute.Charge{HolderID: "h", Rate: 1}); err != nil {
					return err
				}
				return tx.CloseCharge("h")
			},
			func(tx *sqldb.Tx) error { _, err := tx.SumCharges(later, 10); return err },
		},
	} {
		tx := part()
		require.NoError(t, c.remove(tx), what)
		require.False(t, tx.Deleted(), "there is no %s", what)
		tx = part()
		require.NoError(t, c.put(tx), what)
		require.False(t, tx.Deleted(), what)
		require.NoError(t, c.remove(tx), what)
		require.True(t, tx.Deleted(), what)
		require.NoError(t, c.remove(tx), what)
		require.True(t, tx.Deleted(), what)
	}
	tx := part()
	require.NoError(t, tx.Clear())
	require.True(t, tx.Deleted())
}

func TestEngine_TidiesUntilNothingIsLeft(t *testing.T) {
	t.Parallel()
	d := room(t)
	e := newEngine(d.engine.conn, compute.SystemClock{})
	require.False(t, e.Untidy())
	for _, query := range []string{"CREATE TABLE big (body)", "INSERT INTO big VALUES (zeroblob(2000000))", "DROP TABLE big"} {
		_, err := e.conn.Exec(query)
		require.NoError(t, err)
	}
	follows := false
	e.follows = func() bool { return follows }
	for _, follows = range []bool{false, true} {
		e.loose = true
		steps := 0
		for e.Untidy() {
			e.Tidy()
			steps++
			require.Less(t, steps, 100)
		}
		if !follows {
			require.Greater(t, steps, 2)
			info, err := os.Stat(d.path)
			require.NoError(t, err)
			pages, err := number(e.conn, "PRAGMA page_count")
			require.NoError(t, err)
			require.Equal(t, 4096*pages, info.Size(), "all of it is in the file, which is cut")
		}
		require.Empty(t, e.long, "nothing was given back since, or nobody has to read the log first")

		e.shrunk, e.loose = true, true
		e.Tidy()
		require.False(t, e.shrunk)
		require.Len(t, e.long, map[bool]int{false: 0, true: 1}[follows])
	}
}

func TestOpen_WhatIsBesideTheFileIsItsOwnersAlone(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	d, err := Open(t.Context(), path, compute.SystemClock{})
	require.NoError(t, err)
	require.NoError(t, d.Write(t.Context(), func(tx store.Tx) error { return tx.SetLag(time.Second) }))
	crash := filepath.Join(t.TempDir(), "berth.db")
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + end)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(crash+end, text, 0o644))
		require.NoError(t, os.Chmod(crash+end, 0o644))
	}
	require.NoError(t, d.Close())

	made, err := prepareFile(crash, true)
	require.NoError(t, err)
	require.False(t, made)
	for _, end := range []string{"", "-wal"} {
		info, err := os.Stat(crash + end)
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm(), end)
	}
}

// TestRead_WaitsForAConnectionNoLongerThanItsContext has all connections in use.
func TestRead_WaitsForAConnectionNoLongerThanItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		d, err := Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
		require.NoError(t, err)
		var held []*sqldb.Conn
		for range readers {
			c, err := d.reader(t.Context())
			require.NoError(t, err)
			held = append(held, c)
		}
		nothing := func(store.Tx) error { return nil }
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 3)
		go func() { ended <- d.Read(ctx, nothing) }()
		synctest.Wait()
		require.Empty(t, ended)
		cancel()
		require.ErrorIs(t, <-ended, context.Canceled)

		go func() { ended <- d.Read(t.Context(), nothing) }()
		synctest.Wait()
		require.Empty(t, ended)
		d.readers <- held[0]
		require.NoError(t, <-ended, "as soon as one is free")
		<-d.readers

		go func() { ended <- d.Read(t.Context(), nothing) }()
		synctest.Wait()
		closed := make(chan error, 1)
		go func() { closed <- d.Close() }()
		require.Equal(t, compute.Unavailable, compute.CodeOf(<-ended), "the store is closed")
		synctest.Wait()
		require.Empty(t, closed, "it waits for those who read")
		for _, c := range held {
			d.readers <- c
		}
		require.NoError(t, <-closed)
	})
}

func TestStates_WhatAStateSaysIsTakenOnce(t *testing.T) {
	t.Parallel()
	d := room(t)
	_, err := d.engine.conn.Exec("INSERT INTO states (one, saved_at, secret) VALUES (1, 1500, 'a secret')")
	require.NoError(t, err)
	want := compute.SavedState{SavedAt: time.UnixMilli(1500).UTC(), Secret: "a secret"}
	require.NoError(t, d.Read(t.Context(), func(tx store.Tx) error {
		s, found, err := tx.State()
		require.True(t, found)
		require.Equal(t, want, s)
		return err
	}))
	for _, there := range []bool{true, false} {
		require.NoError(t, d.Write(t.Context(), func(tx store.Tx) error {
			s, found, err := tx.TakeState()
			require.Equal(t, there, found)
			require.Equal(t, there, s == want)
			return err
		}))
	}
}

func TestStates_RowsEndWithWhoReadsThem(t *testing.T) {
	t.Parallel()
	d := room(t)
	require.NoError(t, d.Write(t.Context(), func(tx store.Tx) error {
		for _, name := range []compute.UserID{"ada", "bob", "eve"} {
			if err := tx.InsertUser(compute.User{Name: name}); err != nil {
				return err
			}
		}
		return nil
	}))
	users := transfer.Table{Name: "users", Columns: []transfer.Column{{Name: "name"}}}
	require.NoError(t, d.Read(t.Context(), func(tx store.Tx) error {
		var names []any
		for row, err := range tx.Rows(users) {
			require.NoError(t, err)
			if names = append(names, row[0]); len(names) == 2 {
				break
			}
		}
		require.Len(t, names, 2)
		n, err := tx.CountUsers()
		require.Equal(t, 3, n, "the rest is left, and the transaction goes on")
		return err
	}))
	require.Error(t, d.Read(t.Context(), func(tx store.Tx) error {
		failures := 0
		for row, err := range tx.Rows(transfer.Table{Name: "none", Columns: []transfer.Column{{Name: "name"}}}) {
			require.Nil(t, row)
			require.ErrorContains(t, err, "read none")
			failures++
		}
		require.Equal(t, 1, failures)
		return nil
	}), "a statement has failed")
}

// TestRead_SaysWhatTheStorageFails damages the file below a store that is open: its pages but for the first are of no use.
func TestRead_SaysWhatTheStorageFails(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	d, err := Open(t.Context(), path, compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { _ = d.Close() })
	require.NoError(t, d.Write(t.Context(), func(tx store.Tx) error { return tx.InsertKey(compute.Key{ID: "k"}) }))
	rows, err := d.engine.conn.Query("PRAGMA wal_checkpoint(TRUNCATE)")
	require.NoError(t, err)
	require.True(t, rows.Next())
	require.NoError(t, rows.Close())
	require.NoError(t, d.Read(t.Context(), func(tx store.Tx) error { _, err := tx.CountUsers(); return err }), "a connection is open, which knows the schema")

	info, err := os.Stat(path)
	require.NoError(t, err)
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	require.NoError(t, err)
	_, err = file.WriteAt(bytes.Repeat([]byte{0xff}, int(info.Size()-pageSize)), pageSize)
	require.NoError(t, err)

	list := func(tx store.Tx) error { _, err := tx.ListKeys(); return err }
	err = d.Read(t.Context(), list)
	require.Equal(t, store.Failing, store.TroubleOf(err), err)
	require.Equal(t, compute.Unavailable, compute.CodeOf(err))
	require.NoError(t, d.Trouble(), "that of who reads is none of writers")
	refused := compute.Errorf(compute.Rejected, "no")
	require.Same(t, refused, d.Read(t.Context(), func(store.Tx) error { return refused }))
	_ = d.Close() // it has nothing that is of use
	require.NoError(t, file.Close())
}

func TestDSN_SaysWhatAConnectionIsSetTo(t *testing.T) {
	t.Parallel()
	d := room(t)
	require.Equal(t, "10000", pragma(t, d.engine.conn, "wal_autocheckpoint"), "only in case that nobody else makes a checkpoint")
	require.Equal(t, "33554432", pragma(t, d.engine.conn, "journal_size_limit"))
	c, err := d.reader(t.Context())
	require.NoError(t, err)
	require.Equal(t, "33554432", pragma(t, c, "journal_size_limit"))
	d.readers <- c

	writes, reads := dsn("/a b/c?d#e.db", true, full), dsn("/a b/c?d#e.db", false, off)
	require.Contains(t, writes, "file:///a%20b/c%3Fd%23e.db?")
	require.Contains(t, writes, "_txlock=immediate")
	require.NotContains(t, reads, "_txlock")
	require.Contains(t, reads, "query_only%281%29")
	require.NotContains(t, writes, "query_only")
	at, err := filepath.Abs("relative.db")
	require.NoError(t, err)
	require.Equal(t, uri(at, nil), uri("relative.db", nil), "SQLite would take its first part for the name of a machine")
}

func TestEngine_ProbeWritesAndChangesNothing(t *testing.T) {
	t.Parallel()
	d := room(t)
	tx := sqldb.NewTx(d.engine.conn, d.clock, sqldb.Counts{}, 0)
	before, err := number(d.engine.conn, "PRAGMA user_version")
	require.NoError(t, err)
	require.NoError(t, d.engine.Probe(tx))
	require.True(t, tx.Changed(), "that it was written shows that the storage takes writes")
	after, err := number(d.engine.conn, "PRAGMA user_version")
	require.NoError(t, err)
	require.Equal(t, before, after)
	require.EqualValues(t, len(migrations()), after)

	require.NoError(t, tx.End())
	require.Error(t, d.engine.Probe(tx), "the transaction is over")
}
