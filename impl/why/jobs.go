package why

import (
	"fmt"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// silence is how long the worker of a job may not be heard of before that is said: a third of the lease that ends then.
const silence = 10 * time.Second

// jobFacts is what is known of a job.
type jobFacts struct {
	crew
	job  compute.Job // times by the clock's Now
	line queue.Line
}

// answer gives why the job does not go on, or that it does.
func (f *jobFacts) answer() (a Answer) {
	j := &f.job
	switch {
	case j.Status == compute.JobTimedOut:
		a = Answer{
			Reason: Expired, Because: "the job has ended: " + first(j.Error), Since: f.wall(j.EndedAt),
			Helps: fmt.Sprintf("berth jobs retry %s %s runs it again; policy.ttl and policy.executionTimeout give it more time", j.EndpointID, j.ID),
		}
	case j.Status.Ended():
		a = f.ended()
	case j.Status == compute.JobInProgress:
		a = f.inProgress()
	default:
		a = f.inQueue()
	}

	a.Details.Attempts = j.Attempt
	if a.Details.Worker == "" {
		a.Details.Worker = j.WorkerID
	}
	return a
}

func (f *jobFacts) ended() Answer {
	j := &f.job
	a := Answer{Reason: Finished, Because: fmt.Sprintf("the job is %s since %s", j.Status, stamp(f.wall(j.EndedAt))), Since: f.wall(j.EndedAt)}
	if j.Status == compute.JobFailed {
		a.Because += ": " + first(j.Error)
		a.Helps = fmt.Sprintf("berth jobs retry %s %s runs it again", j.EndpointID, j.ID)
	}
	return a
}

func (f *jobFacts) inProgress() Answer {
	j := &f.job
	a := Answer{
		Reason: InProgress, Since: f.wall(j.TakenAt),
		Because: fmt.Sprintf("worker %s has the job since %s; it may run until %s", j.WorkerID, stamp(f.wall(j.TakenAt)), stamp(f.wall(j.TakenAt.Add(j.ExecutionTimeout)))),
	}
	for _, w := range f.standing.Workers {
		if w.ID == j.WorkerID && f.now.Sub(w.LastSeen) > silence {
			a.Waits, a.Reason = true, Silent
			a.Because = fmt.Sprintf("worker %s has the job since %s, and was last heard of at %s", j.WorkerID, stamp(a.Since), stamp(f.wall(w.LastSeen)))
			a.Helps = "a worker that is silent for too long loses the job, which then goes to another one"
		}
	}
	return a
}

func (f *jobFacts) inQueue() Answer {
	j := &f.job
	a := f.waiting()
	asking := f.those(func(w queue.StandingWorker) bool { return w.Status == compute.WorkerIdle && w.Asks })
	up := f.those(func(w queue.StandingWorker) bool {
		return w.Status == compute.WorkerIdle || w.Status == compute.WorkerRunning
	})
	switch {
	case f.line.Lost && len(asking) > 0:
		a = Answer{
			Waits: true, Reason: Lost, Details: Details{Worker: asking[0].ID},
			Because: fmt.Sprintf("worker %s asks for jobs and may still run this one, which it lost: it does not get it anew until it says that it does not run it", asking[0].ID),
			Helps:   "start another worker, or end that one",
		}
	case j.LowPriority && f.endpoint.WorkersMax > 0 && f.pause.Missing == 0 && len(up) == 0 && a.Reason == Scaling:
		a = Answer{
			Waits: true, Reason: LowPriority, Because: "no worker is up, and a job of low priority starts none",
			Helps: fmt.Sprintf("submit it without policy.lowPriority, or keep a worker: berth endpoints update %s --workers-min 1", f.endpoint.ID),
		}
	}

	if f.line.Waits {
		a.Details.Ahead = &f.line.Ahead
		a.Because = fmt.Sprintf("%s: %s", position(f.line.Ahead), a.Because)
	}
	if j.Retries > 0 {
		a.Because += fmt.Sprintf("; it was taken before, and lost %s", plural(j.Retries, "time"))
	}
	a.Since = f.wall(j.QueuedAt)
	return a
}

// position says where a job stands in line.
func position(ahead int) string {
	if ahead == 0 {
		return "the job is the next one"
	}
	return fmt.Sprintf("%s before it", plural(ahead, "job is handed out", "jobs are handed out"))
}
