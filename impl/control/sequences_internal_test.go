package control

import (
	"cmp"
	"context"
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

func TestOfTwoHundredPodsAtOnceOneForEachFreeGPUIsCreated(t *testing.T) {
	t.Parallel()
	var fleet []Host
	for i := range 20 {
		fleet = append(fleet, Host{
			ID: fmt.Sprint("h", i), DataCenterID: "EU-RO-1", Cloud: compute.Secure, GPU: "NVIDIA L4", GPUCount: 8, VCPUs: 80, MemoryGB: 800, DiskGB: 8000,
		})
	}
	c := openControl(t, openStore(t), fleet)
	var made, refused atomic.Int64
	var group sync.WaitGroup
	for range 200 {
		group.Go(func() {
			_, err := c.CreatePod(t.Context(), "u", NewPod{Name: "a", Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1}})
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
	devices, err := auditDevices(t.Context(), c.store)
	require.NoError(t, err)
	require.Len(t, devices, 160, "each pod has a device of its own")
}

// auditDevices gives who has each device of each host, by the rows alone. It fails where two have one, or somebody has not as
// many as were asked for.
func auditDevices(ctx context.Context, s store.Store) (map[string]holder, error) {
	holders := map[string]holder{}
	give := func(id holder, gpu *compute.GPU, host string, devices []string) error {
		if gpu == nil {
			return nil
		}
		if int64(len(devices)) != gpu.Count {
			return fmt.Errorf("%s has devices %v for %d GPUs", id, devices, gpu.Count)
		}
		for _, d := range devices {
			key := host + " " + d
			if other, ok := holders[key]; ok {
				return fmt.Errorf("device %s is that of %s and %s", key, other, id)
			}
			holders[key] = id
		}
		return nil
	}
	return holders, s.Read(ctx, func(tx store.Tx) error {
		pods, err := tx.ListPods("u")
		for _, p := range pods {
			if p.Status.HoldsHost() {
				err = cmp.Or(err, give(holder(p.ID), p.GPU, p.HostID, p.Devices))
			}
		}
		workers, e := tx.ListWorkers()
		for _, w := range workers {
			err = cmp.Or(err, give(holder(w.ID), w.GPU, w.HostID, w.Devices))
		}
		return cmp.Or(err, e)
	})
}

// sequenceSeeds is how many random sequences there are, unless BERTH_SEEDS says otherwise.
const sequenceSeeds = 25

// life is one random sequence.
type life struct {
	c    *Control
	r    *mathrand.Rand
	away map[string]bool // hosts that are lost
}

// lose takes a host out of the fleet: the containers that were on it are gone. A lost one comes back.
func (l *life) lose(ctx context.Context) error {
	h := small()[l.r.IntN(len(small()))].ID
	l.away[h] = !l.away[h]
	p := l.c.placement
	p.mu.Lock()
	p.setHosts(l.present())
	p.mu.Unlock()
	if !l.away[h] {
		return nil
	}
	pods, err := l.c.ListPods(ctx, "u", true)
	for _, pod := range pods {
		if pod.HostID != h || !pod.Status.HoldsHost() || err != nil {
			continue
		}
		from := pod.Status
		pod.Status, pod.Reason = compute.PodError, "its container is gone"
		err = p.Write(ctx, func(tx store.Tx, b *Booking) error {
			_, err := b.Move(tx, from, pod)
			return err
		})
	}
	return cmp.Or(err, l.endWorkers(ctx, func(w compute.Worker) bool { return w.HostID == h }))
}

func (l *life) endWorkers(ctx context.Context, which func(compute.Worker) bool) error {
	return l.c.placement.Write(ctx, func(tx store.Tx, b *Booking) error {
		workers, err := tx.ListWorkers()
		for _, w := range workers {
			if which(w) {
				err = cmp.Or(err, b.DeleteWorker(tx, w.ID))
			}
		}
		return err
	})
}

func (l *life) present() (hosts []Host) {
	for _, h := range small() {
		if !l.away[h.ID] {
			hosts = append(hosts, h)
		}
	}
	return hosts
}

// check holds the rows against the fleet, and the picture in memory against the rows.
func (l *life) check(ctx context.Context) error {
	left, err := audit(ctx, l.c.store, small())
	if err != nil {
		return err
	}
	shown := l.c.placement.freeNow()
	for id, free := range left {
		if !free.covers(amount{}) {
			return fmt.Errorf("host %s is given away twice: %+v", id, free)
		}
		if !l.away[id] && shown[id] != free {
			return fmt.Errorf("host %s: the picture shows %+v, the rows %+v", id, shown[id], free)
		}
	}
	_, err = auditDevices(ctx, l.c.store)
	return err
}

// run does up to thirty random things, then deletes all pods and workers and brings all hosts back.
func (l *life) run(ctx context.Context) error {
	for step := range 5 + l.r.IntN(25) {
		var err error
		if l.r.IntN(12) == 0 {
			err = l.lose(ctx)
		} else {
			err = act(ctx, l.c, l.r)
		}
		if code := compute.CodeOf(err); err != nil && code != compute.Rejected && code != compute.Conflict {
			return fmt.Errorf("step %d: %w", step, err)
		}
		if err := l.check(ctx); err != nil {
			return fmt.Errorf("step %d: %w", step, err)
		}
	}
	pods, err := l.c.ListPods(ctx, "u", true)
	for _, p := range pods {
		err = cmp.Or(err, l.c.DeletePod(ctx, "u", p.ID))
	}
	if err = cmp.Or(err, l.endWorkers(ctx, func(compute.Worker) bool { return true })); err != nil {
		return err
	}
	clear(l.away)
	p := l.c.placement
	p.mu.Lock()
	defer p.mu.Unlock()
	p.setHosts(small())
	for i := range p.hosts {
		h := &p.hosts[i]
		whole := amount{h.GPUCount, h.VCPUs, h.MemoryGB, h.DiskGB}
		if h.free != whole || len(h.devices.pick(h.GPUCount, h.GPUCount)) != int(h.GPUCount) || len(p.held) > 0 {
			return fmt.Errorf("host %s: %+v of %+v is free at the end; held: %v", h.ID, h.free, whole, p.held)
		}
	}
	return nil
}

// `make model` runs 10,000 sequences; BERTH_SEED replays one.
func TestModelNoSequenceOfStartsEndsAndLostHostsOverAllocatesOrLeaks(t *testing.T) {
	t.Parallel()
	number := func(name string) uint64 {
		n, err := strconv.ParseUint(cmp.Or(os.Getenv(name), "0"), 10, 64)
		require.NoError(t, err, name)
		return n
	}
	first, seeds := uint64(1), cmp.Or(number("BERTH_SEEDS"), sequenceSeeds)
	if one := number("BERTH_SEED"); one != 0 {
		first, seeds = one, 1
	}
	const shards = 16 // stores: while one waits for the disk, another works
	var group sync.WaitGroup
	next := make(chan uint64)
	for range min(shards, seeds) {
		c := openControl(t, openStore(t), small())
		group.Go(func() {
			for seed := range next {
				l := &life{c: c, r: mathrand.New(mathrand.NewPCG(seed, 0)), away: map[string]bool{}}
				if err := l.run(t.Context()); err != nil {
					t.Errorf("BERTH_SEED=%d: %v", seed, err)
					c = openControl(t, openStore(t), small())
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
