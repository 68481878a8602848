package control

import (
	"context"
	"crypto/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// toldQueue is a queue that notes what it is told, and sees the workers that it is given.
type toldQueue struct {
	endpoints []compute.Endpoint // in the order in which it was told of them
	removed   []compute.EndpointID
	states    []compute.WorkerState
	fails     error              // of removals; nil: they succeed
	only      compute.EndpointID // whose removals fail; empty: all
}

func (q *toldQueue) SetEndpoint(e compute.Endpoint) { q.endpoints = append(q.endpoints, e) }

func (q *toldQueue) RemoveEndpoint(_ context.Context, id compute.EndpointID) error {
	if q.fails != nil && (q.only == "" || q.only == id) {
		return q.fails
	}
	q.removed = append(q.removed, id)
	return nil
}

func (q *toldQueue) WorkerStates(compute.EndpointID) []compute.WorkerState { return q.states }

// openEndpoints makes Endpoints whose clock stands still at noon until it is set forward.
func openEndpoints(t *testing.T) (*Endpoints, *toldQueue, *compute.SettableClock) {
	t.Helper()
	clock := compute.NewFrozenClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), clock)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	catalog, err := builtIn()
	require.NoError(t, err)
	q := &toldQueue{}
	return NewEndpoints(db, compute.NewIDs(rand.Reader, clock), &Placement{catalog: catalog}, q, Runtime{Can: compute.AllCapabilities}), q, clock
}

// cpuEndpoint is what an endpoint is created with whose workers have CPUs.
func cpuEndpoint(name string) EndpointChange {
	return EndpointChange{Name: &name, Image: new("i"), CPUs: []compute.CPU{{ID: "cpu3g", VCPUCount: 2}}, Scaling: &Scaling{compute.ByDelay, 4}}
}

// gpuEndpoint is likewise for workers with two GPUs.
func gpuEndpoint(name string) EndpointChange {
	n := cpuEndpoint(name)
	n.CPUs, n.GPU = nil, &EndpointGPUChange{Pools: []string{"AMPERE_24"}, Count: new(int64(2))}
	return n
}

// created creates an endpoint.
func (n *Endpoints) created(t *testing.T, change EndpointChange) compute.Endpoint {
	t.Helper()
	e, err := n.Create(t.Context(), "u", compute.QueueEndpoint, change)
	require.NoError(t, err)
	return e
}

// writes has f write.
func (n *Endpoints) writes(t *testing.T, f func(store.Tx) error) {
	t.Helper()
	require.NoError(t, n.store.Write(t.Context(), f))
}

// releases gives the releases of an endpoint, newest first.
func (n *Endpoints) releases(t *testing.T, id compute.EndpointID) (all []compute.Release) {
	t.Helper()
	require.NoError(t, n.store.Read(t.Context(), func(tx store.Tx) (err error) {
		all, _, err = tx.PageReleases(id, unpaged(nil))
		return err
	}))
	return all
}

func TestEndpoints_WorkersAreThoseStoredAndThoseSeen(t *testing.T) {
	t.Parallel()
	n, q, _ := openEndpoints(t)
	e := n.created(t, gpuEndpoint("e"))
	e, err := n.Update(t.Context(), "u", e.ID, EndpointChange{Image: new("j")})
	require.NoError(t, err)
	other := n.created(t, gpuEndpoint("other"))
	n.writes(t, func(tx store.Tx) error {
		for _, w := range []compute.Worker{
			{ID: "old", EndpointID: e.ID, Version: 1, Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 3}, CreatedAt: tx.Wall()},
			{ID: "theirs", EndpointID: other.ID, Version: 1, CreatedAt: tx.Wall()},
			{ID: "new", EndpointID: e.ID, Version: 2, Image: "j", CreatedAt: tx.Wall()},
		} {
			if err := tx.InsertWorker(w); err != nil {
				return err
			}
		}
		return nil
	})
	q.states = []compute.WorkerState{
		{ID: "old", Status: compute.WorkerUnhealthy, Reason: "it said so"},
		{ID: "missing", Status: compute.WorkerThrottled, Reason: "it is full", Missing: true},
		{ID: "elsewhere", Status: compute.WorkerRunning},
		{ID: "removed", Status: compute.WorkerIdle, Managed: true},
	}

	type seen struct {
		id, image, reason string
		status            compute.WorkerStatus
		version, gpus     int64
		stale             bool
	}
	of, workers, err := n.Workers(t.Context(), "u", e.ID)
	require.NoError(t, err)
	require.Equal(t, e.ID, of.ID)
	var all []seen
	for _, w := range workers {
		require.Equal(t, e.ID, w.EndpointID)
		all = append(all, seen{string(w.ID), w.Image, w.Reason, w.Status, w.Version, w.GPUCount, w.Stale})
	}
	require.Equal(t, []seen{
		{"new", "j", "", compute.WorkerInitializing, 2, 0, false}, {"old", "i", "it said so", compute.WorkerUnhealthy, 1, 3, true},
		{"elsewhere", "", "", compute.WorkerRunning, 0, 0, false}, {"missing", "j", "it is full", compute.WorkerThrottled, 2, 2, false},
	}, all)

	_, workers, err = n.Workers(t.Context(), "v", e.ID)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.Empty(t, workers)
	onCPU := n.created(t, cpuEndpoint("on CPUs"))
	_, workers, err = n.Workers(t.Context(), "u", onCPU.ID)
	require.NoError(t, err)
	require.Equal(t, compute.WorkerID("missing"), workers[1].ID)
	require.Zero(t, workers[1].GPUCount)

	rows, err := n.WorkersOfAll(t.Context(), []compute.Endpoint{e, onCPU})
	require.NoError(t, err)
	require.Len(t, rows, 2)
	require.Empty(t, rows[onCPU.ID])
	require.Len(t, rows[e.ID], 2)
	require.Equal(t, compute.WorkerID("new"), rows[e.ID][0].ID)
}

