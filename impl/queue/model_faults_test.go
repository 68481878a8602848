package queue_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
)

var errDisk = errors.New("the disk failed")

// faulty is the store of a run. While it is bad, a call may fail before it does anything, or undone, or after its commit. Good or
// bad, it may run a write twice, as a group does of which another one fails.
type faulty struct {
	*shard
	mu     sync.Mutex
	random *rand.Rand // nil: it is good
}

// The faults of a write.
const (
	failsBefore = iota
	failsUndone
	failsAfter
	runsAgain
	writeFaults
)

func (f *faulty) fault(kinds int) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.random == nil {
		return kinds
	}
	return f.random.IntN(2 * kinds)
}

func (f *faulty) Trouble() error { return f.db.Trouble() }

func (f *faulty) Close() error { return f.db.Close() }

func (f *faulty) Read(ctx context.Context, do func(store.Tx) error) error {
	if f.fault(5) == 0 {
		return errDisk
	}
	return f.db.Read(ctx, do)
}

func (f *faulty) Write(ctx context.Context, do func(store.Tx) error) error {
	return f.write(ctx, do, func() error { return f.db.Write(ctx, do) })
}

func (f *faulty) SubmitJob(ctx context.Context, asked *store.Submission) error {
	of := *asked
	s := &of
	assigned, worker := false, compute.WorkerID("")
	if assign := s.Assign; assign != nil {
		s.Assign = func() compute.WorkerID { // once, however often it runs
			if !assigned {
				assigned, worker = true, assign()
			}
			return worker
		}
	}

	do := func(tx store.Tx) error {
		w := compute.WorkerID("")
		if s.Assign != nil {
			w = s.Assign()
		}
		_, err := s.In(tx, w)
		return err
	}

	return f.write(ctx, do, func() error { return f.db.SubmitJob(ctx, s) })
}

func (f *faulty) TakeJobs(ctx context.Context, t store.Take) error {
	return f.write(ctx, func(tx store.Tx) error { return t.In(tx) }, func() error { return f.db.TakeJobs(ctx, t) })
}

func (f *faulty) EndJob(ctx context.Context, e store.JobEnd) error {
	do := func(tx store.Tx) error {
		_, err := e.In(tx)
		return err
	}
	return f.write(ctx, do, func() error { return f.db.EndJob(ctx, e) })
}

// write makes a write fail, or run again, or makes it well.
func (f *faulty) write(ctx context.Context, do func(store.Tx) error, well func() error) error {
	undone := func() error {
		return f.db.Write(ctx, func(tx store.Tx) error {
			if err := do(tx); err != nil {
				return err
			}
			return errDisk
		})
	}

	switch f.fault(writeFaults) {
	case failsBefore:
		return errDisk
	case failsUndone:
		return undone()
	case failsAfter:
		if err := f.db.Write(ctx, func(tx store.Tx) error { return do(silent{tx}) }); err != nil {
			return err
		}
		return store.Unknown(errDisk)
	case runsAgain:
		if err := undone(); !errors.Is(err, errDisk) {
			return err
		}
	}

	return well()
}

// silent is a transaction whose commit nobody is notified of.
type silent struct{ store.Tx }

func (silent) AfterCommit(func()) {}

// row gives the job as it is on disk; nil if it is not.
func (r *modelRun) row(id compute.JobID) (row *compute.Job) {
	require.NoError(r, r.db.Read(context.Background(), func(tx store.Tx) error {
		j, err := tx.Job(id)
		if compute.CodeOf(err) == compute.NotFound {
			return nil
		}
		row = &j
		return err
	}))
	return row
}

// storm makes operations while the store is bad. What an operation says that it has done must be on disk. Then the store is good
// again, and memory must come to know what the disk does: each job that waits is handed out, and none is held by nobody.
func (r *modelRun) storm() {
	r.say("the disk goes bad")
	r.store.mu.Lock()
	r.store.random = r.random
	r.store.mu.Unlock()
	for range 1 + r.random.IntN(8) {
		r.gust()
	}
	r.store.mu.Lock()
	r.store.random = nil
	r.store.mu.Unlock()
	r.say("the disk is good again")
	for range 3 { // what is in doubt, and what that brings up
		r.clock.Advance(10 * time.Second)
		require.NoError(r, r.queue.Sweep(context.Background()))
	}
	r.agrees()
	if r.one(2) {
		r.livesOn()
		r.agrees()
	}
	r.adopt()
	r.restart()
}

