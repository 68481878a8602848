package sqlite_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// planted runs statements on a file that no server uses.
func planted(t *testing.T, path string, statements ...string) {
	t.Helper()
	db, err := sql.Open("sqlite", "file:"+path)
	require.NoError(t, err)
	db.SetMaxOpenConns(1)
	for _, s := range statements {
		_, err := db.Exec(s)
		require.NoError(t, err, s)
	}
	require.NoError(t, db.Close())
}

// sound makes a database with something of most kinds in it, without a flaw.
func sound(t *testing.T) (path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "berth.db")
	s := openAt(t, path)
	size := compute.HostSize{GPUs: 4, DiskGB: 100}
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		return errors.Join(
			tx.InsertUser(compute.User{Name: "u", Role: compute.RoleMember}),
			tx.InsertKey(compute.Key{ID: "k", UserID: "u"}),
			tx.InsertEndpoint(compute.Endpoint{ID: "e", UserID: "u", Name: "echo"}),
			tx.InsertTemplate(compute.Template{ID: "t", UserID: "u"}),
			tx.InsertWorker(compute.Worker{ID: "w", EndpointID: "e"}),
			tx.InsertPod(compute.Pod{ID: "runs", UserID: "u", Status: compute.PodRunning}),
			tx.InsertPod(compute.Pod{ID: "stops", UserID: "u", Status: compute.PodExited}),
			tx.InsertPod(compute.Pod{ID: "ended", UserID: "u", Status: compute.PodTerminated}),
			tx.InsertClaims(size, compute.Claim{HolderID: "runs", HostID: "h", Devices: []string{"0"}, DiskGB: 5}),
			tx.InsertClaims(size, compute.Claim{HolderID: "stops", HostID: "h", Kept: true, DiskGB: 5}),
			tx.InsertVolume(compute.Volume{ID: "data", UserID: "u", CreatedAt: start}),
			tx.InsertGlobalVolume(compute.GlobalVolume{ID: "models", UserID: "u", CreatedAt: start}),
			tx.InsertClaims(size, compute.Claim{HolderID: "data", HostID: "i", Kept: true}, compute.Claim{HolderID: "models", HostID: "i", Kept: true}),
			tx.InsertClaims(size, compute.Claim{HolderID: "left", HostID: "i", DiskGB: 5}),
			released(tx.ReleaseClaims("left", true)), // the host's sum goes with it, and the volumes hold nothing
			tx.OpenCharge(compute.Charge{UserID: "u", Item: compute.PodCPU, ResourceID: "runs", HolderID: "runs", Rate: 1}),
			tx.BeginSystemLines("runs", "it is up"),
			tx.InsertRuntime(compute.RuntimeAt{Name: "docker", Address: "unix:///here"}),
			tx.InsertJob(compute.Job{ID: "waits", EndpointID: "e", Status: compute.JobInQueue, QueuedAt: start}, nil),
			tx.InsertJob(compute.Job{ID: "held", EndpointID: "e", Status: compute.JobInProgress, WorkerID: "w", TakenAt: start}, nil),
			tx.InsertJob(compute.Job{ID: "over", EndpointID: "e", Status: compute.JobCompleted, EndedAt: start, ExpiresAt: start}, nil),
		)
	}))
	require.NoError(t, s.Close())
	return path
}

// released is for a list of errors.
func released(_ []compute.Claim, err error) error { return err }

// flaws gives what was found, each as its kind, what has it and the rest.
func flaws(c sqlite.Checked) (all []string) {
	for _, f := range c.Flaws {
		all = append(all, fmt.Sprintf("%s: %s, %s", f.Kind, f.ID, f.Detail))
	}
	slices.Sort(all)
	return all
}

func look(t *testing.T, path string) sqlite.Checked {
	t.Helper()
	found, err := sqlite.Check(t.Context(), path, true)
	require.NoError(t, err)
	return found
}

func TestCheck_FindsNothingInASoundDatabaseAndLeavesItAlone(t *testing.T) {
	t.Parallel()
	path := sound(t)
	before := contents(t, filepath.Dir(path))
	found := look(t, path)
	require.Empty(t, flaws(found))
	require.Equal(t, map[string]string{"runs": "RUNNING", "stops": "EXITED"}, found.Pods)
	require.Equal(t, map[string]bool{"w": true}, found.Workers)
	places, err := sqlite.Places(t.Context(), path, true)
	require.NoError(t, err)
	require.Equal(t, []compute.RuntimeAt{{Name: "docker", Address: "unix:///here"}}, places)
	require.Equal(t, before, contents(t, filepath.Dir(path)), "not even an empty log is left")

	s := openAt(t, path)
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		return errors.Join(tx.InsertPod(compute.Pod{ID: "new", UserID: "u", Status: compute.PodRunning}), tx.InsertRuntime(compute.RuntimeAt{Name: "process"}))
	}))
	found, err = sqlite.Check(t.Context(), path, false)
	require.NoError(t, err)
	require.Empty(t, flaws(found))
	require.Equal(t, "RUNNING", found.Pods["new"], "beside a server, what is only in its log is seen")
	places, err = sqlite.Places(t.Context(), path, false)
	require.NoError(t, err)
	require.Len(t, places, 2)

	// As it is after a crash: nobody uses it, and there is a log.
	crash := filepath.Join(t.TempDir(), "berth.db")
	for _, end := range []string{"", "-wal"} {
		text, err := os.ReadFile(path + end)
		require.NoError(t, err)
		require.NoError(t, os.WriteFile(crash+end, text, 0o600))
	}
	require.Equal(t, "RUNNING", look(t, crash).Pods["new"])
}

