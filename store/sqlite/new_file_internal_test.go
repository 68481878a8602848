package sqlite

import (
	"database/sql"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// migrated runs the migrations on an empty file and gives the file.
func migrated(t *testing.T, all []migration) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "migrated.db")
	pool, err := sql.Open("sqlite", dsn(path, true, full))
	require.NoError(t, err)

	pool.SetMaxOpenConns(1)
	_, err = pool.Exec("PRAGMA auto_vacuum = INCREMENTAL; PRAGMA journal_mode = WAL")
	require.NoError(t, err)
	c, err := pool.Conn(t.Context())
	require.NoError(t, err)
	require.NoError(t, run(t.Context(), c, all))
	require.NoError(t, c.Close())
	require.NoError(t, pool.Close()) // which moves the log into the file

	return path
}

// describe gives all that a database says of itself, without its rows.
func describe(t *testing.T, path string) (all []string) {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	defer func() { require.NoError(t, pool.Close()) }()

	for _, query := range []string{
		"PRAGMA auto_vacuum", "PRAGMA journal_mode", "PRAGMA user_version", "PRAGMA application_id", "PRAGMA page_size", "PRAGMA encoding",
		"PRAGMA freelist_count", "PRAGMA integrity_check",
		"SELECT concat_ws(' ', type, name, tbl_name, sql) FROM sqlite_schema ORDER BY type, name",
	} {
		rows, err := pool.Query(query)
		require.NoError(t, err)
		for rows.Next() {
			var line string
			require.NoError(t, rows.Scan(&line))
			all = append(all, query+": "+line)
		}
		require.NoError(t, rows.Err())
		require.NoError(t, rows.Close())
	}

	return all
}

// writeSchema gives the text that schemaObjects reads, by the names of the tables, so that changes of different tables are far
// from each other.
func writeSchema(t *testing.T, path string) string {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	defer func() { require.NoError(t, pool.Close()) }()
	var text strings.Builder
	text.WriteString("-- What the migrations make, and every new database has. Written by make rules: add a migration, and do not edit this.\n\n")
	rows, err := pool.Query("SELECT name, tbl_name, coalesce(sql, '') FROM sqlite_schema ORDER BY tbl_name, type = 'index', name")
	require.NoError(t, err)

	for rows.Next() {
		var name, table, statement string
		require.NoError(t, rows.Scan(&name, &table, &statement))
		if statement == "" {
			statement = fmt.Sprintf("-- %s ON %s", name, table)
		}
		text.WriteString(statement + ";\n\n")
	}
	require.NoError(t, rows.Err())

	require.NoError(t, rows.Close())
	return strings.TrimSuffix(text.String(), "\n")
}

func TestSchema_IsWhatTheMigrationsMake(t *testing.T) {
	t.Parallel()
	text := writeSchema(t, migrated(t, migrations()))
	if os.Getenv("BERTH_GOLDEN") == "write" {
		require.NoError(t, os.WriteFile("schema.sql", []byte(text), 0o644))
		return
	}
	require.Equal(t, text, schema, "schema.sql is older than the migrations: run make rules")
}

func TestNewFile_IsWhatTheMigrationsMake(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	made, err := prepareFile(path, true)
	require.NoError(t, err)
	require.True(t, made)
	described := describe(t, path)
	require.Equal(t, describe(t, migrated(t, migrations())), described)
	for _, line := range []string{"PRAGMA auto_vacuum: 2", "PRAGMA journal_mode: wal", "PRAGMA integrity_check: ok", fmt.Sprint("PRAGMA user_version: ", len(migrations()))} {
		require.Contains(t, described, line)
	}
}

// SQLite moves pages when it adds a table to a file that gives back what is deleted, and when it gives something back.
func TestNewFile_GrowsAndShrinksAsAnyOther(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	made, err := prepareFile(path, true)
	require.NoError(t, err)
	require.True(t, made)

	pool, err := sql.Open("sqlite", dsn(path, true, full))
	require.NoError(t, err)
	defer func() { require.NoError(t, pool.Close()) }()
	pages := func(which string) (n int) {
		require.NoError(t, pool.QueryRow("PRAGMA "+which).Scan(&n))
		return n
	}

	before := pages("page_count")
	for i := range 20 {
		_, err := pool.Exec(fmt.Sprintf("CREATE TABLE more%d (id INTEGER PRIMARY KEY, text TEXT UNIQUE) STRICT", i))
		require.NoError(t, err)
		_, err = pool.Exec(fmt.Sprintf(`WITH RECURSIVE r (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r WHERE n < 20)
INSERT INTO more%d SELECT n, hex(randomblob(2000)) FROM r`, i))
		require.NoError(t, err)
	}

	require.Greater(t, pages("page_count"), before+400)
	for i := range 20 {
		_, err := pool.Exec(fmt.Sprintf("DROP TABLE more%d", i))
		require.NoError(t, err)
	}
	_, err = pool.Exec("PRAGMA incremental_vacuum")
	require.NoError(t, err)
	require.Less(t, pages("page_count"), before+10)

	var result string
	require.NoError(t, pool.QueryRow("PRAGMA integrity_check").Scan(&result))
	require.Equal(t, "ok", result)
}

func TestNewFile_RefusesASchemaItCannotHold(t *testing.T) {
	t.Parallel()
	for text, says := range map[string]string{
		"-- comment\n\nCREATE VIEW v AS SELECT 1;\n":                                                                 "no table and no index",
		"-- comment\n\nCREATE TABLE t (\n" + strings.Repeat("-- x\n", 1000) + "  n INTEGER);\n":                      "more than a page has room for",
		"-- comment\n\n" + strings.Repeat("CREATE TABLE t (n INTEGER);\n\n", 1000) + "CREATE TABLE t (n INTEGER);\n": "pages",
	} {
		objects, err := schemaObjects(text)
		if err == nil {
			err = writeNewFile(io.Discard, objects, 1)
		}
		require.ErrorContains(t, err, says)
	}
}

func BenchmarkNewFile(b *testing.B) {
	for b.Loop() {
		objects, err := schemaObjects(schema)
		require.NoError(b, err)
		err = writeNewFile(io.Discard, objects, 1)
		require.NoError(b, err)
	}
}
