package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
)

// checked runs berth check, which must end with the code, and gives what it found.
func checked(t *testing.T, code int, args ...string) (report app.CheckReport) {
	t.Helper()
	r := call(t.Context(), "", append([]string{"check", "--json"}, args...)...)
	require.Equal(t, code, r.code, r.err+r.out)
	return decoded[app.CheckReport](t, r.out)
}

// used makes a data directory with something of most kinds in it, of which the server is closed. It has a pod that runs, one that is stopped,
// a volume, jobs that wait and jobs that ended.
func used(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	s := serving(t, app.Config{Data: dir, Endpoints: []app.Endpoint{{Name: "own"}}}, "echo")
	s.done("pods", "create", "--name", "runs", "--image", "i", "--gpu", "NVIDIA A40", "--wait")
	stops := s.document("pods", "create", "--name", "stops", "--image", "i", "--cpu", "cpu3g", "--vcpus", "2", "--wait")["id"].(string)
	s.done("pods", "stop", stops)
	s.done("volumes", "create", "--name", "v", "--size", "10", "--data-center", "EU-RO-1")
	s.done("jobs", "run", "echo", "--input", `{"a":1}`, "--wait")
	for range 3 {
		s.done("jobs", "run", "own", "--input", `{"a":1}`)
	}
	require.NoError(t, s.server.Close())
	return dir
}

// damages are what the test plants, each of which is found as that kind.
var damages = []struct {
	kind     string
	mendable bool
	plant    []string
}{
	{"release of an endpoint that is gone", true, []string{`INSERT INTO releases (id, endpoint_id, version, created_by, fields, old_values, new_values) VALUES ('r1', 'gone', 1, '', '[]', '[]', '[]')`}},
	{"script of an endpoint that is gone", true, []string{`INSERT INTO scripts VALUES ('gone', '{}', '{}')`}},
	{"endpoint without a count of jobs", true, []string{`DELETE FROM job_counts WHERE endpoint_id = (SELECT id FROM endpoints WHERE name = 'echo')`}},
	{"key of a worker that is gone", true, []string{`INSERT INTO keys (id, user_id, name, scopes, hash, worker_id, exempt) VALUES ('k1', 'u', 'n', '[]', x'00', 'gone', 0)`}},
	{"key of a user that there is not", true, []string{`INSERT INTO keys (id, user_id, name, scopes, hash, worker_id, exempt) VALUES ('k2', 'nobody', 'n', '[]', zeroblob(32), '', 0)`}},
	{"job that has not ended and has an end", true, []string{`UPDATE jobs SET ended_at = 1 WHERE seq = (SELECT min(seq) FROM jobs WHERE status = 'IN_QUEUE')`}},
	{"job that has ended and is kept for ever", true, []string{`UPDATE jobs SET expires_at = NULL WHERE status = 'COMPLETED'`}},
	{"job that has not ended of an endpoint that is gone", true, []string{`UPDATE jobs SET endpoint_id = 'gone' WHERE seq = (SELECT max(seq) FROM jobs WHERE status = 'IN_QUEUE')`}},
	{"job in progress that nobody holds", true, []string{`UPDATE jobs SET status = 'IN_PROGRESS' WHERE seq = (SELECT seq FROM jobs WHERE status = 'IN_QUEUE' ORDER BY seq LIMIT 1 OFFSET 1)`}},
	{"job without its input", false, []string{`DELETE FROM job_inputs WHERE seq = (SELECT min(seq) FROM jobs WHERE status = 'IN_QUEUE')`}},
	{"chunk of a job that is gone", true, []string{`INSERT INTO chunks (job_seq, n) VALUES (1, 1)`}},
	{"count of jobs that is wrong", true, []string{`UPDATE job_counts SET in_queue = in_queue + 5`}},
	{"claim of a host that nobody holds", true, []string{`INSERT INTO claims SELECT 'gone', 0, 0, host_id, NULL, 0, 0, 0 FROM claims LIMIT 1`}},
	{"claim of a pod that does not run", true, []string{`INSERT INTO claims SELECT p.id, 0, 0, c.host_id, NULL, 0, 0, 0 FROM pods p, claims c WHERE p.name = 'stops' LIMIT 1`}},
	{"sum of the claims of a host that is wrong", true, []string{`UPDATE claim_sums SET gpus = gpus + 1`}},
	{"open charge of what does not run", true, []string{`INSERT INTO charges (user_id, item, resource_id, holder_id, rate, began_at) VALUES ('u', 'podCpu', 'gone', 'gone', 1, 1)`}},
	{"sum of charges that no charge makes", false, []string{`INSERT INTO charge_sums (user_id, item, day, resource_id, amount, ran) VALUES ('u', 'POD_CPU', 86400001, 'p', 1, 1)`}},
	{"log of a pod or worker that is gone", true, []string{`INSERT INTO system_lines VALUES ('gone', 1, 'text')`}},
	{"pod that names a network volume that is gone", false, []string{`UPDATE pods SET network_volume_id = 'gone', network_path = '/v' WHERE name = 'stops'`}},
	{"damaged file", false, []string{
		`PRAGMA writable_schema = 1`,
		`UPDATE sqlite_schema SET sql = replace(sql, 'size_gb        INTEGER NOT NULL', 'size_gb        INTEGER') WHERE name = 'volumes'`,
		`PRAGMA writable_schema = RESET`,
		`UPDATE volumes SET size_gb = NULL`,
		`PRAGMA writable_schema = 1`,
		`UPDATE sqlite_schema SET sql = replace(sql, 'size_gb        INTEGER', 'size_gb        INTEGER NOT NULL') WHERE name = 'volumes'`,
	}},
	{"damaged file", true, []string{ // an index lacks a row
		`PRAGMA writable_schema = 1`,
		`CREATE TABLE aside (name TEXT, sql TEXT)`,
		`INSERT INTO aside SELECT name, sql FROM sqlite_schema WHERE name = 'volumes_of_user'`,
		`UPDATE sqlite_schema SET sql = 'CREATE INDEX volumes_of_user ON volumes (user_id, created_at) WHERE name = ''other''' WHERE name = 'volumes_of_user'`,
		`PRAGMA writable_schema = RESET`,
		`INSERT INTO volumes (id, user_id, name, size_gb, data_center_id, type) VALUES ('v1', 'u', 'n', 1, 'EU-RO-1', 'STANDARD')`,
		`PRAGMA writable_schema = 1`,
		`UPDATE sqlite_schema SET sql = (SELECT sql FROM aside WHERE name = 'volumes_of_user') WHERE name = 'volumes_of_user'`,
		`PRAGMA writable_schema = RESET`,
		`DROP TABLE aside`,
	}},
}

