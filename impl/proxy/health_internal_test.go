package proxy

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

// hanging are workers that are reached and never answer, of one user, and one of another user at whose address nobody is.
type hanging struct {
	workers []queue.Served
	told    chan compute.WorkerID // whose condition was noted
}

func newHanging(n int) *hanging {
	h := &hanging{told: make(chan compute.WorkerID, n+1)}
	for i := range n {
		h.workers = append(h.workers, queue.Served{User: "greedy", Worker: compute.WorkerID(fmt.Sprint("w", i))})
	}
	return h
}

func (h *hanging) Served() []queue.Served { return append([]queue.Served(nil), h.workers...) }

func (h *hanging) SetCondition(_ compute.EndpointID, w compute.WorkerID, _ queue.Condition, _ string) {
	h.told <- w
}

// health makes what checks them.
func (h *hanging) health() *Health {
	ports := func(id compute.WorkerID) []compute.PublishedPort {
		return []compute.PublishedPort{{Type: compute.HTTPPort, Via: string(id) + ":80"}}
	}
	dial := func(ctx context.Context, _, address string) (net.Conn, error) {
		if address == "other:80" {
			return nil, net.ErrClosed
		}
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return NewHealth(h, ports, dial, slog.New(slog.DiscardHandler))
}

func TestHealth_HungWorkersOfOneUserKeepNobodyElseWaiting(t *testing.T) {
	t.Parallel()
	crew := newHanging(healthAtOnce)
	crew.workers = append(crew.workers, queue.Served{User: "another", Worker: "other"})
	h := crew.health()
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var under sync.WaitGroup
	h.round(ctx, time.UnixMilli(1), &under)
	select {
	case w := <-crew.told:
		require.EqualValues(t, "other", w)
	case <-time.After(5 * time.Second):
		require.Fail(t, "the workers of another user wait for those that hang")
	}

	cancel()
	under.Wait()
	require.True(t, h.places.Enter("anybody", 1, 1), "every place is free again")
}

func TestHealth_ThoseAreAskedFirstThatHaveWaitedLongest(t *testing.T) {
	t.Parallel()
	crew := newHanging(3 * healthOfUser)
	h := crew.health()
	for round := range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		var under sync.WaitGroup
		h.round(ctx, time.UnixMilli(int64(round)), &under)
		cancel()
		under.Wait()
	}
	for id, one := range h.known {
		require.False(t, one.last.IsZero(), "%s was never asked", id)
	}
}

// full is a way to pods and workers on which there are as many connections as there may be.
func full(context.Context, string, string) (net.Conn, error) {
	return nil, compute.Errorf(compute.Unavailable, "there are too many")
}

func TestFull_IsNoFaultOfWhoWasToBeReached(t *testing.T) {
	t.Parallel()
	c := newCrew(t, nil, func(c *Config) { c.Dial = full })
	c.add(0, 1)
	for _, res := range []answer{c.send(t, "GET", "/", ""), c.ask(t, "GET", "/", "")} {
		detail, _ := told(t, res, 503)
		require.Equal(t, "there are too many", detail)
		require.Equal(t, "1", res.Header.Get("Retry-After"))
	}

	h := NewHealth(c.queue, func(id compute.WorkerID) []compute.PublishedPort { return c.ports[id] }, full, c.Log)
	var under sync.WaitGroup
	h.round(t.Context(), time.UnixMilli(1), &under)
	under.Wait()
	require.True(t, c.queue.Served()[0].Ready, "nobody could ask it")
}
