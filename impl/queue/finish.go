package queue

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Report is what a worker says of a job. Empty JSON is absent.
type Report struct {
	Output json.RawMessage
	Error  string // not empty: the job failed
	Leave  bool   // the worker asks to be replaced
	// Stored is called once the end is on disk, and before those who wait for it are notified: a worker that is answered here
	// is back before the job that they send next. It is not called if the report changes nothing; it may be nil.
	Stored func()
}

// Finish ends the job if the worker holds it; a late or repeated report changes nothing and is no error. An output over
// the limit fails the job instead: it is never COMPLETED without its output.
func (q *Queue) Finish(ctx context.Context, user compute.UserID, e compute.EndpointID, w compute.WorkerID, id compute.JobID, r Report) error {
	if err := q.contact(user, e, w); err != nil {
		return err
	}
	report := func(j *compute.Job) compute.JobEvent { return q.event(j, r) }
	if j, held := q.reported(e, w, id, r.Leave); held {
		return q.endHeld(ctx, j, report, r.Stored)
	}
	defer q.stopped(e, w, id) // not sooner: it waits, perhaps, and is not to be handed to who is late with its end
	_, err := q.end(ctx, e, id, w, r.Stored, report)
	return err
}

// event fills in what the worker reports, and gives what it means for the job.
func (q *Queue) event(j *compute.Job, r Report) compute.JobEvent {
	limit := q.outputLimit(*j)
	j.Output, j.OutputSize, j.Error = r.Output, 0, shortened(r.Error)
	if len(r.Output) > limit {
		j.Output = nil
		j.Error = fmt.Sprintf("the output of %d bytes is over the limit of %d bytes", len(r.Output), limit)
	}
	if j.Error != "" {
		return compute.JobFail
	}

	return compute.JobComplete
}

// outputLimit is how many bytes the output of the job may have, and what shows its progress in the output's place.
func (q *Queue) outputLimit(j compute.Job) int {
	if j.Sync {
		return q.settings.SyncLimit
	}
	return q.settings.RunOutputLimit
}

// halfError is how many bytes are kept of the beginning and of the end of a longer error: it is in memory wherever its job is.
const halfError = 64 << 10

// shortened gives an error without its middle, if it is long. Of a character that is cut nothing is kept.
func shortened(text string) string {
	if len(text) <= 2*halfError {
		return text
	}
	begin, end := text[:halfError], text[len(text)-halfError:]
	return fmt.Sprintf("%s\n… %d bytes are left out …\n%s", strings.ToValidUTF8(begin, ""), len(text)-2*halfError, strings.ToValidUTF8(end, ""))
}

// heldBy gives a job in progress as the worker took it, so that its report costs no read: the move reports whether the worker
// still holds it.
func (q *Queue) heldBy(e compute.EndpointID, id compute.JobID, w compute.WorkerID) (compute.Job, bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.holds(e, id, w)
}

// holds is heldBy for who has the lock.
func (q *Queue) holds(e compute.EndpointID, id compute.JobID, w compute.WorkerID) (compute.Job, bool) {
	if h := q.held[id]; h != nil && h.endpoint == e && h.worker == w {
		return h.job, true
	}
	return compute.Job{}, false
}

// endHeld ends a job that its worker holds, as memory knows it. stored is called once it is on disk; it may be nil.
func (q *Queue) endHeld(ctx context.Context, j compute.Job, decide func(*compute.Job) compute.JobEvent, stored func()) error {
	one := ending{endpoint: j.EndpointID, holder: j.WorkerID, from: j.Status}
	was := store.GuardOf(j)
	var err error
	if j.Status, err = compute.JobMachine.Next(j.Status, decide(&j)); err != nil {
		return nil // the table says no
	}

	err = q.store.EndJob(ctx, store.JobEnd{Job: j, Was: was, Document: q.hooks.Document, Ended: func(j compute.Job) {
		one.job, one.moved = j, true
		one.follow(q)
	}})

	switch {
	case store.IsUnknown(err):
		q.doubtJobs(j.EndpointID, j.ID)
	case one.moved:
		one.announce(ctx, q, stored)
	}

	return err
}

// Progress shows the value as the output of a job in progress. A late report changes nothing and is no error. One over the limit of the
// output is Rejected, and the job goes on (rule queue.progress.limit).
func (q *Queue) Progress(ctx context.Context, user compute.UserID, e compute.EndpointID, w compute.WorkerID, id compute.JobID, output json.RawMessage) error {
	if err := q.contact(user, e, w); err != nil {
		return err
	}
	if !q.extend(e, id, w) {
		return nil
	}
	if j, ok := q.heldBy(e, id, w); ok && len(output) > q.outputLimit(j) {
		return compute.Errorf(compute.Rejected, "the progress of %d bytes is over the limit of %d bytes", len(output), q.outputLimit(j))
	}

	return q.store.Write(ctx, func(tx store.Tx) error {
		_, err := tx.SetJobOutput(id, w, output)
		return err
	})
}

