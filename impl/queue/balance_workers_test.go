package queue_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// more has another endpoint that balances load, with healthy workers.
func (b *balancer) more(e compute.EndpointID, workers ...compute.WorkerID) {
	other := b.e
	other.ID = e
	b.queue.SetEndpoint(other)
	for _, w := range workers {
		b.queue.WorkerStarted(e, w, 2)
		b.queue.SetCondition(e, w, queue.Healthy, "")
	}
}

func TestBalance_EndedRequestsTakeNoPlaces(t *testing.T) {
	t.Parallel()
	b := balancing(t)
	b.e.WorkersMax = 0
	b.queue.SetEndpoint(b.e)
	for range 2100 { // more than there may be at once
		_, err := b.queue.Enter(t.Context(), user, b.e.ID, queue.Wish{})
		require.ErrorIs(t, err, queue.ErrNoWorker)
	}
	b.queue.WorkerStarted(b.e.ID, "w", 2)
	b.be("w", queue.Healthy)
	for range 2100 {
		b.enter(queue.Wish{}).Over(false)
	}
}

func TestBalance_SoManyRequestsOfAllEndpointsAtATime(t *testing.T) {
	t.Parallel()
	b := balancing(t)
	for _, e := range []struct {
		id   compute.EndpointID
		user compute.UserID
	}{{"balancer000001", user}, {"balancer000002", user}, {"balancer000003", "v"}, {"balancer000004", "w"}} {
		b.e.UserID = e.user
		b.more(e.id, "w1", "w2")
	}
	enter := func(user compute.UserID, e compute.EndpointID) (*queue.Turn, error) {
		return b.queue.Enter(t.Context(), user, e, queue.Wish{})
	}
	crowded := func(user compute.UserID, e compute.EndpointID) {
		_, err := enter(user, e)
		require.ErrorIs(t, err, queue.ErrCrowded)
	}
	var last *queue.Turn
	for i := range 1536 {
		turn, err := enter(user, []compute.EndpointID{"balancer000001", "balancer000002"}[i%2])
		require.NoError(t, err)
		last = turn
	}

	crowded(user, "balancer000001")
	crowded(user, "balancer000002")
	for range 512 { // nobody takes the places of all
		_, err := enter("v", "balancer000003")
		require.NoError(t, err)
	}
	crowded("w", "balancer000004")
	last.Over(false)
	turn, err := enter("w", "balancer000004")
	require.NoError(t, err)
	crowded(user, "balancer000001")
	turn.Over(false)
	_, err = enter(user, "balancer000001")
	require.NoError(t, err)
}

func TestBalance_FullWorkerTakesTheNextOnceOneIsOver(t *testing.T) {
	t.Parallel()
	b := balancing(t, "w")
	var turns []*queue.Turn
	for range 512 {
		turns = append(turns, b.enter(queue.Wish{}))
	}
	next := b.later(t.Context(), queue.Wish{})
	strict := b.later(t.Context(), queue.Wish{Worker: "w", Strict: true})
	turns[0].Over(false)
	require.EqualValues(t, "w", (<-next).turn.Worker)
	require.Empty(t, strict)
	turns[1].Over(true)
	require.EqualValues(t, "w", (<-strict).turn.Worker)
	require.Equal(t, 512, b.demand().Held)

	health, err := b.queue.Health(t.Context(), user, b.e.ID)
	require.NoError(t, err)
	require.Equal(t, compute.JobCounts{Completed: 1, Failed: 1, InProgress: 512}, health.Jobs)
}

func TestBalance_OfEqualWorkersTheFirstOneIsTaken(t *testing.T) {
	t.Parallel()
	b := balancing(t, "w3", "w1", "w2")
	for range 20 {
		var turns []*queue.Turn
		for _, want := range []compute.WorkerID{"w1", "w2", "w3", "w1"} {
			turn := b.enter(queue.Wish{})
			require.Equal(t, want, turn.Worker)
			turns = append(turns, turn)
		}
		for _, turn := range turns {
			turn.Over(false)
		}
	}
}

func TestBalance_IdlesSinceItsLastRequest(t *testing.T) {
	t.Parallel()
	b := balancing(t, "w")
	since := func() time.Time { return b.demand().Workers[0].IdleSince }
	first, second := b.enter(queue.Wish{}), b.enter(queue.Wish{})
	begun := since()
	b.clock.Advance(time.Second)
	first.Over(false)
	require.Equal(t, begun, since(), "it has another request")
	b.clock.Advance(time.Second)
	second.Over(false)
	require.Equal(t, b.clock.Now(), since())
}

