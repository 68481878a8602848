package sqldb

import "github.com/berthdev/berth/impl/compute"

const (
	insertRuntime  = `INSERT INTO runtimes (name, address) VALUES (?, ?) ON CONFLICT DO NOTHING`
	selectRuntimes = `SELECT name, address FROM runtimes ORDER BY name, address`
	deleteRuntime  = `DELETE FROM runtimes WHERE name = ? AND address = ?`
)

// InsertRuntime stores the runtime, known or not.
func (tx *Tx) InsertRuntime(r compute.RuntimeAt) error {
	_, err := tx.exec("insert runtime "+r.Name, insertRuntime, r.Name, r.Address)
	return err
}

// ListRuntimes gives all runtimes, by name and address.
func (tx *Tx) ListRuntimes() ([]compute.RuntimeAt, error) {
	return list(tx, "list runtimes", func(row scanner) (r compute.RuntimeAt, err error) {
		err = row.Scan(&r.Name, &r.Address)
		return r, err
	}, selectRuntimes)
}

// DeleteRuntime removes the runtime, known or not.
func (tx *Tx) DeleteRuntime(r compute.RuntimeAt) error {
	_, err := tx.exec("delete runtime "+r.Name, deleteRuntime, r.Name, r.Address)
	return err
}
