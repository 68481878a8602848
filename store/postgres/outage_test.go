//go:build unix

package postgres_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/pgtest"
	"github.com/berthdev/berth/store/postgres"
)

// fate is what a client knows of its job.
type fate struct {
	id      compute.JobID
	done    []compute.JobStatus // that were acknowledged, one after the other
	unknown bool                // the write after those may be on disk or not
	effects int
}

// tenant keeps a store open for its owner, for the next epoch whenever nobody knows whether a commit is on disk.
type tenant struct {
	url    string
	owners *postgres.Owners

	mu    sync.RWMutex
	store *postgres.DB
	lost  chan struct{}
}

func (o *tenant) open(ctx context.Context) error {
	owner, err := o.owners.Hold(ctx, me, time.Hour)
	if err != nil {
		return err
	}
	lost := make(chan struct{})
	db, err := postgres.Open(ctx, o.url, compute.SystemClock{}, postgres.Of(owner.Epoch), postgres.Unknown(func() { close(lost) }))
	if err == nil {
		o.store, o.lost = db, lost
	}
	return err
}

// keep opens the store again when it is lost, until ctx ends.
func (o *tenant) keep(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-o.lost:
		}
		o.mu.Lock()
		_ = o.store.Close()
		for o.owners.Release(ctx, me) != nil || o.open(ctx) != nil {
			pause(10 * time.Millisecond)
		}
		o.mu.Unlock()
	}
}

// try runs a write, with the store that there is.
func (o *tenant) try(write func(*postgres.DB) error) error {
	o.mu.RLock()
	defer o.mu.RUnlock()
	return write(o.store)
}

func pause(d time.Duration) {
	passed, _ := compute.SystemClock{}.After(d)
	<-passed
}

// life submits, takes and ends jobs one after the other until ctx ends, each write again until it is acknowledged.
func (o *tenant) life(ctx context.Context, t *testing.T, name string) (all []*fate) {
	for n := 0; ctx.Err() == nil; n++ {
		f := &fate{id: compute.JobID(fmt.Sprintf("%s-%05d", name, n))}
		all = append(all, f)
		j := compute.Job{ID: f.id, EndpointID: "e", Status: compute.JobInQueue, TTL: time.Hour, Retention: time.Hour}
		took := j
		took.Status, took.WorkerID, took.Attempt = compute.JobInProgress, compute.WorkerID(name), 1
		end := store.JobEnd{Job: took, Was: store.GuardOf(took), Ended: func(compute.Job) { f.effects++ }}
		end.Job.Status = compute.JobCompleted

		for _, write := range []func(*postgres.DB) error{
			func(db *postgres.DB) error {
				return db.SubmitJob(context.Background(), &store.Submission{Job: j, Input: json.RawMessage(`1`), Stored: func(compute.Job) { f.effects++ }})
			},
			func(db *postgres.DB) error {
				taken := func(jobs []store.TakenJob, _ int) { f.effects += len(jobs) }
				return db.TakeJobs(context.Background(), store.Take{Worker: took.WorkerID, Jobs: []compute.JobID{f.id}, Taken: taken})
			},
			func(db *postgres.DB) error { return db.EndJob(context.Background(), end) },
		} {
			err := o.try(write)
			for err != nil && !store.IsUnknown(err) {
				if trouble := store.TroubleOf(err); trouble != store.Away && trouble != store.Moved {
					t.Errorf("%s: %v", f.id, err)
					return all
				}
				pause(time.Millisecond)
				err = o.try(write)
			}
			if f.unknown = err != nil; f.unknown {
				break
			}
			f.done = append(f.done, []compute.JobStatus{compute.JobInQueue, compute.JobInProgress, compute.JobCompleted}[len(f.done)])
		}
	}
	return all
}

