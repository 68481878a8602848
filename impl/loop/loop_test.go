package loop_test

import (
	"context"
	"crypto/rand"
	"io"
	"log/slog"
	"maps"
	"path/filepath"
	"sync"
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
	"github.com/berthdev/berth/store/sqlite"
)

func openStore(t *testing.T) (store.Store, *compute.SettableClock) {
	clock := compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000))
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), clock)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	return db, clock
}

func TestPods_GoAndEndAsTheirContainersDo(t *testing.T) {
	t.Parallel()
	db, clock := openStore(t)
	catalog, err := control.BuiltInCatalog()
	require.NoError(t, err)

	placement, err := control.NewPlacement(t.Context(), db, catalog, control.SimulatedFleet(catalog), packed)
	require.NoError(t, err)
	pods := loop.NewPods(loop.PodFleet{Store: db, Placement: placement, Runtime: sim.New(clock), Clock: clock, Log: slog.New(slog.DiscardHandler), Simulated: true})

	ctl := control.New(db, compute.NewIDs(rand.Reader, clock), placement, control.Runtime{Can: compute.AllCapabilities}, control.Hints{Pod: pods.Hint})
	create := func(env map[string]string) compute.PodID {
		p, err := ctl.CreatePod(t.Context(), "u", control.NewPod{Name: "a", Image: "i", Env: env, CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2}})
		require.NoError(t, err)
		return p.ID
	}

	status := func(id compute.PodID) compute.PodStatus {
		p, err := ctl.GetPod(t.Context(), "u", id)
		require.NoError(t, err)
		return p.Status
	}

	stays := create(nil)
	ends := create(map[string]string{"BERTH_SIM_EXIT_AFTER": "5s"})
	fails := create(map[string]string{"BERTH_SIM_EXIT_AFTER": "5s", "BERTH_SIM_EXIT_CODE": "3"})
	refused := create(map[string]string{"BERTH_SIM_START_ERROR": "no room"})
	require.Equal(t, compute.PodProvisioning, status(stays))

	pods.Step(t.Context())
	require.Equal(t, compute.PodStarting, status(stays))
	require.Equal(t, compute.PodError, status(refused))
	clock.Advance(3 * time.Second)
	pods.Step(t.Context())
	require.Equal(t, compute.PodRunning, status(stays))

	clock.Advance(10 * time.Second)
	pods.Step(t.Context())
	require.Equal(t, compute.PodRunning, status(stays))
	require.Equal(t, compute.PodExited, status(ends))
	require.Equal(t, compute.PodError, status(fails))
}

// fleet is a runtime that only notes what it was asked to do.
type fleet struct {
	runtime.Runtime
	mu    sync.Mutex
	up    map[string]runtime.Allocation
	fails error
	ended chan string
}

func (f *fleet) Start(_ context.Context, a runtime.Allocation) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fails == nil {
		f.up[a.ID] = a
	}
	return f.fails
}

func (f *fleet) Stop(_ context.Context, id string, _ time.Duration) error {
	return f.Remove(context.Background(), id)
}

func (f *fleet) Remove(_ context.Context, id string) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.up, id)
	return nil
}

func (f *fleet) Inspect(_ context.Context, id string) (runtime.State, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.up[id]; !ok {
		return runtime.State{}, runtime.ErrUnknown
	}
	return runtime.State{Phase: runtime.Up, StartedAt: time.UnixMilli(1_700_000_000_000)}, nil
}

func (f *fleet) Stats(context.Context, string) (runtime.Stats, error) { return runtime.Stats{}, nil }
func (f *fleet) List(context.Context) ([]string, error)               { return nil, nil }
func (f *fleet) Logs(context.Context, string, runtime.LogQuery, func(runtime.Line) error) error {
	return nil
}
func (f *fleet) Volumes(context.Context) ([]compute.VolumeID, error)  { return nil, nil }
func (f *fleet) RemoveVolume(context.Context, compute.VolumeID) error { return nil }
func (f *fleet) Sweep(context.Context) error                          { return nil }
func (f *fleet) Ended() <-chan string                                 { return f.ended }
func (f *fleet) Close() error                                         { return nil }

func (f *fleet) allocations() map[string]runtime.Allocation {
	f.mu.Lock()
	defer f.mu.Unlock()
	return maps.Clone(f.up)
}

