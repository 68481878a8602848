package control

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestWhole_IsAllOrNothing(t *testing.T) {
	t.Parallel()
	all, err := whole([]int{1, 2}, compute.Position{}, nil)
	require.NoError(t, err)
	require.Equal(t, []int{1, 2}, all)

	for _, next := range []compute.Position{{At: 1}, {Seq: 1}} {
		all, err = whole([]int{1, 2}, next, nil)
		require.Equal(t, compute.Rejected, compute.CodeOf(err))
		require.ErrorContains(t, err, "the list is too long to be read at once")
		require.Nil(t, all)
	}
	failed := errors.New("the disk fails")
	all, err = whole([]int{1}, compute.Position{Seq: 1}, failed)
	require.ErrorIs(t, err, failed)
	require.Nil(t, all)
}

func TestControl_ListPods_IsRefusedWhereThereIsNoRoom(t *testing.T) {
	t.Parallel()
	c, _, _ := openFrozen(t, []Host{l4s("a", 3)})
	for range 3 {
		_, err := c.CreatePod(t.Context(), "u", oneL4())
		require.NoError(t, err)
	}
	_, err := c.ListPods(t.Context(), "u", func(int) bool { return false })
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	pods, err := c.ListPods(t.Context(), "u", func(int) bool { return true })
	require.NoError(t, err)
	require.Len(t, pods, 3)
}
