package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// crew makes workers as a queue sees them at a time.
type crew struct{ now time.Time }

func newCrew() crew { return crew{time.UnixMilli(1_700_000_000_000)} }

// one makes a worker that has idled for so long, or was started as long ago.
func (c crew) one(id compute.WorkerID, s compute.WorkerStatus, idle time.Duration) queue.WorkerView {
	return queue.WorkerView{ID: id, Status: s, IdleSince: c.now.Add(-idle)}
}

// stale makes it one of an earlier release.
func stale(w queue.WorkerView) queue.WorkerView {
	w.Stale = true
	return w
}

// ids gives those of workers.
func ids(all []queue.WorkerView) (ids []compute.WorkerID) {
	for _, w := range all {
		ids = append(ids, w.ID)
	}
	return ids
}

func TestFirstToGo_AreThoseThatDoTheLeast(t *testing.T) {
	t.Parallel()
	c := newCrew()
	require.Equal(t, []compute.WorkerID{"unplaced", "old start", "start", "rested", "fresh", "busy"}, ids(firstToGo([]queue.WorkerView{
		c.one("busy", compute.WorkerRunning, time.Hour), c.one("fresh", compute.WorkerIdle, 9*time.Second), c.one("rested", compute.WorkerIdle, 10*time.Second),
		c.one("start", compute.WorkerInitializing, 0), stale(c.one("old start", compute.WorkerInitializing, 0)), c.one("unplaced", compute.WorkerThrottled, 0),
	})))
}

func TestLeastBusy_AreThoseThatNoRequestMisses(t *testing.T) {
	t.Parallel()
	c := newCrew()
	with := func(w queue.WorkerView, requests int) queue.WorkerView {
		w.Requests = requests
		return w
	}
	running := c.one("two", compute.WorkerRunning, 0)
	require.Equal(t, []compute.WorkerID{"unplaced", "start", "ill", "none", "one", "two"}, ids(leastBusy([]queue.WorkerView{
		with(running, 2), with(c.one("ill", compute.WorkerUnhealthy, 0), 7), with(c.one("one", compute.WorkerRunning, 0), 1), c.one("unplaced", compute.WorkerThrottled, 0),
		c.one("none", compute.WorkerIdle, time.Hour), c.one("start", compute.WorkerInitializing, 0),
	})))
}

func TestDecide_WhatWorkersAreWorthForAQueue(t *testing.T) {
	t.Parallel()
	c := newCrew()
	e := compute.Endpoint{WorkersMax: 4, IdleTimeout: 10 * time.Second, Scaler: compute.ByDelay, ScalerValue: 4}
	least, byCount := e, e
	least.WorkersMin = 1
	byCount.Scaler, byCount.ScalerValue = compute.ByCount, 0
	rested, fresh := c.one("i", compute.WorkerIdle, 10*time.Second), c.one("f", compute.WorkerIdle, 9*time.Second)
	unplaced, start := c.one("u", compute.WorkerThrottled, 0), c.one("s", compute.WorkerInitializing, 0)
	unasked := fresh
	unasked.Unasked = true
	busyUnasked := c.one("b", compute.WorkerRunning, 0)
	busyUnasked.Unasked = true
	draining := rested
	draining.ID, draining.Draining = "d", true

	for name, d := range map[string]struct {
		demand queue.Demand
		want   decision
	}{
		"one that is up and has not asked yet takes an overdue job": {queue.Demand{Endpoint: e, Waiting: 1, Overdue: 1, Workers: []queue.WorkerView{unasked}}, decision{}},
		"one that has asked does not":                               {queue.Demand{Endpoint: e, Waiting: 1, Overdue: 1, Workers: []queue.WorkerView{fresh}}, decision{start: 1}},
		"one that works does not":                                   {queue.Demand{Endpoint: e, Waiting: 1, Overdue: 1, Workers: []queue.WorkerView{busyUnasked}}, decision{start: 1}},
		"those that are started are no fewer for jobs to come":      {queue.Demand{Endpoint: e, Waiting: 1, Workers: []queue.WorkerView{start, unplaced}}, decision{}},
		"a scaler of less than one job counts for one":              {queue.Demand{Endpoint: byCount, Waiting: 2, Held: 1}, decision{start: 3}},
		"one of an earlier release that finds no room is replaced":  {queue.Demand{Endpoint: least, Workers: []queue.WorkerView{stale(unplaced)}}, decision{stop: []compute.WorkerID{"u"}}},
		"but while jobs wait another one comes first":               {queue.Demand{Endpoint: least, Waiting: 1, Workers: []queue.WorkerView{stale(rested)}}, decision{start: 1, standIn: true}},
		"one that stays is none too many beside it":                 {queue.Demand{Endpoint: least, Workers: []queue.WorkerView{stale(c.one("o", compute.WorkerIdle, time.Hour)), rested}}, decision{stop: []compute.WorkerID{"o"}}},
		"one that is being stopped is not stopped again":            {queue.Demand{Endpoint: e, Workers: []queue.WorkerView{draining, rested}}, decision{stop: []compute.WorkerID{"i"}}},
		"nor does it make others wait for it":                       {queue.Demand{Endpoint: least, Workers: []queue.WorkerView{draining, start}}, decision{}},
	} {
		require.Equal(t, d.want, decide(d.demand, &relief{}, "", c.now), name)
	}
}

