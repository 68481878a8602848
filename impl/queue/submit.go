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
	Stored           func() // called once it is on disk, or the storage has refused it; may be nil
}

// The documented defaults (rules queue.policy, queue.retention.run, queue.retention.runsync).
const (
	defaultExecutionTimeout = 600 * time.Second
	defaultTTL              = 24 * time.Hour
	runRetention            = 30 * time.Minute
	syncRetention           = time.Minute
	longSyncRetention       = 5 * time.Minute

	// DefaultWait is how long /runsync and /status-sync wait by default.
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
	j.Webhook, j.S3Config, j.LowPriority = s.Webhook, q.sealed(e, s.S3Config), s.LowPriority
	j.ExecutionTimeout, j.TTL = s.ExecutionTimeout, s.TTL
	if j.TTL == 0 {
		j.TTL = defaultTTL
	}
	return j
}

// submit stores the job. If a worker waits for one, it is stored as taken and handed over at once: one commit of two
// statements in place of two commits of five. A job that is waited for is handed over before its commit, since its client gets
// no answer before its end, which is never committed sooner: the worker runs it meanwhile, and if it is quick enough both are one
// commit.
func (q *Queue) submit(ctx context.Context, user compute.UserID, s Submission, j compute.Job) (compute.Job, error) {
	if err := q.admit(user, &j); err != nil {
		return j, err
	}
	for try := 1; ; try++ {
		if q.hooks.Trace != nil {
			q.hooks.Trace.Submitted(ctx, j.ID)
		}
		one := submission{queue: q, user: user, Submission: store.Submission{Job: j, Input: s.Input}}
		err := q.store.SubmitJob(ctx, one.asked())
		one.after(err)
		if compute.CodeOf(err) == compute.Conflict && !one.early && try < idTries {
			j.ID = q.anotherID(j)
			continue
		}

		if s.Stored != nil {
			s.Stored()
		}
		q.meterSubmitted(j.EndpointID, j.ID, err)
		q.demand(j.EndpointID)
		j.CreatedAt, j.QueuedAt, j.ExpiresAt = one.Job.CreatedAt, one.Job.QueuedAt, one.Job.ExpiresAt

		return j, err
	}
}

// idTries is how many ids a new job is given at most: each but the first is a guess among the numbers of sources.
const idTries = 16

// anotherID gives a new job another id, since another source of ids was first to make its number. Who waits for its end waits for
// that of the new one.
func (q *Queue) anotherID(j compute.Job) compute.JobID {
	q.ids.Meet()
	id := q.ids.Job(j.Sync)
	q.mu.Lock()
	q.ends.rename(j.ID, id)
	q.mu.Unlock()
	if q.hooks.Trace != nil {
		q.hooks.Trace.Dropped(j.ID)
	}
	return id
}

// admit refuses a job of an endpoint that is not there, and gives it the endpoint's timeout.
func (q *Queue) admit(user compute.UserID, j *compute.Job) error {
	q.mu.Lock()
	d, err := q.dispatcher(user, j.EndpointID)
	if err == nil && j.ExecutionTimeout == 0 {
		j.ExecutionTimeout = cmp.Or(d.endpoint.Timeout, defaultExecutionTimeout)
	}
	q.mu.Unlock()
	if err != nil {
		return err
	}
	return q.roomForDoubt()
}

// submission is a job on its way into the store, and the take that waits for it, if there is one.
type submission struct {
	store.Submission
	queue *Queue
	user  compute.UserID

	take  *heldTake // nil: the job waits
	early bool      // it was handed over before its commit
}

// asked gives what the store is asked to do.
func (s *submission) asked() *store.Submission {
	s.Assign, s.Stored = s.assign, s.wasStored
	if s.Job.Sync {
		s.Early = s.handOverEarly
	}
	return &s.Submission
}

// assign takes out the take that waits longest; no sooner than the job goes into a commit: a worker may come back at the last
// moment.
func (s *submission) assign() compute.WorkerID {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	d, err := s.queue.dispatcher(s.user, s.Job.EndpointID)
	if err != nil { // deleted meanwhile: wasStored sees to it
		return ""
	}
	if s.take = d.reserve(); s.take == nil {
		return ""
	}
	return s.take.worker
}

func (s *submission) handOverEarly(j compute.Job) (patient bool) {
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()
	s.early = true
	s.queue.early[j.EndpointID]++
	s.queue.handOver(s.take, j, s.Input)
	return true // for the worker's report
}

// wasStored has memory know of the job, in the order of the commits.
func (s *submission) wasStored(j compute.Job) {
	s.Job = j
	s.queue.mu.Lock()
	defer s.queue.mu.Unlock()

	if s.early {
		switch h := s.queue.held[j.ID]; {
		case h == nil: // memory was made anew meanwhile
			s.queue.hold(j, s.queue.clock.Now(), s.queue.settings.Lease)
		case h.worker == j.WorkerID:
			h.storedAs(j)
		}
		return
	}

	if s.take != nil {
		s.queue.handOver(s.take, j, s.Input)
		return
	}
	s.queue.enqueue(j, false, true)
}

// after tidies up once it is known whether the job was stored.
func (s *submission) after(err error) {
	q, e, id := s.queue, s.Job.EndpointID, s.Job.ID
	unknown := store.IsUnknown(err)
	q.mu.Lock()
	if s.early {
		if q.early[e]--; q.early[e] == 0 {
			delete(q.early, e)
		}
		if err != nil && !unknown { // what the worker reports of it finds nothing
			q.release(id, q.clock.Now())
		}
	}

	q.mu.Unlock()

	switch {
	case err == nil:
		return
	case s.take != nil && !s.early:
		if w := s.take.worker; unknown { // before the take hears of it: it looks for what is in doubt
			q.doubt(e, func(ctx context.Context) error { return q.untake(ctx, e, w, []compute.JobID{id}) })
		}
		s.take.given <- handover{}
	case unknown:
		q.doubtJobs(e, id)
	}
}

// handOver gives a job that is stored as taken, or about to be, to its worker. The caller has the lock.
func (q *Queue) handOver(t *heldTake, j compute.Job, input json.RawMessage) {
	q.hold(j, q.clock.Now(), q.settings.Lease)
	taken := &Taken{Job: j, Input: input}
	if len(input) > compute.PieceSize { // its memory is not the worker's to hold
		taken.Input, taken.InputSize = nil, len(input)
	}
	t.given <- handover{taken: taken}
}

// enqueue hands a job that is IN_QUEUE on disk to its dispatcher, as dispatcher.push. One of an endpoint that was deleted since the
// job was let in is cancelled by the next sweep. The caller has the lock.
func (q *Queue) enqueue(j compute.Job, front, fresh bool) {
	if d := q.dispatchers[j.EndpointID]; d != nil && !d.gone {
		d.push(j, front, fresh)
		return
	}
	q.endDeleted(j.EndpointID, j.ID)
}

// endDeleted has the next sweep cancel a job whose endpoint was deleted. The caller has the lock.
func (q *Queue) endDeleted(e compute.EndpointID, id compute.JobID) {
	q.doubts.add(e, func(ctx context.Context) error {
		_, err := q.end(ctx, e, id, anyHolder, nil, func(*compute.Job) compute.JobEvent { return compute.JobCancel })
		return err
	})
}
