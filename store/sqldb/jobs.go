package sqldb

import (
	"encoding/json"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

const (
	// jobColumns are the columns without JSON.
	jobColumns = `id, endpoint_id, status, worker_id, webhook, error, sync, low_priority, attempt, retries, execution_timeout, ttl,
retention, created_at, queued_at, taken_at, ended_at, expires_at, output_size`

	// jobFields are the same to be read, the numbers joined.
	jobFields = `id, endpoint_id, status, worker_id, webhook, error, concat_ws(' ', sync, low_priority, attempt, retries,
execution_timeout, ttl, retention, coalesce(created_at, 0), coalesce(queued_at, 0), coalesce(taken_at, 0), coalesce(ended_at, 0),
coalesce(expires_at, 0), CASE WHEN ` + longOutput + ` THEN length(output) ELSE output_size END)`

	longOutput = `length(output) > 131072` // compute.PieceSize

	insertJob = `INSERT INTO jobs (seq, ` + jobColumns + `, s3_config, output) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
?, ?, ?, ?, ?, ?)`
	insertJobInput  = `INSERT INTO job_inputs (seq, body, size) VALUES (?, ?, ?)`
	selectJob       = `SELECT ` + jobFields + `, s3_config, CASE WHEN NOT ` + longOutput + ` THEN output END FROM jobs WHERE seq = ? AND id = ?`
	selectJobInput  = `SELECT i.body FROM jobs j JOIN job_inputs i ON i.seq = j.seq WHERE j.seq = ? AND j.id = ?`
	selectInputSize = `SELECT size FROM job_inputs WHERE seq = ?`
	selectRetries   = `SELECT retries FROM jobs WHERE seq = ? AND id = ? AND status = ? AND worker_id = ?`
	takeJob         = `UPDATE jobs SET status = 'IN_PROGRESS', worker_id = ?, attempt = attempt + 1, taken_at = ?
WHERE seq = ? AND id = ? AND status = 'IN_QUEUE'
RETURNING ` + jobFields + `, s3_config, output, (SELECT body FROM job_inputs i WHERE i.seq = jobs.seq)`
	moveJob = `UPDATE jobs SET output = ?, output_size = ?, ` + moved
	// keepOutput is moveJob for a job whose long output stays.
	keepOutput = `UPDATE jobs SET ` + moved
	moved      = `status = ?, worker_id = ?, attempt = ?, retries = ?, retention = ?, queued_at = ?, taken_at = ?, ended_at = ?,
expires_at = ?, error = ?, final_reads = CASE WHEN ? = 'IN_QUEUE' THEN 0 ELSE final_reads END
WHERE seq = ? AND id = ? AND status = ? AND worker_id = ? AND attempt = ?`
	setJobOutput  = `UPDATE jobs SET output = ? WHERE seq = ? AND id = ? AND status = 'IN_PROGRESS' AND worker_id = ?`
	selectWaiting = `SELECT id, endpoint_id, low_priority, retries, queued_at FROM jobs INDEXED BY jobs_open
WHERE ended_at IS NULL AND status = 'IN_QUEUE' ORDER BY queued_at, seq`
	selectLastJob = `SELECT id FROM jobs WHERE seq < 1 << 62 ORDER BY seq DESC LIMIT 1`
	selectHeld    = `SELECT ` + jobFields + ` FROM jobs INDEXED BY jobs_open
WHERE ended_at IS NULL AND status = 'IN_PROGRESS' ORDER BY taken_at, seq`
)

// InsertJob stores a new job and its input. Conflict when the id is taken.
func (tx *Tx) InsertJob(j compute.Job, input json.RawMessage) error {
	seq := seqOf(j.ID)
	output, size := keptOutput(&j)
	_, err := tx.exec("insert job", insertJob, seq, string(j.ID), string(j.EndpointID), string(j.Status),
		string(j.WorkerID), j.Webhook, j.Error, j.Sync, j.LowPriority, j.Attempt, j.Retries,
		j.ExecutionTimeout.Milliseconds(), j.TTL.Milliseconds(), j.Retention.Milliseconds(),
		millis(j.CreatedAt), millis(j.QueuedAt), millis(j.TakenAt), millis(j.EndedAt), millis(j.ExpiresAt), size,
		blob(j.S3Config), output)
	if err != nil {
		return err
	}
	body, size := keptInput(input)
	if _, err := tx.exec("insert job input", insertJobInput, seq, body, size); err != nil {
		return err
	}
	if err := tx.insertPieces(j.ID, compute.JobInput, input); err != nil {
		return err
	}
	if j.Status.Ended() {
		if err := tx.insertPieces(j.ID, compute.JobOutput, j.Output); err != nil {
			return err
		}
	}
	tx.moves = append(tx.moves, countMove{endpoint: j.EndpointID, to: j.Status})
	return nil
}

// jobInto gives where jobFields go.
func jobInto(j *compute.Job) []any {
	return []any{&j.ID, &j.EndpointID, &j.Status, &j.WorkerID, &j.Webhook, &j.Error, joined{" ", func(p *parts) {
		j.Sync, j.LowPriority, j.Attempt, j.Retries = p.number() != 0, p.number() != 0, int(p.number()), int(p.number())
		for _, d := range []*time.Duration{&j.ExecutionTimeout, &j.TTL, &j.Retention} {
			*d = time.Duration(p.number()) * time.Millisecond
		}
		for _, t := range []*time.Time{&j.CreatedAt, &j.QueuedAt, &j.TakenAt, &j.EndedAt, &j.ExpiresAt} {
			*t = p.instant()
		}
		j.OutputSize = int(p.number())
	}}}
}

func scanJobWithoutJSON(row scanner) (j compute.Job, err error) {
	err = row.Scan(jobInto(&j)...)
	return j, err
}

// Job gives one job. NotFound for an unknown id.
func (tx *Tx) Job(id compute.JobID) (j compute.Job, err error) {
	found, err := tx.one("read job", func(row scanner) error {
		return row.Scan(append(jobInto(&j), (*[]byte)(&j.S3Config), (*[]byte)(&j.Output))...)
	}, selectJob, seqOf(id), string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "job %q does not exist", id)
	}
	return j, err
}

