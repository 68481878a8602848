//go:build unix

package postgres_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/postgres"
	"github.com/berthdev/berth/store/sqlite"
	"github.com/berthdev/berth/store/transfer"
)

// emptied gives the URL of a database with the schema and no rows.
func emptied(t *testing.T) string {
	t.Helper()
	url, err := cluster.Schema(t.Context())
	require.NoError(t, err)
	db, err := postgres.Open(t.Context(), url, compute.SystemClock{})
	require.NoError(t, err)
	require.NoError(t, db.Close())
	return url
}

// connected gives a connection to a database, as another program has one.
func connected(t *testing.T, url string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.WithoutCancel(t.Context())) })
	return c
}

func execute(t *testing.T, c *pgx.Conn, statements ...string) {
	t.Helper()
	for _, s := range statements {
		_, err := c.Exec(t.Context(), s)
		require.NoError(t, err, s)
	}
}

// hardTexts are what PostgreSQL's text cannot hold, what marks that, and what quotes and separates elsewhere.
var hardTexts = []string{"", "plain", "a\x00b", "\xff\xfe", "\U0010FFFF", "\U0010FFFF--00", "é\n\t\\N\"',;", "NULL", strings.Repeat("long ", 3000)}

func TestTransfer_CopiesADatabaseThereAndBack(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	file, err := sqlite.OpenUnsynced(t.Context(), path, compute.SystemClock{})
	require.NoError(t, err)
	for i, text := range hardTexts {
		require.NoError(t, file.Write(t.Context(), func(tx store.Tx) error {
			j := compute.Job{ID: compute.JobID(fmt.Sprint("job-", i)), EndpointID: "e", Status: compute.JobInProgress, WorkerID: "w", Error: text, CreatedAt: time.UnixMilli(int64(i)).UTC()}
			err := errors.Join(tx.InsertJob(j, []byte(text)),
				tx.InsertRegistry(compute.Registry{ID: compute.RegistryID(fmt.Sprint(i)), UserID: "u", Name: text, Login: []byte(text)}),
				tx.InsertPod(compute.Pod{ID: compute.PodID(fmt.Sprint(i)), UserID: "u", Name: text, CostPerHour: 0.1 * float64(i), Status: compute.PodRunning}))
			if _, failed := tx.AppendChunk(j.ID, "w", compute.Chunk{Output: []byte(text)}); failed != nil {
				return failed
			}
			return err
		}))
	}
	require.NoError(t, file.Close())

	from, err := sqlite.OpenSource(t.Context(), path)
	require.NoError(t, err)
	url, err := cluster.Schema(t.Context())
	require.NoError(t, err)
	to, err := postgres.OpenTarget(t.Context(), url)
	require.NoError(t, err)
	there, err := transfer.Run(t.Context(), from, to, nil)
	require.NoError(t, err)
	require.NoError(t, errors.Join(from.Close(), to.Close()))

	source, err := postgres.OpenSource(t.Context(), url)
	require.NoError(t, err)
	names := func(of []transfer.Table) (all []string) {
		for _, one := range of {
			all = append(all, one.Name)
		}
		return all
	}
	for _, table := range []string{"berth_schema", "commits", "owners", "replicas"} {
		require.NotContains(t, names(source.Tables()), table, "it is no part of what is stored")
	}
	copied := filepath.Join(t.TempDir(), "copy.db")
	target, err := sqlite.NewTarget(t.Context(), copied)
	require.NoError(t, err)
	back, err := transfer.Run(t.Context(), source, target, nil)
	require.NoError(t, err)
	require.Equal(t, there, back)
	require.NoError(t, errors.Join(source.Close(), target.Close()))

	db, err := postgres.Open(t.Context(), url, compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		for i, text := range hardTexts {
			j, err := tx.Job(compute.JobID(fmt.Sprint("job-", i)))
			require.NoError(t, err)
			require.Equal(t, text, j.Error)
		}
		if err := tx.InsertRegistry(compute.Registry{ID: "new", UserID: "u", Login: []byte("x")}); err != nil {
			return err
		}
		newest, found, err := tx.NewestRegistry()
		require.True(t, found)
		require.Equal(t, compute.RegistryID("new"), newest.ID, "what comes later is numbered after what came over")
		return err
	}))
}

