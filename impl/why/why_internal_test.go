package why

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

var noon = time.Date(2026, 11, 23, 12, 0, 0, 0, time.UTC)

// standing are workers of an endpoint that may have so many.
func standing(most int, workers ...queue.StandingWorker) crew {
	return crew{
		endpoint: compute.Endpoint{ID: "e", Name: "name", WorkersMax: most, Scaler: compute.ByDelay, ScalerValue: 4}, now: noon,
		standing: queue.Standing{Waiting: 1, Workers: workers}, rows: map[compute.WorkerID]compute.Worker{}, behind: map[compute.WorkerID]string{},
	}
}

// paused has the endpoint get no worker for the cause.
func (c crew) paused(cause compute.PauseCause, missing int) crew {
	c.pause = compute.WorkerPause{Cause: cause, Reason: "so it is\nand more", Until: noon.Add(time.Minute), Missing: missing}
	return c
}

func worker(status compute.WorkerStatus) queue.StandingWorker {
	return queue.StandingWorker{ID: "w", Status: status, Reason: "its reason", Managed: true, LastSeen: noon.Add(-time.Second)}
}

// TestWorkers_OneReasonIsGiven for what the workers of an endpoint with a waiting job are.
func TestWorkers_OneReasonIsGiven(t *testing.T) {
	t.Parallel()
	idle, running, starting := worker(compute.WorkerIdle), worker(compute.WorkerRunning), worker(compute.WorkerInitializing)
	asking, unseen, leaving := idle, idle, idle
	asking.Asks, unseen.Unseen, leaving.Leaving = true, true, true
	running.Jobs = 2
	byCount := standing(3)
	byCount.endpoint.Scaler, byCount.endpoint.ScalerValue = compute.ByCount, 5
	declared := standing(0)
	declared.endpoint.Declared = true
	up := standing(3, starting)
	up.rows["w"] = compute.Worker{ID: "w", CreatedAt: noon.Add(-time.Hour), StartedAt: noon.Add(-time.Minute)}
	late := standing(3).paused(compute.PauseFailing, 0)
	late.now = noon.Add(time.Hour)

	for name, c := range map[string]struct {
		crew   crew
		reason Reason
		says   string
		helps  string
	}{
		"none may be there":               {standing(0), NoWorkers, "may have 0 workers", "berth endpoints update e --workers-max 1"},
		"the server starts none":          {declared, NoWorkers, "may have 0 workers", "--endpoint name=COMMAND"},
		"somebody else's takes":           {standing(0, asking), Scaling, "asks for a job", ""},
		"one is up and silent":            {standing(3, running, idle), NotAsking, "was last heard of at 2026-11-23T11:59:59Z", "stuck"},
		"one has never asked":             {standing(3, unseen), NotAsking, "no handler in it is connected", "handler"},
		"one is to end":                   {standing(3, leaving), Scaling, "about to be started", ""},
		"all run, and more may come":      {standing(3, running), Busy, "no worker is free (1 of at most 3, with 2 jobs)", "waited for 4s"},
		"all run that may":                {standing(1, running), Busy, "1 of at most 1", "--workers-max 2"},
		"all run, and no other has room":  {standing(3, running).paused(compute.PauseFull, 1), Busy, "another worker cannot be started: so it is", ""},
		"no room":                         {standing(3).paused(compute.PauseFull, 1), NoRoom, "so it is", "berth hosts add"},
		"no room, ever":                   {standing(3).paused(compute.PauseNever, 1), NeverRoom, "so it is", "large enough"},
		"they cannot be started":          {standing(3).paused(compute.PauseFailing, 1), CrashLoop, "so it is; the next one is started at 2026-11-23T12:01:00Z", "update the endpoint"},
		"the next one has yet to do well": {late, CrashLoop, "the next one is being started", "update the endpoint"},
		"the settings lack them":          {standing(3).paused(compute.PauseUndeclared, 1), Undeclared, "so it is", "--endpoint name=COMMAND"},
		"one begins":                      {standing(3, starting), Starting, "its container is not up yet; its reason", "image"},
		"one is up and loads":             {up, Starting, "is up since 2026-11-23T11:59:00Z", "load a model"},
		"a scheduler finds no host":       {standing(3, worker(compute.WorkerThrottled)), NoRoom, "its reason", "capacity"},
		"one is unhealthy":                {standing(3, worker(compute.WorkerUnhealthy)), Unhealthy, "its reason", "log"},
		"too few jobs for one":            {byCount, Scaling, "for every 5 jobs", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := c.crew.waiting()
			require.Equal(t, c.reason, a.Reason, a.Because)
			require.True(t, a.Waits)
			require.Contains(t, a.Because, c.says)
			require.NotContains(t, a.Because, "\n")
			require.Contains(t, a.Helps, c.helps)
			require.Contains(t, c.crew.whole().Because, "1 job waits; "+a.Because)
		})
	}
}

func TestWorkers_LastOneThatEndedIsShown(t *testing.T) {
	t.Parallel()
	code := int64(9)
	c := standing(3).paused(compute.PauseFailing, 1)
	c.last = &compute.EndedWorker{ID: "w", ExitCode: &code, EndedAt: noon.Add(-time.Minute), Reason: "the worker ended with exit code 9\nline 1\nline 2"}
	a := c.waiting()
	require.Contains(t, a.Because, "of w, the last one, it is said: the worker ended with exit code 9;")
	require.Equal(t, Details{Lines: []string{"line 1", "line 2"}, ExitCode: &code, Worker: "w", NextAt: noon.Add(time.Minute)}, a.Details)
	require.Contains(t, a.Helps, "berth endpoints logs e w")

	c.last.Reason, c.last.Log = "it ended", nil
	for range 30 {
		c.last.Log = append(c.last.Log, compute.LogLine{Text: string(make([]byte, 2000))})
	}
	require.Len(t, c.waiting().Details.Lines, lines)
	require.Len(t, c.waiting().Details.Lines[0], lineBytes)
}

