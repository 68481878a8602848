//go:build unix

package queue_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/app"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/pgtest"
	"github.com/berthdev/berth/store/postgres"
)

// replicaVariable has this test's program be a replica: its settings in JSON.
const replicaVariable = "BERTH_TEST_REPLICA"

// remotes is how many clients there are: so many that some calls are under way at a kill.
const remotes = 32

// replicaSettings are what a replica is started with, and started is what it says then.
type replicaSettings struct{ Data, Store, Listen, SecretKey string }

type started struct{ Key, Endpoint string }

// TestHistories_ProcessOfAReplica is no test: it is what TestHistories_AcrossReplicasHaveAnOrder starts, and kills.
func TestHistories_ProcessOfAReplica(t *testing.T) { //nolint:paralleltest // it is the only one of its process
	var c replicaSettings
	if json.Unmarshal([]byte(os.Getenv(replicaVariable)), &c) != nil {
		t.Skip("SKIPPED: it is started by another test")
	}
	s, err := app.Start(t.Context(), app.Config{Data: c.Data, Store: c.Store, Listen: c.Listen, SecretKey: c.SecretKey, Lease: time.Hour, Endpoints: []app.Endpoint{{Name: "one"}}})
	require.NoError(t, err)
	require.NoError(t, json.NewEncoder(os.Stdout).Encode(started{s.FirstKey(), string(s.Endpoints()["one"])}))
	ctx, stop := signal.NotifyContext(t.Context(), syscall.SIGTERM)
	defer stop()
	<-ctx.Done()
	require.NoError(t, s.Close())
}

// TestHistories_AcrossReplicasHaveAnOrder has clients call three replicas over HTTP, any of them each time, while the one that
// owns the database is killed, and looks for an order of the calls to each job. A call without an answer, or that is to be made
// again, may have done what it was to do. BERTH_KILLS sets how often the owner is killed, each time in another history.
func TestHistories_AcrossReplicasHaveAnOrder(t *testing.T) {
	t.Parallel()
	cluster, err := pgtest.Start(t.Context(), "fsync=off")
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip("SKIPPED:", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Stop()) })
	g := startGroup(t, cluster.URL(""))
	for n := range max(environment(t, "BERTH_KILLS"), 1) {
		seed := cmp.Or(environment(t, "BERTH_SEED"), n+1)
		if h := g.history(seed); h != "" {
			t.Fatalf("BERTH_SEED=%d: %s", seed, h)
		}
	}
}

// replicaGroup are replicas as processes of their own.
type replicaGroup struct {
	*recorder
	settings []replicaSettings
	running  []*exec.Cmd
	owners   *postgres.Owners
	touched  []compute.JobID // that were taken or ended, in that order
	started
}

func startGroup(t *testing.T, store string) *replicaGroup {
	t.Helper()
	g := &replicaGroup{recorder: &recorder{t: t, begun: time.Now(), fails: true}}
	dir := t.TempDir()
	for n := range 3 {
		var l net.Listener
		require.Eventually(t, func() (free bool) { // below the ports that the system gives to who asks for any: the replica has it again after a SIGKILL
			var err error
			l, err = net.Listen("tcp", fmt.Sprint("127.0.0.1:", 20000+rand.IntN(12000)))
			return err == nil
		}, 10*time.Second, time.Millisecond)
		c := replicaSettings{Data: filepath.Join(dir, fmt.Sprint(n)), Store: store, Listen: l.Addr().String()}
		require.NoError(t, l.Close())
		if n > 0 { // all have one key
			c.SecretKey = filepath.Join(dir, "0", "secret.key")
		}

		g.settings, g.running = append(g.settings, c), append(g.running, nil)
		if s := g.start(n); n == 0 {
			g.started = s
		}
	}

	var err error
	g.owners, err = postgres.OpenOwners(t.Context(), store)
	require.NoError(t, err)
	t.Cleanup(func() {
		for _, cmd := range g.running {
			_ = cmd.Process.Kill()
			_ = cmd.Wait()
		}
		require.NoError(t, g.owners.Close())
	})
	return g
}

// start starts a replica, and waits until it serves.
func (g *replicaGroup) start(n int) (s started) {
	settings, err := json.Marshal(g.settings[n])
	require.NoError(g.t, err)
	cmd := exec.Command(os.Args[0], "-test.run=^TestHistories_ProcessOfAReplica$")
	cmd.Env = append(os.Environ(), replicaVariable+"="+string(settings))
	out, err := cmd.StdoutPipe()
	require.NoError(g.t, err)
	require.NoError(g.t, cmd.Start())
	g.running[n] = cmd
	line, err := bufio.NewReader(out).ReadBytes('\n')
	require.NoError(g.t, err, "the replica did not start")
	require.NoError(g.t, json.Unmarshal(line, &s), "%s", line)
	return s
}

