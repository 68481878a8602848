//go:build unix

package app_test

import (
	"errors"
	"log/slog"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/store/pgtest"
)

// newCluster starts a PostgreSQL for the test; without one it is skipped.
func newCluster(t *testing.T, settings ...string) *pgtest.Cluster {
	t.Helper()
	cluster, err := pgtest.Start(t.Context(), settings...)
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip("SKIPPED:", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Stop()) })
	return cluster
}

// outage is servers whose database can go away.
type outage struct {
	*testing.T
	servers []*app.Server
	key     string
	queue   string // path of the endpoint
	log     lines
}

// newOutage starts so many replicas.
func newOutage(t *testing.T, replicas int, store string) *outage {
	t.Helper()
	o := &outage{T: t}
	var key string // of the first one, which all have
	for n := range replicas {
		c := app.Config{Data: t.TempDir(), Store: store, SecretKey: key, Endpoints: []app.Endpoint{{Name: "one"}}, Log: slog.New(slog.NewTextHandler(&o.log, nil))}
		s := start(t, c)
		t.Cleanup(func() { _ = s.Close() }) // its database may have gone
		o.servers = append(o.servers, s)
		if n == 0 {
			key = filepath.Join(c.Data, "secret.key")
			o.key, o.queue = s.FirstKey(), "/v2/"+string(s.Endpoints()["one"])
		}
	}
	return o
}

// ask sends a request to any of the servers.
func (o *outage) ask(method, path, body string) answer {
	return askAs(o.T, o.servers[rand.IntN(len(o.servers))], o.key, method, path, body)
}

func (o *outage) run() string {
	o.Helper()
	a := o.ask("POST", o.queue+"/run", `{"input":{}}`)
	require.Equal(o, 200, a.status, a.json)
	return a.json["id"].(string)
}

func (o *outage) take() answer { return o.ask("GET", o.queue+"/job-take/w?job_in_progress=1", "") }

func (o *outage) done(id string) answer {
	return o.ask("POST", o.queue+"/job-done/w/"+id+"?isStream=false", `{"output":1}`)
}

func (o *outage) status(id string) any {
	return o.ask("GET", o.queue+"/status/"+id, "").json["status"]
}

// logged gives the log of the servers.
func (o *outage) logged() string {
	o.log.mu.Lock()
	defer o.log.mu.Unlock()
	return o.log.text.String()
}

func (o *outage) jobs() any { return o.ask("GET", o.queue+"/health", "").json["jobs"] }

// requireBack waits until the servers work again, and logs how long that took.
func (o *outage) requireBack() {
	o.Helper()
	since := time.Now()
	o.requireReady(200)
	o.Logf("ready again after %s", time.Since(since).Round(time.Millisecond))
}

func (o *outage) requireReady(status int) {
	o.Helper()
	for _, s := range o.servers {
		requireReady(o.T, s, status)
	}
}

// requireAway checks that what needs the database is refused with 503 by every interface.
func (o *outage) requireAway(pod, job string) {
	o.Helper()
	var longest time.Duration
	for _, r := range []struct{ method, path, body string }{
		{"POST", "/v2/pods", newPod},
		{"GET", "/v2/pods", ""},
		{"GET", "/v2/pods/" + pod, ""},
		{"PATCH", "/v2/pods/" + pod, `{"name":"b"}`},
		{"DELETE", "/v2/pods/" + pod, ""},
		{"POST", o.queue + "/run", `{"input":{}}`},
		{"POST", o.queue + "/runsync", `{"input":{}}`},
		{"POST", o.queue + "/cancel/" + job, ""},
		{"GET", o.queue + "/job-take/w?job_in_progress=1", ""},
		{"POST", o.queue + "/job-done/w/" + job + "?isStream=false", `{"output":1}`},
		{"POST", o.queue + "/job-stream/w/" + job, `{"output":1}`},
		{"POST", "/graphql", `{"query":"{myself{id pods{id}}}"}`},
		{"POST", "/graphql", `{"query":"mutation{podTerminate(input:{podId:\"` + pod + `\"})}"}`},
	} {
		for _, s := range o.servers {
			since := time.Now()
			a := askAs(o.T, s, o.key, r.method, r.path, r.body)
			longest = max(longest, time.Since(since))
			requireUnstored(o.T, a, "Storage Away")
		}
	}
	o.Logf("the slowest refusal took %s", longest.Round(time.Millisecond))
}

