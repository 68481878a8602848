package queue

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"time"
	"unicode/utf8"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// The documented sizes of a stream (rules queue.stream.hold, queue.stream.split), in bytes of JSON.
const (
	// DefaultStreamWait is how long a read of a stream is held for the first chunk by default: less than the 10 s
	// that the Python client gives a read in all, so that it does not give up just as the answer is sent.
	DefaultStreamWait = 8 * time.Second

	chunkLimit = 1_000_000
	readLimit  = 20_000_000 // of one read
)

// StreamJob appends one chunk to a job that the worker holds; a late one changes nothing and is no error. One over the limit
// becomes several.
func (q *Queue) StreamJob(ctx context.Context, user compute.UserID, e compute.EndpointID, w compute.WorkerID, id compute.JobID, c compute.Chunk) error {
	if err := q.contact(user, e, w); err != nil {
		return err
	}
	if !q.extend(e, id, w) {
		return nil
	}
	if len(c.Metrics) > chunkLimit {
		long := compute.Errorf(compute.Rejected, "the metrics of a chunk, %d bytes, are over the limit of %d bytes", len(c.Metrics), chunkLimit)
		return cmp.Or(q.Finish(ctx, user, e, w, id, Report{Error: long.Detail}), error(long))
	}

	pieces := split(c)
	err := q.store.Write(ctx, func(tx store.Tx) error {
		for _, piece := range pieces {
			if added, err := tx.AppendChunk(id, w, piece); err != nil || !added {
				return err
			}
		}
		return nil
	})

	if err == nil {
		q.mu.Lock()
		q.chunks.wake(id)
		q.mu.Unlock()
	}

	return err
}

// Stream gives the job and the chunks that no read was given before, holding for the first one for at most wait. The last
// chunks come with the final status: until they are read the job shows as IN_PROGRESS. A job that was CANCELLED or TIMED_OUT
// is NotFound from the third read of its end on, since two clients would read it for ever. room is called with about how many bytes of
// chunks there are before they are taken, and returns how many may be; the rest stays for the next read. Nil: as many as there are.
func (q *Queue) Stream(ctx context.Context, user compute.UserID, e compute.EndpointID, id compute.JobID, wait time.Duration, room func(bytes int) (int, error)) (compute.Job, []compute.Chunk, error) {
	timeout, stop := compute.Await(q.clock, wait)
	defer stop()
	for {
		q.mu.Lock()
		change := q.chunks.add(id)
		q.mu.Unlock()

		// Read after registering: a chunk between the two is not missed.
		j, chunks, err := q.drain(ctx, user, e, id, room)
		if err != nil || len(chunks) > 0 || j.Status.Ended() {
			q.unwatch(id, change)
			return j, chunks, err
		}

		over := q.Hold()
		again := false
		select {
		case <-change:
			again = true
		case <-timeout:
		case <-q.closed:
		case <-compute.Leaving(ctx):
		case <-ctx.Done():
			err = ctx.Err()
		}

		over()
		if again {
			continue
		}
		q.unwatch(id, change)
		return j, nil, err
	}
}

func (q *Queue) unwatch(id compute.JobID, change chan struct{}) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.chunks.remove(id, change)
}

// finalReads is how often the end of a job that brought no result can be read from its stream.
const finalReads = 2

// drain takes what there is. Most looks find nothing and cost no write.
func (q *Queue) drain(ctx context.Context, user compute.UserID, e compute.EndpointID, id compute.JobID, room func(bytes int) (int, error)) (j compute.Job, chunks []compute.Chunk, err error) {
	q.mu.Lock()
	_, err = q.dispatcher(user, e)
	committing := q.early[e] > 0
	q.mu.Unlock()
	if err != nil {
		return j, nil, err
	}

	nothing := func(tx store.Tx) (bool, error) {
		if j, err = ownJob(tx, e, id); err != nil {
			return true, err
		}
		has, err := tx.HasChunks(id)
		return !has && j.Status != compute.JobCancelled && j.Status != compute.JobTimedOut, err
	}

	empty, bytes := false, 0
	err = q.readJob(ctx, committing, func(tx store.Tx) (err error) {
		if empty, err = nothing(tx); err != nil || empty || room == nil {
			return err
		}
		bytes, err = tx.ChunkBytes(id)
		return err
	})
	if err != nil || empty {
		return j, nil, err
	}

	limit := readLimit
	if room != nil {
		if limit, err = room(min(bytes, readLimit)); err != nil {
			return j, nil, err
		}
	}

	err = q.store.Write(ctx, func(tx store.Tx) (err error) {
		chunks = nil
		if empty, err = nothing(tx); err != nil || empty {
			return err
		}
		var more bool
		if chunks, more, err = tx.DrainChunks(id, limit); err != nil {
			return err
		}

		switch {
		case more && j.Status.Ended():
			j.Status = compute.JobInProgress
		case j.Status == compute.JobCancelled || j.Status == compute.JobTimedOut:
			reads, err := tx.CountFinalRead(id)
			if err == nil && reads > finalReads {
				err = compute.Errorf(compute.NotFound, "the stream of job %q has been read to its end", id)
			}
			return err
		}

		return nil
	})

	return j, chunks, err
}

// The pieces of a long value that is no text begin with white space, which JSON permits and no chunk of a worker begins with: so they are told
// from text.
const (
	pieceMark = ' '  // there are more pieces of the value
	lastMark  = '\n' // there are none
)

// Piece gives the text of a piece of a long value that is no text, and whether it is the last of them. A chunk that is whole, or
// a piece of text, is none.
func Piece(output json.RawMessage) (text []byte, last, is bool) {
	if len(output) == 0 || output[0] != pieceMark && output[0] != lastMark {
		return nil, false, false
	}
	var piece string
	is = json.Unmarshal(output, &piece) == nil
	return []byte(piece), output[0] == lastMark, is
}

// split cuts a chunk over the limit into several (rule queue.stream.split): a string between its characters, any other value
// as strings that are its JSON text, on one line, when put together. The metrics go with the first.
func split(c compute.Chunk) []compute.Chunk {
	if len(c.Output) <= chunkLimit {
		return []compute.Chunk{c}
	}
	var text, mark string
	if err := json.Unmarshal(c.Output, &text); err != nil {
		var line bytes.Buffer
		_ = json.Compact(&line, c.Output) // which is JSON
		if line.Len() <= chunkLimit {
			return []compute.Chunk{{Output: line.Bytes(), Metrics: c.Metrics}}
		}
		text, mark = line.String(), string(pieceMark)
	}

	var pieces []compute.Chunk
	for len(text) > 0 {
		n := 0
		size := len(mark) + 2 // the quotes
		for n < len(text) {
			r, width := utf8.DecodeRuneInString(text[n:])
			if size += escapedSize(r, width); size > chunkLimit {
				break
			}
			n += width
		}

		piece := compute.Chunk{Output: slices.Concat([]byte(mark), quote(text[:n]))}
		if len(pieces) == 0 {
			piece.Metrics = c.Metrics
		}
		pieces = append(pieces, piece)
		text = text[n:]
	}

	if mark != "" {
		pieces[len(pieces)-1].Output[0] = lastMark
	}
	return pieces
}

// quote gives the text as a JSON string.
func quote(text string) json.RawMessage {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string, into memory
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// escapedSize is at least how many bytes the character takes in a JSON string.
func escapedSize(r rune, width int) int {
	switch {
	case r < ' ' || r == utf8.RuneError || r == '\u2028' || r == '\u2029':
		return 6
	case r == '"' || r == '\\':
		return 2
	}
	return width
}
