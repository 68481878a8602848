package queue_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// reports are what a meter and a trace received, in order.
type reports []string

func (m *reports) add(format string, args ...any) { *m = append(*m, fmt.Sprintf(format, args...)) }

func (m *reports) Submitted()                { m.add("submitted") }
func (m *reports) Taken(delay time.Duration) { m.add("taken after %s", delay) }
func (m *reports) Lost()                     { m.add("lost") }
func (m *reports) Forget()                   { m.add("forget") }
func (m *reports) Ended(status compute.JobStatus, taken bool, execution time.Duration) {
	m.add("ended %s %t %s", status, taken, execution)
}

// followed are what a trace received, in order.
type followed struct{ reports }

func (f *followed) Submitted(context.Context, compute.JobID) { f.add("submitted") }
func (f *followed) Dropped(compute.JobID)                    { f.add("dropped") }
func (f *followed) DroppedAll()                              { f.add("dropped all") }
func (f *followed) Taken(_ context.Context, j compute.Job)   { f.add("taken %s", j.WorkerID) }
func (f *followed) Ended(_ context.Context, j compute.Job)   { f.add("ended %s", j.Status) }
func (f *followed) Waits(context.Context, compute.JobID) func() {
	f.add("waits")
	return func() { f.add("over") }
}

// watched gives a bench whose endpoint is counted and followed.
func watched(t *testing.T) (*bench, *reports, *followed) {
	b, m, f := open(t), &reports{}, &followed{}
	b.hooks = queue.Hooks{Meter: func(compute.EndpointID) queue.Meter { return m }, Trace: f}
	b.restart()
	return b, m, f
}

func (b *bench) report(id compute.JobID, r queue.Report) {
	require.NoError(b, b.queue.Finish(b.Context(), user, b.endpoint, "w", id, r))
}

func TestMeter_IsNotifiedOfEachStepOnce(t *testing.T) {
	t.Parallel()
	b, m, f := watched(t)
	id := b.run(queue.Submission{})
	b.clock.Advance(3 * time.Second)
	b.take("w", 1)
	b.clock.Advance(2 * time.Second)
	b.report(id, queue.Report{})
	b.report(id, queue.Report{}) // again: it changes nothing
	require.Equal(t, reports{"submitted", "taken after 3s", "ended COMPLETED true 2s"}, *m)
	require.Equal(t, reports{"submitted", "taken w", "ended COMPLETED"}, f.reports)
}

func TestMeter_IsNotifiedOfJobsThatDoNotComplete(t *testing.T) {
	t.Parallel()
	b, m, _ := watched(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	b.ping(id)
	b.sweepAfter(31 * time.Second)
	require.Equal(t, reports{"submitted", "taken after 0s", "lost"}, *m)

	*m = nil
	b.ping() // it does not run it any more
	b.take("w", 1)
	b.report(id, queue.Report{Error: "no"})
	require.Equal(t, reports{"taken after 0s", "ended FAILED true 0s"}, *m)

	*m = nil
	b.cancel(b.run(queue.Submission{}))
	require.Equal(t, reports{"submitted", "ended CANCELLED false 0s"}, *m)
	*m = nil
	b.run(queue.Submission{})
	_, err := b.queue.Purge(t.Context(), user, b.endpoint)
	require.NoError(t, err)
	require.Equal(t, reports{"submitted", "ended CANCELLED false 0s"}, *m)

	*m = nil
	b.run(queue.Submission{TTL: 10 * time.Second})
	b.sweepAfter(11 * time.Second)
	require.Equal(t, reports{"submitted", "ended TIMED_OUT false 0s"}, *m)

	*m = nil
	require.NoError(t, b.queue.RemoveEndpoint(t.Context(), b.endpoint))
	b.sweepAfter(time.Hour)
	require.Equal(t, reports{"forget"}, *m)
}

func TestTrace_IsNotifiedOfEarlyAndUnstoredJobs(t *testing.T) {
	t.Parallel()
	b, m, f := watched(t)
	ctx, over := context.WithCancel(t.Context())
	over()
	_, err := b.queue.Run(ctx, user, b.endpoint, queue.Submission{})
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, reports{"submitted", "dropped"}, f.reports)
	require.Empty(t, *m)

	f.reports = nil
	j, err := b.queue.RunSync(t.Context(), user, b.endpoint, queue.Submission{}, 0)
	require.NoError(t, err)
	require.Equal(t, compute.JobInQueue, j.Status)
	require.Equal(t, reports{"submitted", "waits", "over"}, f.reports)
}

func TestTrace_FollowsNoJobThatIsCleared(t *testing.T) {
	t.Parallel()
	b, _, f := watched(t)
	b.run(queue.Submission{})
	b.forgetJobs()
	b.queue.Clear()
	require.Equal(t, reports{"submitted", "dropped all"}, f.reports)
}

