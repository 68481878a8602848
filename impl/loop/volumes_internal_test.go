package loop

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// away is a store that cannot be read now.
type away struct{ store.Store }

func (away) Read(context.Context, func(store.Tx) error) error {
	return compute.Errorf(compute.Unavailable, "the database is away")
}

func TestVolumeGB_IsAskedAgainOfAStoreThatIsAway(t *testing.T) {
	t.Parallel()
	_, err := volumeGB(t.Context(), away{}, &compute.NetworkMount{VolumeID: "v"})
	require.ErrorIs(t, err, runtime.ErrUnavailable, "else its pod would be in ERROR for good")
	require.NoError(t, retried(nil))
	require.NotErrorIs(t, retried(compute.Errorf(compute.NotFound, "gone")), runtime.ErrUnavailable)
}

// volumeless is a store without network volumes.
type volumeless struct{ store.Store }

func (volumeless) Read(_ context.Context, f func(store.Tx) error) error { return f(noVolumes{}) }

type noVolumes struct{ store.Tx }

func (noVolumes) Volume(id compute.VolumeID) (compute.Volume, error) {
	return compute.Volume{}, compute.Errorf(compute.NotFound, "volume %q does not exist", id)
}

func TestVolumeGB_OfWhatHasNoSizeIsNone(t *testing.T) {
	t.Parallel()
	gb, err := volumeGB(t.Context(), volumeless{}, &compute.NetworkMount{VolumeID: "global"})
	require.NoError(t, err)
	require.Zero(t, gb)
	gb, err = volumeGB(t.Context(), away{}, nil)
	require.NoError(t, err, "nobody is asked for nothing")
	require.Zero(t, gb)
}
