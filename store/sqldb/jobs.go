package sqldb

import (
	"encoding/json"

	"github.com/berthdev/berth/impl/compute"
)

// jobColumns are the columns without JSON.
const jobColumns = `id, endpoint_id, status, sync, low_priority, worker_id, attempt, retries, execution_timeout, ttl, retention,
created_at, queued_at, taken_at, ended_at, expires_at, webhook, error`

const (
	insertJob = `INSERT INTO jobs (` + jobColumns + `, s3_config, output) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?,
?, ?, ?)`
	insertJobInput = `INSERT INTO job_inputs (seq, body) VALUES (?, ?)`
	selectJob      = `SELECT ` + jobColumns + `, s3_config, output FROM jobs WHERE id = ?`
	selectJobInput = `SELECT i.body FROM jobs j JOIN job_inputs i ON i.seq = j.seq WHERE j.id = ?`
	selectRetries  = `SELECT retries FROM jobs WHERE id = ? AND status = ? AND worker_id = ?`
	moveJob        = `UPDATE jobs SET status = ?1, worker_id = ?, attempt = ?, retries = ?, retention = ?, queued_at = ?, taken_at = ?,
ended_at = ?, expires_at = ?, error = ?, output = ?, final_reads = CASE WHEN ?1 = 'IN_QUEUE' THEN 0 ELSE final_reads END
WHERE id = ? AND status = ? AND worker_id = ? RETURNING seq, endpoint_id`
	setJobOutput  = `UPDATE jobs SET output = ? WHERE id = ? AND status = 'IN_PROGRESS' AND worker_id = ?`
	selectWaiting = `SELECT ` + jobColumns + ` FROM jobs WHERE status = 'IN_QUEUE' ORDER BY queued_at, seq`
	selectHeld    = `SELECT ` + jobColumns + ` FROM jobs WHERE status = 'IN_PROGRESS' ORDER BY taken_at, seq`
)

// InsertJob stores a new job and its input. Conflict when the id is taken.
func (tx *Tx) InsertJob(j compute.Job, input json.RawMessage) error {
	r, err := tx.exec("insert job", insertJob, string(j.ID), string(j.EndpointID), string(j.Status), j.Sync, j.LowPriority,
		string(j.WorkerID), j.Attempt, j.Retries, j.ExecutionTimeout.Milliseconds(), j.TTL.Milliseconds(), j.Retention.Milliseconds(),
		millis(j.CreatedAt), millis(j.QueuedAt), millis(j.TakenAt), millis(j.EndedAt), millis(j.ExpiresAt),
		j.Webhook, j.Error, blob(j.S3Config), blob(j.Output))
	if err != nil {
		return err
	}
	seq, err := r.LastInsertId()
	if err != nil {
		return tx.fail("insert job", err)
	}
	if _, err := tx.exec("insert job input", insertJobInput, seq, blob(input)); err != nil {
		return err
	}
	tx.moves = append(tx.moves, countMove{endpoint: j.EndpointID, to: j.Status})
	return nil
}

// jobFields gives where the columns without JSON go.
func jobFields(j *compute.Job) []any {
	return []any{&j.ID, &j.EndpointID, &j.Status, &j.Sync, &j.LowPriority, &j.WorkerID, &j.Attempt, &j.Retries,
		span{&j.ExecutionTimeout}, span{&j.TTL}, span{&j.Retention}, instant{&j.CreatedAt}, instant{&j.QueuedAt},
		instant{&j.TakenAt}, instant{&j.EndedAt}, instant{&j.ExpiresAt}, &j.Webhook, &j.Error}
}

func scanJobWithoutJSON(row scanner) (j compute.Job, err error) {
	err = row.Scan(jobFields(&j)...)
	return j, err
}

// Job gives one job. NotFound for an unknown id.
func (tx *Tx) Job(id compute.JobID) (j compute.Job, err error) {
	found, err := tx.one("read job", func(row scanner) error {
		return row.Scan(append(jobFields(&j), (*[]byte)(&j.S3Config), (*[]byte)(&j.Output))...)
	}, selectJob, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "job %q does not exist", id)
	}
	return j, err
}

// JobInput gives a job's input. NotFound for an unknown id.
func (tx *Tx) JobInput(id compute.JobID) (input json.RawMessage, err error) {
	found, err := tx.one("read job input", func(row scanner) error { return row.Scan((*[]byte)(&input)) }, selectJobInput, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "job %q does not exist", id)
	}
	return input, err
}

// MoveJob writes what can change of a job if its status and its worker are still from and holder. On the way back to the
// queue it forgets the chunks.
func (tx *Tx) MoveJob(j compute.Job, from compute.JobStatus, holder compute.WorkerID) (bool, error) {
	lost := false // counted: a take lost to a silent worker, not one handed back
	if from == compute.JobInProgress && j.Status == compute.JobInQueue {
		_, err := tx.one("read retries", func(row scanner) error {
			var before int
			err := row.Scan(&before)
			lost = j.Retries > before
			return err
		}, selectRetries, string(j.ID), string(from), string(holder))
		if err != nil {
			return false, err
		}
	}
	m := countMove{from: from, to: j.Status, lost: lost}
	var seq int64
	moved, err := tx.one("move job", func(row scanner) error { return row.Scan(&seq, &m.endpoint) }, moveJob,
		string(j.Status), string(j.WorkerID), j.Attempt, j.Retries, j.Retention.Milliseconds(), millis(j.QueuedAt), millis(j.TakenAt),
		millis(j.EndedAt), millis(j.ExpiresAt), j.Error, blob(j.Output),
		string(j.ID), string(from), string(holder))
	if err != nil || !moved {
		return false, err
	}
	tx.moves = append(tx.moves, m)
	if from != j.Status && j.Status == compute.JobInQueue {
		if _, err := tx.exec("delete chunks", deleteChunks, seq); err != nil {
			return false, err
		}
	}
	return true, nil
}

// SetJobOutput replaces the output of a job that holder holds.
func (tx *Tx) SetJobOutput(id compute.JobID, holder compute.WorkerID, output json.RawMessage) (bool, error) {
	return tx.changed("set job output", setJobOutput, blob(output), string(id), string(holder))
}

// WaitingJobs gives the jobs IN_QUEUE without their JSON, in the order in which they began to wait.
func (tx *Tx) WaitingJobs() ([]compute.Job, error) {
	return list(tx, "list waiting jobs", scanJobWithoutJSON, selectWaiting)
}

// HeldJobs gives the jobs IN_PROGRESS without their JSON, oldest take first.
func (tx *Tx) HeldJobs() ([]compute.Job, error) {
	return list(tx, "list held jobs", scanJobWithoutJSON, selectHeld)
}
