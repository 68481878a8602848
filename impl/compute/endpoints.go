package compute

import (
	"cmp"
	"encoding/json"
	"strconv"
	"strings"
	"time"
)

// Endpoint is a serverless service: jobs are submitted to it, its workers finish them.
type Endpoint struct {
	ID             EndpointID
	UserID         UserID
	Name           string
	Type           EndpointType
	Declared       bool // by the operator's settings: its workers are processes of this machine, and hold no host
	Image          string
	Args           string
	DiskGB         int64
	Ports          []string // each port/protocol
	Env            map[string]string
	RegistryID     RegistryID         // empty: none
	GPU            *EndpointGPU       // exactly one of GPU and CPUs is set, unless it is declared
	CPUs           []CPU              // a worker gets the first one that can be had
	DataCenterIDs  []string           // in the order of preference; empty: any
	Compliance     []string           // all of them, of the data centers of its workers
	VolumeIDs      []VolumeID         // at most one in each data center; a worker mounts that of its own
	GlobalVolumeID VolumeID           // that every worker mounts; empty: none; never beside VolumeIDs
	TemplateID     TemplateID         // empty: none
	Environment    FlashEnvironmentID // of the flash app that it is a part of; empty: none
	WorkersMin     int
	WorkersMax     int
	IdleTimeout    time.Duration // a worker without a job is stopped after it
	Scaler         Scaler
	ScalerValue    float64       // seconds for ByDelay, at least 0.5; jobs for ByCount, at least 1
	Timeout        time.Duration // of a job's execution, unless the job says otherwise; 0: the queue's own
	FlashBoot      FlashBoot
	Version        int64 // of its latest release
	CreatedAt      time.Time
	DeletedAt      time.Time // zero: it lasts; else its jobs are being cancelled
}

// EndpointGPU is what a worker may get: so many GPUs of one type out of the pools.
type EndpointGPU struct {
	Pools        []string // of the catalog, in the order of preference
	Excluded     []string // GPU types
	Count        int64
	CUDAVersions []string // any of them; empty: all
	LeastCUDA    string   // no earlier one; empty: any
}

// EndpointType says how requests reach the workers. It never changes.
type EndpointType string

// The types of endpoints.
const (
	QueueEndpoint EndpointType = "QUEUE"
	LoadBalancer  EndpointType = "LOAD_BALANCER" // workers answer requests themselves; there is no queue
)

// FlashBoot is the published word for how workers are kept warm. It has no effect here.
type FlashBoot string

// The ways to boot.
const (
	FlashBootOff      FlashBoot = "OFF"
	FlashBootOn       FlashBoot = "FLASHBOOT"
	FlashBootPriority FlashBoot = "PRIORITY_FLASHBOOT"
)

// Scaler is the published word for how the number of workers is decided.
type Scaler string

// The scalers.
const (
	ByDelay Scaler = "QUEUE_DELAY"   // a worker more for each job that waited longer than so many seconds
	ByCount Scaler = "REQUEST_COUNT" // a worker for each so many jobs, waiting or in progress
)

// longestDelay bounds what a queue delay may be asked to be, so that it stays a duration.
const longestDelay = 365 * 24 * time.Hour

// QueueDelay is how long a job may wait before it calls for a worker more.
func (e Endpoint) QueueDelay() time.Duration {
	return time.Duration(min(e.ScalerValue, longestDelay.Seconds()) * float64(time.Second))
}

// IdlesBySetting reports whether the idle timeout is the user's to set: not where a queue is scaled by the count of its jobs.
func (e Endpoint) IdlesBySetting() bool { return e.Type == LoadBalancer || e.Scaler == ByDelay }

// The variables that say where the workers of an endpoint that balances load listen.
const (
	EnvPort       = "PORT"
	EnvHealthPort = "PORT_HEALTH"
	EnvHealthPath = "HEALTH_CHECK_PATH"
)

// Serving is where the workers of an endpoint that balances load take requests, and say how they are.
type Serving struct {
	Port, HealthPort int
	HealthPath       string // begins with a slash
}

// healthPathBytes is how long a path of the health check can be: no server takes a longer one.
const healthPathBytes = 8 << 10

// Serving reads it from the endpoint's environment. What that does not say, or says of no port or no path, is port 80 and /ping.
func (e Endpoint) Serving() Serving {
	port := func(name string, otherwise int) int {
		n, err := strconv.ParseUint(e.Env[name], 10, 16)
		if err != nil || n == 0 {
			return otherwise
		}
		return int(n)
	}

	s := Serving{Port: port(EnvPort, 80), HealthPath: cmp.Or(e.Env[EnvHealthPath], "/ping")}
	s.HealthPort = port(EnvHealthPort, s.Port)
	if !strings.HasPrefix(s.HealthPath, "/") {
		s.HealthPath = "/" + s.HealthPath
	}
	if len(s.HealthPath) > healthPathBytes {
		s.HealthPath = "/ping"
	}
	return s
}

