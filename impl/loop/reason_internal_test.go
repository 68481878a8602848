package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
)

func TestReason(t *testing.T) {
	t.Parallel()
	up := time.Unix(1_700_000_000, 0)
	for _, c := range []struct {
		state       runtime.State
		pod, worker string
	}{
		{runtime.State{}, "its container did not come up", "the worker's container did not come up"},
		{runtime.State{Reason: "no such image"}, "no such image", "the worker's container did not come up: no such image"},
		{runtime.State{StartedAt: up, ExitCode: 2}, "its container ended with exit code 2", "the worker ended with exit code 2"},
		{runtime.State{StartedAt: up, ExitCode: -1}, "its container was ended by a signal", "the worker was ended by a signal"},
		{runtime.State{StartedAt: up, ExitCode: -1, Reason: "its node was lost"}, "its container ended: its node was lost", "the worker ended: its node was lost"},
	} {
		require.Equal(t, c.pod, reason(c.state))
		require.Equal(t, c.worker, endOf(c.state).why)
	}
}
