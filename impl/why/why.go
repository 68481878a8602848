// Package why gives the one reason why a job, the workers of an endpoint or a pod do not go on, or that they do, with what would help. It
// decides on rows and on what is remembered of runtimes; it changes nothing. Facts are gathered first (gather.go), and the reason is then
// a function of them alone.
package why

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Reason is the published word for a reason.
type Reason string

// The reasons of jobs and of the workers of endpoints.
const (
	Finished    Reason = "finished"    // the job has ended
	Expired     Reason = "expired"     // its time to live, or to run, was over
	InProgress  Reason = "in_progress" // a worker has it
	Silent      Reason = "silent"      // a worker has it, and is not heard of
	NoWorkers   Reason = "no_workers"  // the endpoint may have none
	NoRoom      Reason = "no_room"     // nothing can hold a worker now
	NeverRoom   Reason = "never_room"  // no host could ever hold one
	Starting    Reason = "starting"    // it is on its way up
	CrashLoop   Reason = "crash_loop"  // workers end by themselves, or cannot be started
	Undeclared  Reason = "undeclared"  // the server does not know what the workers are
	Busy        Reason = "busy"        // all workers have jobs
	NotAsking   Reason = "not_asking"  // a worker is up and asks for no job
	Lost        Reason = "lost"        // the only worker that asks may still run the job, and does not get it anew
	LowPriority Reason = "low_priority"
	Unhealthy   Reason = "unhealthy" // workers reported that they are
	Scaling     Reason = "scaling"   // a worker is about to be started
	Ready       Reason = "ready"     // workers are there
	Resting     Reason = "resting"   // there is nothing to do
)

// The reasons of pods, beside Starting.
const (
	Running     Reason = "running"
	Behind      Reason = "behind"      // what is to be done with it fails, and is tried again
	HostSilent  Reason = "host_silent" // its host does not answer
	HostLost    Reason = "host_lost"
	Interrupted Reason = "interrupted"
	Stopped     Reason = "stopped" // by a user
	TimedStop   Reason = "timed_stop"
	Exited      Reason = "exited"      // its container ended by itself
	NotStarted  Reason = "not_started" // its container could not be started
	Failed      Reason = "failed"      // its container ended with an error
)

// Answer is the reason.
type Answer struct {
	Waits   bool
	Reason  Reason
	Because string    // a sentence
	Since   time.Time // a time of day; zero: nobody knows
	Helps   string    // a sentence; empty: nothing need be done
	Details Details
}

// Details are what stands behind the reason. Zero values are absent.
type Details struct {
	Lines    []string // the last of the log
	ExitCode *int64
	Attempts int
	Worker   compute.WorkerID
	Host     string
	Ahead    *int      // jobs that are handed out before it
	NextAt   time.Time // a time of day: when it is tried again
	Ports    []int     // of a pod that is running: those that it shows over HTTP
}
