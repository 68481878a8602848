package control

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// onePod is a transaction that has one pod, and two times.
type onePod struct {
	store.Containers
	pod       compute.Pod
	now, wall time.Time
}

func (o onePod) Pod(compute.PodID) (compute.Pod, error) { return o.pod, nil }
func (o onePod) Now() time.Time                         { return o.now }
func (o onePod) Wall() time.Time                        { return o.wall }

func TestTimerOf_GivesWhatIsDueAndHowLongTheNextOneIs(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	wall := now.Add(time.Hour) // the machine slept
	for name, c := range map[string]struct {
		pod  compute.Pod
		due  compute.PodEvent
		next time.Duration
	}{
		"none":                    {compute.Pod{Status: compute.PodRunning}, "", 0},
		"a stop to come":          {compute.Pod{Status: compute.PodRunning, StopAfter: wall.Add(1)}, "", 1},
		"a stop at this moment":   {compute.Pod{Status: compute.PodRunning, StopAfter: wall}, compute.PodStop, 0},
		"a stop long ago":         {compute.Pod{Status: compute.PodProvisioning, StopAfter: wall.Add(-time.Hour)}, compute.PodStop, 0},
		"of a locked one":         {compute.Pod{Status: compute.PodRunning, Locked: true, StopAfter: wall}, "", 0},
		"of one that is stopped":  {compute.Pod{Status: compute.PodExited, StopAfter: wall, InterruptAt: now}, "", 0},
		"an end":                  {compute.Pod{Status: compute.PodExited, Locked: true, TerminateAfter: wall}, compute.PodTerminate, 0},
		"an interruption":         {compute.Pod{Status: compute.PodRunning, Locked: true, InterruptAt: now}, compute.PodInterrupt, 0},
		"an interruption to come": {compute.Pod{Status: compute.PodRunning, InterruptAt: now.Add(time.Minute)}, "", time.Minute},
		"two at once":             {compute.Pod{Status: compute.PodRunning, TerminateAfter: wall, StopAfter: wall}, compute.PodTerminate, 0},
		"the last of three":       {compute.Pod{Status: compute.PodRunning, TerminateAfter: wall.Add(3), StopAfter: wall.Add(2), InterruptAt: now.Add(1)}, "", 1},
		"the second of three":     {compute.Pod{Status: compute.PodRunning, TerminateAfter: wall.Add(3), StopAfter: wall.Add(1), InterruptAt: now.Add(2)}, "", 1},
		"the first of three":      {compute.Pod{Status: compute.PodRunning, TerminateAfter: wall.Add(1), StopAfter: wall.Add(2), InterruptAt: now.Add(3)}, "", 1},
		"one due, another later":  {compute.Pod{Status: compute.PodRunning, TerminateAfter: wall.Add(7), StopAfter: wall}, compute.PodStop, 7},
		"of one that is gone":     {compute.Pod{Status: compute.PodTerminated, TerminateAfter: wall}, "", 0},
	} {
		_, due, next, err := timerOf(onePod{pod: c.pod, now: now, wall: wall}, "p")
		require.NoError(t, err, name)
		require.Equal(t, c.due, due, name)
		require.Equal(t, c.next, next, name)
	}
}

func TestCheckTimers_NamesTheOneThatHasPassed(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	local := now.In(time.FixedZone("there", 3600))
	require.NoError(t, checkTimers(compute.Pod{}, now))
	require.NoError(t, checkTimers(compute.Pod{StopAfter: now.Add(1), TerminateAfter: now.Add(1)}, now))
	for want, pod := range map[string]compute.Pod{
		"stopAfter: 2026-03-01T12:00:00Z is not in the future":      {StopAfter: local, TerminateAfter: now.Add(1)},
		"terminateAfter: 2026-03-01T12:00:00Z is not in the future": {StopAfter: now.Add(1), TerminateAfter: local},
	} {
		err := checkTimers(pod, now)
		require.Equal(t, compute.Rejected, compute.CodeOf(err))
		require.ErrorContains(t, err, want)
	}

	require.False(t, timed(compute.Pod{}))
	for _, pod := range []compute.Pod{{StopAfter: now}, {TerminateAfter: now}, {InterruptAt: now}} {
		require.True(t, timed(pod), "%+v", pod)
	}
}

func TestControl_RunTimers_DoesWhatIsDue(t *testing.T) {
	t.Parallel()
	c, clock, said := openFrozen(t, []Host{l4s("a", 2)})
	ctx := t.Context()
	runs := func(id compute.PodID) time.Duration {
		t.Helper()
		next, err := c.RunTimers(ctx, id)
		require.NoError(t, err)
		return next
	}
	n := oneL4()
	n.StopAfter, n.TerminateAfter = clock.Wall().Add(time.Hour), clock.Wall().Add(3*time.Hour)
	pod, err := c.CreatePod(ctx, "u", n)
	require.NoError(t, err)
	*said = heard{}

	require.Equal(t, time.Hour, runs(pod.ID))
	require.Zero(t, runs("nobody"))
	require.Empty(t, said.pods, "nothing was due")
	clock.Advance(time.Hour)
	require.Equal(t, 2*time.Hour, runs(pod.ID))
	require.Equal(t, []compute.PodID{pod.ID}, said.pods)
	stopped := c.stored(t, pod.ID)
	require.Equal(t, compute.PodExited, stopped.Status)
	require.Equal(t, "it was to stop after 2026-03-01T13:00:00Z", stopped.Reason)
	require.Equal(t, compute.EndedByTimer, stopped.EndedBy)
	require.True(t, stopped.StopAfter.IsZero(), "once")
	require.Equal(t, clock.Wall(), stopped.MovedAt)
	require.EqualValues(t, 2, c.placement.freeNow()["a"].gpus)

	clock.Advance(2 * time.Hour)
	require.Zero(t, runs(pod.ID))
	require.Equal(t, compute.PodTerminated, c.stored(t, pod.ID).Status)
	require.Len(t, said.pods, 2)
	require.Zero(t, runs(pod.ID))
	require.Len(t, said.pods, 2, "it is gone")
}
