package queue_test

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

const (
	histories    = 50 // BERTH_SEEDS sets another number, a twentieth of it; BERTH_SEED runs one seed alone, again and again
	fewHistories = 15 // with BERTH_FAULTS=few
	clients      = 8
	calls        = 60 // of a client in a history
	jobs         = 24 // of a history: few, so that many calls are of the same
)

// histories are held for a moment only, so that takes end all the time, and jobs get as many attempts as it takes.
func historySettings() queue.Settings {
	return queue.Settings{Lease: time.Minute, MaxAttempts: 1 << 30, TakeHold: 2 * time.Millisecond, RunOutputLimit: 1 << 20, SyncLimit: 1 << 20}
}

// tooLong is how long no take may be held here, and nothing takes that long.
const tooLong = 10 * time.Second

// TestHistories_OfEveryJobHaveAnOrder has clients call a queue at once, and looks for an order of the calls to each
// job in which they could have come one after the other: there is one unless somebody saw what was not so. The moments of the
// calls are chance; a seed gives what each client asks for.
func TestHistories_OfEveryJobHaveAnOrder(t *testing.T) {
	t.Parallel()
	s := openHistories(t, nil)
	everyHistory(t, func(uint64) *recorder { return s })
}

// TestHistories_HaveAnOrderDespiteFailuresAndLostMemory is the same while writes fail or run twice, and all memory is lost at
// random: a call that failed changed nothing, unless the outcome is unknown.
func TestHistories_HaveAnOrderDespiteFailuresAndLostMemory(t *testing.T) {
	t.Parallel()
	everyHistory(t, func(seed uint64) *recorder { return openHistories(t, rand.New(rand.NewPCG(seed, 1))) })
}

// everyHistory checks the histories of all seeds that are asked for.
func everyHistory(t *testing.T, open func(seed uint64) *recorder) {
	seeds := uint64(histories)
	if os.Getenv("BERTH_FAULTS") == "few" {
		seeds = fewHistories
	}
	if n := environment(t, "BERTH_SEEDS"); n > 0 {
		seeds = max(seeds, n/20)
	}
	one := environment(t, "BERTH_SEED")
	if one > 0 {
		seeds = 200
	}

	for n := range seeds {
		seed := cmp.Or(one, n+1)
		if h := open(seed).history(seed); h != "" {
			t.Fatalf("BERTH_SEED=%d: %s", seed, h)
		}
	}
}

// recorder has a queue over a real file, and records what is asked of it.
type recorder struct {
	t     *testing.T
	queue *queue.Queue
	begun time.Time
	fails bool // the store does, and memory is lost

	mu      sync.Mutex
	calls   []porcupine.Operation
	ids     []compute.JobID
	failure string
}

// openHistories makes a recorder; with a random source its store fails.
func openHistories(t *testing.T, random *rand.Rand) *recorder {
	dir := t.TempDir()
	if memory, err := os.MkdirTemp("/dev/shm", "berth-histories-"); err == nil { // there a commit waits for no disk
		dir = memory
		t.Cleanup(func() { _ = os.RemoveAll(memory) })
	}
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "berth.db"), compute.SystemClock{})
	require.NoError(t, err)

	t.Cleanup(func() { _ = db.Close() })
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		return tx.InsertEndpoint(compute.Endpoint{ID: modelEndpoints[0], UserID: user, Name: "one", Image: "one"})
	}))

	var over store.Store = db
	if random != nil {
		over = &failing{Store: db, random: random}
	}
	q, err := queue.New(t.Context(), dawdling{over}, compute.SystemClock{}, compute.NewIDs(crand.Reader, compute.SystemClock{}), historySettings(), queue.Hooks{})
	require.NoError(t, err)

	return &recorder{t: t, queue: q, begun: time.Now(), fails: random != nil}
}

// request and reply are one call: what it is, and what it gave.
type request struct {
	what   string
	id     compute.JobID
	worker compute.WorkerID
	text   string // of a report: its output, or its error if it failed
	failed bool
}

