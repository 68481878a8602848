package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestScaling_WorkersThatFailTogetherMakeOnePause(t *testing.T) {
	t.Parallel()
	var s scaling
	now := time.Unix(1_800_000_000, 0)
	for range 7 {
		s.backOff(now, "exit code 1")
	}
	require.Equal(t, now.Add(firstBackoff), s.pause.until)

	now = s.pause.until
	s.backOff(now, "exit code 2")
	require.Equal(t, now.Add(2*firstBackoff), s.pause.until)
	require.Equal(t, "exit code 2", s.pause.reason)
}
