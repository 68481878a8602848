package queue_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
	"github.com/berthdev/berth/store"
)

func TestStream_GivesWhatThereIsRoomForAndKeepsTheRest(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	var asked []int
	room := func(may int, err error) func(int) (int, error) {
		return func(bytes int) (int, error) {
			asked = append(asked, bytes)
			return may, err
		}
	}
	read := func(room func(int) (int, error)) ([]compute.Chunk, error) {
		_, chunks, err := b.queue.Stream(t.Context(), user, b.endpoint, id, 0, room)
		return chunks, err
	}

	chunks, err := read(room(1000, nil))
	require.NoError(t, err)
	require.Empty(t, chunks)
	require.Empty(t, asked, "nothing needs room")
	for range 4 {
		b.yield("w", id, `"`+strings.Repeat("x", 98)+`"`)
	}
	full := errors.New("there is no room")
	chunks, err = read(room(0, full))
	require.ErrorIs(t, err, full)
	require.Empty(t, chunks)
	require.Equal(t, []int{400}, asked)
	chunks, err = read(room(250, nil))
	require.NoError(t, err)
	require.Len(t, chunks, 2)
	chunks, err = read(room(1, nil))
	require.NoError(t, err)
	require.Len(t, chunks, 1, "one at least, or it would go no further")
	require.Equal(t, []int{400, 400, 200}, asked)

	_, err = b.queue.Cancel(t.Context(), user, b.endpoint, id)
	require.NoError(t, err)
	chunks, err = read(room(1000, nil))
	require.NoError(t, err)
	require.Len(t, chunks, 1)
}

func TestStream_AsksForNoMoreRoomThanOneReadTakes(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	big := compute.Chunk{Output: json.RawMessage(`"` + strings.Repeat("x", 899_998) + `"`)}
	require.NoError(t, b.db.Write(t.Context(), func(tx store.Tx) error {
		for range 23 {
			if _, err := tx.AppendChunk(id, "w", big); err != nil {
				return err
			}
		}
		return nil
	}))
	_, chunks, err := b.queue.Stream(t.Context(), user, b.endpoint, id, 0, func(bytes int) (int, error) {
		require.Equal(t, 20_000_000, bytes)
		return 1_000_000, nil
	})
	require.NoError(t, err)
	require.Len(t, chunks, 1)
}

func TestStream_MetricsMayBeAsLongAsAChunk(t *testing.T) {
	t.Parallel()
	b := open(t)
	for size, want := range map[int]compute.Code{1_000_000: "", 1_000_001: compute.Rejected} {
		id := b.run(queue.Submission{})
		b.take("w", 1)
		metrics := json.RawMessage(`"` + strings.Repeat("m", size-2) + `"`)
		err := b.queue.StreamJob(t.Context(), user, b.endpoint, "w", id, compute.Chunk{Output: json.RawMessage(`1`), Metrics: metrics})
		require.Equal(t, want, compute.CodeOf(err))
		_, chunks, err := b.queue.Stream(t.Context(), user, b.endpoint, id, 0, nil)
		require.NoError(t, err)
		if want != "" {
			require.Empty(t, chunks)
			require.Equal(t, compute.JobFailed, b.status(id).Status)
			require.Contains(t, b.status(id).Error, "the metrics of a chunk, 1000001 bytes, are over the limit of 1000000 bytes")
			continue
		}
		require.Len(t, chunks, 1)
		require.Len(t, chunks[0].Metrics, size)
		b.finish("w", id, queue.Report{})
	}
}

// The metrics of a chunk that is cut come once, with its first piece.
func TestStream_MetricsOfAChunkThatIsCutComeOnce(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	for size, pieces := range map[int]int{1_000_000: 1, 1_000_001: 2} {
		c := compute.Chunk{Output: json.RawMessage(`"` + strings.Repeat("x", size-2) + `"`), Metrics: json.RawMessage(`{"n":1}`)}
		require.NoError(t, b.queue.StreamJob(t.Context(), user, b.endpoint, "w", id, c))
		_, chunks, err := b.queue.Stream(t.Context(), user, b.endpoint, id, 0, nil)
		require.NoError(t, err)
		require.Len(t, chunks, pieces)
		require.Equal(t, `{"n":1}`, string(chunks[0].Metrics))
		for _, c := range chunks[1:] {
			require.Empty(t, c.Metrics)
		}
	}
}

// The progress of a job keeps it with its worker, though it is too long to be shown.
func TestProgress_OverTheLimitIsASignOfLifeAllTheSame(t *testing.T) {
	t.Parallel()
	b, id := managed(t)
	b.ping(id)
	b.clock.Advance(29 * time.Second)
	err := b.queue.Progress(t.Context(), user, b.endpoint, "w", id, make(json.RawMessage, 10_000_001))
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, "the progress of 10000001 bytes is over the limit of 10000000 bytes")
	b.sweepAfter(29 * time.Second)
	require.Equal(t, compute.JobInProgress, b.status(id).Status)
	require.Empty(t, b.status(id).Output)
}

// The pieces of a long value that is no text are known, with the last of them; those of text, and what is whole, are not.
func TestStream_PiecesOfALongValueAreToldFromText(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	for size, pieces := range map[int]int{999_992: 1, 999_993: 2, 2_500_000: 3} {
		object := `{"a":"` + strings.Repeat("x", size) + `"}`
		b.yield("w", id, "{ \"a\":\n\""+object[6:])
		_, chunks := b.read(id)
		require.Len(t, chunks, pieces)
		if pieces == 1 {
			require.True(t, object == chunks[0], "on one line it is short enough")
			_, _, is := queue.Piece(json.RawMessage(chunks[0]))
			require.False(t, is)
			continue
		}

		var joined []byte
		for i, c := range chunks {
			require.LessOrEqual(t, len(c), 1_000_000)
			text, last, is := queue.Piece(json.RawMessage(c))
			require.True(t, is)
			require.Equal(t, i == len(chunks)-1, last)
			joined = append(joined, text...)
		}
		require.True(t, object == string(joined))
	}

	b.yield("w", id, `"`+strings.Repeat("x", 1_000_000)+`"`)
	_, chunks := b.read(id)
	require.Len(t, chunks, 2)
	for _, c := range append(chunks, ``, `1`, `"a"`) {
		_, _, is := queue.Piece(json.RawMessage(c))
		require.False(t, is)
	}
}
