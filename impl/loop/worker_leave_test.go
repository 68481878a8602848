package loop_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/store"
)

func TestWorkers_EndWithTheServer(t *testing.T) {
	t.Parallel()
	s := serve(t, 2, nil)
	s.step(0)
	s.step(sim.DefaultBoot)
	_, ids := s.seen()
	j := s.busy(ids[0])

	ended, end := context.WithCancel(t.Context())
	end()
	s.workers.Run(ended)
	left, err := s.containers.List(t.Context())
	require.NoError(t, err)
	require.Empty(t, left)
	require.Empty(t, s.rows())
	require.Empty(t, s.keyring.Keys(true))
	all, err := s.endpoints.EndedWorkers(t.Context(), "u", s.e.ID)
	require.NoError(t, err)
	require.Len(t, all, 2)
	for _, w := range all {
		require.Equal(t, "the server was stopped", w.Reason)
		require.Nil(t, w.ExitCode)
	}
	now, err := s.queue.Status(t.Context(), "u", s.e.ID, j.ID)
	require.NoError(t, err)
	require.Equal(t, compute.JobInQueue, now.Status)
}

// ailing is a store that takes no writes.
type ailing struct {
	store.Store
	trouble store.Trouble
}

func (a ailing) Write(context.Context, func(store.Tx) error) error {
	return store.Troubled(a.trouble, nil)
}

func TestWorkers_AreEndedUnlessAnotherServerMayHaveThem(t *testing.T) {
	t.Parallel()
	for trouble, c := range map[store.Trouble]struct{ up, behind bool }{
		store.Full: {false, false}, store.Failing: {false, false}, store.Away: {true, true}, store.Moved: {true, false},
	} {
		s := serve(t, 1, nil)
		s.step(0)
		s.step(sim.DefaultBoot)
		_, ids := s.seen()
		s.workers.Store = ailing{s.db, trouble}
		require.Equal(t, 1, s.workers.Interrupt(s.e.ID, ""))
		s.step(0)
		state, err := s.containers.Inspect(t.Context(), string(ids[0]))
		if c.up {
			require.NoError(t, err, trouble)
			require.Equal(t, runtime.Up, state.Phase, trouble)
		} else {
			require.ErrorIs(t, err, runtime.ErrUnknown, trouble)
		}
		require.Equal(t, c.behind, s.workers.Behind(ids[0]) != "", trouble)
	}
}

func TestWorkers_TimeToSendARequestBeginsWhenTheyHaveAHost(t *testing.T) {
	t.Parallel()
	for name, waits := range map[string]string{"they come up then": "the image is pulled", "they are up": ""} {
		s := serve(t, 1, nil)
		fleet := &scheduling{Fleet: s.containers, waits: "0/2 nodes are available: 2 Insufficient cpu."}
		s.workers.Runtime = fleet
		s.step(0)
		for range 3 {
			s.step(time.Second)
		}
		s.step(time.Hour)
		_, before := s.seen()
		fleet.waits, fleet.at = waits, "node-1"
		s.step(time.Second)
		statuses, now := s.seen()
		require.Equal(t, []compute.WorkerStatus{initializing}, statuses, name)
		require.Equal(t, before, now, name)
		s.step(7*time.Minute - time.Millisecond)
		_, now = s.seen()
		require.Equal(t, before, now, name)

		var said []string
		require.NoError(t, s.db.Read(t.Context(), func(tx tx) error {
			lines, err := tx.SystemLines(string(before[0]), 0)
			for _, l := range lines {
				if text, waits := strings.CutPrefix(l.Text, "worker waits: "); waits {
					said = append(said, text)
				}
			}
			return err
		}))
		want := []string{"0/2 nodes are available: 2 Insufficient cpu."}
		if waits != "" {
			want = append(want, waits)
		}
		require.Equal(t, want, said, "each is said once: %s", name)

		s.step(time.Millisecond)
		id, reason, err := s.ended()
		require.NoError(t, err)
		require.Equal(t, before[0], id, name)
		require.Equal(t, "the worker sent no request within 7m0s", firstLine(reason), name)
	}
}

// muddled is a simulated fleet whose allocations cannot be stopped, and whose logs cannot be read.
type muddled struct{ *sim.Fleet }

func (muddled) Stop(context.Context, string, time.Duration) error {
	return errors.New("it does not end")
}
func (muddled) Logs(context.Context, string, runtime.LogQuery, func(runtime.Line) error) error {
	return errors.New("the log is gone")
}

func TestWorkers_ThatCannotBeStoppedAreRemoved(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.workers.Runtime = muddled{s.containers}
	s.step(0)
	s.step(sim.DefaultBoot)
	_, ids := s.seen()
	require.Equal(t, 1, s.workers.Interrupt(s.e.ID, ids[0]))
	s.step(0)
	_, err := s.containers.Inspect(t.Context(), string(ids[0]))
	require.ErrorIs(t, err, runtime.ErrUnknown)
	id, reason, err := s.ended()
	require.NoError(t, err)
	require.Equal(t, ids[0], id)
	require.Equal(t, "the worker was interrupted", reason)
}

func TestWorkers_Run_DoesNotWaitForEverForTheirEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, 1, nil)
		h := &host{Fleet: s.containers, stops: make(chan struct{}, 1), goOn: make(chan struct{})}
		s.workers.Runtime = h
		s.step(0)
		s.step(sim.DefaultBoot)
		h.slow = compute.PodID(s.rows()[0].ID)
		ended, end := context.WithCancel(t.Context())
		end()
		began := time.Now()
		s.workers.Run(ended)
		require.Equal(t, 30*time.Second, time.Since(began))
		require.Len(t, s.rows(), 1, "the next server sees to it")
	})
}

// talkative is a simulated fleet whose allocations wrote lines to their standard error.
type talkative struct {
	*sim.Fleet
	lines []string
}

func (f *talkative) Logs(_ context.Context, _ string, _ runtime.LogQuery, emit func(runtime.Line) error) error {
	for i, text := range f.lines {
		if err := emit(runtime.Line{Position: int64(i + 1), Stream: runtime.Stderr, Text: text}); err != nil {
			return err
		}
	}
	return nil
}

func TestWorkers_ReasonHasTheirLastWords(t *testing.T) {
	t.Parallel()
	var many []string
	for i := range 30 {
		many = append(many, strings.Repeat("x", i))
	}
	for name, c := range map[string]struct{ lines, want []string }{
		"some lines":     {[]string{"a", "b"}, []string{"a", "b"}},
		"the last lines": {many, many[10:]},
		"a long line":    {[]string{"a", strings.Repeat("y", 3000)}, []string{strings.Repeat("y", 2048)}},
		"no line":        {nil, nil},
	} {
		s := serve(t, 1, map[string]string{sim.EnvExitAfter: "0s", sim.EnvExitCode: "1"})
		s.workers.Runtime = &talkative{s.containers, c.lines}
		s.step(0)
		s.step(sim.DefaultBoot)
		_, reason, err := s.ended()
		require.NoError(t, err)
		require.Equal(t, append([]string{"the worker ended with exit code 1"}, c.want...), strings.Split(reason, "\n"), name)
	}
}
