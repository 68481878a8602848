package sqlite_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// errUndo has a write leave everything as it was.
var errUndo = errors.New("undo")

// The jobs that BenchmarkRows reads and writes.
const benchJobs, waitingJobs, freshJobs = 100, "018c0000-0000", "018c0000-0001"

var (
	benchNow   = time.UnixMilli(1_700_000_000_000).UTC()
	benchInput = json.RawMessage(`{"text":"` + strings.Repeat("x", 1000) + `"}`)
)

func benchJob(prefix string, i int) compute.Job {
	return compute.Job{
		ID: compute.JobID(fmt.Sprintf("%s-%04x-7000-8000-000000000000", prefix, i)), EndpointID: "endpoint", Status: compute.JobInQueue,
		ExecutionTimeout: time.Minute, TTL: time.Hour, Retention: time.Minute, CreatedAt: benchNow, QueuedAt: benchNow,
		ExpiresAt: benchNow.Add(time.Hour),
	}
}

// fillBench stores the waiting jobs and 100 pods.
func fillBench(tx store.Tx) error {
	for i := range benchJobs {
		if err := tx.InsertJob(benchJob(waitingJobs, i), benchInput); err != nil {
			return err
		}
	}

	for i := range 100 {
		err := tx.InsertPod(compute.Pod{
			ID: compute.PodID(fmt.Sprintf("%014d", i)), UserID: "u", Name: "a", Image: "i", Ports: []string{"8888/http", "22/tcp"},
			Env: map[string]string{"A": "1"}, Devices: []string{"1"}, GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1},
			Cloud: compute.Secure, DataCenterID: "EU-RO-1", HostID: "EU-RO-1-secure", DiskGB: 20, CostPerHour: 0.5,
			Status: compute.PodRunning, StartedAt: benchNow, CreatedAt: benchNow, MovedAt: benchNow,
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// BenchmarkRows measures the rows of the hot paths without the wait for the disk: /status, a list of 100 pods, submissions, takes and
// ends. To compare two states, run it in both, in turn, and compare the medians.
func BenchmarkRows(b *testing.B) {
	db, err := sqlite.OpenUnsynced(b.Context(), filepath.Join(b.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(b, err)
	defer func() { require.NoError(b, db.Close()) }()
	require.NoError(b, db.Write(b.Context(), fillBench))

	undone := func(b *testing.B, each func(tx store.Tx, i int) error) {
		b.Helper()
		b.ReportAllocs()
		for b.Loop() {
			require.ErrorIs(b, db.Write(b.Context(), func(tx store.Tx) error {
				for i := range benchJobs {
					if err := each(tx, i); err != nil {
						return err
					}
				}
				return errUndo
			}), errUndo)
		}
	}

	read := func(b *testing.B, f func(tx store.Tx) error) {
		b.Helper()
		b.ReportAllocs()
		for b.Loop() {
			require.NoError(b, db.Read(b.Context(), f))
		}
	}

	b.Run("a job", func(b *testing.B) {
		read(b, func(tx store.Tx) error {
			_, err := tx.Job(benchJob(waitingJobs, 7).ID)
			return err
		})
	})

	b.Run("a pod", func(b *testing.B) {
		read(b, func(tx store.Tx) error {
			_, err := tx.Pod("00000000000007")
			return err
		})
	})

	b.Run("a list of 100 pods", func(b *testing.B) {
		read(b, func(tx store.Tx) error {
			_, _, err := tx.PagePods("u", compute.Page{Limit: 1000})
			return err
		})
	})

	b.Run("100 waiting jobs", func(b *testing.B) {
		read(b, func(tx store.Tx) error { return tx.UnfinishedJobs(func(compute.Job) {}) })
	})
	b.Run("100 submissions", func(b *testing.B) {
		undone(b, func(tx store.Tx, i int) error { return tx.InsertJob(benchJob(freshJobs, i), benchInput) })
	})

	b.Run("100 takes", func(b *testing.B) {
		undone(b, func(tx store.Tx, i int) error {
			_, _, _, taken, err := tx.TakeJob(benchJob(waitingJobs, i).ID, "worker")
			require.True(b, taken)
			return err
		})
	})

	b.Run("100 ends", func(b *testing.B) {
		undone(b, func(tx store.Tx, i int) error {
			j := benchJob(waitingJobs, i)
			was := store.GuardOf(j)
			j.Status, j.Output, j.EndedAt = compute.JobCompleted, json.RawMessage(`{"text":"x"}`), benchNow
			_, err := tx.MoveJob(j, was)
			return err
		})
	})
}
