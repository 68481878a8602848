package loop_test

import (
	"context"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/impl/script"
	"github.com/berthdev/berth/store"
)

// stage is a service whose simulated workers do what a script says.
type stage struct {
	*service
	scripts  *loop.Scripts
	scripted *loop.ScriptedWorkers
}

// newStage has the scripts read from the store that is made of the service's.
func newStage(t *testing.T, of func(store.Store) store.Store) *stage {
	s := &stage{service: serve(t, 0, nil)}
	s.scripts = loop.NewScripts(of(s.db))
	s.workers.Simulated, s.workers.Scripts = true, s.scripts
	s.scripted = loop.NewScriptedWorkers(loop.ScriptedFleet{
		Scripts: s.scripts, Workers: s.workers, Queue: s.queue, Runtime: s.containers, Clock: s.clock, Log: slog.New(slog.DiscardHandler), Ping: 10 * time.Second,
	})
	return s
}

func asItIs(db store.Store) store.Store { return db }

// set sets the script of the endpoint; empty: none.
func (s *stage) set(document string) {
	require.NoError(s, s.db.Write(s.Context(), func(tx store.Tx) error {
		if document == "" {
			return tx.DeleteScript(s.e.ID)
		}
		read, err := script.Parse(document)
		if err != nil {
			return err
		}
		return tx.SetScript(compute.EndpointScript{EndpointID: s.e.ID, Document: document, Counts: read.NewCounts().Text()})
	}))
	s.scripts.Changed()
}

// work lets the time pass, then the loops work.
func (s *stage) work(d time.Duration) {
	s.step(d)
	require.NoError(s, s.scripted.Step(s.Context()))
}

func (s *stage) next() time.Time {
	at, err := s.scripted.Next(s.Context())
	require.NoError(s, err)
	return at
}

func (s *stage) submit() compute.JobID {
	j, err := s.queue.Run(s.Context(), "u", s.e.ID, queue.Submission{Input: []byte(`{}`)})
	require.NoError(s, err)
	return j.ID
}

func (s *stage) job(id compute.JobID) compute.Job {
	j, err := s.queue.Status(s.Context(), "u", s.e.ID, id)
	require.NoError(s, err)
	return j
}

func TestScripted_WorkersDoEachThingAtItsTime(t *testing.T) {
	t.Parallel()
	s := newStage(t, asItIs)
	s.work(0)
	require.Zero(t, s.next())
	s.set(`{"answers":[{"delay":{"fixed":1500},"output":"done"}]}`)
	s.work(0)
	require.Zero(t, s.next())

	id := s.submit()
	s.work(0)
	begun := s.clock.Now()
	require.Equal(t, begun.Add(sim.DefaultBoot), s.next(), "a container comes up")
	s.work(sim.DefaultBoot - time.Millisecond)
	require.Equal(t, compute.JobInQueue, s.job(id).Status)
	s.work(time.Millisecond)
	require.Equal(t, compute.JobInProgress, s.job(id).Status)

	require.Equal(t, begun.Add(3500*time.Millisecond), s.next())
	s.work(1499 * time.Millisecond)
	require.Equal(t, compute.JobInProgress, s.job(id).Status)
	s.work(time.Millisecond)
	require.Equal(t, compute.JobCompleted, s.job(id).Status)
	require.Equal(t, `"done"`, string(s.job(id).Output))
	require.Zero(t, s.next())
}

func TestScripted_WorkersAreReadyAfterTheirColdStart(t *testing.T) {
	t.Parallel()
	s := newStage(t, asItIs)
	s.set(`{"answers":[{"output":1}],"coldStart":{"pull":1000,"load":2000,"warm":3000}}`)
	id := s.submit()
	s.work(0)
	begun := s.clock.Now()
	require.Equal(t, begun.Add(time.Second), s.next(), "its container comes up")
	s.work(time.Second)
	require.Equal(t, begun.Add(6*time.Second), s.next(), "it is ready")
	s.work(4999 * time.Millisecond)
	require.Equal(t, compute.JobInQueue, s.job(id).Status)
	s.work(time.Millisecond)
	require.Equal(t, compute.JobCompleted, s.job(id).Status)
}