func TestCheck_WhatIsGoneMattersToWhatLasts(t *testing.T) {
	t.Parallel()
	path := sound(t)
	names := `SET registry_id = 'r', template_id = 'x', cluster_id = 'c', network_volume_id = 'v', network_path = '/v' WHERE id = `
	planted(t, path, `UPDATE pods `+names+`'ended'`, `UPDATE endpoints SET registry_id = 'r', deleted_at = 1`)
	require.Empty(t, flaws(look(t, path)), "nobody uses them any more")

	planted(t, path, `UPDATE pods `+names+`'stops'`, `UPDATE endpoints SET deleted_at = NULL`, `UPDATE templates SET registry_id = 'r'`)
	found := look(t, path)
	require.Equal(t, []string{
		"endpoint that names a registry credential that is gone: e, r",
		"pod that names a cluster that is gone: stops, c",
		"pod that names a network volume that is gone: stops, v",
		"pod that names a registry credential that is gone: stops, r",
		"template that names a registry credential that is gone: t, r",
	}, flaws(found))
	for _, f := range found.Flaws {
		require.False(t, f.Mendable, f.Kind)
		require.NotEmpty(t, f.Does, "it is a person's to mend")
	}

	before, left, err := sqlite.Mend(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, found, before)
	require.Equal(t, found, left)
	require.Equal(t, found, look(t, path))
}

func TestMend_MendsAllThatItCanAtOnce(t *testing.T) {
	t.Parallel()
	path := sound(t)
	planted(t, path,
		`INSERT INTO scripts VALUES ('gone', '{}', '{}')`,
		`INSERT INTO system_lines VALUES ('gone', 1, 'text')`,
		`DELETE FROM job_counts`,
		`UPDATE jobs SET worker_id = '' WHERE id = 'held'`,
		`UPDATE jobs SET ended_at = NULL, expires_at = NULL WHERE id = 'over'`,
		`UPDATE claim_sums SET gpus = 7`,
		`DELETE FROM job_inputs WHERE seq = (SELECT seq FROM jobs WHERE id = 'waits')`)
	says := "job without its input: waits, endpoint e"
	want := []string{
		"endpoint without a count of jobs: e, echo",
		"job in progress that nobody holds: held, endpoint e",
		"job that has ended and is kept for ever: over, COMPLETED",
		says,
		"log of a pod or worker that is gone: gone, ",
		"script of an endpoint that is gone: gone, endpoint gone",
		"sum of the claims of a host that is wrong: h, the sum says 7 GPUs, 0 vCPUs, 0 GB of memory and 10 GB of disk",
	}
	require.Equal(t, want, flaws(look(t, path)))
	require.Equal(t, want, flaws(look(t, path)), "a look mends nothing")

	found, left, err := sqlite.Mend(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, want, flaws(found))
	for _, f := range found.Flaws {
		require.Equal(t, f.Kind != "job without its input", f.Mendable, f.Kind)
	}
	require.Equal(t, []string{says}, flaws(left))
	require.Equal(t, []string{says}, flaws(look(t, path)))
	require.Equal(t, found.Pods, left.Pods)

	s := openAt(t, path)
	require.NoError(t, s.Read(t.Context(), func(tx store.Tx) error {
		counts, err := tx.CountJobs("e")
		require.Equal(t, compute.JobCounts{InQueue: 2}, counts, "that nobody held waits again")
		return err
	}))
}

func TestCheck_ListsNoMoreThanAThousandOfAKind(t *testing.T) {
	t.Parallel()
	path := sound(t)
	planted(t, path, `WITH RECURSIVE n (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 1001) INSERT INTO system_lines SELECT 'gone ' || n, 1, 'text' FROM n`,
		`INSERT INTO scripts VALUES ('gone', '{}', '{}')`)
	require.Len(t, look(t, path).Flaws, 1001)
	_, left, err := sqlite.Mend(t.Context(), path)
	require.NoError(t, err)
	require.Empty(t, left.Flaws, "and mends all")
}

