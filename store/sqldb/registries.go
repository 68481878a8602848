package sqldb

import (
	"github.com/berthdev/berth/impl/compute"
)

const (
	registryColumns   = `id, user_id, name, login, created_at`
	delegationColumns = `id, user_id, name, account, region, repository, tag, created_at`
)

const (
	insertRegistry       = `INSERT INTO registries (` + registryColumns + `) VALUES (?, ?, ?, ?, ?)`
	selectRegistry       = `SELECT ` + registryColumns + ` FROM registries WHERE id = ?`
	selectNewestRegistry = `SELECT ` + registryColumns + ` FROM registries ORDER BY seq DESC LIMIT 1`
	selectRegistries     = `SELECT ` + registryColumns + ` FROM registries WHERE user_id = ? ORDER BY created_at, seq`
	updateRegistry       = `UPDATE registries SET login = ? WHERE id = ?`
	deleteRegistry       = `DELETE FROM registries WHERE id = ?`
	selectRegistryPods   = `SELECT id FROM pods WHERE registry_id = ? AND registry_id <> '' AND gone = 0 ORDER BY seq`

	insertDelegation  = `INSERT INTO delegations (` + delegationColumns + `) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	selectDelegations = `SELECT ` + delegationColumns + ` FROM delegations WHERE user_id = ? ORDER BY created_at DESC, seq DESC`
	deleteDelegation  = `DELETE FROM delegations WHERE user_id = ? AND id = ?`
)

// InsertRegistry stores a new credential. Conflict when the id is taken.
func (tx *Tx) InsertRegistry(r compute.Registry) error {
	_, err := tx.exec("insert registry "+string(r.ID), insertRegistry, string(r.ID), string(r.UserID), r.Name, r.Login, millis(r.CreatedAt))
	return err
}

func scanRegistry(row scanner) (r compute.Registry, err error) {
	err = row.Scan(&r.ID, &r.UserID, &r.Name, &r.Login, instant{&r.CreatedAt})
	return r, err
}

func (tx *Tx) registry(what, query string, args ...any) (r compute.Registry, found bool, err error) {
	found, err = tx.one(what, func(row scanner) (err error) {
		r, err = scanRegistry(row)
		return err
	}, query, args...)
	return r, found, err
}

// Registry gives one credential. NotFound for an unknown id.
func (tx *Tx) Registry(id compute.RegistryID) (compute.Registry, error) {
	r, found, err := tx.registry("read registry "+string(id), selectRegistry, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "registry: credential %q does not exist", id)
	}
	return r, err
}

// NewestRegistry gives the credential that was stored last, of whatever user, and whether there is one.
func (tx *Tx) NewestRegistry() (r compute.Registry, found bool, err error) {
	return tx.registry("read newest registry", selectNewestRegistry)
}

// ListRegistries gives the user's credentials, oldest first.
func (tx *Tx) ListRegistries(user compute.UserID) ([]compute.Registry, error) {
	return list(tx, "list registries", scanRegistry, selectRegistries, string(user))
}

// UpdateRegistry writes the login. NotFound for an unknown id.
func (tx *Tx) UpdateRegistry(r compute.Registry) error {
	ok, err := tx.changed("update registry "+string(r.ID), updateRegistry, r.Login, string(r.ID))
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
	return list(tx, "list pods of registry "+string(id), scanPodID, selectRegistryPods, string(id))
}

// InsertDelegation stores a new delegation. Conflict when the id is taken.
func (tx *Tx) InsertDelegation(d compute.Delegation) error {
	_, err := tx.exec("insert delegation "+string(d.ID), insertDelegation, string(d.ID), string(d.UserID), d.Name, d.Account, d.Region,
		d.Repository, d.Tag, millis(d.CreatedAt))
	return err
}

func scanDelegation(row scanner) (d compute.Delegation, err error) {
	err = row.Scan(&d.ID, &d.UserID, &d.Name, &d.Account, &d.Region, &d.Repository, &d.Tag, instant{&d.CreatedAt})
	return d, err
}

// ListDelegations gives the user's delegations, newest first.
func (tx *Tx) ListDelegations(user compute.UserID) ([]compute.Delegation, error) {
	return list(tx, "list delegations", scanDelegation, selectDelegations, string(user))
}

// DeleteDelegation removes the user's delegation and tells whether there was one.
func (tx *Tx) DeleteDelegation(user compute.UserID, id compute.DelegationID) (bool, error) {
	return tx.changed("delete delegation "+string(id), deleteDelegation, string(user), string(id))
}
