//go:build unix

package postgres_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/pgtest"
)

// TestDrainChunks_ReadsWhatItGivesAlone: the reader of a long stream has a little of it at a time, while others wait for their turn to write.
func TestDrainChunks_ReadsWhatItGivesAlone(t *testing.T) {
	t.Parallel()
	const megabyte = 1 << 20
	o := own(t)
	output := append(append([]byte{'"'}, bytes.Repeat([]byte("a"), megabyte)...), '"')
	require.NoError(t, o.store.Write(t.Context(), func(tx store.Tx) error {
		j := compute.Job{ID: "j", EndpointID: "e", Status: compute.JobInQueue, TTL: time.Hour, Retention: time.Hour}
		return tx.InsertJob(j, nil)
	}))
	execute(t, connected(t, o.url), `UPDATE jobs SET status = 'IN_PROGRESS', worker_id = 'w'`)
	require.NoError(t, o.store.Write(t.Context(), func(tx store.Tx) error {
		for range 30 {
			if added, err := tx.AppendChunk("j", "w", compute.Chunk{Output: output}); err != nil || !added {
				t.Error("the chunk was not added", err)
				return err
			}
		}
		return nil
	}))

	for _, c := range []struct{ limit, given int }{{1, 1}, {2*megabyte + 10, 2}} {
		o.proxy.Count()
		var chunks []compute.Chunk
		var more bool
		require.NoError(t, o.store.Write(t.Context(), func(tx store.Tx) (err error) {
			chunks, more, err = tx.DrainChunks("j", c.limit)
			return err
		}))
		require.Len(t, chunks, c.given)
		require.True(t, more)
		require.Equal(t, output, []byte(chunks[0].Output))
		require.Less(t, o.proxy.Passed(pgtest.ToClient), (c.given+1)*megabyte)
	}
}