func TestScripted_WorkersWhoseScriptIsTakenBackAreReady(t *testing.T) {
	t.Parallel()
	s := newStage(t, asItIs)
	s.set(`{"answers":[{"output":1}],"coldStart":{"warm":60000}}`)
	id := s.submit()
	s.work(0)
	s.work(time.Second)
	statuses, _ := s.seen()
	require.Equal(t, []compute.WorkerStatus{initializing}, statuses)
	s.set("")
	s.work(0)
	statuses, _ = s.seen()
	require.Equal(t, []compute.WorkerStatus{compute.WorkerIdle}, statuses)
	require.Equal(t, compute.JobInQueue, s.job(id).Status, "nothing runs there")
	require.Zero(t, s.next())
}

func TestScripted_WorkersPingForTheirJobs(t *testing.T) {
	t.Parallel()
	s := newStage(t, asItIs)
	s.set(`{"answers":[{"delay":{"fixed":65000},"output":1}]}`)
	id := s.submit()
	s.work(0)
	s.work(sim.DefaultBoot)
	taken := s.clock.Now()
	for _, seconds := range []time.Duration{10, 20, 30, 40, 50, 60, 65} {
		require.Equal(t, taken.Add(seconds*time.Second), s.next())
		s.work(s.next().Sub(s.clock.Now()))
		require.NoError(t, s.queue.Sweep(t.Context()))
	}
	require.Equal(t, compute.JobCompleted, s.job(id).Status)
	require.Zero(t, s.job(id).Retries)
}

func TestScripted_WorkersHaveSoManyJobsAtATime(t *testing.T) {
	t.Parallel()
	s := newStage(t, asItIs)
	s.set(`{"answers":[{"delay":{"fixed":1000},"output":1}],"concurrency":2}`)
	ids := []compute.JobID{s.submit(), s.submit(), s.submit()}
	statuses := func() (all []compute.JobStatus) {
		for _, id := range ids {
			all = append(all, s.job(id).Status)
		}
		return all
	}
	s.work(0)
	s.work(sim.DefaultBoot)
	require.Equal(t, []compute.JobStatus{compute.JobInProgress, compute.JobInProgress, compute.JobInQueue}, statuses())
	s.work(time.Second)
	require.Equal(t, []compute.JobStatus{compute.JobCompleted, compute.JobCompleted, compute.JobInProgress}, statuses(), "it asks at once for more")
	require.Equal(t, s.clock.Now().Add(time.Second), s.next())
	s.work(time.Second)
	require.Equal(t, compute.JobCompleted, s.job(ids[2]).Status)
}

func TestScripted_WorkersStopWhatIsCancelled(t *testing.T) {
	t.Parallel()
	s := newStage(t, asItIs)
	s.set(`{"answers":[{"delay":{"fixed":5000},"output":1}]}`)
	first := s.submit()
	s.work(0)
	s.work(sim.DefaultBoot)
	require.Equal(t, compute.JobInProgress, s.job(first).Status)
	_, err := s.queue.Cancel(t.Context(), "u", s.e.ID, first)
	require.NoError(t, err)
	s.work(0)
	require.Zero(t, s.next(), "nothing is left to do")

	second := s.submit()
	s.work(0)
	require.Equal(t, compute.JobInProgress, s.job(second).Status, "its worker has a place for it")
	require.Equal(t, s.clock.Now().Add(5*time.Second), s.next())
	s.work(5 * time.Second)
	require.Equal(t, compute.JobCompleted, s.job(second).Status)
	require.Equal(t, compute.JobCancelled, s.job(first).Status)
}

func TestScripted_WorkerThatCrashesGivesItsJobBack(t *testing.T) {
	t.Parallel()
	s := newStage(t, asItIs)
	s.set(`{"answers":[{"crash":{"exitCode":7,"after":500},"times":1},{"output":"later"}]}`)
	id := s.submit()
	s.work(0)
	s.work(sim.DefaultBoot)
	_, before := s.seen()
	s.work(499 * time.Millisecond)
	require.Equal(t, compute.JobInProgress, s.job(id).Status)
	s.work(time.Millisecond)
	require.Equal(t, compute.JobInQueue, s.job(id).Status)
	ended, reason, err := s.ended()
	require.NoError(t, err)
	require.Equal(t, before[0], ended)
	require.Equal(t, "the worker ended with exit code 7", firstLine(reason))

	s.work(time.Second) // its pause
	s.work(sim.DefaultBoot)
	require.Equal(t, compute.JobCompleted, s.job(id).Status)
	require.Equal(t, `"later"`, string(s.job(id).Output))
	require.Equal(t, 1, s.job(id).Retries)
	require.Zero(t, s.next())
}

