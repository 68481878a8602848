package why

import (
	"context"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
)

// Workers are what is remembered of the workers that berth started.
type Workers interface {
	// Pause gives why an endpoint gets no worker now; zero if it gets one when it needs one.
	Pause(compute.EndpointID) compute.WorkerPause
	// Behind gives, for people, why the last look at a worker failed; empty if it did not.
	Behind(compute.WorkerID) string
}

// Pods are what is remembered of pods.
type Pods interface {
	// Behind gives, for people, why the last look at a pod failed; empty if it did not.
	Behind(compute.PodID) string
}

// Reasons finds reasons. It is safe for concurrent use.
type Reasons struct {
	Store     store.Store
	Clock     compute.Clock
	Queue     *queue.Queue
	Control   *control.Control
	Endpoints *control.Endpoints
	Placement *control.Placement
	Workers   Workers
	Pods      Pods
}

// Job gives why a job does not go on, or that it does. NotFound for one that the caller may not read.
func (r *Reasons) Job(ctx context.Context, who queue.Readable, id compute.JobID) (Answer, error) {
	var f jobFacts
	err := r.Store.Read(ctx, func(tx store.Tx) (err error) {
		if f.job, err = queue.ReadableJob(tx, who, id); err != nil {
			return err
		}
		if f.crew, err = r.crew(tx, f.job.EndpointID); err != nil {
			return err
		}
		f.line = r.Queue.Line(f.job.EndpointID, id)
		return nil
	})
	if err != nil {
		return Answer{}, err
	}
	return f.answer(), nil
}

// Endpoint gives why the workers of the user's endpoint do not take up its jobs, or that they do. NotFound as for its Get.
func (r *Reasons) Endpoint(ctx context.Context, user compute.UserID, id compute.EndpointID) (Answer, error) {
	if _, err := r.Endpoints.Get(ctx, user, id); err != nil {
		return Answer{}, err
	}
	var c crew
	err := r.Store.Read(ctx, func(tx store.Tx) (err error) {
		c, err = r.crew(tx, id)
		return err
	})
	if err != nil {
		return Answer{}, err
	}
	return c.whole(), nil
}

// crew gathers what is known of the workers of an endpoint.
func (r *Reasons) crew(tx store.Tx, id compute.EndpointID) (c crew, err error) {
	c = crew{
		standing: r.Queue.Standing(id), pause: r.Workers.Pause(id), rows: map[compute.WorkerID]compute.Worker{}, behind: map[compute.WorkerID]string{},
		now: r.Clock.Now(), lag: compute.Lag(r.Clock),
	}
	if c.endpoint, err = tx.Endpoint(id); err != nil {
		return c, err
	}
	rows, err := tx.ListWorkersOf(id)
	if err != nil {
		return c, err
	}
	for _, w := range rows {
		c.rows[w.ID], c.behind[w.ID] = w, r.Workers.Behind(w.ID)
	}

	if c.pause.Cause == compute.PauseFailing {
		ended, err := tx.ListEndedWorkersOf(id)
		if err != nil {
			return c, err
		}
		if len(ended) > 0 {
			last, err := tx.EndedWorker(ended[0].ID)
			if err != nil {
				return c, err
			}
			c.last = &last
		}
	}
	return c, nil
}

// Pod gives why the user's pod does not go on, or that it does. NotFound as for Control.GetPod.
func (r *Reasons) Pod(ctx context.Context, user compute.UserID, id compute.PodID) (Answer, error) {
	f := podFacts{behind: r.Pods.Behind(id)}
	var err error
	if f.pod, err = r.Control.GetPod(ctx, user, id); err != nil {
		return Answer{}, err
	}
	f.away = r.Placement.Away(f.pod.HostID)

	err = r.Store.Read(ctx, func(tx store.Tx) error {
		said, err := tx.SystemLines(string(id), 0)
		f.log = nil
		for _, line := range said[max(0, len(said)-lines):] {
			f.log = append(f.log, line.At().Format(time.RFC3339)+" "+line.Text)
		}
		f.log = bounded(f.log)
		return err
	})
	if err != nil {
		return Answer{}, err
	}
	return f.answer(), nil
}
