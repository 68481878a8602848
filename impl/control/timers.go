package control

import (
	"context"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// timed reports whether something is to happen to the pod by itself.
func timed(p compute.Pod) bool {
	return !p.StopAfter.IsZero() || !p.TerminateAfter.IsZero() || !p.InterruptAt.IsZero()
}

// checkTimers refuses timers of a new pod that have passed (rule graphql.timers.past).
func checkTimers(p compute.Pod, now time.Time) error {
	for _, timer := range []struct {
		name string
		at   time.Time
	}{{"stopAfter", p.StopAfter}, {"terminateAfter", p.TerminateAfter}} {
		if !timer.at.IsZero() && !timer.at.After(now) {
			return compute.Errorf(compute.Rejected, "%s: %s is not in the future", timer.name, timer.at.UTC().Format(time.RFC3339))
		}
	}
	return nil
}

// RunTimers does what is due of the pod's timers, and gives in how long to look again; 0: not before a hint. An unknown pod has none.
func (c *Control) RunTimers(ctx context.Context, id compute.PodID) (next time.Duration, err error) {
	var due compute.PodEvent
	err = c.store.Read(ctx, func(tx store.Tx) (err error) {
		_, due, next, err = timerOf(tx, id)
		return err
	})
	if err != nil || due == "" {
		return next, err
	}

	err = c.placement.Write(ctx, func(tx store.Tx, claims *Claims) error {
		var pod compute.Pod
		if pod, due, next, err = timerOf(tx, id); err != nil || due == "" {
			return err
		}
		switch due {
		case compute.PodStop:
			pod.Reason, pod.StopAfter = "it was to stop after "+pod.StopAfter.UTC().Format(time.RFC3339), time.Time{}
			pod.EndedBy = compute.EndedByTimer
		case compute.PodInterrupt:
			return interrupt(tx, claims, &pod)
		}
		return move(tx, claims, &pod, due)
	})
	if err == nil {
		c.podHint(id)
	}

	return next, err
}

// timerOf reports what is due of a pod's timers, if anything is, and how long it is until the next one. Users mean times of day,
// which go by Wall. A locked pod is not stopped (rule graphql.timers.locked).
func timerOf(tx store.Containers, id compute.PodID) (p compute.Pod, due compute.PodEvent, next time.Duration, err error) {
	p, err = tx.Pod(id)
	if compute.CodeOf(err) == compute.NotFound || err == nil && p.Status == compute.PodTerminated {
		return p, "", 0, nil
	}

	for _, timer := range []struct {
		event    compute.PodEvent
		at, now  time.Time
		possible bool
	}{
		{compute.PodTerminate, p.TerminateAfter, tx.Wall(), true},
		{compute.PodStop, p.StopAfter, tx.Wall(), p.Status.HoldsHost() && !p.Locked},
		{compute.PodInterrupt, p.InterruptAt, tx.Now(), p.Status.HoldsHost()},
	} {
		left := timer.at.Sub(timer.now)
		switch {
		case timer.at.IsZero():
		case left > 0 && (next == 0 || left < next):
			next = left
		case left <= 0 && timer.possible && due == "":
			due = timer.event
		}
	}

	return p, due, next, err
}
