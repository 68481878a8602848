package loop_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
)

// talker is a simulated fleet whose allocations write without end while they are followed.
type talker struct {
	*sim.Fleet
	written atomic.Int64
}

func (f *talker) Logs(ctx context.Context, _ string, q runtime.LogQuery, emit func(runtime.Line) error) error {
	if !q.Follow {
		return nil
	}
	for i := int64(1); ; i++ {
		f.written.Add(1)
		if err := emit(runtime.Line{Position: i, Text: fmt.Sprint(i)}); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
}

func TestLogs_RuntimeWaitsForTheReader(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.running(nil)
	fleet := &talker{Fleet: y.host.Fleet}
	y.pods.Runtime = fleet
	read, err := y.pods.OpenLog(t.Context(), id, compute.LogQuery{Source: compute.LogContainer})
	require.NoError(t, err)

	full := errors.New("the reader has enough")
	lines := int64(0)
	err = read(t.Context(), func(l compute.LogLine) error {
		lines++
		require.Equal(t, fmt.Sprint(lines), l.Text)
		require.LessOrEqual(t, fleet.written.Load(), lines+1, "none is held for the reader but the next")
		if lines == 1000 {
			return full
		}
		return nil
	})

	require.ErrorIs(t, err, full)
	require.Equal(t, int64(1000), lines)
}

func TestLogs_OutlastARuntimeThatDoesNotAnswer(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.running(map[string]string{sim.EnvLogEvery: "1s"})
	y.host.away.Store(true)
	read, err := y.pods.OpenLog(t.Context(), id, compute.LogQuery{Tail: 100, Mark: true})
	require.NoError(t, err)

	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	lines := make(chan string, 100)

	ended := make(chan error, 1)
	go func() {
		ended <- read(ctx, func(l compute.LogLine) error {
			lines <- l.Text
			return nil
		})
	}()

	require.Equal(t, "pod is PROVISIONING", <-lines)
	require.Equal(t, "pod is STARTING", <-lines)
	require.Equal(t, "pod is RUNNING", <-lines)
	y.host.away.Store(false)
	require.Eventually(t, func() bool {
		y.clock.Advance(time.Second / 2)
		return len(lines) >= 4
	}, 10*time.Second, time.Millisecond)
	require.Contains(t, <-lines, "sim: starting")
	require.Equal(t, "sim: up", <-lines)
	require.Empty(t, <-lines, "the mark comes after what there was")
	require.Equal(t, "sim: tick 1", <-lines)

	cancel()
	require.ErrorIs(t, <-ended, context.Canceled)
}

// named is a simulated fleet in whose logs its name stands.
type named struct {
	*sim.Fleet
	name string
}

func (f named) Logs(_ context.Context, _ string, _ runtime.LogQuery, emit func(runtime.Line) error) error {
	return emit(runtime.Line{Position: 1, Text: f.name})
}

func TestLogs_OfAWorkerAreReadWhereItRuns(t *testing.T) {
	t.Parallel()
	db, clock := openStore(t)
	jobs, err := queue.New(t.Context(), db, clock, compute.NewIDs(rand.Reader, clock), queue.DefaultSettings(), queue.Hooks{})
	require.NoError(t, err)

	workers := loop.NewWorkers(loop.Fleet{
		Store: db, Queue: jobs, Clock: clock, Local: named{sim.New(clock), "processes"}, Runtime: named{sim.New(clock), "containers"},
	})
	for declared, want := range map[bool]string{true: "processes", false: "containers"} {
		var lines []string
		read, err := workers.OpenLog(t.Context(), compute.Endpoint{Declared: declared}, "w", compute.LogQuery{Tail: 100})
		require.NoError(t, err)
		require.NoError(t, read(t.Context(), func(l compute.LogLine) error {
			lines = append(lines, l.Text)
			return nil
		}))
		require.Equal(t, []string{want}, lines, "the worker is not stored any more")
	}
}