func TestDispatcher_ViewShowsWhatWaitsAndWorks(t *testing.T) {
	t.Parallel()
	b := open(t)
	first := b.clock.Now()
	require.Equal(t, []queue.DispatcherView{{Endpoint: b.endpoint, Workers: map[compute.WorkerStatus]int64{}}}, b.queue.Dispatchers())

	low := b.run(queue.Submission{LowPriority: true})
	b.clock.Advance(time.Second)
	a, second := b.run(queue.Submission{}), b.clock.Now()
	b.clock.Advance(time.Second)
	b.run(queue.Submission{})
	view := func() queue.DispatcherView { return b.queue.Dispatchers()[0] }
	require.Equal(t, 3, view().Waiting)
	require.Equal(t, first, view().Oldest)

	b.cancel(low)
	require.Equal(t, second, view().Oldest)
	b.cancel(a)
	require.Equal(t, second.Add(time.Second), view().Oldest)
	require.Equal(t, 1, view().Waiting)

	taken := b.take("w", 1)
	require.Equal(t, queue.DispatcherView{Endpoint: b.endpoint, InProgress: 1, Workers: map[compute.WorkerStatus]int64{compute.WorkerRunning: 1}}, view())
	b.clock.Advance(time.Second)
	b.run(queue.Submission{})
	b.queue.HandBack([]queue.Taken{{Job: compute.Job{ID: taken[0], WorkerID: "w", QueuedAt: second.Add(time.Second)}}})
	require.Equal(t, 2, view().Waiting)
	require.Equal(t, second.Add(time.Second), view().Oldest)
}

// lastSeen are the last jobs that a trace was told of.
type lastSeen struct {
	followed
	taken, ended compute.Job
}

func (s *lastSeen) Taken(_ context.Context, j compute.Job) { s.taken = j }
func (s *lastSeen) Ended(_ context.Context, j compute.Job) { s.ended = j }

// The times of a job are laid beside those of others, which are times of day.
func TestTrace_HasTimesOfDay(t *testing.T) {
	t.Parallel()
	b, s := open(t), &lastSeen{}
	b.hooks.Trace = s
	b.restart()
	b.clock.Running().Adjust(time.Hour)
	submitted := b.clock.Wall()
	id := b.run(queue.Submission{TTL: time.Minute})
	b.clock.Advance(time.Second)
	b.take("w", 1)
	taken := b.clock.Wall()
	require.Equal(t, []time.Time{submitted, submitted, taken, {}, submitted.Add(time.Minute)}, []time.Time{s.taken.CreatedAt, s.taken.QueuedAt, s.taken.TakenAt, s.taken.EndedAt, s.taken.ExpiresAt})

	b.clock.Advance(time.Second)
	b.report(id, queue.Report{})
	ended := b.clock.Wall()
	require.Equal(t, []time.Time{submitted, taken, ended, ended.Add(30 * time.Minute)}, []time.Time{s.ended.QueuedAt, s.ended.TakenAt, s.ended.EndedAt, s.ended.ExpiresAt})
	require.Equal(t, b.clock.Now(), b.status(id).EndedAt, "its own are those by which it falls due")
}

func TestDispatcher_ViewShowsTheOldestOfBothPriorities(t *testing.T) {
	t.Parallel()
	b := open(t)
	first := b.clock.Now()
	normal := b.run(queue.Submission{})
	b.clock.Advance(time.Second)
	b.run(queue.Submission{LowPriority: true})
	require.Equal(t, first, b.queue.Dispatchers()[0].Oldest)
	b.cancel(normal)
	require.Equal(t, first.Add(time.Second), b.queue.Dispatchers()[0].Oldest)
	b.run(queue.Submission{})
	require.Equal(t, first.Add(time.Second), b.queue.Dispatchers()[0].Oldest)
}

// The id of a job that another source of ids made first is followed no more: the job gets another one.
func TestTrace_FollowsTheIDThatTheJobHasInTheEnd(t *testing.T) {
	t.Parallel()
	b, f := open(t), &followed{}
	other := b.beside(4)
	b.hooks.Trace = f
	same := b.beside(4) // so that it makes the same ids
	_, err := other.Run(t.Context(), user, b.endpoint, queue.Submission{Input: []byte(`{}`)})
	require.NoError(t, err)
	_, err = same.Run(t.Context(), user, b.endpoint, queue.Submission{Input: []byte(`{}`)})
	require.NoError(t, err)
	require.GreaterOrEqual(t, len(f.reports), 3)
	for i, one := range f.reports {
		require.Equal(t, []string{"submitted", "dropped"}[i%2], one)
	}
	require.Equal(t, "submitted", f.reports[len(f.reports)-1])
}
