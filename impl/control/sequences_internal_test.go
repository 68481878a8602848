package control

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	mathrand "math/rand/v2"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// twentyEights is a fleet of 160 GPUs.
func twentyEights() (fleet []Host) {
	for i := range 20 {
		fleet = append(fleet, Host{
			ID: fmt.Sprint("h", i), DataCenterID: "EU-RO-1", Cloud: compute.Secure, GPU: "NVIDIA L4", GPUCount: 8, VCPUs: 80, MemoryGB: 800, DiskGB: 8000,
		})
	}
	return fleet
}

func TestPlacement_PodsAtOnceGetOneFreeGPUEach(t *testing.T) {
	t.Parallel()
	for name, replicas := range map[string]int{"by one": 1, "by three that share the store": 3} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := openStore(t)
			var all []*Control
			for range replicas {
				all = append(all, openControl(t, s, twentyEights()))
			}
			var made, refused atomic.Int64

			var group sync.WaitGroup
			for i := range 200 {
				group.Go(func() {
					if i%50 == 0 {
						all[i%replicas].placement.Forget()
					}
					_, err := all[i%replicas].CreatePod(t.Context(), "u", NewPod{Name: "a", Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1}})
					if err == nil {
						made.Add(1)
						return
					}

					assert.Equal(t, compute.Rejected, compute.CodeOf(err), "%v", err)
					refused.Add(1)
				})
			}

			group.Wait()
			require.EqualValues(t, 160, made.Load())
			require.EqualValues(t, 40, refused.Load())
			devices, err := auditDevices(t.Context(), s)
			require.NoError(t, err)
			require.Len(t, devices, 160, "each pod has a device of its own")
			require.NoError(t, auditClaims(t.Context(), s))
		})
	}
}

var errAgain = errors.New("the first run is undone")

// twice is a store that runs each function that writes twice, as it may: what the first run wrote is undone.
type twice struct{ store.Store }

func (s twice) Write(ctx context.Context, f func(store.Tx) error) error {
	if err := s.first(ctx, f); err != nil {
		return err
	}
	return s.Store.Write(ctx, f)
}

func (s twice) first(ctx context.Context, f func(store.Tx) error) error {
	err := s.Store.Write(ctx, func(tx store.Tx) error {
		_ = f(tx)
		return errAgain
	})
	if errors.Is(err, errAgain) {
		return nil
	}
	return err
}

// sequenceSeeds is how many random sequences there are, unless BERTH_SEEDS says otherwise.
const sequenceSeeds = 25

// life is one random sequence.
type life struct {
	c    *Control
	r    *mathrand.Rand
	away map[string]bool // hosts that are lost
	// forget is asked before each step how memory is lost. Nil: it is kept.
	forget func() forgetting
	// other is a second server over the same store. What each knows of it is then old. Nil: there is none.
	other *Control
	t     testing.TB
}

// forgetting is what is lost of memory.
type forgetting int

const (
	nothing forgetting = iota
	amounts            // what is free of the hosts
	everything
	forgettings
)

// lose takes a host out of the fleet, or drains it. A lost one comes back.
func (l *life) lose(ctx context.Context) error {
	h := small()[l.r.IntN(len(small()))].ID
	if l.r.IntN(4) == 0 && !l.away[h] {
		_, err := l.c.DrainHost(ctx, h, true)
		_, back := l.c.DrainHost(ctx, h, false)
		return cmp.Or(err, back)
	}
	l.away[h] = !l.away[h]
	if !l.away[h] {
		return l.bringBack(ctx, h)
	}
	if err := l.c.RemoveHost(ctx, h); err != nil {
		return err
	}
	return l.endWorkers(ctx, func(w compute.Worker) bool { return w.HostID == h })
}

func (l *life) endWorkers(ctx context.Context, which func(compute.Worker) bool) error {
	return l.c.placement.Write(ctx, func(tx store.Tx, claims *Claims) error {
		workers, err := tx.ListWorkers()
		for _, w := range workers {
			if which(w) {
				err = cmp.Or(err, claims.DeleteWorker(tx, w.ID))
			}
		}
		return err
	})
}

// bringBack adds a host that was lost.
func (l *life) bringBack(ctx context.Context, id string) error {
	_, err := l.c.AddHost(ctx, small()[hostIn(small(), id)])
	return err
}

// check holds the rows against the fleet, and what is free in memory against the rows.
func (l *life) check(ctx context.Context) error {
	if err := auditClaims(ctx, l.c.store); err != nil {
		return err
	}
	left, err := audit(ctx, l.c.store, small())
	if err != nil {
		return err
	}

	shown := l.c.placement.freeNow()
	for id, free := range left {
		if !free.covers(amount{}) {
			return fmt.Errorf("host %s is given away twice: %+v", id, free)
		}
		if !l.away[id] && l.other == nil && shown[id] != free {
			return fmt.Errorf("host %s: memory has %+v, the rows %+v", id, shown[id], free)
		}
	}

	_, err = auditDevices(ctx, l.c.store)
	return err
}

// state is all that a user sees: where what is, and how it is.
func (l *life) state(ctx context.Context) (all []string, err error) {
	return all, l.c.store.Read(ctx, func(tx store.Tx) error {
		pods, _, err := tx.PagePods("u", unpaged(nil))
		for _, p := range pods {
			all = append(all, fmt.Sprintf("pod %s on %s %v %d GB: %s", p.Status, p.HostID, p.Devices, p.DiskGB, p.Reason))
		}
		workers, e := tx.ListWorkers()
		for _, w := range workers {
			all = append(all, fmt.Sprintf("worker on %s %v", w.HostID, w.Devices))
		}
		return cmp.Or(err, e)
	})
}