type reply struct {
	status compute.JobStatus // empty: the call gives none
	worker compute.WorkerID
	text   string
	plain  bool // it gives the status alone
	code   compute.Code
	failed bool // it failed, and changed nothing
	vague  bool // it failed, and may have changed something, at any time
}

// known is what is so of a job.
type known struct {
	status compute.JobStatus // empty: there is none
	worker compute.WorkerID
	text   string
}

// reports whether the answer is right for a job of which that is so.
func (k known) shows(o reply) bool {
	return o.code == "" && o.status == k.status && (o.plain || o.worker == k.worker && o.text == k.text)
}

// step gives what may be so of a job after a call that gave the answer, if it can have.
func step(k known, a request, o reply) []known {
	held := k.status == compute.JobInProgress && k.worker == a.worker
	cancelled := known{compute.JobCancelled, k.worker, ""}
	back := known{status: compute.JobInQueue}
	ended := known{compute.JobCompleted, a.worker, a.text}
	if a.failed {
		ended.status = compute.JobFailed
	}

	switch {
	case o.failed:
		return []known{k}
	case !o.vague:
	case a.what == "submit" && k.status == "", a.what == "retry" && k.status == compute.JobFailed, a.what == "gone" && held:
		return []known{k, back}
	case a.what == "finish" && held:
		return []known{k, ended}
	case a.what == "cancel" && k.status != "" && !k.status.Ended():
		return []known{k, cancelled}
	case a.what == "take" && k.status == compute.JobInQueue:
		return []known{k, {compute.JobInProgress, a.worker, ""}}
	default:
		return []known{k}
	}

	switch {
	case a.what == "submit" && k.status == "":
		return []known{back}
	case k.status == "":
		return nil
	case a.what == "take" && k.status == compute.JobInQueue:
		return []known{{compute.JobInProgress, a.worker, ""}}
	case a.what == "finish" && !held, a.what == "gone" && !held:
		return []known{k}
	case a.what == "finish":
		return []known{ended}
	case a.what == "gone": // or it got the job while it went
		return []known{back, k}
	case a.what == "cancel" && !k.status.Ended() && cancelled.shows(o):
		return []known{cancelled}
	case a.what == "cancel" && k.status.Ended() && k.shows(o), a.what == "read" && k.shows(o):
		return []known{k}
	case a.what == "retry" && k.status == compute.JobFailed && back.shows(o):
		return []known{back}
	case a.what == "retry" && k.status != compute.JobFailed && o.code == compute.Conflict:
		return []known{k}
	}

	return nil
}

// jobModel is one job.
var jobModel = (&porcupine.NondeterministicModel{
	Init: func() []any { return []any{known{}} },
	Step: func(state, input, output any) (next []any) {
		for _, k := range step(state.(known), input.(request), output.(reply)) {
			next = append(next, k)
		}
		return next
	},
}).ToModel()

// history has the clients of a seed make their calls, and reports what is wrong with what they saw.
func (r *recorder) history(seed uint64) string {
	r.calls, r.ids, r.failure = nil, nil, ""
	var all sync.WaitGroup
	for n := range clients {
		all.Go(func() {
			c := &caller{
				recorder: r, n: n, worker: compute.WorkerID(fmt.Sprintf("%d-w%d", seed, n)), random: rand.New(rand.NewPCG(seed, uint64(n))),
			}
			for range calls {
				c.call()
			}
		})
	}

	over := make(chan struct{})
	var forgetting sync.WaitGroup
	if r.fails {
		forgetting.Go(func() { r.forget(seed, over) })
	}
	all.Wait()
	close(over)
	forgetting.Wait()
	if r.failure != "" {
		return r.failure
	}

	of := map[compute.JobID][]porcupine.Operation{}
	for _, o := range r.calls {
		of[o.Input.(request).id] = append(of[o.Input.(request).id], o)
	}

	for _, id := range r.ids {
		if porcupine.CheckOperationsTimeout(jobModel, of[id], time.Minute) != porcupine.Ok {
			return "no order explains what was seen of a job:\n" + table(of[id])
		}
	}

	return ""
}

