package queue_test

import (
	"cmp"
	"context"
	crand "crypto/rand"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

const (
	modelSeeds = 500 // BERTH_SEEDS sets another number, BERTH_SEED runs one alone
	modelSteps = 60  // operations of a seed
)

// modelSettings are small, so that limits are met often; nothing is held, since operations come one after the other.
func modelSettings(seed uint64) queue.Settings {
	return queue.Settings{Lease: 30 * time.Second, MaxAttempts: 1 + int(seed%3), RunOutputLimit: 20, SyncLimit: 30}
}

// TestModel_QueueDoesWhatItsReferenceDoes makes random operations on a queue and on the reference and compares what they
// answer and what is left. Each operation has a random source of its own, so that a failing seed can be reduced to as few
// operations as fail.
func TestModel_QueueDoesWhatItsReferenceDoes(t *testing.T) {
	t.Parallel()
	first, seeds := uint64(1), uint64(modelSeeds)
	seeds = cmp.Or(environment(t, "BERTH_SEEDS"), seeds)
	if one := environment(t, "BERTH_SEED"); one > 0 {
		first, seeds = one, 1
	}
	next := make(chan uint64)
	var shards sync.WaitGroup
	var failed sync.Once

	stop := make(chan struct{})
	for range runtime.GOMAXPROCS(0) {
		shards.Go(func() {
			s := openShard(t)
			defer func() { _ = s.db.Close() }()
			for seed := range next {
				if log := s.run(seed, nil); log != "" {
					failed.Do(func() {
						close(stop)
						t.Errorf("BERTH_SEED=%d: the fewest operations that fail:\n%s", seed, s.shrink(seed))
					})
				}
			}
		})
	}

feed:
	for seed := first; seed < first+seeds; seed++ {
		select {
		case next <- seed:
		case <-stop:
			break feed
		}
	}

	close(next)
	shards.Wait()
}

// environment gives the number in a variable of the environment; 0 if there is none.
func environment(t *testing.T, name string) uint64 {
	n, err := strconv.ParseUint(cmp.Or(os.Getenv(name), "0"), 10, 64)
	require.NoError(t, err, name)
	return n
}

// shard is one database file, used for one seed after the other.
type shard struct {
	t     *testing.T
	path  string
	clock *compute.SettableClock
	db    store.Store
}

var modelEndpoints = []compute.EndpointID{"endpointone000", "endpointtwo000"}

func openShard(t *testing.T) *shard {
	dir := t.TempDir()
	if memory, err := os.MkdirTemp("/dev/shm", "berth-model-"); err == nil { // there a commit waits for no disk
		dir = memory
		t.Cleanup(func() { _ = os.RemoveAll(memory) })
	}
	s := &shard{t: t, path: filepath.Join(dir, "berth.db"), clock: compute.NewFrozenClock(time.UnixMilli(1_700_000_000_000))}
	s.open()

	require.NoError(t, s.db.Write(t.Context(), func(tx store.Tx) error {
		for _, e := range modelEndpoints {
			if err := tx.InsertEndpoint(compute.Endpoint{ID: e, UserID: user, Name: string(e), Declared: true, Image: "one", WorkersMax: 3, ScalerValue: 4}); err != nil {
				return err
			}
		}
		return nil
	}))

	return s
}

func (s *shard) open() {
	db, err := sqlite.Open(context.Background(), s.path, s.clock)
	require.NoError(s.t, err)
	s.db = db
}

// run makes the operations of a seed but for the skipped ones. It gives what it did if that failed.
func (s *shard) run(seed uint64, skipped []int) (failure string) {
	r := &modelRun{
		shard: s, m: newReference(modelSettings(seed), s.clock.Now(), modelEndpoints...), crowd: 1 + int(seed/3%8),
		names: map[compute.JobID]string{}, ends: map[compute.JobID]compute.JobStatus{}, store: &faulty{shard: s},
	}
	defer func() {
		if p := recover(); p != nil {
			if _, ours := p.(mismatch); !ours {
				r.failures = append(r.failures, fmt.Sprint("panic: ", p))
			}
			failure = strings.Join(append(r.log, r.failures...), "\n")
		}
	}()

	r.m.lag, r.m.leaseLag = s.clock.Lag(), s.clock.Lag()
	require.NoError(r, s.db.Write(context.Background(), func(tx store.Tx) error { return tx.Clear() }))
	r.start()
	for i := range modelSteps {
		if !slices.Contains(skipped, i) {
			r.random = rand.New(rand.NewPCG(seed, uint64(i)))
			r.step()
		}
	}

	r.finale()
	return ""
}

// shrink leaves out operations for as long as the seed fails without them, and gives the log of the rest.
func (s *shard) shrink(seed uint64) string {
	var skipped []int
	shortest := s.run(seed, nil)
	for again := true; again; {
		again = false
		for i := range modelSteps {
			if slices.Contains(skipped, i) {
				continue
			}
			if log := s.run(seed, append(slices.Clone(skipped), i)); log != "" {
				skipped, shortest, again = append(skipped, i), log, true
			}
		}
	}

	return shortest
}

// modelRun is one seed. It takes failures itself, since a seed that fails is run again with fewer operations.
type modelRun struct {
	*shard
	random   *rand.Rand
	store    *faulty
	queue    *queue.Queue
	m        *reference
	crowd    int // about how many jobs are alive: few live through more
	created  []compute.JobID
	names    map[compute.JobID]string
	ends     map[compute.JobID]compute.JobStatus // the final statuses seen
	log      []string
	failures []string
}

type mismatch struct{}

// Errorf notes a failure, for require.
func (r *modelRun) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

// FailNow ends the run, for require.
func (r *modelRun) FailNow() { panic(mismatch{}) }

// document is what a webhook gets: all that a client can see of the job.
func document(j compute.Job) (json.RawMessage, error) {
	return json.Marshal(map[string]any{
		"id": j.ID, "status": j.Status, "output": string(j.Output), "error": j.Error, "worker": j.WorkerID, "retries": j.Retries,
		"delay": j.DelayTime(), "execution": j.ExecutionTime(),
	})
}

// start makes the queue, as a new process would.
func (r *modelRun) start() {
	var err error
	r.queue, err = queue.New(context.Background(), r.store, r.clock, compute.NewIDs(crand.Reader, r.clock), r.m.settings, queue.Hooks{Document: document})
	require.NoError(r, err)
}

// say logs an operation, with short names for jobs.
func (r *modelRun) say(format string, args ...any) {
	line := fmt.Sprintf(format, args...)
	for id, name := range r.names {
		line = strings.ReplaceAll(line, string(id), name)
	}
	r.log = append(r.log, line)
}
