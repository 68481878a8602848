package queue_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

type workerView = queue.WorkerView

var modelWorkers = []compute.WorkerID{"w1", "w2", "w3"}

func pick[T any](r *modelRun, from ...T) T { return from[r.random.IntN(len(from))] }

func (r *modelRun) one(in int) bool { return r.random.IntN(in) == 0 }

// endpoint is mostly the first one.
func (r *modelRun) endpoint() compute.EndpointID {
	return pick(r, modelEndpoints[0], modelEndpoints[0], modelEndpoints[0], modelEndpoints[1])
}

// job gives a job, rather one for which wanted holds, with an endpoint that is mostly its own.
func (r *modelRun) job(wanted func(*refJob) bool) (compute.EndpointID, compute.JobID) {
	var good []compute.JobID
	for _, id := range r.m.order {
		if wanted(r.m.jobs[id]) {
			good = append(good, id)
		}
	}

	id := compute.JobID("nosuchjob")
	switch {
	case len(good) > 0 && !r.one(5):
		id = pick(r, good...)
	case len(r.created) > 0:
		id = pick(r, r.created...)
	}

	if j := r.m.jobs[id]; j != nil && !r.one(20) {
		return j.EndpointID, id
	}
	return r.endpoint(), id
}

// report gives a job in progress with its holder, mostly: reports of former holders, of strangers and on jobs of all
// statuses come too.
func (r *modelRun) report() (compute.EndpointID, compute.JobID, compute.WorkerID) {
	e, id := r.job(func(j *refJob) bool { return j.Status == compute.JobInProgress })
	if j := r.m.jobs[id]; j != nil && j.WorkerID != "" && !r.one(4) {
		return e, id, j.WorkerID
	}
	return e, id, pick(r, modelWorkers...)
}

func (r *modelRun) value() json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`%q`, strings.Repeat("x", pick(r, 0, 1, 2, 18, 19, 28, 29))))
}

// modelStep is something that may happen, as often as its weight is a part of all weights.
type modelStep struct {
	weight int
	do     func()
}

// step makes one operation on both.
func (r *modelRun) step() {
	steps := slices.Concat(r.jobSteps(context.Background()), r.workerSteps(context.Background()), r.otherSteps(context.Background()))
	all := 0
	for _, s := range steps {
		all += s.weight
	}

	n := r.random.IntN(all)
	for _, s := range steps {
		if n -= s.weight; n < 0 {
			s.do()
			return
		}
	}
}

// jobSteps are what clients and workers do with jobs.
func (r *modelRun) jobSteps(ctx context.Context) []modelStep {
	return []modelStep{
		{16, func() {
			if alive := len(r.m.held) + len(r.m.lines[modelEndpoints[0]].normal); alive < r.crowd || r.one(4) {
				r.submit(r.one(5))
			}
		}},
		{16, func() { r.take(r.endpoint(), pick(r, modelWorkers...), 1+r.random.IntN(3), r.one(15)) }},
		{12, func() { r.finish() }},
		{4, func() {
			e, id, w := r.report()
			v := r.value()
			r.say("progress %s %s %s %s", e, w, id, v)
			taken := r.m.progress(e, w, id, v)
			err := r.queue.Progress(ctx, user, e, w, id, v)
			if taken {
				require.NoError(r, err)
				return
			}
			require.Equal(r, compute.Rejected, compute.CodeOf(err))
		}},
		{8, func() {
			e, id, w := r.report()
			c := compute.Chunk{Output: r.value()}
			if r.one(2) {
				c.Metrics = json.RawMessage(`{"n":1}`)
			}
			r.say("stream job %s %s %s %s", e, w, id, c.Output)
			r.m.yield(e, w, id, c)
			require.NoError(r, r.queue.StreamJob(ctx, user, e, w, id, c))
		}},
		{7, func() {
			r.read(r.job(func(j *refJob) bool { return len(j.chunks) > 0 || j.Status == compute.JobTimedOut }))
		}},
		{5, func() {
			e, id := r.job(func(j *refJob) bool { return !j.Status.Ended() })
			r.say("cancel %s %s", e, id)
			got, err := r.queue.Cancel(ctx, user, e, id)
			r.sameJob(r.m.cancel(e, id), got, err)
		}},
		{7, func() { r.retry() }},
		{1, func() {
			e := r.endpoint()
			r.say("purge %s", e)
			got, err := r.queue.Purge(ctx, user, e)
			require.NoError(r, err)
			require.Equal(r, r.m.purge(e), got)
		}},
		{3, func() {
			e, id := r.job(func(*refJob) bool { return true })
			ttl := pick(r, time.Millisecond, time.Second, time.Minute, time.Hour, 8*24*time.Hour)
			r.say("set ttl %s %s %s", e, id, ttl)
			got, err := r.queue.SetTTL(ctx, user, e, id, ttl)
			r.sameJob(r.m.setTTL(e, id, ttl), got, err)
		}},
		{4, func() {
			e, id := r.job(func(*refJob) bool { return true })
			r.say("status %s %s", e, id)
			got, err := r.queue.Wait(ctx, user, e, id, 0)
			r.sameJob(r.m.own(e, id), got, err)
		}},
	}
}