func TestTarget_WithoutCommitNothingStays(t *testing.T) {
	t.Parallel()
	url, err := cluster.Schema(t.Context())
	require.NoError(t, err)
	refused := errors.New("refused")
	for range 2 { // nothing is left of the first
		to, err := postgres.OpenTarget(t.Context(), url)
		require.NoError(t, err)
		keys := to.Tables()[slices.IndexFunc(to.Tables(), func(one transfer.Table) bool { return one.Name == "ssh_keys" })]
		rows := func(err error) func(yield func([]any, error) bool) {
			return func(yield func([]any, error) bool) {
				if yield([]any{"[]", "a\x00b"}, nil) && err != nil {
					yield(nil, err)
				}
			}
		}
		require.NoError(t, to.Fill(t.Context(), keys, rows(nil)))
		var found [][]any
		for row, err := range to.Rows(t.Context(), keys) {
			require.NoError(t, err)
			found = append(found, row)
		}
		require.Equal(t, [][]any{{"[]", "a\x00b"}}, found)
		require.ErrorContains(t, to.Fill(t.Context(), keys, rows(refused)), "refused")
		reads := 0
		for _, err := range to.Rows(t.Context(), keys) {
			reads++
			require.Error(t, err, "the transaction is over")
		}
		require.Equal(t, 1, reads)
		require.Error(t, to.Commit(t.Context()))
		require.NoError(t, to.Close())
	}
}

func TestTransfer_RefusesWhatItIsNotToTouch(t *testing.T) {
	t.Parallel()
	url, err := cluster.Schema(t.Context())
	require.NoError(t, err)
	source := func(says string) {
		t.Helper()
		_, err := postgres.OpenSource(t.Context(), url)
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, "/postgres: ")
	}
	target := func(says string) {
		t.Helper()
		_, err := postgres.OpenTarget(t.Context(), url)
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, "/postgres: ")
	}
	source("it is no database of berth: it has no table berth_schema")
	c := connected(t, url)
	execute(t, c, "CREATE TABLE contacts (name text)")
	target("it is no database of berth: it has tables, and no table berth_schema")
	_, err = postgres.Open(t.Context(), url, compute.SystemClock{})
	require.ErrorContains(t, err, "it is no database of berth")
	require.Empty(t, store.TroubleOf(err), "it is no trouble that passes")
	execute(t, c, "DROP TABLE contacts")

	to, err := postgres.OpenTarget(t.Context(), url)
	require.NoError(t, err)
	require.NoError(t, to.Close())
	execute(t, c, "CREATE TABLE odd (a date)")
	source(`odd.a is of the type "date"`)
	execute(t, c, "DROP TABLE odd", "UPDATE berth_schema SET version = version + 1")
	source("a newer berth wrote it")
	target("a newer berth wrote it")
	_, err = postgres.Open(t.Context(), url, compute.SystemClock{})
	require.ErrorContains(t, err, "a newer berth wrote it")
	execute(t, c, "UPDATE berth_schema SET version = version - 2")
	source("an older berth wrote it")
	execute(t, c, "UPDATE berth_schema SET version = version + 1")

	execute(t, c, "INSERT INTO ssh_keys VALUES ('u', '[]')", "INSERT INTO clock VALUES (1, 0)")
	target("it is not empty: clock, ssh_keys have rows")
	_, err = postgres.OpenTarget(t.Context(), url)
	full, is := errors.AsType[*transfer.NotEmpty](err)
	require.True(t, is)
	require.Equal(t, []string{"clock", "ssh_keys"}, full.Tables)
	execute(t, c, "DELETE FROM ssh_keys", "DELETE FROM clock")

	owners, err := postgres.OpenOwners(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, owners.Close()) })
	for _, uses := range []func() error{
		func() error { _, err := owners.Hold(t.Context(), me, time.Hour); return err },
		func() error { _, err := owners.Join(t.Context(), me, time.Hour); return err },
	} {
		require.NoError(t, uses())
		source("a server uses it, replica me at http://127.0.0.1:1")
		target("a server uses it, replica me at http://127.0.0.1:1")
		require.NoError(t, owners.Leave(t.Context(), me))
	}

	from, err := postgres.OpenSource(t.Context(), url)
	require.NoError(t, err, "nobody uses it any more")
	execute(t, c, "SET lock_timeout = 100")
	for _, statement := range []string{"INSERT INTO owners VALUES (1, 'r2', '', 1, 1)", "INSERT INTO ssh_keys VALUES ('u', '[]')"} {
		_, err = c.Exec(t.Context(), statement)
		require.ErrorContains(t, err, "lock timeout", "nobody writes meanwhile")
	}
	require.NoError(t, from.Close())
	execute(t, c, "INSERT INTO ssh_keys VALUES ('u', '[]')")
}