// JobInput gives a job's input, of a long one nothing. NotFound for an unknown id.
func (tx *Tx) JobInput(id compute.JobID) (input json.RawMessage, err error) {
	found, err := tx.one("read job input", func(row scanner) error { return row.Scan((*[]byte)(&input)) }, selectJobInput, seqOf(id), string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "job %q does not exist", id)
	}
	return input, err
}

// TakeJob makes a waiting job the holder's and gives it and its input, of a long one the size; it tells whether it still waited.
func (tx *Tx) TakeJob(id compute.JobID, holder compute.WorkerID) (j compute.Job, input json.RawMessage, size int, taken bool, err error) {
	taken, err = tx.gave("take job", func(row scanner) error {
		return row.Scan(append(jobInto(&j), (*[]byte)(&j.S3Config), (*[]byte)(&j.Output), (*[]byte)(&input))...)
	}, takeJob, string(holder), tx.now.UnixMilli(), seqOf(id), string(id))
	if err != nil || !taken {
		return j, nil, 0, false, err
	}
	if input == nil { // it is long, or there is none
		_, err = tx.one("read size of job input", func(row scanner) error { return row.Scan(&size) }, selectInputSize, seqOf(id))
	}
	tx.moves = append(tx.moves, countMove{endpoint: j.EndpointID, from: compute.JobInQueue, to: compute.JobInProgress})
	return j, input, size, err == nil, err
}

// MoveJob writes what can change of a job if it is still as was says. It keeps a long output of which
// the job has only the size. On the way back to the queue it forgets the chunks.
func (tx *Tx) MoveJob(j compute.Job, was store.JobGuard) (bool, error) {
	lost := false // counted: a take lost to a silent worker, not one handed back
	if was.Status == compute.JobInProgress && j.Status == compute.JobInQueue {
		_, err := tx.one("read retries", func(row scanner) error {
			var before int
			err := row.Scan(&before)
			lost = j.Retries > before
			return err
		}, selectRetries, seqOf(j.ID), string(j.ID), string(was.Status), string(was.Worker))
		if err != nil {
			return false, err
		}
	}
	moved, err := tx.moveRow(j, was)
	if err != nil || !moved {
		return false, err
	}
	tx.moves = append(tx.moves, countMove{endpoint: j.EndpointID, from: was.Status, to: j.Status, lost: lost})
	if err := tx.moveOutput(j, was.Status); err != nil {
		return false, err
	}
	if was.Status != j.Status && j.Status == compute.JobInQueue {
		if _, err := tx.exec("delete chunks", deleteChunks, seqOf(j.ID)); err != nil {
			return false, err
		}
	}
	return true, nil
}

// moveRow writes the row.
func (tx *Tx) moveRow(j compute.Job, was store.JobGuard) (bool, error) {
	output, size := keptOutput(&j)
	args := []any{
		output, size, string(j.Status), string(j.WorkerID), j.Attempt, j.Retries, j.Retention.Milliseconds(), millis(j.QueuedAt), millis(j.TakenAt),
		millis(j.EndedAt), millis(j.ExpiresAt), j.Error, string(j.Status), seqOf(j.ID), string(j.ID), string(was.Status), string(was.Worker), was.Attempt,
	}
	if keepsOutput(&j) {
		return tx.changed("move job", keepOutput, args[2:]...)
	}
	return tx.changed("move job", moveJob, args...)
}

// SetJobOutput replaces the output of a job that holder holds.
func (tx *Tx) SetJobOutput(id compute.JobID, holder compute.WorkerID, output json.RawMessage) (bool, error) {
	return tx.changed("set job output", setJobOutput, blob(output), seqOf(id), string(id), string(holder))
}

// WaitingJobs gives to each the jobs IN_QUEUE in the order in which they began to wait, with ID, EndpointID, LowPriority,
// Retries and QueuedAt alone: there may be very many.
func (tx *Tx) WaitingJobs(each func(compute.Job)) error {
	return tx.each("list waiting jobs", func(row scanner) error {
		j := compute.Job{Status: compute.JobInQueue}
		err := row.Scan(&j.ID, &j.EndpointID, &j.LowPriority, &j.Retries, instant{&j.QueuedAt})
		each(j)
		return err
	}, selectWaiting)
}

// HeldJobs gives the jobs IN_PROGRESS without their JSON, oldest take first.
func (tx *Tx) HeldJobs() ([]compute.Job, error) {
	return list(tx, "list held jobs", scanJobWithoutJSON, selectHeld)
}

// LastJob gives the job of the latest id in time; "" if there is none.
func (tx *Tx) LastJob() (id compute.JobID, err error) {
	_, err = tx.one("read last job", func(row scanner) error { return row.Scan(&id) }, selectLastJob)
	return id, err
}