func TestCheck_FindsEachDamageAndRepairsWhatItSaysItCan(t *testing.T) {
	t.Parallel()
	sound := used(t)
	require.Empty(t, checked(t, 0, "--data", sound).Flaws)

	for _, d := range damages {
		t.Run(fmt.Sprint(d.kind, d.mendable), func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			require.NoError(t, os.CopyFS(dir, os.DirFS(sound)))
			changed(t, filepath.Join(dir, "berth.db"), d.plant...)

			before := content(t, dir)
			report := checked(t, exitFailed, "--data", dir)
			require.NotEmpty(t, report.Flaws)
			require.True(t, slices.ContainsFunc(report.Flaws, func(f app.Flaw) bool { return f.Kind == d.kind }), report.Flaws)
			for _, f := range report.Flaws {
				require.Contains(t, []string{d.kind, "count of jobs that is wrong"}, f.Kind) // which a job that is no more may leave
				require.Equal(t, d.mendable || d.kind == "damaged file", f.Mendable)
				require.False(t, f.Mended)
				require.NotEmpty(t, f.Does)
			}
			require.Equal(t, before, content(t, dir), "a look changes nothing")

			code := 0
			if !d.mendable {
				code = exitFailed
			}
			report = checked(t, code, "--data", dir, "--repair")
			require.NotEmpty(t, report.Flaws)
			for _, f := range report.Flaws {
				require.Equal(t, d.mendable, f.Mended)
			}
			require.Equal(t, d.mendable, len(checked(t, code, "--data", dir).Flaws) == 0)
			if d.mendable {
				s := serving(t, app.Config{Data: dir, Endpoints: []app.Endpoint{{Name: "own"}}})
				require.NoError(t, s.server.Close())
			}
		})
	}
}

func TestCheck_RepairsAllAtOnce(t *testing.T) {
	t.Parallel()
	dir := used(t)
	var kinds []string
	for _, d := range damages {
		if d.mendable {
			changed(t, filepath.Join(dir, "berth.db"), d.plant...)
			kinds = append(kinds, d.kind)
		}
	}
	require.GreaterOrEqual(t, len(kinds), 12)

	report := checked(t, 0, "--data", dir, "--repair")
	for _, kind := range kinds {
		require.True(t, slices.ContainsFunc(report.Flaws, func(f app.Flaw) bool { return f.Kind == kind && f.Mended }), kind)
	}
	require.Empty(t, checked(t, 0, "--data", dir).Flaws)
}

func TestCheck_BesideAServerThatIsBusyFindsNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	s := serving(t, app.Config{Data: dir}, "echo")
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() {
		defer close(done)
		for ctx.Err() == nil {
			s.run("jobs", "run", "echo", "--input", `{}`, "--wait")
		}
	}()
	for range 5 {
		require.Empty(t, checked(t, 0, "--data", dir).Flaws)
	}
	stop()
	<-done
	refused(t, "stop it first", "check", "--data", dir, "--repair")
}

func TestCheck_SaysWhatItCannotRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	refused(t, "it is no data directory of berth", "check", "--data", dir)
	refused(t, "pg_amcheck", "check", "--store", "postgres://u@h/d")
	require.NoError(t, serving(t, app.Config{Data: dir}).server.Close())

	file := filepath.Join(dir, "berth.db")
	whole, err := os.ReadFile(file)
	require.NoError(t, err)
	changed(t, file, "PRAGMA user_version = 3")
	refused(t, "start a server of this version on it once", "check", "--data", dir)
	require.NoError(t, os.WriteFile(file, whole[:len(whole)/2], 0o600))
	refused(t, "damaged", "check", "--data", dir)
}

// content gives the database of a data directory.
func content(t *testing.T, dir string) []byte {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "berth.db"))
	require.NoError(t, err)
	return text
}
