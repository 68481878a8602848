package sqldb

// Clear removes everything but endpoints and keys. What the schema joins to a job goes with it.
func (tx *Tx) Clear() error {
	for _, table := range []string{"pods", "jobs", "webhooks", "job_counts", "request_counts", "volumes", "registries", "delegations", "templates", "ssh_keys", "clusters", "system_lines"} {
		if _, err := tx.exec("clear "+table, "DELETE FROM "+table); err != nil {
			return err
		}
	}
	clear(tx.counts) // of the callers before this one: those jobs are gone
	tx.moves, tx.deleted = nil, true
	return nil
}
