package sqldb

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	nextExpiry = columns[time.Time]{computed("MIN(expires_at)", instant("expires_at", itself[time.Time]))}

	selectNextExpiry = `SELECT ` + nextExpiry.list() + ` FROM jobs WHERE expires_at IS NOT NULL`
	selectExpiring   = `SELECT ` + jobWithout.list() + ` FROM jobs WHERE expires_at <= ? ORDER BY expires_at, seq` + limit
)

const deleteJob = `DELETE FROM jobs WHERE seq = ? AND id = ? AND status NOT IN ('IN_QUEUE', 'IN_PROGRESS') AND expires_at <= ?`

// ExpiringJobs gives at most limit jobs whose ExpiresAt is not after now, the longest due first, without their JSON.
func (tx *Tx) ExpiringJobs(now time.Time, limit int) ([]compute.Job, error) {
	return list(tx, "list expiring jobs", jobWithout, selectExpiring, now.UnixMilli(), limit)
}

// NextExpiry gives the earliest ExpiresAt of all jobs; zero if there is none.
func (tx *Tx) NextExpiry() (next time.Time, err error) {
	_, err = into(tx, "find next expiry", nextExpiry, &next, selectNextExpiry)
	return next, err
}

// DeleteJob removes an ended job whose ExpiresAt is not after now; the schema removes its input and chunks with it. Any other
// is left alone: it may have been retried or given more time since it was listed.
func (tx *Tx) DeleteJob(id compute.JobID, now time.Time) (bool, error) {
	deleted, err := tx.changed("delete job", deleteJob, seqOf(id), string(id), now.UnixMilli())
	tx.deleted = tx.deleted || deleted
	return deleted, err
}
