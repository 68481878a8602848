package loop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime/sim"
)

// release makes a release of the endpoint.
func (s *service) release() {
	s.e.Image, s.e.Version = s.e.Image+"+", s.e.Version+1
	s.set(s.e)
	s.step(0)
}

// pings has a worker say that it is there.
func (s *service) pings(w compute.WorkerID) {
	require.NoError(s, s.queue.Ping("u", s.e.ID, w, nil))
	s.step(0)
}

// done reports the end of a job of a worker.
func (s *service) done(w compute.WorkerID, j compute.Job) {
	require.NoError(s, s.queue.Finish(s.Context(), "u", s.e.ID, w, j.ID, queue.Report{}))
	s.step(0)
	s.step(0)
}

func TestWorkers_UnderLoadAreReplacedOnceOneOfTheLatestReleaseIsUp(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.step(0)
	s.step(sim.DefaultBoot)
	_, before := s.seen()
	first := s.busy(before[0])

	s.release()
	statuses, now := s.seen()
	require.ElementsMatch(t, []compute.WorkerStatus{compute.WorkerRunning, initializing}, statuses, "one comes up beside it")
	s.done(before[0], first)
	second := s.busy(before[0])
	s.step(0)
	require.Len(t, s.rows(), 2, "meanwhile it gets jobs")

	fresh := now[0]
	if fresh == before[0] {
		fresh = now[1]
	}
	s.step(sim.DefaultBoot)
	s.step(0)
	require.Len(t, s.rows(), 2, "nobody knows yet that it works")
	s.pings(fresh)
	third := s.busy(fresh)
	s.done(before[0], second)
	_, now = s.seen()
	require.Equal(t, []compute.WorkerID{fresh}, now, "and then it goes")
	s.done(fresh, third)
}

func TestWorkers_UnderLoadMakeRoomForTheLatestRelease(t *testing.T) {
	t.Parallel()
	s := serve(t, 2, nil) // the host holds no third one
	s.step(0)
	s.step(sim.DefaultBoot)
	_, before := s.seen()
	jobs := map[compute.WorkerID]compute.Job{before[0]: s.busy(before[0]), before[1]: s.busy(before[1])}

	s.release()
	s.step(0)
	statuses, _ := s.seen()
	require.ElementsMatch(t, []compute.WorkerStatus{compute.WorkerRunning, compute.WorkerRunning, throttled}, statuses)
	leaves := func(w compute.WorkerID) bool {
		for _, d := range s.queue.Demands() {
			for _, one := range d.Workers {
				if one.ID == w {
					return one.Leaving
				}
			}
		}
		return false
	}
	first, other := before[0], before[1]
	if leaves(other) {
		first, other = other, first
	}
	require.True(t, leaves(first))
	for range 3 {
		s.step(time.Second)
	}
	require.False(t, leaves(other), "one after the other")

	s.done(first, jobs[first])
	s.step(time.Second)
	require.Len(t, s.rows(), 2)
	require.False(t, leaves(other), "one of the latest release has its room, and is not up yet")
	s.step(sim.DefaultBoot)
	_, now := s.seen()
	for _, w := range now {
		if w != other {
			s.pings(w)
		}
	}
	require.False(t, leaves(other), "the one for which the first one went is up, and the next one comes")
	for range 2 {
		s.step(time.Second)
	}
	require.True(t, leaves(other))
	s.done(other, jobs[other])
	s.step(time.Second)
	for _, w := range s.rows() {
		require.Equal(t, s.e.Version, w.Version)
	}
}
