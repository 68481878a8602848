package queue_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/queue"
)

func (b *bench) yield(w compute.WorkerID, id compute.JobID, output string) {
	c := compute.Chunk{Output: json.RawMessage(output)}
	require.NoError(b, b.queue.StreamJob(b.Context(), user, b.endpoint, w, id, c))
}

// read reads the stream without waiting.
func (b *bench) read(id compute.JobID) (compute.JobStatus, []string) {
	j, chunks, err := b.queue.Stream(b.Context(), user, b.endpoint, id, 0, nil)
	require.NoError(b, err)
	outputs := []string{}
	for _, c := range chunks {
		outputs = append(outputs, string(c.Output))
	}
	return j.Status, outputs
}

func (b *bench) finish(w compute.WorkerID, id compute.JobID, r queue.Report) {
	require.NoError(b, b.queue.Finish(b.Context(), user, b.endpoint, w, id, r))
}

func TestStream_HandsOverEachChunkOnce(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	status, chunks := b.read(id)
	require.Equal(t, compute.JobInQueue, status)
	require.Empty(t, chunks)

	b.take("w", 1)
	b.yield("w", id, `1`)
	b.yield("w", id, `{"a":2}`)
	b.yield("stranger", id, `9`)
	status, chunks = b.read(id)
	require.Equal(t, compute.JobInProgress, status)
	require.Equal(t, []string{`1`, `{"a":2}`}, chunks)

	b.yield("w", id, `3`)
	b.restart()
	b.finish("w", id, queue.Report{Output: json.RawMessage(`[]`)})
	status, chunks = b.read(id)
	require.Equal(t, compute.JobCompleted, status)
	require.Equal(t, []string{`3`}, chunks)

	for range 3 {
		status, chunks = b.read(id)
		require.Equal(t, compute.JobCompleted, status)
		require.Empty(t, chunks)
	}
}

func TestStream_OfACancelledJobEndsWithNotFound(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	b.yield("w", id, `1`)
	_, err := b.queue.Cancel(t.Context(), user, b.endpoint, id)
	require.NoError(t, err)

	status, chunks := b.read(id)
	require.Equal(t, compute.JobCancelled, status)
	require.Equal(t, []string{`1`}, chunks)
	status, chunks = b.read(id)
	require.Equal(t, compute.JobCancelled, status)
	require.Empty(t, chunks)

	_, _, err = b.queue.Stream(t.Context(), user, b.endpoint, id, 0, nil)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.Equal(t, compute.JobCancelled, b.status(id).Status, "the job itself can still be read")
}

func TestStream_ReadIsHeldForChunkOrEnd(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	type answer struct {
		status compute.JobStatus
		chunks int
	}

	answers := make(chan answer)
	read := func() {
		j, chunks, err := b.queue.Stream(context.WithoutCancel(t.Context()), user, b.endpoint, id, time.Minute, nil)
		if err == nil {
			answers <- answer{j.Status, len(chunks)}
		}
	}

	go read()
	b.yield("w", id, `1`)
	require.Equal(t, answer{compute.JobInProgress, 1}, <-answers)
	go read()
	b.finish("w", id, queue.Report{})
	require.Equal(t, answer{compute.JobCompleted, 0}, <-answers)
}

func TestStream_LargeChunkIsCutIntoPieces(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	text := strings.Repeat("aé€\"\\\n\x01😀", 300_000)
	whole, err := json.Marshal(text)
	require.NoError(t, err)

	object := `{"big":"` + strings.Repeat("x", 1_500_000) + `"}`
	for sent, want := range map[string]string{string(whole): text, object: object} {
		b.yield("w", id, sent)
		_, chunks := b.read(id)
		require.Greater(t, len(chunks), 1)

		var joined strings.Builder
		for _, c := range chunks {
			require.LessOrEqual(t, len(c), 1_000_000)
			var piece string
			require.NoError(t, json.Unmarshal([]byte(c), &piece))
			joined.WriteString(piece)
		}

		require.True(t, want == joined.String())
	}
}

func TestStream_ForgetsChunksOfALostJob(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	b.yield("w", id, `1`)
	b.queue.WorkerGone(t.Context(), b.endpoint, "w", "the worker ended")
	require.Equal(t, []compute.JobID{id}, b.take("other", 1))
	b.yield("other", id, `2`)
	_, chunks := b.read(id)
	require.Equal(t, []string{`2`}, chunks)
}

func TestStream_LongOneEndsWithItsLastChunks(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{})
	b.take("w", 1)
	big := `"` + strings.Repeat("x", 900_000) + `"`
	for range 25 {
		b.yield("w", id, big)
	}
	b.finish("w", id, queue.Report{})

	status, chunks := b.read(id)
	require.Equal(t, compute.JobInProgress, status)
	require.Len(t, chunks, 22)
	status, chunks = b.read(id)
	require.Equal(t, compute.JobCompleted, status)
	require.Len(t, chunks, 3)
}

