package loop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/store"
)

func TestPods_ClearEndsWhatShouldNotBeOnAHost(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	stays, stopped, deleted, elsewhere := y.create(nil), y.create(nil), y.create(nil), y.create(nil)
	y.step(0)
	y.step(sim.DefaultBoot)
	here := y.pod(stays).HostID
	require.Equal(t, here, y.pod(elsewhere).HostID)

	// The host was away while they ended: what it runs is as it was.
	host := sim.New(y.clock)
	for _, id := range []compute.PodID{stays, stopped, deleted} {
		require.NoError(t, host.Start(t.Context(), runtime.Allocation{ID: string(id), Generation: y.pod(id).Generation()}))
	}
	require.NoError(t, host.Start(t.Context(), runtime.Allocation{ID: string(elsewhere), Generation: y.pod(elsewhere).Generation() - 1}))
	require.NoError(t, host.Start(t.Context(), runtime.Allocation{ID: "nobody"}))
	y.act(stopped, compute.PodStop)
	require.NoError(t, y.ctl.DeletePod(t.Context(), "u", deleted))

	require.NoError(t, y.pods.Clear(t.Context(), here, host))
	phases := map[string]runtime.Phase{}
	ids, err := host.List(t.Context())
	require.NoError(t, err)
	for _, id := range ids {
		state, err := host.Inspect(t.Context(), id)
		require.NoError(t, err)
		phases[id] = state.Phase
	}
	require.Equal(t, map[string]runtime.Phase{
		string(stays): runtime.Starting, string(stopped): runtime.Ended, string(elsewhere): runtime.Ended,
	}, phases)

	// As the engine of another host, or of one that was given another name.
	keeps := y.pod(stopped)
	keeps.Persistent = &compute.PersistentMount{SizeGB: 1, Path: "/d"}
	require.NoError(t, y.store.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.ChangePod(keeps)
		return err
	}))
	err = y.pods.Clear(t.Context(), "another", host)
	require.ErrorContains(t, err, "pod "+string(stays)+" of host "+here+" runs there: both hosts are of one engine")
	ids, err = host.List(t.Context())
	require.NoError(t, err)
	require.ElementsMatch(t, []string{string(stays), string(stopped)}, ids, "what runs, and what keeps its data")
	require.NoError(t, host.Remove(t.Context(), string(stays)))
	require.NoError(t, y.pods.Clear(t.Context(), "another", host))
}

func TestWorkers_ClearRemovesThoseWithoutARow(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.step(0)
	_, ids := s.seen()
	host := sim.New(s.clock)
	require.NoError(t, host.Start(t.Context(), runtime.Allocation{ID: string(ids[0])}))
	require.NoError(t, host.Start(t.Context(), runtime.Allocation{ID: "gone"}))
	require.NoError(t, s.workers.Clear(t.Context(), "h", host))
	left, err := host.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{string(ids[0])}, left)
}
