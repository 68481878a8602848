package changes

import (
	"github.com/berthdev/berth/impl/compute"
)

func ofVolume(v compute.Volume, c Change) Event {
	return Event{Kind: Volume, ID: string(v.ID), Change: c, User: v.UserID}
}

// InsertVolume is that of the transaction.
func (t *tx) InsertVolume(v compute.Volume) error {
	return t.done(t.Tx.InsertVolume(v), ofVolume(v, Created))
}

// UpdateVolume is that of the transaction.
func (t *tx) UpdateVolume(v compute.Volume) error {
	return t.done(t.Tx.UpdateVolume(v), ofVolume(v, Changed))
}

// DeleteVolume is that of the transaction.
func (t *tx) DeleteVolume(id compute.VolumeID) error {
	v, err := t.Volume(id)
	known := err == nil
	err = t.Tx.DeleteVolume(id)
	t.note(known && err == nil, ofVolume(v, Deleted))
	return err
}

func ofGlobalVolume(v compute.GlobalVolume, c Change) Event {
	return Event{Kind: Volume, ID: string(v.ID), Change: c, User: v.UserID}
}

// InsertGlobalVolume is that of the transaction.
func (t *tx) InsertGlobalVolume(v compute.GlobalVolume) error {
	return t.done(t.Tx.InsertGlobalVolume(v), ofGlobalVolume(v, Created))
}

// UpdateGlobalVolume is that of the transaction.
func (t *tx) UpdateGlobalVolume(v compute.GlobalVolume) error {
	return t.done(t.Tx.UpdateGlobalVolume(v), ofGlobalVolume(v, Changed))
}

// DeleteGlobalVolume is that of the transaction.
func (t *tx) DeleteGlobalVolume(id compute.VolumeID) error {
	v, err := t.GlobalVolume(id)
	known := err == nil
	err = t.Tx.DeleteGlobalVolume(id)
	t.note(known && err == nil, ofGlobalVolume(v, Deleted))
	return err
}

func ofRegistry(r compute.Registry, c Change) Event {
	return Event{Kind: Registry, ID: string(r.ID), Change: c, User: r.UserID}
}

// InsertRegistry is that of the transaction.
func (t *tx) InsertRegistry(r compute.Registry) error {
	return t.done(t.Tx.InsertRegistry(r), ofRegistry(r, Created))
}

// UpdateRegistry is that of the transaction.
func (t *tx) UpdateRegistry(r compute.Registry) error {
	return t.done(t.Tx.UpdateRegistry(r), ofRegistry(r, Changed))
}

// DeleteRegistry is that of the transaction.
func (t *tx) DeleteRegistry(id compute.RegistryID) error {
	r, err := t.Registry(id)
	known := err == nil
	err = t.Tx.DeleteRegistry(id)
	t.note(known && err == nil, ofRegistry(r, Deleted))
	return err
}

// InsertDelegation is that of the transaction.
func (t *tx) InsertDelegation(d compute.Delegation) error {
	return t.done(t.Tx.InsertDelegation(d), Event{Kind: Registry, ID: string(d.ID), Change: Created, User: d.UserID})
}

// DeleteDelegation is that of the transaction.
func (t *tx) DeleteDelegation(user compute.UserID, id compute.DelegationID) (bool, error) {
	deleted, err := t.Tx.DeleteDelegation(user, id)
	t.note(deleted, Event{Kind: Registry, ID: string(id), Change: Deleted, User: user})
	return deleted, err
}

func ofSecret(s compute.Secret, c Change) Event {
	return Event{Kind: Secret, ID: string(s.ID), Change: c, User: s.UserID}
}

// InsertSecret is that of the transaction.
func (t *tx) InsertSecret(s compute.Secret, value []byte) error {
	return t.done(t.Tx.InsertSecret(s, value), ofSecret(s, Created))
}

// UpdateSecret is that of the transaction.
func (t *tx) UpdateSecret(s compute.Secret) error {
	return t.done(t.Tx.UpdateSecret(s), ofSecret(s, Changed))
}

// SetSecretValue is that of the transaction.
func (t *tx) SetSecretValue(s compute.Secret, value []byte) error {
	return t.done(t.Tx.SetSecretValue(s, value), ofSecret(s, Changed))
}

// DeleteSecret is that of the transaction.
func (t *tx) DeleteSecret(id compute.SecretID) error {
	s, err := t.Secret(id)
	known := err == nil
	err = t.Tx.DeleteSecret(id)
	t.note(known && err == nil, ofSecret(s, Deleted))
	return err
}

