package queue

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Status gives the job, of a waiting one no more than its ids, status and QueuedAt. NotFound for an unknown endpoint or job,
// and for one whose time is over. What memory knows costs no read: of a waiting job and of one that ended just now.
func (q *Queue) Status(ctx context.Context, user compute.UserID, e compute.EndpointID, id compute.JobID) (compute.Job, error) {
	q.mu.Lock()
	d, err := q.dispatcher(user, e)
	if err != nil {
		q.mu.Unlock()
		return compute.Job{}, err
	}

	w, waits := d.find(id)
	j, known := q.recent.find(id)
	committing := q.early[e] > 0
	q.mu.Unlock()
	if waits && w.plain {
		return compute.Job{ID: id, EndpointID: e, Status: compute.JobInQueue, QueuedAt: time.UnixMilli(w.since).UTC()}, nil
	}
	if known && j.EndpointID == e && q.clock.Now().Before(j.ExpiresAt) {
		return j, nil
	}

	read := func(tx store.Tx) (err error) {
		j, err = ownJob(tx, e, id)
		return err
	}
	return j, q.readJob(ctx, committing, read)
}

// Pieces gives count pieces of a long input or output of the job, from the first on, which counts from 0. NotFound if the job is
// gone, or has another output by now. A job that was handed over before its commit is read after it.
func (q *Queue) Pieces(ctx context.Context, j compute.Job, of compute.JobText, first, count int) (text json.RawMessage, err error) {
	err = q.readJob(ctx, of == compute.JobInput, func(tx store.Tx) (err error) {
		text, err = tx.JobPieces(j, of, first, count)
		return err
	})
	return text, err
}

// Input gives the input of the job, which is not long. NotFound if the job is gone.
func (q *Queue) Input(ctx context.Context, j compute.Job) (text json.RawMessage, err error) {
	err = q.readJob(ctx, true, func(tx store.Tx) (err error) {
		text, err = tx.JobInput(j.ID)
		return err
	})
	return text, err
}

// readJob is a read of one job. If one was handed over before its commit and f does not find its job, f sees it after the commit.
func (q *Queue) readJob(ctx context.Context, committing bool, f func(store.Tx) error) error {
	err := q.store.Read(ctx, f)
	if committing && compute.CodeOf(err) == compute.NotFound {
		err = q.store.Write(ctx, f)
	}
	return err
}

// forget has the job's status read from disk from now on. Whoever changes an ended job calls it before: what is read from disk
// after the commit is not taken back by what is read from memory.
func (q *Queue) forget(id compute.JobID) {
	if _, is := id.Key(); !is {
		return // no job has it
	}
	q.mu.Lock()
	q.recent.forget(compute.JobID(strings.Clone(string(id)))) // nothing of the request is kept
	q.mu.Unlock()
}

// ownJob hides a job of another endpoint and one whose retention is over but which was not swept yet.
func ownJob(tx store.Queue, e compute.EndpointID, id compute.JobID) (compute.Job, error) {
	j, err := tx.Job(id)
	if err == nil && !visible(j, e, tx.Now()) {
		err = unknownJob(id)
	}
	return j, err
}

// visible reports whether a client of the endpoint can see the job.
func visible(j compute.Job, e compute.EndpointID, now time.Time) bool {
	return j.EndpointID == e && (!j.Status.Ended() || now.Before(j.ExpiresAt))
}

func unknownJob(id compute.JobID) error {
	return compute.Errorf(compute.NotFound, "job %q does not exist or its result has expired", id)
}

// mostTTL is how long a job may have to live from when that is set, as a submission has it.
const mostTTL = 7 * 24 * time.Hour

// SetTTL sets the job's remaining time to live, from now, to mostTTL at most. The result of an ended job is kept for no longer than that, and
// never for longer than its retention (rules queue.ttl.status.most, queue.ttl.status.ended).
func (q *Queue) SetTTL(ctx context.Context, user compute.UserID, e compute.EndpointID, id compute.JobID, ttl time.Duration) (compute.Job, error) {
	if err := q.Known(user, e); err != nil {
		return compute.Job{}, err
	}
	q.forget(id)

	var j compute.Job
	err := q.store.Write(ctx, func(tx store.Tx) (err error) {
		if j, err = ownJob(tx, e, id); err != nil {
			return err
		}
		until := tx.Now().Add(min(ttl, mostTTL))
		if j.Status.Ended() && j.ExpiresAt.Before(until) {
			return nil
		}
		j.ExpiresAt = until
		_, err = tx.MoveJob(j, store.GuardOf(j))
		return err
	})

	return j, err
}

