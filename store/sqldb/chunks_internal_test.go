package sqldb

import (
	"database/sql/driver"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDrainChunks_SaysThatMoreAreLeftOnlyIfSomeAre(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		there, limit, given int
		more                bool
	}{
		{0, 10, 0, false}, {1, 0, 1, false}, {2, 0, 1, true}, {10, 10, 10, false}, {11, 10, 10, true},
		{chunkRows, 1 << 20, chunkRows, false}, {chunkRows + 1, 1 << 20, chunkRows, true}, {chunkRows, chunkRows, chunkRows, false}, {chunkRows, chunkRows - 1, chunkRows - 1, true},
	} {
		sizes, rows := make([][]driver.Value, c.there), make([][]driver.Value, c.given)
		for i := range sizes {
			sizes[i] = []driver.Value{int64(i + 1), int64(1)}
		}
		for i := range rows {
			rows[i] = []driver.Value{int64(7), int64(i + 1), []byte("1"), nil}
		}
		p, tx := play(map[string]answer{"own " + measureChunks: {rows: sizes}, "own " + selectChunksTo: {rows: rows}})
		chunks, more, err := tx.DrainChunks("j", c.limit)
		require.NoError(t, err)
		require.Len(t, chunks, c.given, "%+v", c)
		require.Equal(t, c.more, more, "%+v", c)
		require.EqualValues(t, chunkRows+1, p.args[0][2].Value, "one more than it gives")
		if c.given == 0 {
			require.Len(t, p.asked, 1)
			continue
		}
		require.Equal(t, []string{"own " + selectChunksTo, "own " + deleteChunksTo}, p.asked[1:])
		require.EqualValues(t, c.given, p.args[1][2].Value, "no more than those")
		require.EqualValues(t, c.given, p.args[2][1].Value, "those that are given")
		require.Zero(t, p.reading)
	}
}
