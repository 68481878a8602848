package loop_test

import (
	"runtime"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime/sim"
)

// Not parallel: it counts the objects of the whole process.
func TestPods_RunningOneIsAtMostTwoObjects(t *testing.T) {
	const pods = 2000
	y := newYard(t)
	y.simulated = true
	y.restart()

	objects := func() int {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC() // what the first one found in pools is gone
		runtime.ReadMemStats(&m)
		return int(m.HeapObjects)
	}

	y.running(nil) // what the first pod brings about
	before := objects()
	var group sync.WaitGroup
	for range 20 {
		group.Go(func() {
			for range pods / 20 {
				_, err := y.ctl.CreatePod(y.Context(), "u", control.NewPod{Name: "a", Image: "i", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2}})
				assert.NoError(t, err)
			}
		})
	}

	group.Wait()
	y.step(0)
	y.step(sim.DefaultBoot)
	require.Less(t, objects()-before, 2*pods)

	all, err := y.ctl.ListPods(y.Context(), "u", nil)
	require.NoError(t, err)
	for _, p := range all {
		require.Equal(t, compute.PodRunning, p.Status)
	}
	require.Len(t, all, pods+1)
}
