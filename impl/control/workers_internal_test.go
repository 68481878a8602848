package control

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// workersNow gives the workers that are stored.
func (c *Control) workersNow(t *testing.T) (all []compute.Worker) {
	t.Helper()
	require.NoError(t, c.store.Read(t.Context(), func(tx store.Tx) (err error) {
		all, err = tx.ListWorkers()
		return err
	}))
	return all
}

func TestPlacement_StartWorker_StoresWhatTheWorkerGets(t *testing.T) {
	t.Parallel()
	c, clock, _ := openFrozen(t, []Host{l4s("a", 3)})
	e := compute.Endpoint{ID: "e", UserID: "u", Image: "i", DiskGB: 7, Version: 4, GPU: &compute.EndpointGPU{Pools: []string{"AMPERE_24"}, Count: 2}}
	want := compute.Worker{
		ID: "w", EndpointID: "e", Version: 4, Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 2}, DiskGB: 7, DataCenterID: "EU-RO-1", HostID: "a",
		Devices: []string{"0", "1"}, CostPerHour: 1.368,
	}
	refused := errors.New("the image does not run there")
	_, _, err := c.placement.StartWorker(t.Context(), "w", e, func(w compute.Worker) error {
		require.Equal(t, want, w)
		return refused
	})
	require.ErrorIs(t, err, refused)
	require.Empty(t, c.workersNow(t))
	require.EqualValues(t, 3, c.placement.freeNow()["a"].gpus)

	got, mount, err := c.placement.StartWorker(t.Context(), "w", e, nil)
	require.NoError(t, err)
	require.Nil(t, mount)
	want.CreatedAt = clock.Wall()
	require.Equal(t, want, got)
	require.Equal(t, []compute.Worker{want}, c.workersNow(t))
	require.EqualValues(t, 1, c.placement.freeNow()["a"].gpus)
	_, _, err = c.placement.StartWorker(t.Context(), "x", e, nil)
	require.ErrorIs(t, err, ErrFull)
	require.NotErrorIs(t, err, ErrNever)
}

func TestPlacement_StartWorker_OfADeclaredEndpointHoldsNothing(t *testing.T) {
	t.Parallel()
	c, clock, _ := openFrozen(t, nil)
	e := compute.Endpoint{ID: "e", UserID: "u", Declared: true}
	refused := errors.New("there is no handler")
	_, _, err := c.placement.StartWorker(t.Context(), "w", e, func(compute.Worker) error { return refused })
	require.ErrorIs(t, err, refused)
	require.Empty(t, c.workersNow(t))
	w, mount, err := c.placement.StartWorker(t.Context(), "w", e, nil)
	require.NoError(t, err)
	require.Nil(t, mount)
	stored := c.workersNow(t)
	require.Equal(t, []compute.Worker{{ID: "w", EndpointID: "e", CreatedAt: clock.Wall()}}, stored)
	require.Equal(t, stored[0].ID, w.ID)
}

func TestClaims_EndWorker_KeepsWhatIsToBeKeptOfIt(t *testing.T) {
	t.Parallel()
	c, clock, _ := openFrozen(t, []Host{l4s("a", 4)})
	ctx := t.Context()
	e := compute.Endpoint{ID: "e", UserID: "u", Name: "n", Type: compute.QueueEndpoint, Image: "i", DiskGB: 1, Version: 3, GPU: &compute.EndpointGPU{Pools: []string{"AMPERE_24"}, Count: 1}, CreatedAt: clock.Wall()}
	require.NoError(t, c.store.Write(ctx, func(tx store.Tx) error { return tx.InsertEndpoint(e) }))
	ends := func(end compute.EndedWorker) {
		t.Helper()
		require.NoError(t, c.placement.Write(ctx, func(tx store.Tx, claims *Claims) error { return claims.EndWorker(tx, end) }))
	}
	kept := func(id compute.WorkerID) (w compute.EndedWorker, err error) {
		err = c.store.Read(ctx, func(tx store.Tx) (err error) {
			w, err = tx.EndedWorker(id)
			return err
		})
		return w, err
	}
	for _, id := range []compute.WorkerID{"seen", "unseen", "late"} {
		_, _, err := c.placement.StartWorker(ctx, id, e, nil)
		require.NoError(t, err)
	}
	up := clock.Wall().Add(time.Second)
	require.NoError(t, c.store.Write(ctx, func(tx store.Tx) error {
		_, err := tx.SetWorkerStarted("seen", up)
		return err
	}))
	clock.Advance(time.Minute)

	line := compute.LogLine{Source: compute.LogContainer, Position: up.UnixNano(), Text: "hello"}
	ends(compute.EndedWorker{ID: "seen", StartedAt: up.Add(time.Hour), EndedAt: clock.Wall(), ExitCode: new(int64(3)), Reason: "it ended\nwith more lines", Log: []compute.LogLine{line}})
	w, err := kept("seen")
	require.NoError(t, err)
	require.EqualValues(t, "e", w.EndpointID)
	require.EqualValues(t, 3, w.Version)
	require.Equal(t, up, w.StartedAt, "when it was seen up")
	require.EqualValues(t, 3, *w.ExitCode)
	require.Equal(t, "it ended\nwith more lines", w.Reason)
	require.Len(t, w.Log, 3)
	require.Equal(t, "worker is INITIALIZING", w.Log[0].Text)
	require.Equal(t, line, w.Log[1], "in the order of their times")
	require.Equal(t, "it ended", w.Log[2].Text)
	require.Equal(t, compute.LogSystem, w.Log[2].Source)
	require.EqualValues(t, 2, c.placement.freeNow()["a"].gpus)

	ends(compute.EndedWorker{ID: "unseen", StartedAt: up, EndedAt: clock.Wall(), Reason: "it ended"})
	w, err = kept("unseen")
	require.NoError(t, err)
	require.Equal(t, up, w.StartedAt, "as who ends it knows")
	ends(compute.EndedWorker{ID: "nobody"})
	_, err = kept("nobody")
	require.Equal(t, compute.NotFound, compute.CodeOf(err))

	e.DeletedAt = clock.Wall()
	require.NoError(t, c.store.Write(ctx, func(tx store.Tx) error { return tx.UpdateEndpoint(e) }))
	ends(compute.EndedWorker{ID: "late", EndedAt: clock.Wall(), Reason: "it ended"})
	_, err = kept("late")
	require.Equal(t, compute.NotFound, compute.CodeOf(err), "nobody can read it any more")
	require.Empty(t, c.workersNow(t))
	require.EqualValues(t, 4, c.placement.freeNow()["a"].gpus)
	require.NoError(t, auditClaims(ctx, c.store))
	for _, id := range []string{"seen", "unseen", "late"} {
		var lines []compute.LogLine
		require.NoError(t, c.store.Read(ctx, func(tx store.Tx) (err error) {
			lines, err = tx.SystemLines(id, 0)
			return err
		}))
		require.Empty(t, lines)
	}
}

