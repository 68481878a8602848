package storetest

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// pieces gives a long text of the job, a few pieces at a time.
func pieces(t *testing.T, s store.Store, j compute.Job, of compute.JobText, size int) (text json.RawMessage) {
	for first, all := 0, compute.Pieces(size); first < all; first += 3 {
		text = append(text, read(t, s, func(tx store.Tx) (json.RawMessage, error) {
			return tx.JobPieces(j, of, first, min(3, all-first))
		})...)
	}
	return text
}

func jobPieces(t *testing.T, open Open) {
	s, clock := begin(t, open)
	input, first, second := long('i', 3*compute.PieceSize), long('f', 2*compute.PieceSize+1), long('s', 2*compute.PieceSize+1)
	none := func(j compute.Job, of compute.JobText, n, count int) {
		t.Helper()
		_, err := tryRead(t, s, func(tx store.Tx) (json.RawMessage, error) { return tx.JobPieces(j, of, n, count) })
		require.Equal(t, compute.NotFound, compute.CodeOf(err))
	}

	write(t, s, func(tx store.Tx) error { return tx.InsertJob(job("j"), input) })
	var size int
	write(t, s, func(tx store.Tx) (err error) {
		_, _, size, _, err = tx.TakeJob("j", "w")
		return err
	})
	require.Equal(t, len(input), size)

	j := getJob(t, s, "j")
	require.Equal(t, input, pieces(t, s, j, compute.JobInput, size))
	none(j, compute.JobInput, 2, 2)
	none(compute.Job{ID: "none"}, compute.JobInput, 0, 1)

	// What a worker sends in between stays with the job through what is done to it, and is replaced by the next.
	require.True(t, guarded(t, s, func(tx store.Tx) (bool, error) { return tx.SetJobOutput("j", "w", first) }))
	move(t, s, "j", func(j *compute.Job) { j.ExpiresAt = clock.Now() })
	j = getJob(t, s, "j")
	require.Equal(t, len(first), j.OutputSize)
	require.Equal(t, first, pieces(t, s, j, compute.JobOutput, j.OutputSize))

	ends := func(output json.RawMessage) compute.Job {
		t.Helper()
		clock.Advance(time.Second)
		move(t, s, "j", func(j *compute.Job) {
			j.Status, j.EndedAt, j.Output, j.OutputSize = compute.JobFailed, clock.Now(), output, 0
		})
		return getJob(t, s, "j")
	}

	j = ends(second)
	require.Equal(t, len(second), j.OutputSize)
	require.Equal(t, second, pieces(t, s, j, compute.JobOutput, j.OutputSize))
	move(t, s, "j", func(j *compute.Job) { j.ExpiresAt = clock.Now().Add(time.Hour) })
	require.Equal(t, second, pieces(t, s, j, compute.JobOutput, j.OutputSize), "more time to live")

	again := func() {
		t.Helper()
		move(t, s, "j", func(j *compute.Job) {
			j.Status, j.WorkerID, j.Output, j.OutputSize, j.EndedAt = compute.JobInQueue, "", nil, 0, time.Time{}
		})
	}

	again()
	none(j, compute.JobOutput, 0, 1)
	require.Zero(t, getJob(t, s, "j").OutputSize)
	move(t, s, "j", take("w", start))
	next := ends(first)
	none(j, compute.JobOutput, 0, 1)
	require.Equal(t, first, pieces(t, s, next, compute.JobOutput, next.OutputSize))

	again()
	move(t, s, "j", take("w", start))
	require.Equal(t, json.RawMessage(`1`), ends(json.RawMessage(`1`)).Output, "a short one after a long one")
	require.Equal(t, input, pieces(t, s, j, compute.JobInput, size))

	require.True(t, guarded(t, s, func(tx store.Tx) (bool, error) { return tx.DeleteJob("j", clock.Now().Add(2*time.Hour)) }))
	none(j, compute.JobInput, 0, 1)
}

// long gives JSON text of a letter, of so many bytes.
func long(letter byte, bytes int) json.RawMessage {
	return json.RawMessage(`"` + strings.Repeat(string(letter), bytes-2) + `"`)
}
