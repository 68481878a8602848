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
