package store_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func TestWalk_GoesFromPageToPageToTheLast(t *testing.T) {
	t.Parallel()
	pages := [][]int{{5, 4}, {3}, {}, {2, 1}}
	asked := 0
	page := func(user compute.UserID, p compute.Page) ([]int, compute.Position, error) {
		require.Equal(t, compute.UserID("u"), user)
		require.Equal(t, compute.Position{Seq: int64(asked)}, p.After, "from where the one before ended")
		require.Greater(t, p.Limit, 1<<20, "as many as there are")
		require.True(t, p.Room(1<<20))
		require.False(t, p.Room(64<<20), "never all of a long list at once")
		asked++
		if asked == len(pages) {
			return pages[asked-1], compute.Position{}, nil
		}
		return pages[asked-1], compute.Position{Seq: int64(asked)}, nil
	}
	var all []int
	require.NoError(t, store.Walk("u", page, func(n int) { all = append(all, n) }))
	require.Equal(t, []int{5, 4, 3, 2, 1}, all)
	require.Len(t, pages, asked)
}

func TestWalk_EndsWithAnError(t *testing.T) {
	t.Parallel()
	no := errors.New("no")
	asked := 0
	err := store.Walk("u", func(compute.UserID, compute.Page) ([]int, compute.Position, error) {
		if asked++; asked == 2 {
			return []int{7}, compute.Position{Seq: 2}, no
		}
		return []int{1}, compute.Position{Seq: 1}, nil
	}, func(n int) { require.Equal(t, 1, n, "what comes with an error is none") })
	require.ErrorIs(t, err, no)
	require.Equal(t, 2, asked)
}