// step does one random thing and gives what came of it.
func (l *life) step(ctx context.Context) (answer string, err error) {
	if l.forget != nil {
		switch l.forget() {
		case amounts:
			l.c.placement.Forget()
		case everything:
			l.c = openControl(l.t, l.c.store, small())
		}
	}

	if l.other != nil && l.r.IntN(2) == 0 {
		l.c, l.other = l.other, l.c
	}
	if l.other == nil && l.r.IntN(12) == 0 {
		err = l.lose(ctx)
	} else {
		err = act(ctx, l.c, l.r)
	}

	if code := compute.CodeOf(err); err != nil && code != compute.Rejected && code != compute.Conflict {
		return "", err
	}
	state, stateErr := l.state(ctx)
	return fmt.Sprintf("%v\n%v", err, state), stateErr
}

// run does up to thirty random things, then deletes all pods and workers and brings all hosts back. It gives what came of each.
func (l *life) run(ctx context.Context) (answers []string, err error) {
	for step := range 5 + l.r.IntN(25) {
		answer, err := l.step(ctx)
		if err == nil {
			err = l.check(ctx)
		}
		if err != nil {
			return nil, fmt.Errorf("step %d: %w", step, err)
		}
		answers = append(answers, answer)
	}
	return answers, l.end(ctx)
}

func (l *life) end(ctx context.Context) error {
	pods, err := l.c.ListPods(ctx, "u", nil)
	for _, p := range pods {
		err = cmp.Or(err, l.c.DeletePod(ctx, "u", p.ID))
	}
	if err = cmp.Or(err, l.endWorkers(ctx, func(compute.Worker) bool { return true })); err != nil {
		return err
	}

	if l.other != nil {
		l.c.placement.Forget()
	}
	for id, away := range l.away {
		if away {
			err = cmp.Or(err, l.bringBack(ctx, id))
		}
	}
	if err != nil {
		return err
	}

	p := l.c.placement
	p.lockKnown()
	defer p.mu.Unlock()
	for i := range p.hosts {
		h := &p.hosts[i]
		if h.free != h.whole() || len(h.devices.pick(h.GPUCount, h.GPUCount)) != int(h.GPUCount) {
			return fmt.Errorf("host %s: %+v of %+v is free at the end", h.ID, h.free, h.whole())
		}
	}

	return auditClaims(ctx, l.c.store)
}

// sequences runs a life for each seed. `make model` runs 10,000; BERTH_SEED replays one.
func sequences(t *testing.T, run func(seed uint64) error) {
	t.Helper()
	number := func(name string) uint64 {
		n, err := strconv.ParseUint(cmp.Or(os.Getenv(name), "0"), 10, 64)
		require.NoError(t, err, name)
		return n
	}

	first, seeds := uint64(1), cmp.Or(number("BERTH_SEEDS"), sequenceSeeds)
	if one := number("BERTH_SEED"); one != 0 {
		first, seeds = one, 1
	}
	const shards = 16 // while one waits for the disk, another works
	var group sync.WaitGroup

	next := make(chan uint64)
	for range min(shards, seeds) {
		group.Go(func() {
			for seed := range next {
				if err := run(seed); err != nil {
					t.Errorf("BERTH_SEED=%d: %v", seed, err)
				}
			}
		})
	}

	for seed := first; seed < first+seeds; seed++ {
		next <- seed
	}
	close(next)
	group.Wait()
}

func newLife(t testing.TB, s store.Store, seed uint64) *life {
	return &life{c: openControl(t, s, small()), r: mathrand.New(mathrand.NewPCG(seed, 0)), away: map[string]bool{}, t: t}
}

// stores are those of one test. What a life has left is empty again, and opening one takes longer than a life.
type stores struct {
	t    testing.TB
	free sync.Pool
}

func (p *stores) get() store.Store {
	if s, ok := p.free.Get().(store.Store); ok {
		return s
	}
	return openStore(p.t)
}

func TestPlacement_ModelNoSequenceOverAllocatesOrLeaks(t *testing.T) {
	t.Parallel()
	all := stores{t: t}
	sequences(t, func(seed uint64) error {
		s := all.get()
		_, err := newLife(t, s, seed).run(t.Context())
		if err == nil {
			all.free.Put(s)
		}
		return err
	})
}

func TestPlacement_ModelTwoServersGiveNothingAwayTwice(t *testing.T) {
	t.Parallel()
	all := stores{t: t}
	sequences(t, func(seed uint64) error {
		s := all.get()
		l := newLife(t, s, seed)
		l.other = openControl(t, s, small())
		_, err := l.run(t.Context())
		if err == nil {
			all.free.Put(s)
		}
		return err
	})
}

// Memory decides nothing: whatever of it is lost, and whenever, and though all that is written is run twice, the answers are those of a
// server that never forgets.
func TestPlacement_ModelAnswersDoNotDependOnMemory(t *testing.T) {
	t.Parallel()
	all := stores{t: t}
	sequences(t, func(seed uint64) error {
		first, second := all.get(), all.get()
		want, err := newLife(t, first, seed).run(t.Context())
		if err != nil {
			return err
		}

		all.free.Put(first)
		l := newLife(t, twice{second}, seed)
		lost := mathrand.New(mathrand.NewPCG(seed, 1))
		l.forget = func() forgetting { return forgetting(lost.IntN(int(forgettings))) }
		got, err := l.run(t.Context())
		if err != nil {
			return fmt.Errorf("with memory lost: %w", err)
		}

		all.free.Put(second)
		for i := range want {
			if got[i] != want[i] {
				return fmt.Errorf("step %d: with memory lost the answer is\n%s\nand otherwise\n%s", i, got[i], want[i])
			}
		}

		return nil
	})
}
