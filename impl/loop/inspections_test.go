package loop_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
)

// hanging is a host whose engine says for half a minute nothing of some allocations.
type hanging struct {
	*host
	over map[string]bool
}

func (h hanging) Inspect(ctx context.Context, id string) (runtime.State, error) {
	if h.over[id] {
		select {
		case <-ctx.Done():
			return runtime.State{}, ctx.Err()
		case <-time.After(30 * time.Second):
			return runtime.State{}, runtime.ErrUnavailable
		}
	}
	return h.host.Inspect(ctx, id)
}

func TestPods_AnEngineThatHangsHoldsUpNoOtherAfterARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		y := newYard(t)
		over := map[string]bool{}
		for range 20 {
			over[string(y.running(nil))] = true
		}
		other := y.running(nil)
		y.host.Exit(string(other), 3)
		y.restart()
		y.pods.Runtime = hanging{y.host, over}

		ctx, end := context.WithCancel(t.Context())
		ended := make(chan struct{})
		go func() {
			y.pods.Run(ctx)
			close(ended)
		}()
		time.Sleep(11 * time.Second)
		synctest.Wait()
		require.Equal(t, compute.PodError, y.pod(other).Status, "it was looked at")
		for id := range over {
			require.Equal(t, compute.PodRunning, y.pod(compute.PodID(id)).Status, "nothing is known of it")
		}
		end()
		<-ended
	})
}

func TestWorkers_AnEngineThatHangsHoldsUpNoOtherAfterARestart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := serve(t, 2, nil)
		s.step(0)
		s.step(sim.DefaultBoot)
		_, before := s.seen()
		require.Len(t, before, 2)
		s.begin()
		s.workers.Runtime = hanging{&host{Fleet: s.containers}, map[string]bool{string(before[0]): true, string(before[1]): true}}
		began := time.Now()
		s.step(0)
		require.LessOrEqual(t, time.Since(began), 35*time.Second, "5 s until they are taken up, and their first looks side by side")
		_, now := s.seen()
		require.ElementsMatch(t, before, now, "nothing is known of them")
	})
}
