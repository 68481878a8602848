package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/store/sqlite"
)

func TestCompare_FindsContainersWithoutRowsAndRowsWithoutContainers(t *testing.T) {
	t.Parallel()
	opened := runtime.Opened{Pods: sim.New(compute.SystemClock{}), Workers: sim.New(compute.SystemClock{})}
	for _, id := range []string{"known", "left"} {
		require.NoError(t, opened.Pods.Start(t.Context(), runtime.Allocation{ID: id}))
		require.NoError(t, opened.Workers.Start(t.Context(), runtime.Allocation{ID: id + "worker"}))
	}
	rows := sqlite.Checked{Pods: map[string]string{"known": "RUNNING", "lost": "RUNNING", "stopped": "EXITED"}, Workers: map[string]bool{"knownworker": true}}

	look := func(repair, all bool) CheckReport {
		c := &containers{pods: map[string]runtime.Runtime{}, workers: map[string]runtime.Runtime{}, all: all}
		require.NoError(t, c.list(t.Context(), opened))
		flaws, err := c.compare(t.Context(), rows, repair, false)
		require.NoError(t, err)
		return CheckReport{Flaws: flaws}
	}
	found := func(r CheckReport) (all []string) {
		for _, f := range r.Flaws {
			all = append(all, f.Kind+": "+f.ID)
		}
		return all
	}

	lost := "pod that runs without a container: lost"
	require.Equal(t, []string{"container of a pod that is gone: left", "container of a worker that is gone: leftworker", lost}, found(look(false, true)))
	require.NotContains(t, found(look(false, false)), lost, "it may be where nobody looked")

	r := look(true, true)
	require.Equal(t, 1, r.Left(), "a server sees to the pod")
	require.Equal(t, []string{lost}, found(look(false, true)))
	ids, err := opened.Pods.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, []string{"known"}, ids)
}
