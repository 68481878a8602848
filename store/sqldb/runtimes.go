package sqldb

import "github.com/berthdev/berth/impl/compute"

var (
	runtimeColumns = columns[compute.RuntimeAt]{
		text("name", func(r *compute.RuntimeAt) *string { return &r.Name }),
		text("address", func(r *compute.RuntimeAt) *string { return &r.Address }),
	}
	insertRuntime  = runtimeColumns.insert("runtimes") + ` ON CONFLICT DO NOTHING`
	selectRuntimes = `SELECT ` + runtimeColumns.list() + ` FROM runtimes ORDER BY name, address`
)

const deleteRuntime = `DELETE FROM runtimes WHERE name = ? AND address = ?`

// InsertRuntime stores the runtime, known or not.
func (tx *Tx) InsertRuntime(r compute.RuntimeAt) error {
	_, err := tx.exec("insert runtime "+r.Name, insertRuntime, runtimeColumns.values(tx.args(), &r)...)
	return err
}

// ListRuntimes gives all runtimes, by name and address.
func (tx *Tx) ListRuntimes() ([]compute.RuntimeAt, error) {
	return list(tx, "list runtimes", runtimeColumns, selectRuntimes)
}

// DeleteRuntime removes the runtime, known or not.
func (tx *Tx) DeleteRuntime(r compute.RuntimeAt) error {
	_, err := tx.exec("delete runtime "+r.Name, deleteRuntime, r.Name, r.Address)
	return err
}
