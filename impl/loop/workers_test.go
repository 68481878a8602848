package loop_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/store"
)

// service is the workers loop over a host with room for two workers, and what it works with. Its simulated containers outlive
// it.
type service struct {
	*testing.T
	db         store.Store
	clock      *compute.SettableClock
	containers *sim.Fleet
	queue      *queue.Queue
	keyring    *control.Keyring
	ctl        *control.Control
	endpoints  *control.Endpoints
	workers    *loop.Workers
	e          compute.Endpoint
}

// serve starts a service with an endpoint that keeps so many workers, in the environment.
func serve(t *testing.T, least int64, env map[string]string) *service {
	s := &service{T: t}
	s.db, s.clock = openStore(t)
	s.containers = sim.New(s.clock)
	s.begin()
	name, image, most := "e", "i", int64(3)
	var err error
	s.e, err = s.endpoints.Create(t.Context(), "u", compute.QueueEndpoint, control.EndpointChange{
		Name: &name, Image: &image, Env: env, CPUs: []compute.CPU{{ID: "cpu3g", VCPUCount: 2}}, WorkersMin: &least, WorkersMax: &most,
		Scaling: &control.Scaling{Scaler: compute.ByDelay, Value: 4},
	})
	require.NoError(t, err)
	return s
}

// begin makes everything anew over the store and the containers, as a restart does.
func (s *service) begin() {
	ids := compute.NewIDs(rand.Reader, s.clock)
	var err error
	s.queue, err = queue.New(s.Context(), s.db, s.clock, ids, queue.DefaultSettings(), queue.Hooks{})
	require.NoError(s, err)

	s.keyring, err = control.NewKeyring(s.Context(), s.db, ids, s.clock, nil)
	require.NoError(s, err)
	catalog, err := control.BuiltInCatalog()
	require.NoError(s, err)

	placement, err := control.NewPlacement(s.Context(), s.db, catalog, []control.Host{{
		ID: "h", DataCenterID: "EU-RO-1", Cloud: compute.Secure, CPUs: []string{"cpu3g"}, VCPUs: 4, MemoryGB: 100, DiskGB: 100,
	}}, packed)
	require.NoError(s, err)

	s.ctl = control.New(s.db, ids, placement, control.Runtime{Can: compute.AllCapabilities}, control.Hints{Pod: func(compute.PodID) {}})
	s.endpoints = control.NewEndpoints(s.db, ids, placement, s.queue, control.Runtime{Can: compute.AllCapabilities})
	s.workers = loop.NewWorkers(loop.Fleet{
		Store: s.db, Placement: placement, Queue: s.queue, Keyring: s.keyring, Local: sim.New(s.clock), Runtime: s.containers, IDs: ids,
		Clock: s.clock, Log: slog.New(slog.DiscardHandler),
		URL: func() string { return "http://inner" }, OuterURL: func() string { return "http://outer" },
	})
}

// set stores the endpoint as it is to be, and has the queue know.
func (s *service) set(e compute.Endpoint) {
	require.NoError(s, s.db.Write(s.Context(), func(tx store.Tx) error { return tx.UpdateEndpoint(e) }))
	s.queue.SetEndpoint(e)
}

// seen gives the workers' statuses in the published order, the missing ones last, and their ids.
func (s *service) seen() (statuses []compute.WorkerStatus, ids []compute.WorkerID) {
	_, all, err := s.endpoints.Workers(s.Context(), "u", s.e.ID)
	require.NoError(s, err)
	for _, w := range all {
		statuses, ids = append(statuses, w.Status), append(ids, w.ID)
	}
	return statuses, ids
}

func (s *service) step(d time.Duration) {
	s.clock.Advance(d)
	s.workers.Step(s.Context())
}

const (
	initializing = compute.WorkerInitializing
	throttled    = compute.WorkerThrottled
	unhealthy    = compute.WorkerUnhealthy
)

