package audit

import (
	"encoding/json"
	"slices"

	"github.com/berthdev/berth/impl/compute"
)

// loginShown is how many digits are noted of the hash of a request to log in.
const loginShown = 16

// InsertVolume is that of the transaction.
func (t *tx) InsertVolume(v compute.Volume) error {
	return t.done(t.Tx.InsertVolume(v), "volume", string(v.ID), compute.AuditCreated)
}

// UpdateVolume is that of the transaction.
func (t *tx) UpdateVolume(v compute.Volume) error {
	_, err := changed(t, "volume", string(v.ID), t.Volume, v.ID, always(func() error { return t.Tx.UpdateVolume(v) }))
	return err
}

// DeleteVolume is that of the transaction.
func (t *tx) DeleteVolume(id compute.VolumeID) error {
	return deleted(t, "volume", string(id), t.Volume, id, t.Tx.DeleteVolume)
}

// InsertGlobalVolume is that of the transaction.
func (t *tx) InsertGlobalVolume(v compute.GlobalVolume) error {
	return t.done(t.Tx.InsertGlobalVolume(v), "volume", string(v.ID), compute.AuditCreated)
}

// UpdateGlobalVolume is that of the transaction.
func (t *tx) UpdateGlobalVolume(v compute.GlobalVolume) error {
	_, err := changed(t, "volume", string(v.ID), t.GlobalVolume, v.ID, always(func() error { return t.Tx.UpdateGlobalVolume(v) }))
	return err
}

// DeleteGlobalVolume is that of the transaction.
func (t *tx) DeleteGlobalVolume(id compute.VolumeID) error {
	return deleted(t, "volume", string(id), t.GlobalVolume, id, t.Tx.DeleteGlobalVolume)
}

// InsertRegistry is that of the transaction.
func (t *tx) InsertRegistry(r compute.Registry) error {
	return t.done(t.Tx.InsertRegistry(r), "registry", string(r.ID), compute.AuditCreated)
}

// UpdateRegistry is that of the transaction: the login is another one, sealed anew.
func (t *tx) UpdateRegistry(r compute.Registry) error {
	return t.done(t.Tx.UpdateRegistry(r), "registry", string(r.ID), compute.AuditChanged, "login")
}

// DeleteRegistry is that of the transaction.
func (t *tx) DeleteRegistry(id compute.RegistryID) error {
	return deleted(t, "registry", string(id), t.Registry, id, t.Tx.DeleteRegistry)
}

// InsertDelegation is that of the transaction.
func (t *tx) InsertDelegation(d compute.Delegation) error {
	return t.done(t.Tx.InsertDelegation(d), "delegation", string(d.ID), compute.AuditCreated)
}

// DeleteDelegation is that of the transaction.
func (t *tx) DeleteDelegation(user compute.UserID, id compute.DelegationID) (bool, error) {
	gone, err := t.Tx.DeleteDelegation(user, id)
	t.note(gone && err == nil, "delegation", string(id), compute.AuditDeleted)
	return gone, err
}

// InsertSecret is that of the transaction.
func (t *tx) InsertSecret(s compute.Secret, value []byte) error {
	return t.done(t.Tx.InsertSecret(s, value), "secret", string(s.ID), compute.AuditCreated)
}

// UpdateSecret is that of the transaction.
func (t *tx) UpdateSecret(s compute.Secret) error {
	_, err := changed(t, "secret", string(s.ID), t.Secret, s.ID, always(func() error { return t.Tx.UpdateSecret(s) }))
	return err
}

// SetSecretValue is that of the transaction.
func (t *tx) SetSecretValue(s compute.Secret, value []byte) error {
	return t.done(t.Tx.SetSecretValue(s, value), "secret", string(s.ID), compute.AuditChanged, "value")
}

// DeleteSecret is that of the transaction.
func (t *tx) DeleteSecret(id compute.SecretID) error {
	return deleted(t, "secret", string(id), t.Secret, id, t.Tx.DeleteSecret)
}

// ForgetRegistry is that of the transaction.
func (t *tx) ForgetRegistry(id compute.RegistryID) ([]compute.TemplateID, error) {
	all, err := t.Tx.ForgetRegistry(id)
	for _, template := range all {
		t.note(err == nil, "template", string(template), compute.AuditChanged, "registryId")
	}
	return all, err
}

// InsertTemplate is that of the transaction.
func (t *tx) InsertTemplate(x compute.Template) error {
	return t.done(t.Tx.InsertTemplate(x), "template", string(x.ID), compute.AuditCreated)
}

// UpdateTemplate is that of the transaction.
func (t *tx) UpdateTemplate(x compute.Template) error {
	_, err := changed(t, "template", string(x.ID), t.Template, x.ID, always(func() error { return t.Tx.UpdateTemplate(x) }))
	return err
}

// DeleteTemplate is that of the transaction.
func (t *tx) DeleteTemplate(id compute.TemplateID) error {
	return deleted(t, "template", string(id), t.Template, id, t.Tx.DeleteTemplate)
}

// SetSSHKeys is that of the transaction.
func (t *tx) SetSSHKeys(user compute.UserID, keys []string) error {
	return t.done(t.Tx.SetSSHKeys(user, keys), "ssh-keys", string(user), compute.AuditChanged)
}

// InsertKey is that of the transaction.
func (t *tx) InsertKey(k compute.Key) error {
	return t.done(t.Tx.InsertKey(k), "key", string(k.ID), compute.AuditCreated)
}

