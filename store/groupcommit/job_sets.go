package groupcommit

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// SubmitJob stores a new job as one write of the group.
func SubmitJob(ctx context.Context, g *Group, s store.Submission) error {
	var worker compute.WorkerID
	var j compute.Job
	c := Call{Guarded: true, Run: func(tx store.Tx) (err error) {
		j, err = s.In(tx, worker)
		return err
	}}
	if s.Assign != nil {
		c.Bind = func() { worker = s.Assign() }
	}
	if s.Early != nil {
		c.Early = func() bool { return worker != "" && s.Early(j) }
	}

	return g.Do(ctx, c)
}

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
