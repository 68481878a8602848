package loop_test

import (
	"context"
	"crypto/rand"
	"errors"
	"io"
	"log/slog"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/store"
)

// steps are those of a clock that is corrected; a night in which the machine sleeps is one, too.
var steps = []time.Duration{time.Hour, -time.Hour, 8 * time.Hour}

// The step comes before the first try, or after it.
func TestWebhooks_ClockStepMovesNoTry(t *testing.T) {
	t.Parallel()
	for i, step := range slices.Concat(steps, steps) {
		db, clock := openStore(t)
		posts := 0
		hooks := loop.NewWebhooks(loop.Delivery{Store: db, Post: func(context.Context, string, io.Reader, int64) (int, error) {
			posts++
			return 500, errors.New("the receiver answered 500")
		}, Clock: clock, Log: slog.New(slog.DiscardHandler)})
		require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
			return tx.InsertWebhook(compute.Webhook{JobID: "j", URL: "http://bad/", Body: []byte(`{}`), NextAt: tx.Now(), CreatedAt: tx.Wall()})
		}))

		if i < len(steps) {
			clock.Running().Adjust(step)
		}
		require.NoError(t, hooks.Step(t.Context()))

		if i >= len(steps) {
			clock.Running().Adjust(step)
		}
		clock.Advance(10*time.Second - time.Millisecond)
		require.NoError(t, hooks.Step(t.Context()))
		require.Equal(t, 1, posts, step)

		clock.Advance(time.Millisecond)
		require.NoError(t, hooks.Step(t.Context()))
		require.Equal(t, 2, posts)
	}
}

func TestWorkers_ClockStepStopsNone(t *testing.T) {
	t.Parallel()
	for _, step := range steps {
		f := &fleet{up: map[string]runtime.Allocation{}, ended: make(chan string)}
		workers, clock, e := scaled(t, f, 2)
		_, err := workers.Queue.Run(t.Context(), "u", e.ID, queue.Submission{Input: []byte(`{}`)})
		require.NoError(t, err)

		workers.Step(t.Context())
		require.Len(t, f.allocations(), 1)
		clock.Advance(7*time.Minute - time.Millisecond)
		clock.Running().Adjust(step)
		workers.Step(t.Context())
		require.Len(t, f.allocations(), 1, "it has time left to come up")

		var w compute.WorkerID
		for id := range f.allocations() {
			w = compute.WorkerID(id)
		}
		taken, err := workers.Queue.Take(t.Context(), "u", e.ID, w, 1)
		require.NoError(t, err)
		require.NoError(t, workers.Queue.Finish(t.Context(), "u", e.ID, w, taken[0].ID, queue.Report{}))

		clock.Advance(9 * time.Second)
		clock.Running().Adjust(step)
		workers.Step(t.Context())
		require.Len(t, f.allocations(), 1, "it may idle for 10 s")

		clock.Advance(time.Second)
		workers.Step(t.Context())
		require.Eventually(t, func() bool { return len(f.allocations()) == 0 }, 10*time.Second, time.Millisecond)
	}
}

func TestPods_ClockStepHoldsUpNone(t *testing.T) {
	t.Parallel()
	for _, step := range steps {
		db, clock := openStore(t)
		catalog, err := control.BuiltInCatalog()
		require.NoError(t, err)
		placement, err := control.NewPlacement(t.Context(), db, catalog, control.SimulatedFleet(catalog), packed)
		require.NoError(t, err)

		pods := loop.NewPods(loop.PodFleet{
			Store: db, Placement: placement, Runtime: sim.New(clock), Clock: clock, Log: slog.New(slog.DiscardHandler),
			Key: compute.NewPodKeys([]byte("secret")).Token, URL: func() string { return "http://outer" },
		})
		ctl := control.New(db, compute.NewIDs(rand.Reader, clock), placement, control.Runtime{Can: compute.AllCapabilities}, control.Hints{Pod: pods.Hint})
		made, err := ctl.CreatePod(t.Context(), "u", control.NewPod{Name: "a", Image: "i", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2}})
		require.NoError(t, err)

		look := func(status compute.PodStatus) compute.Pod {
			pods.Step(t.Context())
			p, err := ctl.GetPod(t.Context(), "u", made.ID)
			require.NoError(t, err)
			require.Equal(t, status, p.Status)
			return p
		}

		look(compute.PodStarting)
		clock.Running().Adjust(step)
		look(compute.PodStarting)
		clock.Advance(sim.DefaultBoot)
		up := look(compute.PodRunning)
		clock.Running().Adjust(step)
		clock.Advance(time.Minute)
		require.Equal(t, up.StartedAt, look(compute.PodRunning).StartedAt, "it is the same run")
	}
}
