package sqldb

import (
	"encoding/json"

	"github.com/berthdev/berth/impl/compute"
)

// chunkRow is the row of a chunk.
type chunkRow struct {
	compute.Chunk
	seq int64 // of its job
	n   int64 // from 1
}

// measured is how long a chunk is.
type measured struct {
	n     int64
	bytes int
}

var (
	chunkFields = columns[chunkRow]{
		blob("output", func(c *chunkRow) *json.RawMessage { return &c.Output }),
		blob("metrics", func(c *chunkRow) *json.RawMessage { return &c.Metrics }),
	}
	chunkColumns = all(columns[chunkRow]{
		whole("job_seq", func(c *chunkRow) *int64 { return &c.seq }),
		whole("n", func(c *chunkRow) *int64 { return &c.n }),
	}, chunkFields)
	chunkOf = chunkColumns.from("c")

	// chunkSize is what a chunk is measured by: neither engine reads a value for its length.
	chunkSize = columns[measured]{
		whole("n", func(m *measured) *int64 { return &m.n }),
		computed("coalesce(length(c.output), 0) + coalesce(length(c.metrics), 0)", whole("bytes", func(m *measured) *int { return &m.bytes })),
	}.from("c")
	chunkBytes = columns[int]{computed("coalesce(SUM(length(output) + coalesce(length(metrics), 0)), 0)", whole("bytes", itself[int]))}
	finalReads = columns[int]{whole("final_reads", itself[int])}

	appendChunk = `INSERT INTO chunks (` + chunkColumns.names() + `)
SELECT j.seq, COALESCE((SELECT MAX(n) FROM chunks WHERE job_seq = j.seq), 0) + 1, ` + chunkFields.marks() + ` FROM jobs j
WHERE j.seq = ? AND j.id = ? AND j.status = 'IN_PROGRESS' AND j.worker_id = ?`
	selectBytes    = `SELECT ` + chunkBytes.list() + ` FROM (SELECT ` + chunkFields.format("c.%s") + chunksOfJob + inOrder + limit + `) few`
	measureChunks  = `SELECT ` + chunkSize.list() + chunksOfJob + inOrder + limit
	selectChunksTo = `SELECT ` + chunkOf.list() + chunksOfJob + ` AND c.n <= ?` + inOrder
	countFinalRead = `UPDATE jobs SET final_reads = final_reads + 1 WHERE seq = ? AND id = ? RETURNING ` + finalReads.list()
)

const (
	chunksOfJob    = ` FROM jobs j JOIN chunks c ON c.job_seq = j.seq WHERE j.seq = ? AND j.id = ?`
	inOrder        = ` ORDER BY c.n`
	hasChunks      = `SELECT 1` + chunksOfJob + ` LIMIT 1`
	deleteChunksTo = `DELETE FROM chunks WHERE job_seq = ? AND n <= ?`
	deleteChunks   = `DELETE FROM chunks WHERE job_seq = ?`
)

// AppendChunk adds one chunk to a job that holder holds.
func (tx *Tx) AppendChunk(id compute.JobID, holder compute.WorkerID, c compute.Chunk) (bool, error) {
	return tx.changed("append chunk", appendChunk, chunkFields.values(tx.args(), &chunkRow{Chunk: c}, seqOf(id), string(id), string(holder))...)
}

// HasChunks reports whether the job has chunks.
func (tx *Tx) HasChunks(id compute.JobID) (bool, error) {
	_, found, err := get(tx, "find chunks", columns[struct{}]{}, hasChunks, seqOf(id), string(id))
	return found, err
}

// ChunkBytes gives how many bytes the job's chunks have, as far as one drain looks at them.
func (tx *Tx) ChunkBytes(id compute.JobID) (bytes int, err error) {
	_, err = into(tx, "measure chunks", chunkBytes, &bytes, selectBytes, seqOf(id), string(id), chunkRows)
	return bytes, err
}

// chunkRows bounds how many chunks a drain gives.
const chunkRows = 1000

// DrainChunks removes the first chunks of the job and gives them. They are measured first: what a query gives is sent as a whole, be it read or
// not, and all that is there may be a gigabyte.
func (tx *Tx) DrainChunks(id compute.JobID, limit int) (chunks []compute.Chunk, more bool, err error) {
	var last int64
	count, bytes := 0, 0
	err = eachOf(tx, "measure chunks", chunkSize, func(m measured) error {
		bytes += m.bytes
		if count == chunkRows || count > 0 && bytes > limit {
			more = true
			return errEnough
		}
		count, last = count+1, m.n
		return nil
	}, measureChunks, seqOf(id), string(id), chunkRows+1)
	if err != nil || count == 0 {
		return nil, false, err
	}

	chunks = make([]compute.Chunk, 0, count)
	err = eachOf(tx, "read chunks", chunkOf, func(c chunkRow) error {
		chunks = append(chunks, c.Chunk)
		return nil
	}, selectChunksTo, seqOf(id), string(id), last)
	if err != nil {
		return nil, false, err
	}
	if _, err := tx.exec("delete chunks", deleteChunksTo, seqOf(id), last); err != nil {
		return nil, false, err
	}
	return chunks, more, nil
}

// CountFinalRead counts a read of an ended job's stream.
func (tx *Tx) CountFinalRead(id compute.JobID) (reads int, err error) {
	reads, _, err = gave(tx, "count final read", finalReads, countFinalRead, seqOf(id), string(id))
	return reads, err
}