func ofTemplate(x compute.Template, c Change) Event {
	return Event{Kind: Template, ID: string(x.ID), Change: c, User: x.UserID}
}

// InsertTemplate is that of the transaction.
func (t *tx) InsertTemplate(x compute.Template) error {
	return t.done(t.Tx.InsertTemplate(x), ofTemplate(x, Created))
}

// UpdateTemplate is that of the transaction.
func (t *tx) UpdateTemplate(x compute.Template) error {
	return t.done(t.Tx.UpdateTemplate(x), ofTemplate(x, Changed))
}

// DeleteTemplate is that of the transaction.
func (t *tx) DeleteTemplate(id compute.TemplateID) error {
	x, err := t.Template(id)
	known := err == nil
	err = t.Tx.DeleteTemplate(id)
	t.note(known && err == nil, ofTemplate(x, Deleted))
	return err
}

// ForgetRegistry is that of the transaction. The templates that name a credential are its user's.
func (t *tx) ForgetRegistry(id compute.RegistryID) ([]compute.TemplateID, error) {
	r, _ := t.Registry(id)
	all, err := t.Tx.ForgetRegistry(id)
	for _, template := range all {
		t.note(err == nil, ofTemplate(compute.Template{ID: template, UserID: r.UserID}, Changed))
	}
	return all, err
}

// ofKey is a change of a key; made says that it is one of a person: those of workers come and go with them, and nobody lists them.
func ofKey(k compute.Key, c Change) (e Event, made bool) {
	return Event{Kind: Key, ID: string(k.ID), Change: c, User: k.UserID}, k.WorkerID == ""
}

// InsertKey is that of the transaction.
func (t *tx) InsertKey(k compute.Key) error {
	err := t.Tx.InsertKey(k)
	e, made := ofKey(k, Created)
	t.note(made && err == nil, e)
	return err
}

// RevokeKey is that of the transaction.
func (t *tx) RevokeKey(id compute.KeyID) error {
	k, _ := t.Key(id)
	err := t.Tx.RevokeKey(id)
	e, made := ofKey(k, Changed)
	t.note(made && err == nil, e)
	return err
}

// DeleteKey is that of the transaction.
func (t *tx) DeleteKey(id compute.KeyID) error {
	k, err := t.Key(id)
	known := err == nil
	err = t.Tx.DeleteKey(id)
	e, made := ofKey(k, Deleted)
	t.note(made && known && err == nil, e)
	return err
}

func ofWebhook(id compute.JobID, c Change) Event {
	return Event{Kind: Webhook, ID: string(id), Change: c}
}

// InsertWebhook is that of the transaction.
func (t *tx) InsertWebhook(w compute.Webhook) error {
	return t.done(t.Tx.InsertWebhook(w), ofWebhook(w.JobID, Created))
}

// SetWebhook is that of the transaction.
func (t *tx) SetWebhook(w compute.Webhook) error {
	return t.done(t.Tx.SetWebhook(w), ofWebhook(w.JobID, Changed))
}

// SetHostChange is that of the transaction.
func (t *tx) SetHostChange(h compute.HostChange) error {
	return t.done(t.Tx.SetHostChange(h), Event{Kind: Host, ID: h.ID, Change: Changed})
}

// InsertClaims is that of the transaction.
func (t *tx) InsertClaims(size compute.HostSize, claims ...compute.Claim) error {
	err := t.Tx.InsertClaims(size, claims...)
	t.held(err == nil, claims)
	return err
}

// ResizeClaim is that of the transaction.
func (t *tx) ResizeClaim(holderID string, kept bool, byGB, mostGB int64) (bool, error) {
	resized, err := t.Tx.ResizeClaim(holderID, kept, byGB, mostGB)
	if err != nil || !resized {
		return false, err
	}
	claims, err := t.ClaimsOf(holderID)
	t.held(err == nil, claims)
	return resized, err
}

// ReleaseClaims is that of the transaction.
func (t *tx) ReleaseClaims(holderID string, kept bool) ([]compute.Claim, error) {
	released, err := t.Tx.ReleaseClaims(holderID, kept)
	t.held(err == nil, released)
	return released, err
}

// held notes that another part of hosts is free.
func (t *tx) held(made bool, claims []compute.Claim) {
	for _, c := range claims {
		if c.HostID == "" {
			continue // of a volume whose data is nowhere yet
		}
		t.note(made, Event{Kind: Host, ID: c.HostID, Change: Changed})
	}
}