func TestCatalog_WorkerWants_AreInTheOrderOfPreference(t *testing.T) {
	t.Parallel()
	c := Catalog{GPUs: []GPUType{
		{ID: "a", Pool: "P", Secure: &GPUOffer{MaxCount: 2}}, {ID: "b", Pool: "Q", Secure: &GPUOffer{MaxCount: 2}}, {ID: "c", Pool: "P", Secure: &GPUOffer{MaxCount: 1}},
		{ID: "d", Pool: "P", Community: &GPUOffer{MaxCount: 9}}, {ID: "e", Pool: "P", Secure: &GPUOffer{MaxCount: 3}}, {ID: "f", Secure: &GPUOffer{MaxCount: 3}},
	}}
	ids := func(g compute.EndpointGPU) []string { return c.workerTypes(g) }
	require.Equal(t, []string{"b", "a", "c", "e"}, ids(compute.EndpointGPU{Pools: []string{"Q", "P"}, Count: 1}))
	require.Equal(t, []string{"a", "e"}, ids(compute.EndpointGPU{Pools: []string{"P"}, Count: 2}))
	require.Equal(t, []string{"a"}, ids(compute.EndpointGPU{Pools: []string{"P"}, Count: 2, Excluded: []string{"e"}}))
	require.Empty(t, ids(compute.EndpointGPU{Pools: []string{"P"}, Count: 4}))

	base := want{Cloud: compute.Secure, DataCenterIDs: []string{"dc"}, DiskGB: 5, Needs: Needs{Compliance: []string{"GDPR"}}}
	e := compute.Endpoint{DiskGB: 5, Compliance: []string{"GDPR"}, GPU: &compute.EndpointGPU{Pools: []string{"P"}, Count: 2, CUDAVersions: []string{"12.4"}, LeastCUDA: "12.1"}}
	first := base
	first.GPU, first.Count, first.CUDAVersions, first.LeastCUDA = "a", 2, []string{"12.4"}, "12.1"
	second := first
	second.GPU = "e"
	require.Equal(t, []want{first, second}, c.workerWants(e, []string{"dc"}))

	e.GPU, e.CPUs = nil, []compute.CPU{{ID: "x", VCPUCount: 4, MemoryGB: 8}, {ID: "y", VCPUCount: 2, MemoryGB: 4}}
	first, second = base, base
	first.CPU, first.Count, first.MemoryGB = "x", 4, 8
	second.CPU, second.Count, second.MemoryGB = "y", 2, 4
	require.Equal(t, []want{first, second}, c.workerWants(e, []string{"dc"}))
}

func TestCatalog_WorkerPrice_IsThatOfWorkersOrElseOfPods(t *testing.T) {
	t.Parallel()
	c := Catalog{
		GPUs: []GPUType{
			{ID: "both", ServerlessPrice: 3, Secure: &GPUOffer{Price: 2}}, {ID: "pods", Secure: &GPUOffer{Price: 2}}, {ID: "neither", Community: &GPUOffer{Price: 2}},
		},
		CPUs: []CPUFlavor{{ID: "cpu", PricePerVCPU: 9, ServerlessPricePerVCPU: 0.1}},
	}
	for id, usd := range map[string]float64{"both": 6, "pods": 4, "neither": 0, "unknown": 0} {
		require.InDelta(t, usd, c.workerPrice(want{GPU: id, Count: 2}), 1e-12, id)
	}
	require.InDelta(t, 0.8, c.workerPrice(want{CPU: "cpu", Count: 8}), 1e-12)
}
