package sqlite

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestShrink_KeepsAFewUnusedPages(t *testing.T) {
	t.Parallel()
	d, err := Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, d.Close()) })

	c := d.engine.conn
	for _, query := range []string{"CREATE TABLE big (body)", "INSERT INTO big VALUES (zeroblob(800000))", "DROP TABLE big"} {
		_, err := c.Exec(query)
		require.NoError(t, err)
	}
	free, err := number(c, "PRAGMA freelist_count")
	require.NoError(t, err)
	require.Less(t, free, int64(shrinkLeast))
	pages, err := number(c, "PRAGMA page_count")
	require.NoError(t, err)
	require.Greater(t, free*shrinkShare, pages, "a large part of the file")

	require.False(t, shrink(c))
	after, err := number(c, "PRAGMA freelist_count")
	require.NoError(t, err)
	require.Equal(t, free, after)
}
