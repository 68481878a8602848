// Package worker is a worker in Go: it takes jobs over the worker protocol, runs a handler on them and reports. It stands
// outside the server, which it knows by URLs alone.
package worker

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// Settings are what a worker works with.
type Settings struct {
	TakeURL      string        // of this worker; has the segment job-take, from which other URLs are made
	DoneURL      string        // of this worker; $ID means the job
	StreamURL    string        // as DoneURL
	PingURL      string        // of this worker
	PingInterval time.Duration // between pings
	Key          string
	Address      func(string) string                   // what each of these URLs is at present; nil: itself
	Proxy        func(*http.Request) (*url.URL, error) // by which they are reached; nil: by none
	Agent        string                                // name of the program, for the server's log
	Concurrency  int                                   // how many jobs to work on at once; 1 to MaxConcurrency
	Streams      bool                                  // the last report of each job is marked as that of a stream
	Pauses       Pauses
}

// MaxConcurrency is what the protocol lets a worker take at once.
const MaxConcurrency = 1000

// Pauses are the waits of the protocol.
type Pauses struct {
	Poll      time.Duration // how long a poll may be held
	AfterPoll time.Duration // the least time from one poll to the next if nothing came of it
	AfterFail time.Duration // after a poll that failed
	AfterMany time.Duration // after a poll that was one too many: 429
	FirstPost time.Duration // before the second attempt to post; doubles
	LastPost  time.Duration // what that doubling ends at
	Post      time.Duration // from the first failure of a post until it is given up
	Send      time.Duration // how long an answer may take to come, or a post to be sent and answered
}

// UsualPauses are for a server that others use too.
func UsualPauses() Pauses {
	return Pauses{
		Poll: 90 * time.Second, AfterPoll: 100 * time.Millisecond, AfterFail: time.Second, AfterMany: 5 * time.Second,
		FirstPost: 200 * time.Millisecond, LastPost: 5 * time.Second, Post: time.Minute, Send: 10 * time.Minute,
	}
}

// Emit streams one value of a job's output.
type Emit func(ctx context.Context, value json.RawMessage) error

// Handler works on a job: it gives the job's output, or the error that fails it. It ends soon after ctx does.
type Handler func(ctx context.Context, input json.RawMessage, emit Emit) (json.RawMessage, error)

// ErrGivenBack as the error of a handler leaves the job unreported: the server gives it to another worker once this one has gone.
var ErrGivenBack = errors.New("given back")

// errStopped is why a job's context ended when the server asked to stop the job.
var errStopped = errors.New("stopped by the server")

// Worker takes jobs, runs its handler on them and reports.
type Worker struct {
	*client
	handler Handler
	log     *slog.Logger
	slots   chan struct{} // one in it for each handler at work: the server may give more jobs than were asked for
	freed   chan struct{} // hint: a job is no longer held
	running sync.WaitGroup

	mu   sync.Mutex
	held map[string]context.CancelCauseFunc // by job id, until the job's report was posted or given up
}

// New makes a worker, which does nothing before Run.
func New(s Settings, handler Handler, log *slog.Logger) *Worker {
	return &Worker{
		client: newClient(s), handler: handler, log: log,
		slots: make(chan struct{}, s.Concurrency), freed: make(chan struct{}, 1),
		held: map[string]context.CancelCauseFunc{},
	}
}

// Run works until ctx ends. Then it takes no more jobs, and returns once those it holds have been reported: until then it
// goes on to ping for them and to ask which of them to stop.
func (w *Worker) Run(ctx context.Context) {
	w.log.Info("worker is ready", "concurrency", w.Concurrency)
	working, finish := context.WithCancel(context.WithoutCancel(ctx))
	var asides sync.WaitGroup
	asides.Go(func() { w.pings(working) })
	asides.Go(func() { w.stopping(working) })
	w.takes(ctx, working)
	w.log.Info("worker is finishing", "jobs", w.busy())
	w.running.Wait()
	finish()
	asides.Wait()
	w.http.CloseIdleConnections()
}