func TestJobs_WaitForMoreThanWorkers(t *testing.T) {
	t.Parallel()
	asking := worker(compute.WorkerIdle)
	asking.Asks = true
	lost := jobFacts{crew: standing(3, asking), job: compute.Job{Status: compute.JobInQueue, Retries: 2, QueuedAt: noon}, line: queue.Line{Waits: true, Ahead: 1, Lost: true}}
	a := lost.answer()
	require.Equal(t, Lost, a.Reason)
	require.Contains(t, a.Because, "1 job is handed out before it: worker w asks for jobs")
	require.Contains(t, a.Because, "lost 2 times")
	require.Equal(t, 1, *a.Details.Ahead)

	low := jobFacts{crew: standing(3), job: compute.Job{Status: compute.JobInQueue, LowPriority: true}}
	require.Equal(t, LowPriority, low.answer().Reason)
	low.crew = standing(3).paused(compute.PauseFull, 1)
	require.Equal(t, NoRoom, low.answer().Reason)
}

func TestPods_OneReasonIsGiven(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		facts  podFacts
		reason Reason
		waits  bool
		says   string
	}{
		"provisioning":        {podFacts{pod: compute.Pod{Status: compute.PodProvisioning, HostID: "h"}}, Starting, true, "host h"},
		"waits for a host":    {podFacts{pod: compute.Pod{Status: compute.PodStarting, Reason: "0/2 nodes"}}, Starting, true, "0/2 nodes"},
		"its runtime is away": {podFacts{pod: compute.Pod{Status: compute.PodStarting}, behind: "no answer"}, Behind, true, "no answer"},
		"its host is silent":  {podFacts{pod: compute.Pod{Status: compute.PodRunning, HostID: "h"}, behind: "x", away: "no answer"}, HostSilent, true, "host h is not in use: no answer"},
		"running":             {podFacts{pod: compute.Pod{Status: compute.PodRunning, StartedAt: noon}}, Running, false, "2026-11-23T12:00:00Z"},
		"a timer":             {podFacts{pod: compute.Pod{Status: compute.PodExited, EndedBy: compute.EndedByTimer, Reason: "it was to stop"}}, TimedStop, true, "it was to stop"},
		"its host is lost":    {podFacts{pod: compute.Pod{Status: compute.PodError, EndedBy: compute.EndedByHost, Reason: "its host left"}, away: "x"}, HostLost, true, "its host left"},
		"nobody noted it":     {podFacts{pod: compute.Pod{Status: compute.PodExited}}, Exited, true, "ended by itself"},
		"never up":            {podFacts{pod: compute.Pod{Status: compute.PodError, EndedBy: compute.EndedByFailure}}, NotStarted, true, "nobody knows why"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := c.facts.answer()
			require.Equal(t, c.reason, a.Reason, a.Because)
			require.Equal(t, c.waits, a.Waits)
			require.Contains(t, a.Because, c.says)
			require.Equal(t, c.waits, a.Helps != "")
		})
	}
}

// TestWorkers_OfALoadBalancerHaveRequests holds that what is said of them speaks of requests and of their health.
func TestWorkers_OfALoadBalancerHaveRequests(t *testing.T) {
	t.Parallel()
	balancer := func(workers ...queue.StandingWorker) *crew {
		c := standing(3, workers...)
		c.endpoint.Type, c.endpoint.Scaler, c.endpoint.ScalerValue = compute.LoadBalancer, compute.ByCount, 2
		return &c
	}
	up := balancer(worker(compute.WorkerInitializing))
	up.rows["w"] = compute.Worker{ID: "w", CreatedAt: noon.Add(-time.Hour), StartedAt: noon.Add(-time.Minute)}
	none := balancer()
	none.endpoint.WorkersMax = 0
	running := worker(compute.WorkerRunning)
	running.Jobs = 2

	for name, c := range map[string]struct {
		crew   *crew
		reason Reason
		says   string
	}{
		"none may be there":   {none, NoWorkers, "1 request waits; the endpoint may have 0 workers"},
		"none is there":       {balancer(), Scaling, "one is started for every 2 requests"},
		"one is up and loads": {up, Starting, "its health check has not passed yet; its reason"},
		"one is unhealthy":    {balancer(worker(compute.WorkerUnhealthy)), Unhealthy, "gets no requests, since it is unhealthy: its reason"},
		"one is free":         {balancer(worker(compute.WorkerIdle)), Scaling, "about to get a request"},
		"all have many":       {balancer(running), Busy, "with 2 requests"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			a := c.crew.whole()
			require.Equal(t, c.reason, a.Reason, a.Because)
			require.Contains(t, a.Because, c.says)
			require.NotContains(t, a.Because+a.Helps, "job")
		})
	}

	rests := balancer(worker(compute.WorkerIdle))
	rests.standing.Waiting = 0
	require.Contains(t, rests.whole().Because, "0 of them with requests; no request waits")
}