// TestCheckUpgrade_LeavesTheSchemaToReplicasThatRun: a command of a newer program must not make one that they do not know.
func TestCheckUpgrade_LeavesTheSchemaToReplicasThatRun(t *testing.T) {
	t.Parallel()
	url, err := cluster.Schema(t.Context())
	require.NoError(t, err)
	require.NoError(t, postgres.CheckUpgrade(t.Context(), url), "there is nothing yet")
	owners, err := postgres.OpenOwners(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, owners.Close()) })
	_, err = owners.Join(t.Context(), me, time.Hour)
	require.NoError(t, err)
	require.NoError(t, postgres.CheckUpgrade(t.Context(), url), "there is nothing to be made")

	c := connected(t, url)
	execute(t, c, "UPDATE berth_schema SET version = version - 1")
	before, err := postgres.Examine(t.Context(), url)
	require.NoError(t, err)
	says := fmt.Sprintf("/postgres: the replica at http://127.0.0.1:1 uses it, and its schema is of version %d; this berth would make it version %d", before.Known-1, before.Known)
	require.ErrorContains(t, postgres.CheckUpgrade(t.Context(), url), says)
	_, err = postgres.OpenTarget(t.Context(), url)
	require.ErrorContains(t, err, says)
	after, err := postgres.Examine(t.Context(), url)
	require.NoError(t, err)
	require.Equal(t, before.Known-1, after.Schema)

	require.NoError(t, owners.Leave(t.Context(), me))
	require.NoError(t, postgres.CheckUpgrade(t.Context(), url), "nobody uses it any more")
}

func TestExamine_TellsHowADatabaseStands(t *testing.T) {
	t.Parallel()
	url, err := cluster.Schema(t.Context())
	require.NoError(t, err)
	s, err := postgres.Examine(t.Context(), url)
	require.NoError(t, err)
	require.Contains(t, s.Where, "postgres://")
	require.NotEmpty(t, s.Version)
	require.Positive(t, s.Known)
	require.Zero(t, s.Schema, "there is none yet")
	require.False(t, s.ReadOnly)

	owners, err := postgres.OpenOwners(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, owners.Close()) })
	s, err = postgres.Examine(t.Context(), url)
	require.NoError(t, err)
	require.Equal(t, s.Known, s.Schema)
	require.Equal(t, store.Owner{}, s.Owner)
	require.Empty(t, s.Replicas)
	require.Empty(t, s.Standbys)

	owner, err := owners.Hold(t.Context(), me, time.Hour)
	require.NoError(t, err)
	replica := store.Replica{ID: "r", Address: "http://127.0.0.1:2", Settings: map[string]string{"a": "1"}}
	_, err = owners.Join(t.Context(), replica, time.Hour)
	require.NoError(t, err)
	s, err = postgres.Examine(t.Context(), url)
	require.NoError(t, err)
	require.Equal(t, []store.Replica{replica}, s.Replicas)
	require.Equal(t, []any{me.ID, me.Address, owner.Epoch}, []any{s.Owner.ID, s.Owner.Address, s.Owner.Epoch})
	require.Greater(t, s.Owner.Left, 50*time.Minute)
	require.LessOrEqual(t, s.Owner.Left, time.Hour)

	_, err = postgres.Examine(t.Context(), "postgres://berth:hunter2@127.0.0.1:1/jobs")
	require.Equal(t, store.Away, store.TroubleOf(err))
	require.NotContains(t, err.Error(), "hunter2")
	_, err = postgres.Examine(t.Context(), "jobs")
	require.ErrorContains(t, err, "it must be the URL of a PostgreSQL database")
}