// owner gives which replica owns the database.
func (g *replicaGroup) owner() (at int) {
	require.Eventually(g.t, func() bool {
		o, err := g.owners.See(g.t.Context())
		require.NoError(g.t, err)
		at = slices.IndexFunc(g.settings, func(c replicaSettings) bool { return "http://"+c.Listen == o.Address })
		return at >= 0 && o.Left > 0
	}, time.Minute, 10*time.Millisecond, "nobody becomes the owner")
	return at
}

// remote is a client of the replicas, who is a worker, too.
type remote struct {
	*replicaGroup
	n      int
	lost   int // takes
	random *rand.Rand
	http   *http.Client
	held   []compute.JobID
}

// lostTake is a take that was not answered.
type lostTake struct {
	client int
	worker compute.WorkerID
	at     time.Duration
}

// history has clients work until the killed owner is back, and reports what is wrong with what they saw.
func (g *replicaGroup) history(seed uint64) string {
	g.calls, g.ids, g.touched, g.failure = nil, nil, nil, ""
	var lost []lostTake
	ctx, stop := context.WithCancel(g.t.Context())
	var all sync.WaitGroup
	for n := range remotes {
		c := &remote{replicaGroup: g, n: n, random: rand.New(rand.NewPCG(seed, uint64(n))), http: &http.Client{Transport: &http.Transport{}}}
		all.Go(func() {
			for ctx.Err() == nil {
				if l, ok := c.call(seed); ok {
					g.mu.Lock()
					lost = append(lost, l)
					g.mu.Unlock()
				}
				<-time.After(time.Duration(c.random.IntN(4)) * time.Millisecond)
			}
			c.http.CloseIdleConnections()
		})
	}

	<-time.After(time.Duration(1000+rand.New(rand.NewPCG(seed, 99)).IntN(500)) * time.Millisecond)
	killed := g.owner()
	require.NoError(g.t, g.running[killed].Process.Kill())
	_ = g.running[killed].Wait() // by the signal
	g.start(killed)
	g.owner()
	<-time.After(time.Second)
	stop()
	all.Wait()
	if g.failure != "" {
		return g.failure
	}
	g.t.Logf("seed %d: %d calls of %d jobs; %d takes were lost", seed, len(g.calls), len(g.ids), len(lost))
	return g.check(lost)
}

// check looks for an order of the calls to each job. A lost take may have got any job: it matters if the job was seen with its worker.
func (g *replicaGroup) check(lost []lostTake) string {
	of := map[compute.JobID][]porcupine.Operation{}
	for _, o := range g.calls {
		of[o.Input.(request).id] = append(of[o.Input.(request).id], o)
	}

	for _, id := range g.ids {
		calls := of[id]
		for _, l := range lost {
			if slices.ContainsFunc(of[id], func(o porcupine.Operation) bool { return o.Output.(reply).worker == l.worker }) {
				for _, what := range []string{"take", "gone"} {
					calls = append(calls, porcupine.Operation{
						ClientId: l.client, Input: request{what: what, worker: l.worker, id: id}, Call: l.at.Nanoseconds(), Output: reply{vague: true}, Return: forever.Nanoseconds(),
					})
				}
			}
		}

		if porcupine.CheckOperationsTimeout(jobModel, calls, time.Minute) != porcupine.Ok {
			return "no order explains what was seen of a job:\n" + table(calls)
		}
	}

	return ""
}

// ask makes a request of any replica. Status 0: nobody knows whether it was done. refused: it was not.
func (c *remote) ask(method, operation, body string) (status int, answer []byte, refused bool) {
	to := c.settings[c.random.IntN(len(c.settings))]
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, method, "http://"+to.Listen+"/v2/"+c.Endpoint+"/"+operation, strings.NewReader(body))
	require.NoError(c.t, err)
	r.Header.Set("Authorization", "Bearer "+c.Key)
	r.Header.Set("Content-Type", "application/json")
	res, err := c.http.Do(r)
	if err != nil {
		e, dialing := errors.AsType[*net.OpError](err)
		return 0, nil, dialing && e.Op == "dial"
	}

	defer func() { _ = res.Body.Close() }()
	if answer, err = io.ReadAll(res.Body); err != nil || res.StatusCode == http.StatusServiceUnavailable {
		return 0, nil, false
	}
	return res.StatusCode, answer, false
}

