// Package store is the interface to what berth remembers. It stores and decides nothing: guards are in the calls, rules
// are the callers'.
package store

import (
	"context"
	"encoding/json"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Store keeps everything in transactions. It is safe for concurrent use. What the storage itself fails gets the error that
// Troubled makes.
type Store interface {
	// Read runs f on a consistent snapshot. f must not write.
	Read(ctx context.Context, f func(Tx) error) error
	// Write runs f in a transaction and returns once it is on disk. Concurrent calls share one commit; an error from f
	// undoes f alone and is returned as it is. f is pure: it may run again, so it touches nothing but the transaction and what it
	// sets anew each time, and blocks on nothing else. What is to happen after it goes to Tx.AfterCommit. A ctx that ends before
	// f began withdraws the call; afterwards the call is seen through.
	Write(ctx context.Context, f func(Tx) error) error
	JobSets
	// Trouble gives the error of the last write if the storage failed it and nothing was written since (Troubled), and nil while
	// writes succeed. The store tries by itself to write until it can again.
	Trouble() error
	// Close waits for what was begun.
	Close() error
}

// Tx is one transaction. It must not be used after its function returned, nor from another goroutine. Who needs a part of it asks
// for that part alone.
type Tx interface {
	Stamp
	Effects
	Containers
	Serverless
	Queue
	Resources
	Access
	Runtimes
	Times
	Seeds
	States
	// Clear removes everything but declared endpoints, their workers, users and keys, the lag, where runtimes are, and who changed what.
	Clear() error
}

// Stamp is the time of a transaction: one value, stamped from the injected clock in UTC, whole milliseconds.
type Stamp interface {
	// Now is the time of the transaction by which things fall due.
	Now() time.Time
	// Wall is the time of day at Now, likewise: what people read.
	Wall() time.Time
}

// Effects are what happens after a transaction.
type Effects interface {
	// AfterCommit has f called once the transaction is on disk, or never: after what was left by the commits before it, and before
	// Write returns. f is quick and does not write. A reading transaction calls none.
	AfterCommit(f func())
}

// Containers stores what runs, or may: pods and workers, what they hold of hosts, what is logged of them and what they cost.
type Containers interface {
	Stamp
	Pods
	Clusters
	Workers
	EndedWorkers
	Claims
	Hosts
	SystemLines
	Charges
	ChargeSums
}

// Serverless stores what workers are made of.
type Serverless interface {
	Stamp
	Endpoints
	Releases
	Builds
	Scripts
}

// Queue stores jobs and what belongs to them.
type Queue interface {
	Stamp
	Effects
	Jobs
	JobLists
	JobPieces
	JobExpiry
	Chunks
	Webhooks
}

// Resources stores what pods and endpoints are made with.
type Resources interface {
	Stamp
	Volumes
	GlobalVolumes
	Registries
	Templates
	SSHKeys
	Secrets
	Flash
}

// Access stores who may make requests, how many, and who changed what.
type Access interface {
	Keys
	Users
	Logins
	RequestCounts
	Audit
}

// Pods stores pods.
type Pods interface {
	InsertPod(compute.Pod) error
	// Pod gives NotFound for an unknown id.
	Pod(compute.PodID) (compute.Pod, error)
	// PagePods gives a page of the user's pods that are not TERMINATED, newest first, and where the next one begins; zero: there is none. Who
	// looks at all of them takes Walk: they may be large, and so may endpoints and templates.
	PagePods(compute.UserID, compute.Page) ([]compute.Pod, compute.Position, error)
	// ListPodsByStatus gives every user's pods in the status, oldest first; none for TERMINATED.
	ListPodsByStatus(compute.PodStatus) ([]compute.Pod, error)
	// TimedPods gives those with a StopAfter, a TerminateAfter or an InterruptAt that are not TERMINATED, oldest first.
	TimedPods() ([]compute.PodID, error)
	// CountPods gives how many pods there are in each status but TERMINATED. It reads no pod.
	CountPods() (map[compute.PodStatus]int64, error)
	// ChangePod writes what a user may change (name, container settings, mounts but for the volume's id, lock, bid with the price) and adds one
	// to the version, if id and p.Version still match; it reports whether they did.
	ChangePod(p compute.Pod) (bool, error)
	// MovePod sets status, reason, EndedBy, StartedAt, RestartAt, StopAfter, InterruptAt, InterruptedAt, DataCenterID, HostID, Devices and
	// Address from p, MovedAt to Wall and adds one to the version, if id and p.Version still match; it reports whether they did. A pod that is then TERMINATED has no
	// environment and no arguments any more.
	MovePod(p compute.Pod) (bool, error)
	// DeleteTerminated removes at most limit pods that were terminated before the time, and reports how many.
	DeleteTerminated(before time.Time, limit int) (int, error)
	// NetworkAddresses gives to each the addresses that pods have which are not TERMINATED, ascending, with whose they are. Two
	// such pods never have the same one: InsertPod and MovePod give Conflict.
	NetworkAddresses(each func(compute.UserID, compute.NetworkAddress)) error
}

// Endpoints stores endpoints.
type Endpoints interface {
	// InsertEndpoint gives Conflict when the user already has a declared one of that name and this is one.
	InsertEndpoint(compute.Endpoint) error
	// Endpoint gives NotFound for an unknown id.
	Endpoint(compute.EndpointID) (compute.Endpoint, error)
	// DeclaredEndpoint gives the user's declared endpoint of that name; NotFound for an unknown one.
	DeclaredEndpoint(compute.UserID, string) (compute.Endpoint, error)
	// UpdateEndpoint writes all but UserID, Type, Declared and CreatedAt; NotFound for an unknown id, Conflict for a declared
	// name that is taken.
	UpdateEndpoint(compute.Endpoint) error
	// ListEndpoints gives all, those that are being deleted too, oldest first.
	ListEndpoints() ([]compute.Endpoint, error)
	// PageEndpoints gives a page of the user's endpoints that are not being deleted, newest first, and where the next one begins; zero: there is
	// none.
	PageEndpoints(compute.UserID, compute.Page) ([]compute.Endpoint, compute.Position, error)
	// DeleteEndpoint removes the endpoint with its releases and counts, known or not.
	DeleteEndpoint(compute.EndpointID) error
	// EndpointsWith gives the endpoints that are not being deleted and that name the template, the credential or the volume, network or global,
	// oldest first; the other two are empty.
	EndpointsWith(compute.TemplateID, compute.RegistryID, compute.VolumeID) ([]compute.EndpointID, error)
}

// Builds stores the builds of endpoints.
type Builds interface {
	// InsertBuild forgets all but the last compute.BuildsKept of its endpoint, that of the image that the endpoint has, and those that
	// have not ended.
	InsertBuild(compute.Build) error
	// Build gives NotFound for an unknown id.
	Build(compute.BuildID) (compute.Build, error)
	// BuildLog gives the log that is stored of a build, none of an unknown one.
	BuildLog(compute.BuildID) ([]compute.LogLine, error)
	// PageBuilds gives a page of the endpoint's builds, newest first, and where the next one begins; zero: there is none.
	PageBuilds(compute.EndpointID, compute.Page) ([]compute.Build, compute.Position, error)
	// LiveBuilds gives the builds that have not ended, oldest first.
	LiveBuilds() ([]compute.Build, error)
	// MoveBuild writes status, error and times if the status is still from, and reports whether it was; with them the log, unless that
	// is nil.
	MoveBuild(b compute.Build, from compute.BuildStatus, log []compute.LogLine) (bool, error)
}

// Releases stores the releases of endpoints.
type Releases interface {
	InsertRelease(compute.Release) error // forgets all but the last compute.ReleasesKept of its endpoint
	// PageReleases gives a page of the endpoint's releases, newest first, and where the next one begins; zero: there is none.
	PageReleases(compute.EndpointID, compute.Page) ([]compute.Release, compute.Position, error)
}

// Workers stores the workers that berth started and that have not ended.
type Workers interface {
	InsertWorker(compute.Worker) error
	// ListWorkers gives all workers, oldest first.
	ListWorkers() ([]compute.Worker, error)
	// Worker gives NotFound for an unknown id.
	Worker(compute.WorkerID) (compute.Worker, error)
	// ListWorkersOf gives the endpoint's workers, oldest first.
	ListWorkersOf(compute.EndpointID) ([]compute.Worker, error)
	// SetWorkerStarted writes StartedAt of a worker; it reports whether there is such a worker.
	SetWorkerStarted(compute.WorkerID, time.Time) (bool, error)
	// DeleteWorker removes the worker, known or not.
	DeleteWorker(compute.WorkerID) error
}

// EndedWorkers stores the last workers of each endpoint that have ended.
type EndedWorkers interface {
	// InsertEndedWorker stores a worker that has ended, and forgets all but the last compute.EndedWorkers of its endpoint.
	InsertEndedWorker(compute.EndedWorker) error
	// ListEndedWorkersOf gives the endpoint's workers that have ended, the last one first, without their logs.
	ListEndedWorkersOf(compute.EndpointID) ([]compute.EndedWorker, error)
	// EndedWorker gives one with its log; NotFound for an unknown id.
	EndedWorker(compute.WorkerID) (compute.EndedWorker, error)
}

// Claims stores what pods and workers hold of hosts. What is free of a host is what no claim has.
type Claims interface {
	// InsertClaims stores the claims of one holder on one host of that size, all or none of them. Conflict if a device is claimed
	// already, by whomever, or all claims on the host would hold more than it has: then nothing has changed.
	InsertClaims(size compute.HostSize, claims ...compute.Claim) error
	// ResizeClaim adds disk to the holder's claim that is kept, or to the other one; less than 0 takes some away. It reports whether
	// there is such a claim and its host, whose disk has mostGB in all, has so much left.
	ResizeClaim(holderID string, kept bool, byGB, mostGB int64) (bool, error)
	// ReleaseClaims removes the holder's claims and gives them: all if kept is set, else those that a stopped pod does not have.
	ReleaseClaims(holderID string, kept bool) ([]compute.Claim, error)
	// ListClaims gives all claims, by their holders.
	ListClaims() ([]compute.Claim, error)
	// ClaimsOn gives the claims on a host, by their holders.
	ClaimsOn(hostID string) ([]compute.Claim, error)
	// ClaimsOf gives the claims of a holder.
	ClaimsOf(holderID string) ([]compute.Claim, error)
	// ClaimSums gives what the claims on each host hold together; one of which nobody holds anything is missing. It reads no claim.
	ClaimSums() (map[string]compute.Claimed, error)
	// ClaimedDevices gives to each the devices that are claimed, with their hosts.
	ClaimedDevices(each func(hostID, device string)) error
}

// Jobs stores jobs. Inputs are kept apart and read only by JobInput.
type Jobs interface {
	InsertJob(j compute.Job, input json.RawMessage) error
	// Job gives NotFound for an unknown id. Of an output that is kept in pieces it gives the size.
	Job(compute.JobID) (compute.Job, error)
	// JobInput gives nil for an input that is kept in pieces, NotFound for an unknown id.
	JobInput(compute.JobID) (json.RawMessage, error)
	// LastJob gives the id that is the latest in time of those that IDs.Job made; "" if there is none.
	LastJob() (compute.JobID, error)
	// TakeJob makes a job IN_QUEUE IN_PROGRESS, the holder's, with one attempt more and TakenAt at Now, and gives it and its
	// input, or the size of one that is kept in pieces; taken reports whether it was IN_QUEUE.
	TakeJob(id compute.JobID, holder compute.WorkerID) (j compute.Job, input json.RawMessage, size int, taken bool, err error)
	// MoveJob writes every field of j that can change (all but id, endpoint, Sync, Webhook, S3Config, LowPriority, timeouts and
	// CreatedAt; an output that is kept in pieces stays if j has its size and no other one) if the job is still as was says; it
	// reports whether it is. A move to IN_QUEUE forgets the chunks and how often the end was read.
	MoveJob(j compute.Job, was JobGuard) (bool, error)
	// SetJobOutput replaces the output of a job IN_PROGRESS held by holder; it reports whether there was one.
	SetJobOutput(id compute.JobID, holder compute.WorkerID, output json.RawMessage) (bool, error)
	// CountJobs gives the counts of an endpoint, none for an unknown one; COMPLETED, FAILED and retried ones include jobs deleted since.
	CountJobs(compute.EndpointID) (compute.JobCounts, error)
	// UnfinishedJobs gives to each every endpoint's jobs without EndedAt: first those IN_QUEUE, in the order in which they began to wait, then of
	// their ids, with ID, EndpointID, Status, LowPriority, Retries and QueuedAt alone; then those IN_PROGRESS without their JSON, of every
	// worker, oldest take first.
	UnfinishedJobs(each func(compute.Job)) error
}

// JobPieces reads the inputs and the outputs of over compute.PieceSize bytes, which are kept in pieces of that size, the last one
// of what is left. The output of a job that has not ended is in one piece, however long it is.
type JobPieces interface {
	// JobPieces gives count pieces of the job's text, from the first on, which counts from 0. NotFound if there are fewer, or if
	// the job's EndedAt is another one by now, for an output: it is not the same one.
	JobPieces(j compute.Job, of compute.JobText, first, count int) (json.RawMessage, error)
}

// Chunks stores what workers stream until it is read.
type Chunks interface {
	// AppendChunk adds one chunk to a job IN_PROGRESS held by holder; it reports whether there was one.
	AppendChunk(id compute.JobID, holder compute.WorkerID, c compute.Chunk) (bool, error)
	// HasChunks reports whether the job has chunks.
	HasChunks(compute.JobID) (bool, error)
	// ChunkBytes gives how many bytes the job's chunks have together, of the first 1000 of them.
	ChunkBytes(compute.JobID) (int, error)
	// DrainChunks removes the job's chunks and gives them in the order of arrival, as many as have limit bytes together, one
	// at least; more reports whether some are left.
	DrainChunks(id compute.JobID, limit int) (chunks []compute.Chunk, more bool, err error)
	// CountFinalRead counts a read of the stream of an ended job and gives how many there were with it.
	CountFinalRead(compute.JobID) (int, error)
}

// Webhooks stores the deliveries that are to be made and, for a while, those that were.
type Webhooks interface {
	// InsertWebhook stores a delivery. Its Seq is greater than that of any before it, also of those that were deleted.
	InsertWebhook(compute.Webhook) error
	// Webhook gives a delivery with its body; NotFound for an unknown one.
	Webhook(seq int64) (compute.Webhook, error)
	// PendingWebhooks gives to each the deliveries that are to be made and whose Seq is greater, in its order, without their bodies.
	PendingWebhooks(after int64, each func(compute.Webhook)) error
	// SetWebhook writes Tries, NextAt, Status and Error. A delivery without NextAt is over: its body is forgotten.
	SetWebhook(compute.Webhook) error
	// ListWebhooks gives the deliveries without their bodies, newest first, at most limit.
	ListWebhooks(limit int) ([]compute.Webhook, error)
	// DeleteWebhooks removes at most limit deliveries that are over and were stored before the time, and reports how many.
	DeleteWebhooks(before time.Time, limit int) (int, error)
}

// JobExpiry finds the jobs whose time has come.
type JobExpiry interface {
	// ExpiringJobs gives at most limit jobs, ended or not, whose ExpiresAt is not after now, without their JSON.
	ExpiringJobs(now time.Time, limit int) ([]compute.Job, error)
	// NextExpiry gives the earliest ExpiresAt of all jobs; zero if there is none.
	NextExpiry() (time.Time, error)
	// DeleteJob removes an ended job whose ExpiresAt is not after now, with its input and chunks, and reports whether it did. It
	// leaves alone any other: it may have been retried or given more time since it was listed.
	DeleteJob(id compute.JobID, now time.Time) (bool, error)
}

// RequestCounts stores how many requests each user made, so that a restart grants no fresh window.
type RequestCounts interface {
	// SetRequestCount replaces the user's count in the window of that name.
	SetRequestCount(compute.RequestCount) error
	// RequestCounts gives all counts, by user and window.
	RequestCounts() ([]compute.RequestCount, error)
	// DeleteRequestCount removes the count, unless it is of a later window than that which began at Start.
	DeleteRequestCount(compute.RequestCount) error
}

// Volumes stores network volumes.
type Volumes interface {
	InsertVolume(compute.Volume) error
	// Volume gives NotFound for an unknown id.
	Volume(compute.VolumeID) (compute.Volume, error)
	// PageVolumes gives a page of the user's volumes, newest first, and where the next one begins; zero: there is none.
	PageVolumes(compute.UserID, compute.Page) ([]compute.Volume, compute.Position, error)
	// UpdateVolume writes name and size; NotFound for an unknown id.
	UpdateVolume(compute.Volume) error
	// DeleteVolume removes the volume, known or not.
	DeleteVolume(compute.VolumeID) error
	// VolumePods gives the pods that mount the volume and are not TERMINATED, oldest first.
	VolumePods(compute.VolumeID) ([]compute.PodID, error)
}

// GlobalVolumes stores global volumes.
type GlobalVolumes interface {
	InsertGlobalVolume(compute.GlobalVolume) error
	// GlobalVolume gives NotFound for an unknown id.
	GlobalVolume(compute.VolumeID) (compute.GlobalVolume, error)
	// PageGlobalVolumes gives a page of the user's global volumes, newest first, and where the next one begins; zero: there is none.
	PageGlobalVolumes(compute.UserID, compute.Page) ([]compute.GlobalVolume, compute.Position, error)
	// UpdateGlobalVolume writes the name; NotFound for an unknown id.
	UpdateGlobalVolume(compute.GlobalVolume) error
	// DeleteGlobalVolume removes the global volume, known or not.
	DeleteGlobalVolume(compute.VolumeID) error
}

// Registries stores registry credentials and delegations.
type Registries interface {
	InsertRegistry(compute.Registry) error
	// Registry gives NotFound for an unknown id.
	Registry(compute.RegistryID) (compute.Registry, error)
	// NewestRegistry gives the credential that was stored last, of whatever user, and whether there is one.
	NewestRegistry() (r compute.Registry, found bool, err error)
	// ListRegistries gives the user's credentials, oldest first, as far as there is room; whole says that it is all of them.
	ListRegistries(user compute.UserID, room compute.Room) (all []compute.Registry, whole bool, err error)
	// UpdateRegistry writes the login; NotFound for an unknown id.
	UpdateRegistry(compute.Registry) error
	// DeleteRegistry removes the credential, known or not.
	DeleteRegistry(compute.RegistryID) error
	// RegistryPods gives the pods that use the credential and are not TERMINATED, oldest first.
	RegistryPods(compute.RegistryID) ([]compute.PodID, error)

	InsertDelegation(compute.Delegation) error
	// ListDelegations gives the user's delegations, newest first, as far as there is room; whole says that it is all of them.
	ListDelegations(user compute.UserID, room compute.Room) (all []compute.Delegation, whole bool, err error)
	// DeleteDelegation removes the user's delegation and reports whether there was one.
	DeleteDelegation(compute.UserID, compute.DelegationID) (bool, error)
}

// Secrets stores the secrets of users. What they say comes sealed, and is read by itself.
type Secrets interface {
	// InsertSecret gives Conflict when the id is taken, or the user has one of that name, whatever its case.
	InsertSecret(s compute.Secret, value []byte) error
	// Secret gives NotFound for an unknown id.
	Secret(compute.SecretID) (compute.Secret, error)
	// NewestSecret gives the one that was stored last, of whatever user, and whether there is one.
	NewestSecret() (compute.Secret, bool, error)
	// SecretNamed gives the user's secret of that name, whatever its case, and whether there is one.
	SecretNamed(user compute.UserID, name string) (compute.Secret, bool, error)
	// SecretValue gives what is sealed; NotFound for an unknown id.
	SecretValue(compute.SecretID) ([]byte, error)
	// ListSecrets gives the user's secrets, newest first, as far as there is room; whole says that it is all of them.
	ListSecrets(user compute.UserID, room compute.Room) (all []compute.Secret, whole bool, err error)
	// UpdateSecret writes the description; NotFound for an unknown id.
	UpdateSecret(compute.Secret) error
	// SetSecretValue writes another sealed value and ChangedAt; NotFound for an unknown id.
	SetSecretValue(s compute.Secret, value []byte) error
	// DeleteSecret removes the secret, known or not.
	DeleteSecret(compute.SecretID) error
}

// Templates stores templates.
type Templates interface {
	InsertTemplate(compute.Template) error
	// Template gives NotFound for an unknown id.
	Template(compute.TemplateID) (compute.Template, error)
	// PageTemplates gives a page of the user's templates, newest first, and where the next one begins; zero: there is none.
	PageTemplates(compute.UserID, compute.Page) ([]compute.Template, compute.Position, error)
	// UpdateTemplate writes all but UserID and CreatedAt; NotFound for an unknown id.
	UpdateTemplate(compute.Template) error
	// DeleteTemplate removes the template, known or not.
	DeleteTemplate(compute.TemplateID) error
	// TemplatePods gives the pods that were made from the template and are not TERMINATED, oldest first.
	TemplatePods(compute.TemplateID) ([]compute.PodID, error)
	// ForgetRegistry takes the credential from every template that names it, and gives these by their ids.
	ForgetRegistry(compute.RegistryID) ([]compute.TemplateID, error)
}

// SSHKeys stores the public keys of users, each a line of an authorized_keys file.
type SSHKeys interface {
	// SSHKeys gives the user's keys in their order.
	SSHKeys(compute.UserID) ([]string, error)
	// SetSSHKeys replaces the user's keys.
	SetSSHKeys(compute.UserID, []string) error
}

// Clusters stores clusters; their pods are pods.
type Clusters interface {
	InsertCluster(compute.Cluster) error
	// Cluster gives NotFound for an unknown id.
	Cluster(compute.ClusterID) (compute.Cluster, error)
	// ListClusters gives the user's clusters, newest first, as far as there is room; whole says that it is all of them.
	ListClusters(user compute.UserID, room compute.Room) (all []compute.Cluster, whole bool, err error)
	// RenameCluster gives NotFound for an unknown id.
	RenameCluster(id compute.ClusterID, name string) error
	// DeleteCluster removes the cluster, known or not, and leaves its pods.
	DeleteCluster(compute.ClusterID) error
	// ClusterMembers gives the cluster's pods that are not TERMINATED, in the order of their insertion.
	ClusterMembers(compute.ClusterID) ([]compute.ClusterMember, error)
	// ClusterPods gives them in full, as far as there is room; whole says that it is all of them.
	ClusterPods(id compute.ClusterID, room compute.Room) (pods []compute.Pod, whole bool, err error)
}

// SystemLines stores what berth itself says in the logs of pods and workers, by the id of the pod or worker.
type SystemLines interface {
	// BeginSystemLines stores the first line of a log, of Wall. Conflict if there is one of that time.
	BeginSystemLines(id, text string) error
	// AddSystemLine adds a line to the log, of Wall and after all that it has.
	AddSystemLine(id, text string) error
	// ForgetSystemLines forgets all but the last compute.SystemLines of the log.
	ForgetSystemLines(id string) error
	// SystemLines gives the lines of the log after a position, oldest first.
	SystemLines(id string, after int64) ([]compute.LogLine, error)
	// DeleteSystemLines removes the lines of the log.
	DeleteSystemLines(id string) error
}

// Charges stores what is billed.
type Charges interface {
	// OpenCharge stores a charge that begins at Wall, unless its holder has an open one. SeenAt is Wall where it is set.
	OpenCharge(compute.Charge) error
	// CloseCharge ends the holder's open charge at Wall, if it has one.
	CloseCharge(holder string) error
	// StepCharges ends every open charge at the time of day at, such as Wall, and opens it again at the time of day so much later, or
	// earlier: what the clock skips is not billed, and nothing is billed less.
	StepCharges(at time.Time, step time.Duration) error
	// HasOpenCharges reports whether a charge is open.
	HasOpenCharges() (bool, error)
	// SeeCharges sets SeenAt to Wall for the open charges that have it.
	SeeCharges() error
	// CloseUnseen ends the holder's open charge at its SeenAt, or at that time if it has none, unless it began later.
	CloseUnseen(holder string, at time.Time) error
	// EachCharge calls f for the user's charges of the items that are open or end after from, and begin before to, in no certain order; for those of
	// one resource alone if it is not nil. An error of f ends it.
	EachCharge(user compute.UserID, items []compute.Item, resource *string, from, to time.Time, f func(compute.Charge) error) error
}

// Times stores how far the time that decides is behind the time of day, so that a restart takes nothing for due that is not, and the time of day
// when the server was seen last, so that a start at an earlier one notices that the clock was set back.
type Times interface {
	// Lag gives what SetLag kept; 0 at first.
	Lag() (time.Duration, error)
	SetLag(time.Duration) error // in whole milliseconds
	// LastWall gives the latest time of day that the rows know of: what SeeWall kept last, or a later one at which an open charge began or
	// was seen; zero if there is none.
	LastWall() (time.Time, error)
	SeeWall(time.Time) error // in whole milliseconds
	// StepWall says that the time of day steps with this transaction. Those that are written after it in the same commit have the time
	// of day after the step; for all later ones, AfterCommit steps the clock.
	StepWall(step time.Duration)
}
