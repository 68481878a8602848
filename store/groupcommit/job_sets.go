package groupcommit

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// submission is a call that stores a new job, and all that it needs.
type submission struct {
	call
	of     *store.Submission
	worker compute.WorkerID
	job    *compute.Job // as it is stored
}

// SubmitJob stores a new job as one write of the group.
func SubmitJob(ctx context.Context, g *Group, s *store.Submission) error {
	one := &submission{of: s}
	one.ctx, one.Guarded, one.Run = ctx, true, one.run
	if s.Assign != nil {
		one.Bind = one.bind
	}
	if s.Early != nil {
		one.Early = one.tell
	}
	return g.do(&one.call)
}

func (s *submission) run(tx store.Tx) (err error) {
	s.job, err = s.of.In(tx, s.worker)
	return err
}

func (s *submission) bind() { s.worker = s.of.Assign() }

func (s *submission) tell() (patient bool) { return s.worker != "" && s.of.Early(*s.job) }

// TakeJobs takes jobs as one write of the group.
func TakeJobs(ctx context.Context, g *Group, t store.Take) error {
	return g.Do(ctx, Call{Guarded: true, Run: func(tx store.Tx) error { return t.In(tx) }})
}

// EndJob ends a job as one write of the group.
func EndJob(ctx context.Context, g *Group, e store.JobEnd) error {
	return g.Do(ctx, Call{Guarded: true, Run: func(tx store.Tx) error {
		_, err := e.In(tx)
		return err
	}})
}
