package loop

import (
	"math"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

func TestDecide_WhoStartsAndWhoStops(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	byDelay := compute.Endpoint{WorkersMax: 4, IdleTimeout: 10 * time.Second, Scaler: compute.ByDelay, ScalerValue: 4}
	byCount := byDelay
	byCount.Scaler = compute.ByCount
	withMin := byDelay
	withMin.WorkersMin = 1
	worker := func(id compute.WorkerID, s compute.WorkerStatus, idle time.Duration) queue.WorkerView {
		return queue.WorkerView{ID: id, Status: s, IdleSince: now.Add(-idle)}
	}
	running, starting := worker("r", compute.WorkerRunning, time.Hour), worker("s", compute.WorkerInitializing, 0)
	unplaced := worker("u", compute.WorkerThrottled, 0)
	idle, fresh := worker("i", compute.WorkerIdle, 10*time.Second), worker("f", compute.WorkerIdle, 9*time.Second)
	stale, staleAndBusy, staleAndFresh := idle, running, fresh
	stale.Stale, staleAndBusy.Stale, staleAndFresh.Stale = true, true, true
	staleAndStarting := worker("t", compute.WorkerInitializing, 0)
	staleAndStarting.Stale = true

	full := byDelay
	full.WorkersMax = 1
	leaving, draining := running, idle
	leaving.Leaving, draining.Draining = true, true

	for name, c := range map[string]struct {
		d    queue.Demand
		want decision
	}{
		"nothing waits":                               {queue.Demand{Endpoint: byDelay}, decision{}},
		"the first job starts the first worker":       {queue.Demand{Endpoint: byDelay, Waiting: 9}, decision{start: 1}},
		"jobs that wait not long enough start none":   {queue.Demand{Endpoint: byDelay, Waiting: 9, Workers: []queue.WorkerView{running}}, decision{}},
		"overdue jobs start one each":                 {queue.Demand{Endpoint: byDelay, Waiting: 9, Overdue: 2, Workers: []queue.WorkerView{running}}, decision{start: 2}},
		"a starting worker counts for an overdue job": {queue.Demand{Endpoint: byDelay, Waiting: 9, Overdue: 2, Workers: []queue.WorkerView{running, starting}}, decision{start: 1}},
		"one that has no room yet counts, too":        {queue.Demand{Endpoint: byDelay, Waiting: 9, Overdue: 2, Workers: []queue.WorkerView{running, unplaced}}, decision{start: 1}},
		"one that has no room goes when no job waits": {queue.Demand{Endpoint: byDelay, Workers: []queue.WorkerView{unplaced}}, decision{stop: []compute.WorkerID{"u"}}},
		"never more than the maximum":                 {queue.Demand{Endpoint: byDelay, Waiting: 9, Overdue: 9, Workers: []queue.WorkerView{running}}, decision{start: 3}},
		"the minimum is kept up":                      {queue.Demand{Endpoint: withMin}, decision{start: 1}},
		"the minimum stays however idle":              {queue.Demand{Endpoint: withMin, Workers: []queue.WorkerView{idle}}, decision{}},
		"an idle worker goes":                         {queue.Demand{Endpoint: byDelay, Workers: []queue.WorkerView{idle, fresh, running}}, decision{stop: []compute.WorkerID{"i"}}},
		"no idle worker goes while jobs wait":         {queue.Demand{Endpoint: byDelay, Waiting: 1, Workers: []queue.WorkerView{idle}}, decision{}},
		"one worker for each so many jobs":            {queue.Demand{Endpoint: byCount, Waiting: 5, Held: 4, Workers: []queue.WorkerView{running}}, decision{start: 2}},
		"no more by count than they need":             {queue.Demand{Endpoint: byCount, Waiting: 1, Held: 3, Workers: []queue.WorkerView{running, idle}}, decision{stop: []compute.WorkerID{"i"}}},
		"one that is to be replaced goes":             {queue.Demand{Endpoint: byDelay, Waiting: 1, Workers: []queue.WorkerView{leaving}}, decision{start: 1, stop: []compute.WorkerID{"r"}}},
		"a stale worker goes once it idled":           {queue.Demand{Endpoint: withMin, Workers: []queue.WorkerView{stale}}, decision{stop: []compute.WorkerID{"i"}}},
		"a stale worker is not interrupted":           {queue.Demand{Endpoint: withMin, Workers: []queue.WorkerView{staleAndBusy}}, decision{start: 1, standIn: true}},
		"a stale worker idles as long as any":         {queue.Demand{Endpoint: withMin, Workers: []queue.WorkerView{staleAndFresh}}, decision{}},
		"those over the maximum go at once":           {queue.Demand{Endpoint: full, Workers: []queue.WorkerView{running, fresh, starting}}, decision{stop: []compute.WorkerID{"s", "f"}}},
		"over the maximum one that is started goes for one that is ready": {
			queue.Demand{Endpoint: full, Workers: []queue.WorkerView{fresh, starting}}, decision{stop: []compute.WorkerID{"s"}},
		},
		"one that is started goes for one that idled for long enough": {
			queue.Demand{Endpoint: withMin, Workers: []queue.WorkerView{idle, starting}}, decision{stop: []compute.WorkerID{"s"}},
		},
		"both go if nobody needs either":                {queue.Demand{Endpoint: byDelay, Workers: []queue.WorkerView{idle, starting}}, decision{stop: []compute.WorkerID{"s", "i"}}},
		"one that is started stays while none could go": {queue.Demand{Endpoint: withMin, Workers: []queue.WorkerView{fresh, starting}}, decision{}},
		"by count one that is started goes first": {
			queue.Demand{Endpoint: byCount, Waiting: 1, Held: 3, Workers: []queue.WorkerView{idle, starting}}, decision{stop: []compute.WorkerID{"s"}},
		},
		"one of an earlier release that is started goes first": {
			queue.Demand{Endpoint: withMin, Workers: []queue.WorkerView{idle, starting, staleAndStarting}}, decision{stop: []compute.WorkerID{"t", "s"}},
		},
		"one that is started stands in for one to be replaced": {queue.Demand{Endpoint: withMin, Workers: []queue.WorkerView{stale, starting}}, decision{stop: []compute.WorkerID{"i"}}},
		"of those that idle the one goes that idled longest":   {queue.Demand{Endpoint: full, Workers: []queue.WorkerView{fresh, idle}}, decision{stop: []compute.WorkerID{"i"}}},
		"all workers of a deleted endpoint go":                 {queue.Demand{Endpoint: withMin, Gone: true, Workers: []queue.WorkerView{running, starting}}, decision{stop: []compute.WorkerID{"r", "s"}}},
		"half a second is a queue delay":                       {queue.Demand{Endpoint: compute.Endpoint{WorkersMax: 2, ScalerValue: 0.5}, Waiting: 1, Overdue: 1, Workers: []queue.WorkerView{running}}, decision{start: 1}},
		"one that is being stopped does not count":             {queue.Demand{Endpoint: byDelay, Waiting: 1, Workers: []queue.WorkerView{draining}}, decision{start: 1}},
	} {
		require.Equal(t, c.want, decide(c.d, &relief{}, "", now), name)
	}
}

func TestDecide_WhoGoesWhereLoadIsBalanced(t *testing.T) {
	t.Parallel()
	now := time.UnixMilli(1_700_000_000_000)
	e := compute.Endpoint{Type: compute.LoadBalancer, WorkersMax: 3, IdleTimeout: 10 * time.Second, Scaler: compute.ByCount, ScalerValue: 2}
	worker := func(id compute.WorkerID, s compute.WorkerStatus, requests int, idle time.Duration) queue.WorkerView {
		return queue.WorkerView{ID: id, Status: s, Requests: requests, IdleSince: now.Add(-idle)}
	}
	stale := func(w queue.WorkerView) queue.WorkerView {
		w.Stale = true
		return w
	}
	running, starting := worker("r", compute.WorkerRunning, 2, time.Hour), worker("s", compute.WorkerInitializing, 0, 0)
	idle, fresh, ill := worker("i", compute.WorkerIdle, 0, 10*time.Second), worker("f", compute.WorkerIdle, 0, 9*time.Second), worker("u", compute.WorkerUnhealthy, 0, time.Hour)
	leaving := running
	leaving.Leaving = true
	one, least := e, e
	one.WorkersMax, least.WorkersMin = 1, 1
	with := func(e compute.Endpoint, waiting, held int, workers ...queue.WorkerView) queue.Demand {
		return queue.Demand{Endpoint: e, Waiting: waiting, Held: held, Workers: workers}
	}

	for name, c := range map[string]struct {
		d    queue.Demand
		want decision
	}{
		"one for every so many requests":              {with(e, 3, 0), decision{start: 2}},
		"never more than the maximum":                 {with(e, 100, 2, running), decision{start: 2}},
		"an idle one goes after a while":              {with(e, 0, 2, running, idle, fresh), decision{stop: []compute.WorkerID{"i"}}},
		"an unhealthy one counts":                     {with(e, 2, 0, ill), decision{}},
		"an unhealthy one goes once it is not needed": {with(e, 0, 0, ill), decision{stop: []compute.WorkerID{"u"}}},
		"one that is to go is asked for again":        {with(e, 0, 2, leaving), decision{start: 1, stop: []compute.WorkerID{"r"}}},
		"a new one comes before an old one goes":      {with(e, 0, 2, stale(running)), decision{start: 1}},
		"an old one stays until a new one is up":      {with(e, 0, 2, stale(running), starting), decision{}},
		"an old one goes once a new one is up":        {with(e, 0, 2, stale(running), fresh), decision{stop: []compute.WorkerID{"r"}}},
		"the old one goes that has fewer requests":    {with(e, 0, 3, stale(running), stale(worker("l", compute.WorkerRunning, 1, 0)), fresh), decision{stop: []compute.WorkerID{"l"}}},
		"the only one that may be goes first":         {with(one, 0, 2, stale(running)), decision{stop: []compute.WorkerID{"r"}}},
		"those over the maximum go at once":           {with(one, 0, 3, running, worker("l", compute.WorkerRunning, 1, 0)), decision{stop: []compute.WorkerID{"l"}}},
		"an idle old one stays until a new one is up": {with(least, 0, 0, stale(idle), starting), decision{}},
		"none that is up goes for one that is not":    {with(least, 0, 0, idle, starting), decision{}},
		"none that is healthy goes for one that is not": {
			with(least, 0, 0, idle, ill), decision{stop: []compute.WorkerID{"u"}},
		},
		"of two that nobody needs one goes":             {with(least, 0, 0, idle, worker("j", compute.WorkerIdle, 0, time.Hour)), decision{stop: []compute.WorkerID{"i"}}},
		"of those over the maximum the one not up goes": {with(one, 0, 0, fresh, starting), decision{stop: []compute.WorkerID{"s"}}},
		"one that is not up goes before one that is":    {with(least, 0, 0, idle, worker("j", compute.WorkerIdle, 0, time.Hour), starting), decision{stop: []compute.WorkerID{"s", "i"}}},
		"one that is not up stays for those to be replaced": {
			with(least, 0, 0, stale(idle), stale(worker("j", compute.WorkerIdle, 0, time.Hour)), starting), decision{stop: []compute.WorkerID{"i"}},
		},
	} {
		require.Equal(t, c.want, decide(c.d, &relief{}, "", now), name)
	}
}

func TestNeeds_AreTheMostOfTheLastSpan(t *testing.T) {
	t.Parallel()
	var n needs
	at := time.UnixMilli(1_700_000_000_000)
	for _, step := range []struct {
		after      time.Duration
		need, most int
	}{
		{0, 1, math.MaxInt}, {9 * time.Second, 0, math.MaxInt}, // of the time before nobody knows
		{time.Second, 1, math.MaxInt}, {10 * time.Second, 2, 2}, {9 * time.Second, 0, 2}, {time.Second, 0, 2}, {9 * time.Second, 1, 2}, {time.Second, 1, 1}, {10 * time.Second, 0, 1}, {10 * time.Second, 0, 0},
	} {
		at = at.Add(step.after)
		require.Equal(t, step.most, n.most(step.need, at, 10*time.Second), "%v", step)
	}
}

func TestUnneeded_AreThoseWithTheFewestRequests(t *testing.T) {
	t.Parallel()
	worker := func(id compute.WorkerID, requests int) queue.WorkerView {
		return queue.WorkerView{ID: id, Status: compute.WorkerRunning, Requests: requests}
	}
	leaving, starting := worker("v", 0), queue.WorkerView{ID: "s", Status: compute.WorkerInitializing}
	leaving.Leaving = true
	d := queue.Demand{Workers: []queue.WorkerView{worker("a", 3), worker("b", 1), leaving, worker("c", 2)}}
	require.Empty(t, unneeded(d, nil, 3))
	require.Empty(t, unneeded(d, nil, math.MaxInt))
	require.Equal(t, []compute.WorkerID{"b"}, unneeded(d, nil, 2))
	require.Equal(t, []compute.WorkerID{"c"}, unneeded(d, []compute.WorkerID{"b"}, 1))
	d.Endpoint.WorkersMin = 2
	require.Equal(t, []compute.WorkerID{"b"}, unneeded(d, nil, 0))
	d.Workers = append(d.Workers, starting)
	require.Equal(t, []compute.WorkerID{"s", "b"}, unneeded(d, nil, 0), "one that is being started stands in for none yet, and goes first")
	require.Empty(t, unneeded(d, nil, 3), "it goes only where one that is up does")
	for i := range d.Workers[:4] {
		d.Workers[i].Stale = true
	}
	require.Equal(t, []compute.WorkerID{"b"}, unneeded(d, nil, 0), "it is to stand in for one of an earlier release")
}
