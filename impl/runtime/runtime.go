// Package runtime is the interface to what pods and workers run on. It has one implementation in each folder below it,
// and runtimetest is the suite that all of them pass.
package runtime

import (
	"context"
	"errors"
	"iter"
	"net/netip"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	// ErrUnknown says that the runtime knows no allocation of that id.
	ErrUnknown = errors.New("runtime: unknown allocation")
	// ErrUnavailable says that the runtime does not answer now. It shows nothing about the allocation: ask again later.
	ErrUnavailable = errors.New("the runtime does not answer")
	// ErrNoGPU says that the runtime cannot give a container a GPU.
	ErrNoGPU = errors.New("there is no GPU runtime on this host")
	// ErrNoMounts says that the runtime cannot mount anything.
	ErrNoMounts = errors.New("this runtime has no mounts")
	// ErrNoNetworks says that the runtime cannot give an allocation an address of its own.
	ErrNoNetworks = errors.New("this runtime has no networks")
	// ErrNoStats says that the runtime does not measure what an allocation uses.
	ErrNoStats = errors.New("this runtime does not measure")
)

// Runtime starts and stops allocations. It is safe for concurrent use. Every call may give ErrUnavailable.
type Runtime interface {
	// Place chooses the host of what is to run, among those that have room for it now; ok is false if it is to run on none of them.
	// It is asked within the transaction that stores what is held of the host: it decides by what it is given, asks nobody, and may
	// be asked again.
	Place(rooms iter.Seq[compute.HostRoom]) (chosen compute.HostRoom, ok bool)
	// Start begins to start the allocation and returns without waiting for it to be up. Starting one that is up or
	// starting changes nothing; starting one that has ended runs it again, as it is asked for now, on an empty container
	// disk and with the data of its mounts. What shows only later, such as an image that cannot be had, ends the allocation
	// with a Reason.
	Start(ctx context.Context, a Allocation) error
	// Stop asks the allocation to end (SIGTERM where there is a process) and kills it after grace. It returns once it has
	// ended. Stopping one that has ended changes nothing. ErrUnknown.
	Stop(ctx context.Context, id string, grace time.Duration) error
	// Remove kills the allocation if it is up and forgets it with its persistent mount; an unknown id is no error. Network
	// volumes stay.
	Remove(ctx context.Context, id string) error
	// Inspect reports how the allocation is. It is up once its process runs: what the process is at is not looked at. ErrUnknown.
	Inspect(ctx context.Context, id string) (State, error)
	// Stats reports what an allocation uses; zero if it is not up. ErrUnknown, ErrNoStats.
	Stats(ctx context.Context, id string) (Stats, error)
	// Logs calls emit with each line that is asked for, oldest first, until there is none left or, if it is to follow, until
	// the allocation has ended. It returns what emit returns if that is an error, or the error of ctx. The runtime keeps the
	// end of what the present run wrote, and may keep that of earlier runs. ErrUnknown.
	Logs(ctx context.Context, id string, q LogQuery, emit func(Line) error) error
	Execer
	NetworkVolumes
	Inventory
	// Ended delivers the id of each allocation that ended by itself; a hint, so that nobody needs to poll often. The channel
	// is the runtime's own and is never closed.
	Ended() <-chan string
	// Close lets go of everything. What can live without berth, stays up and is known to the next runtime of the same owner;
	// everything else is killed.
	Close() error
}

// NetworkVolumes are the network volumes that a runtime has.
type NetworkVolumes interface {
	// Volumes gives the network volumes of which it has data.
	Volumes(ctx context.Context) ([]compute.VolumeID, error)
	// RemoveVolume deletes the data of a network volume, which no allocation may use any more; an unknown id is no error.
	RemoveVolume(ctx context.Context, id compute.VolumeID) error
}

// Inventory is what a runtime has.
type Inventory interface {
	// List gives the ids of all allocations that it knows, those of an earlier run of berth too, and of those of which there
	// is only a persistent mount left, for Remove.
	List(ctx context.Context) ([]string, error)
	// Sweep removes what it made for allocations beside their disks and that none of them has any more, such as a network of which
	// the last one was removed in the moment in which berth was killed.
	Sweep(ctx context.Context) error
}