// scaled gives the loop over one endpoint that may have so many workers, whose idle timeout is 10 s.
func scaled(t *testing.T, f *fleet, most int) (*loop.Workers, *compute.SettableClock, compute.Endpoint) {
	db, clock := openStore(t)
	ids := compute.NewIDs(rand.Reader, clock)
	q, err := queue.New(t.Context(), db, clock, ids, queue.DefaultSettings(), queue.Hooks{})
	require.NoError(t, err)

	keyring, err := control.NewKeyring(t.Context(), db, ids, clock, nil)
	require.NoError(t, err)
	placement, err := control.NewPlacement(t.Context(), db, control.Catalog{}, nil, packed)
	require.NoError(t, err)

	e, err := control.NewEndpoints(db, ids, placement, q, control.Runtime{Can: compute.AllCapabilities}).Declare(t.Context(), "u", control.NewEndpoint{Name: "one", Image: "one", WorkersMax: most, IdleTimeout: 10 * time.Second})
	require.NoError(t, err)
	return loop.NewWorkers(loop.Fleet{
		Store: db, Placement: placement, Queue: q, Keyring: keyring, Local: f, Runtime: sim.New(clock), IDs: ids, Clock: clock,
		Log: slog.New(slog.DiscardHandler),
		URL: func() string { return "http://127.0.0.1:1" },
	}), clock, e
}

func TestWorkers_ScaleFromZeroAndBack(t *testing.T) {
	t.Parallel()
	f := &fleet{up: map[string]runtime.Allocation{}, ended: make(chan string)}
	workers, clock, e := scaled(t, f, 2)
	q, keyring := workers.Queue, workers.Keyring
	workers.Step(t.Context())
	require.Empty(t, f.allocations(), "no job, no worker")

	_, err := q.Run(t.Context(), "u", e.ID, queue.Submission{Input: []byte(`{}`), LowPriority: true})
	require.NoError(t, err)
	workers.Step(t.Context())
	require.Empty(t, f.allocations(), "a job of low priority starts no worker")

	j, err := q.Run(t.Context(), "u", e.ID, queue.Submission{Input: []byte(`{}`)})
	require.NoError(t, err)
	workers.Step(t.Context())
	workers.Step(t.Context())
	require.Len(t, f.allocations(), 1)

	var w compute.WorkerID
	for id, a := range f.allocations() {
		w = compute.WorkerID(id)
		require.Equal(t, "http://127.0.0.1:1/v2/"+string(e.ID)+"/job-take/$ID?gpu=none", a.Facts["RUNPOD_WEBHOOK_GET_JOB"])
		key, _, err := keyring.Authenticate(t.Context(), a.Facts["RUNPOD_AI_API_KEY"], true)
		require.NoError(t, err)
		require.Equal(t, w, key.WorkerID)
		require.True(t, key.Allows(compute.ScopeWork(e.ID)))
		require.False(t, key.Allows(compute.ScopeRESTRead))
	}

	taken, err := q.Take(t.Context(), "u", e.ID, w, 2)
	require.NoError(t, err)
	require.Len(t, taken, 2)
	require.Equal(t, j.ID, taken[0].ID, "the normal one first")

	clock.Advance(20 * time.Second)
	workers.Step(t.Context())
	require.NotEmpty(t, f.allocations(), "a busy worker is not idle")
	for _, one := range taken {
		require.NoError(t, q.Finish(t.Context(), "u", e.ID, w, one.ID, queue.Report{}))
	}
	clock.Advance(9 * time.Second)
	workers.Step(t.Context())
	require.Contains(t, f.allocations(), string(w))

	clock.Advance(2 * time.Second)
	workers.Step(t.Context())
	require.Eventually(t, func() bool { return len(keyring.Keys(true)) < 2 && f.allocations()[string(w)].ID == "" }, 20*time.Second, time.Millisecond)
}

func TestWorkers_FailedStartIsTriedAgainLater(t *testing.T) {
	t.Parallel()
	f := &fleet{up: map[string]runtime.Allocation{}, fails: io.ErrUnexpectedEOF, ended: make(chan string)}
	workers, clock, e := scaled(t, f, 1)
	keyring := workers.Keyring
	_, err := workers.Queue.Run(t.Context(), "u", e.ID, queue.Submission{Input: []byte(`{}`)})
	require.NoError(t, err)

	workers.Step(t.Context())
	require.Empty(t, keyring.Keys(true), "the key of a worker that did not start is gone")
	f.fails = nil
	workers.Step(t.Context())
	require.Empty(t, f.allocations(), "still within the pause")

	clock.Advance(time.Second)
	workers.Step(t.Context())
	require.Len(t, f.allocations(), 1)
}

func TestWorkers_WaitForAGPUThatIsStillHeld(t *testing.T) {
	t.Parallel()
	f := &fleet{up: map[string]runtime.Allocation{}, ended: make(chan string)}
	workers, clock, e := scaled(t, f, 1)
	held := true
	workers.Held = func(string, []string) bool { return held }
	_, err := workers.Queue.Run(t.Context(), "u", e.ID, queue.Submission{Input: []byte(`{}`)})
	require.NoError(t, err)

	workers.Step(t.Context())
	require.Empty(t, f.allocations())
	require.NoError(t, workers.Store.Read(t.Context(), func(tx store.Tx) error {
		rows, err := tx.ListWorkers()
		require.Empty(t, rows, "it holds nothing meanwhile")
		return err
	}))

	held = false
	clock.Advance(time.Second)
	workers.Step(t.Context())
	require.Len(t, f.allocations(), 1)
}
