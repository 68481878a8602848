package audit

import (
	"slices"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// tx is a transaction that has an actor. It has one entry for each thing, whatever is done with it.
type tx struct {
	store.Tx
	actor   Actor
	entries []compute.AuditEntry
}

// note notes a change, if it was made.
func (t *tx) note(made bool, kind, id string, c compute.AuditChange, fields ...string) {
	if !made {
		return
	}
	e := t.actor.entry(kind, id, c, fields...)
	i := slices.IndexFunc(t.entries, func(e compute.AuditEntry) bool { return e.Kind == kind && e.ID == id })
	if i < 0 {
		t.entries = append(t.entries, e)
		return
	}

	before := &t.entries[i]
	switch {
	case c == compute.AuditChanged && before.Change == compute.AuditChanged:
		before.Fields = slices.Compact(slices.Sorted(slices.Values(append(before.Fields, e.Fields...))))
	case c == compute.AuditDeleted:
		before.Change, before.Fields = c, e.Fields
	}
}

// done is note of what gives an error if it is not made.
func (t *tx) done(err error, kind, id string, c compute.AuditChange, fields ...string) error {
	t.note(err == nil, kind, id, c, fields...)
	return err
}

// write stores the entries.
func (t *tx) write() error {
	for _, e := range t.entries {
		if err := t.InsertAudit(e); err != nil {
			return err
		}
	}
	return nil
}

// Clear is that of the transaction: what was changed before it is gone, too.
func (t *tx) Clear() error {
	t.entries = nil
	return t.done(t.Tx.Clear(), "everything", "", compute.AuditDeleted)
}

// changed notes what a write made other of a thing, which read reads.
func changed[T, K any](t *tx, kind, id string, read func(K) (T, error), key K, write func() (bool, error)) (bool, error) {
	before, unknown := read(key)
	made, err := write()
	if !made || err != nil {
		return made, err
	}
	var fields []string
	if after, gone := read(key); unknown == nil && gone == nil {
		fields = differing(before, after)
	}
	t.note(unknown != nil || len(fields) > 0, kind, id, compute.AuditChanged, fields...) // what is as it was has not changed
	return made, nil
}

// always is a write that gives an error if it is not made.
func always(write func() error) func() (bool, error) {
	return func() (bool, error) {
		err := write()
		return err == nil, err
	}
}

// deleted notes that a write deleted a thing, if it was there.
func deleted[T, K any](t *tx, kind, id string, read func(K) (T, error), key K, write func(K) error) error {
	_, unknown := read(key)
	err := write(key)
	t.note(unknown == nil && err == nil, kind, id, compute.AuditDeleted)
	return err
}

// InsertPod is that of the transaction.
func (t *tx) InsertPod(p compute.Pod) error {
	return t.done(t.Tx.InsertPod(p), "pod", string(p.ID), compute.AuditCreated)
}

// ChangePod is that of the transaction.
func (t *tx) ChangePod(p compute.Pod) (bool, error) {
	return changed(t, "pod", string(p.ID), t.Pod, p.ID, func() (bool, error) { return t.Tx.ChangePod(p) })
}

// MovePod is that of the transaction.
func (t *tx) MovePod(p compute.Pod) (bool, error) {
	if p.Status == compute.PodTerminated {
		moved, err := t.Tx.MovePod(p)
		t.note(moved && err == nil, "pod", string(p.ID), compute.AuditDeleted)
		return moved, err
	}
	return changed(t, "pod", string(p.ID), t.Pod, p.ID, func() (bool, error) { return t.Tx.MovePod(p) })
}

// InsertCluster is that of the transaction.
func (t *tx) InsertCluster(x compute.Cluster) error {
	return t.done(t.Tx.InsertCluster(x), "cluster", string(x.ID), compute.AuditCreated)
}

// RenameCluster is that of the transaction.
func (t *tx) RenameCluster(id compute.ClusterID, name string) error {
	_, err := changed(t, "cluster", string(id), t.Cluster, id, always(func() error { return t.Tx.RenameCluster(id, name) }))
	return err
}

// DeleteCluster is that of the transaction.
func (t *tx) DeleteCluster(id compute.ClusterID) error {
	return deleted(t, "cluster", string(id), t.Cluster, id, t.Tx.DeleteCluster)
}

// InsertEndpoint is that of the transaction.
func (t *tx) InsertEndpoint(e compute.Endpoint) error {
	return t.done(t.Tx.InsertEndpoint(e), "endpoint", string(e.ID), compute.AuditCreated)
}

// UpdateEndpoint is that of the transaction.
func (t *tx) UpdateEndpoint(e compute.Endpoint) error {
	if !e.DeletedAt.IsZero() {
		return t.done(t.Tx.UpdateEndpoint(e), "endpoint", string(e.ID), compute.AuditDeleted)
	}
	_, err := changed(t, "endpoint", string(e.ID), t.Endpoint, e.ID, always(func() error { return t.Tx.UpdateEndpoint(e) }))
	return err
}

// DeleteEndpoint is that of the transaction.
func (t *tx) DeleteEndpoint(id compute.EndpointID) error {
	return deleted(t, "endpoint", string(id), t.Endpoint, id, t.Tx.DeleteEndpoint)
}

// InsertBuild is that of the transaction.
func (t *tx) InsertBuild(b compute.Build) error {
	return t.done(t.Tx.InsertBuild(b), "build", string(b.ID), compute.AuditCreated)
}

// MoveBuild is that of the transaction.
func (t *tx) MoveBuild(b compute.Build, from compute.BuildStatus, log []compute.LogLine) (bool, error) {
	moved, err := t.Tx.MoveBuild(b, from, log)
	t.note(moved && err == nil, "build", string(b.ID), compute.AuditChanged, "status")
	return moved, err
}

// SetScript is that of the transaction.
func (t *tx) SetScript(s compute.EndpointScript) error {
	return t.done(t.Tx.SetScript(s), "script", string(s.EndpointID), compute.AuditChanged)
}

// DeleteScript is that of the transaction.
func (t *tx) DeleteScript(id compute.EndpointID) error {
	_, there, err := t.Script(id)
	if err == nil {
		err = t.Tx.DeleteScript(id)
	}
	t.note(there && err == nil, "script", string(id), compute.AuditDeleted)
	return err
}