func TestOutage_LosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	own, err := pgtest.Start(t.Context())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, own.Stop()) })
	o := &tenant{url: own.URL("")}
	o.owners, err = postgres.OpenOwners(t.Context(), o.url)
	require.NoError(t, err)
	require.NoError(t, o.open(t.Context()))
	require.NoError(t, o.store.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertEndpoint(compute.Endpoint{ID: "e", UserID: "u", Name: "e"})
	}))

	ctx, stop := context.WithCancel(t.Context())
	keeping := make(chan struct{})
	go func() {
		defer close(keeping)
		o.keep(ctx)
	}()
	fates := make([][]*fate, 8)
	var lives sync.WaitGroup
	for i := range fates {
		lives.Go(func() { fates[i] = o.life(ctx, t, fmt.Sprintf("w%d", i)) })
	}

	for range 3 {
		endAtRandom(t, own.URL(""), 40)
		require.NoError(t, own.Down(syscall.SIGQUIT)) // as pg_ctl stop -m immediate
		require.NoError(t, own.Up(t.Context()))
		requireWritten(t, o)
	}
	stop()
	lives.Wait()
	<-keeping
	defer func() { require.NoError(t, o.owners.Close()) }()
	defer func() { _ = o.store.Close() }() // its connections may be lost

	jobs, unknown, ended := 0, 0, int64(0)
	for _, f := range slicesOf(fates) {
		requireFate(t, o.store, f)
		jobs++
		if f.unknown {
			unknown++
		}
	}
	require.NoError(t, o.store.Read(t.Context(), func(tx store.Tx) error {
		counts, err := tx.CountJobs("e")
		ended = counts.Completed
		return err
	}))
	completed := int64(0)
	for _, f := range slicesOf(fates) {
		if statusOf(t, o.store, f.id) == compute.JobCompleted {
			completed++
		}
	}
	require.Equal(t, completed, ended, "each end is counted once")
	t.Logf("%d jobs, %d writes of unknown fate", jobs, unknown)
}

func slicesOf(all [][]*fate) (one []*fate) {
	for _, fates := range all {
		one = append(one, fates...)
	}
	return one
}

// endAtRandom ends a connection of berth so many times.
func endAtRandom(t *testing.T, url string, times int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(t.Context())) }()
	for range times {
		_, err := c.Exec(t.Context(), `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'berth' ORDER BY random() LIMIT 1`)
		require.NoError(t, err)
		pause(10 * time.Millisecond)
	}
}

// requireWritten waits until the store takes writes, and logs how long that was after the database was back.
func requireWritten(t *testing.T, o *tenant) {
	t.Helper()
	back := time.Now()
	require.Eventually(t, func() bool {
		return o.try(func(db *postgres.DB) error {
			return db.Write(t.Context(), func(tx store.Tx) error { return tx.SetLag(0) })
		}) == nil
	}, time.Minute, 10*time.Millisecond)
	t.Logf("it writes again %s after the database was back", time.Since(back).Round(time.Millisecond))
}

// statusOf gives the status of a job; "" if there is none.
func statusOf(t *testing.T, s store.Store, id compute.JobID) (status compute.JobStatus) {
	t.Helper()
	require.NoError(t, s.Read(t.Context(), func(tx store.Tx) error {
		j, err := tx.Job(id)
		if compute.CodeOf(err) != compute.NotFound {
			require.NoError(t, err)
		}
		status = j.Status
		return nil
	}))
	return status
}

// requireFate checks that a job is as its client was answered, with what was to happen after each write.
func requireFate(t *testing.T, s store.Store, f *fate) {
	t.Helper()
	all := []compute.JobStatus{"", compute.JobInQueue, compute.JobInProgress, compute.JobCompleted}
	done := len(f.done)
	status := statusOf(t, s, f.id)
	require.Equal(t, done, f.effects, f.id)
	if f.unknown {
		require.Contains(t, all[done:done+2], status, f.id)
		return
	}
	require.Equal(t, all[done], status, f.id)
}
