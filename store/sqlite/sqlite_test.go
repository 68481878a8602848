package sqlite_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
	"github.com/berthdev/berth/store/storetest"
)

var start = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

func TestStore(t *testing.T) {
	t.Parallel()
	var mu sync.Mutex
	dirs := map[*testing.T]string{}
	storetest.Run(t, func(t *testing.T, clock compute.Clock) store.Store {
		mu.Lock()
		if dirs[t] == "" {
			dirs[t] = t.TempDir()
		}
		path := filepath.Join(dirs[t], "berth.db")
		mu.Unlock()
		db, err := sqlite.Open(t.Context(), path, clock)
		require.NoError(t, err)
		return db
	})
}

// outside opens the file as another program would.
func outside(t *testing.T, path string) *sql.DB {
	t.Helper()
	db, err := sql.Open("sqlite", "file://"+path+"?_pragma=busy_timeout(5000)")
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func openAt(t *testing.T, path string) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, compute.NewFrozenClock(start))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	return db
}

func insertJob(id compute.JobID) func(store.Tx) error {
	return func(tx store.Tx) error {
		return tx.InsertJob(compute.Job{ID: id, EndpointID: "e", Status: compute.JobInQueue, QueuedAt: tx.Now()}, nil)
	}
}

func TestWrite_ReturnsAfterItsCommit(t *testing.T) {
	t.Parallel()
	const callers, each = 64, 10
	path := filepath.Join(t.TempDir(), "berth.db")
	s, other := openAt(t, path), outside(t, path)
	other.SetMaxOpenConns(4)

	found := make(chan error, callers*each)
	for c := range callers {
		go func() {
			for i := range each {
				id := fmt.Sprintf("%d-%d", c, i)
				err := s.Write(context.WithoutCancel(t.Context()), insertJob(compute.JobID(id)))
				if err == nil {
					var seq int64 // a connection of its own sees committed rows only
					err = other.QueryRow("SELECT seq FROM jobs WHERE id = ?", id).Scan(&seq)
				}
				found <- err
			}
		}()
	}

	for range callers * each {
		require.NoError(t, <-found)
	}
}

func TestWrite_LeavesNoEnvironmentOfATerminatedPod(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	s := openAt(t, path)
	for n := range 50 {
		p := compute.Pod{ID: compute.PodID(fmt.Sprint(n)), UserID: "u", Args: "--key another", Status: compute.PodRunning}
		p.Env = map[string]string{"PASSWORD": "a secret", "MORE": strings.Repeat("x", 10*n)}
		require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertPod(p) }))
		p.Status = compute.PodTerminated
		require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
			_, err := tx.MovePod(p)
			return err
		}))
	}
	require.NoError(t, s.Close())

	file, err := os.ReadFile(path)
	require.NoError(t, err)
	require.NotContains(t, string(file), "a secret")
	require.NotContains(t, string(file), "another")
}

func TestWrite_FailedCommitIsReportedToEveryCaller(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	s, other := openAt(t, path), outside(t, path)
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertEndpoint(compute.Endpoint{ID: "e", UserID: "u"})
	}))

	// The counts are written last, just before the commit, for all callers at once.
	_, err := other.Exec("CREATE TRIGGER no BEFORE UPDATE ON job_counts BEGIN SELECT RAISE(ROLLBACK, 'refused by a trigger'); END")
	require.NoError(t, err)
	const callers = 64
	errs := make(chan error, callers)
	for c := range callers {
		go func() { errs <- s.Write(context.WithoutCancel(t.Context()), insertJob(compute.JobID(fmt.Sprint(c)))) }()
	}
	for range callers {
		require.ErrorContains(t, <-errs, "refused by a trigger")
	}
	_, err = other.Exec("DROP TRIGGER no")
	require.NoError(t, err)

	var n int
	require.NoError(t, other.QueryRow("SELECT COUNT(*) FROM jobs").Scan(&n))
	require.Zero(t, n)
	require.NoError(t, s.Write(t.Context(), insertJob("a")), "the writer goes on")

	require.NoError(t, s.Read(t.Context(), func(tx store.Tx) error {
		counts, err := tx.CountJobs("e")
		require.Equal(t, compute.JobCounts{InQueue: 1}, counts)
		return err
	}))
}

func TestWrite_UndoneTransactionFailsItsCall(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	s, other := openAt(t, path), outside(t, path)
	_, err := other.Exec("CREATE TRIGGER no BEFORE INSERT ON keys BEGIN SELECT RAISE(ROLLBACK, 'refused by a trigger'); END")
	require.NoError(t, err)

	err = s.Write(t.Context(), func(tx store.Tx) error {
		require.Error(t, tx.InsertKey(compute.Key{ID: "k"}))
		require.Error(t, insertJob("a")(tx), "would be committed by itself")
		return nil
	})

	require.ErrorContains(t, err, "refused by a trigger")
	var n int
	require.NoError(t, other.QueryRow("SELECT COUNT(*) FROM jobs").Scan(&n))
	require.Zero(t, n)
	require.NoError(t, s.Write(t.Context(), insertJob("a")), "the writer goes on")
}

