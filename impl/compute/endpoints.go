package compute

import "time"

// Endpoint is a serverless service: jobs are submitted to it, its workers finish them.
type Endpoint struct {
	ID          EndpointID
	UserID      UserID
	Name        string // unique for a user
	Image       string
	Env         map[string]string
	WorkersMin  int
	WorkersMax  int
	IdleTimeout time.Duration // a worker without a job is stopped after it
	Scaler      Scaler
	ScalerValue int // seconds for ByDelay, jobs for ByCount; at least 1
	CreatedAt   time.Time
}

// Scaler is the published word for how the number of workers is decided.
type Scaler string

// The scalers.
const (
	ByDelay Scaler = "QUEUE_DELAY"   // a worker more for each job that waited longer than so many seconds
	ByCount Scaler = "REQUEST_COUNT" // a worker for each so many jobs, waiting or in progress
)

// WorkerStatus is the published word for where a worker stands.
type WorkerStatus string

// The statuses of a worker.
const (
	WorkerInitializing WorkerStatus = "INITIALIZING" // started, not heard of yet
	WorkerIdle         WorkerStatus = "IDLE"
	WorkerRunning      WorkerStatus = "RUNNING" // holds a job
	WorkerThrottled    WorkerStatus = "THROTTLED"
	WorkerUnhealthy    WorkerStatus = "UNHEALTHY"
)