func TestWorkers_StartUntilTheySaySomething(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	require.False(t, s.workers.Starting(), "there is none")
	s.step(0)
	require.True(t, s.workers.Starting())
	s.step(time.Minute)
	require.True(t, s.workers.Starting())

	_, ids := s.seen()
	require.NoError(t, s.queue.Ping("u", s.e.ID, ids[0], nil))
	require.False(t, s.workers.Starting())
	require.False(t, s.queue.Initializing(s.e.ID, "other"))
	require.False(t, s.queue.Initializing("other", ids[0]))
}

func TestWorkers_ThatAreToEndDoNotStart(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.step(0)
	_, ids := s.seen()
	require.Equal(t, 1, s.workers.Interrupt(s.e.ID, ids[0]))
	require.False(t, s.workers.Starting())
}

func TestWorkers_AreThrottledUntilThereIsRoom(t *testing.T) {
	t.Parallel()
	s := serve(t, 3, nil)
	s.step(0)
	statuses, ids := s.seen()
	require.Equal(t, []compute.WorkerStatus{initializing, initializing, throttled}, statuses)

	_, all, err := s.endpoints.Workers(t.Context(), "u", s.e.ID)
	require.NoError(t, err)
	require.Contains(t, all[2].Reason, "nothing can hold the worker now: asked for 2 vCPUs of cpu3g")
	require.NoError(t, s.containers.Remove(t.Context(), string(ids[0]))) // it vanished

	s.step(time.Second) // that is seen, and counts as an end by itself
	s.step(2 * time.Second)
	statuses, now := s.seen()
	require.Equal(t, []compute.WorkerStatus{initializing, initializing, throttled}, statuses)
	require.Equal(t, ids[2], now[0], "the one that waited longest")
	require.NotContains(t, now, ids[0])
}

// TestWorkers_OfAnEndpointThatIsForgottenEnd: it may be deleted and forgotten while a worker of it is being started.
func TestWorkers_OfAnEndpointThatIsForgottenEnd(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.step(0)
	s.step(sim.DefaultBoot)
	require.NoError(t, s.endpoints.Delete(t.Context(), "u", s.e.ID))
	s.queue.Clear()
	s.step(time.Second)
	s.step(time.Minute)

	left, err := s.containers.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, left)
	require.Empty(t, s.keyring.Keys(true))
	require.NoError(t, s.db.Read(t.Context(), func(tx store.Tx) error {
		rows, err := tx.ListWorkers()
		require.Empty(t, rows)
		return err
	}))
}

func TestWorkers_ThatEndWithoutAJobAreReplacedLater(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, map[string]string{sim.EnvExitAfter: "0s", sim.EnvExitCode: "0"})
	s.step(0)
	for _, pause := range []time.Duration{time.Second, 2 * time.Second} {
		s.step(sim.DefaultBoot)
		s.step(pause - time.Millisecond)
		statuses, _ := s.seen()
		require.Equal(t, []compute.WorkerStatus{unhealthy}, statuses)
		s.step(time.Millisecond)
		statuses, _ = s.seen()
		require.Equal(t, []compute.WorkerStatus{initializing}, statuses)
	}
}

func TestWorkers_CrashingOnesAreReplacedLaterAndLater(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, map[string]string{sim.EnvExitAfter: "0s", sim.EnvExitCode: "1"})
	s.step(0)
	for _, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second} {
		s.step(sim.DefaultBoot)
		statuses, _ := s.seen()
		require.Equal(t, []compute.WorkerStatus{unhealthy}, statuses)
		s.step(pause - time.Millisecond)
		statuses, _ = s.seen()
		require.Equal(t, []compute.WorkerStatus{unhealthy}, statuses)
		s.step(time.Millisecond)
		statuses, _ = s.seen()
		require.Equal(t, []compute.WorkerStatus{initializing}, statuses)
	}

	_, ids := s.seen()
	j := s.busy(ids[0])
	require.NoError(t, s.queue.Finish(t.Context(), "u", s.e.ID, ids[0], j.ID, queue.Report{}))

	s.step(sim.DefaultBoot)
	statuses, now := s.seen()
	require.Equal(t, []compute.WorkerStatus{initializing}, statuses, "it is replaced at once")
	require.NotEqual(t, ids, now)
}