func TestEndpoints_WorkersThatHaveALog(t *testing.T) {
	t.Parallel()
	n, q, _ := openEndpoints(t)
	e, other := n.created(t, cpuEndpoint("e")), n.created(t, cpuEndpoint("other"))
	n.writes(t, func(tx store.Tx) error {
		if err := tx.InsertWorker(compute.Worker{ID: "runs", EndpointID: e.ID, Version: 1, CreatedAt: tx.Wall()}); err != nil {
			return err
		}
		return tx.InsertEndedWorker(compute.EndedWorker{ID: "ended", EndpointID: e.ID, Version: 1, EndedAt: tx.Wall()})
	})
	q.states = []compute.WorkerState{
		{ID: "elsewhere", Status: compute.WorkerRunning}, {ID: "missing", Status: compute.WorkerThrottled, Missing: true}, {ID: "removed", Managed: true},
	}

	for _, id := range []compute.WorkerID{"runs", "ended", "missing"} {
		of, err := n.Worker(t.Context(), "u", e.ID, id)
		require.NoError(t, err, "%s", id)
		require.Equal(t, e.ID, of.ID)
	}
	for id, words := range map[compute.WorkerID]string{
		"elsewhere": "was not started here", "removed": "does not exist, or has ended", "nobody": "does not exist, or has ended",
	} {
		_, err := n.Worker(t.Context(), "u", e.ID, id)
		require.Equal(t, compute.NotFound, compute.CodeOf(err), "%s", id)
		require.ErrorContains(t, err, words, "%s", id)
	}
	for _, id := range []compute.WorkerID{"runs", "ended"} {
		_, err := n.Worker(t.Context(), "u", other.ID, id)
		require.Equal(t, compute.NotFound, compute.CodeOf(err), "%s is of another endpoint", id)
		_, err = n.Worker(t.Context(), "v", e.ID, id)
		require.Equal(t, compute.NotFound, compute.CodeOf(err), "%s is somebody else's", id)
		_, err = n.Worker(t.Context(), "u", "none", id)
		require.Equal(t, compute.NotFound, compute.CodeOf(err), "%s", id)

		of, err := n.OfWorker(t.Context(), "u", id)
		require.NoError(t, err)
		require.Equal(t, e.ID, of.ID)
		_, err = n.OfWorker(t.Context(), "v", id)
		require.Equal(t, compute.NotFound, compute.CodeOf(err), "%s is somebody else's", id)
	}
	for _, id := range []compute.WorkerID{"missing", "elsewhere"} {
		_, err := n.Worker(t.Context(), "v", e.ID, id)
		require.Equal(t, compute.NotFound, compute.CodeOf(err))
		require.ErrorContains(t, err, "endpoint ", "that there is such a worker is nobody else's to know")
	}
	_, err := n.OfWorker(t.Context(), "u", "missing")
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	_, err = n.Worker(t.Context(), "u", "none", "missing")
	require.Equal(t, compute.NotFound, compute.CodeOf(err), "it is missing in an endpoint that there is")

	ended, err := n.EndedWorkers(t.Context(), "u", e.ID)
	require.NoError(t, err)
	require.Len(t, ended, 1)
	_, err = n.EndedWorkers(t.Context(), "v", e.ID)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func TestEndpoints_ResumeEndsTheDeletionsThatWereBrokenOff(t *testing.T) {
	t.Parallel()
	n, q, clock := openEndpoints(t)
	ctx := t.Context()
	var made []compute.EndpointID
	for _, name := range []string{"first", "second", "stays"} {
		made = append(made, n.created(t, cpuEndpoint(name)).ID)
		clock.Advance(time.Second)
	}
	q.fails = errFlaky
	for _, id := range made[:2] {
		require.ErrorIs(t, n.Delete(ctx, "u", id), errFlaky)
	}
	q.only = made[0]
	require.ErrorIs(t, n.Resume(ctx), errFlaky)
	require.Equal(t, made[1:2], q.removed, "one that fails leaves the others theirs")

	q.fails = nil
	require.NoError(t, n.Resume(ctx))
	require.ElementsMatch(t, made[:2], q.removed)
	require.NoError(t, n.store.Read(ctx, func(tx store.Tx) error {
		all, err := tx.ListEndpoints()
		require.Len(t, all, 1)
		require.Equal(t, made[2], all[0].ID)
		return err
	}))
	require.NoError(t, n.Resume(ctx))
	require.Len(t, q.removed, 2, "nothing is left to do")
}

func TestEndpoints_ATemplateOfItsOwnGoesWithIt(t *testing.T) {
	t.Parallel()
	n, _, _ := openEndpoints(t)
	ctx := t.Context()
	own := func() compute.Endpoint {
		change := cpuEndpoint("e")
		change.Image, change.Template = nil, &TemplateChange{Name: new("t"), Image: new("own"), Serverless: new(true)}
		return n.created(t, change)
	}
	left := func(id compute.TemplateID) compute.Code {
		return compute.CodeOf(n.store.Read(ctx, func(tx store.Tx) error {
			_, err := tx.Template(id)
			return err
		}))
	}

	alone, used := own(), own()
	require.Equal(t, "own", alone.Image)
	require.NotEqual(t, alone.TemplateID, used.TemplateID)
	require.NoError(t, n.Delete(ctx, "u", alone.ID))
	require.Equal(t, compute.NotFound, left(alone.TemplateID))

	n.writes(t, func(tx store.Tx) error {
		return tx.InsertPod(compute.Pod{ID: "p", UserID: "u", TemplateID: used.TemplateID, Status: compute.PodRunning, CreatedAt: tx.Wall()})
	})
	require.NoError(t, n.Delete(ctx, "u", used.ID))
	require.Empty(t, left(used.TemplateID), "a pod uses it still")

	n.writes(t, func(tx store.Tx) error {
		lasting := newTemplate("lasting", "u", tx.Wall())
		lasting.Image, lasting.Serverless = "i", true
		return tx.InsertTemplate(lasting)
	})
	named := cpuEndpoint("named")
	named.TemplateID = new(compute.TemplateID("lasting"))
	require.NoError(t, n.Delete(ctx, "u", n.created(t, named).ID))
	require.Empty(t, left("lasting"), "it was there before")
}

func TestEndpoints_TellTheQueueOfWhatIsStored(t *testing.T) {
	t.Parallel()
	n, q, _ := openEndpoints(t)
	ctx := t.Context()
	e := n.created(t, gpuEndpoint("e"))
	require.Equal(t, []compute.Endpoint{e}, q.endpoints)
	_, err := n.Update(ctx, "u", e.ID, EndpointChange{WorkersMin: new(int64(9))})
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	_, err = n.Update(ctx, "v", e.ID, EndpointChange{Name: new("theirs")})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	_, err = n.Create(ctx, "u", compute.QueueEndpoint, EndpointChange{Name: new("no image")})
	require.Equal(t, compute.Invalid, compute.CodeOf(err))
	require.Len(t, q.endpoints, 1, "nothing of what was refused")

	changed, err := n.Update(ctx, "u", e.ID, EndpointChange{WorkersMax: new(int64(9))})
	require.NoError(t, err)
	require.Equal(t, 9, changed.WorkersMax)
	require.EqualValues(t, 1, changed.Version)
	changed, err = n.Update(ctx, "u", e.ID, EndpointChange{Image: new("j"), DiskGB: new(int64(7))})
	require.NoError(t, err)
	require.EqualValues(t, 2, changed.Version)
	require.Len(t, q.endpoints, 3)
	require.Equal(t, "j", q.endpoints[2].Image)

	releases := n.releases(t, e.ID)
	require.Len(t, releases, 2)
	require.Equal(t, []compute.FieldChange{
		{Field: "image", Old: []byte(`"i"`), New: []byte(`"j"`)}, {Field: "disk", Old: []byte("20"), New: []byte("7")},
	}, releases[0].Diff)
	require.Equal(t, compute.UserID("u"), releases[0].CreatedBy)
	require.Empty(t, releases[1].Diff)
	require.EqualValues(t, 1, releases[1].Version)
}

func TestEndpoints_AreRefusedWhatTheRuntimeCannotRun(t *testing.T) {
	t.Parallel()
	n, q, _ := openEndpoints(t)
	ctx := t.Context()
	e := n.created(t, gpuEndpoint("e"))
	n.runtime.Can.GPUs = false
	_, err := n.Create(ctx, "u", compute.QueueEndpoint, gpuEndpoint("another"))
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, "gpu: what this server runs pods and workers on has none")
	n.created(t, cpuEndpoint("on CPUs"))

	_, err = n.Update(ctx, "u", e.ID, EndpointChange{Image: new("j")})
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	changed, err := n.Update(ctx, "u", e.ID, EndpointChange{Name: new("renamed")})
	require.NoError(t, err, "what its workers are made of stays")
	require.Equal(t, []string{"renamed", "i"}, []string{changed.Name, changed.Image})
	require.EqualValues(t, 1, changed.Version)
	require.Len(t, q.endpoints, 3)
}
