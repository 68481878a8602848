// Package changes is what changed in a server, for those who follow it: pages that show it, and programs that wait for something. The changes are
// those of the rows, noted by a store around the store and kept after the commit, and those that the test controls make. As long as nobody
// follows, nothing is kept: a write then costs a look at one value. All of it is memory, which may be lost: who misses something is told to read
// everything again.
package changes

import "github.com/berthdev/berth/impl/compute"

// Kind is what a change is of.
type Kind string

// The kinds. Of Reset there is no thing: whoever meets it reads everything again.
const (
	Pod      Kind = "pod"
	Cluster  Kind = "cluster"
	Endpoint Kind = "endpoint"
	Job      Kind = "job"
	Worker   Kind = "worker"
	Volume   Kind = "volume"
	Template Kind = "template"
	Registry Kind = "registry"
	Secret   Kind = "secret"
	Key      Kind = "key"
	Webhook  Kind = "webhook"
	Host     Kind = "host"
	Clock    Kind = "clock"
	Fault    Kind = "fault"
	Journal  Kind = "journal"
	Reset    Kind = "reset"
)

// Change is what was done with a thing.
type Change string

// What can be done. Several changes are one: a thing that was made and changed was made, and one that was deleted and is there again has changed.
const (
	Created Change = "created"
	Changed Change = "changed"
	Deleted Change = "deleted"
)

// Event is a change as it is told.
type Event struct {
	Sequence int64 // ascending
	Kind     Kind
	ID       string // of the thing; of a webhook that of its job; empty where there is one of the kind
	Change   Change
	Status   string             // the last one; empty: it has none, or it did not change
	Endpoint compute.EndpointID // of jobs and workers
	User     compute.UserID     // whose it is; empty: nobody's, or nobody knows
}

// thing is what events are coalesced by.
type thing struct {
	kind Kind
	id   string
	of   compute.EndpointID // of a worker
}

func (e Event) thing() thing {
	if e.Kind == Worker {
		return thing{e.Kind, e.ID, e.Endpoint} // who connects by itself chooses its id
	}
	return thing{kind: e.Kind, id: e.ID}
}

// after takes in what happened to the same thing before.
func (e Event) after(before Event) Event {
	switch {
	case before.Change == Created && e.Change == Changed:
		e.Change = Created
	case before.Change == Deleted && e.Change == Created:
		e.Change = Changed
	}
	if e.Status == "" {
		e.Status = before.Status
	}
	if e.Endpoint == "" {
		e.Endpoint = before.Endpoint
	}
	if e.User == "" {
		e.User = before.User
	}
	return e
}
