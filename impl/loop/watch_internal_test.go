package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop/reconcile"
)

func TestWatchPause_KeepsTheLooksInASecondBounded(t *testing.T) {
	t.Parallel()
	require.Zero(t, watchPause(0))
	require.Zero(t, watchPause(watchedOften))
	require.Equal(t, 9*time.Second, watchPause(10*watchedOften))

	now := time.UnixMilli(1_700_000_000_300)
	for pause, want := range map[time.Duration]time.Time{0: now.Add(700 * time.Millisecond), 9 * time.Second: now.Add(9700 * time.Millisecond)} {
		one := podLook{Look: &reconcile.Look[compute.PodID, podState]{}, next: later}
		one.end(now, pause)
		require.Equal(t, reconcile.At(want), one.Next, pause)
	}
}