func TestOwners_OneOwnsWhatNobodyElseDoes(t *testing.T) {
	t.Parallel()
	owners, err := postgres.OpenOwners(t.Context(), emptied(t))
	require.NoError(t, err)
	none, err := owners.See(t.Context())
	require.NoError(t, err)
	require.Equal(t, store.Owner{}, none)
	other := store.Replica{ID: "other", Address: "http://127.0.0.1:2", Settings: map[string]string{}}

	first, err := owners.Hold(t.Context(), me, time.Hour)
	require.NoError(t, err)
	require.EqualValues(t, 1, first.Epoch)
	for _, who := range []func() (store.Owner, error){
		func() (store.Owner, error) { return owners.Hold(t.Context(), other, time.Hour) },
		func() (store.Owner, error) { return owners.See(t.Context()) },
	} {
		still, err := who()
		require.NoError(t, err)
		require.Greater(t, still.Left, 50*time.Minute)
		require.LessOrEqual(t, still.Left, time.Hour)
		still.Left = first.Left
		require.Equal(t, first, still)
	}
	require.NoError(t, owners.Release(t.Context(), other), "who owns nothing gives up nothing")
	require.NoError(t, owners.Leave(t.Context(), other))
	still, err := owners.Hold(t.Context(), other, time.Hour)
	require.NoError(t, err)
	require.Equal(t, me.ID, still.ID)

	_, err = owners.Hold(t.Context(), me, -time.Hour) // a lease that is over
	require.NoError(t, err)
	second, err := owners.Hold(t.Context(), other, time.Minute)
	require.NoError(t, err)
	require.Equal(t, other.ID, second.ID)
	require.Equal(t, other.Address, second.Address)
	require.EqualValues(t, 2, second.Epoch)
	require.LessOrEqual(t, second.Left, time.Minute)
	require.Greater(t, second.Left, 30*time.Second)

	require.NoError(t, owners.Leave(t.Context(), other))
	left, err := owners.See(t.Context())
	require.NoError(t, err)
	require.Negative(t, left.Left, "nothing is left of the lease")
	require.NoError(t, owners.Close())
	require.NoError(t, owners.Close(), "twice does no harm")
	third, err := owners.Hold(t.Context(), me, time.Hour)
	require.NoError(t, err, "the connection is opened again")
	require.EqualValues(t, 3, third.Epoch)
	require.NoError(t, owners.Close())
}

func TestOwners_ReplicasKnowOneAnother(t *testing.T) {
	t.Parallel()
	url := emptied(t)
	owners, err := postgres.OpenOwners(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, owners.Close()) })
	a := store.Replica{ID: "a", Address: "http://127.0.0.1:1", Settings: map[string]string{"keep": "1h"}}
	b := store.Replica{ID: "b", Address: "http://127.0.0.1:2", Settings: map[string]string{"keep": "2h"}}
	join := func(one store.Replica, lease time.Duration) []store.Replica {
		t.Helper()
		others, err := owners.Join(t.Context(), one, lease)
		require.NoError(t, err)
		return others
	}
	require.Empty(t, join(a, time.Hour))
	require.Equal(t, []store.Replica{a}, join(b, time.Hour))
	a.Address, a.Settings = "http://127.0.0.1:3", map[string]string{"keep": "3h", "more": ""}
	require.Equal(t, []store.Replica{b}, join(a, time.Hour))
	require.Equal(t, []store.Replica{a}, join(b, time.Hour), "as it is now")
	require.Equal(t, []store.Replica{b}, join(a, -time.Minute))
	require.Empty(t, join(b, time.Hour), "one whose lease is over does not run")

	c := connected(t, url)
	known := func() (n int) {
		t.Helper()
		require.NoError(t, c.QueryRow(t.Context(), "SELECT count(*) FROM replicas").Scan(&n))
		return n
	}
	require.Equal(t, 2, known())
	join(a, -25*time.Hour)
	require.Equal(t, 1, known(), "it is forgotten after a day")
	require.NoError(t, owners.Leave(t.Context(), b))
	require.Zero(t, known())

	execute(t, c, "DROP TABLE replicas")
	_, err = owners.Join(t.Context(), a, time.Hour)
	require.Error(t, err)
	require.Empty(t, store.TroubleOf(err))
	_, err = owners.See(t.Context())
	require.NoError(t, err)
}
