package loop_test

import (
	"context"
	"crypto/rand"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
)

// asked is a simulated fleet that counts what it is asked: Inspect apart from all else that asks about one worker.
type asked struct {
	*sim.Fleet
	inspected, others atomic.Int64
}

func (f *asked) Inspect(ctx context.Context, id string) (runtime.State, error) {
	f.inspected.Add(1)
	return f.Fleet.Inspect(ctx, id)
}

func (f *asked) Stats(ctx context.Context, id string) (runtime.Stats, error) {
	f.others.Add(1)
	return f.Fleet.Stats(ctx, id)
}

func (f *asked) Logs(ctx context.Context, id string, q runtime.LogQuery, emit func(runtime.Line) error) error {
	f.others.Add(1)
	return f.Fleet.Logs(ctx, id, q, emit)
}

func (f *asked) Start(ctx context.Context, a runtime.Allocation) error {
	f.others.Add(1)
	return f.Fleet.Start(ctx, a)
}

// A look asks the runtime's memory once about each worker, and neither the store nor anything else.
func TestWorkers_LookTakesNoStoreAndOneInspectEach(t *testing.T) {
	t.Parallel()
	for _, many := range []int64{3, 40} {
		db, clock := openStore(t)
		s, f := &counted{Store: db}, &asked{Fleet: sim.New(clock)}
		ids := compute.NewIDs(rand.Reader, clock)
		q, err := queue.New(t.Context(), s, clock, ids, queue.DefaultSettings(), queue.Hooks{})
		require.NoError(t, err)
		keyring, err := control.NewKeyring(t.Context(), s, ids, clock, nil)
		require.NoError(t, err)
		catalog, err := control.BuiltInCatalog()
		require.NoError(t, err)
		placement, err := control.NewPlacement(t.Context(), s, catalog, control.SimulatedFleet(catalog), packed)
		require.NoError(t, err)

		workers := loop.NewWorkers(loop.Fleet{
			Store: s, Placement: placement, Queue: q, Keyring: keyring, Local: sim.New(clock), Runtime: f, Simulated: true, IDs: ids, Clock: clock,
			Log: slog.New(slog.DiscardHandler), URL: func() string { return "http://inner" }, OuterURL: func() string { return "http://outer" },
		})
		name, image := "e", "i"
		_, err = control.NewEndpoints(s, ids, placement, q, control.Runtime{Can: compute.AllCapabilities}).Create(t.Context(), "u", compute.QueueEndpoint, control.EndpointChange{
			Name: &name, Image: &image, CPUs: []compute.CPU{{ID: "cpu3g", VCPUCount: 2}}, WorkersMin: &many, WorkersMax: &many,
			Scaling: &control.Scaling{Scaler: compute.ByDelay, Value: 4},
		})
		require.NoError(t, err)

		workers.Step(t.Context())
		require.Equal(t, many, f.others.Load(), "all are started")
		require.False(t, workers.Starting(), "by the clock alone")
		clock.Advance(sim.DefaultBoot + time.Second)
		workers.Step(t.Context()) // they came up

		for range 3 {
			s.reads.Store(0)
			s.writes.Store(0)
			f.inspected.Store(0)
			f.others.Store(0)
			clock.Advance(time.Second)
			workers.Step(t.Context())
			require.Equal(t, many, f.inspected.Load())
			require.Zero(t, f.others.Load())
			require.Zero(t, s.reads.Load()+s.writes.Load(), "%d workers", many)
		}
	}
}
