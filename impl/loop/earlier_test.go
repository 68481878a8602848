package loop_test

import (
	"bytes"
	"context"
	"log/slog"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/store"
)

func TestEarlier_EndsWithItsPodsAndIsForgotten(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	v, err := y.ctl.CreateVolume(t.Context(), "u", control.NewVolume{Name: "v", SizeGB: 10, DataCenterID: "EU-RO-1"})
	require.NoError(t, err)

	p, err := y.ctl.CreatePod(t.Context(), "u", control.NewPod{
		Name: "a", Image: "i", Env: map[string]string{sim.EnvMark: "x"}, CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2},
		Network: []compute.NetworkMount{{VolumeID: v.ID, Path: "/d"}},
	})
	require.NoError(t, err)

	lasts, stopped, terminated := p.ID, y.running(nil), y.running(nil)

	// From here on pods run elsewhere.
	before := y.host
	y.host = &host{Fleet: sim.New(y.clock)}
	y.restart()
	workers := &host{Fleet: sim.New(y.clock)}
	require.NoError(t, workers.Fleet.Start(t.Context(), runtime.Allocation{ID: "worker"}))
	require.NoError(t, before.Fleet.Start(t.Context(), runtime.Allocation{ID: "nobody"}))

	at := compute.RuntimeAt{Name: "docker", Address: "unix:///there"}
	require.NoError(t, y.store.Write(t.Context(), func(tx store.Tx) error { return tx.InsertRuntime(at) }))
	y.act(stopped, compute.PodStop)
	y.act(terminated, compute.PodTerminate)

	var log bytes.Buffer
	l := loop.Earlier{Store: y.store, At: at, Pods: before, Workers: workers, Clock: y.clock, Log: slog.New(slog.NewTextHandler(&log, nil))}
	has := func() (ids []string) {
		pods, err := before.Fleet.List(context.Background())
		require.NoError(t, err)
		left, err := workers.Fleet.List(context.Background())
		require.NoError(t, err)
		return append(pods, left...)
	}

	phase := func(id compute.PodID) runtime.Phase {
		s, err := before.Fleet.Inspect(t.Context(), string(id))
		require.NoError(t, err)
		return s.Phase
	}

	before.away.Store(true)
	require.False(t, l.Step(t.Context()))
	require.Len(t, has(), 4, "nothing is known while it does not answer")
	before.away.Store(false)
	for range 3 {
		require.False(t, l.Step(t.Context()))
	}
	require.ElementsMatch(t, []string{string(lasts), string(stopped)}, has())
	require.Equal(t, runtime.Up, phase(lasts), "a pod that lasts is as it was")
	require.Equal(t, runtime.Ended, phase(stopped))
	require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=WARN")), log.String())

	for _, id := range []compute.PodID{lasts, stopped} {
		y.act(id, compute.PodTerminate)
	}
	require.False(t, l.Step(t.Context()), "there is the volume")
	require.Empty(t, has())
	require.NoError(t, y.ctl.DeleteVolume(t.Context(), "u", v.ID))
	require.False(t, l.Step(t.Context()), "an engine may still be making something")
	require.True(t, l.Step(t.Context()))

	require.NoError(t, y.store.Read(t.Context(), func(tx store.Tx) error {
		left, err := tx.ListRuntimes()
		require.Empty(t, left)
		return err
	}))
}
