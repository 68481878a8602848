package sqlite

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// released is the time at which the rows were written.
var released = time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)

// rows is what the database of a release has in it, as the interface of the store reads it.
type rows struct {
	Pods          []compute.Pod
	Endpoints     []compute.Endpoint
	Releases      []compute.Release
	Workers       []compute.Worker
	Jobs          []storedJob
	Counts        map[compute.EndpointID]compute.JobCounts
	Webhooks      []compute.Webhook // with their bodies, as long as they are to be delivered
	Keys          []compute.Key
	RequestCounts []compute.RequestCount
	Volumes       []compute.Volume
	Registries    []compute.Registry
	Delegations   []compute.Delegation
	Templates     []compute.Template
	SSHKeys       []string
	Clusters      []compute.Cluster
	Lines         []compute.LogLine // of the first pod
	Charges       []compute.Charge
	Claims        []compute.Claim // of the pods and workers
	Sums          map[string]compute.Claimed
}

// storedJob is a job with what is kept apart from it.
type storedJob struct {
	compute.Job
	Input      json.RawMessage
	Chunks     []compute.Chunk
	FinalReads int // of its stream
}

const (
	releasedUser    compute.UserID     = "owner"
	releasedPod     compute.PodID      = "k3m9x2m4p6q8r1"
	releasedQueue   compute.EndpointID = "k3m9x2m4p6q8e1"
	releasedOther   compute.EndpointID = "k3m9x2m4p6q8e2"
	releasedVolume  compute.VolumeID   = "k3m9x2m4p6q8v1"
	releasedWorker  compute.WorkerID   = "k3m9x2m4p6q8w1"
	releasedCluster compute.ClusterID  = "k3m9x2m4p6q8c1"

	// releasedRegistry is bound to what it seals: a login under the key "thirty-two bytes, known to all..".
	releasedRegistry compute.RegistryID = "j3k9x2m4p6q8r1"
)

// What stands in clear in no row.
const (
	releasedLogin = "9ba2efa2e38787c43b41effd2f422a3cfa44c9e4f48597bf59d46ad2448b38128f08073f9db623138e952bc98f234761a60e241be3d497cdce4ff15a3cff17ed296f128a092d98e2e4ed69dd66c63033c2e6a598d73d33"
	releasedToken = "brt_releasedke_0123456789012345678901234567890123456789"
)

func at(minutes int) time.Time { return released.Add(time.Duration(minutes) * time.Minute) }

