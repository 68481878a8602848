package queue

import (
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
	return q.submit(ctx, user, e, s, compute.Job{Retention: runRetention})
}

// RunSync stores the job and waits for its end, for at most wait; then it gives the job as it is.
func (q *Queue) RunSync(ctx context.Context, user compute.UserID, e compute.EndpointID, s Submission, wait time.Duration) (compute.Job, error) {
	j, err := q.SubmitSync(ctx, user, e, s, wait)
	if err != nil {
		return j, err
	}
	return q.Wait(ctx, user, e, j.ID, wait)
}

// SubmitSync stores the job as RunSync does and gives it, IN_QUEUE: the wait, which is the caller's, decides how long the
// result is kept.
func (q *Queue) SubmitSync(ctx context.Context, user compute.UserID, e compute.EndpointID, s Submission, wait time.Duration) (compute.Job, error) {
	j := compute.Job{Sync: true, Retention: syncRetention}
	if wait > DefaultWait {
		j.Retention = longSyncRetention
	}
	return q.submit(ctx, user, e, s, j)
}

func (q *Queue) submit(ctx context.Context, user compute.UserID, e compute.EndpointID, s Submission, j compute.Job) (compute.Job, error) {
	if err := q.Known(user, e); err != nil {
		return j, err
	}
	j.ID, j.EndpointID, j.Status = q.ids.Job(j.Sync), e, compute.JobInQueue
	j.Webhook, j.S3Config, j.LowPriority = s.Webhook, s.S3Config, s.LowPriority
	j.ExecutionTimeout, j.TTL = s.ExecutionTimeout, s.TTL
	if j.ExecutionTimeout == 0 {
		j.ExecutionTimeout = defaultExecutionTimeout
	}
	if j.TTL == 0 {
		j.TTL = defaultTTL
	}
	err := q.store.Write(ctx, func(tx store.Tx) error {
		j.CreatedAt, j.QueuedAt, j.ExpiresAt = tx.Now(), tx.Now(), tx.Now().Add(j.TTL)
		return tx.InsertJob(j, s.Input)
	})
	if err != nil {
		return j, err
	}
	q.enqueue(j, false)
	return j, nil
}

// enqueue hands a job that is IN_QUEUE on disk to the dispatcher, as line.push.
func (q *Queue) enqueue(j compute.Job, front bool) {
	q.mu.Lock()
	if l := q.lines[j.EndpointID]; l != nil {
		l.push(j, front)
	}
	q.mu.Unlock()
	q.hooks.Demand()
}
