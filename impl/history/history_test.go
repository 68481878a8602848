package history_test

import (
	"context"
	"errors"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/history"
	"github.com/berthdev/berth/impl/queue"
)

// stand is a server whose state a test sets.
type stand struct {
	clock *compute.SettableClock
	views []queue.DispatcherView
	pods  map[compute.PodID]compute.PodRuntime
	err   error
	*history.History
}

func newStand() *stand {
	s := &stand{clock: compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000)), pods: map[compute.PodID]compute.PodRuntime{}}
	s.History = history.New(s.clock)
	s.Of(history.Sources{
		Dispatchers: func() []queue.DispatcherView { return s.views },
		Pods: func(each func(compute.PodID, compute.PodRuntime)) {
			for id, r := range s.pods {
				each(id, r)
			}
		},
		Running: func(context.Context) (int64, error) { return int64(len(s.pods)), s.err },
	})
	return s
}

// waits has jobs wait at the endpoint, and takes a sample after a tick.
func (s *stand) waits(t *testing.T, n int) {
	t.Helper()
	s.views = []queue.DispatcherView{{Endpoint: "e", Waiting: n, InProgress: 1, Workers: map[compute.WorkerStatus]int64{compute.WorkerRunning: 1, compute.WorkerIdle: 2}}}
	s.clock.Advance(history.Tick)
	require.NoError(t, s.Sample(t.Context()))
}

func TestHistory_KeepsWhatChanges(t *testing.T) {
	t.Parallel()
	s := newStand()
	began := s.clock.Wall()
	for _, n := range []int{1, 1, 2, 2, 1} {
		s.waits(t, n)
	}
	samples, err := s.Endpoint(t.Context(), "e")
	require.NoError(t, err)
	require.Len(t, samples, 3)
	for i, want := range []struct {
		tick    time.Duration
		waiting int64
	}{{1, 1}, {3, 2}, {5, 1}} {
		require.Equal(t, began.Add(want.tick*history.Tick), samples[i].At)
		require.Equal(t, history.Endpoint{Waiting: want.waiting, InProgress: 1, Running: 1, Idle: 2}, samples[i].Is)
	}

	all, err := s.Fleet(t.Context())
	require.NoError(t, err)
	require.Equal(t, history.Fleet{Endpoints: 1, Workers: 3, Waiting: 1, InProgress: 1}, all[len(all)-1].Is)
	none, err := s.Endpoint(t.Context(), "other")
	require.NoError(t, err)
	require.Empty(t, none)
}

func TestHistory_IsBounded(t *testing.T) {
	t.Parallel()
	s := newStand()
	for i := range 1000 {
		s.waits(t, i)
	}
	samples, err := s.Endpoint(t.Context(), "e")
	require.NoError(t, err)
	require.Len(t, samples, int(history.Span/history.Tick))
	require.EqualValues(t, 999, samples[len(samples)-1].Is.Waiting)

	s.clock.Advance(10 * history.Span)
	s.waits(t, 0)
	samples, err = s.Endpoint(t.Context(), "e")
	require.NoError(t, err)
	require.Len(t, samples, 2, "with the one that held until then")

	for i := range 2 * history.Most {
		s.pods[compute.PodID(time.Duration(i).String())] = compute.PodRuntime{}
	}
	s.views = nil
	require.NoError(t, s.Sample(t.Context()))
	kept := 0
	for id := range s.pods {
		samples, err := s.Pod(t.Context(), id)
		require.NoError(t, err)
		kept += len(samples)
	}
	require.Equal(t, history.Most, kept)
	samples, err = s.Endpoint(t.Context(), "e")
	require.NoError(t, err)
	require.Empty(t, samples, "it is no more")
}