// releasedRows gives what a release of that version of the schema was given, with everything in it that the version knows.
// A version that knows more adds to what the one before it has.
func releasedRows(_ int) rows {
	login, _ := hex.DecodeString(releasedLogin)
	return rows{
		Pods:      releasedPods(),
		Endpoints: releasedEndpoints(),
		Releases: []compute.Release{
			{ID: "k3m9x2m4p6q8s2", EndpointID: releasedQueue, Version: 2, CreatedBy: releasedUser, CreatedAt: at(3), Diff: []compute.FieldChange{
				{Field: "image", Old: json.RawMessage(`"old:1"`), New: json.RawMessage(`"img:1"`)}, {Field: "env", Old: json.RawMessage(`{}`), New: json.RawMessage(`{"A": "1"}`)},
			}},
			{ID: "k3m9x2m4p6q8s1", EndpointID: releasedQueue, Version: 1, CreatedAt: at(1)},
		},
		Workers: []compute.Worker{
			{
				ID: releasedWorker, EndpointID: releasedQueue, Version: 2, Image: "img:1", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1}, DiskGB: 5,
				DataCenterID: "EU-RO-1", HostID: "h", Devices: []string{"0"}, CostPerHour: 0.43, CreatedAt: at(4), StartedAt: at(5),
			},
			{ID: "k3m9x2m4p6q8w2", EndpointID: releasedOther, Version: 1, Image: "img:2", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}, CreatedAt: at(4)},
		},
		Claims: []compute.Claim{
			{HolderID: "k3m9x2m4p6q8p2", HostID: "EU-RO-1-community", Kept: true, DiskGB: 10},
			{HolderID: string(releasedPod), HostID: "EU-RO-1-secure", Devices: []string{"GPU-1", "1"}, DiskGB: 20},
			{HolderID: string(releasedWorker), HostID: "h", Devices: []string{"0"}, DiskGB: 5},
		},
		Sums: map[string]compute.Claimed{"EU-RO-1-community": {DiskGB: 10}, "EU-RO-1-secure": {GPUs: 2, DiskGB: 20}, "h": {GPUs: 1, DiskGB: 5}},
		Jobs: releasedJobs(),
		Counts: map[compute.EndpointID]compute.JobCounts{
			releasedQueue: {Completed: 1, Failed: 1, InProgress: 1, InQueue: 1},
			releasedOther: {InQueue: 1},
		},
		Webhooks: []compute.Webhook{
			{Seq: 2, JobID: "01958fb9-3c01-7001-9abc-000000000003", URL: "https://example.com/over", Tries: 3, Status: 500, Error: "it answered 500", CreatedAt: at(9)},
			{Seq: 1, JobID: "01958fb9-3c01-7000-9abc-000000000002", URL: "https://example.com/due", Body: json.RawMessage(`{"id": "ü"}`), Tries: 1, NextAt: at(10), CreatedAt: at(8)},
		},
		Keys: []compute.Key{
			{ID: "releasedke", UserID: releasedUser, Name: "first key", Scopes: []compute.Scope{compute.ScopeAll}, Hash: sha256.Sum256([]byte(releasedToken)), CreatedAt: at(0)},
			{
				ID: "workerskey", UserID: releasedUser, Name: "of a 'worker'", Scopes: []compute.Scope{compute.ScopeInvoke(releasedQueue), compute.ScopeWork(releasedQueue)},
				Hash: sha256.Sum256([]byte("another")), WorkerID: releasedWorker, Exempt: true, CreatedAt: at(1), ExpiresAt: at(1000), RevokedAt: at(2),
			},
		},
		RequestCounts: []compute.RequestCount{
			{UserID: releasedUser, Window: "day", Start: released.Truncate(24 * time.Hour), Requests: 7},
			{UserID: releasedUser, Window: "hour", Start: released, Requests: 5},
		},
		Volumes: []compute.Volume{
			{ID: releasedVolume, UserID: releasedUser, Name: "datasets", SizeGB: 100, DataCenterID: "EU-RO-1", Type: compute.StandardVolume, CreatedAt: at(1)},
		},
		Registries: []compute.Registry{
			{ID: releasedRegistry, UserID: releasedUser, Name: "ghcr", Login: login, CreatedAt: at(1)},
		},
		Delegations: []compute.Delegation{
			{ID: "k3m9x2m4p6q8d1", UserID: releasedUser, Name: "mirror", Account: "123456789012", Region: "eu-central-1", Repository: "team/app", Tag: "v1", CreatedAt: at(1)},
		},
		Templates: []compute.Template{{
			ID: "k3m9x2m4p6q8t1", UserID: releasedUser, Name: "trainer", Image: "img:1", Args: "-x \"y\"", DiskGB: 20, Ports: []string{"80/http"}, Env: map[string]string{"A": "1"},
			RegistryID: releasedRegistry, Persistent: &compute.PersistentMount{SizeGB: 10, Path: "/w"}, Category: compute.ForNVIDIA, Public: true, Serverless: true,
			StartSSH: true, StartJupyter: true, CUDAVersions: []string{"12.4"}, Readme: "# words\n\nfor people; really", CreatedAt: at(1),
		}},
		SSHKeys: []string{"ssh-ed25519 AAAA me@home", "ssh-rsa BBBB"},
		Clusters: []compute.Cluster{{
			ID: releasedCluster, UserID: releasedUser, Name: "ring", Type: compute.TrainingCluster, GPU: compute.GPU{ID: "NVIDIA L4", Count: 2}, PodCount: 1, DataCenterID: "EU-RO-1", CreatedAt: at(1),
		}},
		Lines: []compute.LogLine{
			{Source: compute.LogSystem, Position: at(12).UnixNano() + 500_000, Text: "placed"},
			{Source: compute.LogSystem, Position: at(12).UnixNano() + 500_001, Text: "it's up; -- and more"},
		},
		Charges: []compute.Charge{
			{UserID: releasedUser, Item: compute.PodGPU, ResourceID: string(releasedPod), HolderID: string(releasedPod), Rate: 780_000_000, BeganAt: at(12), EndedAt: at(13)},
			{UserID: releasedUser, Item: compute.StorageStandard, ResourceID: string(releasedVolume), HolderID: string(releasedVolume), Rate: 9_589_041, BeganAt: at(12)},
			{UserID: releasedUser, Item: compute.ServerlessGPU, ResourceID: string(releasedQueue), HolderID: string(releasedWorker), Rate: 430_000_000, BeganAt: at(12), SeenAt: at(13)},
		},
	}
}