func TestBalance_ConditionOfAWorkerIsSeen(t *testing.T) {
	t.Parallel()
	b := balancing(t)
	b.queue.WorkerStarted(b.e.ID, "w", 2)
	require.False(t, b.queue.Proven(b.e.ID, "w"))
	says := func(c queue.Condition, detail string, want queue.WorkerView) {
		t.Helper()
		b.queue.SetCondition(b.e.ID, "w", c, detail)
		want.ID = "w"
		require.Equal(t, []queue.WorkerView{want}, b.demand().Workers)
		require.Equal(t, []queue.Served{{User: b.e.UserID, Endpoint: b.e.ID, Worker: "w", At: b.e.Serving(), Ready: want.Status == compute.WorkerIdle}}, b.queue.Served())
		b.clock.Advance(time.Second)
	}

	started := b.clock.Now()
	says(queue.Unreachable, "it does not answer", queue.WorkerView{Status: compute.WorkerInitializing, Sick: started, Reason: "it does not answer"})
	says(queue.Loading, "it loads its model", queue.WorkerView{Status: compute.WorkerInitializing, Sick: started, Reason: "it loads its model"})
	require.False(t, b.queue.Proven(b.e.ID, "w"))

	up := b.clock.Now()
	says(queue.Healthy, "", queue.WorkerView{Status: compute.WorkerIdle, IdleSince: up})
	require.True(t, b.queue.Proven(b.e.ID, "w"))
	seen := b.clock.Now()
	says(queue.Healthy, "", queue.WorkerView{Status: compute.WorkerIdle, IdleSince: up})
	require.Equal(t, seen, b.queue.Standing(b.e.ID).Workers[0].LastSeen)

	sick := b.clock.Now()
	says(queue.Unreachable, "it does not answer", queue.WorkerView{Status: compute.WorkerUnhealthy, IdleSince: up, Sick: sick, Reason: "it does not answer"})
	says(queue.Unhealthy, "", queue.WorkerView{Status: compute.WorkerUnhealthy, IdleSince: up, Sick: sick, Reason: "its health check fails"})
	says(queue.Loading, "once more", queue.WorkerView{Status: compute.WorkerInitializing, IdleSince: up, Sick: sick, Reason: "once more"})
	again := b.clock.Now()
	says(queue.Healthy, "", queue.WorkerView{Status: compute.WorkerIdle, IdleSince: again})
}

func TestBalance_ConditionIsThatOfItsWorkersAlone(t *testing.T) {
	t.Parallel()
	b := balancing(t)
	b.be("nobody", queue.Healthy)
	require.Empty(t, b.queue.WorkerStates(b.e.ID))
	b.queue.SetCondition("nosuchendpoint", "nobody", queue.Healthy, "")

	b.queue.WorkerStarted(b.endpoint, "q", 0)
	b.queue.SetCondition(b.endpoint, "q", queue.Unhealthy, "it has no health check")
	require.Equal(t, []compute.WorkerState{{ID: "q", Status: compute.WorkerInitializing, Managed: true}}, b.queue.WorkerStates(b.endpoint))
	require.Empty(t, b.queue.Served(), "nobody checks the health of the workers of a queue")
}

func TestBalance_ServedAreThoseThatAreNotAboutToEnd(t *testing.T) {
	t.Parallel()
	b := balancing(t, "w1", "w2", "w3")
	b.queue.Refuse(b.e.ID, "w1")
	b.enter(queue.Wish{Worker: "w2"})
	require.False(t, b.queue.Drain(b.e.ID, "w2"))
	served := b.queue.Served()
	require.Len(t, served, 1)
	require.EqualValues(t, "w3", served[0].Worker)
	require.Equal(t, compute.Endpoint{}.Serving(), b.queue.Serving("nosuchendpoint", "w1"))
}

func TestBalance_WaitsForAWorkerThatMayYetServe(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(*balancer){
		"it is refused":  func(b *balancer) { b.queue.Refuse(b.e.ID, "w") },
		"it is drained":  func(b *balancer) { require.True(b, b.queue.Drain(b.e.ID, "w")) },
		"it is replaced": func(b *balancer) { b.queue.Replace(b.e.ID) },
		"it has ended":   func(b *balancer) { b.queue.WorkerGone(b.Context(), b.e.ID, "w", "it ended") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := balancing(t)
			b.queue.WorkerStarted(b.e.ID, "w", 2)
			b.e.WorkersMax = 0 // no other worker will come
			b.queue.SetEndpoint(b.e)
			whichever := b.later(t.Context(), queue.Wish{})
			strict := b.later(t.Context(), queue.Wish{Worker: "w", Strict: true})
			end(b)
			require.ErrorIs(t, (<-whichever).err, queue.ErrNoWorker)
			require.ErrorIs(t, (<-strict).err, queue.ErrWorkerGone)
			_, err := b.queue.Enter(t.Context(), user, b.e.ID, queue.Wish{})
			require.ErrorIs(t, err, queue.ErrNoWorker)
			_, err = b.queue.Enter(t.Context(), user, b.e.ID, queue.Wish{Worker: "w", Strict: true})
			require.ErrorIs(t, err, queue.ErrWorkerGone)
		})
	}
}

