package queue

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestWorkers_AreAskedToStopTheLastJobsAlone(t *testing.T) {
	t.Parallel()
	s := workerState{stopped: make(chan struct{}, 1)}
	for n := range 3 * mostStops {
		s.stop(compute.JobID(fmt.Sprint(n)), time.Time{})
	}
	ids := s.toStop()
	require.Len(t, ids, mostStops)
	require.Equal(t, compute.JobID(fmt.Sprint(3*mostStops-1)), ids[mostStops-1])
}
