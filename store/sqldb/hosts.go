package sqldb

import "github.com/berthdev/berth/impl/compute"

var (
	hostChangeColumns = columns[compute.HostChange]{
		text("id", func(c *compute.HostChange) *string { return &c.ID }),
		text("added", func(c *compute.HostChange) *string { return &c.Added }),
		flag("draining", func(c *compute.HostChange) *bool { return &c.Draining }),
		flag("removed", func(c *compute.HostChange) *bool { return &c.Removed }),
	}
	setHostChange = hostChangeColumns.insert("host_changes") +
		` ON CONFLICT (id) DO UPDATE SET ` + hostChangeColumns.only("added", "draining", "removed").format("%s = excluded.%s")
	selectHostChanges = `SELECT ` + hostChangeColumns.list() + ` FROM host_changes ORDER BY seq`
)

const deleteHostChange = `DELETE FROM host_changes WHERE id = ?`

// SetHostChange stores how the host differs from the operator's file, in place of what was stored of it.
func (tx *Tx) SetHostChange(c compute.HostChange) error {
	var err error
	if c.None() {
		_, err = tx.exec("forget change of host "+c.ID, deleteHostChange, c.ID)
	} else {
		_, err = tx.exec("store change of host "+c.ID, setHostChange, hostChangeColumns.values(tx.args(), &c)...)
	}
	return err
}

// HostChanges gives the hosts that differ from the operator's file, in the order in which they first did.
func (tx *Tx) HostChanges() ([]compute.HostChange, error) {
	return list(tx, "list changes of hosts", hostChangeColumns, selectHostChanges)
}
