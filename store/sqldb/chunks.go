package sqldb

import (
	"github.com/berthdev/berth/impl/compute"
)

const (
	appendChunk = `INSERT INTO chunks (job_seq, n, output, metrics)
SELECT j.seq, COALESCE((SELECT MAX(n) FROM chunks WHERE job_seq = j.seq), 0) + 1, ?, ? FROM jobs j
WHERE j.seq = ? AND j.id = ? AND j.status = 'IN_PROGRESS' AND j.worker_id = ?`
	hasChunks      = `SELECT 1 FROM jobs j JOIN chunks c ON c.job_seq = j.seq WHERE j.seq = ? AND j.id = ? LIMIT 1`
	selectBytes    = `SELECT coalesce(SUM(length(output) + coalesce(length(metrics), 0)), 0) FROM (SELECT c.output, c.metrics FROM jobs j JOIN chunks c ON c.job_seq = j.seq WHERE j.seq = ? AND j.id = ? ORDER BY c.n LIMIT ?)`
	selectChunks   = `SELECT c.job_seq, c.n, c.output, c.metrics FROM jobs j JOIN chunks c ON c.job_seq = j.seq WHERE j.seq = ? AND j.id = ? ORDER BY c.n LIMIT ?`
	deleteChunksTo = `DELETE FROM chunks WHERE job_seq = ? AND n <= ?`
	deleteChunks   = `DELETE FROM chunks WHERE job_seq = ?`
	countFinalRead = `UPDATE jobs SET final_reads = final_reads + 1 WHERE seq = ? AND id = ? RETURNING final_reads`
)

// AppendChunk adds one chunk to a job that holder holds.
func (tx *Tx) AppendChunk(id compute.JobID, holder compute.WorkerID, c compute.Chunk) (bool, error) {
	return tx.changed("append chunk", appendChunk, blob(c.Output), blob(c.Metrics), seqOf(id), string(id), string(holder))
}

// HasChunks tells whether the job has chunks.
func (tx *Tx) HasChunks(id compute.JobID) (bool, error) {
	return tx.one("find chunks", func(scanner) error { return nil }, hasChunks, seqOf(id), string(id))
}

// ChunkBytes gives how many bytes the job's chunks have, as far as one drain looks at them.
func (tx *Tx) ChunkBytes(id compute.JobID) (bytes int, err error) {
	_, err = tx.one("measure chunks", func(row scanner) error { return row.Scan(&bytes) }, selectBytes, seqOf(id), string(id), chunkRows)
	return bytes, err
}

// chunkRows bounds how many rows a drain looks at.
const chunkRows = 1000

// DrainChunks removes the first chunks of the job and gives them.
func (tx *Tx) DrainChunks(id compute.JobID, limit int) (chunks []compute.Chunk, more bool, err error) {
	var job, last int64
	bytes, rows := 0, 0
	err = tx.each("read chunks", func(row scanner) error {
		var c compute.Chunk
		var n int64
		if err := row.Scan(&job, &n, (*[]byte)(&c.Output), (*[]byte)(&c.Metrics)); err != nil {
			return err
		}
		rows++
		bytes += len(c.Output) + len(c.Metrics)
		if more || len(chunks) > 0 && bytes > limit {
			more = true
			return errEnough // what is left may be a gigabyte
		}
		chunks, last = append(chunks, c), n
		return nil
	}, selectChunks, seqOf(id), string(id), chunkRows)
	if err != nil || len(chunks) == 0 {
		return nil, false, err
	}
	if _, err := tx.exec("delete chunks", deleteChunksTo, job, last); err != nil {
		return nil, false, err
	}
	return chunks, more || rows == chunkRows, nil
}

// CountFinalRead counts a read of an ended job's stream.
func (tx *Tx) CountFinalRead(id compute.JobID) (reads int, err error) {
	_, err = tx.gave("count final read", func(row scanner) error { return row.Scan(&reads) }, countFinalRead, seqOf(id), string(id))
	return reads, err
}
