package why

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// lines is how many lines of a log an answer has at most, and lineBytes of how many bytes each.
const (
	lines     = 20
	lineBytes = 1000
)

// crew is what is known of the workers of an endpoint.
type crew struct {
	endpoint compute.Endpoint
	standing queue.Standing
	pause    compute.WorkerPause
	rows     map[compute.WorkerID]compute.Worker // those that berth started
	behind   map[compute.WorkerID]string         // why the last look at one failed
	last     *compute.EndedWorker                // that ended last; nil: none is known
	now      time.Time
	lag      time.Duration // of the time of day to the clock's Now
}

// wall gives a time of the clock as a time of day.
func (c *crew) wall(t time.Time) time.Time {
	if t.IsZero() {
		return t
	}
	return t.Add(c.lag)
}

// those gives the workers that are there and of which the condition holds.
func (c *crew) those(is func(queue.StandingWorker) bool) (all []queue.StandingWorker) {
	for _, w := range c.standing.Workers {
		if !w.Leaving && is(w) {
			all = append(all, w)
		}
	}
	return all
}

func withStatus(status compute.WorkerStatus) func(queue.StandingWorker) bool {
	return func(w queue.StandingWorker) bool { return w.Status == status }
}

// waiting gives why a job that waits is not taken up, as far as that is the workers' matter.
func (c *crew) waiting() Answer {
	e := c.endpoint
	idle := c.those(withStatus(compute.WorkerIdle))
	running := c.those(withStatus(compute.WorkerRunning))
	switch {
	case e.WorkersMax == 0 && len(idle)+len(running) == 0:
		return c.noWorkers()
	case len(idle) > 0:
		return c.idle(idle)
	case len(running) > 0:
		return c.busy(len(running))
	}
	return c.coming()
}

// coming gives why no worker is up.
func (c *crew) coming() Answer {
	starting, throttled := c.those(withStatus(compute.WorkerInitializing)), c.those(withStatus(compute.WorkerThrottled))
	switch c.pause.Cause {
	case compute.PauseFailing:
		return c.failing()
	case compute.PauseFull, compute.PauseNever:
		if len(starting) == 0 {
			return c.full()
		}
	case compute.PauseUndeclared:
		return Answer{
			Waits: true, Reason: Undeclared, Because: "no worker is started: " + first(c.pause.Reason),
			Helps: fmt.Sprintf("start the server with --endpoint %s=COMMAND, or delete the endpoint", c.endpoint.Name),
		}
	}

	switch unhealthy := c.those(withStatus(compute.WorkerUnhealthy)); {
	case len(starting) > 0:
		return c.starting(starting[0])
	case len(throttled) > 0:
		return Answer{
			Waits: true, Reason: NoRoom, Because: fmt.Sprintf("worker %s has no host yet: %s", throttled[0].ID, first(throttled[0].Reason)),
			Since: c.rows[throttled[0].ID].CreatedAt, Helps: "free or add capacity in the cluster, or ask for less", Details: Details{Worker: throttled[0].ID},
		}
	case len(unhealthy) > 0:
		return Answer{
			Waits: true, Reason: Unhealthy, Because: fmt.Sprintf("worker %s reported that it is unhealthy: %s", unhealthy[0].ID, first(unhealthy[0].Reason)),
			Since: c.wall(unhealthy[0].LastSeen), Helps: "it is replaced when it ends; its log says more", Details: Details{Worker: unhealthy[0].ID},
		}
	}
	return c.scaling()
}

func (c *crew) noWorkers() Answer {
	a := Answer{Waits: true, Reason: NoWorkers, Because: "the endpoint may have 0 workers, and no other worker asks for its jobs"}
	if c.endpoint.Declared {
		a.Helps = fmt.Sprintf("start a worker of your own with the key and the URLs of endpoint %s, such as berth worker, or start the server with --endpoint %s=COMMAND", c.endpoint.Name, c.endpoint.Name)
		return a
	}
	a.Helps = fmt.Sprintf("berth endpoints update %s --workers-max 1", c.endpoint.ID)
	return a
}

// idle is of workers that are up and have no job.
func (c *crew) idle(idle []queue.StandingWorker) Answer {
	for _, w := range idle {
		if w.Asks {
			return Answer{
				Waits: true, Reason: Scaling, Because: fmt.Sprintf("worker %s asks for a job: it is about to get one", w.ID), Details: Details{Worker: w.ID},
			}
		}
	}

	w := idle[0]
	a := Answer{
		Waits: true, Reason: NotAsking, Since: c.wall(w.IdleSince), Details: Details{Worker: w.ID},
		Because: fmt.Sprintf("worker %s is up and does not ask for jobs now: it was last heard of at %s", w.ID, stamp(c.wall(w.LastSeen))),
		Helps:   "see whether its handler is stuck: its log says more",
	}
	if w.Unseen {
		a.Because = fmt.Sprintf("worker %s is up and has never asked for a job: its container runs, and no handler in it is connected", w.ID)
		a.Helps = "let the image start a handler that takes jobs; of the simulated runtime, where nothing runs, play the worker over HTTP"
	}
	return a
}

func (c *crew) busy(running int) Answer {
	e, jobs := c.endpoint, 0
	for _, w := range c.standing.Workers {
		jobs += w.Jobs
	}
	a := Answer{
		Waits: true, Reason: Busy,
		Because: fmt.Sprintf("no worker is free (%d of at most %d, with %s)", running, max(e.WorkersMax, running), plural(jobs, "job")),
	}
	switch {
	case c.pause.Missing > 0:
		a.Because += "; another worker cannot be started: " + first(c.pause.Reason)
		a.Details.NextAt = c.wall(c.pause.Until)
	case running >= e.WorkersMax:
		a.Helps = fmt.Sprintf("berth endpoints update %s --workers-max %d", e.ID, e.WorkersMax+1)
	case e.Scaler == compute.ByDelay:
		a.Helps = fmt.Sprintf("another worker is started when a job has waited for %s (scaling.queueDelay)", e.QueueDelay())
	default:
		a.Helps = fmt.Sprintf("another worker is started for every %g jobs (scaling.requestCount)", e.ScalerValue)
	}
	return a
}