func TestWorkers_OutliveARestartWithTheirJobs(t *testing.T) {
	t.Parallel()
	s := serve(t, 2, nil)
	s.step(0)
	s.step(sim.DefaultBoot)
	_, ids := s.seen()
	j := s.busy(ids[0])
	gone := string(ids[1])
	require.NoError(t, s.containers.Remove(t.Context(), gone))
	require.NoError(t, s.containers.Start(t.Context(), runtime.Allocation{ID: "nobodys"}))

	before := s.keyring.Keys(true)
	require.Len(t, before, 2)

	s.begin()
	s.step(0)
	statuses, now := s.seen()
	require.Len(t, now, 2)
	require.Contains(t, now, ids[0])
	require.NotContains(t, now, ids[1])
	require.Contains(t, statuses, compute.WorkerRunning)

	kept := slices.IndexFunc(s.keyring.Keys(true), func(k compute.Key) bool { return k.WorkerID == ids[0] })
	require.GreaterOrEqual(t, kept, 0, "its key is still good")
	require.Len(t, s.keyring.Keys(true), 2)
	there, err := s.containers.List(t.Context())
	require.NoError(t, err)
	require.NotContains(t, there, "nobodys")
	require.NoError(t, s.queue.Finish(t.Context(), "u", s.e.ID, ids[0], j.ID, queue.Report{Output: []byte(`1`)}))

	ended, err := s.queue.Status(t.Context(), "u", s.e.ID, j.ID)
	require.NoError(t, err)
	require.Equal(t, compute.JobCompleted, ended.Status)
	require.Zero(t, ended.Retries)
}

func TestWorkers_DeletedEndpointLeavesNone(t *testing.T) {
	t.Parallel()
	s := serve(t, 2, nil)
	s.step(0)
	require.NoError(t, s.endpoints.Delete(t.Context(), "u", s.e.ID))

	s.step(0)
	require.Eventually(t, func() bool { return len(s.keyring.Keys(true)) == 0 }, 10*time.Second, time.Millisecond)
	require.Eventually(t, func() bool {
		var rows []compute.Worker
		require.NoError(t, s.db.Read(t.Context(), func(tx store.Tx) (err error) {
			rows, err = tx.ListWorkers()
			return err
		}))
		return len(rows) == 0
	}, 10*time.Second, time.Millisecond)

	there, err := s.containers.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, there)
}

// busy has a worker of the endpoint take a job, which is submitted for it.
func (s *service) busy(w compute.WorkerID) compute.Job {
	j, err := s.queue.Run(s.Context(), "u", s.e.ID, queue.Submission{Input: []byte(`{}`)})
	require.NoError(s, err)
	_, err = s.queue.Take(s.Context(), "u", s.e.ID, w, 1)
	require.NoError(s, err)
	return j
}

// rows gives what is stored of workers.
func (s *service) rows() (rows []compute.Worker) {
	require.NoError(s, s.db.Read(s.Context(), func(tx store.Tx) (err error) {
		rows, err = tx.ListWorkers()
		return err
	}))
	return rows
}

func TestWorkers_FailedRemovalIsTriedAgain(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	h := &host{Fleet: s.containers}
	s.workers.Runtime = h
	s.step(0)
	s.step(sim.DefaultBoot)
	require.NoError(t, s.endpoints.Delete(t.Context(), "u", s.e.ID))

	h.away.Store(true)
	for range 3 {
		s.step(time.Second)
	}
	require.Len(t, s.rows(), 1)

	require.NoError(t, s.db.Read(t.Context(), func(tx store.Tx) error {
		lines, err := tx.SystemLines(string(s.rows()[0].ID), 0)
		require.Contains(t, lines[len(lines)-1].Text, "the worker is behind, and is tried again: ", "its log says why it is there still")
		return err
	}))

	h.away.Store(false)
	require.Eventually(t, func() bool {
		s.step(time.Second)
		there, err := s.containers.List(t.Context())
		require.NoError(t, err)
		return len(there) == 0 && len(s.rows()) == 0 && len(s.keyring.Keys(true)) == 0
	}, 10*time.Second, time.Millisecond)
}

