package sqldb

// clearings remove what a reset forgets. What the schema joins to a job goes with it.
var clearings = []string{
	"DELETE FROM pods", "DELETE FROM jobs", "DELETE FROM webhooks", "DELETE FROM request_counts",
	"DELETE FROM volumes", "DELETE FROM global_volumes", "DELETE FROM registries", "DELETE FROM delegations", "DELETE FROM templates", "DELETE FROM ssh_keys", "DELETE FROM secrets",
	"DELETE FROM clusters", "DELETE FROM system_lines", "DELETE FROM ended_workers", "DELETE FROM builds", "DELETE FROM host_changes", "DELETE FROM seeds", "DELETE FROM scripts", "DELETE FROM flash_apps", "DELETE FROM flash_environments", "DELETE FROM flash_builds", "DELETE FROM logins",
	"DELETE FROM endpoints WHERE NOT declared",
	"DELETE FROM job_counts WHERE endpoint_id NOT IN (SELECT id FROM endpoints)",
	"UPDATE job_counts SET in_queue = 0, in_progress = 0, completed = 0, failed = 0, retried = 0",
	"DELETE FROM releases WHERE endpoint_id NOT IN (SELECT id FROM endpoints)",
	"DELETE FROM workers WHERE endpoint_id NOT IN (SELECT id FROM endpoints)",
	"DELETE FROM charges WHERE ended_at IS NOT NULL OR holder_id NOT IN (SELECT id FROM workers)",
	"DELETE FROM charge_sums",
	"DELETE FROM claims WHERE holder_id NOT IN (SELECT id FROM workers)", "DELETE FROM claim_sums",
	sumClaims,
}

// sumClaims fills the sums, which are empty, from the claims.
const sumClaims = `INSERT INTO claim_sums (host_id, gpus, vcpus, memory_gb, disk_gb)
SELECT host_id, count(device), sum(vcpus), sum(memory_gb), sum(disk_gb) FROM claims GROUP BY host_id`

// Clear removes everything but declared endpoints, their workers, users and keys, where runtimes are, and who changed what.
func (tx *Tx) Clear() error {
	for _, statement := range clearings {
		if _, err := tx.exec("clear", statement); err != nil {
			return err
		}
	}
	if _, err := tx.exec("begin the charges of workers anew", restartCharges, millis(tx.wall)); err != nil {
		return err
	}

	clear(tx.counts) // of the callers before this one: those jobs are gone
	tx.moves, tx.deleted = nil, true
	return nil
}