func releasedPods() []compute.Pod {
	return []compute.Pod{
		{
			ID: releasedPod, UserID: releasedUser, Name: "a 'name'", Image: "img:1", Args: "-x \"y\"", DiskGB: 20, Ports: []string{"80/http", "22/tcp"},
			Env: map[string]string{"A": "1", "Ü": "line\nline"}, RegistryID: releasedRegistry, Network: &compute.NetworkMount{VolumeID: releasedVolume, Path: "/n"},
			GPU: &compute.GPU{ID: "NVIDIA L4", Count: 2}, Cloud: compute.Secure, DataCenterID: "EU-RO-1", HostID: "EU-RO-1-secure", TemplateID: "k3m9x2m4p6q8t1", ClusterID: releasedCluster,
			ClusterType: compute.TrainingCluster,
			Devices:     []string{"GPU-1", "1"}, Address: 4098, GlobalNetworking: true, Locked: true, CostPerHour: 0.78, Status: compute.PodRunning,
			Version: 7, CreatedAt: at(1), StartedAt: at(2).Add(time.Millisecond), RestartAt: at(3), MovedAt: at(2),
		},
		{
			ID: "k3m9x2m4p6q8p2", UserID: releasedUser, Name: "stopped", Image: "img:2", DiskGB: 1, Ports: []string{}, Env: map[string]string{},
			Persistent: &compute.PersistentMount{SizeGB: 10, Path: "/p"}, GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1}, Cloud: compute.Community, DataCenterID: "EU-RO-1",
			HostID: "EU-RO-1-community", CostPerHour: 0.39, Status: compute.PodExited, Reason: "it ended with 0", Version: 3, CreatedAt: at(2), StartedAt: at(2), MovedAt: at(4),
		},
		{
			ID: "k3m9x2m4p6q8p3", UserID: releasedUser, Name: "on CPUs", Image: "img:3", DiskGB: 5, Ports: []string{}, Env: map[string]string{},
			CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}, Cloud: compute.Secure, DataCenterID: "EU-RO-1", HostID: "EU-RO-1-secure", CostPerHour: 0.08,
			Status: compute.PodError, Reason: "it ended with 1", Version: 2, CreatedAt: at(3), MovedAt: at(3),
		},
		{
			ID: "k3m9x2m4p6q8p4", UserID: releasedUser, Name: "gone", Image: "img:4", Args: "--token hidden", DiskGB: 5, Ports: []string{}, Env: map[string]string{"TOKEN": "hidden"},
			CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}, Cloud: compute.Secure, Status: compute.PodTerminated, Version: 9, CreatedAt: at(4), MovedAt: at(5),
		},
	}
}

func releasedEndpoints() []compute.Endpoint {
	return []compute.Endpoint{
		{
			ID: releasedQueue, UserID: releasedUser, Name: "words", Type: compute.QueueEndpoint, Image: "img:1", Args: "-x", DiskGB: 5, Ports: []string{"80/http"},
			Env: map[string]string{"A": "1"}, RegistryID: releasedRegistry,
			GPU:           &compute.EndpointGPU{Pools: []string{"AMPERE_24"}, Excluded: []string{"NVIDIA A30"}, Count: 1, CUDAVersions: []string{"12.4"}, LeastCUDA: "12.1"},
			DataCenterIDs: []string{"EU-RO-1"}, VolumeIDs: []compute.VolumeID{releasedVolume}, TemplateID: "k3m9x2m4p6q8t1", WorkersMax: 3,
			IdleTimeout: 1500 * time.Millisecond, Scaler: compute.ByDelay, ScalerValue: 0.5, Timeout: time.Minute, FlashBoot: compute.FlashBootOn, Version: 2, CreatedAt: at(1),
		},
		{
			ID: releasedOther, UserID: releasedUser, Name: "declared", Type: compute.QueueEndpoint, Declared: true, Image: "declared",
			Ports: []string{}, Env: map[string]string{}, DataCenterIDs: []string{}, VolumeIDs: []compute.VolumeID{},
			CPUs: []compute.CPU{{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}}, IdleTimeout: 10 * time.Second, Scaler: compute.ByCount, ScalerValue: 4, FlashBoot: compute.FlashBootOff, Version: 1, CreatedAt: at(2),
		},
	}
}

