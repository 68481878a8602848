package queue

import (
	"fmt"
	"strings"
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
	ids := s.toStop(time.Time{})
	require.Len(t, ids, mostStops)
	require.Equal(t, compute.JobID(fmt.Sprint(3*mostStops-1)), ids[mostStops-1])
}

// made gives a queue of one endpoint that n workers have asked.
func made(n int) (*Queue, *dispatcher) {
	d := newDispatcher(compute.Endpoint{})
	q := &Queue{memory: memory{dispatchers: map[compute.EndpointID]*dispatcher{"e": d}, held: map[compute.JobID]*lease{}}}
	for i := range n {
		q.worker(d, compute.WorkerID(fmt.Sprint(i))).lastSeen = time.Unix(int64(i), 0)
	}
	return q, d
}

func TestWorkers_OfWhichThereAreTooManyAreForgottenThatDoNothing(t *testing.T) {
	t.Parallel()
	q, d := made(mostWorkers)
	require.Len(t, d.workers, mostWorkers)
	d.workers["0"].managed = true
	d.workers["1"].jobs["job"] = false
	d.workers["2"].polls++
	d.workers["3"].stop("job", time.Time{})

	q.worker(d, "another")
	require.Len(t, d.workers, mostWorkers-(mostWorkers-4)/2+1)
	for _, id := range []compute.WorkerID{"0", "1", "2", "3", "another", compute.WorkerID(fmt.Sprint(mostWorkers - 1))} {
		require.Contains(t, d.workers, id)
	}
	require.NotContains(t, d.workers, compute.WorkerID("4"), "the one that was silent longest")
}

func TestWorkers_WhatTheyNameIsLookedForAmongFew(t *testing.T) {
	t.Parallel()
	const a, b = "01a21579-fa04-7018-a6bd-000000000001", "sync-01a21579-fa04-7018-a6bd-000000000001"
	ids := []compute.JobID{b, "no id"}
	for range 100_000 {
		ids = append(ids, "", a, b)
	}
	ids = eachOnce(ids)
	require.Equal(t, []compute.JobID{a, b}, ids)
	require.Empty(t, eachOnce(nil))
	for id, want := range map[compute.JobID]bool{a: true, b: true, "": false, "no id": false} {
		require.Equal(t, want, names(ids, id), id)
	}
}

func TestWorkers_MayNameAnyNumberOfJobsOfWhichFewAreRemembered(t *testing.T) {
	t.Parallel()
	q, d := made(1)
	named := []compute.JobID{"", "no id", compute.JobID(strings.Repeat("x", 100_000))}
	for n := range 3 * mostNamed {
		named = append(named, compute.JobID(fmt.Sprintf("01a21579-fa04-7018-a6bd-%012d", n)))
	}
	last := named[len(named)-1]
	q.held[last] = &lease{job: compute.Job{ID: last}, worker: "0"}
	q.held[named[len(named)-2]] = &lease{job: compute.Job{ID: last}, worker: "1"}

	s := d.workers["0"]
	known, strange := q.named(s, "0", named)
	require.Len(t, known, mostNamed+1)
	require.Equal(t, append(named[3:3+mostNamed:3+mostNamed], last), known)
	require.Equal(t, known[:mostNamed], strange, "but for what it holds")

	for _, id := range strange[1:] {
		s.lookedUp(id)
	}
	_, strange = q.named(s, "0", named)
	require.Equal(t, known[:1], strange)
	s.stop(known[0], time.Time{})
	_, strange = q.named(s, "0", named)
	require.Empty(t, strange)
	for _, id := range named[3:] {
		s.lookedUp(id)
		s.lookedUp(id)
	}
	require.Equal(t, named[len(named)-mostNamed:], s.looked)
}

func TestWorkers_OfAllEndpointsThoseSilentLongestMakeRoom(t *testing.T) {
	t.Parallel()
	q, d := made(mostWorkers - 10)
	other := newDispatcher(compute.Endpoint{})
	q.dispatchers["f"] = other
	for n := range 10 {
		q.worker(other, compute.WorkerID(fmt.Sprint(n))).lastSeen = time.Unix(-1, 0)
	}
	require.Len(t, d.workers, mostWorkers-10)
	d.workers["0"].managed = true

	q.worker(other, "0") // it is known
	require.Len(t, other.workers, 10)
	q.worker(d, "another")
	require.Empty(t, other.workers)
	require.Len(t, d.workers, mostWorkers-10-(mostWorkers/2-10)+1)
	require.Contains(t, d.workers, compute.WorkerID("0"))
}
