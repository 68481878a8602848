package sqldb

import (
	"encoding/json"

	"github.com/berthdev/berth/impl/compute"
)

// jobPiece is a piece of a long input or output.
type jobPiece struct {
	seq  int64
	of   compute.JobText
	n    int // from 0
	body json.RawMessage
}

var (
	pieceColumns = columns[jobPiece]{
		whole("job_seq", func(p *jobPiece) *int64 { return &p.seq }),
		text("of", func(p *jobPiece) *compute.JobText { return &p.of }),
		whole("n", func(p *jobPiece) *int { return &p.n }),
		blob("body", func(p *jobPiece) *json.RawMessage { return &p.body }),
	}
	pieceBody = pieceColumns.only("body").from("p")
	uncutBody = columns[jobPiece]{computed("substr(output, ?, ?)", pieceColumns.only("body")[0])}

	insertPiece  = pieceColumns.insert("job_pieces")
	selectPieces = `SELECT ` + pieceBody.list() + ` FROM jobs j JOIN job_pieces p ON p.job_seq = j.seq
WHERE j.seq = ? AND j.id = ? AND p.of = ? AND p.n >= ? AND p.n < ? AND (p.of = 'input' OR j.ended_at IS ?) ORDER BY p.n`
	selectUncut = `SELECT ` + uncutBody.list() + ` FROM jobs WHERE seq = ? AND id = ? AND ended_at IS ? AND length(output) >= ?`
)

const deletePieces = `DELETE FROM job_pieces WHERE job_seq = ? AND of = ?`

// keptInput gives what the row of an input has: all of it, or of a long one its size.
func keptInput(id compute.JobID, input json.RawMessage) jobInput {
	if len(input) > compute.PieceSize {
		return jobInput{seq: seqOf(id), size: len(input)}
	}
	return jobInput{seq: seqOf(id), body: input}
}

// keptOutput is what the row of a job has of its output. That of a job that has not ended may be another one soon, and is never in
// pieces.
func keptOutput(j *compute.Job) any {
	if inPieces(j) {
		return nil
	}
	return raw(j.Output)
}

// keptSize is what the row of a job has of the size of its output.
func keptSize(j *compute.Job) any {
	if inPieces(j) {
		return int64(len(j.Output))
	}
	return int64(0)
}

func inPieces(j *compute.Job) bool { return j.Status.Ended() && len(j.Output) > compute.PieceSize }

// keepsOutput reports whether the long output of a job, which was read without it, stays as it is.
func keepsOutput(j *compute.Job) bool { return j.Output == nil && j.OutputSize > 0 }

// moveOutput keeps the pieces of the output with a job that was moved.
func (tx *Tx) moveOutput(j *compute.Job, from compute.JobStatus) error {
	if from.Ended() && !keepsOutput(j) {
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
		piece := jobPiece{seqOf(id), of, n, text[:min(len(text), compute.PieceSize)]}
		if _, err := tx.exec("insert job piece", insertPiece, pieceColumns.values(tx.args(), &piece)...); err != nil {
			return err
		}
		text = text[len(piece.body):]
	}
	return nil
}

// JobPieces gives count pieces of a long input or output, from the first on.
func (tx *Tx) JobPieces(j compute.Job, of compute.JobText, first, count int) (json.RawMessage, error) {
	text := make(json.RawMessage, 0, count*compute.PieceSize)
	found := 0
	add := func(c columns[jobPiece]) func(row) error {
		return func(r row) error {
			var piece jobPiece
			err := c.scan(r, &piece)
			text = append(text, piece.body...)
			found++
			return err
		}
	}

	err := tx.each("read job pieces", add(pieceBody), selectPieces, seqOf(j.ID), string(j.ID), string(of), first, first+count, millis(j.EndedAt))
	if err == nil && found == 0 && of == compute.JobOutput {
		start := first*compute.PieceSize + 1
		err = tx.each("read job output", add(uncutBody), selectUncut, start, count*compute.PieceSize, seqOf(j.ID), string(j.ID), millis(j.EndedAt), start)
		found *= count
	}
	if err == nil && found < count {
		err = compute.Errorf(compute.NotFound, "job %q does not exist or has another %s by now", j.ID, of)
	}

	return text, err
}
