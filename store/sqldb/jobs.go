package sqldb

import (
	"encoding/json"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// The columns of a job, by the statements that write them: InsertJob writes all.
var (
	// jobFixed stay as they were inserted.
	jobFixed = columns[compute.Job]{
		text("id", func(j *compute.Job) *compute.JobID { return &j.ID }),
		text("endpoint_id", func(j *compute.Job) *compute.EndpointID { return &j.EndpointID }),
		text("webhook", func(j *compute.Job) *string { return &j.Webhook }),
		flag("sync", func(j *compute.Job) *bool { return &j.Sync }),
		flag("low_priority", func(j *compute.Job) *bool { return &j.LowPriority }),
		span("execution_timeout", func(j *compute.Job) *time.Duration { return &j.ExecutionTimeout }),
		span("ttl", func(j *compute.Job) *time.Duration { return &j.TTL }),
		instant("created_at", func(j *compute.Job) *time.Time { return &j.CreatedAt }),
	}

	// jobMoves are written by MoveJob.
	jobMoves = columns[compute.Job]{
		text("status", func(j *compute.Job) *compute.JobStatus { return &j.Status }),
		text("worker_id", func(j *compute.Job) *compute.WorkerID { return &j.WorkerID }),
		text("error", func(j *compute.Job) *string { return &j.Error }),
		whole("attempt", func(j *compute.Job) *int { return &j.Attempt }),
		whole("retries", func(j *compute.Job) *int { return &j.Retries }),
		span("retention", func(j *compute.Job) *time.Duration { return &j.Retention }),
		instant("queued_at", func(j *compute.Job) *time.Time { return &j.QueuedAt }),
		instant("taken_at", func(j *compute.Job) *time.Time { return &j.TakenAt }),
		instant("ended_at", func(j *compute.Job) *time.Time { return &j.EndedAt }),
		instant("expires_at", func(j *compute.Job) *time.Time { return &j.ExpiresAt }),
	}

	// jobOutput is written by MoveJob unless a long output stays as it is. The row of a long one has its size alone.
	jobOutput = columns[compute.Job]{
		{name: "output", selected: `CASE WHEN NOT ` + longOutput + ` THEN output END`, write: keptOutput, read: plainOutput.read},
		{name: "output_size", selected: `CASE WHEN ` + longOutput + ` THEN length(output) ELSE output_size END`, write: keptSize, read: outputSize.read},
	}
	plainOutput = blob("output", func(j *compute.Job) *json.RawMessage { return &j.Output })
	outputSize  = whole("output_size", func(j *compute.Job) *int { return &j.OutputSize })

	jobSettings = columns[compute.Job]{blob("s3_config", func(j *compute.Job) *json.RawMessage { return &j.S3Config })}
	jobSeq      = columns[compute.Job]{written("seq", func(j *compute.Job) any { return seqOf(j.ID) })}

	movedColumns = all(jobOutput, jobMoves)

	jobColumns  = all(jobSeq, jobFixed, jobMoves, jobSettings, jobOutput)
	jobWithout  = all(jobFixed, jobMoves, jobOutput.only("output_size")) // JSON
	jobWaiting  = jobColumns.only("id", "endpoint_id", "status", "low_priority", "retries", "queued_at")
	jobRetries  = jobColumns.only("retries")
	jobIDColumn = jobColumns.only("id")
)

// jobInput is the row of a job's input.
type jobInput struct {
	seq  int64
	body json.RawMessage
	size int // of a long one
}

var (
	inputColumns = columns[jobInput]{
		whole("seq", func(i *jobInput) *int64 { return &i.seq }),
		blob("body", func(i *jobInput) *json.RawMessage { return &i.body }),
		whole("size", func(i *jobInput) *int { return &i.size }),
	}
	inputBody = inputColumns.only("body")
	inputOf   = inputBody.from("i")
	inputSize = inputColumns.only("size")
)

// takenJob is a job as it is taken.
type takenJob struct {
	compute.Job
	jobInput
}

// takenColumns have the output as it is: a job that waits has no pieces.
var takenColumns = all(
	embedded(func(t *takenJob) *compute.Job { return &t.Job }, all(jobWithout, jobSettings, columns[compute.Job]{plainOutput})),
	embedded(func(t *takenJob) *jobInput { return &t.jobInput }, columns[jobInput]{
		computed(`(SELECT body FROM job_inputs i WHERE i.seq = jobs.seq)`, inputBody[0]),
	}))

const longOutput = `length(output) > 131072` // compute.PieceSize

var (
	insertJob       = jobColumns.insert("jobs")
	insertJobInput  = inputColumns.insert("job_inputs")
	selectJob       = `SELECT ` + jobColumns.list() + ` FROM jobs WHERE seq = ? AND id = ?`
	selectJobInput  = `SELECT ` + inputOf.list() + ` FROM jobs j JOIN job_inputs i ON i.seq = j.seq WHERE j.seq = ? AND j.id = ?`
	selectInputSize = `SELECT ` + inputSize.list() + ` FROM job_inputs WHERE seq = ?`
	selectRetries   = `SELECT ` + jobRetries.list() + ` FROM jobs WHERE seq = ? AND id = ? AND status = ? AND worker_id = ?`
	takeJob         = `UPDATE jobs SET status = 'IN_PROGRESS', worker_id = ?, attempt = attempt + 1, taken_at = ?
WHERE seq = ? AND id = ? AND status = 'IN_QUEUE'
RETURNING ` + takenColumns.list()
	moveJob = `UPDATE jobs SET ` + movedColumns.set() + moved
	// keepOutput is moveJob for a job whose long output stays.
	keepOutput       = `UPDATE jobs SET ` + jobMoves.set() + moved
	selectUnfinished = `SELECT ` + jobWaiting.list() + ` FROM jobs INDEXED BY jobs_open WHERE ended_at IS NULL ORDER BY queued_at, seq`
	selectLastJob    = `SELECT ` + jobIDColumn.list() + ` FROM jobs WHERE seq < 1 << 62 ORDER BY seq DESC LIMIT 1`
	// selectHeld has how many there are as its limit: most of them were submitted before the jobs that wait, so that it need not look at those.
	selectHeld = `SELECT ` + jobWithout.list() + ` FROM jobs WHERE seq IN (SELECT seq FROM jobs INDEXED BY jobs_open
WHERE ended_at IS NULL AND status = 'IN_PROGRESS' ORDER BY queued_at` + limit + `) ORDER BY taken_at, seq`
)

const (
	moved = `, final_reads = CASE WHEN ? = 'IN_QUEUE' THEN 0 ELSE final_reads END
WHERE seq = ? AND id = ? AND status = ? AND worker_id = ? AND attempt = ?`
	setJobOutput = `UPDATE jobs SET output = ? WHERE seq = ? AND id = ? AND status = 'IN_PROGRESS' AND worker_id = ?`
)

// InsertJob stores a new job and its input. Conflict when the id is taken.
func (tx *Tx) InsertJob(j compute.Job, input json.RawMessage) error {
	if _, err := tx.exec("insert job", insertJob, tx.conn.jobs.values(tx.args(), jobColumns, j)...); err != nil {
		return err
	}
	if _, err := tx.exec("insert job input", insertJobInput, tx.conn.inputs.values(tx.args(), inputColumns, keptInput(j.ID, input))...); err != nil {
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

	tx.move(countMove{endpoint: j.EndpointID, to: j.Status})
	return nil
}

// Job gives one job. NotFound for an unknown id.
func (tx *Tx) Job(id compute.JobID) (compute.Job, error) {
	j, found, err := get(tx, "read job", jobColumns, selectJob, seqOf(id), string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "job %q does not exist", id)
	}
	return j, err
}

// JobInput gives a job's input, of a long one nothing. NotFound for an unknown id.
func (tx *Tx) JobInput(id compute.JobID) (json.RawMessage, error) {
	input, found, err := get(tx, "read job input", inputOf, selectJobInput, seqOf(id), string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "job %q does not exist", id)
	}
	return input.body, err
}

