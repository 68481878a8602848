package storetest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func jobRoundTrip(t *testing.T, open Open) {
	s, _ := begin(t, open)
	full := compute.Job{
		ID: "sync-1", EndpointID: "e", Status: compute.JobCompleted, Sync: true, Webhook: "https://x/?a=1", S3Config: json.RawMessage(`{"b":1}`),
		LowPriority: true, ExecutionTimeout: 600 * time.Second, TTL: 24 * time.Hour, Retention: 1500 * time.Millisecond,
		Output: json.RawMessage(`[1]`), Error: "e", WorkerID: "w", Attempt: 2, Retries: 1, CreatedAt: start,
		QueuedAt: start.Add(1 * time.Millisecond), TakenAt: start.Add(2 * time.Millisecond), EndedAt: start.Add(3 * time.Millisecond),
		ExpiresAt: start.Add(5 * time.Millisecond),
	}

	bare := compute.Job{ID: "bare", Status: compute.JobInQueue}
	insertJobs(t, s, full, bare)
	require.Equal(t, full, getJob(t, s, full.ID))
	require.Equal(t, bare, getJob(t, s, bare.ID))

	_, err := tryRead(t, s, func(tx store.Tx) (compute.Job, error) { return tx.Job("none") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.ErrorContains(t, err, "none")
	_, err = tryRead(t, s, func(tx store.Tx) (json.RawMessage, error) { return tx.JobInput("none") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func jobJSON(t *testing.T, open Open) {
	s, _ := begin(t, open)
	for id, input := range map[compute.JobID]json.RawMessage{
		"spaces": json.RawMessage(" { \"a\" : 1.0e0,\n\"a\":\"\\u00e9\" } "),
		"large":  json.RawMessage(`"` + string(bytes.Repeat([]byte("x"), 20_000_000)) + `"`), // bytes, the largest input there is
		"nil":    nil,
	} {
		j := job(id)
		j.Output, j.S3Config = input, input
		write(t, s, func(tx store.Tx) error { return tx.InsertJob(j, input) })
		got := getJob(t, s, id)

		stored := read(t, s, func(tx store.Tx) (json.RawMessage, error) { return tx.JobInput(id) })
		if len(input) > compute.PieceSize {
			require.Equal(t, len(input), got.OutputSize)
			require.Nil(t, got.Output)
			require.Nil(t, stored)
			got.Output, stored = pieces(t, s, got, compute.JobOutput, len(input)), pieces(t, s, got, compute.JobInput, len(input))
		}

		for _, b := range []json.RawMessage{got.Output, got.S3Config, stored} {
			require.True(t, bytes.Equal(input, b), id)
			require.Equal(t, input == nil, b == nil)
		}
	}
}

func jobIDs(t *testing.T, open Open) {
	s, _ := begin(t, open)
	insertJobs(t, s, job("j"))
	err := s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertJob(job("j"), nil) })
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	require.EqualValues(t, 1, counts(t, s).InQueue)
}

func jobMove(t *testing.T, open Open) {
	s, _ := begin(t, open)
	insertJobs(t, s, job("j"))
	moved := compute.Job{
		ID: "j", EndpointID: "other", Status: compute.JobInProgress, Sync: true, Webhook: "other", S3Config: json.RawMessage(`1`),
		LowPriority: true, ExecutionTimeout: 1, TTL: 1, Retention: 5 * time.Second, Output: json.RawMessage(`2`), Error: "e", WorkerID: "w",
		Attempt: 1, Retries: 2, CreatedAt: start.Add(time.Hour), QueuedAt: start.Add(1 * time.Second), TakenAt: start.Add(2 * time.Second),
		EndedAt: start.Add(3 * time.Second), ExpiresAt: start.Add(5 * time.Second),
	}

	try := func(from compute.JobStatus, holder compute.WorkerID, attempt int) bool {
		return guarded(t, s, func(tx store.Tx) (bool, error) {
			return tx.MoveJob(moved, store.JobGuard{Status: from, Worker: holder, Attempt: attempt})
		})
	}

	attempt := job("j").Attempt
	require.False(t, try(compute.JobInProgress, "", attempt), "another status")
	require.False(t, try(compute.JobInQueue, "w", attempt), "another holder")
	require.False(t, try(compute.JobInQueue, "", attempt+1), "another attempt")
	require.Equal(t, job("j"), getJob(t, s, "j"))
	require.True(t, try(compute.JobInQueue, "", attempt))

	want := job("j")
	want.Status, want.Retention, want.Output, want.Error, want.WorkerID = moved.Status, moved.Retention, moved.Output, moved.Error, moved.WorkerID
	want.Attempt, want.Retries, want.QueuedAt, want.TakenAt = moved.Attempt, moved.Retries, moved.QueuedAt, moved.TakenAt
	want.EndedAt, want.ExpiresAt = moved.EndedAt, moved.ExpiresAt
	require.Equal(t, want, getJob(t, s, "j"))
	require.JSONEq(t, `{}`, string(read(t, s, func(tx store.Tx) (json.RawMessage, error) { return tx.JobInput("j") })))

	require.False(t, try(compute.JobInQueue, "", moved.Attempt), "once only")
	moved.ID = "none"
	require.False(t, try(compute.JobInQueue, "", moved.Attempt), "an unknown job")
}

func jobHolder(t *testing.T, open Open) {
	s, _ := begin(t, open)
	insertJobs(t, s, job("j"))
	tries := map[string]func(store.Tx, compute.WorkerID) (bool, error){
		"output": func(tx store.Tx, w compute.WorkerID) (bool, error) {
			return tx.SetJobOutput("j", w, json.RawMessage(`1`))
		},
		"chunk": func(tx store.Tx, w compute.WorkerID) (bool, error) {
			return tx.AppendChunk("j", w, compute.Chunk{Output: json.RawMessage(`1`)})
		},
	}

	all := func(want bool, w compute.WorkerID) {
		t.Helper()
		for what, try := range tries {
			require.Equal(t, want, guarded(t, s, func(tx store.Tx) (bool, error) { return try(tx, w) }), what)
		}
	}

	all(false, "")
	move(t, s, "j", take("w", start))
	all(false, "")
	all(false, "v")
	all(true, "w")
	all(true, "w")
	j := getJob(t, s, "j")
	require.JSONEq(t, `1`, string(j.Output))

	move(t, s, "j", to(compute.JobFailed))
	all(false, "w")
	move(t, s, "j", to(compute.JobInQueue)) // with chunks to forget
	all(false, "w")
}

// waitingJobs gives the jobs that wait.
func waitingJobs(tx store.Tx) (jobs []compute.Job, err error) {
	return unfinishedJobs(tx, compute.JobInQueue)
}

// unfinishedJobs gives the jobs of a status that have not ended.
func unfinishedJobs(tx store.Tx, status compute.JobStatus) (jobs []compute.Job, err error) {
	err = tx.UnfinishedJobs(func(j compute.Job) {
		if j.Status == status {
			jobs = append(jobs, j)
		}
	})
	return jobs, err
}

func jobTake(t *testing.T, open Open) {
	s, clock := begin(t, open)
	write(t, s, func(tx store.Tx) error { return insertEndpoint(tx, "e") })
	j := job("j")
	j.S3Config, j.Webhook, j.Attempt, j.Retries = json.RawMessage(`{"b":1}`), "https://x/", 1, 1
	write(t, s, func(tx store.Tx) error { return tx.InsertJob(j, json.RawMessage(`{"a": 1}`)) })
	clock.Advance(time.Second)

	try := func(id compute.JobID) (got compute.Job, input json.RawMessage, taken bool) {
		write(t, s, func(tx store.Tx) (err error) {
			got, input, _, taken, err = tx.TakeJob(id, "w")
			return err
		})
		return got, input, taken
	}

	_, _, taken := try("none")
	require.False(t, taken, "an unknown job")
	got, input, taken := try("j")
	require.True(t, taken)

	j.Status, j.WorkerID, j.Attempt, j.TakenAt = compute.JobInProgress, "w", 2, start.Add(time.Second)
	require.Equal(t, j, got)
	require.Equal(t, `{"a": 1}`, string(input), "byte for byte")
	require.Equal(t, j, getJob(t, s, "j"))
	require.Equal(t, compute.JobCounts{InProgress: 1}, counts(t, s))

	_, _, taken = try("j")
	require.False(t, taken, "once only")
}

func jobsWaiting(t *testing.T, open Open) {
	s, _ := begin(t, open)
	waiting := func() []compute.Job {
		return read(t, s, waitingJobs)
	}
	require.Empty(t, waiting())

	// Of the same time: in the order of the ids, whatever the order of the inserts.
	z, m, b := timeOrdered(1), timeOrdered(2), "sync-"+timeOrdered(3)
	first, late, other := job(z), job("a"), job(m)
	first.Output, first.S3Config, first.LowPriority = json.RawMessage(`1`), json.RawMessage(`1`), true
	late.QueuedAt, other.EndpointID = start.Add(time.Millisecond), "f"
	insertJobs(t, s, job(b), late, other, first, job("taken"))
	move(t, s, "taken", take("w", start))
	got := waiting()
	require.Equal(t, []compute.JobID{z, m, b, "a"}, jobIDsOf(got))

	want := compute.Job{ID: z, EndpointID: first.EndpointID, Status: compute.JobInQueue, LowPriority: true, QueuedAt: first.QueuedAt}
	require.Equal(t, want, got[0])

	move(t, s, z, take("w", start))
	move(t, s, z, func(j *compute.Job) {
		j.Status, j.WorkerID, j.QueuedAt = compute.JobInQueue, "", start.Add(time.Hour)
	})
	require.Equal(t, []compute.JobID{m, b, "a", z}, jobIDsOf(waiting()), "who waits anew waits last")
}

// timeOrdered gives the id of a job made n ticks after the first.
func timeOrdered(n int) compute.JobID {
	return compute.JobID(fmt.Sprintf("01900000-0000-7%03x-8000-000000000000", n))
}

func jobsLast(t *testing.T, open Open) {
	s, _ := begin(t, open)
	last := func() compute.JobID {
		return read(t, s, func(tx store.Tx) (compute.JobID, error) { return tx.LastJob() })
	}
	require.Empty(t, last())
	insertJobs(t, s, job("z"))
	require.Empty(t, last(), "an id of another form has no time")
	insertJobs(t, s, job(timeOrdered(2)), job("sync-"+timeOrdered(3)), job(timeOrdered(1)))
	require.Equal(t, "sync-"+timeOrdered(3), last())
	guessed := compute.JobID(strings.Replace(string(timeOrdered(2)), "-8000-", "-9000-", 1))
	require.False(t, exists(t, s, guessed), "the part that is no time counts too")
}

func jobsHeld(t *testing.T, open Open) {
	s, _ := begin(t, open)
	held := func() []compute.Job {
		return read(t, s, func(tx store.Tx) ([]compute.Job, error) { return unfinishedJobs(tx, compute.JobInProgress) })
	}
	require.Empty(t, held())

	insertJobs(t, s, job("a"), job("b"), job("c"), job("d"))
	move(t, s, "a", take("w", start.Add(2*time.Second)))
	want := move(t, s, "b", take("v", start.Add(time.Second)))
	move(t, s, "c", take("w", start))
	move(t, s, "c", to(compute.JobCompleted))
	got := held()
	require.Equal(t, []compute.JobID{"b", "a"}, jobIDsOf(got))
	require.Equal(t, want, got[0])
}

func counts(t *testing.T, s store.Store) compute.JobCounts {
	t.Helper()
	return read(t, s, func(tx store.Tx) (compute.JobCounts, error) { return tx.CountJobs("e") })
}

func jobCounts(t *testing.T, open Open) {
	s, _ := begin(t, open)
	require.Zero(t, counts(t, s))
	other := job("other")
	other.EndpointID = "f"
	insertJobs(t, s, job("a"), job("b"), job("c"), job("d"), other)
	require.Equal(t, compute.JobCounts{InQueue: 4}, counts(t, s))

	for _, id := range []compute.JobID{"a", "b", "c"} {
		move(t, s, id, take("w", start))
	}
	require.Equal(t, compute.JobCounts{InQueue: 1, InProgress: 3}, counts(t, s))

	move(t, s, "a", func(j *compute.Job) { j.Status, j.ExpiresAt = compute.JobCompleted, start })
	move(t, s, "b", to(compute.JobFailed))
	move(t, s, "c", to(compute.JobTimedOut))
	move(t, s, "d", to(compute.JobCancelled))
	require.Equal(t, compute.JobCounts{Completed: 1, Failed: 1}, counts(t, s), "TIMED_OUT and CANCELLED are not counted")

	move(t, s, "b", func(j *compute.Job) { j.ExpiresAt = start })
	require.Equal(t, compute.JobCounts{Completed: 1, Failed: 1}, counts(t, s), "it stayed where it was")
	require.True(t, guarded(t, s, func(tx store.Tx) (bool, error) { return tx.DeleteJob("a", start) }))
	require.Equal(t, compute.JobCounts{Completed: 1, Failed: 1}, counts(t, s), "deleted ones count")

	move(t, s, "b", to(compute.JobInQueue))
	require.Equal(t, compute.JobCounts{Completed: 1, InQueue: 1}, counts(t, s), "a retried one has not failed")

	move(t, s, "b", take("w", start))
	move(t, s, "b", func(j *compute.Job) { j.Status, j.WorkerID = compute.JobInQueue, "" })
	require.Zero(t, counts(t, s).Retried, "handed back")
	move(t, s, "b", take("w", start))
	move(t, s, "b", func(j *compute.Job) { j.Status, j.WorkerID, j.Retries = compute.JobInQueue, "", j.Retries+1 })
	require.Equal(t, compute.JobCounts{Completed: 1, InQueue: 1, Retried: 1}, counts(t, s))

	write(t, s, func(tx store.Tx) error {
		if err := tx.InsertJob(job("new"), nil); err != nil {
			return err
		}
		n, err := tx.CountJobs("e")
		require.EqualValues(t, 2, n.InQueue, "its own writes are counted before the commit")
		return err
	})

	require.Error(t, s.Write(t.Context(), func(tx store.Tx) error {
		require.NoError(t, tx.InsertJob(job("undone"), nil))
		return compute.Errorf(compute.Rejected, "no")
	}))
	require.EqualValues(t, 2, counts(t, s).InQueue, "what was undone is not counted")

	write(t, s, func(tx store.Tx) error { return tx.DeleteEndpoint("e") })
	require.Zero(t, counts(t, s), "they go with the endpoint")
	move(t, s, "b", to(compute.JobCancelled))
	require.Zero(t, counts(t, s), "and do not come again with the ends of its jobs")
}

func jobsExpire(t *testing.T, open Open) {
	s, _ := begin(t, open)
	expiring := func(at time.Time, limit int) []compute.JobID {
		return jobIDsOf(read(t, s, func(tx store.Tx) ([]compute.Job, error) { return tx.ExpiringJobs(at, limit) }))
	}

	due := func(id compute.JobID, at time.Time, status compute.JobStatus) compute.Job {
		j := job(id)
		j.ExpiresAt, j.Status = at, status
		return j
	}

	insertJobs(t, s, due("b", start.Add(2*time.Second), compute.JobInQueue), due("a", start.Add(time.Second), compute.JobCompleted),
		due("c", start.Add(3*time.Second), compute.JobInProgress), due("never", time.Time{}, compute.JobInQueue))
	require.Empty(t, expiring(start.Add(999*time.Millisecond), 9))
	require.Equal(t, start.Add(time.Second), read(t, s, func(tx store.Tx) (time.Time, error) { return tx.NextExpiry() }))
	require.Equal(t, []compute.JobID{"a"}, expiring(start.Add(time.Second), 9))
	require.Equal(t, []compute.JobID{"a", "b", "c"}, expiring(start.Add(time.Hour), 9))
	require.Equal(t, []compute.JobID{"a", "b"}, expiring(start.Add(time.Hour), 2))
}

func jobDelete(t *testing.T, open Open) {
	s, _ := begin(t, open)
	insertJobs(t, s, job("waits"), job("runs"), job("ends"), job("kept"))
	for _, id := range []compute.JobID{"runs", "ends", "kept"} {
		move(t, s, id, take("w", start))
	}
	require.True(t, guarded(t, s, func(tx store.Tx) (bool, error) {
		return tx.AppendChunk("ends", "w", compute.Chunk{Output: json.RawMessage(`1`)})
	}))

	move(t, s, "ends", func(j *compute.Job) { j.Status, j.ExpiresAt = compute.JobCompleted, start })
	move(t, s, "kept", func(j *compute.Job) { j.Status, j.ExpiresAt = compute.JobCompleted, start.Add(time.Millisecond) })
	for _, id := range []compute.JobID{"waits", "runs", "ends", "kept", "none"} {
		guarded(t, s, func(tx store.Tx) (bool, error) { return tx.DeleteJob(id, start) })
	}
	require.True(t, exists(t, s, "waits"))
	require.True(t, exists(t, s, "runs"))
	require.True(t, exists(t, s, "kept"), "its time has not come")
	require.False(t, exists(t, s, "ends"))

	_, err := tryRead(t, s, func(tx store.Tx) (json.RawMessage, error) { return tx.JobInput("ends") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func clears(t *testing.T, open Open) {
	s, _ := begin(t, open)
	require.Zero(t, read(t, s, func(tx store.Tx) (time.Time, error) { return tx.NextExpiry() }))
	insertJobs(t, s, job("a"), job("b"))
	write(t, s, func(tx store.Tx) error { return tx.InsertPod(compute.Pod{ID: "p", UserID: "u", CreatedAt: start}) })
	write(t, s, func(tx store.Tx) error { return tx.InsertKey(compute.Key{ID: "k", CreatedAt: start}) })

	write(t, s, func(tx store.Tx) error {
		require.NoError(t, tx.InsertVolume(compute.Volume{ID: "v", UserID: "u", CreatedAt: start}))
		require.NoError(t, tx.InsertRegistry(compute.Registry{ID: "r", UserID: "u", CreatedAt: start}))
		require.NoError(t, tx.InsertDelegation(compute.Delegation{ID: "d", UserID: "u", CreatedAt: start}))
		require.NoError(t, tx.InsertTemplate(fullTemplate()))
		require.NoError(t, tx.InsertCluster(compute.Cluster{ID: "c", UserID: "u", CreatedAt: start}))
		require.NoError(t, tx.SetSSHKeys("u", []string{"a"}))
		require.NoError(t, tx.OpenCharge(compute.Charge{UserID: "u", Item: compute.PodCPU, HolderID: "p"}))
		require.NoError(t, tx.InsertJob(job("c"), nil))

		asked := endpoint("asked", "u", "n")
		asked.Declared = false
		for _, e := range []compute.Endpoint{asked, endpoint("declared", "u", "n")} {
			require.NoError(t, tx.InsertEndpoint(e))
			require.NoError(t, tx.InsertRelease(compute.Release{ID: compute.ReleaseID(e.ID), EndpointID: e.ID, Version: 1}))
			require.NoError(t, tx.InsertWorker(compute.Worker{ID: compute.WorkerID(e.ID), EndpointID: e.ID}))
			require.NoError(t, tx.InsertClaims(claimedHost, compute.Claim{HolderID: string(e.ID), HostID: "h", Devices: []string{string(e.ID)}, DiskGB: 5}))
		}

		return tx.Clear()
	})

	require.Zero(t, counts(t, s))
	require.Empty(t, read(t, s, waitingJobs))
	require.Empty(t, read(t, s, func(tx store.Tx) ([]compute.Pod, error) { return firstPage(tx.PagePods("u", wide)) }))
	require.Empty(t, read(t, s, func(tx store.Tx) ([]compute.Volume, error) { return firstPage(tx.PageVolumes("u", wide)) }))
	require.Empty(t, read(t, s, func(tx store.Tx) ([]compute.Registry, error) { return allOf(tx.ListRegistries("u", nil)) }))
	require.Empty(t, read(t, s, func(tx store.Tx) ([]compute.Delegation, error) { return allOf(tx.ListDelegations("u", nil)) }))
	require.Empty(t, read(t, s, func(tx store.Tx) ([]compute.Template, error) { return firstPage(tx.PageTemplates("u", wide)) }))
	require.Empty(t, read(t, s, func(tx store.Tx) ([]string, error) { return tx.SSHKeys("u") }))
	require.Empty(t, read(t, s, func(tx store.Tx) ([]compute.Cluster, error) { return allOf(tx.ListClusters("u", nil)) }))
	require.Empty(t, read(t, s, func(tx store.Tx) ([]compute.Charge, error) {
		return listCharges(tx, "u", []compute.Item{compute.PodCPU}, nil, start, start.Add(time.Hour))
	}))
	require.Len(t, read(t, s, func(tx store.Tx) ([]compute.Key, error) { return tx.ListKeys() }), 1)
	require.Len(t, read(t, s, listEndpoints), 1)
	require.Empty(t, read(t, s, func(tx store.Tx) ([]compute.Release, error) { return firstPage(tx.PageReleases("asked", wide)) }))
	require.Len(t, read(t, s, func(tx store.Tx) ([]compute.Release, error) { return firstPage(tx.PageReleases("declared", wide)) }), 1)
	require.Len(t, read(t, s, func(tx store.Tx) ([]compute.Worker, error) { return tx.ListWorkers() }), 1)
	require.Len(t, read(t, s, listClaims), 1)
	require.Equal(t, map[string]compute.Claimed{"h": {GPUs: 1, DiskGB: 5}}, read(t, s, claimSums))

	declared := job("counted")
	declared.EndpointID = "declared"
	insertJobs(t, s, declared)
	require.Equal(t, compute.JobCounts{InQueue: 1}, read(t, s, func(tx store.Tx) (compute.JobCounts, error) { return tx.CountJobs("declared") }))

	insertJobs(t, s, job("a"))
	require.Equal(t, compute.JobCounts{InQueue: 1}, counts(t, s))
}
