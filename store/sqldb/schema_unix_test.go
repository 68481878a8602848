//go:build unix

package sqldb_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store/pgtest"
	"github.com/berthdev/berth/store/postgres"
	"github.com/berthdev/berth/store/sqldb"
	"github.com/berthdev/berth/store/transfer"
)

// A migration of one engine that is forgotten in the other is named here, and what the lists of columns have and PostgreSQL does not.
func TestSchema_OfPostgreSQLIsThatOfSQLite(t *testing.T) {
	t.Parallel()
	cluster, err := pgtest.Start(t.Context(), "fsync=off")
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip("SKIPPED:", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Stop()) })

	target, err := postgres.OpenTarget(t.Context(), cluster.URL(""))
	require.NoError(t, err)
	tables := target.Tables()
	require.NoError(t, target.Close())
	for _, differ := range transfer.Difference(sqliteTables(t), tables) { // the source is SQLite
		assert.NoError(t, differ)
	}
	requireLists(t, tables)
	require.Equal(t, sqliteIndexes(t), postgresIndexes(t, cluster.URL("")), "the guards rest on unique indexes, and the speed on all of them")
}

// index is one of a migration, by its name, or of a unique constraint, by its table and columns. Keys are with their tables.
type index struct {
	table   string
	unique  bool
	partial bool
}

func sqliteIndexes(t *testing.T) map[string]index {
	t.Helper()
	rows, err := newDatabase(t).Query(`SELECT CASE i.origin WHEN 'c' THEN i.name ELSE t.name || ' ' || (SELECT group_concat(c.name, ' ') FROM pragma_index_info(i.name) c) END,
t.name, i."unique", i.partial FROM sqlite_schema t, pragma_index_list(t.name) i WHERE t.type = 'table' AND i.origin <> 'pk'`)
	require.NoError(t, err)
	all := map[string]index{}
	for rows.Next() {
		var name string
		var one index
		require.NoError(t, rows.Scan(&name, &one.table, &one.unique, &one.partial))
		all[name] = one
	}
	require.NoError(t, rows.Err())
	return all
}

func postgresIndexes(t *testing.T, url string) map[string]index {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	rows, err := c.Query(t.Context(), `SELECT CASE WHEN k.oid IS NULL THEN n.relname::text ELSE t.relname || ' ' ||
  (SELECT string_agg(c.attname, ' ' ORDER BY c.attnum) FROM pg_attribute c WHERE c.attrelid = n.oid) END, t.relname, i.indisunique, i.indpred IS NOT NULL
FROM pg_index i JOIN pg_class n ON n.oid = i.indexrelid JOIN pg_class t ON t.oid = i.indrelid LEFT JOIN pg_constraint k ON k.conindid = n.oid AND k.contype = 'u'
WHERE t.relnamespace = current_schema()::regnamespace AND NOT i.indisprimary`)
	require.NoError(t, err)
	all := map[string]index{}
	var name string
	var one index
	_, err = pgx.ForEachRow(rows, []any{&name, &one.table, &one.unique, &one.partial}, func() error {
		all[name] = one
		return nil
	})
	require.NoError(t, err)
	require.NoError(t, c.Close(t.Context()))
	return all
}

// TestJobLists_PostgreSQLFindsThemByTheIndexThatOrdersThem is with enough jobs for PostgreSQL to prefer an index at all.
func TestJobLists_PostgreSQLFindsThemByTheIndexThatOrdersThem(t *testing.T) {
	t.Parallel()
	cluster, err := pgtest.Start(t.Context(), "fsync=off")
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip("SKIPPED:", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Stop()) })
	target, err := postgres.OpenTarget(t.Context(), cluster.URL(""))
	require.NoError(t, err)
	require.NoError(t, target.Close())
	c, err := pgx.Connect(t.Context(), cluster.URL(""))
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(t.Context())) }()

	_, err = c.Exec(t.Context(), `INSERT INTO jobs (seq, id, endpoint_id, status, sync, low_priority, worker_id, attempt, retries, execution_timeout, ttl, retention,
  created_at, ended_at, webhook, error)
SELECT n, 'job-' || n, 'e' || n % 3, 'COMPLETED', 0, 0, '', 1, 0, 1, 1, 1, n, n, '', CASE WHEN n % 100 = 0 THEN 'x' ELSE '' END FROM generate_series(1, 30000) n`)
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), `ANALYZE jobs`)
	require.NoError(t, err)
	for index, statement := range sqldb.JobStatements() {
		rows, err := c.Query(t.Context(), `EXPLAIN `+inPostgres(statement), "%x%", "e1", 20000, 1, 0, 50)
		require.NoError(t, err)
		plan, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		text := strings.Join(plan, "\n")
		require.Contains(t, text, "Index Scan Backward using "+index, text)
		require.NotContains(t, text, "Sort", "it is in order, and so a page reads no more than it gives")
	}
}

// inPostgres gives a statement that lists jobs as PostgreSQL takes it.
func inPostgres(statement string) string {
	n := 0
	return regexp.MustCompile(`\?|INDEXED BY \w+`).ReplaceAllStringFunc(statement, func(found string) string {
		if found != "?" {
			return ""
		}
		n++
		return fmt.Sprint("$", n)
	})
}
