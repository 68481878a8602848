package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	registryColumns = columns[compute.Registry]{
		text("id", func(r *compute.Registry) *compute.RegistryID { return &r.ID }),
		text("user_id", func(r *compute.Registry) *compute.UserID { return &r.UserID }),
		text("name", func(r *compute.Registry) *string { return &r.Name }),
		blob("login", func(r *compute.Registry) *[]byte { return &r.Login }),
		instant("created_at", func(r *compute.Registry) *time.Time { return &r.CreatedAt }),
	}
	registryLogin     = registryColumns.only("login")
	delegationColumns = columns[compute.Delegation]{
		text("id", func(d *compute.Delegation) *compute.DelegationID { return &d.ID }),
		text("user_id", func(d *compute.Delegation) *compute.UserID { return &d.UserID }),
		text("name", func(d *compute.Delegation) *string { return &d.Name }),
		text("account", func(d *compute.Delegation) *string { return &d.Account }),
		text("region", func(d *compute.Delegation) *string { return &d.Region }),
		text("repository", func(d *compute.Delegation) *string { return &d.Repository }),
		text("tag", func(d *compute.Delegation) *string { return &d.Tag }),
		instant("created_at", func(d *compute.Delegation) *time.Time { return &d.CreatedAt }),
	}
)

var (
	insertRegistry       = registryColumns.insert("registries")
	selectFromRegistries = `SELECT ` + registryColumns.list() + ` FROM registries `
	selectRegistry       = selectFromRegistries + `WHERE id = ?`
	selectNewestRegistry = selectFromRegistries + `ORDER BY seq DESC LIMIT 1`
	selectRegistries     = selectFromRegistries + `WHERE user_id = ? ORDER BY created_at, seq`
	updateRegistry       = `UPDATE registries SET ` + registryLogin.set() + ` WHERE id = ?`
	selectRegistryPods   = `SELECT ` + podIDColumn.list() + ` FROM pods WHERE registry_id = ? AND registry_id <> '' AND gone = 0 ORDER BY seq`

	insertDelegation  = delegationColumns.insert("delegations")
	selectDelegations = `SELECT ` + delegationColumns.list() + ` FROM delegations WHERE user_id = ? ORDER BY created_at DESC, seq DESC`
)

const (
	deleteRegistry   = `DELETE FROM registries WHERE id = ?`
	deleteDelegation = `DELETE FROM delegations WHERE user_id = ? AND id = ?`
)

// InsertRegistry stores a new credential. Conflict when the id is taken.
func (tx *Tx) InsertRegistry(r compute.Registry) error {
	_, err := tx.exec("insert registry "+string(r.ID), insertRegistry, registryColumns.values(tx.args(), &r)...)
	return err
}

// Registry gives one credential. NotFound for an unknown id.
func (tx *Tx) Registry(id compute.RegistryID) (compute.Registry, error) {
	r, found, err := get(tx, "read registry "+string(id), registryColumns, selectRegistry, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "registry: credential %q does not exist", id)
	}
	return r, err
}

// NewestRegistry gives the credential that was stored last, of whatever user, and whether there is one.
func (tx *Tx) NewestRegistry() (r compute.Registry, found bool, err error) {
	return get(tx, "read newest registry", registryColumns, selectNewestRegistry)
}

// ListRegistries gives the user's credentials, oldest first, as far as there is room.
func (tx *Tx) ListRegistries(user compute.UserID, room compute.Room) (all []compute.Registry, whole bool, err error) {
	return listWithin(tx, room, "list registries", registryColumns, selectRegistries, string(user))
}

// UpdateRegistry writes the login. NotFound for an unknown id.
func (tx *Tx) UpdateRegistry(r compute.Registry) error {
	ok, err := tx.changed("update registry "+string(r.ID), updateRegistry, registryLogin.values(tx.args(), &r, string(r.ID))...)
	if err == nil && !ok {
		err = compute.Errorf(compute.NotFound, "registry: credential %q does not exist", r.ID)
	}
	return err
}

// DeleteRegistry removes the credential, known or not.
func (tx *Tx) DeleteRegistry(id compute.RegistryID) error {
	_, err := tx.exec("delete registry "+string(id), deleteRegistry, string(id))
	return err
}

// RegistryPods gives the pods that use the credential and are not TERMINATED, oldest first.
func (tx *Tx) RegistryPods(id compute.RegistryID) ([]compute.PodID, error) {
	return tx.podIDs("list pods of registry "+string(id), selectRegistryPods, string(id))
}

// InsertDelegation stores a new delegation. Conflict when the id is taken.
func (tx *Tx) InsertDelegation(d compute.Delegation) error {
	_, err := tx.exec("insert delegation "+string(d.ID), insertDelegation, delegationColumns.values(tx.args(), &d)...)
	return err
}

// ListDelegations gives the user's delegations, newest first, as far as there is room.
func (tx *Tx) ListDelegations(user compute.UserID, room compute.Room) (all []compute.Delegation, whole bool, err error) {
	return listWithin(tx, room, "list delegations", delegationColumns, selectDelegations, string(user))
}

// DeleteDelegation removes the user's delegation and reports whether there was one.
func (tx *Tx) DeleteDelegation(user compute.UserID, id compute.DelegationID) (bool, error) {
	return tx.changed("delete delegation "+string(id), deleteDelegation, string(user), string(id))
}
