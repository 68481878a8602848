package loop

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

func TestDecide_WhoIsReplacedUnderLoad(t *testing.T) {
	t.Parallel()
	c := newCrew()
	most := func(most, least int) compute.Endpoint {
		return compute.Endpoint{WorkersMax: most, WorkersMin: least, IdleTimeout: 10 * time.Second, Scaler: compute.ByDelay, ScalerValue: 4}
	}
	one := func(id compute.WorkerID, s compute.WorkerStatus) queue.WorkerView { return c.one(id, s, 0) }
	old := func(id compute.WorkerID) queue.WorkerView { return stale(one(id, compute.WorkerRunning)) }
	waits := stale(one("w", compute.WorkerInitializing))
	waits.Reason = "the image cannot be pulled"
	leaving := old("v")
	leaving.Leaving = true
	idle, coming := stale(one("i", compute.WorkerIdle)), one("s", compute.WorkerInitializing)
	is := func(s compute.WorkerStatus) queue.WorkerView { return one("s", s) }
	const full, failing, never = compute.PauseFull, compute.PauseFailing, compute.PauseNever
	type of []queue.WorkerView
	type ids []compute.WorkerID
	starts := func(leave ...compute.WorkerID) decision { return decision{start: 1, standIn: true, leave: leave} }

	for name, d := range map[string]struct {
		e       compute.Endpoint
		waiting int
		cause   compute.PauseCause
		before  relief
		workers of
		want    decision
		after   relief
	}{
		"one of the latest comes up first":                {most(3, 0), 0, "", relief{}, of{old("a"), old("b")}, starts(), relief{}},
		"an idle one waits for its timeout":               {most(3, 0), 0, "", relief{}, of{idle}, decision{}, relief{}},
		"but not while jobs wait":                         {most(3, 0), 1, "", relief{}, of{idle}, starts(), relief{}},
		"all stay while one comes up":                     {most(3, 0), 0, "", relief{standIn: "s"}, of{old("a"), old("b"), coming}, decision{}, relief{standIn: "s"}},
		"then one leaves":                                 {most(3, 0), 0, "", relief{standIn: "s"}, of{old("a"), old("b"), is(compute.WorkerRunning)}, decision{leave: ids{"a"}}, relief{}},
		"and the next one comes":                          {most(4, 0), 0, "", relief{}, of{leaving, old("b"), is(compute.WorkerRunning)}, decision{start: 1, standIn: true, stop: ids{"v"}}, relief{}},
		"one that idles leaves before one that works":     {most(4, 0), 0, "", relief{standIn: "s"}, of{old("a"), idle, is(compute.WorkerIdle)}, decision{leave: ids{"i"}}, relief{}},
		"one that idles is up already":                    {most(4, 0), 0, "", relief{}, of{old("a"), old("b"), is(compute.WorkerIdle)}, decision{leave: ids{"a"}}, relief{}},
		"for one after the other":                         {most(4, 0), 0, "", relief{}, of{leaving, old("b"), is(compute.WorkerIdle)}, decision{stop: ids{"v"}}, relief{}},
		"and not where jobs wait":                         {most(4, 0), 1, "", relief{}, of{old("a"), is(compute.WorkerIdle)}, starts(), relief{}},
		"one that is not healthy stands in for none":      {most(3, 0), 0, "", relief{standIn: "s"}, of{old("a"), is(compute.WorkerUnhealthy)}, decision{}, relief{standIn: "s"}},
		"one that has ended is started anew":              {most(3, 0), 0, "", relief{standIn: "s"}, of{old("a")}, starts(), relief{}},
		"without room one leaves first":                   {most(2, 0), 0, "", relief{}, of{old("a"), old("b")}, decision{leave: ids{"a"}}, relief{cleared: true}},
		"its place is for one of the latest":              {most(2, 0), 0, "", relief{cleared: true}, of{leaving, old("b")}, decision{stop: ids{"v"}}, relief{cleared: true}},
		"which comes once it has gone":                    {most(2, 0), 0, "", relief{cleared: true}, of{old("b")}, starts(), relief{cleared: true}},
		"and for which no other one leaves":               {most(2, 0), 0, "", relief{standIn: "s", cleared: true}, of{old("b"), is(compute.WorkerIdle)}, decision{}, relief{}},
		"where no host has room one leaves":               {most(3, 0), 0, full, relief{}, of{old("a"), old("b")}, starts("a"), relief{cleared: true}},
		"and no other one while it does":                  {most(3, 0), 0, full, relief{cleared: true}, of{leaving, old("b")}, decision{start: 1, standIn: true, stop: ids{"v"}}, relief{cleared: true}},
		"nor if somebody else took its room":              {most(3, 0), 0, full, relief{cleared: true}, of{old("b")}, starts(), relief{cleared: true}},
		"one that found no room yet gets that of one":     {most(3, 1), 0, "", relief{standIn: "s"}, of{old("a"), is(compute.WorkerThrottled)}, decision{leave: ids{"a"}}, relief{standIn: "s", cleared: true}},
		"of one alone":                                    {most(3, 1), 0, "", relief{standIn: "s", cleared: true}, of{old("b"), is(compute.WorkerThrottled)}, decision{}, relief{standIn: "s", cleared: true}},
		"who works stays while the latest cannot start":   {most(2, 0), 0, failing, relief{}, of{old("a")}, starts(), relief{}},
		"none goes for what no host can hold":             {most(2, 0), 0, never, relief{}, of{old("a")}, starts(), relief{}},
		"one that never comes up is no hope for a job":    {most(3, 0), 1, "", relief{}, of{stale(coming)}, starts(), relief{}},
		"nor does it hold its place against the latest":   {most(1, 0), 1, "", relief{}, of{stale(coming)}, decision{leave: ids{"s"}}, relief{cleared: true}},
		"what it says is of matter where one is to be up": {most(3, 1), 0, "", relief{}, of{waits}, starts(), relief{}},
		"else it has its time":                            {most(3, 0), 0, "", relief{}, of{waits}, decision{}, relief{}},
		"and while it says nothing":                       {most(3, 1), 0, "", relief{}, of{stale(coming)}, decision{}, relief{}},
		"a stand-in of what is an earlier release by now leaves, too": {
			most(2, 0), 0, "", relief{standIn: "s", cleared: true}, of{old("b"), stale(coming)}, decision{leave: ids{"s"}}, relief{cleared: true},
		},
		"one that works to its end has its place": {most(1, 0), 1, "", relief{cleared: true}, of{leaving}, decision{stop: ids{"v"}}, relief{}},
		"a stand-in is not stopped for one that rested": {
			most(3, 0), 0, "", relief{standIn: "s"}, of{old("a"), c.one("l", compute.WorkerIdle, time.Hour), coming}, decision{stop: ids{"l"}}, relief{standIn: "s"},
		},
		"it stays where there is no work for a moment": {most(3, 0), 0, "", relief{standIn: "s"}, of{idle, is(compute.WorkerIdle)}, decision{}, relief{standIn: "s"}},
		"and goes as any other one once it is no stand-in": {
			most(3, 0), 0, "", relief{standIn: "s"}, of{stale(c.one("i", compute.WorkerIdle, time.Hour)), c.one("s", compute.WorkerIdle, time.Hour)}, decision{stop: ids{"i"}}, relief{},
		},
	} {
		r := d.before
		got := decide(queue.Demand{Endpoint: d.e, Waiting: d.waiting, Workers: d.workers}, &r, d.cause, c.now)
		require.Equal(t, d.want, got, name)
		require.Equal(t, d.after, r, name)
	}
}

