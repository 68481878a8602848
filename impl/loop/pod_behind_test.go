package loop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime/sim"
)

func TestPods_Behind(t *testing.T) {
	t.Parallel()

	t.Run("its log shows the user why a pod is behind, and when that is over", func(t *testing.T) {
		t.Parallel()
		y := newYard(t)
		y.host.away.Store(true)
		id := y.create(nil)
		for range 5 {
			y.step(time.Minute)
		}
		y.host.away.Store(false)
		y.step(time.Minute)
		y.step(sim.DefaultBoot)
		require.Equal(t, compute.PodRunning, y.pod(id).Status)

		var lines []string
		require.NoError(t, y.store.Read(t.Context(), func(tx tx) error {
			all, err := tx.SystemLines(string(id), 0)
			for _, line := range all {
				lines = append(lines, line.Text)
			}
			return err
		}))

		require.Len(t, lines, 5, "and not at every look: %q", lines)
		require.Contains(t, lines[1], "the pod is behind, and is tried again: ")
		require.Contains(t, lines[1], "runtime")
		require.Contains(t, lines, "the pod is not behind any more")
	})

	t.Run("a pod that is no more gets no line", func(t *testing.T) {
		t.Parallel()
		y := newYard(t)
		id := y.running(nil)
		y.host.away.Store(true)
		y.act(id, compute.PodTerminate)
		y.step(0)
		y.host.away.Store(false)
		y.step(time.Minute)

		require.NoError(t, y.store.Read(t.Context(), func(tx tx) error {
			lines, err := tx.SystemLines(string(id), 0)
			require.Empty(t, lines)
			return err
		}))
	})
}

// All that the loop remembers may be lost at any time: what it finds then is what it knew.
func TestPods_Drop(t *testing.T) {
	t.Parallel()
	for _, simulated := range []bool{false, true} {
		y := newYard(t)
		y.simulated = simulated
		y.restart()
		stays, ends := y.running(nil), y.running(map[string]string{sim.EnvExitAfter: "10s"})
		starts := y.host.starts.Load()
		stopped := y.running(nil)
		y.act(stopped, compute.PodStop)
		comes := y.create(nil)
		y.pods.Drop()
		require.Zero(t, y.pods.Live(stays))

		y.step(0)
		require.NotZero(t, y.pods.Live(stays), "it was looked at anew")
		y.pods.Drop()
		y.step(sim.DefaultBoot)
		require.Equal(t, compute.PodRunning, y.pod(comes).Status)
		require.EqualValues(t, starts+2, y.host.starts.Load(), "nothing is started twice")

		y.pods.Drop()
		y.step(10 * time.Second)
		require.Equal(t, compute.PodExited, y.pod(ends).Status)
		require.Equal(t, compute.PodRunning, y.pod(stays).Status)

		state, err := y.host.Inspect(t.Context(), string(stopped))
		require.NoError(t, err)
		require.NotEmpty(t, state.Phase)
	}
}