func TestScripted_WorkersOfADeletedEndpointAreForgotten(t *testing.T) {
	t.Parallel()
	s := newStage(t, asItIs)
	s.set(`{"answers":[{"delay":{"fixed":5000},"output":1}]}`)
	s.submit()
	s.work(0)
	s.work(sim.DefaultBoot)
	require.NotZero(t, s.next())
	require.NoError(t, s.endpoints.Delete(t.Context(), "u", s.e.ID))
	s.work(0)
	require.Zero(t, s.next())
	require.Empty(t, s.rows())
}

func TestScripts_AreReadWhenTheyChange(t *testing.T) {
	t.Parallel()
	var db *counted
	s := newStage(t, func(one store.Store) store.Store {
		db = &counted{Store: one}
		return db
	})
	s.set(`{"answers":[{"output":1}]}`)
	s.work(0)
	require.EqualValues(t, 1, db.reads.Load())
	for range 3 {
		s.work(time.Second)
	}
	require.EqualValues(t, 1, db.reads.Load(), "nobody changed them")
	s.set(`{"answers":[{"output":2}]}`)
	s.work(0)
	require.EqualValues(t, 2, db.reads.Load())

	id := s.submit()
	s.work(0)
	s.work(sim.DefaultBoot)
	require.Equal(t, "2", string(s.job(id).Output))
}

// deaf is a store that cannot be read while it is told so.
type deaf struct {
	store.Store
	is atomic.Bool
}

func (d *deaf) Read(ctx context.Context, f func(store.Tx) error) error {
	if d.is.Load() {
		return compute.Errorf(compute.Unavailable, "the database is away")
	}
	return d.Store.Read(ctx, f)
}

// full is a store that cannot be written while it is told so.
type full struct {
	store.Store
	is atomic.Bool
}

func (f *full) Write(ctx context.Context, do func(store.Tx) error) error {
	if f.is.Load() {
		return compute.Errorf(compute.Unavailable, "the disk is full")
	}
	return f.Store.Write(ctx, do)
}

func TestScripts_NoWorkerStartsThatTheyCannotCount(t *testing.T) {
	t.Parallel()
	var db *full
	s := newStage(t, func(one store.Store) store.Store {
		db = &full{Store: one}
		return db
	})
	s.set(`{"coldStart":{"load":60000},"answers":[{"output":1}]}`)
	s.work(0)
	db.is.Store(true)
	id := s.submit()
	s.work(0)
	s.work(30 * time.Second)
	require.Equal(t, compute.JobInQueue, s.job(id).Status)

	db.is.Store(false)
	s.work(time.Minute) // the pause after what failed
	require.Equal(t, compute.JobInQueue, s.job(id).Status, "its worker starts now")
	s.work(time.Minute)
	s.work(sim.DefaultBoot)
	require.Equal(t, compute.JobCompleted, s.job(id).Status)
}

func TestScripts_AreReadAgainAfterAFailure(t *testing.T) {
	t.Parallel()
	var db *deaf
	s := newStage(t, func(one store.Store) store.Store {
		db = &deaf{Store: one}
		return db
	})
	db.is.Store(true)
	s.set(`{"answers":[{"output":1}]}`)
	s.work(0)
	require.Equal(t, s.clock.Now().Add(time.Second), s.next())
	s.work(time.Second)
	require.Equal(t, s.clock.Now().Add(time.Second), s.next())

	db.is.Store(false)
	s.work(time.Second)
	require.Zero(t, s.next())
	id := s.submit()
	s.work(0)
	s.work(sim.DefaultBoot)
	require.Equal(t, compute.JobCompleted, s.job(id).Status)
}
