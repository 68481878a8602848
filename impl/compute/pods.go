package compute

import (
	"crypto/sha256"
	"fmt"
	"time"
)

// Pod is a container that the user keeps.
type Pod struct {
	ID               PodID
	UserID           UserID
	Name             string
	Image            string
	Args             string
	DiskGB           int64
	Ports            []string // each port/protocol
	Env              map[string]string
	RegistryID       RegistryID // empty: none
	Persistent       *PersistentMount
	Network          *NetworkMount
	Devices          []string       // of the GPUs on its host, as they were claimed last
	Address          NetworkAddress // in the global network of its account; 0: none
	GPU              *GPU           // exactly one of GPU and CPU is set
	CPU              *CPU
	Needs            PodNeeds // of each host that it is placed on
	Cloud            Cloud
	DataCenterID     string      // empty until placed
	HostID           string      // that it was placed on last; a persistent mount is there
	TemplateID       TemplateID  // empty: none
	ClusterID        ClusterID   // empty: none
	ClusterType      ClusterType // of its cluster; empty: it belongs to none
	GlobalNetworking bool        // from the next start on; Address shows what is
	Locked           bool
	CostPerHour      float64 // USD while it holds its machine; see Cost
	Status           PodStatus
	Reason           string // why it ended, for people
	EndedBy          PodEnd // what ended its last run; empty: it has not ended, or nobody noted it
	Version          int64  // counts the writes; guards the loops' moves
	CreatedAt        time.Time
	StartedAt        time.Time // zero until RUNNING
	RestartAt        time.Time // a container that came up no later is not the one that was last asked for
	MovedAt          time.Time // when the status last moved
	StopAfter        time.Time // the time of day after which it is stopped; zero: none
	TerminateAfter   time.Time // likewise, terminated
	BidPerGPU        float64   // USD an hour; 0: it is not Interruptible
	InterruptAt      time.Time // when it is interrupted by itself, of its present run; zero: never
	InterruptedAt    time.Time // when it was interrupted, since its last start; zero: it was not
}

// PodNeeds are what a pod asks of its host with its GPUs, also when it starts again. Zero values ask for nothing.
type PodNeeds struct {
	CUDAVersions   []string // any of them
	LeastCUDA      string   // this one or a later one
	VCPUsPerGPU    int64
	MemoryGBPerGPU int64
}

// GPU is what a GPU pod holds.
type GPU struct {
	ID    string // GPU type, as in the catalog
	Count int64
}

// CPU is what a CPU pod holds.
type CPU struct {
	ID        string // flavor, as in the catalog
	VCPUCount int64
	MemoryGB  int64
}

// PersistentMount is host-local storage.
type PersistentMount struct {
	SizeGB int64
	Path   string
}

// NetworkMount is a network volume at a path.
type NetworkMount struct {
	VolumeID VolumeID
	Path     string
}

// Cloud is the kind of host.
type Cloud string

// The clouds.
const (
	Secure    Cloud = "SECURE"
	Community Cloud = "COMMUNITY"
)

// PodStatus is the published word for where a pod stands.
type PodStatus string

// The statuses of a pod.
const (
	PodProvisioning PodStatus = "PROVISIONING"
	PodStarting     PodStatus = "STARTING"
	PodRunning      PodStatus = "RUNNING"
	PodExited       PodStatus = "EXITED"
	PodError        PodStatus = "ERROR"
	PodTerminated   PodStatus = "TERMINATED"
)

// PodEnd is what ended the run of a pod.
type PodEnd string

// The ends of runs.
const (
	EndedByUser         PodEnd = "user"         // somebody stopped it
	EndedByTimer        PodEnd = "timer"        // it was to stop after a time
	EndedByInterruption PodEnd = "interruption" // its room was taken away
	EndedByItself       PodEnd = "itself"       // its container ended with exit code 0
	EndedByFailure      PodEnd = "failure"      // its container could not be started, or ended otherwise
	EndedByHost         PodEnd = "host"         // its host left the fleet, or could not be reached for too long
)