// full is of a worker for which there is no room.
func (c *crew) full() Answer {
	a := Answer{Waits: true, Reason: NoRoom, Because: "no worker can be placed: " + first(c.pause.Reason), Details: Details{NextAt: c.wall(c.pause.Until)}}
	a.Helps = "it is tried again each second: stop what holds the hosts, add one with berth hosts add, or let the endpoint take other GPU types or data centers"
	if c.pause.Cause == compute.PauseNever {
		a.Reason = NeverRoom
		a.Helps = "add a host that is large enough with berth hosts add, or let the endpoint ask for less"
	}
	return a
}

// failing is of workers that end by themselves, or could not be started.
func (c *crew) failing() Answer {
	a := Answer{
		Waits: true, Reason: CrashLoop, Because: "workers could not be started: " + first(c.pause.Reason),
		Helps: "mend the image or its settings, then update the endpoint: its next worker is started at once"}
	if c.last != nil {
		a.Since, a.Details.Worker, a.Details.ExitCode = c.last.EndedAt, c.last.ID, c.last.ExitCode
		a.Details.Lines = lastLines(c.last)
		a.Because = fmt.Sprintf("workers end by themselves; of %s, the last one, it is said: %s", c.last.ID, first(c.last.Reason))
		a.Helps = fmt.Sprintf("berth endpoints logs %s %s shows its log; mend the image, then update the endpoint: its next worker is started at once", c.endpoint.ID, c.last.ID)
	}
	if !c.now.Before(c.pause.Until) {
		a.Because += "; the next one is being started"
		return a
	}
	a.Details.NextAt = c.wall(c.pause.Until)
	a.Because += "; the next one is started at " + stamp(a.Details.NextAt)
	return a
}

func (c *crew) starting(w queue.StandingWorker) Answer {
	row := c.rows[w.ID]
	a := Answer{
		Waits: true, Reason: Starting, Since: row.CreatedAt, Details: Details{Worker: w.ID, Host: row.HostID},
		Because: fmt.Sprintf("worker %s is being started since %s: its container is not up yet", w.ID, stamp(row.CreatedAt)),
		Helps:   "its image is pulled first if its host does not have it; the log of the worker says more",
	}
	if !row.StartedAt.IsZero() {
		a.Since = row.StartedAt
		a.Because = fmt.Sprintf("the container of worker %s is up since %s, and has not asked for a job yet", w.ID, stamp(row.StartedAt))
		a.Helps = "it may load a model; one that sends no request for too long is replaced"
	}
	if what := cmp.Or(c.behind[w.ID], w.Reason); what != "" {
		a.Because += "; " + first(what)
	}
	return a
}

func (c *crew) scaling() Answer {
	e := c.endpoint
	a := Answer{Waits: true, Reason: Scaling, Because: "no worker is up, and one is about to be started"}
	if e.Scaler == compute.ByCount {
		a.Because = fmt.Sprintf("no worker is up: one is started for every %g jobs (scaling.requestCount)", e.ScalerValue)
	}
	return a
}

// whole gives how the workers of an endpoint are.
func (c *crew) whole() Answer {
	if c.standing.Waiting > 0 {
		a := c.waiting()
		a.Because = fmt.Sprintf("%s; %s", plural(c.standing.Waiting, "job waits", "jobs wait"), a.Because)
		return a
	}
	there := c.those(func(w queue.StandingWorker) bool {
		return w.Status == compute.WorkerIdle || w.Status == compute.WorkerRunning
	})
	switch {
	case len(there) > 0:
		running := len(c.those(withStatus(compute.WorkerRunning)))
		return Answer{Reason: Ready, Because: fmt.Sprintf("%s of at most %d, %d of them with jobs; no job waits", plural(len(there), "worker is up", "workers are up"), max(c.endpoint.WorkersMax, len(there)), running)}
	case c.pause.Missing > 0 || len(c.those(func(queue.StandingWorker) bool { return true })) > 0:
		return c.coming()
	}
	return Answer{Reason: Resting, Because: fmt.Sprintf("no job waits, and the endpoint keeps %d workers: one is started when a job comes", c.endpoint.WorkersMin)}
}

// lastLines gives the end of the log of a worker that has ended.
func lastLines(w *compute.EndedWorker) (all []string) {
	if _, words, more := strings.Cut(w.Reason, "\n"); more { // what it wrote to the standard error
		return bounded(strings.Split(words, "\n"))
	}
	for _, line := range w.Log {
		all = append(all, line.Text)
	}
	return bounded(all)
}

// bounded gives the last lines, not too long.
func bounded(all []string) []string {
	all = all[max(0, len(all)-lines):]
	for i, line := range all {
		all[i] = strings.ToValidUTF8(line[:min(len(line), lineBytes)], "")
	}
	return all
}

// first gives the first line of a text, not too long.
func first(text string) string {
	line, _, _ := strings.Cut(text, "\n")
	return bounded([]string{line})[0]
}

// stamp writes a time of day.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// plural writes a number of something; the second word is for other numbers than 1.
func plural(n int, word ...string) string {
	if n == 1 {
		return "1 " + word[0]
	}
	if len(word) == 1 {
		return fmt.Sprintf("%d %ss", n, word[0])
	}
	return fmt.Sprintf("%d %s", n, word[1])
}
