package compute

import (
	"encoding/json"
	"time"
)

// Job is one request to an endpoint. Input, Output and the like are JSON, carried and never decoded.
type Job struct {
	ID               JobID
	EndpointID       EndpointID
	Status           JobStatus
	Sync             bool // submitted through /runsync
	Webhook          string
	S3Config         json.RawMessage
	LowPriority      bool
	ExecutionTimeout time.Duration
	TTL              time.Duration // from submission
	Retention        time.Duration // from the end
	Output           json.RawMessage
	OutputSize       int    // bytes of an output that is kept in pieces; Output is nil then
	Error            string // on FAILED and TIMED_OUT, for the caller
	WorkerID         WorkerID
	Attempt          int // takes since the submission or the last retry
	Retries          int // takes lost to a worker that went silent
	CreatedAt        time.Time
	QueuedAt         time.Time // when it last began to wait
	TakenAt          time.Time // zero until taken
	EndedAt          time.Time // zero until ended
	ExpiresAt        time.Time // the end of its time to live; once ended, of its retention
}

// S3ConfigLimit is how many bytes an s3Config may have: it is in memory as a whole while its job is handed to a worker (rule
// queue.s3config.limit).
const S3ConfigLimit = 64 << 10

// PieceSize is how many bytes a piece of a long input or output has; what is no longer is not kept in pieces.
const PieceSize = 128 << 10

// JobText is a text of a job that may be long.
type JobText string

// The texts of a job.
const (
	JobInput  JobText = "input"
	JobOutput JobText = "output"
)

// Pieces is in how many pieces a text of the size is kept.
func Pieces(size int) int { return (size + PieceSize - 1) / PieceSize }

// JobStatus is the published word for where a job stands.
type JobStatus string

// The statuses of a job.
const (
	JobInQueue    JobStatus = "IN_QUEUE"
	JobInProgress JobStatus = "IN_PROGRESS"
	JobCompleted  JobStatus = "COMPLETED"
	JobFailed     JobStatus = "FAILED"
	JobCancelled  JobStatus = "CANCELLED"
	JobTimedOut   JobStatus = "TIMED_OUT"
)

// Ended reports whether the status is a final one.
func (s JobStatus) Ended() bool { return s != JobInQueue && s != JobInProgress }

// JobEvent moves a job's status.
type JobEvent string

// The events of a job.
const (
	JobTake      JobEvent = "take"
	JobComplete  JobEvent = "complete"
	JobFail      JobEvent = "fail"
	JobCancel    JobEvent = "cancel"
	JobExpire    JobEvent = "expire"     // its time to live ran out
	JobOverrun   JobEvent = "overrun"    // its execution timeout ran out
	JobLeaseLost JobEvent = "lease lost" // back to the queue
	JobGiveUp    JobEvent = "give up"    // its attempts ran out
	JobRetry     JobEvent = "retry"
)

// JobMachine is the table of a job's life.
var JobMachine = NewMachine("job", JobInQueue, []JobStatus{JobCompleted, JobCancelled}, []Row[JobStatus, JobEvent]{
	{JobInQueue, JobTake, JobInProgress, "queue.take"},
	{JobInQueue, JobCancel, JobCancelled, "queue.cancel.waiting"},
	{JobInQueue, JobExpire, JobTimedOut, "queue.ttl"},
	{JobInProgress, JobComplete, JobCompleted, "queue.done"},
	{JobInProgress, JobFail, JobFailed, "queue.done.error"},
	{JobInProgress, JobCancel, JobCancelled, "queue.cancel.running"},
	{JobInProgress, JobExpire, JobTimedOut, "queue.ttl"},
	{JobInProgress, JobOverrun, JobTimedOut, "queue.execution-timeout"},
	{JobInProgress, JobLeaseLost, JobInQueue, "queue.lease"},
	{JobInProgress, JobGiveUp, JobFailed, "queue.attempts"},
	{JobFailed, JobRetry, JobInQueue, "queue.retry"},
	{JobTimedOut, JobRetry, JobInQueue, "queue.retry"},
})

// DelayTime is the time from the last queueing to the take; zero for a job that was never taken.
func (j Job) DelayTime() time.Duration {
	if j.TakenAt.IsZero() {
		return 0
	}
	return max(0, j.TakenAt.Sub(j.QueuedAt))
}

// ExecutionTime is the time from the take to the end; zero for a job that was never taken.
func (j Job) ExecutionTime() time.Duration {
	if j.TakenAt.IsZero() || j.EndedAt.IsZero() {
		return 0
	}
	return max(0, j.EndedAt.Sub(j.TakenAt))
}

// JobCounts are an endpoint's jobs by status, and how often a job was taken from a silent worker.
type JobCounts struct {
	Completed, Failed, InProgress, InQueue, Retried int64
}

// Chunk is one part of a streamed output.
type Chunk struct {
	Output  json.RawMessage
	Metrics json.RawMessage // nil: none
}

// Webhook is the delivery of an ended job's document to the address that its submission named.
type Webhook struct {
	Seq       int64 // its place in the log
	JobID     JobID
	URL       string
	Body      json.RawMessage // read by the delivery that makes a try, and by nobody else
	Size      int             // bytes of the body; 0 once it is over
	Tries     int
	NextAt    time.Time // of the next try; zero: it is over
	Status    int       // HTTP status of the last try; 0: there was no answer
	Error     string    // why the last try failed
	CreatedAt time.Time
}
