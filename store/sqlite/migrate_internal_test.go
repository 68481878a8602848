package sqlite

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"modernc.org/sqlite"

	"database/sql/driver"

	"github.com/berthdev/berth/impl/compute"
)

// invented gives migrations that come after those that there are. The first adds, the second makes the table anew that others
// hang on, as SQLite's ALTER TABLE cannot change a column. It writes so much that SQLite has no room for it in memory.
func invented(t testing.TB) []migration {
	t.Helper()
	add := `ALTER TABLE pods ADD COLUMN note TEXT NOT NULL DEFAULT 'none';
CREATE TABLE notes (pod_id TEXT PRIMARY KEY NOT NULL, text TEXT NOT NULL) STRICT;
INSERT INTO notes SELECT id, name FROM pods;
UPDATE pods SET note = 'seen' WHERE gone = 0;`

	objects, err := schemaObjects(schema)
	require.NoError(t, err)
	var table string

	var indexes []string
	for _, o := range objects {
		switch {
		case o.name == "jobs":
			table = strings.Replace(o.sql, "CREATE TABLE jobs", "CREATE TABLE new_jobs", 1)
		case o.table == "jobs" && o.sql != "":
			indexes = append(indexes, o.sql)
		}
	}

	anew := "PRAGMA cache_size = 5;\nCREATE TABLE ballast (body BLOB) STRICT;\nINSERT INTO ballast SELECT zeroblob(500000) FROM jobs;\nDROP TABLE ballast;\n" +
		table + ";\nINSERT INTO new_jobs SELECT * FROM jobs;\nDROP TABLE jobs;\nALTER TABLE new_jobs RENAME TO jobs;\n" + strings.Join(indexes, ";\n") + ";"
	return []migration{{"invented_1.sql", add}, {"invented_2.sql", anew}}
}

// isThere opens the database as a program with these migrations would, and holds its rows against those of the first release.
func isThere(t *testing.T, path string, all []migration) {
	t.Helper()
	s, err := open(t.Context(), path, compute.NewFrozenClock(at(20)), full, all)
	require.NoError(t, err)
	want := upgraded(releasedRows(1))

	found := readRows(t, s, want)
	for i := range found.Jobs {
		found.Jobs[i].FinalReads = want.Jobs[i].FinalReads // it counts the readings of these tests
		if len(found.Jobs[i].Chunks) == 0 {
			found.Jobs[i].Chunks = want.Jobs[i].Chunks // they are read once
		}
	}

	want.same(t, found)
	require.NoError(t, s.Close())
}

func TestMigrate_KeepsEveryRow(t *testing.T) {
	t.Parallel()
	known, next := migrations(), invented(t)
	steps := [][]migration{
		known,
		slices.Concat(known, next[:1]),
		slices.Concat(known, next),
	}

	last := steps[len(steps)-1]
	text := releases(t)[1]
	path := load(t, text)
	for _, all := range steps {
		for range 2 {
			isThere(t, path, all)
		}
	}

	stepwise := describe(t, path)
	require.Contains(t, stepwise, fmt.Sprint("PRAGMA user_version: ", len(last)))
	require.Contains(t, stepwise, "PRAGMA integrity_check: ok")

	path = load(t, text)
	isThere(t, path, last)
	require.Equal(t, stepwise, describe(t, path), "at once it is the same")

	_, err := open(t.Context(), path, compute.SystemClock{}, full, known)
	require.ErrorContains(t, err, "a newer berth wrote it")
}

func TestMigrate_RefusesWhatNoReleaseMade(t *testing.T) {
	t.Parallel()
	for change, says := range map[string]string{
		"ALTER TABLE pods DROP COLUMN reason":              "table pods has no such column reason",
		"ALTER TABLE pods ADD COLUMN lease_until INTEGER":  "table pods has a column lease_until",
		"ALTER TABLE keys RENAME COLUMN exempt TO excused": "table keys has no such column exempt",
		"DROP TABLE charges":                               "it has no table charges",
		"DROP INDEX pods_of_user":                          "it has no index pods_of_user",
		"PRAGMA user_version = 2":                          "is version 2, and is another one",
	} {
		t.Run(says, func(t *testing.T) {
			t.Parallel()
			path := load(t, releases(t)[1]+change)
			before := dump(t, path)
			_, err := open(t.Context(), path, compute.SystemClock{}, full, migrations())
			require.ErrorContains(t, err, says)
			require.ErrorContains(t, err, noUpgrade)
			require.Equal(t, before, dump(t, path))
		})
	}

	path := load(t, releases(t)[1]+"CREATE TABLE mine (a INTEGER); CREATE INDEX pods_by_name ON pods (name);")
	s, err := open(t.Context(), path, compute.SystemClock{}, full, migrations())
	require.NoError(t, err, "what an operator adds does no harm")
	require.NoError(t, s.Close())
}