// gust makes one operation, and holds what it says against the disk before and after it.
func (r *modelRun) gust() {
	ctx, e := context.Background(), r.endpoint()
	id, w := compute.JobID("nosuchjob"), pick(r, modelWorkers...)
	if len(r.created) > 0 {
		id = pick(r, r.created[max(0, len(r.created)-6):]...)
	}

	before := r.row(id)
	if before != nil {
		e = before.EndpointID
		if before.WorkerID != "" && !r.one(4) {
			w = before.WorkerID
		}
	}

	holds := before != nil && before.Status == compute.JobInProgress && before.WorkerID == w
	// after asserts what is so of the job if the operation says that it is done.
	after := func(what string, err error, is func(compute.Job) bool) {
		r.say("%s %s %s %s: %v", what, e, w, id, err)
		now := r.row(id)
		if before != nil && now != nil && before.Status.Ended() && now.Status != before.Status {
			require.Equal(r, "retry", what, "a final status never changes but by a retry")
		}
		if err == nil {
			require.NotNil(r, now, what)
			require.True(r, is(*now), "%s: %+v", what, now)
		}
	}

	there := func(compute.Job) bool { return true }
	n := r.random.IntN(30)
	switch {
	case n < 5:
		s := queue.Submission{Input: []byte(`{}`), LowPriority: r.one(4), Webhook: pick(r, "", "http://receiver/"+string(e))}
		j, err := r.queue.Run(ctx, user, e, s)
		r.created, id, before = append(r.created, j.ID), j.ID, nil
		r.names[id] = fmt.Sprintf("j%d", len(r.created))
		after("submit", err, func(j compute.Job) bool { return j.Status == compute.JobInQueue })
	case n < 11:
		r.takeInGust(ctx, e, w)
	case n < 15 && before != nil:
		err := r.queue.Finish(ctx, user, e, w, id, queue.Report{Output: []byte(`1`), Error: pick(r, "", "boom")})
		after("finish", err, func(j compute.Job) bool { return !holds || j.Status.Ended() })
	case n < 17 && before != nil:
		j, err := r.queue.Cancel(ctx, user, e, id)
		after("cancel", err, func(now compute.Job) bool { return now.Status.Ended() && now.Status == j.Status })
	case n < 19 && before != nil:
		_, err := r.queue.Retry(ctx, user, e, id)
		delete(r.ends, id)
		after("retry", err, func(j compute.Job) bool { return j.Status == compute.JobInQueue })
	case n < 20:
		removed, err := r.queue.Purge(ctx, user, e)
		r.say("purge %s: %d, %v", e, removed, err)
	case n < 21 && before != nil:
		_, err := r.queue.SetTTL(ctx, user, e, id, time.Hour)
		after("set ttl", err, there)
	case n < 22:
		r.say("worker gone %s %s", e, w)
		r.queue.WorkerGone(ctx, e, w, "the worker ended")
	case n < 24:
		r.say("ping %s %s %s", e, w, id)
		require.NoError(r, r.queue.Ping(user, e, w, []compute.JobID{id}))
	case n < 25 && before != nil:
		_, _, err := r.queue.Stream(ctx, user, e, id, 0, nil)
		r.say("read stream %s %s: %v", e, id, err)
	case n < 26:
		err := r.queue.StreamJob(ctx, user, e, w, id, compute.Chunk{Output: []byte(`1`)})
		r.say("stream job %s %s %s: %v", e, w, id, err)
	case n < 27:
		err := r.queue.Reload(ctx)
		r.say("all memory is lost: %v", err)
	default:
		d := pick(r, time.Second, 10*time.Second, 31*time.Second)
		r.clock.Advance(d)
		err := r.queue.Sweep(ctx)
		r.say("%s pass, sweep: %v", d, err)
	}
}

// takeInGust takes jobs, holds what was given against the rows, and hands some back.
func (r *modelRun) takeInGust(ctx context.Context, e compute.EndpointID, w compute.WorkerID) {
	taken, err := r.queue.Take(ctx, user, e, w, 1+r.random.IntN(3))
	for _, t := range taken {
		now := r.row(t.ID)
		require.NotNil(r, now)
		require.Equal(r, []any{compute.JobInProgress, w, t.Attempt}, []any{now.Status, now.WorkerID, now.Attempt})
	}
	r.say("take %s %s: %d, %v", e, w, len(taken), err)
	if len(taken) > 0 && r.one(4) {
		r.say("hand back")
		r.queue.HandBack(taken)
	}
}

