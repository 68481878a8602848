package main

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"
)

// errStopped is why a job's context ended when the server asked to stop the job.
var errStopped = errors.New("stopped by the server")

// worker takes jobs, runs its handler on them and reports.
type worker struct {
	*workerClient
	log     *slog.Logger
	exit    func(int)
	slots   chan struct{} // one in it for each handler at work: the server may give more jobs than were asked for
	freed   chan struct{} // hint: a job is no longer held
	running sync.WaitGroup

	mu   sync.Mutex
	held map[string]context.CancelCauseFunc // by job id, until the job's report was posted or given up
}

func newWorker(s workerSettings, log *slog.Logger, exit func(int)) *worker {
	return &worker{
		workerClient: newWorkerClient(s), log: log, exit: exit,
		slots: make(chan struct{}, s.concurrency), freed: make(chan struct{}, 1),
		held: map[string]context.CancelCauseFunc{},
	}
}

// run works until ctx ends. Then it takes no more jobs, and returns once those it holds have been reported: until then it
// goes on to ping for them and to hear which of them to stop.
func (w *worker) run(ctx context.Context) {
	w.log.Info("worker is ready", "handler", w.handler, "concurrency", w.concurrency)
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
func (w *worker) takes(ctx, working context.Context) {
	for {
		busy := w.busy()
		room := w.concurrency - busy
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
func (w *worker) rest(ctx context.Context, what string, asked time.Time, got int, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errTooMany):
		w.log.Warn("poll was one too many", "poll", what)
		return pause(ctx, w.pauses.afterMany)
	case err != nil:
		w.log.Error("poll failed", "poll", what, "error", err)
		return pause(ctx, w.pauses.afterFail)
	case got == 0:
		return pause(ctx, w.pauses.afterPoll-time.Since(asked))
	}
	return nil
}

// begin runs the handler on the job, unless it is at it already: a job whose lease ended is given out again, and one that
// is still at work here is reported once it is done.
func (w *worker) begin(working context.Context, job takenJob) {
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
func (w *worker) handle(ctx, working context.Context, job takenJob) {
	started := time.Now()
	log := w.log.With("job", job.ID)
	var output json.RawMessage
	err := context.Cause(ctx)
	if err == nil {
		output, err = handlers[w.handler](ctx, job.Input, handling{
			workerSettings: w.workerSettings,
			emit: func(ctx context.Context, value json.RawMessage) error {
				return w.stream(ctx, job.ID, value)
			},
			exit: w.exit,
		})
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
	if posted := w.done(working, job.ID, r, w.handler == handlerStream); posted != nil {
		log.Error("result was lost", "error", posted)
		return
	}
	log.Info("job is done", "took", time.Since(started).Round(time.Millisecond), "failed", err != nil)
}

// release forgets the job and makes room for another.
func (w *worker) release(id string) {
	w.mu.Lock()
	delete(w.held, id)
	w.mu.Unlock()
	select {
	case w.freed <- struct{}{}:
	default:
	}
}

// busy tells how many jobs are held.
func (w *worker) busy() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.held)
}

// holding gives the ids of the jobs held, in order.
func (w *worker) holding() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	ids := make([]string, 0, len(w.held))
	for id := range w.held {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}

// pings tells the server of the jobs held: at once, then at each interval.
func (w *worker) pings(ctx context.Context) {
	ticker := time.NewTicker(w.interval)
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

// stopping hears from the server which jobs to stop and stops them.
func (w *worker) stopping(ctx context.Context) {
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
