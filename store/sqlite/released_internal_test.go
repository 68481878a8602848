package sqlite

import (
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// releasedDir has the text of a database of each version of the schema that was released: <version>.sql, written by make fixture
// with the program of that release and never changed again.
const releasedDir = "testdata/released"

// load makes a database of the text, as another program would, and gives its path.
func load(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "berth.db")
	pool, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	_, err = pool.Exec(text)
	require.NoError(t, err)
	require.NoError(t, pool.Close())
	return path
}

// dump gives the text of a database.
func dump(t *testing.T, path string) string {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	defer func() { require.NoError(t, pool.Close()) }()

	column := func(query string) (all []string) {
		rows, err := pool.Query(query)
		require.NoError(t, err)
		defer func() { require.NoError(t, rows.Close()) }()
		for rows.Next() {
			var one string
			require.NoError(t, rows.Scan(&one))
			all = append(all, one)
		}
		require.NoError(t, rows.Err())

		return all
	}

	text := "-- A database that was released, with rows of every kind. Never change it.\n\nPRAGMA auto_vacuum = INCREMENTAL;\nPRAGMA journal_mode = WAL;\nPRAGMA user_version = " +
		column("PRAGMA user_version")[0] + ";\n\n"
	for _, statement := range column("SELECT sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY type DESC, name") {
		text += statement + ";\n\n"
	}

	for _, table := range column("SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name") {
		names := column(fmt.Sprintf("SELECT name FROM pragma_table_info('%s') ORDER BY cid", table))
		values := "quote(" + strings.Join(names, ") || ', ' || quote(") + ")"
		for _, row := range column(fmt.Sprintf("SELECT %s FROM %s ORDER BY 1", values, table)) {
			text += fmt.Sprintf("INSERT INTO %s (%s)\nVALUES (%s);\n", table, strings.Join(names, ", "), row)
		}
	}

	return text
}

// releases gives the text of each released version.
func releases(t *testing.T) map[int]string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(releasedDir, "*.sql"))
	require.NoError(t, err)

	all := map[int]string{}
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var version int
		_, err = fmt.Sscanf(filepath.Base(file), "%d.sql", &version)
		require.NoError(t, err)
		all[version] = string(text)
	}

	return all
}

// upgraded gives what the rows of a release have become, where migrations changed them on purpose.
func upgraded(r rows) rows {
	r.Pods = slices.Clone(r.Pods)
	for i := range r.Pods {
		if p := &r.Pods[i]; p.Status == compute.PodTerminated {
			p.Env, p.Args = map[string]string{}, ""
		}
	}

	r.Endpoints = slices.Clone(r.Endpoints)
	for i := range r.Endpoints {
		if r.Endpoints[i].Compliance == nil {
			r.Endpoints[i].Compliance = []string{}
		}
	}

	r.Templates = slices.Clone(r.Templates)
	for i := range r.Templates {
		if r.Templates[i].PortNames == nil {
			r.Templates[i].PortNames = map[string]string{}
		}
	}

	r.Webhooks = slices.Clone(r.Webhooks)
	for i := range r.Webhooks {
		r.Webhooks[i].Size = len(r.Webhooks[i].Body)
	}
	return r
}

func TestReleased_FixtureOfThisRelease(t *testing.T) {
	t.Parallel()
	if os.Getenv("BERTH_GOLDEN") != "release" {
		t.Skip("SKIPPED: make fixture writes it, once for each release that has a schema of its own")
	}
	path := filepath.Join(t.TempDir(), "berth.db")
	clock := compute.NewFrozenClock(released)
	d, err := Open(t.Context(), path, clock)
	require.NoError(t, err)

	releasedRows(len(migrations())).put(t, d, clock)
	require.NoError(t, d.Close())
	text := dump(t, path)
	if before, known := releases(t)[len(migrations())]; known {
		require.Equal(t, before, text, "this version was released: what is new belongs to the next one")
	}
	require.NoError(t, os.MkdirAll(releasedDir, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(releasedDir, fmt.Sprintf("%d.sql", len(migrations()))), []byte(text), 0o644))
}

func TestReleased_DatabasesAreUpgradedAndLoseNothing(t *testing.T) {
	t.Parallel()
	require.Contains(t, releases(t), 1)
	schema := describe(t, migrated(t, migrations()))
	for version, text := range releases(t) {
		t.Run(fmt.Sprint("version ", version), func(t *testing.T) {
			t.Parallel()
			path := load(t, text)
			everyTableHasRows(t, path)

			want := upgraded(releasedRows(version))
			for range 2 { // the second time it is of this version
				s, err := Open(t.Context(), path, compute.NewFrozenClock(at(20)))
				require.NoError(t, err)
				want.same(t, readRows(t, s, want))
				require.NoError(t, s.Close())
				require.Equal(t, schema, describe(t, path), "it is as a new one")
				want = read(want)
			}

			s, err := Open(t.Context(), path, compute.NewFrozenClock(at(20)))
			require.NoError(t, err)
			require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
				return tx.InsertJob(compute.Job{ID: "01958fb9-3c04-7000-9abc-000000000006", EndpointID: releasedQueue, Status: compute.JobInQueue}, nil)
			}), "and goes on")
			require.NoError(t, s.Close())
		})
	}
}

// read gives what the rows are once readRows has read them.
func read(r rows) rows {
	jobs := r.Jobs
	r.Jobs = nil
	for _, j := range jobs {
		j.Chunks, j.FinalReads = nil, j.FinalReads+1
		r.Jobs = append(r.Jobs, j)
	}
	return r
}

func everyTableHasRows(t *testing.T, path string) {
	t.Helper()
	pool, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	defer func() { require.NoError(t, pool.Close()) }()
	rows, err := pool.Query("SELECT name FROM sqlite_schema WHERE type = 'table'")
	require.NoError(t, err)

	var tables []string
	for rows.Next() {
		var table string
		require.NoError(t, rows.Scan(&table))
		tables = append(tables, table)
	}
	require.NoError(t, rows.Close())

	require.NotEmpty(t, tables)
	for _, table := range tables {
		var n int
		require.NoError(t, pool.QueryRow("SELECT count(*) FROM "+table).Scan(&n))
		require.NotZero(t, n, "the fixture has no row of %s", table)
	}
}
