package sqldb_test

import (
	"database/sql"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/sqldb"
	"github.com/berthdev/berth/store/sqlite"
)

// byTheStatements are the columns that no list has, since the statements themselves give them their values.
var byTheStatements = []string{
	"seq",                    // in the order of the rows, where it is no part of what is stored
	"jobs.final_reads",       // counts
	"job_counts.endpoint_id", // beside the counts
	"clock.one",              // of the only row
}

func TestColumns_AreThoseOfTheSchema(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	s, err := sqlite.Open(t.Context(), path, compute.SystemClock{})
	require.NoError(t, err)
	require.NoError(t, s.Close())

	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })

	schema := map[string][]string{}
	rows, err := db.Query(`SELECT t.name, c.name FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite_%'`)
	require.NoError(t, err)
	for rows.Next() {
		var table, column string
		require.NoError(t, rows.Scan(&table, &column))
		schema[table] = append(schema[table], column)
	}
	require.NoError(t, rows.Err())

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
