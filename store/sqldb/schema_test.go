package sqldb_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/sqldb"
	"github.com/berthdev/berth/store/sqlite"
	"github.com/berthdev/berth/store/transfer"
)

// byTheStatements are the columns that no list has, since the statements themselves give them their values.
var byTheStatements = []string{
	"seq",                    // in the order of the rows, where it is no part of what is stored
	"jobs.final_reads",       // counts
	"job_counts.endpoint_id", // beside the counts
	"clock.one",              // of the only row
	"seeds.one",              // likewise
	"states.one",             // likewise
}

// newDatabase opens the file of a new store, which is closed.
func newDatabase(t *testing.T) *sql.DB {
	path := filepath.Join(t.TempDir(), "berth.db")
	s, err := sqlite.Open(t.Context(), path, compute.SystemClock{})
	require.NoError(t, err)
	require.NoError(t, s.Close())

	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func TestPages_AreFoundByTheIndexThatOrdersThem(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	for table, statements := range sqldb.PageStatements() {
		for i, statement := range statements {
			search := []string{"(user_id=?)", "(user_id=? AND created_at<?)"}[i]
			steps := planOf(t, db, statement, []any{"u", 1, 1, 1}[:strings.Count(statement, "?")]...)
			require.Equal(t, []string{"SEARCH " + table + " USING INDEX " + table + "_of_user " + search}, steps, "one search, and nothing is sorted")
		}
	}
}

// planOf gives the steps in which SQLite carries out a statement.
func planOf(t *testing.T, db *sql.DB, statement string, args ...any) (steps []string) {
	t.Helper()
	plan, err := db.Query(`EXPLAIN QUERY PLAN `+statement, args...)
	require.NoError(t, err)
	for plan.Next() {
		var id, parent, unused int
		var step string
		require.NoError(t, plan.Scan(&id, &parent, &unused, &step))
		steps = append(steps, step)
	}
	require.NoError(t, plan.Err())
	return steps
}

func TestJobLists_AreFoundByTheIndexThatOrdersThem(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	for index, statement := range sqldb.JobStatements() {
		steps := planOf(t, db, statement, "%x%", "e", 1, 1, 1, 1)
		require.Equal(t, []string{"SEARCH jobs USING INDEX " + index + " (endpoint_id=? AND created_at>? AND created_at<?)"}, steps, "one search, and nothing is sorted")
	}
}

func TestChargeSums_AreFoundByAnIndex(t *testing.T) {
	t.Parallel()
	db := newDatabase(t)
	for _, search := range sqldb.ChargeSearches() {
		require.Contains(t, planOf(t, db, search.Statement, []any{1, 1, 1, 1, 1}[:search.Arguments]...), search.Step)
	}
}

func TestColumns_AreThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	requireLists(t, sqliteTables(t))
}

// sqliteTables gives the tables of a new file.
func sqliteTables(t *testing.T) []transfer.Table {
	t.Helper()
	path := filepath.Join(t.TempDir(), "berth.db")
	s, err := sqlite.Open(t.Context(), path, compute.SystemClock{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	source, err := sqlite.OpenSource(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, source.Close())
	return source.Tables()
}

// requireLists holds the tables of a schema against the lists of columns.
func requireLists(t *testing.T, tables []transfer.Table) {
	t.Helper()
	schema := map[string][]string{}
	for _, table := range tables {
		for _, c := range table.Columns {
			schema[table.Name] = append(schema[table.Name], c.Name)
		}
	}

	lists := sqldb.Tables()
	for table, columns := range schema {
		for _, column := range columns {
			if !slices.Contains(byTheStatements, column) && !slices.Contains(byTheStatements, table+"."+column) {
				assert.Contains(t, lists[table], column, "the schema has %s.%s, and no list of columns has it", table, column)
			}
		}
	}

	for table, columns := range lists {
		for _, column := range columns {
			assert.Contains(t, schema[table], column, "a list has %s.%s, and the schema does not", table, column)
		}
	}
}