// Cancel ends the job, wherever it is, and asks its worker to stop it. A job that has ended stays as it is.
func (q *Queue) Cancel(ctx context.Context, user compute.UserID, e compute.EndpointID, id compute.JobID) (compute.Job, error) {
	if err := q.Known(user, e); err != nil {
		return compute.Job{}, err
	}
	one, err := q.end(ctx, e, id, anyHolder, nil, func(*compute.Job) compute.JobEvent { return compute.JobCancel })
	if err == nil && !one.visible {
		err = unknownJob(id)
	}
	return one.job, err
}

// anyHolder as the worker id means that whoever holds the job loses it.
const anyHolder compute.WorkerID = "*"

// end reads a job and moves it to a final status by the event that decide gives, which may fill in output and error. It does
// nothing when the table has no such move (or decide gives none) or the holder is another one. stored is called once the end is on
// disk; it may be nil.
func (q *Queue) end(ctx context.Context, e compute.EndpointID, id compute.JobID, holder compute.WorkerID, stored func(), decide func(*compute.Job) compute.JobEvent) (*ending, error) {
	one := &ending{endpoint: e, holder: holder, decide: decide}
	err := q.store.Write(ctx, func(tx store.Tx) error {
		*one = ending{endpoint: e, holder: holder, decide: decide}
		j, err := tx.Job(id)
		if compute.CodeOf(err) == compute.NotFound {
			return nil // swept: nobody needs it
		}
		if err != nil {
			return err
		}
		return one.move(q, tx, j)
	})

	switch {
	case store.IsUnknown(err):
		q.doubtJobs(e, id)
	case err == nil && one.moved:
		one.announce(ctx, q, stored)
	}

	return one, err
}

// ending is the end of a job.
type ending struct {
	endpoint compute.EndpointID
	holder   compute.WorkerID
	decide   func(*compute.Job) compute.JobEvent

	job     compute.Job // as it was found; as it is, if it was moved
	visible bool        // to a client of the endpoint
	from    compute.JobStatus
	moved   bool
}

// move moves the job, which is as it was just read. It touches nothing else: memory follows after the commit.
func (o *ending) move(q *Queue, tx store.Queue, j compute.Job) (err error) {
	o.job, o.visible = j, visible(j, o.endpoint, tx.Now())
	if j.EndpointID != o.endpoint || o.holder != anyHolder && j.WorkerID != o.holder || j.Status.Ended() {
		return nil
	}
	o.from = j.Status
	next := j
	if next.Status, err = compute.JobMachine.Next(o.from, o.decide(&next)); err != nil {
		return nil // the table says no: the report came too late
	}

	if o.from == compute.JobInQueue { // before the commit: from then on whoever reads the disk knows better
		q.markStale(o.endpoint, j.ID)
	}
	end := store.JobEnd{Job: next, Was: store.GuardOf(j), Document: q.hooks.Document, Ended: func(j compute.Job) {
		o.job = j
		o.follow(q)
	}}
	if o.moved, err = end.In(tx); o.moved {
		o.job.Status = next.Status
	}

	return err
}

// follow has memory follow an end, in the order of the commits.
func (o *ending) follow(q *Queue) {
	q.mu.Lock()
	defer q.mu.Unlock()

	j := o.job
	q.recent.keep(j)
	q.release(j.ID, q.clock.Now())
	d := q.dispatchers[o.endpoint]
	if d == nil {
		return
	}

	if o.from == compute.JobInQueue {
		d.leave(j.ID)
	} else if o.holder == anyHolder {
		s := d.worker(j.WorkerID)
		s.stop(j.ID, j.EndedAt)
		if s.pinged { // its pings will show when it has stopped
			d.lose(j.ID, j.WorkerID)
		}
	}
}

// announce lets everybody know whom the end concerns. stored, unless it is nil, is called before any other.
func (o *ending) announce(ctx context.Context, q *Queue, stored func()) {
	q.meterEnded(ctx, o.job)
	if stored != nil {
		stored()
	}
	q.wakeEnd(o.endpoint, o.job.ID)
	if o.job.Webhook != "" {
		q.hooks.Delivery()
	}
}
