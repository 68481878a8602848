package loop_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
)

// keeping is a fleet that remembers what was started last.
type keeping struct {
	*sim.Fleet
	last runtime.Allocation
}

// Start starts an allocation.
func (k *keeping) Start(ctx context.Context, a runtime.Allocation) error {
	k.last = a
	return k.Fleet.Start(ctx, a)
}

// balancing is a service with an endpoint that balances load over workers, of which it keeps one.
func balancing(t *testing.T, env map[string]string) (*service, *keeping) {
	s := serve(t, 0, nil)
	k := &keeping{Fleet: s.containers}
	s.workers.Runtime = k
	name, image, least := "lb", "i", int64(1)
	var err error
	s.e, err = s.endpoints.Create(t.Context(), "u", compute.LoadBalancer, control.EndpointChange{
		Name: &name, Image: &image, CPUs: []compute.CPU{{ID: "cpu3g", VCPUCount: 2}}, WorkersMin: &least, Env: env,
		Scaling: &control.Scaling{Scaler: compute.ByCount, Value: 1},
	})
	require.NoError(t, err)
	s.step(0)
	s.step(sim.DefaultBoot)
	return s, k
}

// condition has the worker be like that.
func (s *service) condition(c queue.Condition) compute.WorkerStatus {
	_, ids := s.seen()
	s.queue.SetCondition(s.e.ID, ids[0], c, "it says so")
	statuses, _ := s.seen()
	return statuses[0]
}

func TestWorkers_OfALoadBalancerAreAsTheirHealthCheckSays(t *testing.T) {
	t.Parallel()
	s, _ := balancing(t, nil)
	statuses, _ := s.seen()
	require.Equal(t, []compute.WorkerStatus{initializing}, statuses, "that its container is up is not enough")
	for _, is := range []struct {
		c    queue.Condition
		want compute.WorkerStatus
	}{
		{queue.Unreachable, initializing}, {queue.Loading, initializing}, {queue.Unhealthy, unhealthy}, {queue.Healthy, compute.WorkerIdle},
		{queue.Loading, initializing}, {queue.Healthy, compute.WorkerIdle}, {queue.Unreachable, unhealthy}, {queue.Healthy, compute.WorkerIdle},
	} {
		require.Equal(t, is.want, s.condition(is.c), is.c)
	}
}

func TestWorkers_OfALoadBalancerThatStayUnhealthyAreReplaced(t *testing.T) {
	t.Parallel()
	s, _ := balancing(t, nil)
	_, before := s.seen()
	s.condition(queue.Unhealthy)
	s.step(7*time.Minute - time.Millisecond)
	_, now := s.seen()
	require.Equal(t, before, now)
	s.step(time.Millisecond)
	s.step(time.Second)
	_, now = s.seen()
	require.NotEqual(t, before, now)
	_, ended, err := s.ended()
	require.NoError(t, err)
	require.Contains(t, ended, "was not healthy within 7m0s: it says so")
}

// ended gives why the worker ended that ended last.
func (s *service) ended() (compute.WorkerID, string, error) {
	all, err := s.endpoints.EndedWorkers(s.Context(), "u", s.e.ID)
	if err != nil || len(all) == 0 {
		return "", "", err
	}
	return all[0].ID, all[0].Reason, nil
}

func TestWorkers_OfALoadBalancerThatNobodyCouldAskAreReplaced(t *testing.T) {
	t.Parallel()
	s, _ := balancing(t, nil)
	_, before := s.seen()
	s.step(6 * time.Minute)
	_, now := s.seen()
	require.Equal(t, before, now)
	s.step(time.Minute)
	s.step(time.Second)
	_, now = s.seen()
	require.NotEqual(t, before, now)
}

func TestWorkers_OfALoadBalancerAreToldWhereToListen(t *testing.T) {
	t.Parallel()
	_, k := balancing(t, nil)
	require.Equal(t, []string{"80/http"}, k.last.Ports)
	require.Equal(t, map[string]int{"PORT": 80, "PORT_HEALTH": 80}, k.last.Listen)
	variables := k.last.Variables("", nil)
	for _, v := range []string{"PORT=80", "PORT_HEALTH=80", "HEALTH_CHECK_PATH=/ping"} {
		require.Contains(t, variables, v)
	}

	_, k = balancing(t, map[string]string{"PORT": "5000", "HEALTH_CHECK_PATH": "/health"})
	require.Equal(t, []string{"5000/http"}, k.last.Ports)
	variables = k.last.Variables("", nil)
	for _, v := range []string{"PORT=5000", "PORT_HEALTH=5000", "HEALTH_CHECK_PATH=/health"} {
		require.Contains(t, variables, v)
	}
}
