package compute_test

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestEndpoint_QueueDelay_IsAtMostAYear(t *testing.T) {
	t.Parallel()
	const year = 365 * 24 * time.Hour
	for seconds, want := range map[float64]time.Duration{
		0.5: 500 * time.Millisecond, 4: 4 * time.Second, year.Seconds(): year,
		year.Seconds() + 1: year, 1e10: year, 1e30: year, math.MaxFloat64: year,
	} {
		require.Equal(t, want, compute.Endpoint{ScalerValue: seconds}.QueueDelay(), "%g s", seconds)
	}
}
