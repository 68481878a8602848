//go:build unix

package transfer_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/pgtest"
	"github.com/berthdev/berth/store/postgres"
	"github.com/berthdev/berth/store/sqlite"
	"github.com/berthdev/berth/store/transfer"
)

var cluster *pgtest.Cluster

func TestMain(m *testing.M) {
	var err error
	cluster, err = pgtest.Start(context.Background(), "fsync=off")
	switch {
	case errors.Is(err, pgtest.ErrMissing):
		fmt.Println("SKIPPED: store/transfer:", err)
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

// schema gives the URL of an empty database.
func schema(t *testing.T) string {
	t.Helper()
	url, err := cluster.Schema(t.Context())
	require.NoError(t, err)
	return url
}

// onSchema runs statements in a database.
func onSchema(t *testing.T, url string, statements ...string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	for _, s := range statements {
		_, err = c.Exec(t.Context(), s)
		require.NoError(t, err, s)
	}
	require.NoError(t, c.Close(t.Context()))
}

// texts are hard ones: what PostgreSQL's text cannot hold, what marks that, and what quotes and separates elsewhere.
var texts = []string{"", "plain", "a\x00b", "\xff\xfe", "\U0010FFFF", "\U0010FFFF--00", "é\n\t\\N\"',;", "NULL", strings.Repeat("long ", 3000)}

// rowsOfEach is how many rows each table of filled has.
const rowsOfEach = 40

// filled makes a SQLite database with rows in every table that the schema has, and values of every kind in every column. It writes them by
// itself, and not as a Target does.
func filled(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "berth.db")
	s, err := sqlite.Open(t.Context(), path, compute.SystemClock{})
	require.NoError(t, err)
	require.NoError(t, s.Close())
	source, err := sqlite.OpenSource(t.Context(), path)
	require.NoError(t, err)
	require.NoError(t, source.Close())

	db := open(t, path)
	_, err = db.Exec("PRAGMA foreign_keys = OFF; BEGIN") // the order of the tables is that of their names
	require.NoError(t, err)
	random := rand.New(rand.NewPCG(1, 2))
	for _, table := range source.Tables() {
		n := rowsOfEach
		if slices.Contains([]string{"clock", "seeds", "states"}, table.Name) {
			n = 1
		}
		for i := range n {
			row := make([]any, len(table.Columns))
			for j, c := range table.Columns {
				row[j] = value(random, table, c, i)
			}
			_, err := db.Exec(fmt.Sprintf(`INSERT INTO "%s" (%s) VALUES (?%s)`, table.Name, table.Names(), strings.Repeat(", ?", len(row)-1)), row...)
			require.NoError(t, err, table.Name)
		}
	}

	_, err = db.Exec("COMMIT")
	require.NoError(t, err)
	return path
}

// value is one of a column in row i, which no other row has where it must be unique.
func value(random *rand.Rand, t transfer.Table, c transfer.Column, i int) any {
	if c.Null && random.IntN(3) == 0 {
		return nil
	}
	switch c.Kind {
	case transfer.Integer:
		switch {
		case slices.Contains(t.Key, c.Name), c.Name == "version", c.Name == "network_address":
			return int64(i + 1)
		case random.IntN(4) == 0:
			return int64(random.Uint64())
		}
		return random.Int64N(2)
	case transfer.Real:
		return random.NormFloat64() * 1e10
	case transfer.Text:
		return fmt.Sprint(i) + texts[i%len(texts)]
	default:
		if i == 0 {
			return bytes.Repeat([]byte{0, 1, 0xff}, 1<<20) // 3 MB
		}
		return []byte(texts[random.IntN(len(texts))])
	}
}

func open(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

// database is what Run works on.
type database interface{ Close() error }

func closed(t *testing.T, all ...database) {
	t.Helper()
	for _, one := range all {
		require.NoError(t, one.Close())
	}
}

// toPostgres copies a file into a database of the cluster.
func toPostgres(t *testing.T, path, url string) []transfer.Copied {
	t.Helper()
	from, err := sqlite.OpenSource(t.Context(), path)
	require.NoError(t, err)
	to, err := postgres.OpenTarget(t.Context(), url)
	require.NoError(t, err)
	copied, err := transfer.Run(t.Context(), from, to, func(string, int64) {})
	require.NoError(t, err)
	closed(t, from, to)
	return copied
}

// toFile copies a database of the cluster into a file.
func toFile(t *testing.T, url, path string) []transfer.Copied {
	t.Helper()
	from, err := postgres.OpenSource(t.Context(), url)
	require.NoError(t, err)
	to, err := sqlite.NewTarget(t.Context(), path)
	require.NoError(t, err)
	copied, err := transfer.Run(t.Context(), from, to, nil)
	require.NoError(t, err)
	closed(t, from, to)
	return copied
}

func TestRun_CopiesEverythingThereAndBack(t *testing.T) {
	t.Parallel()
	path, url := filled(t), schema(t)
	there := toPostgres(t, path, url)
	for _, table := range there {
		require.NotZero(t, table.Rows, "%s has no rows: fill it in this test", table.Table)
	}

	copied := filepath.Join(t.TempDir(), "copy.db")
	require.Equal(t, there, toFile(t, url, copied), "the same tables, numbers and checksums")
	_, err := os.Stat(copied + ".unfinished")
	require.ErrorIs(t, err, os.ErrNotExist)

	// Not by the checksums, but by SQLite itself.
	db := open(t, path)
	_, err = db.Exec("ATTACH ? AS copy", copied)
	require.NoError(t, err)
	for _, table := range there {
		for _, query := range []string{"SELECT * FROM main.%s EXCEPT SELECT * FROM copy.%s", "SELECT * FROM copy.%s EXCEPT SELECT * FROM main.%s"} {
			var differ int
			require.NoError(t, db.QueryRow("SELECT count(*) FROM ("+fmt.Sprintf(query, table.Table, table.Table)+")").Scan(&differ))
			require.Zero(t, differ, table.Table)
		}
	}

	var schemas int
	require.NoError(t, db.QueryRow("SELECT count(DISTINCT sql) FROM (SELECT group_concat(sql) sql FROM main.sqlite_schema UNION ALL SELECT group_concat(sql) FROM copy.sqlite_schema)").Scan(&schemas))
	require.Equal(t, 1, schemas)
	var check string
	require.NoError(t, open(t, copied).QueryRow("PRAGMA integrity_check").Scan(&check))
	require.Equal(t, "ok", check)
}

// A server that opens the copy goes on numbering after what came.
func TestRun_NewRowsAreNumberedAfterThoseThatCame(t *testing.T) {
	t.Parallel()
	url := schema(t)
	toPostgres(t, filled(t), url)
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	var seq int64
	require.NoError(t, c.QueryRow(t.Context(), "INSERT INTO volumes (id, user_id, name, size_gb, data_center_id, type) VALUES ('new', '', '', 1, '', '') RETURNING seq").Scan(&seq))
	require.EqualValues(t, rowsOfEach+1, seq)
}

func TestTarget_RefusesOneThatIsNotEmpty(t *testing.T) {
	t.Parallel()
	url, path := schema(t), filled(t)
	to, err := postgres.OpenTarget(t.Context(), url)
	require.NoError(t, err)
	closed(t, to)
	onSchema(t, url, "INSERT INTO ssh_keys VALUES ('u', '[]')", "INSERT INTO clock VALUES (1, 0)")
	_, err = postgres.OpenTarget(t.Context(), url)
	full, is := errors.AsType[*transfer.NotEmpty](err)
	require.True(t, is, err)
	require.Equal(t, []string{"clock", "ssh_keys"}, full.Tables)

	_, err = sqlite.NewTarget(t.Context(), path)
	full, is = errors.AsType[*transfer.NotEmpty](err)
	require.True(t, is, err)
	require.Contains(t, full.Tables, "pods")
	require.ErrorContains(t, err, "move it away")

	_, err = sqlite.NewTarget(t.Context(), os.DevNull)
	require.ErrorContains(t, err, "there is a file already")
	log := filepath.Join(t.TempDir(), "berth.db")
	require.NoError(t, os.WriteFile(log+"-wal", nil, 0o600))
	_, err = sqlite.NewTarget(t.Context(), log)
	require.ErrorContains(t, err, "berth.db-wal is there")
}

func TestSource_RefusesOneOfAnotherVersion(t *testing.T) {
	t.Parallel()
	path, url := filled(t), schema(t)
	closedTarget, err := postgres.OpenTarget(t.Context(), url)
	require.NoError(t, err)
	closed(t, closedTarget)

	for by, says := range map[int]string{-1: "an older berth wrote it", 1: "a newer berth wrote it"} {
		db := open(t, path)
		var version int
		require.NoError(t, db.QueryRow("PRAGMA user_version").Scan(&version))
		_, err = db.Exec(fmt.Sprintf("PRAGMA user_version = %d", version+by))
		require.NoError(t, err)
		_, err = sqlite.OpenSource(t.Context(), path)
		require.ErrorContains(t, err, says)
		var after int
		require.NoError(t, db.QueryRow("PRAGMA user_version").Scan(&after))
		require.Equal(t, version+by, after)
		_, err = db.Exec(fmt.Sprintf("PRAGMA user_version = %d", version))
		require.NoError(t, err)

		onSchema(t, url, fmt.Sprintf("UPDATE berth_schema SET version = version + %d", by))
		_, err = postgres.OpenSource(t.Context(), url)
		require.ErrorContains(t, err, says)
		onSchema(t, url, fmt.Sprintf("UPDATE berth_schema SET version = version - %d", by))
	}

	empty := schema(t)
	_, err = postgres.OpenSource(t.Context(), empty)
	require.ErrorContains(t, err, "it has no table berth_schema")
	c, err := pgx.Connect(t.Context(), empty)
	require.NoError(t, err)
	var tables int
	require.NoError(t, c.QueryRow(t.Context(), "SELECT count(*) FROM pg_tables WHERE schemaname = current_schema()").Scan(&tables))
	require.Zero(t, tables, "a source is not changed")
	require.NoError(t, c.Close(t.Context()))
}

func TestSource_RefusesOneThatAServerUses(t *testing.T) {
	t.Parallel()
	url := schema(t)
	to, err := postgres.OpenTarget(t.Context(), url)
	require.NoError(t, err)
	closed(t, to)

	for table, insert := range map[string]string{
		"owners":   "INSERT INTO owners VALUES (0, 'r1', 'http://10.0.0.7:8765', 1, 1 << 42)",
		"replicas": "INSERT INTO replicas VALUES ('r1', 'http://10.0.0.7:8765', '{}', 1 << 42)",
	} {
		onSchema(t, url, strings.ReplaceAll(insert, "1 << 42", "1::bigint << 42"))
		_, err = postgres.OpenSource(t.Context(), url)
		require.ErrorContains(t, err, "a server uses it, replica r1 at http://10.0.0.7:8765")
		_, err = postgres.OpenTarget(t.Context(), url)
		require.ErrorContains(t, err, "a server uses it")
		onSchema(t, url, "UPDATE "+table+" SET until = 1")
	}

	from, err := postgres.OpenSource(t.Context(), url)
	require.NoError(t, err, "leases that are over are nobody's")
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	_, err = c.Exec(t.Context(), "SET lock_timeout = 100; INSERT INTO owners VALUES (1, 'r2', '', 1, 1)")
	require.ErrorContains(t, err, "lock timeout", "no server starts meanwhile")
	closed(t, from)
	_, err = c.Exec(t.Context(), "INSERT INTO owners VALUES (1, 'r2', '', 1, 1)")
	require.NoError(t, err)
	require.NoError(t, c.Close(t.Context()))
}

func TestSame_KnowsADatabaseByAnyURL(t *testing.T) {
	t.Parallel()
	url := schema(t)
	same, err := postgres.Same(t.Context(), url, url+"&application_name=other")
	require.NoError(t, err)
	require.True(t, same)
	same, err = postgres.Same(t.Context(), url, schema(t))
	require.NoError(t, err)
	require.False(t, same)
}

func TestRun_NamesTablesThatDiffer(t *testing.T) {
	t.Parallel()
	url, path := schema(t), filled(t)
	to, err := postgres.OpenTarget(t.Context(), url)
	require.NoError(t, err)
	closed(t, to)
	onSchema(t, url, "ALTER TABLE pods DROP COLUMN locked", "ALTER TABLE keys ALTER name DROP NOT NULL", "DROP TABLE builds", "CREATE TABLE more (a text)")

	from, err := sqlite.OpenSource(t.Context(), path)
	require.NoError(t, err)
	to, err = postgres.OpenTarget(t.Context(), url)
	require.NoError(t, err)
	_, err = transfer.Run(t.Context(), from, to, nil)
	for _, says := range []string{
		"the source has a table builds, the target does not", "table pods: the source has a column locked integer, the target does not",
		"table keys: the target has a column name text or NULL", "the target has a table more, the source does not",
	} {
		require.ErrorContains(t, err, says)
	}
	closed(t, from, to)
}

// What is stored otherwise than it was sent is found, and nothing of it stays.
func TestRun_FindsWhatDoesNotComeOver(t *testing.T) {
	t.Parallel()
	path := filled(t)
	for name, spoil := range map[string]string{
		"a value":                  "NEW.text := NEW.text || '.'; RETURN NEW;",
		"a row":                    "IF NEW.position = 7 THEN RETURN NULL; END IF; RETURN NEW;",
		"values of two rows":       "NEW.text := CASE NEW.position WHEN 1 THEN 'two' WHEN 2 THEN 'one' ELSE NEW.text END; RETURN NEW;",
		"a text that is not there": "NEW.text := ''; RETURN NEW;",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			url := schema(t)
			to, err := postgres.OpenTarget(t.Context(), url)
			require.NoError(t, err)
			closed(t, to)
			onSchema(t, url, "CREATE FUNCTION spoil() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN "+spoil+" END $$",
				"CREATE TRIGGER spoil BEFORE INSERT ON system_lines FOR EACH ROW EXECUTE FUNCTION spoil()")

			from, err := sqlite.OpenSource(t.Context(), path)
			require.NoError(t, err)
			to, err = postgres.OpenTarget(t.Context(), url)
			require.NoError(t, err)
			_, err = transfer.Run(t.Context(), from, to, nil)
			require.ErrorContains(t, err, "table system_lines: the target has ")
			closed(t, from, to)
			to, err = postgres.OpenTarget(t.Context(), url)
			require.NoError(t, err, "it is empty")
			closed(t, to)
		})
	}
}
