package loop

import (
	"container/heap"
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/script"
)

// failedPause is how long it takes until what the store did not take is tried again.
const failedPause = time.Second

// ScriptedFleet is what scripted workers are made of.
type ScriptedFleet struct {
	Scripts *Scripts
	Workers *Workers
	Queue   *queue.Queue
	Runtime runtime.Simulation // of the workers
	Clock   compute.Clock
	Log     *slog.Logger
	Ping    time.Duration // between two pings of a worker that has a job
}

// ScriptedWorkers has the simulated workers of endpoints with a script take jobs and do what the script says, as a worker does over
// HTTP: all that it does is asked of the queue, whose rules hold. It can be lost at any moment: the jobs are given back as those of any worker.
type ScriptedWorkers struct {
	ScriptedFleet
	turn sync.Mutex // held by Run for a step, and by whoever sets the clock forward

	mu     sync.Mutex
	seats  map[compute.WorkerID]*seat
	gone   map[compute.WorkerID]bool // they have crashed, and the workers loop has not seen it yet
	due    courses
	taken  int64     // jobs so far
	failed time.Time // when something failed last that is to be tried again; zero: nothing is
}

// seat is a worker with the jobs that it has.
type seat struct {
	simulated
	user  compute.UserID
	plays map[compute.JobID]*play
	ping  time.Time // when it pings next
}

// play is a job on its course.
type play struct {
	job    compute.JobID
	seat   *seat
	turn   int64 // its place among those that were taken
	course *script.Course
	at     time.Time // of what comes next
	place  int       // in the heap
}

// courses are the plays, that first whose next thing comes first. It is a heap.
type courses []*play

func (c courses) Len() int { return len(c) }
func (c courses) Swap(i, j int) {
	c[i], c[j] = c[j], c[i]
	c[i].place, c[j].place = i, j
}
func (c courses) Less(i, j int) bool {
	if c[i].at.Equal(c[j].at) {
		return c[i].turn < c[j].turn
	}
	return c[i].at.Before(c[j].at)
}
func (c *courses) Push(one any) {
	p := one.(*play)
	p.place = len(*c)
	*c = append(*c, p)
}
func (c *courses) Pop() any {
	last := len(*c) - 1
	one := (*c)[last]
	(*c)[last] = nil
	*c = (*c)[:last]
	return one
}

// NewScriptedWorkers makes the loop.
func NewScriptedWorkers(f ScriptedFleet) *ScriptedWorkers {
	return &ScriptedWorkers{ScriptedFleet: f, seats: map[compute.WorkerID]*seat{}, gone: map[compute.WorkerID]bool{}}
}

// Run works until ctx ends.
func (l *ScriptedWorkers) Run(ctx context.Context) {
	for ctx.Err() == nil {
		l.turn.Lock()
		l.step(ctx)
		l.turn.Unlock()

		var due <-chan time.Time
		stop := func() {}
		if next, err := l.Next(ctx); err == nil && !next.IsZero() {
			due, stop = l.Clock.After(next.Sub(l.Clock.Now()))
		}
		select {
		case <-l.Scripts.Hint:
		case <-due:
		case <-ctx.Done():
		}
		stop()
	}
}

// Alone has Run do nothing until the function that it gives is called, so that Step alone says in which order things come.
func (l *ScriptedWorkers) Alone() (over func()) {
	l.turn.Lock()
	return func() {
		l.turn.Unlock()
		l.Scripts.Hint.Give()
	}
}

// Step does what is due, with what follows from it at once for the workers loop. It is called between Alone and its end.
func (l *ScriptedWorkers) Step(ctx context.Context) error {
	for l.step(ctx) && ctx.Err() == nil {
		l.Workers.Step(ctx)
	}
	return ctx.Err()
}

// Next gives when Step has something to do next, if nothing happens before; zero if nothing is planned. With a script, that a
// container comes up counts: a worker is ready to the millisecond.
func (l *ScriptedWorkers) Next(context.Context) (next time.Time, _ error) {
	note := func(t time.Time) {
		if !t.IsZero() && (next.IsZero() || t.Before(next)) {
			next = t
		}
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.due) > 0 {
		note(l.due[0].at)
	}
	for _, s := range l.seats {
		if len(s.plays) > 0 {
			note(s.ping)
		}
	}
	if !l.failed.IsZero() {
		note(l.failed.Add(failedPause))
	}
	if l.Scripts.none() {
		return next, nil
	}

	now := l.Clock.Now()
	for _, w := range l.Workers.simulated() {
		if w.ready.After(now) {
			note(w.ready)
		}
	}
	note(l.Runtime.Next())
	return next, nil
}