// forget has the queue lose all memory now and then.
func (r *recorder) forget(seed uint64, over <-chan struct{}) {
	random := rand.New(rand.NewPCG(seed, 2))
	for {
		select {
		case <-over:
			return
		case <-time.After(time.Duration(random.IntN(3000)) * time.Microsecond):
		}

		if err := r.queue.Reload(context.Background()); err != nil && !errors.Is(err, errDisk) {
			r.mu.Lock()
			r.failure = cmp.Or(r.failure, "reload: "+err.Error())
			r.mu.Unlock()
		}

		_ = r.queue.Sweep(context.Background()) // what failed is tried again
	}
}

// table prints the calls to a job in the order in which they began.
func table(calls []porcupine.Operation) string {
	slices.SortFunc(calls, func(a, b porcupine.Operation) int { return int(a.Call - b.Call) })
	var b strings.Builder
	for _, o := range calls {
		a, t := o.Input.(request), o.Output.(reply)
		fmt.Fprintf(&b, "%9d to %9d ns: client %d: %s %s %s: %s %s %s %s\n", o.Call, o.Return, o.ClientId, a.what, a.worker, a.text, t.status, t.worker, t.text, t.code)
	}
	return b.String()
}

// caller is a client, who is a worker, too.
type caller struct {
	*recorder
	n      int
	worker compute.WorkerID
	random *rand.Rand
	held   []compute.JobID
	ever   []compute.JobID // that it got
}

// forever is when a call ends of which nobody knows whether it did what it was to do: that may come late.
const forever = time.Duration(1 << 62)

// lost reports a call that the store failed.
func (c *caller) lost(err error) (reply, bool) {
	if !c.fails || !errors.Is(err, errDisk) {
		return reply{}, false
	}
	return reply{failed: !store.IsUnknown(err), vague: store.IsUnknown(err)}, true
}

// record makes a call and notes it, for each of the jobs that it was of.
func (c *caller) record(a request, do func() (reply, []compute.JobID)) {
	call := time.Since(c.begun)
	o, ids := do()
	end := time.Since(c.begun)
	if o.vague {
		end = forever
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range ids {
		a.id = id
		c.calls = append(c.calls, porcupine.Operation{ClientId: c.n, Input: a, Call: call.Nanoseconds(), Output: o, Return: end.Nanoseconds()})
	}
}

func (c *caller) fail(format string, args ...any) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.failure == "" {
		c.failure = fmt.Sprintf(format, args...)
	}
}

// pick gives a job, rather a late one; "" if there is none.
func (c *caller) pick() compute.JobID {
	c.mu.Lock()
	defer c.mu.Unlock()
	late := c.ids[max(0, len(c.ids)-3):]
	if len(late) == 0 {
		return ""
	}
	return late[c.random.IntN(len(late))]
}

// answer is what a call about a job gave.
func (c *caller) answer(what string, j compute.Job, err error) reply {
	if o, lost := c.lost(err); lost {
		return o
	}
	code := compute.CodeOf(err)
	if err != nil && code != compute.Conflict {
		c.fail("%s: %v", what, err)
	}
	o := reply{status: j.Status, worker: j.WorkerID, text: string(j.Output), code: code}
	if j.Status == compute.JobFailed {
		o.text = j.Error
	}
	o.plain = j.Status == compute.JobInQueue

	return o
}

