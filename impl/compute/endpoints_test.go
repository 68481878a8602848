package compute_test

import (
	"math"
	"strings"
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

func TestEndpoint_InMemory_HasNothingLarge(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("x", 1<<20)
	e := compute.Endpoint{
		ID: "e", UserID: "u", Name: long, Type: compute.QueueEndpoint, Declared: true, Image: long, Args: long, Ports: []string{long}, Env: map[string]string{"A": long},
		WorkersMin: 1, WorkersMax: 2, IdleTimeout: time.Second, Scaler: compute.ByCount, ScalerValue: 3, Timeout: time.Minute, Version: 4,
		DeletedAt: time.UnixMilli(1),
	}
	slim := compute.Endpoint{
		ID: "e", UserID: "u", Type: compute.QueueEndpoint, Declared: true, WorkersMin: 1, WorkersMax: 2, IdleTimeout: time.Second,
		Scaler: compute.ByCount, ScalerValue: 3, Timeout: time.Minute, Version: 4, DeletedAt: time.UnixMilli(1),
	}
	require.Equal(t, slim, e.InMemory())

	e.Type = compute.LoadBalancer
	for _, env := range []map[string]string{
		nil, {"PORT": "8000", "A": long}, {"PORT": strings.Repeat("0", 1<<20) + "81", "PORT_HEALTH": "82", "HEALTH_CHECK_PATH": "ready"}, {"HEALTH_CHECK_PATH": long},
	} {
		e.Env = env
		require.Equal(t, e.Serving(), e.InMemory().Serving())
		for name, value := range e.InMemory().Env {
			require.Less(t, len(name)+len(value), 100)
		}
	}
	require.Equal(t, compute.Serving{Port: 80, HealthPort: 80, HealthPath: "/ping"}, e.Serving(), "no server takes such a path")
}