// workerSteps are what becomes of workers.
func (r *modelRun) workerSteps(ctx context.Context) []modelStep {
	return []modelStep{
		{9, func() { r.ping() }},
		{3, func() {
			e, w := r.endpoint(), pick(r, modelWorkers...)
			r.say("worker gone %s %s", e, w)
			r.m.gone(e, w)
			r.queue.WorkerGone(ctx, e, w, "the worker ended")
		}},
		{1, func() {
			e, w := r.endpoint(), pick(r, modelWorkers...)
			r.say("unhealthy %s %s", e, w)
			s := r.m.lines[e].worker(w)
			s.unhealthy, s.lastSeen = true, r.m.now
			require.NoError(r, r.queue.Unhealthy(user, e, w, "hot"))
		}},
		{1, func() {
			e, w := r.endpoint(), pick(r, modelWorkers...)
			r.say("drain %s %s", e, w)
			require.Equal(r, r.m.drain(e, w), r.queue.Drain(e, w))
		}},
		{2, func() {
			e, w := r.endpoint(), pick(r, modelWorkers...)
			r.say("worker started %s %s", e, w)
			r.m.lines[e].worker(w).managed = true
			r.queue.WorkerStarted(e, w, 0)
		}},
	}
}

// otherSteps are time, restarts, loss of memory, and looks at what there is.
func (r *modelRun) otherSteps(ctx context.Context) []modelStep {
	return []modelStep{
		{3, func() { r.stops() }},
		{13, func() {
			d := pick(r, time.Millisecond, time.Second, 5*time.Second, 10*time.Second, 15*time.Second, 30*time.Second, time.Minute, 3*time.Minute)
			if r.one(15) {
				d = 30 * time.Minute
			}
			r.say("%s pass", d)
			r.clock.Advance(d)
			r.m.now = r.clock.Now()
		}},
		{9, func() {
			r.say("sweep")
			r.m.sweep()
			require.NoError(r, r.queue.Sweep(ctx))
		}},
		{6, func() {
			if next := r.m.next(); !next.IsZero() {
				r.say("all pass until the next thing is due")
				r.clock.Advance(max(0, next.Add(-time.Duration(r.random.IntN(2))*time.Millisecond).Sub(r.clock.Now())))
				r.m.now = r.clock.Now()
				r.m.sweep()
				require.NoError(r, r.queue.Sweep(ctx))
			}
		}},
		{2, func() { r.restart() }},
		{2, func() { r.storm() }},
		{2, func() { r.loseMemory() }},
		{2, func() {
			step := pick(r, time.Hour, -time.Hour, 4*time.Second)
			r.say("the clock steps by %s, or the server was paused", step)
			r.clock.Running().Adjust(step)
			r.m.lag += step
		}},
		{4, func() { r.demands() }},
		{5, func() { r.check() }},
		{1, func() { r.stranger() }},
	}
}

