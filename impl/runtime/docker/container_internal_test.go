package docker

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/moby/moby/api/types/container"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// The clock of the engine's machine need not be ours.
func TestInspect_EndInTheFutureIsLookedAtOnce(t *testing.T) {
	t.Parallel()
	one := newFakeEngine(t)
	one.containers["berth-o-a"] = false
	one.ended = map[string]any{"ExitCode": 137, "FinishedAt": time.Now().Add(time.Hour).UTC().Format(time.RFC3339Nano)}
	h, err := New(Config{Owner: "o", Host: one.address(), Clock: compute.SystemClock{}})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, h.Close()) })

	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	state, err := h.Inspect(ctx, "a")
	require.NoError(t, err)
	require.Equal(t, runtime.Ended, state.Phase)
	require.Equal(t, 137, state.ExitCode)
	one.mu.Lock()
	defer one.mu.Unlock()
	require.Equal(t, 1, one.looks)
}

func TestJustKilled_MeansAMomentOnEitherSide(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for past, want := range map[time.Duration]bool{
			-time.Hour: false, -lateOOM: false, -lateOOM / 2: true, 0: true, lateOOM / 2: true, lateOOM: false, time.Hour: false,
		} {
			c := container.InspectResponse{State: &container.State{ExitCode: 137, FinishedAt: time.Now().Add(-past).UTC().Format(time.RFC3339Nano)}}
			require.Equal(t, want, justKilled(c), past)
			c.State.OOMKilled = true
			require.False(t, justKilled(c), "it is known")
		}
	})
}
