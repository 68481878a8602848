package loop

import (
	"cmp"
	"math"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// decision is what is to be done about the workers of one endpoint.
type decision struct {
	start int                // workers to be started
	stop  []compute.WorkerID // workers to be stopped
	leave []compute.WorkerID // workers to be stopped once they hold no job: they get no other one

	standIn bool // the one that is to be started stands in for one of an earlier release
}

// beginning reports whether the worker was started and has sent no request yet. One that is throttled waits for room, which another one
// would not find, either.
func beginning(w queue.WorkerView) bool {
	return w.Status == compute.WorkerInitializing || w.Status == compute.WorkerThrottled
}

// decide says how many workers the endpoint gets and which of its workers go: those that are to be replaced, and those that
// have idled for long enough and that nobody needs, or that are made of an earlier release; those over the maximum at once. It starts one only for what no
// worker that has yet to ask will take, so that two decisions in a row do not start two for the same job. The relief is what is
// remembered of workers of an earlier release that are replaced under load; the cause is why the endpoint gets no worker now, empty if it does.
func decide(d queue.Demand, r *relief, cause compute.PauseCause, now time.Time) (out decision) {
	e := d.Endpoint
	if r.version != e.Version {
		*r = relief{version: e.Version}
	}
	if d.Gone {
		for _, w := range d.Workers {
			out.stop = append(out.stop, w.ID)
		}
		return out
	}

	have, asking, leaving := 0, 0, 0
	for _, w := range d.Workers {
		switch {
		case w.Draining:
		case w.Leaving:
			out.stop = append(out.stop, w.ID)
			if w.Stale && w.Status == compute.WorkerRunning { // it may be for long
				leaving++
			}
		default:
			have++
			if beginning(w) && !w.Stale || w.Status == compute.WorkerIdle && w.Unasked { // one of an earlier release may never come up
				asking++
			}
		}
	}

	want := 0
	switch {
	case e.Scaler == compute.ByCount:
		want = byCount(d)
	case d.Waiting > 0 && have == 0:
		want = 1
	case d.Waiting > 0:
		want = have + max(0, d.Overdue-asking)
	}

	want = min(max(want, e.WorkersMin), e.WorkersMax)
	if e.Type == compute.LoadBalancer {
		return balance(d, want, r, cause, now)
	}
	out.start = max(0, min(want, e.WorkersMax-leaving)-have)
	out.stop = append(out.stop, unwanted(d, have, max(want, e.WorkersMin), r.standIn, now)...)
	relieve(d, r, cause, &out)
	return out
}

// unwanted gives the workers of a queue that go of the so many that it has, of which it is to keep some (rule serverless.workers.order). One
// that begins goes only in the place of one that is ready and could go, or over the maximum: else it would be started again for the next job.
// The stand-in for one of an earlier release is one more until it is up.
func unwanted(d queue.Demand, have, keep int, standIn compute.WorkerID, now time.Time) (ids []compute.WorkerID) {
	rested := func(w queue.WorkerView) bool {
		return w.Status == compute.WorkerIdle && now.Sub(w.IdleSince) >= d.Endpoint.IdleTimeout
	}
	replaced := func(w queue.WorkerView) bool {
		return w.Stale && d.Waiting == 0 && (rested(w) || w.Status == compute.WorkerThrottled)
	}

	var all []queue.WorkerView
	ready := false // one could go that is not to be replaced
	for _, w := range d.Workers {
		if w.Draining || w.Leaving {
			continue
		}
		if replaced(w) {
			have--
			ids = append(ids, w.ID)
			continue
		}
		if w.ID == standIn && beginning(w) {
			keep++
		}
		ready = ready || rested(w)
		all = append(all, w)
	}

	for _, w := range firstToGo(all) {
		begins, spare := beginning(w), have > keep
		surplus := have > d.Endpoint.WorkersMax && (begins || w.Status == compute.WorkerIdle)
		if surplus || spare && w.ID != standIn && (w.Status == compute.WorkerThrottled || rested(w) || begins && ready) {
			have--
			ids = append(ids, w.ID)
		}
	}

	return ids
}

// firstToGo gives the workers of a queue in the order in which they go: those that have no room, those that are being started, first those
// of an earlier release, those that idle, first the one that has idled longest, and the others.
func firstToGo(all []queue.WorkerView) []queue.WorkerView {
	rank := func(w queue.WorkerView) int {
		switch {
		case w.Status == compute.WorkerThrottled:
			return 0
		case beginning(w) && w.Stale:
			return 1
		case beginning(w):
			return 2
		case w.Status == compute.WorkerIdle:
			return 3
		}
		return 4
	}
	return slices.SortedStableFunc(slices.Values(all), func(a, b queue.WorkerView) int {
		if rank(a) == 3 && rank(b) == 3 {
			return a.IdleSince.Compare(b.IdleSince)
		}
		return cmp.Compare(rank(a), rank(b))
	})
}

// byCount is how many workers an endpoint needs that is scaled by the count of its jobs or requests.
func byCount(d queue.Demand) int {
	return int(math.Ceil(float64(d.Waiting+d.Held) / max(1, d.Endpoint.ScalerValue)))
}

// needs remembers how many workers an endpoint that balances load has needed of late: requests go to whoever has idled longest, so that with
// few of them, too, no worker may ever idle for long.
type needs struct {
	began       time.Time // of the span that lasts
	now, before int       // the most that were needed in it, and in the one before
}

// most notes what is needed now, and gives the most that was needed within a span, if not two. Of the time before the first one nobody knows.
func (n *needs) most(need int, now time.Time, span time.Duration) int {
	if n.began.IsZero() {
		n.began, n.now = now, math.MaxInt
	}
	if now.Sub(n.began) >= span {
		n.began, n.before, n.now = now, n.now, 0
	}
	n.now = max(n.now, need)
	return max(n.now, n.before)
}

// unneeded gives the workers that go beside those that are to be stopped, since the endpoint, which balances load, has needed no more than
// so many for a while: those that are being started, but for such as stand in for others of an earlier release, and those with the fewest
// requests. They answer what they have.
func unneeded(d queue.Demand, stopped []compute.WorkerID, needed int) (ids []compute.WorkerID) {
	keep := max(needed, d.Endpoint.WorkersMin)
	var there, begin []queue.WorkerView
	latest := 0 // made of the latest release
	for _, w := range leastBusy(d.Workers) {
		if w.Draining || w.Leaving || slices.Contains(stopped, w.ID) {
			continue
		}
		if !w.Stale {
			latest++
		}
		if beginning(w) {
			begin = append(begin, w)
		} else {
			there = append(there, w)
		}
	}
	if len(there) <= keep {
		return nil
	}

	for _, w := range begin {
		if !w.Stale && latest > keep {
			latest--
			ids = append(ids, w.ID)
		}
	}
	for _, w := range there[:len(there)-keep] {
		ids = append(ids, w.ID)
	}
	return ids
}

// balance decides for an endpoint that balances load, which is to have so many workers. Workers of an earlier release go one by one, each as
// soon as one of the latest stands in for it, or at once where there is room for no other: a worker that goes answers what it has, and
// requests that find none wait. Those that are not healthy count, so that no failing one makes more.
func balance(d queue.Demand, want int, r *relief, cause compute.PauseCause, now time.Time) (out decision) {
	e := d.Endpoint
	have, stale, ready, coming, serving, going, unplaced := 0, 0, 0, 0, 0, 0, 0
	rested := func(w queue.WorkerView) bool {
		return w.Requests == 0 && !beginning(w) && now.Sub(w.IdleSince) >= e.IdleTimeout
	}
	resting := false // one that serves, and is of the latest release
	for _, w := range d.Workers {
		switch {
		case w.Draining:
			going++
		case w.Leaving:
			going++
			out.stop = append(out.stop, w.ID)
		default:
			have++
			if serves(w) {
				serving++
			}
			switch {
			case w.Stale:
				stale++
			case beginning(w):
				coming++
				if w.Status == compute.WorkerThrottled {
					unplaced++
				}
			case serves(w):
				ready++
				resting = resting || rested(w)
			}
		}
	}

	missing := max(0, want-(have-stale))
	out.start = min(missing, max(0, e.WorkersMax-have))
	retire := min(stale, max(0, stale+ready-want))
	full := cause == compute.PauseFull || unplaced > 0
	if stale == 0 || ready > r.served { // the one that got the room serves
		r.done()
	}
	switch {
	case retire > 0 || stale == 0:
	case missing > 0 && out.start == 0 && coming == 0:
		retire = 1
	case full && going == 0 && coming == unplaced && !r.cleared: // no other one goes for the same room, whoever takes it
		retire, r.cleared, r.served = 1, true, ready
	}

	for _, w := range leastBusy(d.Workers) {
		if w.Draining || w.Leaving {
			continue
		}
		spare := have > want
		if serves(w) {
			spare = serving > want // one that begins, or is not healthy, stands in for none
		}
		early := beginning(w) && !w.Stale && resting && serving > want && ready+coming > want // one that is ready would go, and it be kept
		surplus := have > e.WorkersMax
		replaced := w.Stale && retire > 0
		roomless := w.Status == compute.WorkerThrottled && (w.Stale || stale == 0) // else it gets the room of one that is to be replaced
		if !surplus && !replaced && !early && (!spare || !rested(w) && !roomless) {
			continue
		}

		have--
		switch {
		case serves(w):
			serving--
		case beginning(w) && !w.Stale:
			coming--
		}
		if w.Stale {
			retire--
		}
		out.stop = append(out.stop, w.ID)
	}

	return out
}

// serves reports whether requests go to the worker, of an endpoint that balances load.
func serves(w queue.WorkerView) bool { return !beginning(w) && w.Status != compute.WorkerUnhealthy }

// leastBusy gives the workers in the order in which they go: those first that no request would miss.
func leastBusy(all []queue.WorkerView) []queue.WorkerView {
	return slices.SortedStableFunc(slices.Values(all), func(a, b queue.WorkerView) int {
		if serves(a) != serves(b) {
			if serves(b) {
				return -1
			}
			return 1
		}
		return cmp.Compare(a.Requests, b.Requests)
	})
}