func TestBalance_WorkerInWhichNothingRunsServesOnceItIsUp(t *testing.T) {
	t.Parallel()
	b := balancing(t)
	b.queue.WorkerStarted(b.e.ID, "w", 2)
	next := b.later(t.Context(), queue.Wish{})
	b.queue.WorkerUp(b.e.ID, "w", false)
	require.Equal(t, 1, b.demand().Waiting)
	b.queue.WorkerUp(b.e.ID, "w", true)
	require.EqualValues(t, "w", (<-next).turn.Worker)
}

func TestBalance_EndpointsWithAQueueTakeNoRequests(t *testing.T) {
	t.Parallel()
	b := balancing(t, "w")
	for name, of := range map[string]struct {
		user compute.UserID
		e    compute.EndpointID
		says string
	}{
		"with a queue": {user, b.endpoint, "has a queue"},
		"of another":   {"stranger", b.e.ID, "does not exist"},
		"unknown":      {user, "nosuchendpoint", "does not exist"},
	} {
		_, err := b.queue.Enter(t.Context(), of.user, of.e, queue.Wish{})
		require.Equal(t, compute.NotFound, compute.CodeOf(err), name)
		require.ErrorContains(t, err, of.says, name)
		_, _, err = b.queue.Crew(of.user, of.e)
		require.Equal(t, compute.NotFound, compute.CodeOf(err), name)
	}
	for range 1100 { // what was refused took no place
		_, err := b.queue.Enter(t.Context(), "stranger", b.e.ID, queue.Wish{})
		require.Error(t, err)
	}
	b.enter(queue.Wish{})

	_, err := b.queue.Run(t.Context(), user, b.e.ID, queue.Submission{})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.ErrorContains(t, err, "has no queue")
}

func TestBalance_CrewIsEveryWorkerAsItIs(t *testing.T) {
	t.Parallel()
	b := balancing(t, "w4", "w1", "w3", "w2")
	b.queue.WorkerStarted(b.e.ID, "w0", 2)
	b.queue.WorkerWaits(b.e.ID, "w0", "its image is pulled", false)
	b.enter(queue.Wish{Worker: "w3"})
	b.enter(queue.Wish{Worker: "w3"})
	b.enter(queue.Wish{Worker: "w4"})
	require.False(t, b.queue.Drain(b.e.ID, "w4"))
	b.queue.SetCondition(b.e.ID, "w1", queue.Unhealthy, "it answers 500")

	at, crew, err := b.queue.Crew(user, b.e.ID)
	require.NoError(t, err)
	require.Equal(t, b.e.Serving(), at)
	require.Equal(t, []queue.Balanced{
		{ID: "w0", Health: queue.HealthStarting, Because: "its image is pulled"},
		{ID: "w1", Health: queue.HealthUnhealthy, Because: "it answers 500"},
		{ID: "w2", Health: queue.HealthHealthy},
		{ID: "w3", Health: queue.HealthHealthy, Requests: 2},
		{ID: "w4", Health: queue.HealthLeaving, Requests: 1},
	}, crew)
}

func TestDispatchers_ShowRequestsAsTheyShowJobs(t *testing.T) {
	t.Parallel()
	b := balancing(t, "w")
	b.enter(queue.Wish{})
	b.be("w", queue.Unhealthy)
	b.later(t.Context(), queue.Wish{})
	b.later(t.Context(), queue.Wish{})
	b.queue.SetAbsent(b.e.ID, []queue.Absent{{ID: "a", Status: compute.WorkerThrottled}, {ID: "c", Status: compute.WorkerThrottled}})
	b.more("another0000000")
	b.more("deleted0000000")
	b.queue.WorkerStarted("deleted0000000", "w", 2)
	require.NoError(t, b.queue.RemoveEndpoint(t.Context(), "deleted0000000"))

	require.Equal(t, []queue.DispatcherView{
		{Endpoint: "another0000000", Workers: map[compute.WorkerStatus]int64{}},
		{Endpoint: b.e.ID, Waiting: 2, InProgress: 1, Workers: map[compute.WorkerStatus]int64{compute.WorkerThrottled: 2, compute.WorkerUnhealthy: 1}},
		{Endpoint: b.endpoint, Workers: map[compute.WorkerStatus]int64{}},
	}, b.queue.Dispatchers())
	require.Equal(t, 2, b.demand().Waiting)
	require.Equal(t, 1, b.demand().Held)
	health, err := b.queue.Health(t.Context(), user, b.e.ID)
	require.NoError(t, err)
	require.Equal(t, compute.JobCounts{InQueue: 2, InProgress: 1}, health.Jobs)
}

func TestBalance_WhoAsksForAWorkerThatIsDrainedIsToldSo(t *testing.T) {
	t.Parallel()
	b := balancing(t, "w1", "w2")
	turn := b.enter(queue.Wish{Worker: "w1"})
	b.be("w1", queue.Unhealthy)
	strict := b.later(t.Context(), queue.Wish{Worker: "w1", Strict: true})
	require.False(t, b.queue.Drain(b.e.ID, "w1"), "it has a request")
	require.ErrorIs(t, (<-strict).err, queue.ErrWorkerGone)
	turn.Over(false)
	require.True(t, b.queue.Drain(b.e.ID, "w1"))
}