// agrees asserts that memory knows of every job what the disk does.
func (r *modelRun) agrees() {
	waiting, running := map[compute.EndpointID]int{}, map[compute.EndpointID]int{}
	posts := r.posts()
	for _, id := range r.created {
		row := r.row(id)
		if row == nil {
			continue
		}

		switch row.Status {
		case compute.JobInQueue:
			waiting[row.EndpointID]++
		case compute.JobInProgress:
			running[row.EndpointID]++
		default:
			body, err := document(*row)
			require.NoError(r, err)
			require.True(r, row.Webhook == "" || posts[string(body)] > 0, "%s has ended without a delivery", r.names[id])
		}

		if j, err := r.queue.Status(context.Background(), user, row.EndpointID, id); row.Status.Ended() && !r.clock.Now().Before(row.ExpiresAt) {
			require.Equal(r, compute.NotFound, compute.CodeOf(err))
		} else {
			require.NoError(r, err)
			require.Equal(r, row.Status, j.Status, r.names[id])
		}
	}

	for _, l := range r.queue.Dispatchers() {
		require.Equal(r, waiting[l.Endpoint], l.Waiting, "waiting at %s", l.Endpoint)
		require.Equal(r, running[l.Endpoint], l.InProgress, "in progress at %s", l.Endpoint)
	}
}

// livesOn asserts that each job gets on that has not ended: if its worker is silent it goes back or fails, and what waits is
// handed out.
func (r *modelRun) livesOn() {
	ctx := context.Background()
	r.say("every worker is silent for a lease")
	r.clock.Advance(r.m.settings.Lease)
	require.NoError(r, r.queue.Sweep(ctx))

	waiting := 0
	for _, id := range r.created {
		if row := r.row(id); row != nil {
			require.NotEqual(r, compute.JobInProgress, row.Status, "%s is held by nobody", r.names[id])
			if row.Status == compute.JobInQueue {
				waiting++
			}
		}
	}

	for _, e := range modelEndpoints {
		taken, err := r.queue.Take(ctx, user, e, "stranger", 1000)
		require.NoError(r, err)
		waiting -= len(taken)
		r.queue.HandBack(taken)
	}

	require.Zero(r, waiting, "jobs that wait and are handed to nobody")
}

// posts counts the deliveries that are to be made, by their documents.
func (r *modelRun) posts() map[string]int {
	all := map[string]int{}
	for _, p := range r.due() {
		all[string(p.Body)]++
	}
	return all
}

func (r *modelRun) due() (posts []compute.Webhook) {
	require.NoError(r, r.db.Read(context.Background(), func(tx store.Tx) error {
		posts = r.pending(tx)
		return nil
	}))
	return posts
}

// pending gives the deliveries that are to be made, in their order.
func (r *modelRun) pending(tx store.Tx) (posts []compute.Webhook) {
	require.NoError(r, tx.PendingWebhooks(0, func(w compute.Webhook) { posts = append(posts, w) }))
	for i := range posts {
		whole, err := tx.Webhook(posts[i].Seq)
		require.NoError(r, err)
		whole.Seq, whole.Size = 0, 0
		posts[i] = whole
	}
	return posts
}

// errPeeked undoes a look that removes what it sees.
var errPeeked = errors.New("peeked")

// adopt has the reference know what is on disk.
func (r *modelRun) adopt() {
	m := r.m
	m.now, m.jobs, m.order, m.held, m.posts = r.clock.Now(), map[compute.JobID]*refJob{}, nil, nil, r.due()
	for _, l := range m.lines {
		l.normal, l.low = nil, nil
	}

	err := r.db.Write(context.Background(), func(tx store.Tx) error {
		for _, id := range r.created {
			j, err := tx.Job(id)
			if compute.CodeOf(err) == compute.NotFound {
				continue
			}
			require.NoError(r, err)

			one := &refJob{Job: j, lost: map[compute.WorkerID]bool{}}
			one.input, err = tx.JobInput(id)
			require.NoError(r, err)
			one.chunks, _, err = tx.DrainChunks(id, 1<<30)
			require.NoError(r, err)

			reads, err := tx.CountFinalRead(id)
			require.NoError(r, err)
			if j.Status.Ended() {
				one.reads = reads - 1
			}
			m.jobs[id], m.order = one, append(m.order, id)

			switch line := m.lines[j.EndpointID]; j.Status {
			case compute.JobInQueue:
				*line.of(one) = append(*line.of(one), id)
			case compute.JobInProgress:
				m.held = append(m.held, id)
			}
		}

		for e, l := range m.lines {
			var err error
			l.counts, err = tx.CountJobs(e)
			require.NoError(r, err)
		}

		return errPeeked
	})

	require.ErrorIs(r, err, errPeeked)
}
