package store

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// JobLists reads jobs for those who look for them.
type JobLists interface {
	// ListJobs gives at most s.Limit jobs of the endpoint, the one that was submitted last first, without JSON.
	ListJobs(s JobSearch) ([]FoundJob, error)
	// InputSize gives how many bytes the input of a job has; 0 for an unknown one.
	InputSize(compute.JobID) (int, error)
}

// The bounds of what is looked at of an error, in characters.
const (
	ErrorShown    = 300
	ErrorSearched = 65536
)

// JobSearch says which jobs are looked for. Each job that it reads is given, so that the caller counts them.
type JobSearch struct {
	EndpointID compute.EndpointID
	Open       bool             // only those that have not ended, or that have an error: others need not be read
	Before     compute.Position // in the order of the list; zero: from its beginning
	From       time.Time        // no earlier ones; zero: all
	Error      string           // see FoundJob.Matches
	Limit      int
}

// FoundJob is a job of a list.
type FoundJob struct {
	compute.Job                  // with the first ErrorShown characters of its error
	At          compute.Position // its place
	Matches     bool             // the first ErrorSearched characters of its error contain what was searched, where A to Z are as a to z
}