func releasedJobs() []storedJob {
	job := func(j compute.Job) compute.Job {
		j.ExecutionTimeout, j.TTL, j.Retention = 10*time.Minute, 24*time.Hour, 30*time.Minute
		j.CreatedAt, j.QueuedAt, j.ExpiresAt = at(6), at(6), at(6).Add(j.TTL)
		return j
	}

	waiting := job(compute.Job{ID: "01958fb9-3c00-7000-9abc-000000000001", EndpointID: releasedQueue, Status: compute.JobInQueue, LowPriority: true, Retries: 1})
	held := job(compute.Job{ID: "01958fb9-3c01-7000-9abc-000000000002", EndpointID: releasedQueue, Status: compute.JobInProgress, WorkerID: releasedWorker, Attempt: 1, TakenAt: at(7)})
	held.S3Config = json.RawMessage(`{"bucket":  "b"}`)
	done := job(compute.Job{ID: "sync-01958fb9-3c01-7001-9abc-000000000003", EndpointID: releasedQueue, Status: compute.JobCompleted, Sync: true, WorkerID: releasedWorker, Attempt: 1, TakenAt: at(7), EndedAt: at(8)})
	done.Output, done.Webhook = json.RawMessage(`{"text":  "HELLO, \u00fc"}`), "https://example.com/over"
	failed := job(compute.Job{ID: "01958fb9-3c02-7fff-9abc-000000000004", EndpointID: releasedQueue, Status: compute.JobFailed, WorkerID: releasedWorker, Attempt: 3, Retries: 2, TakenAt: at(7), EndedAt: at(9)})
	failed.Error = "no luck;\n-- really"

	other := job(compute.Job{ID: "01958fb9-3c03-7000-9abc-000000000005", EndpointID: releasedOther, Status: compute.JobInQueue})
	return []storedJob{
		{Job: waiting, Input: json.RawMessage(`{"n":  1}`)},
		{Job: held, Input: json.RawMessage(`{"n": 2}`), Chunks: []compute.Chunk{{Output: json.RawMessage(`"a"`), Metrics: json.RawMessage(`{"n": 1}`)}, {Output: json.RawMessage(`22`)}}},
		{Job: done, Input: json.RawMessage(`{}`), FinalReads: 2},
		{Job: failed, Input: json.RawMessage(`{"text": "it's"}`)},
		{Job: other, Input: json.RawMessage(`{}`)},
	}
}

// put stores the rows.
func (r rows) put(t *testing.T, s store.Store, clock *compute.SettableClock) {
	t.Helper()
	write := func(f func(store.Tx) error) { require.NoError(t, s.Write(t.Context(), f)) }
	write(func(tx store.Tx) error { return putAll(r.Pods, tx.InsertPod) })
	write(func(tx store.Tx) error { return putAll(r.Endpoints, tx.InsertEndpoint) })
	write(func(tx store.Tx) error { return putAll(r.Releases, tx.InsertRelease) })
	write(func(tx store.Tx) error { return putAll(r.Workers, tx.InsertWorker) })
	write(func(tx store.Tx) error {
		return putAll(r.Claims, func(c compute.Claim) error { return tx.InsertClaims(compute.HostSize{GPUs: 2, DiskGB: 20}, c) })
	})
	write(func(tx store.Tx) error { return putAll(r.Keys, tx.InsertKey) })
	write(func(tx store.Tx) error { return putAll(r.RequestCounts, tx.SetRequestCount) })
	write(func(tx store.Tx) error { return putAll(r.Volumes, tx.InsertVolume) })
	write(func(tx store.Tx) error { return putAll(r.Registries, tx.InsertRegistry) })
	write(func(tx store.Tx) error { return putAll(r.Delegations, tx.InsertDelegation) })
	write(func(tx store.Tx) error { return putAll(r.Templates, tx.InsertTemplate) })
	write(func(tx store.Tx) error { return tx.SetSSHKeys(releasedUser, r.SSHKeys) })
	write(func(tx store.Tx) error { return putAll(r.Clusters, tx.InsertCluster) })
	write(func(tx store.Tx) error { return putAll(r.Jobs, func(j storedJob) error { return putJob(tx, j) }) })
	for i := len(r.Webhooks) - 1; i >= 0; i-- { // the newest first
		write(func(tx store.Tx) error { return tx.InsertWebhook(r.Webhooks[i]) })
	}

	clock.Advance(at(12).Sub(clock.Now()))
	for _, l := range r.Lines {
		write(func(tx store.Tx) error { return tx.AddSystemLine(string(releasedPod), l.Text) })
	}
	write(func(tx store.Tx) error { return putAll(r.Charges, tx.OpenCharge) })
	clock.Advance(time.Minute)
	write(func(tx store.Tx) error { return tx.SeeCharges() })
	write(func(tx store.Tx) error { return tx.CloseCharge(string(releasedPod)) })
}

