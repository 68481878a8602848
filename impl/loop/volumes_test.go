package loop_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
)

func TestVolumes_NetworkDataGoesWithItsVolume(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	v, err := y.ctl.CreateVolume(t.Context(), "u", control.NewVolume{Name: "v", SizeGB: 10, DataCenterID: "EU-RO-1"})
	require.NoError(t, err)

	p, err := y.ctl.CreatePod(t.Context(), "u", control.NewPod{
		Name: "a", Image: "i", Env: map[string]string{sim.EnvMark: "x"}, CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2},
		Network: []compute.NetworkMount{{VolumeID: v.ID, Path: "/d"}},
	})
	require.NoError(t, err)

	y.step(0)
	y.act(p.ID, compute.PodTerminate)
	y.pods.HintVolume(v.ID)
	y.step(0)
	kept, err := y.host.Volumes(t.Context())
	require.NoError(t, err)
	require.Equal(t, []compute.VolumeID{v.ID}, kept)
	require.NoError(t, y.ctl.DeleteVolume(t.Context(), "u", v.ID))

	y.step(0)
	kept, err = y.host.Volumes(t.Context())
	require.NoError(t, err)
	require.Empty(t, kept)
}

func TestVolumes_GlobalDataGoesWithItsVolume(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	v, err := y.ctl.CreateGlobalVolume(t.Context(), "u", "models")
	require.NoError(t, err)
	mount := &compute.NetworkMount{VolumeID: v.ID, Path: "/runpod-volume"}
	require.NoError(t, y.host.Start(t.Context(), runtime.Allocation{ID: "worker", Env: map[string]string{sim.EnvMark: "x"}, Network: mount}))

	y.pods.HintVolume(v.ID)
	y.step(0)
	kept, err := y.host.Volumes(t.Context())
	require.NoError(t, err)
	require.Equal(t, []compute.VolumeID{v.ID}, kept)
	require.NoError(t, y.ctl.DeleteGlobalVolume(t.Context(), "u", v.ID))

	y.step(0)
	kept, err = y.host.Volumes(t.Context())
	require.NoError(t, err)
	require.Empty(t, kept)
}