func (r *modelRun) submit(sync bool) {
	e := r.endpoint()
	s := queue.Submission{Input: json.RawMessage(fmt.Sprintf(`{"n":%d}`, len(r.created))), LowPriority: r.one(4)}
	if r.one(2) {
		s.Webhook = "http://receiver/" + string(e)
	}
	if r.one(3) {
		s.ExecutionTimeout = pick(r, 5*time.Second, 40*time.Second)
	}
	if r.one(4) {
		s.TTL = pick(r, 10*time.Second, time.Minute)
	}
	if r.one(8) {
		s.S3Config = json.RawMessage(`{"bucketName":"b"}`)
	}

	want := compute.Job{
		EndpointID: e, Sync: sync, Webhook: s.Webhook, S3Config: s.S3Config, LowPriority: s.LowPriority, ExecutionTimeout: s.ExecutionTimeout,
		TTL: s.TTL, Retention: 30 * time.Minute,
	}
	if want.ExecutionTimeout == 0 {
		want.ExecutionTimeout = 10 * time.Minute
	}
	if want.TTL == 0 {
		want.TTL = 24 * time.Hour
	}

	var got compute.Job
	var err error
	if sync {
		want.Retention = time.Minute
		got, err = r.queue.RunSync(context.Background(), user, e, s, 0)
	} else {
		got, err = r.queue.Run(context.Background(), user, e, s)
	}
	require.NoError(r, err)

	want.ID = got.ID
	r.created = append(r.created, got.ID)
	r.names[got.ID] = fmt.Sprintf("j%d", len(r.created))
	r.say("submit %s %s sync %t low %t webhook %t timeout %s ttl %s", e, got.ID, sync, s.LowPriority, s.Webhook != "", want.ExecutionTimeout, want.TTL)
	r.m.submit(want, s.Input)
	r.sameJob(r.m.jobs[got.ID], got, nil)
}

// take compares which jobs are handed out, and in which order; they may be handed back at once, as to a worker that hung up.
func (r *modelRun) take(e compute.EndpointID, w compute.WorkerID, n int, handBack bool) {
	queued := map[compute.JobID]time.Time{}
	for id, j := range r.m.jobs {
		queued[id] = j.QueuedAt
	}
	idle, take := true, r.queue.Take
	if r.one(3) {
		idle, take = false, r.queue.TakeMore
	}
	want := r.m.take(e, w, n, idle)
	got, err := take(context.Background(), user, e, w, n)
	require.NoError(r, err)

	wanted, given, times := []compute.JobID{}, []compute.JobID{}, []time.Time{}
	for _, j := range want {
		wanted, times = append(wanted, j.ID), append(times, queued[j.ID])
	}
	for _, j := range got {
		given = append(given, j.ID)
	}
	r.say("take %s %s up to %d, idle %t: %s", e, w, n, idle, given)
	require.Equal(r, r.short(wanted), r.short(given), "the jobs handed out, in order")

	for i := range got {
		r.sameJob(want[i], got[i].Job, nil)
		require.Equal(r, want[i].input, got[i].Input)
		require.NotContains(r, r.m.lines[e].workers[w].named, got[i].ID, "handed to a worker that holds it")
	}

	if handBack && len(got) > 0 {
		r.say("hand back %s", given)
		r.m.handBack(want, times)
		r.queue.HandBack(got)
	}
}

func (r *modelRun) short(ids []compute.JobID) []string {
	names := make([]string, len(ids))
	for i, id := range ids {
		names[i] = r.names[id]
	}
	return names
}

func (r *modelRun) finish() {
	e, id, w := r.report()
	report := queue.Report{Output: r.value(), Leave: r.one(12)}
	if r.one(3) {
		report.Error = "boom"
	}
	if r.one(5) {
		report.Output = nil
	}
	r.say("finish %s %s %s output %s error %q leave %t", e, w, id, report.Output, report.Error, report.Leave)
	for range 1 + r.random.IntN(5)/4 { // sometimes twice
		r.m.finish(e, w, id, report)
		require.NoError(r, r.queue.Finish(context.Background(), user, e, w, id, report))
	}
}