// step does what is due now, and reports whether a worker crashed, which is for the workers loop to see.
func (l *ScriptedWorkers) step(ctx context.Context) (crashed bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failed = time.Time{}
	changed := l.Scripts.fresh.Swap(false)
	err := l.Scripts.reread(ctx)
	l.note(err, "the scripts could not be read")
	if err != nil {
		l.Scripts.fresh.Store(true)
	}
	if l.Scripts.none() && len(l.seats) == 0 && !changed {
		return false
	}

	l.sit(changed)
	for again := true; again && ctx.Err() == nil; {
		l.heed()
		crashed = l.playDue(ctx) || crashed
		again = l.takeAll(ctx)
	}
	for _, s := range l.seats {
		if len(s.plays) > 0 && !l.Clock.Now().Before(s.ping) {
			l.pings(s)
		}
	}
	return crashed
}

// note notes an error of what is to be tried again.
func (l *ScriptedWorkers) note(err error, what string) {
	if err != nil {
		l.failed = l.Clock.Now()
		l.Log.Error(what, "error", err)
	}
}

// sit has the workers work that are ready, and forgets those that are no more. A script that was taken back leaves workers that are ready
// by that they are up, as those of all other endpoints.
func (l *ScriptedWorkers) sit(changed bool) {
	there, now := map[compute.WorkerID]bool{}, l.Clock.Now()
	endpoints := map[compute.EndpointID]compute.Endpoint{}
	for _, d := range l.Queue.Demands() {
		if !d.Gone {
			endpoints[d.Endpoint.ID] = d.Endpoint
		}
	}
	l.Scripts.keep(endpoints)

	for _, w := range l.Workers.simulated() {
		there[w.id] = true
		e, known := endpoints[w.endpoint]
		scripted := l.Scripts.of(w.endpoint) != nil
		switch {
		case l.seats[w.id] != nil || l.gone[w.id] || !known:
		case scripted && !w.ready.After(now):
			l.seats[w.id] = &seat{simulated: w, user: e.UserID, plays: map[compute.JobID]*play{}}
		case !scripted && changed:
			l.Queue.WorkerUp(w.endpoint, w.id, true)
		}
	}

	for id, s := range l.seats {
		if !there[id] {
			l.leave(s)
		}
	}
	for id := range l.gone {
		if !there[id] {
			delete(l.gone, id)
		}
	}
}

// leave forgets a worker, with the jobs that it has.
func (l *ScriptedWorkers) leave(s *seat) {
	for _, p := range s.plays {
		heap.Remove(&l.due, p.place)
	}
	delete(l.seats, s.id)
}

// heed stops work on the jobs that were taken from their workers: cancelled, out of time, or forgotten.
func (l *ScriptedWorkers) heed() {
	for _, s := range l.seats {
		stops, err := l.Queue.StopsNow(s.user, s.endpoint, s.id)
		if err != nil { // the endpoint is no more
			l.leave(s)
			continue
		}

		fewer := len(stops) > 0
		for id, p := range s.plays {
			if !l.Queue.Holds(s.endpoint, id, s.id) {
				fewer = true
				heap.Remove(&l.due, p.place)
				delete(s.plays, id)
			}
		}
		if fewer {
			l.pings(s)
		}
	}
}

// pings has a worker name the jobs that it has.
func (l *ScriptedWorkers) pings(s *seat) {
	ids := make([]compute.JobID, 0, len(s.plays))
	for id := range s.plays {
		ids = append(ids, id)
	}
	if err := l.Queue.Ping(s.user, s.endpoint, s.id, ids); err == nil { // or the endpoint is no more
		s.ping = l.Clock.Now().Add(l.Ping)
	}
}