// TestOutage_IsReportedByEveryInterfaceAndLosesNothing: for a moment, and for longer than the lease of the owner lasts.
func TestOutage_IsReportedByEveryInterfaceAndLosesNothing(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	o := newOutage(t, 2, cluster.URL(""))
	pod := o.ask("POST", "/v2/pods", newPod).json["id"].(string)
	first, second := o.run(), o.run()
	require.Equal(t, first, o.take().json["id"])

	for _, longer := range []bool{false, true} {
		require.NoError(t, cluster.Down(syscall.SIGQUIT))
		o.requireAway(pod, first)
		o.requireReady(503)
		if longer { // nobody is the owner any more, as far as the replicas know
			for _, s := range o.servers { // what needs no database, either
				require.Eventually(t, func() bool { return askAs(t, s, o.key, "GET", "/v2/nothing", "").status == 503 }, time.Minute, 100*time.Millisecond)
			}
			o.requireAway(pod, first)
		}
		require.NoError(t, cluster.Up(t.Context()))
		o.requireBack()
		require.Equal(t, "a", o.ask("GET", "/v2/pods/"+pod, "").json["name"])
		require.Len(t, o.ask("GET", "/v2/pods", "").json["pods"], 1)
		require.Equal(t, "IN_PROGRESS", o.status(first))
		require.Equal(t, "IN_QUEUE", o.status(second))
	}

	require.Less(t, strings.Count(o.logged(), "who owns the store cannot"), 10, "it is not logged for each request")
	require.Equal(t, 200, o.done(first).status)
	require.Equal(t, second, o.take().json["id"])
	require.Equal(t, 200, o.done(second).status)
	require.Equal(t, map[string]any{"completed": 2.0, "failed": 0.0, "inProgress": 0.0, "inQueue": 0.0, "retried": 0.0}, o.jobs())
}

// TestOutage_OwnerBeginsAnewAfterAnUnknownCommit: its client was refused, the job is there, and is run once.
func TestOutage_OwnerBeginsAnewAfterAnUnknownCommit(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	proxy, err := cluster.Proxy()
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, proxy.Close()) })
	url, err := proxy.URL(cluster.URL(""))
	require.NoError(t, err)
	o := newOutage(t, 1, url)
	first := o.run()
	require.Equal(t, first, o.take().json["id"])

	proxy.CutBefore(pgtest.ToClient, "COMMIT", proxy.Refuse)
	requireUnstored(t, o.ask("POST", o.queue+"/run", `{"input":{}}`), "Storage Away")
	requireUnstored(t, o.ask("GET", o.queue+"/status/"+first, ""), "Storage Away") // memory is worth nothing
	proxy.Up()
	o.requireBack()

	require.Equal(t, "IN_PROGRESS", o.status(first))
	require.Equal(t, 200, o.done(first).status)
	second := o.take()
	require.Equal(t, 200, second.status)
	require.Equal(t, 200, o.done(second.json["id"].(string)).status)
	require.Equal(t, map[string]any{"completed": 2.0, "failed": 0.0, "inProgress": 0.0, "inQueue": 0.0, "retried": 0.0}, o.jobs())
	require.Contains(t, o.logged(), "memory is made anew")
}

// ledger is what clients and workers were answered.
type ledger struct {
	*outage
	over chan struct{}

	mu               sync.Mutex
	submitted, taken map[string]int // how often each was acknowledged
	ended            map[string]bool
	refused          int
}

