package sqldb

import (
	"database/sql"
	"encoding/json"

	"github.com/berthdev/berth/impl/compute"
)

const (
	insertPiece  = `INSERT INTO job_pieces (job_seq, of, n, body) VALUES (?, ?, ?, ?)`
	selectPieces = `SELECT p.body FROM jobs j JOIN job_pieces p ON p.job_seq = j.seq
WHERE j.seq = ? AND j.id = ? AND p.of = ? AND p.n >= ? AND p.n < ? AND (p.of = 'input' OR j.ended_at IS ?) ORDER BY p.n`
	selectUncut  = `SELECT substr(output, ?, ?) FROM jobs WHERE seq = ? AND id = ? AND ended_at IS ? AND length(output) >= ?`
	deletePieces = `DELETE FROM job_pieces WHERE job_seq = ? AND of = ?`
)

// keptInput gives what the row itself has of an input: all of it, or of a long one its size.
func keptInput(input json.RawMessage) (kept any, size int) {
	if len(input) > compute.PieceSize {
		return nil, len(input)
	}
	return blob(input), 0
}

// keptOutput is keptInput for the output. That of a job that has not ended may be another one soon, and is never in pieces.
func keptOutput(j *compute.Job) (kept any, size int) {
	if !j.Status.Ended() {
		return blob(j.Output), 0
	}
	return keptInput(j.Output)
}

// keepsOutput tells whether the long output of a job, which was read without it, stays as it is.
func keepsOutput(j *compute.Job) bool { return j.Output == nil && j.OutputSize > 0 }

// moveOutput keeps the pieces of the output with a job that was moved.
func (tx *Tx) moveOutput(j compute.Job, from compute.JobStatus) error {
	if from.Ended() && !keepsOutput(&j) {
		if _, err := tx.exec("delete job pieces", deletePieces, seqOf(j.ID), string(compute.JobOutput)); err != nil {
			return err
		}
	}
	if !j.Status.Ended() {
		return nil
	}
	return tx.insertPieces(j.ID, compute.JobOutput, j.Output)
}

// insertPieces stores a long input or output; of a short one the row has all.
func (tx *Tx) insertPieces(id compute.JobID, of compute.JobText, text json.RawMessage) error {
	if len(text) <= compute.PieceSize {
		return nil
	}
	for n := 0; len(text) > 0; n++ {
		piece := text[:min(len(text), compute.PieceSize)]
		if _, err := tx.exec("insert job piece", insertPiece, seqOf(id), string(of), n, []byte(piece)); err != nil {
			return err
		}
		text = text[len(piece):]
	}
	return nil
}

// JobPieces gives count pieces of a long input or output, from the first on.
func (tx *Tx) JobPieces(j compute.Job, of compute.JobText, first, count int) (json.RawMessage, error) {
	text := make(json.RawMessage, 0, count*compute.PieceSize)
	found := 0
	add := func(row scanner) error {
		var piece sql.RawBytes // the driver's
		err := row.Scan(&piece)
		text = append(text, piece...)
		found++
		return err
	}
	err := tx.each("read job pieces", add, selectPieces, seqOf(j.ID), string(j.ID), string(of), first, first+count, millis(j.EndedAt))
	if err == nil && found == 0 && of == compute.JobOutput {
		start := first*compute.PieceSize + 1
		err = tx.each("read job output", add, selectUncut, start, count*compute.PieceSize, seqOf(j.ID), string(j.ID), millis(j.EndedAt), start)
		found *= count
	}
	if err == nil && found < count {
		err = compute.Errorf(compute.NotFound, "job %q does not exist or has another %s by now", j.ID, of)
	}
	return text, err
}
