package queue_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// balancer is a queue with an endpoint that balances load.
type balancer struct {
	*bench
	e compute.Endpoint
}

// balancing makes one with these workers, which are healthy.
func balancing(t *testing.T, workers ...compute.WorkerID) *balancer {
	b := &balancer{open(t), compute.Endpoint{ID: "balancer000000", UserID: user, Type: compute.LoadBalancer, WorkersMax: 3, Version: 2}}
	b.queue.SetEndpoint(b.e)
	for _, w := range workers {
		b.queue.WorkerStarted(b.e.ID, w, 2)
		b.be(w, queue.Healthy)
	}
	return b
}

func (b *balancer) be(w compute.WorkerID, c queue.Condition) {
	b.queue.SetCondition(b.e.ID, w, c, "")
}

// enter gives the request a worker at once.
func (b *balancer) enter(wish queue.Wish) *queue.Turn {
	turn, err := b.queue.Enter(b.Context(), user, b.e.ID, wish)
	require.NoError(b, err)
	return turn
}

// entered is how an Enter ended.
type entered struct {
	turn *queue.Turn
	err  error
}

// later enters, and waits until the request waits.
func (b *balancer) later(ctx context.Context, wish queue.Wish) chan entered {
	waiting := b.queue.Standing(b.e.ID).Waiting
	got := make(chan entered, 1)
	go func() {
		turn, err := b.queue.Enter(ctx, user, b.e.ID, wish)
		got <- entered{turn, err}
	}()
	require.Eventually(b, func() bool { return b.queue.Standing(b.e.ID).Waiting > waiting }, 10*time.Second, time.Millisecond)
	return got
}

// demand gives what scaling is decided on.
func (b *balancer) demand() queue.Demand {
	for _, d := range b.queue.Demands() {
		if d.Endpoint.ID == b.e.ID {
			return d
		}
	}
	b.Fatal("there is no such endpoint")
	return queue.Demand{}
}

func TestBalance_AWorkerThatServesARequestWorks(t *testing.T) {
	t.Parallel()
	b := balancing(t, "w1")
	require.False(t, b.queue.Working())
	turn := b.enter(queue.Wish{})
	require.True(t, b.queue.Working())
	require.Zero(t, b.clock.Waiting())

	b.be("w1", queue.Unhealthy)
	ctx, leave := context.WithCancel(t.Context())
	b.later(ctx, queue.Wish{Worker: "w1", Strict: true})
	require.Equal(t, b.clock.Now().Add(5*time.Minute), b.clock.Waiting().Exact, "it is answered by then")
	leave()
	turn.Over(false)
	require.Eventually(t, func() bool { return !b.queue.Working() && b.clock.Waiting() == compute.Waiting{} }, 10*time.Second, time.Millisecond)
}

func TestBalance_GoesToWhoHasLeastAndIdledLongest(t *testing.T) {
	t.Parallel()
	b := balancing(t, "w1", "w2")
	b.clock.Advance(time.Second)
	b.enter(queue.Wish{Worker: "w1"}).Over(false) // it idles less long now
	var turns []*queue.Turn
	for _, want := range []compute.WorkerID{"w2", "w1"} {
		turn := b.enter(queue.Wish{})
		require.Equal(t, want, turn.Worker)
		turns = append(turns, turn)
	}
	require.Equal(t, 2, b.demand().Held)
	turns[1].Over(true)
	require.EqualValues(t, "w1", b.enter(queue.Wish{}).Worker)

	h, err := b.queue.Health(t.Context(), user, b.e.ID)
	require.NoError(t, err)
	require.Equal(t, compute.JobCounts{Completed: 1, Failed: 1, InProgress: 2}, h.Jobs)
	require.EqualValues(t, 2, h.Workers[compute.WorkerRunning])
}

func TestBalance_RequestsWaitInLineForAWorker(t *testing.T) {
	t.Parallel()
	b := balancing(t)
	first := b.later(t.Context(), queue.Wish{})
	ctx, leave := context.WithCancel(t.Context())
	second := b.later(ctx, queue.Wish{Worker: "gone"})
	require.Equal(t, 2, b.demand().Waiting)
	leave()
	require.ErrorIs(t, (<-second).err, context.Canceled)
	require.Equal(t, 1, b.demand().Waiting)

	b.queue.WorkerStarted(b.e.ID, "w", 2)
	b.be("w", queue.Loading)
	require.Equal(t, 1, b.demand().Waiting, "it is not healthy yet")
	b.be("w", queue.Healthy)
	got := <-first
	require.NoError(t, got.err)
	require.EqualValues(t, "w", got.turn.Worker)

	b.be("w", queue.Unhealthy)
	third := b.later(t.Context(), queue.Wish{})
	b.clock.Advance(2 * time.Minute)
	require.ErrorIs(t, (<-third).err, queue.ErrNoWorker)
	got.turn.Over(false)
}

