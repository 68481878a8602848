package changes

import (
	"encoding/json"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// tx is a transaction whose changes are noted once it is on disk. What is deleted is read before, for whose it was.
type tx struct {
	store.Tx
	log     *Log
	changes []Event
}

// note notes a change of this transaction, if it was made.
func (t *tx) note(made bool, e Event) {
	if !made {
		return
	}
	if t.changes == nil {
		t.AfterCommit(func() { t.log.Note(t.changes...) })
	}
	t.changes = append(t.changes, e)
}

// done is note of what gives an error if it is not made.
func (t *tx) done(err error, e Event) error {
	t.note(err == nil, e)
	return err
}

// Clear is that of the transaction.
func (t *tx) Clear() error { return t.done(t.Tx.Clear(), Event{Kind: Reset, Change: Changed}) }

func ofPod(p compute.Pod, c Change) Event {
	if p.Status == compute.PodTerminated {
		c = Deleted
	}
	return Event{Kind: Pod, ID: string(p.ID), Change: c, Status: string(p.Status), User: p.UserID}
}

// InsertPod is that of the transaction.
func (t *tx) InsertPod(p compute.Pod) error { return t.done(t.Tx.InsertPod(p), ofPod(p, Created)) }

// ChangePod is that of the transaction.
func (t *tx) ChangePod(p compute.Pod) (bool, error) {
	changed, err := t.Tx.ChangePod(p)
	t.note(changed, ofPod(p, Changed))
	return changed, err
}

// MovePod is that of the transaction.
func (t *tx) MovePod(p compute.Pod) (bool, error) {
	moved, err := t.Tx.MovePod(p)
	t.note(moved, ofPod(p, Changed))
	return moved, err
}

func ofCluster(x compute.Cluster, c Change) Event {
	return Event{Kind: Cluster, ID: string(x.ID), Change: c, User: x.UserID}
}

// InsertCluster is that of the transaction.
func (t *tx) InsertCluster(x compute.Cluster) error {
	return t.done(t.Tx.InsertCluster(x), ofCluster(x, Created))
}

// RenameCluster is that of the transaction.
func (t *tx) RenameCluster(id compute.ClusterID, name string) error {
	x, _ := t.Cluster(id)
	return t.done(t.Tx.RenameCluster(id, name), ofCluster(x, Changed))
}

// DeleteCluster is that of the transaction.
func (t *tx) DeleteCluster(id compute.ClusterID) error {
	x, err := t.Cluster(id)
	known := err == nil
	err = t.Tx.DeleteCluster(id)
	t.note(known && err == nil, ofCluster(x, Deleted))
	return err
}

func ofEndpoint(e compute.Endpoint, c Change) Event {
	if !e.DeletedAt.IsZero() {
		c = Deleted
	}
	return Event{Kind: Endpoint, ID: string(e.ID), Change: c, User: e.UserID}
}

// ofPart is a change of what belongs to an endpoint.
func ofPart(id compute.EndpointID) Event {
	return Event{Kind: Endpoint, ID: string(id), Change: Changed, Endpoint: id}
}

// InsertEndpoint is that of the transaction.
func (t *tx) InsertEndpoint(e compute.Endpoint) error {
	return t.done(t.Tx.InsertEndpoint(e), ofEndpoint(e, Created))
}

// UpdateEndpoint is that of the transaction.
func (t *tx) UpdateEndpoint(e compute.Endpoint) error {
	return t.done(t.Tx.UpdateEndpoint(e), ofEndpoint(e, Changed))
}

// DeleteEndpoint is that of the transaction.
func (t *tx) DeleteEndpoint(id compute.EndpointID) error {
	e, err := t.Endpoint(id)
	known := err == nil
	err = t.Tx.DeleteEndpoint(id)
	t.note(known && err == nil, ofEndpoint(e, Deleted))
	return err
}

// InsertBuild is that of the transaction.
func (t *tx) InsertBuild(b compute.Build) error {
	return t.done(t.Tx.InsertBuild(b), ofPart(b.EndpointID))
}

// MoveBuild is that of the transaction.
func (t *tx) MoveBuild(b compute.Build, from compute.BuildStatus, log []compute.LogLine) (bool, error) {
	moved, err := t.Tx.MoveBuild(b, from, log)
	t.note(moved, ofPart(b.EndpointID))
	return moved, err
}

// InsertRelease is that of the transaction.
func (t *tx) InsertRelease(r compute.Release) error {
	return t.done(t.Tx.InsertRelease(r), ofPart(r.EndpointID))
}

// SetScript is that of the transaction.
func (t *tx) SetScript(s compute.EndpointScript) error {
	return t.done(t.Tx.SetScript(s), ofPart(s.EndpointID))
}

// DeleteScript is that of the transaction.
func (t *tx) DeleteScript(id compute.EndpointID) error {
	return t.done(t.Tx.DeleteScript(id), ofPart(id))
}

func ofWorker(id compute.WorkerID, e compute.EndpointID, c Change) Event {
	return Event{Kind: Worker, ID: string(id), Change: c, Endpoint: e}
}

// InsertWorker is that of the transaction.
func (t *tx) InsertWorker(w compute.Worker) error {
	return t.done(t.Tx.InsertWorker(w), ofWorker(w.ID, w.EndpointID, Created))
}

// SetWorkerStarted is that of the transaction.
func (t *tx) SetWorkerStarted(id compute.WorkerID, at time.Time) (bool, error) {
	there, err := t.Tx.SetWorkerStarted(id, at)
	if there {
		w, _ := t.Worker(id)
		t.note(true, ofWorker(id, w.EndpointID, Changed))
	}
	return there, err
}

// DeleteWorker is that of the transaction.
func (t *tx) DeleteWorker(id compute.WorkerID) error {
	w, err := t.Worker(id)
	known := err == nil
	err = t.Tx.DeleteWorker(id)
	t.note(known && err == nil, ofWorker(id, w.EndpointID, Deleted))
	return err
}

// InsertEndedWorker is that of the transaction: it is listed as one that has ended.
func (t *tx) InsertEndedWorker(w compute.EndedWorker) error {
	return t.done(t.Tx.InsertEndedWorker(w), ofWorker(w.ID, w.EndpointID, Deleted))
}

// notes notes several changes.
func (t *tx) notes(made bool, all []Event) {
	for _, e := range all {
		t.note(made, e)
	}
}

// InsertJob is that of the transaction.
func (t *tx) InsertJob(j compute.Job, input json.RawMessage) error {
	err := t.Tx.InsertJob(j, input)
	t.notes(err == nil, withWorker(ofJob(j, Created), j.WorkerID))
	return err
}

// TakeJob is that of the transaction.
func (t *tx) TakeJob(id compute.JobID, holder compute.WorkerID) (j compute.Job, input json.RawMessage, size int, taken bool, err error) {
	j, input, size, taken, err = t.Tx.TakeJob(id, holder)
	t.notes(taken, withWorker(ofJob(j, Changed), holder))
	return j, input, size, taken, err
}

// MoveJob is that of the transaction.
func (t *tx) MoveJob(j compute.Job, was store.JobGuard) (bool, error) {
	moved, err := t.Tx.MoveJob(j, was)
	t.notes(moved, withWorker(ofJob(j, Changed), was.Worker))
	return moved, err
}

// SetJobOutput is that of the transaction.
func (t *tx) SetJobOutput(id compute.JobID, holder compute.WorkerID, output json.RawMessage) (bool, error) {
	set, err := t.Tx.SetJobOutput(id, holder, output)
	t.progress(set, id)
	return set, err
}

// AppendChunk is that of the transaction.
func (t *tx) AppendChunk(id compute.JobID, holder compute.WorkerID, c compute.Chunk) (bool, error) {
	added, err := t.Tx.AppendChunk(id, holder, c)
	t.progress(added, id)
	return added, err
}

// progress notes that a job in progress goes on, if it does.
func (t *tx) progress(made bool, id compute.JobID) {
	if !made {
		return
	}
	if j, err := t.Job(id); err == nil {
		t.note(true, ofJob(j, Changed))
	}
}

// DeleteJob is that of the transaction.
func (t *tx) DeleteJob(id compute.JobID, now time.Time) (bool, error) {
	j, _ := t.Job(id)
	deleted, err := t.Tx.DeleteJob(id, now)
	t.note(deleted, ofJob(j, Deleted))
	return deleted, err
}
