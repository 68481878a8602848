package loop_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/store"
)

func TestWorkers_JobTheyFailHasTheirExitCode(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, map[string]string{sim.EnvExitAfter: "0s", sim.EnvExitCode: "9"})
	j, err := s.queue.Run(t.Context(), "u", s.e.ID, queue.Submission{Input: []byte(`{}`)})
	require.NoError(t, err)

	for range 3 {
		s.step(time.Minute) // over its pause
		_, ids := s.seen()
		_, err = s.queue.Take(t.Context(), "u", s.e.ID, ids[0], 1)
		require.NoError(t, err)
		s.step(sim.DefaultBoot)
	}

	now, err := s.queue.Status(t.Context(), "u", s.e.ID, j.ID)
	require.NoError(t, err)
	require.Equal(t, "gave up after 3 attempts: the worker ended with exit code 9", now.Error)
}

// wordy is a simulated fleet whose allocations wrote more than is kept: long lines, and before the last ones some to the standard
// error.
type wordy struct{ *sim.Fleet }

const longLine = 1 << 10

func (wordy) Logs(_ context.Context, _ string, _ runtime.LogQuery, emit func(runtime.Line) error) error {
	for i := range int64(10_000) {
		line := runtime.Line{Position: i + 1, Stream: runtime.Stdout, Text: strings.Repeat("x", longLine)}
		if i >= 9_900 && i < 9_990 {
			line.Stream, line.Text = runtime.Stderr, fmt.Sprint("error ", i)
		}
		if err := emit(line); err != nil {
			return err
		}
	}
	return emit(runtime.Line{Position: 20_000, Stream: runtime.Stdout, Text: strings.Repeat("é", compute.EndedText)})
}

func TestWorkers_BoundedEndOfTheirLogIsKept(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, map[string]string{sim.EnvExitAfter: "0s", sim.EnvExitCode: "1"})
	s.workers.Runtime = wordy{s.containers}
	s.step(0)
	s.step(sim.DefaultBoot)
	all, err := s.endpoints.EndedWorkers(t.Context(), "u", s.e.ID)
	require.NoError(t, err)
	require.Len(t, all, 1)

	var kept compute.EndedWorker
	require.NoError(t, s.db.Read(t.Context(), func(tx store.Tx) (err error) {
		kept, err = tx.EndedWorker(all[0].ID)
		return err
	}))
	require.LessOrEqual(t, len(kept.Log), compute.EndedLines+compute.SystemLines)

	size := 0
	for _, l := range kept.Log {
		size += len(l.Text)
	}
	require.LessOrEqual(t, size, compute.EndedText+longLine, "with the lines of the system")
	require.True(t, strings.HasSuffix(kept.Log[len(kept.Log)-1].Text, "exit code 1") || strings.HasSuffix(kept.Log[len(kept.Log)-2].Text, "exit code 1"))

	require.LessOrEqual(t, len(all[0].Reason), 3<<10)
}

func TestWorkers_ReasonIsTheEndOfStandardError(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, map[string]string{sim.EnvExitAfter: "0s", sim.EnvExitCode: "1"})
	s.workers.Runtime = spoken{s.containers}
	s.step(0)
	s.step(sim.DefaultBoot)
	all, err := s.endpoints.EndedWorkers(t.Context(), "u", s.e.ID)
	require.NoError(t, err)
	require.Equal(t, "the worker ended with exit code 1\nTraceback\nNameError", all[0].Reason)
}

// spoken is a simulated fleet whose allocations wrote to both streams.
type spoken struct{ *sim.Fleet }

func (spoken) Logs(_ context.Context, _ string, _ runtime.LogQuery, emit func(runtime.Line) error) error {
	return errors.Join(
		emit(runtime.Line{Position: 1, Stream: runtime.Stderr, Text: "Traceback"}),
		emit(runtime.Line{Position: 2, Stream: runtime.Stdout, Text: "starting"}),
		emit(runtime.Line{Position: 3, Stream: runtime.Stderr, Text: "NameError"}),
		emit(runtime.Line{Position: 4, Stream: runtime.Stdout, Text: "done"}),
	)
}