func TestBalance_AffinityIsSoftOrStrict(t *testing.T) {
	t.Parallel()
	b := balancing(t, "w1", "w2")
	for range 2 {
		require.EqualValues(t, "w2", b.enter(queue.Wish{Worker: "w2"}).Worker)
	}
	require.EqualValues(t, "w1", b.enter(queue.Wish{Worker: "gone"}).Worker)
	_, err := b.queue.Enter(t.Context(), user, b.e.ID, queue.Wish{Worker: "gone", Strict: true})
	require.ErrorIs(t, err, queue.ErrWorkerGone)

	b.be("w2", queue.Unhealthy)
	require.EqualValues(t, "w1", b.enter(queue.Wish{Worker: "w2"}).Worker)
	strict := b.later(t.Context(), queue.Wish{Worker: "w2", Strict: true})
	b.clock.Advance(5*time.Minute - time.Millisecond)
	b.be("w2", queue.Healthy)
	require.EqualValues(t, "w2", (<-strict).turn.Worker)
	b.be("w2", queue.Unhealthy)
	strict = b.later(t.Context(), queue.Wish{Worker: "w2", Strict: true})
	b.clock.Advance(5 * time.Minute)
	require.ErrorIs(t, (<-strict).err, queue.ErrWorkerTimeout)
	strict = b.later(t.Context(), queue.Wish{Worker: "w2", Strict: true})
	b.queue.WorkerGone(t.Context(), b.e.ID, "w2", "it ended")
	require.ErrorIs(t, (<-strict).err, queue.ErrWorkerGone)
}

func TestBalance_AWorkerThatGoesAnswersWhatItHas(t *testing.T) {
	t.Parallel()
	b := balancing(t, "w1", "w2")
	turn := b.enter(queue.Wish{Worker: "w1"})
	require.False(t, b.queue.Drain(b.e.ID, "w1"))
	for range 3 {
		require.EqualValues(t, "w2", b.enter(queue.Wish{Worker: "w1"}).Worker, "it gets nothing new")
	}
	turn.Over(false)
	require.True(t, b.queue.Drain(b.e.ID, "w1"))

	last := b.enter(queue.Wish{})
	require.NoError(t, b.queue.RemoveEndpoint(t.Context(), b.e.ID))
	require.False(t, b.queue.Drain(b.e.ID, "w2"))
	_, err := b.queue.Enter(t.Context(), user, b.e.ID, queue.Wish{})
	var refused *compute.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, compute.NotFound, refused.Code)
	last.Over(false)
}

func TestBalance_WaitsForNothingThatCannotCome(t *testing.T) {
	t.Parallel()
	b := balancing(t)
	waiting := b.later(t.Context(), queue.Wish{})
	b.e.WorkersMax = 0
	b.queue.SetEndpoint(b.e)
	require.ErrorIs(t, (<-waiting).err, queue.ErrNoWorker)
	_, err := b.queue.Enter(t.Context(), user, b.e.ID, queue.Wish{})
	require.ErrorIs(t, err, queue.ErrNoWorker)

	b.e.WorkersMax = 1
	b.queue.SetEndpoint(b.e)
	waiting = b.later(t.Context(), queue.Wish{})
	require.NoError(t, b.queue.RemoveEndpoint(t.Context(), b.e.ID))
	require.ErrorContains(t, (<-waiting).err, "does not exist")
}

func TestBalance_SoManyRequestsAtATime(t *testing.T) {
	t.Parallel()
	b := balancing(t, "w1", "w2")
	var turns []*queue.Turn
	for range 1024 {
		turns = append(turns, b.enter(queue.Wish{Worker: "w1"}))
	}
	_, err := b.queue.Enter(t.Context(), user, b.e.ID, queue.Wish{})
	require.ErrorIs(t, err, queue.ErrCrowded)
	for _, w := range b.demand().Workers {
		require.Equal(t, 512, w.Requests)
	}

	other := b.e
	other.ID, other.UserID = "another0000000", "another"
	b.queue.SetEndpoint(other)
	b.queue.WorkerStarted(other.ID, "w3", 2)
	b.queue.SetCondition(other.ID, "w3", queue.Healthy, "")
	turn, err := b.queue.Enter(t.Context(), other.UserID, other.ID, queue.Wish{})
	require.NoError(t, err, "one endpoint does not take the places of all")
	turn.Over(false)

	turns[0].Over(false)
	turns[0] = b.enter(queue.Wish{})
	for _, turn := range turns {
		turn.Over(false)
	}
	require.Zero(t, b.demand().Held)
}

func TestBalance_WorkersListenWhereTheirReleaseSays(t *testing.T) {
	t.Parallel()
	b := balancing(t, "w1")
	before := b.e.Serving()
	b.e.Version, b.e.Env = 3, map[string]string{compute.EnvPort: "8000", compute.EnvHealthPath: "/health"}
	b.queue.SetEndpoint(b.e)
	b.queue.WorkerStarted(b.e.ID, "w2", 3)
	b.queue.WorkerStarted(b.e.ID, "w3", 2) // taken up after a restart

	want := map[compute.WorkerID]compute.Serving{"w1": before, "w2": b.e.Serving(), "w3": b.e.Serving()}
	served := map[compute.WorkerID]compute.Serving{}
	for _, w := range b.queue.Served() {
		served[w.Worker] = w.At
		require.Equal(t, w.At, b.queue.Serving(w.Endpoint, w.Worker))
	}
	require.Equal(t, want, served)
}

func TestBalance_AnotherTurnCountsOnce(t *testing.T) {
	t.Parallel()
	b := balancing(t, "w1", "w2")
	turn := b.enter(queue.Wish{Worker: "w1"})
	b.be("w1", queue.Unreachable)
	require.NoError(t, turn.Again(t.Context(), queue.Wish{Worker: "w1"}))
	require.EqualValues(t, "w2", turn.Worker)
	require.Equal(t, 1, b.demand().Held)

	b.be("w2", queue.Unreachable)
	ctx, leave := context.WithCancel(t.Context())
	leave()
	require.ErrorIs(t, turn.Again(ctx, queue.Wish{}), context.Canceled)
	turn.Over(true)
	require.Zero(t, b.demand().Held)
	require.Zero(t, b.demand().Waiting)
}
