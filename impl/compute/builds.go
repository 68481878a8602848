package compute

import "time"

// Build is the making of an image for an endpoint, of a folder or an archive that its user sent.
type Build struct {
	ID         BuildID
	EndpointID EndpointID
	Status     BuildStatus
	Image      string // that it makes
	Error      string // why it FAILED, for people
	CreatedAt  time.Time
	StartedAt  time.Time // zero while PENDING
	EndedAt    time.Time // zero until it has ended
}

// What builds may take, and what is kept of them.
const (
	BuildArchive  = 512 << 20        // bytes of an archive as it is sent
	BuildUnpacked = 4 << 30          // bytes of what a compressed one has in it
	BuildTime     = 30 * time.Minute // from its begin to its end
	BuildsAtOnce  = 2                // of a server; further ones are PENDING
	BuildsLive    = 8                // of a server that are sent, PENDING or BUILDING; more are refused
	BuildsKept    = 20               // of each endpoint
	BuildLog      = 256 << 10        // bytes of the log of each
	BuildLine     = 4 << 10          // bytes of a line of it
	BuildError    = 1 << 10          // bytes of what it failed of
)

// BuildStatus is the published word for where a build stands.
type BuildStatus string

// The statuses of a build. The public document has more, which nothing leads to here: there is no registry to upload to, and no test.
const (
	BuildPending   BuildStatus = "PENDING"
	BuildBuilding  BuildStatus = "BUILDING"
	BuildCompleted BuildStatus = "COMPLETED" // its image is the endpoint's
	BuildFailed    BuildStatus = "FAILED"
	BuildCancelled BuildStatus = "CANCELLED"
)

// BuildEvent moves a build on.
type BuildEvent string

// The events.
const (
	BuildBegin    BuildEvent = "begin"
	BuildComplete BuildEvent = "complete"
	BuildFail     BuildEvent = "fail"
	BuildCancel   BuildEvent = "cancel"
)

// BuildMachine says how builds move.
var BuildMachine = NewMachine("build", BuildPending, []BuildStatus{BuildCompleted, BuildFailed, BuildCancelled}, []Row[BuildStatus, BuildEvent]{
	{BuildPending, BuildBegin, BuildBuilding, "builds.completed"},
	{BuildPending, BuildFail, BuildFailed, "builds.failed"},
	{BuildPending, BuildCancel, BuildCancelled, "builds.cancelled"},
	{BuildBuilding, BuildComplete, BuildCompleted, "builds.completed"},
	{BuildBuilding, BuildFail, BuildFailed, "builds.failed"},
	{BuildBuilding, BuildCancel, BuildCancelled, "builds.cancelled"},
})

// Ended reports whether the build is over.
func (s BuildStatus) Ended() bool { return s != BuildPending && s != BuildBuilding }