const (
	looseColumn  = `UPDATE sqlite_schema SET sql = replace(sql, 'size_gb        INTEGER NOT NULL', 'size_gb        INTEGER') WHERE name = 'volumes'`
	strictColumn = `UPDATE sqlite_schema SET sql = replace(sql, 'size_gb        INTEGER', 'size_gb        INTEGER NOT NULL') WHERE name = 'volumes'`
	aVolume      = `INSERT INTO volumes (id, user_id, name, size_gb, data_center_id, type) VALUES ('v1', 'u', 'n', 1, 'EU-RO-1', 'STANDARD')`
)

func TestMend_MakesDamagedIndexesAgain(t *testing.T) {
	t.Parallel()
	path := sound(t)
	planted(t, path, // the index lacks a row
		`PRAGMA writable_schema = 1`,
		`CREATE TABLE aside (name TEXT, sql TEXT)`,
		`INSERT INTO aside SELECT name, sql FROM sqlite_schema WHERE name = 'volumes_of_user'`,
		`UPDATE sqlite_schema SET sql = 'CREATE INDEX volumes_of_user ON volumes (user_id, created_at) WHERE name = ''other''' WHERE name = 'volumes_of_user'`,
		`PRAGMA writable_schema = RESET`, aVolume, `PRAGMA writable_schema = 1`,
		`UPDATE sqlite_schema SET sql = (SELECT sql FROM aside WHERE name = 'volumes_of_user') WHERE name = 'volumes_of_user'`,
		`PRAGMA writable_schema = RESET`, `DROP TABLE aside`)
	found := look(t, path)
	require.NotEmpty(t, found.Flaws)
	for _, f := range found.Flaws {
		require.Equal(t, "damaged file", f.Kind)
		require.True(t, f.Mendable)
		require.Contains(t, f.Detail, "volumes_of_user")
		require.NotEmpty(t, f.Does)
	}
	_, _, err := sqlite.Verify(t.Context(), path)
	require.ErrorContains(t, err, "it is damaged: ")

	_, left, err := sqlite.Mend(t.Context(), path)
	require.NoError(t, err)
	require.Empty(t, left.Flaws)
	_, _, err = sqlite.Verify(t.Context(), path)
	require.NoError(t, err)
}

func TestMend_WritesNothingToAFileWhoseTablesAreDamaged(t *testing.T) {
	t.Parallel()
	path := sound(t)
	planted(t, path, aVolume, `INSERT INTO scripts VALUES ('gone', '{}', '{}')`,
		`PRAGMA writable_schema = 1`, looseColumn, `PRAGMA writable_schema = RESET`, `UPDATE volumes SET size_gb = NULL`, `PRAGMA writable_schema = 1`, strictColumn)
	want := look(t, path)
	require.Equal(t, "damaged file", want.Flaws[0].Kind)
	require.Contains(t, flaws(want), "script of an endpoint that is gone: gone, endpoint gone")
	found, left, err := sqlite.Mend(t.Context(), path)
	require.NoError(t, err)
	require.Equal(t, want, found)
	require.Equal(t, want, left)
	require.Equal(t, want, look(t, path))
}

func TestCheck_SaysWhichFileItCannotLookAt(t *testing.T) {
	t.Parallel()
	path := sound(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	fails := func(ctx context.Context, path, says string) {
		t.Helper()
		_, err := sqlite.Check(ctx, path, true)
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, path)
		_, _, err = sqlite.Mend(ctx, path)
		require.ErrorContains(t, err, says)
		require.ErrorContains(t, err, path)
	}
	fails(ended, path, "context canceled")
	_, err := sqlite.Places(ended, path, true)
	require.ErrorIs(t, err, context.Canceled)
	require.ErrorContains(t, err, path)

	planted(t, path, `PRAGMA user_version = 3`)
	fails(t.Context(), path, "start a server of this version on it once")
	planted(t, path, `PRAGMA user_version = 999`)
	fails(t.Context(), path, "run the newer one")
	planted(t, path, `DROP TABLE pods`)
	fails(t.Context(), path, "it has no table pods")
	require.NoError(t, os.WriteFile(path, slices.Repeat([]byte("This is my diary. "), 1000), 0o600))
	fails(t.Context(), path, "it is no database, or a damaged one")

	none := filepath.Join(t.TempDir(), "berth.db")
	_, err = sqlite.Check(t.Context(), none, true)
	require.ErrorIs(t, err, fs.ErrNotExist)
	_, err = sqlite.Places(t.Context(), none, true)
	require.ErrorIs(t, err, fs.ErrNotExist)
	require.NoFileExists(t, none)
}

func TestVerify_FindsARowThatHangsOnNone(t *testing.T) {
	t.Parallel()
	path := sound(t)
	planted(t, path, `INSERT INTO chunks (job_seq, n) VALUES (1, 1)`)
	_, _, err := sqlite.Verify(t.Context(), path)
	require.ErrorContains(t, err, "a row of chunks hangs on one of jobs that is not there")
	require.ErrorContains(t, err, path)
}
