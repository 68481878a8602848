package changes

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Store gives the store, whose writes are noted in the log once they are on disk.
func (l *Log) Store() store.Store { return &noted{l.store, l} }

// noted is a store whose writes are noted.
type noted struct {
	store.Store
	log *Log
}

// unnoted makes a write while nobody follows. If somebody does when it is over, nobody knows on which side of their first look it was.
func (s *noted) unnoted(write func() error) error {
	err := write()
	if s.log.following.Load() {
		s.log.Lose()
	}
	return err
}

// Write is that of the store.
func (s *noted) Write(ctx context.Context, f func(store.Tx) error) error {
	if !s.log.following.Load() {
		return s.unnoted(func() error { return s.Store.Write(ctx, f) })
	}
	return s.Store.Write(ctx, func(inner store.Tx) error { return f(&tx{Tx: inner, log: s.log}) })
}

// SubmitJob is that of the store.
func (s *noted) SubmitJob(ctx context.Context, asked *store.Submission) error {
	if !s.log.following.Load() {
		return s.unnoted(func() error { return s.Store.SubmitJob(ctx, asked) })
	}
	one, stored := *asked, asked.Stored
	one.Stored = func(j compute.Job) {
		if stored != nil {
			stored(j)
		}
		s.log.Note(withWorker(ofJob(j, Created), j.WorkerID)...)
	}
	return s.Store.SubmitJob(ctx, &one)
}

// TakeJobs is that of the store.
func (s *noted) TakeJobs(ctx context.Context, t store.Take) error {
	if !s.log.following.Load() {
		return s.unnoted(func() error { return s.Store.TakeJobs(ctx, t) })
	}
	taken := t.Taken
	t.Taken = func(jobs []store.TakenJob, left int) {
		taken(jobs, left)
		for i := range jobs {
			s.log.Note(withWorker(ofJob(jobs[i].Job, Changed), jobs[i].WorkerID)...)
		}
	}
	return s.Store.TakeJobs(ctx, t)
}

// EndJob is that of the store.
func (s *noted) EndJob(ctx context.Context, e store.JobEnd) error {
	if !s.log.following.Load() {
		return s.unnoted(func() error { return s.Store.EndJob(ctx, e) })
	}
	ended, was := e.Ended, e.Was.Worker
	webhook := e.Job.Webhook != "" && e.Document != nil
	e.Ended = func(j compute.Job) {
		if ended != nil {
			ended(j)
		}
		s.log.Note(withWorker(ofJob(j, Changed), was)...)
		if webhook {
			s.log.Note(Event{Kind: Webhook, ID: string(j.ID), Change: Created})
		}
	}
	return s.Store.EndJob(ctx, e)
}

// ofJob is a change of a job.
func ofJob(j compute.Job, c Change) Event {
	return Event{Kind: Job, ID: string(j.ID), Change: c, Status: string(j.Status), Endpoint: j.EndpointID}
}

// withWorker adds that the worker has another job, or one less; empty: nobody has the job.
func withWorker(e Event, w compute.WorkerID) []Event {
	if w == "" {
		return []Event{e}
	}
	return []Event{e, {Kind: Worker, ID: string(w), Change: Changed, Endpoint: e.Endpoint}}
}