// Wait gives the job once it has ended, or as it is after wait.
func (q *Queue) Wait(ctx context.Context, user compute.UserID, e compute.EndpointID, id compute.JobID, wait time.Duration) (compute.Job, error) {
	end := q.watchEnd(id)
	defer q.unwatchEnd(id, end)
	// Read after registering: an end between the two is not missed.
	j, err := q.Status(ctx, user, e, id)
	if err != nil || j.Status.Ended() {
		return j, err
	}
	return q.awaitEnd(ctx, user, j, end, wait)
}

func (q *Queue) watchEnd(id compute.JobID) chan struct{} {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.ends.add(id)
}

func (q *Queue) unwatchEnd(id compute.JobID, end chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.ends.remove(id, end)
}

// awaitEnd gives the job once its end has come, or as it is after wait.
func (q *Queue) awaitEnd(ctx context.Context, user compute.UserID, j compute.Job, end chan struct{}, wait time.Duration) (compute.Job, error) {
	timeout, stop := compute.Await(q.clock, wait)
	defer stop()
	defer q.Hold()()
	if q.hooks.Trace != nil {
		defer q.hooks.Trace.Waits(ctx, j.ID)()
	}

	for {
		over := true
		select {
		case <-end:
			over = false
		case <-timeout:
		case <-q.closed:
		case <-compute.Leaving(ctx):
		case <-ctx.Done():
			return j, ctx.Err()
		}

		now, err := q.Status(ctx, user, j.EndpointID, j.ID)
		if over || err != nil || now.Status.Ended() {
			return now, err
		}
		// It was retried as it ended. Its next end is watched for before the job is read once more, and not missed.
		end = q.watchEnd(j.ID)
		defer q.unwatchEnd(j.ID, end)
		if now, err = q.Status(ctx, user, j.EndpointID, j.ID); err != nil || now.Status.Ended() {
			return now, err
		}
	}
}

// Health is an endpoint in numbers.
type Health struct {
	Jobs    compute.JobCounts
	Workers map[compute.WorkerStatus]int64
	Ready   []compute.WorkerID // would take a job now; in their order

	requests *compute.JobCounts // what Jobs is of an endpoint that balances load: its requests since the server was started
}

// Health counts the endpoint's jobs and workers.
func (q *Queue) Health(ctx context.Context, user compute.UserID, e compute.EndpointID) (Health, error) {
	h, committing, err := q.workers(user, e)
	if err != nil {
		return h, err
	}
	if h.requests != nil {
		h.Jobs = *h.requests
		return h, nil
	}
	read := q.store.Read
	if committing {
		read = q.store.Write // after the commit
	}
	err = read(ctx, func(tx store.Tx) (err error) {
		h.Jobs, err = tx.CountJobs(e)
		return err
	})

	return h, err
}

// Workers is Health without the jobs, for which nothing is read.
func (q *Queue) Workers(user compute.UserID, e compute.EndpointID) (Health, error) {
	h, _, err := q.workers(user, e)
	return h, err
}

// workers counts the endpoint's workers, and reports whether jobs are known here that a commit under way is about to store.
func (q *Queue) workers(user compute.UserID, e compute.EndpointID) (h Health, committing bool, err error) {
	q.mu.Lock()
	defer q.mu.Unlock()

	d, err := q.any(user, e)
	if err != nil {
		return h, false, err
	}
	if d.endpoint.Type == compute.LoadBalancer {
		counts := d.counts
		counts.InQueue, counts.InProgress = int64(len(d.requests)), int64(d.inProgress())
		h.requests = &counts
	}
	h.Workers = map[compute.WorkerStatus]int64{compute.WorkerThrottled: 0}
	for _, a := range d.absent {
		h.Workers[a.Status]++
	}

	for id, s := range d.workers {
		status := s.status()
		h.Workers[status]++
		if status == compute.WorkerIdle && !s.draining && !s.leaving {
			h.Ready = append(h.Ready, id)
		}
	}

	slices.Sort(h.Ready)
	return h, q.early[e] > 0, nil
}