// PodEvent moves a pod's status.
type PodEvent string

// The events of a pod: the first four are the published actions.
const (
	PodStart     PodEvent = "start"
	PodStop      PodEvent = "stop"
	PodRestart   PodEvent = "restart"
	PodTerminate PodEvent = "terminate"
	PodPlaced    PodEvent = "placed"  // its container is being started
	PodHealthy   PodEvent = "healthy" // its container is up
	PodFinished  PodEvent = "finished"
	PodFailed    PodEvent = "failed"
	PodInterrupt PodEvent = "interrupt" // its room is taken away, as may happen to interruptible pods
)

// PodActions are the events that a user may ask for, in the published order.
var PodActions = []PodEvent{PodStart, PodStop, PodRestart, PodTerminate}

// PodMachine is the table of a pod's life.
var PodMachine = NewMachine("pod", PodProvisioning, []PodStatus{PodTerminated}, []Row[PodStatus, PodEvent]{
	{PodProvisioning, PodPlaced, PodStarting, "pods.status.provisioned"},
	{PodProvisioning, PodFailed, PodError, "pods.status.error"},
	{PodProvisioning, PodStop, PodExited, "pods.action.provisioning.stop"},
	{PodProvisioning, PodTerminate, PodTerminated, "pods.action.provisioning.terminate"},
	{PodProvisioning, PodInterrupt, PodExited, "spot.interrupt"},
	{PodStarting, PodHealthy, PodRunning, "pods.status.healthy"},
	{PodStarting, PodFinished, PodExited, "pods.status.finished"},
	{PodStarting, PodFailed, PodError, "pods.status.failed"},
	{PodStarting, PodStop, PodExited, "pods.action.starting.stop"},
	{PodStarting, PodTerminate, PodTerminated, "pods.action.starting.terminate"},
	{PodStarting, PodInterrupt, PodExited, "spot.interrupt"},
	{PodRunning, PodFinished, PodExited, "pods.status.finished"},
	{PodRunning, PodFailed, PodError, "pods.status.failed"},
	{PodRunning, PodStop, PodExited, "pods.action.running.stop"},
	{PodRunning, PodRestart, PodStarting, "pods.action.running.restart"},
	{PodRunning, PodTerminate, PodTerminated, "pods.action.running.terminate"},
	{PodRunning, PodInterrupt, PodExited, "spot.interrupt"},
	{PodExited, PodStart, PodProvisioning, "pods.action.exited.start"},
	{PodExited, PodTerminate, PodTerminated, "pods.action.exited.terminate"},
	{PodError, PodStart, PodProvisioning, "pods.action.error.start"},
	{PodError, PodTerminate, PodTerminated, "pods.action.error.terminate"},
})

// HoldsHost reports whether a pod in the status holds its part of a host: from PROVISIONING until it ends (rule
// placement.released).
func (s PodStatus) HoldsHost() bool {
	return s == PodProvisioning || s == PodStarting || s == PodRunning
}

// Generation distinguishes the runs of a pod by when the last one was asked for.
func (p Pod) Generation() int64 {
	if p.RestartAt.IsZero() {
		return 0
	}
	return p.RestartAt.UnixMilli()
}

// Interruptible reports whether the pod may be interrupted: it is made with a bid.
func (p Pod) Interruptible() bool { return p.BidPerGPU > 0 }

// InterruptGrace is what a container that is interrupted gets between SIGTERM and SIGKILL.
const InterruptGrace = 5 * time.Second

// Hostname is what the pod's container calls itself: the name of the pod on its host.
func (id PodID) Hostname() string {
	sum := sha256.Sum256([]byte(id))
	return fmt.Sprintf("%s-%x", id, sum[:4])
}

// Cost is what the pod costs now, in USD an hour: nothing once it is EXITED, TERMINATED or ERROR (rule pods.cost).
func (p Pod) Cost() float64 {
	if !p.Status.HoldsHost() {
		return 0
	}
	return p.CostPerHour
}
