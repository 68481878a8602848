package queue

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestAHoldThatIsOverIsOverAlsoWithAJobOfTheLastMoment(t *testing.T) {
	t.Parallel()
	const e = compute.EndpointID("e")
	l := newLine(compute.Endpoint{ID: e})
	q := &Queue{clock: compute.NewFrozenClock(time.UnixMilli(0)), lines: map[compute.EndpointID]*line{e: l}, closed: make(chan struct{})}
	waits := &taker{worker: "w", given: make(chan handed, 1)}
	l.takers = append(l.takers, waits)
	timeout := make(chan time.Time, 1)
	timeout <- time.Time{}
	type result struct {
		h    handed
		over bool
	}
	results := make(chan result)
	s := l.seat("w")
	q.mu.Lock()
	go func() {
		h, over := q.await(t.Context(), waits, s, e, timeout)
		results <- result{h, over}
	}()
	require.Eventually(t, func() bool { return len(timeout) == 0 }, 10*time.Second, time.Millisecond)
	l.push(compute.Job{ID: "00000000-0000-7000-8000-000000000001"}, false, true) // before the taker can leave the line
	q.mu.Unlock()
	r := <-results
	require.NotEmpty(t, r.h.id)
	require.True(t, r.over, "if that job is gone, another hold would have no end")
}