// takes asks for as many jobs as there is room for, until ctx ends.
func (w *Worker) takes(ctx, working context.Context) {
	for {
		busy := w.busy()
		room := w.Concurrency - busy
		if room <= 0 {
			select {
			case <-w.freed:
				continue
			case <-ctx.Done():
				return
			}
		}

		asked := time.Now()
		jobs, err := w.take(ctx, room, busy > 0)
		for _, job := range jobs { // even after ctx has ended: nobody else will run them
			w.begin(working, job)
		}
		if ctx.Err() != nil || w.rest(ctx, "take", asked, len(jobs), err) != nil {
			return
		}
	}
}

// rest waits between polls, so that a server which fails, or answers at once, is not asked thousands of times a second.
func (w *Worker) rest(ctx context.Context, what string, asked time.Time, got int, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errTooMany):
		w.log.Warn("poll was one too many", "poll", what)
		return Pause(ctx, w.Pauses.AfterMany)
	case err != nil:
		w.log.Error("poll failed", "poll", what, "error", err)
		return Pause(ctx, w.Pauses.AfterFail)
	case got == 0:
		return Pause(ctx, w.Pauses.AfterPoll-time.Since(asked))
	}

	return nil
}

// begin runs the handler on the job, unless it is at it already: a job whose lease ended is given out again, and one that
// is still at work here is reported once it is done.
func (w *Worker) begin(working context.Context, job takenJob) {
	ctx, cancel := context.WithCancelCause(working)
	w.mu.Lock()
	_, at := w.held[job.ID]
	if !at {
		w.held[job.ID] = cancel
	}
	w.mu.Unlock()

	if at {
		cancel(nil)
		w.log.Warn("job was taken twice", "job", job.ID)
		return
	}

	w.running.Go(func() {
		defer cancel(nil)
		defer w.release(job.ID)
		select {
		case w.slots <- struct{}{}:
			defer func() { <-w.slots }()
		case <-ctx.Done():
		}
		w.handle(ctx, working, job)
	})
}

// handle runs the handler and reports. A job that was stopped is not reported: the server has given it its end.
func (w *Worker) handle(ctx, working context.Context, job takenJob) {
	started := time.Now()
	log := w.log.With("job", job.ID)
	var output json.RawMessage

	err := context.Cause(ctx)
	if err == nil {
		output, err = w.handler(ctx, job.Input, func(ctx context.Context, value json.RawMessage) error {
			return w.stream(ctx, job.ID, value)
		})
	}
	if errors.Is(err, ErrGivenBack) {
		log.Info("job is given back")
		return
	}

	if errors.Is(context.Cause(ctx), errStopped) {
		log.Info("job was stopped")
		return
	}
	r := report{Output: output}
	if err != nil {
		text := err.Error()
		r = report{Error: &text}
	}
	if posted := w.done(working, job.ID, r, w.Streams); posted != nil {
		log.Error("result was lost", "error", posted)
		return
	}

	log.Info("job is done", "took", time.Since(started).Round(time.Millisecond), "failed", err != nil)
}

// release forgets the job and makes room for another.
func (w *Worker) release(id string) {
	w.mu.Lock()
	delete(w.held, id)
	w.mu.Unlock()
	select {
	case w.freed <- struct{}{}:
	default:
	}
}

// busy reports how many jobs are held.
func (w *Worker) busy() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.held)
}

// holding gives the ids of the jobs held, in order.
func (w *Worker) holding() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := make([]string, 0, len(w.held))
	for id := range w.held {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// pings reports the jobs held to the server: at once, then at each interval.
func (w *Worker) pings(ctx context.Context) {
	ticker := time.NewTicker(w.PingInterval)
	defer ticker.Stop()
	for {
		if err := w.ping(ctx, w.holding()); err != nil && ctx.Err() == nil {
			w.log.Warn("ping failed", "error", err)
		}
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
}

// stopping asks the server which jobs to stop and stops them.
func (w *Worker) stopping(ctx context.Context) {
	for {
		asked := time.Now()
		ids, err := w.stops(ctx)
		w.mu.Lock()
		for _, id := range ids {
			if cancel, ok := w.held[id]; ok {
				cancel(errStopped)
			}
		}

		w.mu.Unlock()
		// However much came: the same list may come again until the jobs are gone.
		if w.rest(ctx, "stop", asked, 0, err) != nil {
			return
		}
	}
}