func (c *caller) call() {
	ctx, e := context.Background(), modelEndpoints[0]
	id := c.pick()
	about := func(what string, do func() (compute.Job, error)) {
		c.record(request{what: what}, func() (reply, []compute.JobID) {
			j, err := do()
			return c.answer(what, j, err), []compute.JobID{id}
		})
	}

	n := c.random.IntN(28)
	switch {
	case n < 4 || id == "":
		c.submit()
	case n < 9:
		c.take()
	case n < 14:
		c.finish()
	case n < 15:
		about("cancel", func() (compute.Job, error) { return c.queue.Cancel(ctx, user, e, id) })
	case n < 18:
		about("retry", func() (compute.Job, error) { return c.queue.Retry(ctx, user, e, id) })
	case n < 23:
		about("read", func() (compute.Job, error) { return c.queue.Status(ctx, user, e, id) })
	case n < 26:
		c.record(request{what: "read"}, func() (reply, []compute.JobID) {
			j, _, err := c.queue.Stream(ctx, user, e, id, 0, nil)
			if compute.CodeOf(err) == compute.NotFound {
				return reply{failed: true}, nil // that of a cancelled job ends after two reads
			}
			return c.answer("stream", j, err), []compute.JobID{id}
		})
	case n < 27:
		about("read", func() (compute.Job, error) { return c.queue.SetTTL(ctx, user, e, id, time.Hour) })
	default:
		c.record(request{what: "gone", worker: c.worker}, func() (reply, []compute.JobID) {
			c.queue.WorkerGone(ctx, e, c.worker, "the worker ended")
			return reply{vague: c.fails}, c.ever // what failed is done later
		})
		c.held = nil
	}
}

// submit submits a job, if there are not too many.
func (c *caller) submit() {
	c.mu.Lock()
	enough := len(c.ids) >= jobs
	c.mu.Unlock()
	if enough {
		return
	}

	var id compute.JobID
	c.record(request{what: "submit"}, func() (reply, []compute.JobID) {
		submit := func() (compute.Job, error) {
			return c.queue.Run(context.Background(), user, modelEndpoints[0], queue.Submission{Input: json.RawMessage(`{}`)})
		}
		if c.random.IntN(3) == 0 { // handed over before its commit, if a worker waits
			submit = func() (compute.Job, error) {
				return c.queue.SubmitSync(context.Background(), user, modelEndpoints[0], queue.Submission{Input: json.RawMessage(`{}`)}, time.Minute)
			}
		}

		j, err := submit()
		id = j.ID
		o, lost := c.lost(err)
		if err != nil && !lost {
			c.fail("submit: %v", err)
		}
		if o.failed { // there is no such job
			id = ""
			return o, nil
		}

		return o, []compute.JobID{id}
	})

	c.mu.Lock()
	defer c.mu.Unlock()
	if id != "" {
		c.ids = append(c.ids, id)
	}
}

// take takes one or two jobs. Nothing holds a take for longer than the hold.
func (c *caller) take() {
	ctx, stop := context.WithTimeout(context.Background(), tooLong)
	defer stop()
	c.record(request{what: "take", worker: c.worker}, func() (o reply, ids []compute.JobID) {
		taken, err := c.queue.Take(ctx, user, modelEndpoints[0], c.worker, 1+c.random.IntN(2))
		if ctx.Err() != nil {
			c.fail("a take was held for %s, and the hold is %s", tooLong, historySettings().TakeHold)
		} else if _, lost := c.lost(err); err != nil && !lost {
			c.fail("take: %v", err)
		}

		for _, t := range taken {
			ids = append(ids, t.ID)
		}
		c.held, c.ever = append(c.held, ids...), append(c.ever, ids...)
		return reply{}, ids
	})
}

// finish reports the end of a job that it holds, or of another one.
func (c *caller) finish() {
	id := c.pick()
	if len(c.held) > 0 {
		id, c.held = c.held[0], c.held[1:]
	}
	a := request{what: "finish", worker: c.worker, text: fmt.Sprint(c.random.Uint32()), failed: c.random.IntN(3) > 0}
	report := queue.Report{Output: json.RawMessage(a.text)}
	if a.failed {
		report = queue.Report{Error: a.text}
	}

	c.record(a, func() (reply, []compute.JobID) {
		err := c.queue.Finish(context.Background(), user, modelEndpoints[0], c.worker, id, report)
		o, lost := c.lost(err)
		if err != nil && !lost {
			c.fail("finish: %v", err)
		}
		return o, []compute.JobID{id}
	})
}