func TestMigrate_FailureLeavesTheDatabaseAsItWas(t *testing.T) {
	t.Parallel()
	known, next := migrations(), invented(t)
	for name, broken := range map[string]migration{
		"a statement that makes no sense":   {"broken.sql", "UPDATE pods SET name = 'changed'; DROP TABLE keys; UPDATE nothing SET x = 1;"},
		"a row that cannot be":              {"broken.sql", "DELETE FROM volumes; INSERT INTO keys SELECT * FROM keys;"},
		"a row that hangs on one not there": {"migrate", "CREATE TABLE parts (job INTEGER REFERENCES jobs (seq)) STRICT; INSERT INTO parts VALUES (1);"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := load(t, releases(t)[1])
			isThere(t, path, known)
			before := dump(t, path)
			_, err := open(t.Context(), path, compute.SystemClock{}, full, slices.Concat(known, next, []migration{broken}))
			require.ErrorContains(t, err, "migrate: ")
			require.ErrorContains(t, err, broken.name)
			require.Equal(t, before, dump(t, path))

			isThere(t, path, known)
			isThere(t, path, slices.Concat(known, next))
		})
	}
}

// A process of its own is killed after each statement of the migrations.
const (
	crashPath = "BERTH_TEST_CRASH_PATH"
	crashAt   = "BERTH_TEST_CRASH_AT"
)

// crashing puts a call of crash after each statement and gives how many there are.
func crashing(all []migration) (_ []migration, calls int) {
	all = slices.Clone(all)
	for i := range all {
		var text strings.Builder
		for line := range strings.Lines(all[i].text) {
			text.WriteString(line)
			if strings.HasSuffix(strings.TrimRight(line, "\n"), ";") {
				fmt.Fprintf(&text, "\nSELECT crash(%d);\n", calls)
				calls++
			}
		}
		all[i].text = text.String()
	}

	return all, calls
}

func TestMigrate_ProcessThatCrashes(t *testing.T) {
	path := os.Getenv(crashPath)
	if path == "" {
		t.Skip("SKIPPED: it is run by TestMigrate_CrashLeavesTheDatabaseAsItWas")
	}
	last, err := strconv.ParseInt(os.Getenv(crashAt), 10, 64)
	require.NoError(t, err)

	sqlite.MustRegisterScalarFunction("crash", 1, func(_ *sqlite.FunctionContext, args []driver.Value) (driver.Value, error) {
		if args[0] == last {
			self, _ := os.FindProcess(os.Getpid())
			_ = self.Kill()
			select {}
		}
		return nil, nil
	})

	next, _ := crashing(invented(t))
	_, err = open(t.Context(), path, compute.SystemClock{}, full, slices.Concat(migrations(), next))
	require.NoError(t, err)
	os.Exit(0) // without closing
}

func TestMigrate_CrashLeavesTheDatabaseAsItWas(t *testing.T) {
	t.Parallel()
	known := migrations()
	next, calls := crashing(invented(t))
	require.Greater(t, calls, 10)
	require.NotEmpty(t, next)

	template := load(t, releases(t)[1])
	isThere(t, template, known)
	content, err := os.ReadFile(template)
	require.NoError(t, err)

	for at := range calls + 1 { // at the last it lives
		path := filepath.Join(t.TempDir(), "berth.db")
		require.NoError(t, os.WriteFile(path, content, 0o600))
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^TestMigrate_ProcessThatCrashes$")
		cmd.Env = append(os.Environ(), crashPath+"="+path, crashAt+"="+strconv.Itoa(at))

		out, err := cmd.CombinedOutput()
		if at == calls {
			require.NoError(t, err, string(out))
			isThere(t, path, slices.Concat(known, invented(t)))
			continue
		}

		require.Error(t, err)
		require.Equal(t, -1, cmd.ProcessState.ExitCode(), string(out)) // killed
		isThere(t, path, known)
		isThere(t, path, slices.Concat(known, invented(t)))
	}
}