func TestDecide_WhatWorkersAreWorthWhereLoadIsBalanced(t *testing.T) {
	t.Parallel()
	c := newCrew()
	most := func(most, least int) compute.Endpoint {
		return compute.Endpoint{
			Type: compute.LoadBalancer, WorkersMax: most, WorkersMin: least, IdleTimeout: 10 * time.Second, Scaler: compute.ByCount, ScalerValue: 2,
		}
	}
	running, low := c.one("r", compute.WorkerRunning, time.Hour), c.one("l", compute.WorkerRunning, time.Hour)
	running.Requests, low.Requests = 2, 1
	idle, fresh := c.one("i", compute.WorkerIdle, 10*time.Second), c.one("f", compute.WorkerIdle, 9*time.Second)
	start, other := c.one("s", compute.WorkerInitializing, 0), c.one("t", compute.WorkerInitializing, 0)
	unplaced := c.one("u", compute.WorkerThrottled, 0)
	draining, leaving := idle, running
	draining.ID, draining.Draining = "d", true
	leaving.ID, leaving.Leaving = "v", true
	oldest, older := stale(c.one("x", compute.WorkerIdle, time.Hour)), stale(c.one("y", compute.WorkerIdle, time.Hour))

	for name, d := range map[string]struct {
		e       compute.Endpoint
		held    int
		workers []queue.WorkerView
		want    decision
	}{
		"one that has no room goes once it is not needed":        {most(3, 0), 0, []queue.WorkerView{unplaced}, decision{stop: []compute.WorkerID{"u"}}},
		"one that is started comes up":                           {most(3, 0), 0, []queue.WorkerView{start}, decision{}},
		"one that is started stays while none that is up rested": {most(3, 1), 0, []queue.WorkerView{fresh, c.one("g", compute.WorkerIdle, time.Second), start}, decision{}},
		"none goes for room that another one gets":               {most(2, 0), 4, []queue.WorkerView{stale(running), start}, decision{}},
		"none comes while there are too many":                    {most(1, 0), 3, []queue.WorkerView{stale(running), stale(low)}, decision{stop: []compute.WorkerID{"l"}}},
		"one goes for each that stands in":                       {most(4, 0), 4, []queue.WorkerView{oldest, older, idle, fresh}, decision{stop: []compute.WorkerID{"x", "y"}}},
		"no more go than stand in":                               {most(3, 0), 4, []queue.WorkerView{stale(running), stale(low), fresh}, decision{stop: []compute.WorkerID{"l"}}},
		"as many that are started go as are too many":            {most(5, 2), 0, []queue.WorkerView{oldest, older, idle, start, other}, decision{stop: []compute.WorkerID{"s", "x"}}},
		"one that is being stopped counts for nothing":           {most(3, 1), 0, []queue.WorkerView{draining, idle}, decision{}},
		"one that is to go makes no other one go":                {most(3, 1), 0, []queue.WorkerView{leaving, idle}, decision{stop: []compute.WorkerID{"v"}}},
	} {
		require.Equal(t, d.want, decide(queue.Demand{Endpoint: d.e, Held: d.held, Workers: d.workers}, &relief{}, "", c.now), name)
	}
}

func TestUnneeded_LeavesWhoStandsIn(t *testing.T) {
	t.Parallel()
	c := newCrew()
	draining := c.one("d", compute.WorkerIdle, time.Hour)
	draining.Draining = true
	busy := stale(c.one("z", compute.WorkerRunning, 0))
	busy.Requests = 1
	d := queue.Demand{Workers: []queue.WorkerView{
		stale(c.one("x", compute.WorkerIdle, time.Hour)), stale(c.one("y", compute.WorkerIdle, time.Hour)), busy, draining,
		c.one("s", compute.WorkerInitializing, 0), c.one("t", compute.WorkerInitializing, 0), stale(c.one("o", compute.WorkerInitializing, 0)),
	}}
	require.Equal(t, []compute.WorkerID{"s", "x", "y"}, unneeded(d, nil, 1), "one of the latest release is to come, in the place of z")
	require.Equal(t, []compute.WorkerID{"x"}, unneeded(d, nil, 2))
	require.Equal(t, []compute.WorkerID{"s", "t", "x", "y", "z"}, unneeded(d, nil, 0))
}
