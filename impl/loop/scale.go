package loop

import (
	"math"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// decision is what is to be done about the workers of one endpoint.
type decision struct {
	start int                // workers to be started
	stop  []compute.WorkerID // workers to be stopped
}

// beginning reports whether the worker was started and has sent no request yet. One that is throttled waits for room, which another one
// would not find, either.
func beginning(w queue.WorkerView) bool {
	return w.Status == compute.WorkerInitializing || w.Status == compute.WorkerThrottled
}

// decide says how many workers the endpoint gets and which of its workers go: those that are to be replaced, and those that
// have idled for long enough and that nobody needs, or that are made of an earlier release; those over the maximum at once. It starts one only for what no
// worker that has yet to ask will take, so that two decisions in a row do not start two for the same job.
func decide(d queue.Demand, now time.Time) (out decision) {
	e := d.Endpoint
	if d.Gone {
		for _, w := range d.Workers {
			out.stop = append(out.stop, w.ID)
		}
		return out
	}

	have, asking := 0, 0
	for _, w := range d.Workers {
		switch {
		case w.Draining:
		case w.Leaving:
			out.stop = append(out.stop, w.ID)
		default:
			have++
			if beginning(w) || w.Status == compute.WorkerIdle && w.Unseen {
				asking++
			}
		}
	}

	want := 0
	switch {
	case e.Scaler == compute.ByCount:
		want = int(math.Ceil(float64(d.Waiting+d.Held) / max(1, e.ScalerValue)))
	case d.Waiting > 0 && have == 0:
		want = 1
	case d.Waiting > 0:
		want = have + max(0, d.Overdue-asking)
	}

	want = min(max(want, e.WorkersMin), e.WorkersMax)
	out.start = max(0, want-have)
	for _, w := range d.Workers {
		if w.Draining || w.Leaving {
			continue
		}
		idle := w.Status == compute.WorkerIdle
		spare := have > max(want, e.WorkersMin) || w.Stale && d.Waiting == 0
		surplus := have > e.WorkersMax && (idle || beginning(w))
		if surplus || spare && w.Status == compute.WorkerThrottled || idle && spare && now.Sub(w.IdleSince) >= e.IdleTimeout {
			have--
			out.stop = append(out.stop, w.ID)
		}
	}

	return out
}
