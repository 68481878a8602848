package queue

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Report is what a worker says of a job. Empty JSON is absent.
type Report struct {
	Output json.RawMessage
	Error  string // not empty: the job failed
	Leave  bool   // the worker asks to be replaced
	// Stored is called once the end is on disk, and before those who wait for it hear of it: a worker that is answered here
	// is back before the job that they send next. It is not called if the report changes nothing; it may be nil.
	Stored func()
}

// Finish ends the job if the worker holds it; a late or repeated report changes nothing and is no error. An output over
// the limit fails the job instead: it is never COMPLETED without its output.
func (q *Queue) Finish(ctx context.Context, user compute.UserID, e compute.EndpointID, w compute.WorkerID, id compute.JobID, r Report) error {
	if err := q.heardOf(user, e, w); err != nil {
		return err
	}
	q.reported(e, w, id, r.Leave)
	_, err := q.end(ctx, e, id, w, q.heldBy(id, w), r.Stored, func(j *compute.Job) compute.JobEvent {
		limit := q.settings.RunOutputLimit
		if j.Sync {
			limit = q.settings.SyncLimit
		}
		j.Output, j.Error = r.Output, r.Error
		if len(r.Output) > limit {
			j.Output = nil
			j.Error = fmt.Sprintf("the output of %d bytes is over the limit of %d bytes", len(r.Output), limit)
		}
		if j.Error != "" {
			return compute.JobFail
		}
		return compute.JobComplete
	})
	return err
}

// Progress shows the value as the output of a job in progress. A late report changes nothing and is no error.
func (q *Queue) Progress(ctx context.Context, user compute.UserID, e compute.EndpointID, w compute.WorkerID, id compute.JobID, output json.RawMessage) error {
	if err := q.heardOf(user, e, w); err != nil {
		return err
	}
	if !q.extend(e, id, w) {
		return nil
	}
	return q.store.WriteSure(ctx, func(tx store.Tx) error {
		_, err := tx.SetJobOutput(id, w, output)
		return err
	})
}

// Cancel ends the job, wherever it is, and tells its worker to stop it. A job that has ended stays as it is.
func (q *Queue) Cancel(ctx context.Context, user compute.UserID, e compute.EndpointID, id compute.JobID) (compute.Job, error) {
	if err := q.Known(user, e); err != nil {
		return compute.Job{}, err
	}
	one, err := q.end(ctx, e, id, anyHolder, compute.Job{}, nil, func(*compute.Job) compute.JobEvent { return compute.JobCancel })
	if err == nil && !one.seen {
		err = unknownJob(id)
	}
	return one.job, err
}

// anyHolder as the worker id means that whoever holds the job loses it.
const anyHolder compute.WorkerID = "*"

// end moves a job to a final status by the event that decide gives, which may fill in output and error. It does nothing
// when the table has no such move (or decide gives none) or the holder is another one. known saves reading the job, which it
// does unless it is zero. stored, unless it is nil, is called before anybody hears of the end. Everything that ends a job goes through here
// or, if its time is over while it waits or runs, through expire.
func (q *Queue) end(ctx context.Context, e compute.EndpointID, id compute.JobID, holder compute.WorkerID, known compute.Job, stored func(), decide func(*compute.Job) compute.JobEvent) (*ending, error) {
	one := &ending{endpoint: e, id: id, holder: holder, decide: decide}
	unknown, err := unsure(ctx, q.store.WriteSure, func(tx store.Tx) error {
		one.job = known
		return one.move(q, tx)
	})
	switch {
	case unknown && one.moved:
		q.doubtJobs(e, id)
	case err == nil && one.moved:
		one.tell(ctx, q, stored)
	}
	return one, err
}

// ending is the end of a job.
type ending struct {
	endpoint compute.EndpointID
	id       compute.JobID
	holder   compute.WorkerID
	decide   func(*compute.Job) compute.JobEvent

	job   compute.Job // zero: it is to be read; then: as it is
	seen  bool        // a client of the endpoint can see it
	from  compute.JobStatus
	moved bool
}

// move moves the job, in a transaction that may be tried again.
func (o *ending) move(q *Queue, tx store.Tx) (err error) {
	o.moved, o.seen = false, false
	j := &o.job
	if j.ID == "" {
		*j, err = tx.Job(o.id)
	}
	if compute.CodeOf(err) == compute.NotFound {
		return nil // swept: nobody needs it
	}
	if err != nil {
		return err
	}
	o.seen = visible(*j, o.endpoint, tx.Now())
	if j.EndpointID != o.endpoint || o.holder != anyHolder && j.WorkerID != o.holder || j.Status.Ended() {
		return nil
	}
	o.from = j.Status
	next := *j
	if next.Status, err = compute.JobMachine.Next(o.from, o.decide(&next)); err != nil {
		return nil // the table says no: the report came too late
	}
	if o.from == compute.JobInQueue { // before the commit: from then on whoever reads the disk knows better
		q.shade(o.endpoint, o.id)
	}
	if o.moved, err = q.moveToEnd(tx, &next, o.from, j.WorkerID); o.moved {
		*j = next
	}
	return err
}

// tell lets everybody know whom the end concerns, once it is on disk.
func (o *ending) tell(ctx context.Context, q *Queue, stored func()) {
	j := o.job
	q.mu.Lock()
	q.recent.keep(j)
	if l := q.lines[o.endpoint]; l != nil {
		if o.from == compute.JobInQueue {
			l.leave(o.id)
		} else if o.holder == anyHolder {
			s := l.seat(j.WorkerID)
			s.stop(o.id, j.EndedAt)
			if s.pinged { // it will tell when it has stopped
				l.lose(o.id, j.WorkerID)
			}
		}
	}
	q.mu.Unlock()
	q.tellEnded(ctx, j)
	if stored != nil {
		stored()
	}
	q.ended(o.endpoint, o.id)
	if j.Webhook != "" {
		q.hooks.Delivery()
	}
}

// heldBy gives a job in progress as the worker took it, so that its report costs no read: the move tells whether the worker
// still holds it. It gives the zero job if the worker does not.
func (q *Queue) heldBy(id compute.JobID, w compute.WorkerID) compute.Job {
	q.mu.Lock()
	defer q.mu.Unlock()
	if h := q.held[id]; h != nil && h.worker == w {
		return h.job
	}
	return compute.Job{}
}

// moveToEnd stores the end of a job whose Status is set, and with it what is to be delivered to its webhook: neither is
// without the other on disk.
func (q *Queue) moveToEnd(tx store.Tx, j *compute.Job, from compute.JobStatus, holder compute.WorkerID) (bool, error) {
	j.EndedAt, j.ExpiresAt = tx.Now(), tx.Now().Add(j.Retention)
	var document json.RawMessage
	if j.Webhook != "" && q.hooks.Document != nil { // first, since after the move nothing may fail alone
		var err error
		if document, err = q.hooks.Document(*j); err != nil {
			return false, err
		}
	}
	moved, err := tx.MoveJob(*j, from, holder)
	if err != nil || !moved || document == nil {
		return moved, err
	}
	return true, tx.InsertWebhook(compute.Webhook{JobID: j.ID, URL: j.Webhook, Body: document, NextAt: tx.Now(), CreatedAt: tx.Wall()})
}
