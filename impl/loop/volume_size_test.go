package loop_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
)

// sized is a runtime that knows how large the network volume of each allocation was said to be.
type sized struct {
	*host
	mu sync.Mutex
	gb map[string]int64
}

func (s *sized) Start(ctx context.Context, a runtime.Allocation) error {
	s.mu.Lock()
	s.gb[a.ID] = a.NetworkGB
	s.mu.Unlock()
	return s.host.Start(ctx, a)
}

func TestPods_RuntimesKnowHowLargeANetworkVolumeIs(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	y.restart()
	s := &sized{host: y.host, gb: map[string]int64{}}
	y.pods.Runtime = s
	v, err := y.ctl.CreateVolume(t.Context(), "u", control.NewVolume{Name: "v", SizeGB: 13, DataCenterID: "EU-RO-1"})
	require.NoError(t, err)
	pod, err := y.ctl.CreatePod(t.Context(), "u", control.NewPod{
		Name: "a", Image: "i", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2}, Network: []compute.NetworkMount{{VolumeID: v.ID, Path: "/v"}},
	})
	require.NoError(t, err)
	plain := y.create(nil)
	y.step(0)
	require.Equal(t, map[string]int64{string(pod.ID): 13, string(plain): 0}, s.gb)
}
