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
	CreatedAt   time.Time
}

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