// TakeJob makes a waiting job the holder's and gives it and its input, of a long one the size; it reports whether it still waited.
func (tx *Tx) TakeJob(id compute.JobID, holder compute.WorkerID) (j compute.Job, input json.RawMessage, size int, taken bool, err error) {
	t, taken, err := gave(tx, "take job", takenColumns, takeJob, string(holder), tx.now.UnixMilli(), seqOf(id), string(id))
	if err != nil || !taken {
		return t.Job, nil, 0, false, err
	}
	if t.body == nil { // it is long, or there is none
		_, err = into(tx, "read size of job input", inputSize, &t.jobInput, selectInputSize, seqOf(id))
	}
	tx.move(countMove{endpoint: t.EndpointID, from: compute.JobInQueue, to: compute.JobInProgress})
	return t.Job, t.body, t.size, err == nil, err
}

// MoveJob writes what can change of a job if it is still as was says. It keeps a long output of which
// the job has only the size. On the way back to the queue it forgets the chunks.
func (tx *Tx) MoveJob(j compute.Job, was store.JobGuard) (bool, error) {
	lost := false // counted: a take lost to a silent worker, not one handed back
	if was.Status == compute.JobInProgress && j.Status == compute.JobInQueue {
		before, found, err := get(tx, "read retries", jobRetries, selectRetries, seqOf(j.ID), string(j.ID), string(was.Status), string(was.Worker))
		if err != nil {
			return false, err
		}
		lost = found && j.Retries > before.Retries
	}

	moved, err := tx.moveRow(&j, was)
	if err != nil || !moved {
		return false, err
	}
	tx.move(countMove{endpoint: j.EndpointID, from: was.Status, to: j.Status, lost: lost})
	if err := tx.moveOutput(&j, was.Status); err != nil {
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
func (tx *Tx) moveRow(j *compute.Job, was store.JobGuard) (bool, error) {
	query, c := moveJob, movedColumns
	if keepsOutput(j) {
		query, c = keepOutput, jobMoves
	}
	return tx.changed("move job", query,
		c.values(tx.args(), j, string(j.Status), seqOf(j.ID), string(j.ID), string(was.Status), string(was.Worker), was.Attempt)...)
}

// SetJobOutput replaces the output of a job that holder holds.
func (tx *Tx) SetJobOutput(id compute.JobID, holder compute.WorkerID, output json.RawMessage) (bool, error) {
	return tx.changed("set job output", setJobOutput, raw(output), seqOf(id), string(id), string(holder))
}

// UnfinishedJobs gives to each the jobs that have not ended: first those IN_QUEUE in the order in which they began to wait, with ID, EndpointID,
// Status, LowPriority, Retries and QueuedAt alone, since there may be very many; then those IN_PROGRESS without their JSON, oldest take first.
func (tx *Tx) UnfinishedJobs(each func(compute.Job)) error {
	held := 0
	err := tx.each("list unfinished jobs", func(r row) error {
		var j compute.Job
		err := jobWaiting.scan(r, &j)
		switch j.Status {
		case compute.JobInQueue:
			each(j)
		case compute.JobInProgress:
			held++
		}
		return err
	}, selectUnfinished)
	if err != nil || held == 0 {
		return err
	}

	jobs, err := list(tx, "list held jobs", jobWithout, selectHeld, held)
	for _, j := range jobs {
		each(j)
	}
	return err
}

// Loads gives the statements that read all there is of what may be millions, as who takes over does: they take as long as it takes.
func Loads() []string { return []string{selectUnfinished, selectHeld} }

// LastJob gives the job of the latest id in time; "" if there is none.
func (tx *Tx) LastJob() (compute.JobID, error) {
	j, _, err := get(tx, "read last job", jobIDColumn, selectLastJob)
	return j.ID, err
}
