package loop

import (
	"slices"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// relief is how far it is with the replacement of one worker of an earlier release under load. If that is forgotten, it begins anew.
type relief struct {
	version int64            // of the latest release
	standIn compute.WorkerID // one of that; empty: none was started yet
	cleared bool             // one of an earlier release left before, to make room for it
	served  int              // so many of the latest release served then, of an endpoint that balances load
}

// done begins the replacement of the next one.
func (r *relief) done() { *r = relief{version: r.version} }

// relieve adds to a decision who of a queue's workers leaves that are made of an earlier release and would never idle for long enough to be
// replaced, since there is work, or would never come up. They leave one after the other: once one of the latest release is up that stands in,
// or, where there is no room for it, before it comes (rule serverless.releases.load). No other one makes room for the same stand-in, whatever
// takes that room: who works stays while the latest release cannot start.
func relieve(d queue.Demand, r *relief, cause compute.PauseCause, out *decision) {
	have, going, idle := 0, 0, 0
	var stale []queue.WorkerView
	var standIn *queue.WorkerView
	needed := d.Waiting > 0
	for i, w := range d.Workers {
		switch {
		case w.Draining || w.Leaving:
			going++
			continue
		case w.ID == r.standIn && !w.Stale:
			standIn = &d.Workers[i]
		case w.Stale && !slices.Contains(out.stop, w.ID):
			stale = append(stale, w)
			needed = needed || w.Status == compute.WorkerRunning || beginning(w) && w.Reason != "" && d.Endpoint.WorkersMin > 0
		case !w.Stale && w.Status == compute.WorkerIdle && !slices.Contains(out.stop, w.ID):
			idle++
		}
		have++
	}
	if len(stale) == 0 {
		r.done()
	}
	if len(stale) == 0 || !needed { // there may be work again in a moment
		return
	}

	leave := func() { out.leave = append(out.leave, firstToGo(stale)[0].ID) }
	clearRoom := func() {
		if !r.cleared && going == 0 { // else there may be room in a moment
			leave()
			r.cleared = true
		}
	}
	switch {
	case standIn == nil && idle > 0 && d.Waiting == 0: // which would have no more to do than this one
		r.done()
		if going == 0 {
			leave()
		}
	case standIn == nil:
		r.standIn = ""
		switch {
		case out.start == 0 && have+going >= d.Endpoint.WorkersMax:
			r.cleared = r.cleared && going > 0 // else nobody has the room of who left but its own workers
			clearRoom()
			return
		case out.start == 0:
			out.start, out.standIn = 1, true
		}
		if cause == compute.PauseFull {
			clearRoom()
		}
	case standIn.Status == compute.WorkerThrottled:
		clearRoom()
	case standIn.Status == compute.WorkerIdle || standIn.Status == compute.WorkerRunning:
		if !r.cleared {
			leave()
		}
		r.done()
	}
}