// A worker of an earlier release that rested while a job waits makes no other one come and go.
func TestDecide_StandInsAreNotStoppedAndStartedForEver(t *testing.T) {
	t.Parallel()
	c := newCrew()
	e := compute.Endpoint{WorkersMax: 3, IdleTimeout: 10 * time.Second, Scaler: compute.ByCount, ScalerValue: 1}
	rested, r := stale(c.one("i", compute.WorkerIdle, time.Hour)), relief{}
	decides := func(workers ...queue.WorkerView) decision {
		return decide(queue.Demand{Endpoint: e, Waiting: 1, Workers: workers}, &r, "", c.now)
	}
	require.Equal(t, decision{start: 1, standIn: true}, decides(rested))
	r.standIn = "s"
	require.Equal(t, decision{}, decides(rested, c.one("s", compute.WorkerInitializing, 0)))
	require.Equal(t, decision{stop: []compute.WorkerID{"i"}}, decides(rested, c.one("s", compute.WorkerIdle, 0)))
}

func TestDecide_WhoMakesRoomWhereLoadIsBalanced(t *testing.T) {
	t.Parallel()
	c := newCrew()
	e := compute.Endpoint{Type: compute.LoadBalancer, WorkersMax: 3, WorkersMin: 1, IdleTimeout: 10 * time.Second, Scaler: compute.ByCount, ScalerValue: 2}
	old, unplaced := stale(c.one("a", compute.WorkerIdle, time.Hour)), c.one("u", compute.WorkerThrottled, 0)
	leaving := old
	leaving.ID, leaving.Leaving = "v", true

	var r relief
	decides := func(cause compute.PauseCause, workers ...queue.WorkerView) decision {
		return decide(queue.Demand{Endpoint: e, Workers: workers}, &r, cause, c.now)
	}
	require.Equal(t, decision{start: 1}, decides("", old), "one of the latest comes first")
	require.Equal(t, decision{start: 1}, decides(compute.PauseFailing, old))
	require.Equal(t, decision{start: 1, stop: []compute.WorkerID{"a"}}, decides(compute.PauseFull, old), "but where no host has room")
	require.Equal(t, decision{start: 1, stop: []compute.WorkerID{"v"}}, decides(compute.PauseFull, old, leaving), "one after the other")
	require.Equal(t, decision{start: 1}, decides(compute.PauseFull, old), "and none for room that somebody else took")
	require.Equal(t, decision{}, decides(compute.PauseFull, old, c.one("s", compute.WorkerInitializing, 0)), "nor before who got it serves")

	r, e.WorkersMin = relief{}, 2
	other, served, another := stale(c.one("b", compute.WorkerIdle, time.Hour)), c.one("s", compute.WorkerIdle, 0), c.one("t", compute.WorkerThrottled, 0)
	e.WorkersMax = 4
	require.Equal(t, decision{stop: []compute.WorkerID{"a"}}, decides("", old, other, unplaced, another), "one that found no room yet gets that of one")
	require.Equal(t, decision{stop: []compute.WorkerID{"v"}}, decides("", other, leaving, unplaced, another))
	require.Equal(t, decision{}, decides("", other, unplaced, another), "of one alone")
	require.Equal(t, decision{stop: []compute.WorkerID{"b"}}, decides("", other, served, another), "and so does the next one, once that serves")
	e.Version++
	r.cleared = true
	require.Equal(t, decision{stop: []compute.WorkerID{"a"}}, decides("", old, other, unplaced, another), "each release begins anew")
}
