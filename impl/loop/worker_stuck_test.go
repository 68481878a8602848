package loop_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
	"github.com/berthdev/berth/store"
)

// clinging is a host that cannot remove one allocation, as long as it is told so, and that fails once to say how another one is.
type clinging struct {
	*host
	to  atomic.Pointer[string]
	odd atomic.Pointer[string]
}

func (c *clinging) Remove(ctx context.Context, id string) error {
	if to := c.to.Load(); to != nil && *to == id {
		return errors.New("device or resource busy")
	}
	return c.host.Remove(ctx, id)
}

func (c *clinging) Inspect(ctx context.Context, id string) (runtime.State, error) {
	if odd := c.odd.Load(); odd != nil && *odd == id {
		c.odd.Store(nil)
		return runtime.State{}, errors.New("500 of the engine")
	}
	return c.host.Inspect(ctx, id)
}

// cling puts a host between the service and its containers.
func (s *service) cling() *clinging {
	c := &clinging{host: &host{Fleet: s.containers}}
	s.workers.Runtime = c
	return c
}

// another creates an endpoint that keeps so many workers.
func (s *service) another(name string, least int64) compute.Endpoint {
	image := "i"
	e, err := s.endpoints.Create(s.Context(), "u", compute.QueueEndpoint, control.EndpointChange{
		Name: &name, Image: &image, CPUs: []compute.CPU{{ID: "cpu3g", VCPUCount: 2}}, WorkersMin: &least,
		Scaling: &control.Scaling{Scaler: compute.ByDelay, Value: 4},
	})
	require.NoError(s, err)
	return e
}

// workersOf gives the ids of the rows of an endpoint's workers.
func (s *service) workersOf(e compute.Endpoint) (ids []string) {
	for _, w := range s.rows() {
		if w.EndpointID == e.ID {
			ids = append(ids, string(w.ID))
		}
	}
	return ids
}

// What an engine cannot remove keeps nobody else from getting a worker after a restart.
func TestWorkers_LeftoverThatCannotBeRemovedKeepsNoEndpointWaiting(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, map[string]string{sim.EnvExitAfter: "10s", sim.EnvExitCode: "4"})
	s.step(0)
	s.step(sim.DefaultBoot)
	ended := string(s.rows()[0].ID)
	s.clock.Advance(time.Minute)
	require.NoError(t, s.endpoints.Delete(t.Context(), "u", s.e.ID))

	s.begin()
	s.cling().to.Store(&ended)
	other := s.another("other", 0)
	j, err := s.queue.Run(t.Context(), "u", other.ID, queue.Submission{Input: []byte(`{}`)})
	require.NoError(t, err)
	s.step(0)
	require.Len(t, s.workersOf(other), 1, "it works for job %s", j.ID)
	there, err := s.containers.List(t.Context())
	require.NoError(t, err)
	require.Contains(t, there, ended)

	s.cling()
	s.step(sim.DefaultBoot)
	s.step(time.Minute)
	there, err = s.containers.List(t.Context())
	require.NoError(t, err)
	require.Equal(t, s.workersOf(other), there, "it is tried again")
}

// A worker that is up and cannot be removed has what it claims until it can be: its row stays.
func TestWorkers_LeftoverThatIsUpHasWhatItClaims(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.step(0)
	s.step(sim.DefaultBoot)
	up := string(s.rows()[0].ID)
	for _, k := range s.keyring.Keys(true) {
		require.NoError(t, s.keyring.Delete(t.Context(), k.ID))
	}

	s.begin()
	c := s.cling()
	c.to.Store(&up)
	other := s.another("other", 1)
	s.step(0)
	require.Contains(t, s.workersOf(s.e), up)
	require.Len(t, s.rows(), 2, "there is no room for a third")
	require.Equal(t, 2, s.workersOn("h"))
	c.to.Store(nil)
	s.step(time.Minute)
	s.step(time.Second)
	require.NotContains(t, s.workersOf(s.e), up)
	require.Len(t, s.workersOf(other), 1)
}

// An engine that fails once at the start costs a worker neither its life nor its jobs, nor the others theirs.
func TestWorkers_OutliveAnErrorOfTheEngineAtTheStart(t *testing.T) {
	t.Parallel()
	s := serve(t, 2, nil)
	s.step(0)
	s.step(sim.DefaultBoot)
	_, before := s.seen()
	j := s.busy(before[0])

	s.begin()
	id := string(before[0])
	s.cling().odd.Store(&id)
	s.step(0)
	s.step(time.Second)
	_, now := s.seen()
	require.ElementsMatch(t, before, now)
	state, err := s.containers.Inspect(t.Context(), id)
	require.NoError(t, err)
	require.Equal(t, runtime.Up, state.Phase)
	require.Len(t, s.keyring.Keys(true), 2)
	require.Zero(t, s.charge(before[0]).EndedAt)
	require.NoError(t, s.queue.Finish(t.Context(), "u", s.e.ID, before[0], j.ID, queue.Report{Output: []byte(`1`)}))
}

// An engine that fails once says nothing of a worker without a key either: its end waits.
func TestWorkers_WithoutAKeyEndOnceTheEngineAnswers(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	s.step(0)
	s.step(sim.DefaultBoot)
	id := s.rows()[0].ID
	for _, k := range s.keyring.Keys(true) {
		require.NoError(t, s.keyring.Delete(t.Context(), k.ID))
	}

	s.begin()
	odd := string(id)
	s.cling().odd.Store(&odd)
	s.step(0)
	require.Contains(t, s.workersOf(s.e), odd)
	_, err := s.containers.Inspect(t.Context(), odd)
	require.NoError(t, err, "its row and its container stay together")
	require.NotZero(t, s.charge(id).EndedAt, "it can do nothing for anybody")
	s.step(time.Minute)
	require.NotContains(t, s.workersOf(s.e), odd)
	_, err = s.containers.Inspect(t.Context(), odd)
	require.ErrorIs(t, err, runtime.ErrUnknown)
}

// charge gives what the worker was billed last.
func (s *service) charge(holder compute.WorkerID) compute.Charge {
	all := chargesOf(s.T, s.db, compute.ServerlessCPU, string(holder))
	require.NotEmpty(s, all)
	return all[len(all)-1]
}

// chargesOf gives what the holder was billed.
func chargesOf(t *testing.T, s store.Store, item compute.Item, holder string) (all []compute.Charge) {
	from := time.UnixMilli(1_700_000_000_000).Add(-time.Hour)
	require.NoError(t, s.Read(t.Context(), func(tx store.Tx) error {
		return tx.EachCharge("u", []compute.Item{item}, nil, from, from.Add(1000*time.Hour), func(c compute.Charge) error {
			if c.HolderID == holder {
				all = append(all, c)
			}
			return nil
		})
	}))
	return all
}
