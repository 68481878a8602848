package control

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// interruptions say when interruptible pods are interrupted by themselves: a run of one lasts so long on average, however long it has
// lasted. The zero value interrupts none.
type interruptions struct {
	mu   sync.Mutex
	mean time.Duration
	rand *rand.Rand
}

// SetInterruptions has the runs of interruptible pods that are started from now on last so long on average; 0: until somebody
// interrupts them. The same seed draws the same lengths one after the other.
func (c *Control) SetInterruptions(mean time.Duration, seed int64) {
	i := &c.interruptions
	i.mu.Lock()
	defer i.mu.Unlock()
	i.mean = mean
	i.rand = rand.New(rand.NewPCG(uint64(seed), 0)) //nolint:gosec // it shall be known what it draws
}

// runLength is how long a run of a pod lasts; 0: until somebody ends it.
type runLength time.Duration

// draw draws one for a run of the pod.
func (i *interruptions) draw(p compute.Pod) runLength {
	i.mu.Lock()
	defer i.mu.Unlock()
	if !p.Interruptible() || i.mean <= 0 {
		return 0
	}
	const most = 100 // of means: later is as good as never
	return runLength(max(1, min(i.rand.ExpFloat64(), most)*float64(i.mean)))
}

// end gives when a run ends that begins with the transaction; zero: not by itself.
func (l runLength) end(tx store.Stamp) time.Time {
	if l == 0 {
		return time.Time{}
	}
	return tx.Now().Add(time.Duration(l)).Truncate(time.Millisecond)
}

// interrupt takes its room from the pod.
func interrupt(tx store.Containers, claims *Claims, p *compute.Pod) error {
	p.Reason, p.EndedBy, p.InterruptedAt = "it was interrupted", compute.EndedByInterruption, tx.Now()
	return move(tx, claims, p, compute.PodInterrupt)
}

// InterruptPod interrupts a pod now, whoever owns it. Conflict for one that is not interruptible, and where its status does not allow it;
// NotFound for an unknown and a terminated one.
func (c *Control) InterruptPod(ctx context.Context, id compute.PodID) error {
	err := c.placement.Write(ctx, func(tx store.Tx, claims *Claims) error {
		pod, err := tx.Pod(id)
		if err == nil {
			pod, err = ownPod(tx, pod.UserID, id)
		}
		if err != nil {
			return err
		}
		if !pod.Interruptible() {
			return compute.Errorf(compute.Conflict, "pod %q is not interruptible", id)
		}
		return interrupt(tx, claims, &pod)
	})
	if err == nil {
		c.podHint(id)
	}
	return err
}

// InterruptPods interrupts all pods now that are interruptible, and reports how many.
func (c *Control) InterruptPods(ctx context.Context) (n int, err error) {
	var pods []compute.Pod
	err = c.store.Read(ctx, func(tx store.Tx) error {
		pods = nil
		for _, status := range compute.PodMachine.Sources(compute.PodInterrupt) {
			some, err := tx.ListPodsByStatus(status)
			if err != nil {
				return err
			}
			pods = append(pods, some...)
		}
		return nil
	})
	if err != nil {
		return 0, err
	}

	for _, p := range pods {
		if !p.Interruptible() {
			continue
		}
		switch err := c.InterruptPod(ctx, p.ID); compute.CodeOf(err) {
		case "":
			n++
		case compute.Conflict, compute.NotFound: // it ended in this moment
		default:
			return n, err
		}
	}
	return n, nil
}
