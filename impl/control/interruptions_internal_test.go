package control

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

// spotL4 is a pod with one GPU that may be interrupted.
func spotL4() NewPod {
	n := oneL4()
	n.BidPerGPU = 0.4
	return n
}

func TestInterruptions_DrawLengthsAroundTheMean(t *testing.T) {
	t.Parallel()
	c := &Control{}
	spot := compute.Pod{BidPerGPU: 0.1}
	require.Zero(t, c.interruptions.draw(spot), "as long as nobody asks for any")
	c.SetInterruptions(time.Hour, 7)
	require.Zero(t, c.interruptions.draw(compute.Pod{}), "it is not interruptible")

	const runs = 4000
	var all []runLength
	sum := time.Duration(0)
	for range runs {
		one := c.interruptions.draw(spot)
		require.Positive(t, one)
		all = append(all, one)
		sum += time.Duration(one)
	}
	require.InEpsilon(t, float64(time.Hour), float64(sum/runs), 0.1)

	c.SetInterruptions(time.Hour, 7)
	for _, one := range all {
		require.Equal(t, one, c.interruptions.draw(spot), "the same seed draws the same")
	}
	c.SetInterruptions(time.Hour, 8)
	require.NotEqual(t, all[0], c.interruptions.draw(spot))

	c.SetInterruptions(1, 7) // of a nanosecond
	shortest := c.interruptions.draw(spot)
	for range 100 {
		shortest = min(shortest, c.interruptions.draw(spot))
	}
	require.EqualValues(t, 1, shortest, "a run lasts at least that long: 0 would be one without an end")
	c.SetInterruptions(0, 7)
	require.Zero(t, c.interruptions.draw(spot))
}

func TestInterruptions_EndRunsOnTheClockThatDecides(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	at := onePod{now: now, wall: now.Add(time.Hour)}
	require.True(t, runLength(0).end(at).IsZero())
	require.Equal(t, now.Add(2*time.Millisecond), runLength(2*time.Millisecond+999).end(at), "in whole milliseconds")
}

func TestControl_InterruptPods_TakesTheRoomOfThoseThatMayBe(t *testing.T) {
	t.Parallel()
	c, clock, said := openFrozen(t, []Host{l4s("a", 4)})
	ctx := t.Context()
	var ids []compute.PodID
	for _, n := range []NewPod{spotL4(), spotL4(), spotL4(), oneL4()} {
		pod, err := c.CreatePod(ctx, "u", n)
		require.NoError(t, err)
		ids = append(ids, pod.ID)
	}
	c.moved(t, ids[1], compute.PodPlaced, compute.PodHealthy)
	c.moved(t, ids[2], compute.PodStop)
	*said = heard{}
	clock.Advance(time.Minute)

	n, err := c.InterruptPods(ctx)
	require.NoError(t, err)
	require.Equal(t, 2, n)
	require.ElementsMatch(t, ids[:2], said.pods)
	for _, id := range ids[:2] {
		pod := c.stored(t, id)
		require.Equal(t, compute.PodExited, pod.Status)
		require.Equal(t, "it was interrupted", pod.Reason)
		require.Equal(t, compute.EndedByInterruption, pod.EndedBy)
		require.Equal(t, clock.Now(), pod.InterruptedAt)
	}
	require.EqualValues(t, 3, c.placement.freeNow()["a"].gpus)

	for id, code := range map[compute.PodID]compute.Code{ids[3]: compute.Conflict, ids[2]: compute.Conflict, "nobody": compute.NotFound} {
		require.Equal(t, code, compute.CodeOf(c.InterruptPod(ctx, id)), "%s", id)
	}
	require.Len(t, said.pods, 2)
	require.NoError(t, c.DeletePod(ctx, "u", ids[0]))
	require.Equal(t, compute.NotFound, compute.CodeOf(c.InterruptPod(ctx, ids[0])))
	n, err = c.InterruptPods(ctx)
	require.NoError(t, err)
	require.Zero(t, n)
}

func TestControl_InterruptiblePodsEndByThemselves(t *testing.T) {
	t.Parallel()
	c, clock, said := openFrozen(t, []Host{l4s("a", 2)})
	ctx := t.Context()
	c.SetInterruptions(time.Hour, 1)
	plain, err := c.CreatePod(ctx, "u", oneL4())
	require.NoError(t, err)
	require.True(t, plain.InterruptAt.IsZero())
	pod, err := c.CreatePod(ctx, "u", spotL4())
	require.NoError(t, err)
	require.True(t, pod.InterruptAt.After(clock.Now()))
	require.Equal(t, []compute.PodID{pod.ID}, said.timers)

	clock.Advance(pod.InterruptAt.Sub(clock.Now()))
	next, err := c.RunTimers(ctx, pod.ID)
	require.NoError(t, err)
	require.Zero(t, next)
	require.Equal(t, compute.EndedByInterruption, c.stored(t, pod.ID).EndedBy)

	before := pod.InterruptAt
	pod, err = c.ActOnPod(ctx, "u", pod.ID, compute.PodStart)
	require.NoError(t, err)
	require.True(t, pod.InterruptAt.After(before), "each run has a length of its own")
	require.True(t, pod.InterruptedAt.IsZero())
	require.Empty(t, pod.EndedBy)
	require.Len(t, said.timers, 2)
}
