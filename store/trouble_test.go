package store_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func TestTroubled_SaysOfWhatButNotWhatTheDiskAnswered(t *testing.T) {
	t.Parallel()
	cause := errors.New("write /secret/path: no space left on device")
	for trouble, title := range map[store.Trouble]string{
		store.Full: "Storage Full", store.Failing: "Storage Failing", store.Locked: "Storage Locked", store.Away: "Storage Away", store.Moved: "Storage Moved",
	} {
		err := fmt.Errorf("commit: %w", store.Troubled(trouble, cause))
		require.Equal(t, trouble, store.TroubleOf(err))
		require.Equal(t, compute.Unavailable, compute.CodeOf(err))
		public, ok := errors.AsType[*compute.Error](err)
		require.True(t, ok)
		require.Equal(t, title, public.Title)
		require.NotEmpty(t, public.Detail)
		require.NotContains(t, public.Detail, "secret")
		require.Positive(t, public.RetryAfter)
		require.ErrorIs(t, err, cause)
		require.ErrorContains(t, err, "no space left", "it is for the log")
		require.False(t, store.IsUnknown(err))
	}
	require.Empty(t, store.TroubleOf(cause))
	require.Empty(t, store.TroubleOf(nil))
	require.Empty(t, store.TroubleOf(compute.Errorf(compute.Unavailable, "the store is closed")))
}

func TestUnknown_IsWhatItWraps(t *testing.T) {
	t.Parallel()
	cause := store.Troubled(store.Away, errors.New("no answer"))
	err := fmt.Errorf("commit: %w", store.Unknown(cause))
	require.True(t, store.IsUnknown(err))
	require.Equal(t, store.Away, store.TroubleOf(err))
	require.ErrorIs(t, err, cause)
	require.EqualError(t, store.Unknown(cause), cause.Error())
	require.False(t, store.IsUnknown(cause))
	require.False(t, store.IsUnknown(nil))
}