func TestWorkers_LeftoversAreFoundInTime(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.step(0)
	s.step(sim.DefaultBoot)

	// As a store leaves it that failed, and an engine that made something late for a berth that was killed.
	require.NoError(t, s.containers.Start(t.Context(), runtime.Allocation{ID: "nobodys"}))
	require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertWorker(compute.Worker{ID: "left", EndpointID: s.e.ID})
	}))

	_, _, err := s.keyring.Create(t.Context(), control.NewKey{WorkerID: "nobodys"})
	require.NoError(t, err)
	s.step(57 * time.Second)
	require.Len(t, s.rows(), 2)

	s.step(time.Second)
	require.Len(t, s.rows(), 1)
	require.Len(t, s.keyring.Keys(true), 1)
	there, err := s.containers.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{string(s.rows()[0].ID)}, there)
}

func TestWorkers_DeletedWhileComingUpLeaveNoLine(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.step(0)
	id := s.rows()[0].ID
	require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error {
		require.NoError(t, tx.DeleteWorker(id))
		return tx.DeleteSystemLines(string(id))
	}))

	s.step(sim.DefaultBoot)
	require.NoError(t, s.db.Read(t.Context(), func(tx store.Tx) error {
		lines, err := tx.SystemLines(string(id), 0)
		require.Empty(t, lines)
		return err
	}))
}

// All that the loop remembers may be lost at any time: workers go on with their jobs, and none is started twice.
func TestWorkers_Drop(t *testing.T) {
	t.Parallel()
	s := serve(t, 2, nil)
	s.step(0)
	s.step(sim.DefaultBoot)
	_, before := s.seen()
	j := s.busy(before[0])
	for range 3 {
		s.workers.Drop()
		s.step(time.Second)
		_, now := s.seen()
		require.ElementsMatch(t, before, now)
	}

	require.Len(t, s.keyring.Keys(true), 2)
	require.NoError(t, s.queue.Finish(t.Context(), "u", s.e.ID, before[0], j.ID, queue.Report{}))

	s.workers.Drop()
	require.NoError(t, s.endpoints.Delete(t.Context(), "u", s.e.ID))
	for range 2 {
		s.step(time.Second)
	}
	require.Empty(t, s.rows())
	require.Empty(t, s.keyring.Keys(true))

	there, err := s.containers.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, there)
}

// moved is a store that another replica owns by now: it takes no writes.
type moved struct{ store.Store }

func (moved) Write(context.Context, func(store.Tx) error) error {
	return store.Troubled(store.Moved, nil)
}

// A server that is not the owner any more leaves the containers to who is, and has taken them up.
func TestWorkers_OfAnotherOwnerAreLeftAlone(t *testing.T) {
	t.Parallel()
	s := serve(t, 2, nil)
	s.step(0)
	s.step(sim.DefaultBoot)
	ended, end := context.WithCancel(t.Context())
	end()

	there := func() int {
		ids, err := s.containers.List(t.Context())
		require.NoError(t, err)
		up := 0
		for _, id := range ids {
			if state, err := s.containers.Inspect(t.Context(), id); err == nil && state.Phase == runtime.Up {
				up++
			}
		}
		return up
	}

	s.workers.Store = moved{s.db}
	s.workers.Run(ended)
	require.Equal(t, 2, there())

	s.begin()
	s.step(0)
	s.workers.Run(ended)
	require.Zero(t, there(), "its own end with it")
}
