package loop_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/store"
)

// flaky is a store that does not take its next so many writes.
type flaky struct {
	store.Store
	fails atomic.Int64
}

func (f *flaky) Write(ctx context.Context, do func(store.Tx) error) error {
	if f.fails.Add(-1) >= 0 {
		return compute.Errorf(compute.Unavailable, "the database is away")
	}
	return f.Store.Write(ctx, do)
}

func TestPods_WhatIsTheMatterWithOneIsNotWithAll(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	f := &flaky{Store: y.store}
	y.store, y.simulated = f, true
	y.restart()
	ids := []compute.PodID{y.create(nil), y.create(nil), y.create(nil)}
	f.fails.Store(2) // that of all together, and of one of them
	y.step(0)
	behind, moved := 0, 0
	for _, id := range ids {
		if y.pods.Behind(id) != "" {
			behind++
			require.Equal(t, compute.PodProvisioning, y.pod(id).Status)
		} else {
			moved++
			require.Equal(t, compute.PodStarting, y.pod(id).Status)
		}
	}
	require.Equal(t, 1, behind)
	require.Equal(t, 2, moved)

	y.step(time.Second)
	y.step(sim.DefaultBoot)
	for _, id := range ids {
		require.Empty(t, y.pods.Behind(id))
		require.Equal(t, compute.PodRunning, y.pod(id).Status)
	}
}
