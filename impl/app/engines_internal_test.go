package app

import (
	"context"
	"log/slog"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store/sqlite"
)

// oneEngine is a runtime of one host with an engine, of which a test says how it is.
type oneEngine struct {
	runtime.Engines
	state runtime.EngineState
}

func (o *oneEngine) SetEngines([]runtime.Engine, bool) error { return nil }

func (o *oneEngine) EngineStates() map[string]runtime.EngineState {
	return map[string]runtime.EngineState{"a": o.state}
}

func (o *oneEngine) On(string) (runtime.Runtime, bool) { return o, true }

// What is on a host is cleared as soon as its engine answers, and something placed there once it is known what it has, even where the fleet
// says a part of that.
func TestEngines_NothingIsPlacedWhereItIsNotKnownWhatThereIs(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	catalog, err := control.BuiltInCatalog()
	require.NoError(t, err)
	db, err := sqlite.Open(ctx, filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	host := control.Host{ID: "a", Engine: "unix:///a", DataCenterID: "EU-RO-1", Cloud: compute.Secure, DiskGB: 50, GPU: "NVIDIA L4", GPUCount: 1}
	p, err := control.NewPlacement(ctx, db, catalog, []control.Host{host}, control.PlacementOptions{Place: runtime.Pack})
	require.NoError(t, err)

	var pods, workers oneEngine
	cleared := 0
	user := func(one *oneEngine) engineUser {
		return engineUser{one, func(context.Context, string, runtime.Runtime) error { cleared++; return nil }, map[string]int{}}
	}
	e := &engines{placement: p, catalog: catalog, log: slog.New(slog.DiscardHandler), pods: user(&pods), workers: user(&workers), others: true}
	known := runtime.EngineState{Answers: true, Times: 1, Has: runtime.Machine{VCPUs: 8, MemoryGB: 32}}
	unknown := runtime.EngineState{Answers: true, Times: 1, Unknown: true, Reason: "its GPUs cannot be asked"}
	for _, one := range [][2]runtime.EngineState{{unknown, known}, {known, unknown}, {unknown, unknown}} {
		pods.state, workers.state = one[0], one[1]
		require.NoError(t, e.refresh(ctx))
		require.Equal(t, unknown.Reason, p.Away("a"))
	}
	require.Equal(t, 2, cleared, "of pods and of workers")

	pods.state, workers.state = known, known
	require.NoError(t, e.refresh(ctx))
	require.Empty(t, p.Away("a"))
	require.Equal(t, 2, cleared)
}