func TestWrite_InputAndChunksGoWithTheirJob(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	s, other := openAt(t, path), outside(t, path)
	count := func(table string) (n int) {
		require.NoError(t, other.QueryRow("SELECT COUNT(*) FROM "+table).Scan(&n))
		return n
	}

	j := compute.Job{ID: "j", Status: compute.JobInProgress, WorkerID: "w", ExpiresAt: time.UnixMilli(1)}
	move := func(to compute.JobStatus) {
		require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
			was := store.GuardOf(j)
			j.Status = to
			moved, err := tx.MoveJob(j, was)
			require.True(t, moved)
			return err
		}))
	}

	stream := func() {
		require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
			for range 2 {
				ok, err := tx.AppendChunk("j", "w", compute.Chunk{Output: []byte(`1`)})
				require.NoError(t, err)
				require.True(t, ok)
			}
			return nil
		}))
	}
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertJob(j, []byte(`1`)) }))

	stream()
	var last int
	require.NoError(t, other.QueryRow("SELECT MAX(n) FROM chunks").Scan(&last))
	require.Equal(t, 2, last)

	move(compute.JobFailed)
	require.Equal(t, 2, count("chunks"), "what was streamed can be read after the end")
	move(compute.JobInQueue)
	require.Zero(t, count("chunks"), "a retry streams anew")
	require.Equal(t, 1, count("job_inputs"))

	move(compute.JobInProgress)
	stream()
	move(compute.JobCompleted)
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.DeleteJob("j", time.UnixMilli(1))
		return err
	}))
	require.Zero(t, count("jobs"))
	require.Zero(t, count("job_inputs"))
	require.Zero(t, count("chunks"))
}

func TestOpen_FilesAreTheirOwnersAlone(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "a b?c#d%20", "deep")
	path := filepath.Join(dir, "berth.db")
	s := openAt(t, path)
	require.NoError(t, s.Write(t.Context(), insertJob("a")))

	mode := func(path string) os.FileMode {
		f, err := os.Stat(path)
		require.NoError(t, err)
		return f.Mode().Perm()
	}

	require.Equal(t, os.FileMode(0o700), mode(dir))
	for _, suffix := range []string{"", "-wal", "-shm"} {
		require.Equal(t, os.FileMode(0o600), mode(path+suffix), suffix)
	}
	require.NoError(t, s.Close())
	require.NoError(t, os.Chmod(path, 0o644))

	openAt(t, path)
	require.Equal(t, os.FileMode(0o600), mode(path))
}

func TestOpen_RefusesAFileOfANewerProgram(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	require.NoError(t, openAt(t, path).Close())
	other := outside(t, path)
	var version int
	require.NoError(t, other.QueryRow("PRAGMA user_version").Scan(&version))

	_, err := other.Exec("PRAGMA user_version = 99")
	require.NoError(t, err)
	_, err = sqlite.Open(t.Context(), path, compute.SystemClock{})
	require.ErrorContains(t, err, "a newer berth wrote it: its schema is version 99")

	_, err = other.Exec(fmt.Sprintf("PRAGMA user_version = %d", version))
	require.NoError(t, err)
	openAt(t, path)
}

func TestWrite_CountsAreInTheOrderOfTheEndpoints(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "berth.db")
	s, other := openAt(t, path), outside(t, path)
	const endpoints = 30

	id := func(i int) compute.EndpointID { return compute.EndpointID(fmt.Sprintf("endpoint %d", i)) }
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		for i := range endpoints {
			if err := tx.InsertEndpoint(compute.Endpoint{ID: id(i)}); err != nil {
				return err
			}
		}
		return nil
	}))

	_, err := other.Exec(`CREATE TABLE written (n INTEGER PRIMARY KEY, endpoint_id TEXT);
CREATE TRIGGER inserted AFTER INSERT ON job_counts BEGIN INSERT INTO written (endpoint_id) VALUES (new.endpoint_id); END;
CREATE TRIGGER updated AFTER UPDATE ON job_counts BEGIN INSERT INTO written (endpoint_id) VALUES (new.endpoint_id); END`)
	require.NoError(t, err)

	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		for i := range endpoints {
			j := compute.Job{ID: compute.JobID(fmt.Sprint(i)), EndpointID: id(i), Status: compute.JobInQueue}
			if err := tx.InsertJob(j, nil); err != nil {
				return err
			}
		}
		return nil
	}))

	rows, err := other.Query("SELECT endpoint_id FROM written ORDER BY n")
	require.NoError(t, err)
	defer func() { require.NoError(t, rows.Close()) }()

	var written []string
	for rows.Next() {
		var one string
		require.NoError(t, rows.Scan(&one))
		written = append(written, one)
	}
	require.NoError(t, rows.Err())

	require.Len(t, written, endpoints)
	require.True(t, slices.IsSorted(written), written)
}
