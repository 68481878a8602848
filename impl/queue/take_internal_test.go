package queue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestTake_HoldEndsAlsoWithALastMomentJob(t *testing.T) {
	t.Parallel()
	const e = compute.EndpointID("e")
	d := newDispatcher(compute.Endpoint{ID: e})
	q := &Queue{clock: compute.NewFrozenClock(time.UnixMilli(0)), memory: memory{dispatchers: map[compute.EndpointID]*dispatcher{e: d}}, closed: make(chan struct{})}
	waits := &heldTake{worker: "w", given: make(chan handover, 1)}
	d.takes = append(d.takes, waits)
	timeout := make(chan time.Time, 1)
	timeout <- time.Time{}
	type result struct {
		h    handover
		over bool
	}
	results := make(chan result)
	s := d.worker("w")
	q.mu.Lock()
	go func() {
		h, over := q.await(t.Context(), waits, s, e, timeout)
		results <- result{h, over}
	}()
	require.Eventually(t, func() bool { return len(timeout) == 0 }, 10*time.Second, time.Millisecond)

	d.push(compute.Job{ID: "00000000-0000-7000-8000-000000000001"}, false, true) // before the take can be withdrawn
	q.mu.Unlock()
	r := <-results
	require.NotEmpty(t, r.h.id)
	require.True(t, r.over, "if that job is gone, another hold would have no end")
}
