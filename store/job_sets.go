package store

import (
	"context"
	"encoding/json"

	"github.com/berthdev/berth/impl/compute"
)

// JobSets are the hot paths: each call is one write of as many jobs as its caller has at hand, which shares a commit as Write
// does, and which an engine may do in one statement for all who share it.
type JobSets interface {
	// SubmitJob stores a new job. Conflict if the id is taken. The Submission, which is large, stays as it is.
	SubmitJob(context.Context, *Submission) error
	// TakeJobs takes those of the jobs that are IN_QUEUE.
	TakeJobs(context.Context, Take) error
	// EndJob ends a job if it is still as Was says.
	EndJob(context.Context, JobEnd) error
}

// Submission is a job to be stored. The functions may be nil.
type Submission struct {
	Job   compute.Job // IN_QUEUE, without its times
	Input json.RawMessage
	// Assign is called once, as late as can be: a worker may come back at the last moment. The job is stored as taken by the worker
	// that it gives; by nobody if that is "".
	Assign func() compute.WorkerID
	// Early is called once if there is a worker, as soon as nothing but the commit is left to do. If it gives true nobody waits for
	// the commit yet: it may come a millisecond later, to be shared.
	Early func(compute.Job) bool
	// Stored is called after the commit with the job as it was stored.
	Stored func(compute.Job)
}

// Take is what a worker takes.
type Take struct {
	Worker compute.WorkerID
	Jobs   []compute.JobID
	Enough int // bytes of inputs and S3Configs: the take ends with the job with which it has so many; 0: it never has enough
	// Taken is called after the commit with the jobs that were IN_QUEUE, in their order, and how many at the end it did not come to.
	Taken func(jobs []TakenJob, left int)
}

// TakenJob is a job as it was taken: IN_PROGRESS, with one attempt more.
type TakenJob struct {
	compute.Job
	Input     json.RawMessage
	InputSize int // of an input that is kept in pieces; Input is nil then
}

// JobGuard is what a move of a job believes: it changes nothing if the row says otherwise.
type JobGuard struct {
	Status  compute.JobStatus
	Worker  compute.WorkerID
	Attempt int
}

// GuardOf guards a move of a job that is as it was read.
func GuardOf(j compute.Job) JobGuard { return JobGuard{j.Status, j.WorkerID, j.Attempt} }

// JobEnd is the end of a job. The functions may be nil.
type JobEnd struct {
	Job compute.Job // with its final Status; EndedAt and ExpiresAt are set by its Retention
	Was JobGuard
	// Document gives what is to be sent to the job's webhook, which is stored with the end. It is pure.
	Document func(compute.Job) (json.RawMessage, error)
	// Ended is called after the commit with the job as it was stored, if it was.
	Ended func(compute.Job)
}

// In stores the job in a transaction, taken by the worker unless that is empty, and gives it as it is stored.
func (s *Submission) In(tx Queue, w compute.WorkerID) (*compute.Job, error) {
	j := &compute.Job{}
	*j = s.Job
	j.CreatedAt, j.QueuedAt, j.ExpiresAt = tx.Wall(), tx.Now(), tx.Now().Add(j.TTL)
	if w != "" {
		j.Status, j.WorkerID, j.TakenAt, j.Attempt = compute.JobInProgress, w, tx.Now(), 1
	}
	err := tx.InsertJob(*j, s.Input)
	if err == nil && s.Stored != nil {
		tx.AfterCommit(func() { s.Stored(*j) })
	}
	return j, err
}

// In takes those of the jobs in a transaction that are IN_QUEUE.
func (t Take) In(tx Queue) error {
	taken := make([]TakenJob, 0, len(t.Jobs))
	came, bytes := 0, 0
	for _, id := range t.Jobs {
		if t.Enough > 0 && bytes >= t.Enough {
			break
		}
		j, input, size, ok, err := tx.TakeJob(id, t.Worker)
		if err != nil {
			return err
		}
		if ok { // not if it ended since it was listed
			taken = append(taken, TakenJob{Job: j, Input: input, InputSize: size})
			bytes += len(input) + size + len(j.S3Config)
		}
		came++
	}

	left := len(t.Jobs) - came
	tx.AfterCommit(func() { t.Taken(taken, left) })
	return nil
}

// WithOutput gives the job with its output, also one that was sent before the end and is long.
func WithOutput(tx Queue, j compute.Job) (_ compute.Job, err error) {
	if j.Output == nil && j.OutputSize > 0 {
		j.Output, err = tx.JobPieces(j, compute.JobOutput, 0, compute.Pieces(j.OutputSize))
	}
	return j, err
}

// In ends the job in a transaction, if it is still as it was, and stores with it what is to be delivered to its webhook.
func (e JobEnd) In(tx Queue) (ended bool, err error) {
	j := e.Job
	if j.Webhook != "" {
		if j, err = WithOutput(tx, j); err != nil {
			return false, err
		}
	}

	j.EndedAt, j.ExpiresAt = tx.Now(), tx.Now().Add(j.Retention)
	var document json.RawMessage
	if j.Webhook != "" && e.Document != nil { // first: a document that cannot be made leaves everything as it was
		if document, err = e.Document(j); err != nil {
			return false, err
		}
	}

	moved, err := tx.MoveJob(j, e.Was)
	if err != nil || !moved {
		return false, err
	}

	if document != nil {
		if err := tx.InsertWebhook(compute.Webhook{JobID: j.ID, URL: j.Webhook, Body: document, NextAt: tx.Now(), CreatedAt: tx.Wall()}); err != nil {
			return false, err
		}
	}

	if e.Ended != nil {
		tx.AfterCommit(func() { e.Ended(j) })
	}
	return true, nil
}