// RevokeKey is that of the transaction.
func (t *tx) RevokeKey(id compute.KeyID) error {
	return t.done(t.Tx.RevokeKey(id), "key", string(id), compute.AuditChanged, "revokedAt")
}

// MoveLogin is that of the transaction. The entry has the begin of the hash alone, by which entries of one request are known.
func (t *tx) MoveLogin(l compute.LoginRequest, from compute.LoginStatus) (bool, error) {
	moved, err := t.Tx.MoveLogin(l, from)
	t.note(moved && err == nil, "login", l.Hash[:min(len(l.Hash), loginShown)], compute.AuditChanged, "status")
	return moved, err
}

// DeleteKey is that of the transaction.
func (t *tx) DeleteKey(id compute.KeyID) error {
	return deleted(t, "key", string(id), t.Key, id, t.Tx.DeleteKey)
}

// InsertUser is that of the transaction.
func (t *tx) InsertUser(u compute.User) error {
	return t.done(t.Tx.InsertUser(u), "user", string(u.Name), compute.AuditCreated)
}

// UpdateUser is that of the transaction.
func (t *tx) UpdateUser(u compute.User) error {
	_, err := changed(t, "user", string(u.Name), t.User, u.Name, always(func() error { return t.Tx.UpdateUser(u) }))
	return err
}

// DeleteUser is that of the transaction.
func (t *tx) DeleteUser(name compute.UserID) error {
	return deleted(t, "user", string(name), t.User, name, t.Tx.DeleteUser)
}

// SetHostChange is that of the transaction: what it has of the host beside the operator's file.
func (t *tx) SetHostChange(h compute.HostChange) error {
	all, err := t.HostChanges()
	if err != nil {
		return err
	}
	var before compute.HostChange
	if i := slices.IndexFunc(all, func(one compute.HostChange) bool { return one.ID == h.ID }); i >= 0 {
		before = all[i]
	}

	c, fields := compute.AuditChanged, []string(nil)
	switch {
	case h.Removed || h.Added == "" && before.Added != "":
		c = compute.AuditDeleted
	case h.Added != "" && before.Added == "":
		c = compute.AuditCreated
	case h.Draining != before.Draining:
		fields = []string{"draining"}
	}
	err = t.Tx.SetHostChange(h)
	forgotten := before.Removed && h.None() // once nothing is left of a host that was removed
	t.note(err == nil && h != before && !forgotten, "host", h.ID, c, fields...)
	return err
}

// InsertFlashApp is that of the transaction.
func (t *tx) InsertFlashApp(a compute.FlashApp) error {
	return t.done(t.Tx.InsertFlashApp(a), "flash-app", string(a.ID), compute.AuditCreated)
}

// DeleteFlashApp is that of the transaction: with the app its environments and builds go.
func (t *tx) DeleteFlashApp(id compute.FlashAppID) error {
	environments, err := t.ListFlashEnvironments(id)
	if err != nil {
		return err
	}
	builds, err := t.ListFlashBuilds(id)
	if err != nil {
		return err
	}

	err = deleted(t, "flash-app", string(id), t.FlashApp, id, t.Tx.DeleteFlashApp)
	for _, e := range environments {
		t.note(err == nil, "flash-environment", string(e.ID), compute.AuditDeleted)
	}
	for _, b := range builds {
		t.note(err == nil, "flash-build", string(b.ID), compute.AuditDeleted)
	}
	return err
}

// InsertFlashEnvironment is that of the transaction.
func (t *tx) InsertFlashEnvironment(e compute.FlashEnvironment) error {
	return t.done(t.Tx.InsertFlashEnvironment(e), "flash-environment", string(e.ID), compute.AuditCreated)
}

// SetFlashEnvironmentBuild is that of the transaction.
func (t *tx) SetFlashEnvironmentBuild(id compute.FlashEnvironmentID, build compute.FlashBuildID) error {
	return t.done(t.Tx.SetFlashEnvironmentBuild(id, build), "flash-environment", string(id), compute.AuditChanged, "build")
}

// DeleteFlashEnvironment is that of the transaction.
func (t *tx) DeleteFlashEnvironment(id compute.FlashEnvironmentID) error {
	return deleted(t, "flash-environment", string(id), t.FlashEnvironment, id, t.Tx.DeleteFlashEnvironment)
}

// InsertFlashBuild is that of the transaction.
func (t *tx) InsertFlashBuild(b compute.FlashBuild) error {
	return t.done(t.Tx.InsertFlashBuild(b), "flash-build", string(b.ID), compute.AuditCreated)
}

// UpdateFlashBuild is that of the transaction.
func (t *tx) UpdateFlashBuild(b compute.FlashBuild) error {
	_, err := changed(t, "flash-build", string(b.ID), t.FlashBuild, b.ID, always(func() error { return t.Tx.UpdateFlashBuild(b) }))
	return err
}

// SetFlashManifest is that of the transaction.
func (t *tx) SetFlashManifest(id compute.FlashBuildID, manifest json.RawMessage) error {
	return t.done(t.Tx.SetFlashManifest(id, manifest), "flash-build", string(id), compute.AuditChanged, "manifest")
}

// DeleteFlashBuild is that of the transaction.
func (t *tx) DeleteFlashBuild(id compute.FlashBuildID) error {
	return deleted(t, "flash-build", string(id), t.FlashBuild, id, t.Tx.DeleteFlashBuild)
}
