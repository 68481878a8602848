package loop_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/queue"
)

func TestPods_KeepTheLastLinesOfTheirLogs(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.running(nil)
	require.NoError(t, y.store.Write(t.Context(), func(tx tx) error {
		for i := range 2 * compute.SystemLines {
			if err := tx.AddSystemLine(string(id), fmt.Sprint("line ", i)); err != nil {
				return err
			}
		}
		return nil
	}))

	y.host.away.Store(true)
	y.step(time.Minute)
	lines := y.lines(id)
	require.Len(t, lines, compute.SystemLines)
	require.Contains(t, lines[len(lines)-1], "the pod is behind, and is tried again: ")
	require.Equal(t, fmt.Sprint("line ", 2*compute.SystemLines-1), lines[len(lines)-2])
}

func TestWorkers_LogOfOneThatIsMissingSaysWhy(t *testing.T) {
	t.Parallel()
	s := serve(t, 3, nil)
	s.step(0)
	_, ids := s.seen()
	read := func(id compute.WorkerID, q compute.LogQuery) (lines []compute.LogLine) {
		q.AtOnce = true
		read, err := s.workers.OpenLog(t.Context(), s.e, id, q)
		require.NoError(t, err)
		require.NoError(t, read(t.Context(), func(l compute.LogLine) error {
			lines = append(lines, l)
			return nil
		}))
		return lines
	}

	lines := read(ids[2], compute.LogQuery{Tail: 10})
	require.Len(t, lines, 1)
	require.Equal(t, compute.LogSystem, lines[0].Source)
	require.Equal(t, s.clock.Wall(), lines[0].At())
	require.Contains(t, lines[0].Text, "worker is THROTTLED: nothing can hold the worker now: asked for 2 vCPUs of cpu3g")
	require.Empty(t, read("unknown", compute.LogQuery{Tail: 10}))
	for _, line := range read(ids[0], compute.LogQuery{Tail: 10}) {
		require.NotContains(t, line.Text, "THROTTLED")
	}
}

func TestWorkers_LogOfOneThatHasEndedIsWhatWasKept(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, map[string]string{"BERTH_SIM_EXIT_AFTER": "0s", "BERTH_SIM_EXIT_CODE": "1"})
	s.workers.Runtime = spoken{s.containers}
	s.step(0)
	_, ids := s.seen()
	s.step(2 * time.Second)
	s.workers.Runtime = s.containers // it does not know the worker any more
	texts := func(q compute.LogQuery) (all []string) {
		read, err := s.workers.OpenLog(t.Context(), s.e, ids[0], q)
		require.NoError(t, err)
		require.NoError(t, read(t.Context(), func(l compute.LogLine) error {
			all = append(all, l.Text)
			return nil
		}))
		return all
	}
	require.Equal(t, []string{"Traceback", "starting", "NameError", "done"}, texts(compute.LogQuery{Tail: 100, Source: compute.LogContainer}))
	require.Equal(t, []string{"NameError", "done"}, texts(compute.LogQuery{Tail: 2, Source: compute.LogContainer}))
	require.Equal(t, []string{"done"}, texts(compute.LogQuery{After: time.Unix(0, 3), Source: compute.LogContainer}))
	system := texts(compute.LogQuery{Tail: 100, Source: compute.LogSystem})
	require.NotEmpty(t, system)
	require.Contains(t, system[len(system)-1], "exit code 1")
	require.Equal(t, system[len(system)-1:], texts(compute.LogQuery{Tail: 1, Source: compute.LogSystem}))
}

// local declares an endpoint whose worker is a process of this machine, and may idle for so long.
func (s *service) local(idle time.Duration) compute.Endpoint {
	e, err := s.endpoints.Declare(s.Context(), "u", control.NewEndpoint{Name: "local", Image: "i", WorkersMax: 1, IdleTimeout: idle})
	require.NoError(s, err)
	return e
}

func TestWorkers_OfAnUndeclaredEndpointAreNotStarted(t *testing.T) {
	t.Parallel()
	s := serve(t, 0, nil)
	e := s.local(time.Hour)
	gone := true
	s.workers.Undeclared = func(id compute.EndpointID) bool { return gone && id == e.ID }
	s.step(0)
	require.Zero(t, s.workers.Pause(e.ID), "nobody needs one")

	_, err := s.queue.Run(t.Context(), "u", e.ID, queue.Submission{Input: []byte(`{}`)})
	require.NoError(t, err)
	s.step(0)
	require.Empty(t, s.rows())
	require.Equal(t, compute.WorkerPause{
		Cause: compute.PauseUndeclared, Until: s.clock.Now().Add(time.Minute), Missing: 1,
		Reason: "the server was started without the command of its workers: declare the endpoint again, or delete it",
	}, s.workers.Pause(e.ID))
	states := s.queue.WorkerStates(e.ID)
	require.Len(t, states, 1)
	require.Equal(t, unhealthy, states[0].Status)
	require.True(t, states[0].Missing)
	s.step(time.Hour)
	require.Empty(t, s.rows(), "nor later")

	gone = false
	s.step(time.Minute)
	require.Len(t, s.rows(), 1)
	require.Zero(t, s.workers.Pause(e.ID))
}
