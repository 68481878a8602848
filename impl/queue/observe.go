package queue

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Meter counts the jobs of one endpoint. Its methods are called often, so they must be quick.
type Meter interface {
	// Submitted reports that a job was stored.
	Submitted()
	// Taken reports that a worker got a job, which had waited for the delay.
	Taken(delay time.Duration)
	// Lost reports that a job was taken from its worker.
	Lost()
	// Ended reports that a job has ended; execution is the time from its take, if it was taken.
	Ended(status compute.JobStatus, taken bool, execution time.Duration)
	// Forget reports that the endpoint is no more.
	Forget()
}

// Trace follows jobs from one request to another. A ctx is that of the request in which it happens, and the times of a job are
// times of day.
type Trace interface {
	// Submitted reports that a job is about to be stored.
	Submitted(ctx context.Context, id compute.JobID)
	// Dropped reports that it was not.
	Dropped(id compute.JobID)
	// DroppedAll reports that nothing more follows about any job.
	DroppedAll()
	// Waits reports that a request waits for the end of a job, until the function that it gives is called.
	Waits(ctx context.Context, id compute.JobID) (over func())
	// Taken reports that a worker gets the job.
	Taken(ctx context.Context, j compute.Job)
	// Ended reports that the job has ended, and that nothing more follows about it.
	Ended(ctx context.Context, j compute.Job)
}

// newDispatcher makes the dispatcher of an endpoint, with its meter.
func (q *Queue) newDispatcher(e compute.Endpoint) *dispatcher {
	d := newDispatcher(e)
	if q.hooks.Meter != nil && e.Type != compute.LoadBalancer {
		d.meter = q.hooks.Meter(e.ID)
	}
	return d
}

// meter gives the meter of the endpoint; nil if nobody counts. The caller does not have the lock.
func (q *Queue) meter(e compute.EndpointID) Meter {
	if q.hooks.Meter == nil {
		return nil
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if d := q.dispatchers[e]; d != nil {
		return d.meter
	}
	return nil
}

// meterSubmitted reports that a job was stored, or could not be.
func (q *Queue) meterSubmitted(e compute.EndpointID, id compute.JobID, err error) {
	m := q.meter(e)
	switch {
	case err == nil && m != nil:
		m.Submitted()
	case err != nil && q.hooks.Trace != nil:
		q.hooks.Trace.Dropped(id)
	}
}

// meterTaken reports that a worker gets the jobs.
func (q *Queue) meterTaken(ctx context.Context, e compute.EndpointID, taken []Taken) {
	m := q.meter(e)
	for i := range taken {
		if m != nil {
			m.Taken(taken[i].DelayTime())
		}
		if q.hooks.Trace != nil {
			q.hooks.Trace.Taken(ctx, q.ofDay(taken[i].Job))
		}
	}
}

// meterEnded reports that a job has ended.
func (q *Queue) meterEnded(ctx context.Context, j compute.Job) {
	if m := q.meter(j.EndpointID); m != nil {
		m.Ended(j.Status, !j.TakenAt.IsZero(), j.ExecutionTime())
	}
	if q.hooks.Trace != nil {
		q.hooks.Trace.Ended(ctx, q.ofDay(j))
	}
}

// ofDay gives the job with times of day, to be laid beside those of others.
func (q *Queue) ofDay(j compute.Job) compute.Job {
	lag := compute.Lag(q.clock)
	for _, t := range []*time.Time{&j.QueuedAt, &j.TakenAt, &j.EndedAt, &j.ExpiresAt} {
		*t = timeOfDay(*t, lag)
	}
	return j
}

// timeOfDay gives the time of day of a time that decides, in whole milliseconds, as rows have both. It is rounded up: the lag is not whole, and
// what followed the submission in the same millisecond is not to be before it.
func timeOfDay(t time.Time, lag time.Duration) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(lag + time.Millisecond - 1).Truncate(time.Millisecond)
}

// DispatcherView is how one endpoint stands.
type DispatcherView struct {
	Endpoint   compute.EndpointID
	Waiting    int       // jobs IN_QUEUE, or requests that wait for a worker
	Oldest     time.Time // since when, by the clock's Now, the one waits that waits longest; zero if none does
	InProgress int
	Workers    map[compute.WorkerStatus]int64
}

// Dispatchers gives how every endpoint stands that is not deleted, in the order of their ids. It asks nobody.
func (q *Queue) Dispatchers() []DispatcherView {
	q.mu.Lock()
	defer q.mu.Unlock()

	views := make([]DispatcherView, 0, len(q.dispatchers))
	for id, d := range q.dispatchers {
		if d.gone {
			continue
		}

		v := DispatcherView{Endpoint: id, Waiting: d.waits() + len(d.requests), Workers: map[compute.WorkerStatus]int64{}}
		for _, f := range []*fifo{&d.normal, &d.low} {
			if t := f.oldest(); t > 0 && (v.Oldest.IsZero() || t < v.Oldest.UnixMilli()) {
				v.Oldest = time.UnixMilli(t).UTC()
			}
		}

		for _, a := range d.absent {
			v.Workers[a.Status]++
		}
		for _, s := range d.workers {
			v.InProgress += len(s.jobs) + s.requests
			v.Workers[s.status()]++
		}
		views = append(views, v)
	}

	slices.SortFunc(views, func(a, b DispatcherView) int { return cmp.Compare(a.Endpoint, b.Endpoint) })
	return views
}