// playDue does what is due of the jobs, in the order of its times, and reports whether a worker crashed.
func (l *ScriptedWorkers) playDue(ctx context.Context) (crashed bool) {
	for len(l.due) > 0 && ctx.Err() == nil {
		p := l.due[0]
		if p.at.After(l.Clock.Now()) {
			break
		}

		event := p.course.Event()
		if event.What == script.Crashed {
			l.Runtime.Exit(string(p.seat.id), event.ExitCode)
			l.gone[p.seat.id], crashed = true, true
			l.leave(p.seat)
			l.Workers.Look(p.seat.id)
			continue
		}

		err := l.report(ctx, p, event)
		switch {
		case compute.CodeOf(err) == compute.NotFound: // the endpoint is no more
			l.leave(p.seat)
		case err != nil:
			l.note(err, "a scripted worker could not report")
			p.at = l.Clock.Now().Add(failedPause)
			heap.Fix(&l.due, p.place)
		case event.What == script.Finish:
			heap.Remove(&l.due, p.place)
			delete(p.seat.plays, p.job)
		default:
			p.course.Passed()
			p.at = p.at.Add(p.course.Wait())
			heap.Fix(&l.due, p.place)
		}
	}
	return crashed
}

// report reports one thing of a job, as its worker does.
func (l *ScriptedWorkers) report(ctx context.Context, p *play, e script.Event) error {
	s := p.seat
	switch e.What {
	case script.Progress:
		err := l.Queue.Progress(ctx, s.user, s.endpoint, s.id, p.job, e.Value)
		if compute.CodeOf(err) == compute.Rejected {
			return nil // it is too long, and a worker of the SDK goes on without it
		}
		return err
	case script.Chunk:
		return l.Queue.StreamJob(ctx, s.user, s.endpoint, s.id, p.job, compute.Chunk{Output: e.Value})
	}
	return l.Queue.Finish(ctx, s.user, s.endpoint, s.id, p.job, queue.Report{Output: e.Value, Error: e.Error, Leave: e.Refresh})
}

// takeAll has the workers that can have more jobs ask for them, in the order of their ids, and reports whether one got any.
func (l *ScriptedWorkers) takeAll(ctx context.Context) (any bool) {
	for _, w := range l.Workers.simulated() {
		s, one := l.seats[w.id], l.Scripts.of(w.endpoint)
		if s == nil || one == nil || len(s.plays) >= one.AtOnce() || !l.failed.IsZero() {
			continue
		}
		taken, err := l.Queue.TakeNow(ctx, s.user, s.endpoint, s.id, one.AtOnce()-len(s.plays))
		if compute.CodeOf(err) != compute.NotFound {
			l.note(err, "a scripted worker could not take a job")
		}

		for i, t := range taken {
			if err := l.begin(ctx, s, t); err != nil {
				l.note(err, "a scripted worker could not begin a job")
				l.Queue.HandBack(taken[i:])
				break
			}
			any = true
		}
	}
	return any
}

// begin begins the course of a job that the worker took.
func (l *ScriptedWorkers) begin(ctx context.Context, s *seat, t queue.Taken) error {
	if t.InputSize > 0 && t.InputSize <= script.MostInput {
		var err error
		if t.Input, err = l.Queue.Pieces(ctx, t.Job, compute.JobInput, 0, compute.Pieces(t.InputSize)); err != nil {
			return err
		}
	}

	job := script.Job{ID: t.ID, Worker: s.id, Attempt: t.Attempt, Input: script.NewInput(t.Input, t.InputSize)}
	p := &play{job: t.ID, seat: s, turn: l.taken}
	found, err := l.Scripts.count(ctx, s.endpoint, func(one *script.Script, c *script.Counts) { p.course = one.Play(c, job) })
	switch {
	case err != nil:
		return err
	case !found:
		return compute.Errorf(compute.NotFound, "endpoint %q has no script any more", s.endpoint)
	}

	l.taken++
	now := l.Clock.Now()
	p.at = now.Add(p.course.Wait())
	if len(s.plays) == 0 {
		s.ping = now.Add(l.Ping)
	}
	s.plays[t.ID] = p
	heap.Push(&l.due, p)
	return nil
}

// simulated is a worker whose container is up, of those that nothing runs in.
type simulated struct {
	id       compute.WorkerID
	endpoint compute.EndpointID
	ready    time.Time // by its script; zero: since it is up
}

// simulated gives the workers of the simulated runtime that are up and are not to end, in the order of their ids.
func (l *Workers) simulated() (all []simulated) {
	for _, id := range l.containers.Keys() {
		if w, _ := l.containers.Memory(id); w.up && w.ending == nil && w.runtime == l.Runtime {
			all = append(all, simulated{id, w.endpoint, w.ready})
		}
	}
	return all
}

// Look has it looked how the worker is, soon.
func (l *Workers) Look(id compute.WorkerID) { l.containers.Hint(id) }