// same holds what was read against what there should be.
func (r rows) same(t *testing.T, found rows) {
	t.Helper()
	want, got := reflect.ValueOf(r), reflect.ValueOf(found)
	for i := range want.NumField() {
		require.Equal(t, want.Field(i).Interface(), got.Field(i).Interface(), want.Type().Field(i).Name)
	}
}

func putAll[T any](all []T, put func(T) error) error {
	for _, one := range all {
		if err := put(one); err != nil {
			return err
		}
	}
	return nil
}

func putJob(tx store.Tx, j storedJob) error {
	if err := tx.InsertJob(j.Job, j.Input); err != nil {
		return err
	}
	for _, c := range j.Chunks {
		if _, err := tx.AppendChunk(j.ID, j.WorkerID, c); err != nil {
			return err
		}
	}

	for range j.FinalReads {
		if _, err := tx.CountFinalRead(j.ID); err != nil {
			return err
		}
	}

	return nil
}

// readRows gives what there is of the rows. It takes the chunks and counts a read.
func readRows(t *testing.T, s store.Store, of rows) (r rows) {
	t.Helper()
	must := func(err error) { require.NoError(t, err) }
	must(s.Write(t.Context(), func(tx store.Tx) (err error) {
		for _, p := range of.Pods {
			found, err := tx.Pod(p.ID)
			must(err)
			r.Pods = append(r.Pods, found)
		}

		for _, w := range of.Jobs {
			r.Jobs = append(r.Jobs, readJob(t, tx, w.ID))
		}
		r.Counts = map[compute.EndpointID]compute.JobCounts{}

		for _, e := range of.Endpoints {
			r.Counts[e.ID], err = tx.CountJobs(e.ID)
			must(err)
			releases, _, err := tx.PageReleases(e.ID, compute.Page{Limit: 100})
			must(err)
			r.Releases = append(r.Releases, releases...)
		}

		r.Webhooks, err = tx.ListWebhooks(100)
		must(err)
		for i := range r.Webhooks { // the list has no bodies
			r.Webhooks[i], err = tx.Webhook(r.Webhooks[i].Seq)
			must(err)
		}
		r.Endpoints, err = tx.ListEndpoints()
		must(err)
		r.Workers, err = tx.ListWorkers()
		must(err)
		r.Keys, err = tx.ListKeys()
		must(err)
		r.RequestCounts, err = tx.RequestCounts()
		must(err)
		r.Volumes, _, err = tx.PageVolumes(releasedUser, compute.Page{Limit: 1000})
		must(err)
		r.Registries, _, err = tx.ListRegistries(releasedUser, nil)
		must(err)
		r.Delegations, _, err = tx.ListDelegations(releasedUser, nil)
		must(err)
		r.Templates, _, err = tx.PageTemplates(releasedUser, compute.Page{Limit: 1000})
		must(err)
		r.SSHKeys, err = tx.SSHKeys(releasedUser)
		must(err)
		r.Clusters, _, err = tx.ListClusters(releasedUser, nil)
		must(err)
		r.Lines, err = tx.SystemLines(string(releasedPod), 0)
		must(err)
		items := []compute.Item{compute.PodGPU, compute.StorageStandard, compute.ServerlessGPU}
		must(tx.EachCharge(releasedUser, items, nil, released, at(1000), func(c compute.Charge) error {
			r.Charges = append(r.Charges, c)
			return nil
		}))
		r.Claims, err = tx.ListClaims()
		must(err)
		r.Sums, err = tx.ClaimSums()
		must(err)

		return nil
	}))

	return r
}

func readJob(t *testing.T, tx store.Tx, id compute.JobID) (j storedJob) {
	t.Helper()
	var err error
	j.Job, err = tx.Job(id)
	require.NoError(t, err)
	j.Input, err = tx.JobInput(id)
	require.NoError(t, err)
	j.Chunks, _, err = tx.DrainChunks(id, 1000)
	require.NoError(t, err)
	reads, err := tx.CountFinalRead(id)
	require.NoError(t, err)
	j.FinalReads = reads - 1
	return j
}
