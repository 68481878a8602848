package loop_test

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/store"
)

// earlier makes a look at a runtime that berth used before, of which pods and workers have a fleet each.
func (y *yard) earlier(log *bytes.Buffer) (l *loop.Earlier, pods, workers *host) {
	pods, workers = &host{Fleet: sim.New(y.clock)}, &host{Fleet: sim.New(y.clock)}
	at := compute.RuntimeAt{Name: "docker", Address: "unix:///there"}
	require.NoError(y, y.store.Write(y.Context(), func(tx store.Tx) error { return tx.InsertRuntime(at) }))
	return &loop.Earlier{Store: y.store, At: at, Pods: pods, Workers: workers, Clock: y.clock, Log: slog.New(slog.NewTextHandler(log, nil))}, pods, workers
}

// earlierRuntimes gives how many are remembered.
func (y *yard) earlierRuntimes() (n int) {
	require.NoError(y, y.store.Read(y.Context(), func(tx store.Tx) error {
		all, err := tx.ListRuntimes()
		n = len(all)
		return err
	}))
	return n
}

func TestEarlier_IsForgottenAfterTwoLooksInARowThatFindNothing(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	pod := y.running(nil)
	var log bytes.Buffer
	l, pods, workers := y.earlier(&log)
	require.False(t, l.Step(t.Context()))
	require.Empty(t, log.String())

	pods.away.Store(true)
	require.False(t, l.Step(t.Context()), "nobody knows what there is")
	require.Contains(t, log.String(), "runtime=docker address=unix:///there")
	pods.away.Store(false)
	require.False(t, l.Step(t.Context()))

	workers.away.Store(true)
	require.False(t, l.Step(t.Context()))
	workers.away.Store(false)
	require.False(t, l.Step(t.Context()))

	require.NoError(t, pods.Fleet.Start(t.Context(), runtime.Allocation{ID: string(pod)})) // as an engine makes it late
	require.False(t, l.Step(t.Context()))
	require.NoError(t, pods.Fleet.Remove(t.Context(), string(pod)))
	require.False(t, l.Step(t.Context()))
	require.Equal(t, 1, y.earlierRuntimes())
	require.True(t, l.Step(t.Context()))
	require.Zero(t, y.earlierRuntimes())
	require.Equal(t, 1, bytes.Count(log.Bytes(), []byte("level=WARN")), "it is said once: %s", log.String())
}

// sticky is a host whose allocations cannot be ended.
type sticky struct{ *host }

func (sticky) Stop(context.Context, string, time.Duration) error {
	return errors.New("it does not end")
}
func (sticky) Remove(context.Context, string) error { return errors.New("it cannot be removed") }

func TestEarlier_SaysWhatCannotBeEnded(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		has  func(y *yard, pods, workers *host)
		said string
	}{
		"a worker": {func(y *yard, _, workers *host) {
			require.NoError(y, workers.Fleet.Start(y.Context(), runtime.Allocation{ID: "w"}))
		}, "it cannot be removed"},
		"a pod that is no more": {func(y *yard, pods, _ *host) {
			require.NoError(y, pods.Fleet.Start(y.Context(), runtime.Allocation{ID: "nobody"}))
		}, "it cannot be removed"},
		"a pod that is stopped": {func(y *yard, pods, _ *host) {
			id := y.running(nil)
			y.act(id, compute.PodStop)
			require.NoError(y, pods.Fleet.Start(y.Context(), runtime.Allocation{ID: string(id)}))
		}, "it does not end"},
	} {
		y := newYard(t)
		var log bytes.Buffer
		l, pods, workers := y.earlier(&log)
		c.has(y, pods, workers)
		l.Pods, l.Workers = sticky{pods}, sticky{workers}
		for range 3 {
			require.False(t, l.Step(t.Context()), name)
		}
		require.Contains(t, log.String(), "cannot be looked at: it is tried again", name)
		require.Contains(t, log.String(), c.said, name)
	}
}

func TestEarlier_Run(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	var log bytes.Buffer
	l, pods, _ := y.earlier(&log)
	id := y.running(nil)
	require.NoError(t, pods.Fleet.Start(t.Context(), runtime.Allocation{ID: string(id)}))
	ctx, end := context.WithCancel(t.Context())
	over := make(chan bool, 1)
	go func() { over <- l.Run(ctx) }()
	end()
	require.False(t, <-over, "there is something left")

	require.NoError(t, pods.Fleet.Remove(t.Context(), string(id)))
	go func() { over <- l.Run(t.Context()) }()
	require.Eventually(t, func() bool {
		y.clock.Advance(10 * time.Second)
		return len(over) == 1
	}, 10*time.Second, time.Millisecond)
	require.True(t, <-over)
	require.Zero(t, y.earlierRuntimes())
}

func TestClear_OfAHostThatDoesNotAnswerFails(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	id := y.running(nil)
	here := y.pod(id).HostID
	there := &host{Fleet: sim.New(y.clock)}
	require.NoError(t, there.Fleet.Start(t.Context(), runtime.Allocation{ID: string(id), Generation: y.pod(id).Generation()}))
	there.away.Store(true)
	require.ErrorIs(t, y.pods.Clear(t.Context(), here, there), runtime.ErrUnavailable)
	there.away.Store(false)
	silent := &mute{host: there}
	silent.silent.Store(true)
	require.ErrorIs(t, y.pods.Clear(t.Context(), here, silent), runtime.ErrUnavailable, "nobody knows which run that is")
	require.NoError(t, y.pods.Clear(t.Context(), here, there))

	y.act(id, compute.PodStop)
	require.ErrorContains(t, y.pods.Clear(t.Context(), here, sticky{there}), "it does not end")
	g := &graced{host: there, graces: map[string]time.Duration{}}
	require.NoError(t, y.pods.Clear(t.Context(), here, g))
	require.Equal(t, map[string]time.Duration{string(id): 10 * time.Second}, g.graces)
	y.act(id, compute.PodTerminate)
	require.ErrorContains(t, y.pods.Clear(t.Context(), here, sticky{there}), "it cannot be removed")

	s := serve(t, 0, nil)
	there = &host{Fleet: sim.New(s.clock)}
	require.NoError(t, there.Fleet.Start(t.Context(), runtime.Allocation{ID: "gone"}))
	require.ErrorContains(t, s.workers.Clear(t.Context(), "h", sticky{there}), "it cannot be removed")
	there.away.Store(true)
	require.ErrorIs(t, s.workers.Clear(t.Context(), "h", there), runtime.ErrUnavailable)
}

// forgetful is a host that does not know what it listed a moment before.
type forgetful struct{ *host }

func (forgetful) Stop(context.Context, string, time.Duration) error { return runtime.ErrUnknown }
func (forgetful) Remove(context.Context, string) error              { return runtime.ErrUnknown }
func (forgetful) Inspect(context.Context, string) (runtime.State, error) {
	return runtime.State{}, runtime.ErrUnknown
}

func TestClear_OfWhatEndsInThatMomentIsDone(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	up, stopped, terminated := y.running(nil), y.running(nil), y.running(nil)
	here := y.pod(up).HostID
	y.act(stopped, compute.PodStop)
	y.act(terminated, compute.PodTerminate)
	there := &host{Fleet: sim.New(y.clock)}
	for _, id := range []compute.PodID{up, stopped, terminated} {
		require.NoError(t, there.Fleet.Start(t.Context(), runtime.Allocation{ID: string(id)}))
	}
	require.NoError(t, y.pods.Clear(t.Context(), here, forgetful{there}))
}
