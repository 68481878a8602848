package queue

import (
	"cmp"
	"context"
	"encoding/json"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Submission is what a client asks for. Zero durations are the defaults.
type Submission struct {
	Input            json.RawMessage
	Webhook          string
	S3Config         json.RawMessage
	ExecutionTimeout time.Duration
	TTL              time.Duration
	LowPriority      bool
	Stored           func() // called once it is on disk or refused; may be nil
}

// The documented defaults (rules queue.policy, queue.retention.run, queue.retention.runsync).
const (
	defaultExecutionTimeout = 600 * time.Second
	defaultTTL              = 24 * time.Hour
	runRetention            = 30 * time.Minute
	syncRetention           = time.Minute
	longSyncRetention       = 5 * time.Minute

	// DefaultWait is how long /runsync and /status-sync wait unless told otherwise.
	DefaultWait = 90 * time.Second
)

// Run stores the job and gives it, IN_QUEUE. It is on disk when Run returns. NotFound for an unknown endpoint.
func (q *Queue) Run(ctx context.Context, user compute.UserID, e compute.EndpointID, s Submission) (compute.Job, error) {
	return q.submit(ctx, user, s, q.draft(e, s, compute.Job{Retention: runRetention}))
}

// RunSync stores the job and waits for its end, for at most wait; then it gives the job as it is.
func (q *Queue) RunSync(ctx context.Context, user compute.UserID, e compute.EndpointID, s Submission, wait time.Duration) (compute.Job, error) {
	j := q.syncDraft(e, s, wait)
	end := q.watchEnd(j.ID) // before the job is there: its end is not missed, and need not be looked for
	defer func() { q.unwatchEnd(j.ID, end) }()
	j, err := q.submit(ctx, user, s, j)
	if err != nil {
		return j, err
	}
	return q.awaitEnd(ctx, user, j, end, wait)
}

// SubmitSync stores the job as RunSync does and gives it, IN_QUEUE: the wait, which is the caller's, decides how long the
// result is kept.
func (q *Queue) SubmitSync(ctx context.Context, user compute.UserID, e compute.EndpointID, s Submission, wait time.Duration) (compute.Job, error) {
	return q.submit(ctx, user, s, q.syncDraft(e, s, wait))
}

// syncDraft is draft for a job that is waited for.
func (q *Queue) syncDraft(e compute.EndpointID, s Submission, wait time.Duration) compute.Job {
	j := compute.Job{Sync: true, Retention: syncRetention}
	if wait > DefaultWait {
		j.Retention = longSyncRetention
	}
	return q.draft(e, s, j)
}

// draft gives the job that the submission asks for, with a new id.
func (q *Queue) draft(e compute.EndpointID, s Submission, j compute.Job) compute.Job {
	j.ID, j.EndpointID, j.Status = q.ids.Job(j.Sync), e, compute.JobInQueue
	j.Webhook, j.S3Config, j.LowPriority = s.Webhook, s.S3Config, s.LowPriority
	j.ExecutionTimeout, j.TTL = s.ExecutionTimeout, s.TTL
	if j.TTL == 0 {
		j.TTL = defaultTTL
	}
	return j
}

// submit stores the job. If a worker waits for one, it is stored as taken and handed over at once: one commit of two
// statements in place of two commits of five; a /runsync takes 0.65 of the time. A job that is waited for is handed over before
// its commit, since its client is told nothing before its end, which is never committed sooner: the worker runs it meanwhile, and
// if it is quick enough both are one commit.
func (q *Queue) submit(ctx context.Context, user compute.UserID, s Submission, j compute.Job) (compute.Job, error) {
	q.mu.Lock()
	l, err := q.line(user, j.EndpointID)
	if err == nil && j.ExecutionTimeout == 0 {
		j.ExecutionTimeout = cmp.Or(l.endpoint.Timeout, defaultExecutionTimeout)
	}
	q.mu.Unlock()
	if err == nil {
		err = q.roomForDoubt()
	}
	if err != nil {
		return j, err
	}
	var t *taker
	var taken compute.Job
	early := false // it was handed over before its commit
	if q.hooks.Trace != nil {
		q.hooks.Trace.Submitted(ctx, j.ID)
	}
	unknown, err := unsure(ctx, q.store.WriteSure, func(tx store.Tx) (err error) {
		j.CreatedAt, j.QueuedAt, j.ExpiresAt = tx.Wall(), tx.Now(), tx.Now().Add(j.TTL)
		if l, t, err = q.reserve(user, j.EndpointID); err != nil { // no sooner: a worker may come back at the last moment
			return err
		}
		if t == nil {
			return q.insert(ctx, tx, &j, s.Input)
		}
		taken = j
		if taken.Status, err = compute.JobMachine.Next(j.Status, compute.JobTake); err != nil {
			return err
		}
		taken.WorkerID, taken.TakenAt, taken.Attempt = t.worker, tx.Now(), 1
		if err := q.insert(ctx, tx, &taken, s.Input); err != nil {
			return err
		}
		j.ID = taken.ID
		if early = j.Sync; early {
			q.mu.Lock()
			q.handOver(t, taken, s.Input)
			l.early++
			q.mu.Unlock()
			tx.Linger() // for the worker's report
		}
		return nil
	})
	if s.Stored != nil {
		s.Stored()
	}
	q.tellSubmitted(l, j.ID, err)
	switch {
	case early:
		q.mu.Lock()
		l.early--
		if err != nil && !unknown { // what the worker reports of it finds nothing
			q.release(j.ID)
		}
		q.mu.Unlock()
		q.demand(j.EndpointID)
	case t == nil && err == nil:
		q.enqueue(j, false, true)
	case t != nil && err == nil:
		q.mu.Lock()
		q.handOver(t, taken, s.Input)
		q.mu.Unlock()
		q.demand(j.EndpointID)
	case t != nil:
		t.given <- handed{}
	}
	switch {
	case unknown && t != nil && !early:
		q.doubt(j.EndpointID, func(ctx context.Context) error { return q.untake(ctx, j.EndpointID, t.worker, []compute.JobID{j.ID}) })
	case unknown:
		q.doubtJobs(j.EndpointID, j.ID)
	}
	return j, err
}

// idTries is how many ids a new job is given at most: each but the first is a guess among the numbers of sources.
const idTries = 16

// insert stores a new job. If another source of ids was first to make its number, it gets another id, and who waits for its end
// waits for that.
func (q *Queue) insert(ctx context.Context, tx store.Tx, j *compute.Job, input json.RawMessage) error {
	for try := 1; ; try++ {
		err := tx.InsertJob(*j, input)
		if compute.CodeOf(err) != compute.Conflict || try == idTries {
			return err
		}
		taken := j.ID
		q.ids.Meet()
		j.ID = q.ids.Job(j.Sync)
		q.mu.Lock()
		q.ends.rename(taken, j.ID)
		q.mu.Unlock()
		if q.hooks.Trace != nil {
			q.hooks.Trace.Dropped(taken)
			q.hooks.Trace.Submitted(ctx, j.ID)
		}
	}
}

// handOver gives a job that is stored as taken, or about to be, to its worker. The caller has the lock.
func (q *Queue) handOver(t *taker, j compute.Job, input json.RawMessage) {
	q.hold(j, j.TakenAt)
	taken := &Taken{Job: j, Input: input}
	if len(input) > compute.PieceSize { // its memory is not the worker's to hold
		taken.Input, taken.InputSize = nil, len(input)
	}
	t.given <- handed{taken: taken}
}

// reserve takes the worker that waits longest out of the endpoint's line, for a new job; nil if none waits.
func (q *Queue) reserve(user compute.UserID, e compute.EndpointID) (*line, *taker, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	l, err := q.line(user, e)
	if err != nil {
		return nil, nil, err
	}
	return l, l.reserve(), nil
}

// enqueue hands a job that is IN_QUEUE on disk to the dispatcher, as line.push.
func (q *Queue) enqueue(j compute.Job, front, fresh bool) {
	q.mu.Lock()
	l := q.lines[j.EndpointID]
	deleted := l == nil || l.gone
	if !deleted {
		l.push(j, front, fresh)
	}
	q.mu.Unlock()
	if deleted { // since the job was let in
		cancel := func(ctx context.Context) error {
			_, err := q.end(ctx, j.EndpointID, j.ID, anyHolder, compute.Job{}, nil, func(*compute.Job) compute.JobEvent { return compute.JobCancel })
			return err
		}
		if cancel(context.Background()) != nil {
			q.doubt(j.EndpointID, cancel)
		}
	}
	q.demand(j.EndpointID)
}