// InMemory gives of the endpoint what its jobs and requests go by, and its scaling. What its workers are made of may be large, and is in its row.
func (e Endpoint) InMemory() Endpoint {
	slim := Endpoint{
		ID: e.ID, UserID: e.UserID, Type: e.Type, Declared: e.Declared, WorkersMin: e.WorkersMin, WorkersMax: e.WorkersMax, IdleTimeout: e.IdleTimeout,
		Scaler: e.Scaler, ScalerValue: e.ScalerValue, Timeout: e.Timeout, Version: e.Version, DeletedAt: e.DeletedAt,
	}
	if e.Type == LoadBalancer {
		at := e.Serving()
		slim.Env = map[string]string{
			EnvPort: strconv.Itoa(at.Port), EnvHealthPort: strconv.Itoa(at.HealthPort), EnvHealthPath: strings.Clone(at.HealthPath),
		}
	}
	return slim
}

// ReleasesKept is how many releases of an endpoint are kept, the last ones.
const ReleasesKept = 1000

// Release is one version of what the workers of an endpoint are made of.
type Release struct {
	ID         ReleaseID
	EndpointID EndpointID
	Version    int64   // from 1
	CreatedBy  UserID  // empty: the operator
	BuildID    BuildID // that made it; empty: somebody changed the endpoint
	Diff       []FieldChange
	CreatedAt  time.Time
}

// FieldChange is how a release differs in one field from the one before. The values are JSON.
type FieldChange struct {
	Field    string // as published
	Old, New json.RawMessage
}

// Worker is a container or process that serves one endpoint's jobs.
type Worker struct {
	ID           WorkerID
	EndpointID   EndpointID
	Version      int64 // of the release that it is made of
	Image        string
	GPU          *GPU // at most one of GPU and CPU is set
	CPU          *CPU
	DiskGB       int64
	DataCenterID string   // empty: it holds no host
	HostID       string   // empty: it holds no host
	Devices      []string // of the GPUs on its host
	CostPerHour  float64  // USD
	CreatedAt    time.Time
	StartedAt    time.Time // when its container came up; zero: not yet
}

// What is kept of workers that have ended (rules serverless.workers.ended, serverless.workers.logs.kept).
const (
	EndedWorkers = 10       // of each endpoint
	EndedLines   = 500      // of the log of each
	EndedText    = 64 << 10 // bytes of these lines
)

// EndedWorker is what is kept of a worker that has ended.
type EndedWorker struct {
	ID         WorkerID
	EndpointID EndpointID
	Version    int64     // of the release that it was made of
	StartedAt  time.Time // when its container came up; zero: it never did
	EndedAt    time.Time
	ExitCode   *int64    // -1, or 128 and the signal's number, if a signal ended it; nil: berth ended it, or nobody knows
	Reason     string    // why it ended, for people; of one that ended by itself with the last that it wrote to the standard error
	Log        []LogLine // the end of its log, oldest first
}

// WorkerState is how a worker is seen now; nothing of it is stored.
type WorkerState struct {
	ID      WorkerID
	Status  WorkerStatus
	Reason  string // why it is UNHEALTHY or THROTTLED, for people
	Managed bool   // berth started it
	Missing bool   // it should be there, and could not be started
}

// WorkerPause is why an endpoint gets no worker now; nothing of it is stored.
type WorkerPause struct {
	Cause   PauseCause
	Reason  string    // for people
	Until   time.Time // when it is tried again
	Missing int       // workers that should be there
}

// PauseCause is what kind of reason it is.
type PauseCause string

// The causes.
const (
	PauseFull       PauseCause = "full"       // nothing can hold a worker now
	PauseNever      PauseCause = "never"      // no host could, with nothing else on it
	PauseFailing    PauseCause = "failing"    // workers end by themselves, or cannot be started
	PauseUndeclared PauseCause = "undeclared" // the settings of this start of the server do not say what its workers are
)

// WorkerStatus is the published word for where a worker stands.
type WorkerStatus string

// The statuses of a worker.
const (
	WorkerInitializing WorkerStatus = "INITIALIZING" // started, has not reported yet
	WorkerIdle         WorkerStatus = "IDLE"
	WorkerRunning      WorkerStatus = "RUNNING"   // holds a job
	WorkerThrottled    WorkerStatus = "THROTTLED" // it should be there, and nothing can hold it now
	WorkerUnhealthy    WorkerStatus = "UNHEALTHY" // it reported so, or workers end by themselves and it has to wait
)