func (r *modelRun) read(e compute.EndpointID, id compute.JobID) {
	r.say("read stream %s %s", e, id)
	want, chunks := r.m.stream(e, id)
	got, read, err := r.queue.Stream(context.Background(), user, e, id, 0, nil)
	r.sameJob(want, got, err)
	if want != nil {
		require.Equal(r, chunks, read)
	}
}

func (r *modelRun) retry() {
	e, id := r.job(func(j *refJob) bool { return j.Status == compute.JobFailed || j.Status == compute.JobTimedOut })
	r.say("retry %s %s", e, id)
	want, code := r.m.retry(e, id)
	got, err := r.queue.Retry(context.Background(), user, e, id)
	require.Equal(r, code, compute.CodeOf(err))
	if want != nil {
		r.sameJob(want, got, err)
		delete(r.ends, id)
	}
}

// ping names some of what the worker holds, and sometimes what it does not.
func (r *modelRun) ping() {
	e, w := r.endpoint(), pick(r, modelWorkers...)
	var ids []compute.JobID
	for _, id := range r.m.order {
		j := r.m.jobs[id]
		if j.EndpointID == e && j.WorkerID == w && !j.Status.Ended() && !r.one(5) || r.one(20) {
			ids = append(ids, id)
		}
	}
	r.say("ping %s %s %s", e, w, ids)
	r.m.ping(e, w, ids)
	require.NoError(r, r.queue.Ping(user, e, w, slices.Clone(ids)))
}

func (r *modelRun) stops() {
	e, w := r.endpoint(), pick(r, modelWorkers...)
	r.say("stops %s %s", e, w)
	s := r.m.see(e, w)
	got, err := r.queue.Stops(context.Background(), user, e, w)
	require.NoError(r, err)

	var want []compute.JobID
	for i := range s.stops {
		if !s.stops[i].sent {
			want = append(want, s.stops[i].id)
			s.stops[i].sent, s.stops[i].told = true, r.m.now
		}
	}

	require.ElementsMatch(r, want, got)
}

// restart is a new process on the same disk; now and then the file is closed and opened too.
func (r *modelRun) restart() {
	r.say("restart")
	r.queue.Close()
	if r.one(5) {
		require.NoError(r, r.db.Close())
		r.open()
	}
	r.m.restart()
	r.start()
}

// loseMemory has the queue know what the rows say and nothing else, as after a restart.
func (r *modelRun) loseMemory() {
	r.say("all memory is lost")
	require.NoError(r, r.queue.Reload(context.Background()))
	r.m.restart()
}

// stranger is somebody with a good key and no right to the endpoint: nothing is there for them.
func (r *modelRun) stranger() {
	ctx, e := context.Background(), r.endpoint()
	_, id := r.job(func(*refJob) bool { return true })
	r.say("a stranger %s %s", e, id)
	for _, call := range []func() error{
		func() error { _, err := r.queue.Status(ctx, "stranger", e, id); return err },
		func() error { _, err := r.queue.Cancel(ctx, "stranger", e, id); return err },
		func() error { _, err := r.queue.Retry(ctx, "stranger", e, id); return err },
		func() error { _, err := r.queue.Purge(ctx, "stranger", e); return err },
		func() error { _, err := r.queue.Take(ctx, "stranger", e, "w1", 1); return err },
		func() error { return r.queue.Finish(ctx, "stranger", e, "w1", id, queue.Report{}) },
		func() error { return r.queue.Ping("stranger", e, "w1", []compute.JobID{id}) },
	} {
		require.Equal(r, compute.NotFound, compute.CodeOf(call()))
	}
}

// limit is that of the job's output.
func (m *reference) limit(j *refJob) int {
	if j.Sync {
		return m.settings.SyncLimit
	}
	return m.settings.RunOutputLimit
}

// progress reports whether it is taken.
func (m *reference) progress(e compute.EndpointID, w compute.WorkerID, id compute.JobID, output json.RawMessage) bool {
	m.see(e, w)
	j := m.heldBy(e, w, id)
	if j == nil {
		return true
	}
	j.lease = m.now.Add(m.settings.Lease)
	if len(output) > m.limit(j) {
		return false
	}
	j.Output = output
	return true
}