// again sends a request until it is not refused.
func (l *ledger) again(send func() answer) answer {
	for {
		a := send()
		if a.status != 503 {
			return a
		}
		if a.retryAfter == "" {
			l.Error("503 without Retry-After")
		}
		l.note(func() { l.refused++ })
		<-time.After(10 * time.Millisecond)
	}
}

func (l *ledger) note(what func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	what()
}

func (l *ledger) ends() (n int) {
	l.note(func() { n = len(l.ended) })
	return n
}

// live submits, takes and ends jobs until it is over.
func (l *ledger) live() {
	for open := true; open; {
		select {
		case <-l.over:
			open = false
		default:
		}

		a := l.again(func() answer { return l.ask("POST", l.queue+"/run", `{"input":{}}`) })
		id, _ := a.json["id"].(string)
		if a.status != 200 {
			l.Errorf("run: %d %v", a.status, a.json)
			return
		}
		l.note(func() { l.submitted[id]++ })

		if a = l.again(l.take); a.status != 200 {
			continue // another one has it
		}
		id = a.json["id"].(string)
		l.note(func() { l.taken[id]++ })
		if a = l.again(func() answer { return l.done(id) }); a.status != 200 {
			l.Errorf("done: %d %v", a.status, a.json)
			return
		}
		l.note(func() { l.ended[id] = true })
	}
}

// TestOutage_UnderLoadLosesAndRepeatsNothing: also while connections to it are ended at random.
func TestOutage_UnderLoadLosesAndRepeatsNothing(t *testing.T) {
	t.Parallel()
	cluster := newCluster(t)
	l := &ledger{
		outage: newOutage(t, 2, cluster.URL("")), over: make(chan struct{}), submitted: map[string]int{}, taken: map[string]int{}, ended: map[string]bool{},
	}
	var lives sync.WaitGroup
	for range 4 {
		lives.Go(l.live)
	}

	for range 2 {
		endConnections(t, cluster.URL(""), 30)
		require.NoError(t, cluster.Down(syscall.SIGQUIT))
		require.NoError(t, cluster.Up(t.Context()))
		l.requireBack()
		before := l.ends()
		require.Eventually(t, func() bool { return l.ends() >= before+20 }, time.Minute, 10*time.Millisecond)
	}
	close(l.over)
	lives.Wait()

	for id, times := range l.submitted {
		require.Equal(t, 1, times, id)
		status := l.status(id)
		if l.ended[id] {
			require.Equal(t, "COMPLETED", status, id)
		} else {
			require.Contains(t, []any{"IN_QUEUE", "IN_PROGRESS"}, status, id)
		}
	}
	for id, times := range l.taken {
		require.Equal(t, 1, times, id)
	}
	jobs := l.jobs().(map[string]any)
	require.EqualValues(t, len(l.ended), jobs["completed"])
	require.Zero(t, jobs["failed"])
	t.Logf("%d jobs, %d ended, %d requests refused", len(l.submitted), len(l.ended), l.refused)
}

// endConnections ends a connection of berth so many times, any one.
func endConnections(t *testing.T, url string, times int) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), url)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(t.Context())) }()
	for range times {
		_, err := c.Exec(t.Context(), `SELECT pg_terminate_backend(pid), pg_sleep(0.01) FROM pg_stat_activity WHERE application_name = 'berth' ORDER BY random() LIMIT 1`)
		require.NoError(t, err)
	}
}

func TestOutage_StartFailsAndSaysWhereTheDatabaseIs(t *testing.T) {
	t.Parallel()
	_, err := app.Start(t.Context(), app.Config{Data: t.TempDir(), Listen: "127.0.0.1:0", Store: "postgres://berth:hunter2@127.0.0.1:1/jobs"})
	require.ErrorContains(t, err, "127.0.0.1:1/jobs")
	require.NotContains(t, err.Error(), "hunter2")
}