func TestRetry_RunsAgainWithItsInputWithoutItsOutput(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{Input: json.RawMessage(`{"n":1}`)})
	_, err := b.queue.Retry(t.Context(), user, b.endpoint, id)
	require.Equal(t, compute.Conflict, compute.CodeOf(err))

	b.take("w", 1)
	b.finish("w", id, queue.Report{Output: json.RawMessage(`1`), Error: "no"})
	j, err := b.queue.Retry(t.Context(), user, b.endpoint, id)
	require.NoError(t, err)
	require.Equal(t, compute.JobInQueue, j.Status)
	require.Nil(t, b.status(id).Output)
	require.Empty(t, b.status(id).Error)

	taken, err := b.queue.Take(t.Context(), user, b.endpoint, "w", 1)
	require.NoError(t, err)
	require.Equal(t, json.RawMessage(`{"n":1}`), taken[0].Input)
	require.Equal(t, 1, taken[0].Attempt)

	b.finish("w", id, queue.Report{Error: "no"})
	b.clock.Advance(30 * time.Minute)
	_, err = b.queue.Retry(t.Context(), user, b.endpoint, id)
	require.Equal(t, compute.NotFound, compute.CodeOf(err), "expired")
}

func TestRetry_AvoidsAWorkerThatMayStillRunIt(t *testing.T) {
	t.Parallel()
	b := open(t)
	id := b.run(queue.Submission{ExecutionTimeout: 5 * time.Second})
	b.take("w", 1)
	require.NoError(t, b.queue.Ping(user, b.endpoint, "w", []compute.JobID{id}))
	b.sweepAfter(5 * time.Second)
	_, err := b.queue.Retry(t.Context(), user, b.endpoint, id)
	require.NoError(t, err)
	next := b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{next}, b.take("w", 2))
	require.NoError(t, b.queue.Ping(user, b.endpoint, "w", []compute.JobID{next}))
	require.Equal(t, []compute.JobID{id}, b.take("w", 1), "it stopped it")
}

func TestPurge_CancelsWhatWaitsAndNothingElse(t *testing.T) {
	t.Parallel()
	b := open(t)
	held := b.run(queue.Submission{})
	b.take("w", 1)
	var ids []compute.JobID
	for i := range 1200 {
		ids = append(ids, b.run(queue.Submission{LowPriority: i%2 == 0}))
	}
	_, err := b.queue.Cancel(t.Context(), user, b.endpoint, ids[5])
	require.NoError(t, err)

	removed, err := b.queue.Purge(t.Context(), user, b.endpoint)
	require.NoError(t, err)
	require.Equal(t, 1199, removed)
	for _, id := range ids {
		require.Equal(t, compute.JobCancelled, b.status(id).Status)
	}
	require.Equal(t, compute.JobInProgress, b.status(held).Status)

	removed, err = b.queue.Purge(t.Context(), user, b.endpoint)
	require.NoError(t, err)
	require.Zero(t, removed)
	after := b.run(queue.Submission{})
	require.Equal(t, []compute.JobID{after}, b.take("w", 9))
}

func TestEndpoints_ReportThroughAnotherChangesNothing(t *testing.T) {
	t.Parallel()
	b := open(t)
	const other compute.EndpointID = "endpointtwo000"
	b.queue.SetEndpoint(compute.Endpoint{ID: other, UserID: "stranger", Name: "two", Image: "two"})
	id := b.run(queue.Submission{})
	b.take("w", 1)
	require.NoError(t, b.queue.Ping(user, b.endpoint, "w", nil))

	b.clock.Advance(20 * time.Second)
	require.NoError(t, b.queue.Ping("stranger", other, "w", []compute.JobID{id}))
	require.NoError(t, b.queue.Progress(t.Context(), "stranger", other, "w", id, json.RawMessage(`1`)))
	require.NoError(t, b.queue.StreamJob(t.Context(), "stranger", other, "w", id, compute.Chunk{Output: json.RawMessage(`2`)}))
	require.Nil(t, b.status(id).Output)

	_, chunks := b.read(id)
	require.Empty(t, chunks)
	b.sweepAfter(11 * time.Second)
	require.Equal(t, compute.JobInQueue, b.status(id).Status, "its lease was not renewed")
}

func TestStream_PiecesAreFullAndWithinTheLimit(t *testing.T) {
	t.Parallel()
	const limit = 1_000_000 // bytes of JSON
	for _, character := range []string{"a", "é", "😀", "\n", "\x01", "\x1f", `"`, `\`, "\u2028", "\u2029", "<", "\x7f"} {
		b := open(t)
		id := b.run(queue.Submission{})
		b.take("w", 1)
		text := strings.Repeat(character, 2*limit/len(character)+1)
		whole, err := json.Marshal(text)
		require.NoError(t, err)

		b.yield("w", id, string(whole))
		var joined strings.Builder
		_, chunks := b.read(id)
		for i, chunk := range chunks {
			require.LessOrEqual(t, len(chunk), limit, "%q", character)
			if i < len(chunks)-1 { // a few characters that are longer in some JSON than in ours are counted as long as there
				require.Greater(t, len(chunk), limit/3, "%q", character)
			}
			var piece string
			require.NoError(t, json.Unmarshal([]byte(chunk), &piece))
			joined.WriteString(piece)
		}

		require.True(t, text == joined.String(), "%q", character)
	}
}
