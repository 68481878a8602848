package proxy

import (
	"sync"

	"github.com/berthdev/berth/impl/compute"
)

// How many requests pods have at a time. Each takes a connection of the client's and one to the pod, and nobody is asked for a key.
const (
	mostBusy  = 1024
	mostOfPod = 512
	spare     = 256 // of all, for pods that have fewer than fewOfPod: others may be flooded
	fewOfPod  = 32
)

// busy counts the requests that pods have.
type busy struct {
	mu  sync.Mutex
	all int
	of  map[compute.PodID]int // none is 0
}

// begin counts a request until over is called; why says why there may be no more, and is empty if there may.
func (b *busy) begin(id compute.PodID) (over func(), why string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.of[id] >= mostOfPod:
		return nil, "the pod has as many requests as it may have at a time"
	case b.all >= mostBusy, b.all >= mostBusy-spare && b.of[id] >= fewOfPod:
		return nil, "the pods of this server have as many requests as they may have at a time"
	}

	if b.of == nil {
		b.of = map[compute.PodID]int{}
	}
	b.all++
	b.of[id]++
	return func() { b.end(id) }, ""
}

func (b *busy) end(id compute.PodID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.all--
	if b.of[id]--; b.of[id] == 0 {
		delete(b.of, id)
	}
}