func TestHistory_OfPods(t *testing.T) {
	t.Parallel()
	s := newStand()
	for i, cpu := range []float64{1, 1, 2} {
		s.pods["p"] = compute.PodRuntime{CPUPercent: &cpu, GPUs: []compute.GPUUse{{Percent: float64(i / 2)}}, Ports: make([]compute.PublishedPort, i)}
		s.clock.Advance(history.Tick)
		require.NoError(t, s.Sample(t.Context()))
	}
	samples, err := s.Pod(t.Context(), "p")
	require.NoError(t, err)
	require.Len(t, samples, 2)
	require.InDelta(t, 2, *samples[1].Is.CPUPercent, 0)

	delete(s.pods, "p")
	s.clock.Advance(time.Minute)
	samples, err = s.Pod(t.Context(), "p")
	require.NoError(t, err)
	require.Empty(t, samples)
	s.err = errors.New("no store")
	s.clock.Advance(time.Minute)
	_, err = s.Fleet(t.Context())
	require.ErrorIs(t, err, s.err)
}

func TestHistory_TakesOneSampleForAllWhoAskAtOnce(t *testing.T) {
	t.Parallel()
	const asking = 100
	for _, failed := range []error{nil, errors.New("no store")} {
		s := newStand()
		var begun, over sync.WaitGroup
		begun.Add(asking)
		taken := 0
		s.Of(history.Sources{
			Dispatchers: func() []queue.DispatcherView { return nil },
			Pods:        func(func(compute.PodID, compute.PodRuntime)) {},
			Running: func(ctx context.Context) (int64, error) {
				taken++
				begun.Wait()
				for range 10 * asking {
					runtime.Gosched() // until all of them ask
				}
				return 0, errors.Join(failed, ctx.Err()) // that whoever asked first has gone is nothing to the others
			},
		})

		ctx, gone := context.WithCancel(t.Context())
		gone()
		var errs [asking]error
		for i := range asking {
			over.Go(func() {
				begun.Done()
				_, errs[i] = s.Fleet(ctx)
			})
		}
		over.Wait()
		for _, err := range errs {
			require.ErrorIs(t, err, failed)
			require.NotErrorIs(t, err, context.Canceled)
		}
		if failed == nil {
			require.Equal(t, 1, taken)
		} else {
			require.Less(t, taken, asking/2)
		}
	}
}

// counter counts what a meter is told.
type counter struct{ told []string }

func (c *counter) Submitted()          { c.told = append(c.told, "submitted") }
func (c *counter) Taken(time.Duration) { c.told = append(c.told, "taken") }
func (c *counter) Lost()               { c.told = append(c.told, "lost") }
func (c *counter) Ended(s compute.JobStatus, _ bool, _ time.Duration) {
	c.told = append(c.told, string(s))
}
func (c *counter) Forget() { c.told = append(c.told, "forgotten") }

func TestHistory_CountsEndsAndHandsOn(t *testing.T) {
	t.Parallel()
	for _, next := range []*counter{nil, {}} {
		s := newStand()
		var make func(compute.EndpointID) queue.Meter
		if next != nil {
			make = func(compute.EndpointID) queue.Meter { return next }
		}
		m := s.Meter(make)("e")
		m.Submitted()
		m.Taken(time.Second)
		m.Lost()
		for _, status := range []compute.JobStatus{compute.JobCompleted, compute.JobCompleted, compute.JobFailed, compute.JobTimedOut, compute.JobCancelled} {
			m.Ended(status, true, time.Second)
		}
		s.waits(t, 0)
		samples, err := s.Endpoint(t.Context(), "e")
		require.NoError(t, err)
		require.EqualValues(t, 2, samples[0].Is.Completed)
		require.EqualValues(t, 2, samples[0].Is.Failed)
		m.Forget()
		s.waits(t, 0)
		samples, err = s.Endpoint(t.Context(), "e")
		require.NoError(t, err)
		require.Zero(t, samples[1].Is.Completed)
		all, err := s.Fleet(t.Context())
		require.NoError(t, err)
		last := all[len(all)-1].Is
		require.Equal(t, []int64{2, 2}, []int64{last.Completed, last.Failed}, "those of endpoints that are no more count")
		if next != nil {
			require.Equal(t, []string{"submitted", "taken", "lost", "COMPLETED", "COMPLETED", "FAILED", "TIMED_OUT", "CANCELLED", "forgotten"}, next.told)
		}
	}
}