// Allocation is what is to run. In numbers, zero is no bound.
type Allocation struct {
	ID          string   // unique among all pods and workers
	Generation  int64    // which of the runs of this id it is; State gives it back
	HostID      string   // where Place put it; empty: it holds no host, as the worker of a declared endpoint
	Hosts       []string // the only ones that a runtime that schedules may run it on; nil: any; empty: none that there is now
	Image       string
	Args        string            // arguments of the image's entrypoint, see package args; empty: the image's own
	Hostname    string            // what it is called inside, where it has a name of its own; empty: the runtime chooses
	Env         map[string]string // what the user asks for
	Facts       map[string]string // what berth adds about it, see Variables
	Ports       []string          // to be published, each port/protocol
	Listen      map[string]int    // variables of Env that tell it on which of these ports to listen; where it shares the ports of a machine with others, on a free one in its place
	VCPUs       int64
	MemoryBytes int64
	DiskGB      int64 // of the container disk
	Pids        int64 // processes and threads
	Persistent  *compute.PersistentMount
	Network     *compute.NetworkMount
	NetworkGB   int64 // size of the network volume; 0: it has none of its own
	Link        *Link // to other allocations; nil: none
	// Credential gives the login for the image's registry. It is called when the image is to be pulled, so that nobody holds a
	// password for longer; nil: none is needed.
	Credential func(context.Context) (Credential, error)
	GPUs       GPUs
	Labels     map[string]string
	Artifact   string         // a file of this machine that it finds at ArtifactPath, or where EnvArtifact says; empty: none
	Boot       *time.Duration // how long it takes to come up where it is simulated; nil: as the simulation has it
	StartedAt  time.Time      // set when it was up before a restart of berth: the simulated fleet takes it as up since then
}

// Where programs of flash look for what they are made of: at the path, unless the variable names another one.
const (
	ArtifactPath = "/root/.runpod/artifact.tar.gz"
	EnvArtifact  = "FLASH_BUILD_ARTIFACT_PATH"
)

// GPUs are those that an allocation gets: the devices where somebody chose them, else so many as the runtime chooses.
type GPUs struct {
	Type    string // id in the catalog, for a runtime that schedules
	Count   int64
	Devices []string // ids, as the vendor's tools give them; empty: the runtime chooses, else Count of them
}

// None reports whether the allocation gets none.
func (g GPUs) None() bool { return g.Count == 0 && len(g.Devices) == 0 }

// Number is how many it gets.
func (g GPUs) Number() int { return max(int(g.Count), len(g.Devices)) }

// Link is an allocation's place in a network. Those of one subnet reach each other, by name too.
type Link struct {
	Subnet  netip.Prefix
	Address netip.Addr // in the subnet; its first address is the gateway's
	Name    string
}

// Credential is what a registry asks for. It prints without the password.
type Credential struct{ User, Password string }

// String hides the password, also from %v and the log.
func (c Credential) String() string {
	if c == (Credential{}) {
		return "none"
	}
	return c.User + ":***"
}

// GoString hides the password from %#v.
func (c Credential) GoString() string { return c.String() }

// Phase is how far an allocation is.
type Phase string

// The phases.
const (
	Starting Phase = "starting"
	Up       Phase = "up"
	Ended    Phase = "ended"
)

// State is how an allocation is.
type State struct {
	Phase      Phase
	Generation int64
	ExitCode   int                     // when Ended; -1, or 128 and the signal's number, if a signal ended it; -1 if it never came up
	OOM        bool                    // when Ended: it was killed because it used more memory than it may
	Reason     string                  // when Ended: why, if more is known than the exit code says; while Starting: what it waits for
	Lost       bool                    // when Ended: its host is lost; nobody knows how it ended
	Fetching   bool                    // while Starting: its image is being brought to its host
	HostID     string                  // where it runs, of a runtime that schedules
	StartedAt  time.Time               // when it came up; zero while Starting
	EndedAt    time.Time               // when Ended: when, by the clock of its host; zero: nobody knows
	Ports      []compute.PublishedPort // while Up; a new start may publish on others
	Until      time.Time               // unless Ended: nothing of this changes by itself before; zero: nobody knows
}

// Unplaced reports whether the scheduler of the runtime has found no host for it yet.
func (s State) Unplaced() bool { return s.Phase == Starting && s.HostID == "" && s.Reason != "" }

// Stats is what an allocation uses.
type Stats struct {
	CPUPercent    float64          // of the vCPUs it may use, 0 to 100, since the last call or, at the first, since it came up
	MemoryPercent float64          // of the memory it may use, 0 to 100
	GPUs          []compute.GPUUse // in the order of Allocation.GPUs; nil if that is not measured
}
