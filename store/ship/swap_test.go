package ship_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store/ship"
)

func TestShip_FolderInThePlaceOfAnotherGetsAGenerationOfItsOwn(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(t.TempDir(), "to")
	to, err := ship.Open(dir, "", none)
	require.NoError(t, err)
	db := open(t)
	insert(t, db, 0, 5, 1000)
	s, stop := start(t, db, to, func(o *ship.Options) { o.Key = []byte("a key") })
	shipped(t, s)

	n := 5
	for swaps, empty := range []bool{true, false} { // as when something is mounted there, and when the mount goes
		before := s.Status().Generation
		require.NoError(t, os.Rename(dir, dir+strings.Repeat("-", swaps+1)))
		if empty {
			require.NoError(t, os.Mkdir(dir, 0o700))
		}
		insert(t, db, n, n+3, 1000)
		n += 3
		require.Eventually(t, func() bool { return s.Status().Broken == int64(swaps+1) && s.Status().Generation != before }, long, 5*time.Millisecond)
		shipped(t, s)
		r, there := restored(t, to, ship.Wish{})
		require.Equal(t, n, there)
		require.NotEqual(t, before, r.Generation)
		require.Equal(t, "a key", string(r.Key))
	}
	insert(t, db, n, n+3, 1000)
	require.NoError(t, stop())
	_, there := restored(t, to, ship.Wish{})
	require.Equal(t, n+3, there)
	require.EqualValues(t, 2, s.Status().Broken)
}
