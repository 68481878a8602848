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

	chunkBytes = columns[int]{computed("coalesce(SUM(length(output) + coalesce(length(metrics), 0)), 0)", whole("bytes", itself[int]))}
	finalReads = columns[int]{whole("final_reads", itself[int])}

	appendChunk = `INSERT INTO chunks (` + chunkColumns.names() + `)
SELECT j.seq, COALESCE((SELECT MAX(n) FROM chunks WHERE job_seq = j.seq), 0) + 1, ` + chunkFields.marks() + ` FROM jobs j
WHERE j.seq = ? AND j.id = ? AND j.status = 'IN_PROGRESS' AND j.worker_id = ?`
	selectBytes    = `SELECT ` + chunkBytes.list() + ` FROM (SELECT ` + chunkFields.format("c.%s") + chunksOfJob + `) few`
	selectChunks   = `SELECT ` + chunkOf.list() + chunksOfJob
	countFinalRead = `UPDATE jobs SET final_reads = final_reads + 1 WHERE seq = ? AND id = ? RETURNING ` + finalReads.list()
)

const (
	chunksOfJob    = ` FROM jobs j JOIN chunks c ON c.job_seq = j.seq WHERE j.seq = ? AND j.id = ? ORDER BY c.n` + limit
	hasChunks      = `SELECT 1 FROM jobs j JOIN chunks c ON c.job_seq = j.seq WHERE j.seq = ? AND j.id = ? LIMIT 1`
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

// DrainChunks removes the first chunks of the job and gives them.
func (tx *Tx) DrainChunks(id compute.JobID, limit int) (chunks []compute.Chunk, more bool, err error) {
	var last int64
	bytes := 0
	err = tx.each("read chunks", func(r row) error {
		var c chunkRow
		if err := chunkOf.scan(r, &c); err != nil {
			return err
		}
		bytes += len(c.Output) + len(c.Metrics)
		if len(chunks) == chunkRows || len(chunks) > 0 && bytes > limit {
			more = true
			return errEnough // what is left may be a gigabyte
		}

		chunks, last = append(chunks, c.Chunk), c.n
		return nil
	}, selectChunks, seqOf(id), string(id), chunkRows+1)
	if err != nil || len(chunks) == 0 {
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