// note notes a call to a job.
func (c *remote) note(a request, call time.Duration, o reply) {
	end := time.Since(c.begun)
	if o.vague {
		end = forever
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if a.what == "take" || a.what == "finish" {
		c.touched = append(c.touched, a.id)
	}
	c.calls = append(c.calls, porcupine.Operation{ClientId: c.n, Input: a, Call: call.Nanoseconds(), Output: o, Return: end.Nanoseconds()})
}

func (c *remote) fail(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.failure = cmp.Or(c.failure, fmt.Sprintf(format, args...))
}

// call makes one call; it gives a take that was lost.
func (c *remote) call(seed uint64) (lost lostTake, wasLost bool) {
	c.mu.Lock()
	from := c.ids
	if c.random.IntN(4) > 0 && len(c.touched) > 0 { // what was done to a job is to be seen
		from = c.touched
	}
	var id compute.JobID
	if late := from[max(0, len(from)-8):]; len(late) > 0 {
		id = late[c.random.IntN(len(late))]
	}
	c.mu.Unlock()

	n := c.random.IntN(26) - 2
	switch {
	case n < 4 || id == "":
		c.submit()
	case n < 9:
		return c.take(seed)
	case n < 14:
		c.finish(id, seed)
	case n < 15:
		c.about("cancel", http.MethodPost, id)
	case n < 18:
		c.about("retry", http.MethodPost, id)
	default:
		c.about("read", http.MethodGet, id)
	}
	return lost, false
}

func (c *remote) submit() {
	begun := time.Since(c.begun)
	status, answer, _ := c.ask(http.MethodPost, "run", `{"input":{}}`)
	var d struct{ ID compute.JobID }
	switch {
	case status == 0: // if there is a job nobody knows of it
		return
	case status != http.StatusOK || json.Unmarshal(answer, &d) != nil:
		c.fail("run: %d %s", status, answer)
		return
	}
	c.note(request{what: "submit", id: d.ID}, begun, reply{})
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ids = append(c.ids, d.ID)
}

// worker is another one after each take that was lost, so that it is known whose it was.
func (c *remote) worker(seed uint64) compute.WorkerID {
	return compute.WorkerID(fmt.Sprintf("s%d-w%d-%d", seed, c.n, c.lost))
}

func (c *remote) take(seed uint64) (lostTake, bool) {
	begun, worker := time.Since(c.begun), c.worker(seed)
	status, answer, refused := c.ask(http.MethodGet, "job-take/"+string(worker)+"?job_in_progress=1", "")
	if refused || status == http.StatusNoContent {
		return lostTake{}, false
	}
	if status == 0 {
		c.lost++
		return lostTake{c.n, worker, begun}, true
	}
	var taken struct{ ID compute.JobID }
	if status != http.StatusOK || json.Unmarshal(answer, &taken) != nil {
		c.fail("job-take: %d %s", status, answer)
		return lostTake{}, false
	}
	c.note(request{what: "take", worker: worker, id: taken.ID}, begun, reply{})
	c.held = append(c.held, taken.ID)
	return lostTake{}, false
}

func (c *remote) finish(id compute.JobID, seed uint64) {
	if len(c.held) > 0 {
		id, c.held = c.held[0], c.held[1:]
	}
	a := request{what: "finish", id: id, worker: c.worker(seed), text: fmt.Sprint(c.random.Uint32()), failed: c.random.IntN(3) > 0}
	body := `{"output":` + a.text + `}`
	if a.failed {
		body = `{"error":"` + a.text + `"}`
	}
	begun := time.Since(c.begun)
	status, answer, refused := c.ask(http.MethodPost, "job-done/"+string(a.worker)+"/"+string(id)+"?isStream=false", body)
	switch {
	case refused:
	case status == 0:
		c.note(a, begun, reply{vague: true})
	case status == http.StatusOK:
		c.note(a, begun, reply{})
	default:
		c.fail("job-done: %d %s", status, answer)
	}
}

// about makes a call that gives the job.
func (c *remote) about(what, method string, id compute.JobID) {
	operation := map[string]string{"read": "status", "cancel": "cancel", "retry": "retry"}[what]
	begun := time.Since(c.begun)
	status, answer, refused := c.ask(method, operation+"/"+string(id), "")
	var d struct {
		Status   compute.JobStatus
		WorkerID compute.WorkerID
		Output   json.RawMessage
		Error    string
	}

	a := request{what: what, id: id}
	switch {
	case refused, status == 0 && what == "read":
	case status == 0:
		c.note(a, begun, reply{vague: true})
	case status == http.StatusConflict:
		c.note(a, begun, reply{code: compute.Conflict})
	case status != http.StatusOK || json.Unmarshal(answer, &d) != nil:
		c.fail("%s: %d %s", what, status, answer)
	default:
		o := reply{status: d.Status, worker: d.WorkerID, text: string(bytes.TrimSpace(d.Output)), plain: d.Status == compute.JobInQueue}
		if d.Status == compute.JobFailed {
			o.text = d.Error
		}
		c.note(a, begun, o)
	}
}
