package sqldb

import (
	"fmt"
	"maps"
	"slices"

	"github.com/berthdev/berth/impl/compute"
)

var (
	countColumns = columns[compute.JobCounts]{
		whole("in_queue", func(c *compute.JobCounts) *int64 { return &c.InQueue }),
		whole("in_progress", func(c *compute.JobCounts) *int64 { return &c.InProgress }),
		whole("completed", func(c *compute.JobCounts) *int64 { return &c.Completed }),
		whole("failed", func(c *compute.JobCounts) *int64 { return &c.Failed }),
		whole("retried", func(c *compute.JobCounts) *int64 { return &c.Retried }),
	}
	selectCounts = `SELECT ` + countColumns.list() + ` FROM job_counts WHERE endpoint_id = ?`
	insertCounts = `INSERT INTO job_counts (endpoint_id, ` + countColumns.names() + `) VALUES (?, ` + countColumns.marks() + `)`
	// Of a deleted endpoint, whose last jobs may end after it, there is nothing to be counted.
	addCounts = `UPDATE job_counts SET ` + countColumns.format("%s = %s + ?") + ` WHERE endpoint_id = ?`
)

const deleteCounts = `DELETE FROM job_counts WHERE endpoint_id = ?`

// Counts are the changes of the job counts that a database transaction has made and not yet written: one row for each
// endpoint is written once for all callers who share the commit.
type Counts map[compute.EndpointID]compute.JobCounts

// countMove is the effect of one job's move on the counts; from is empty for a new job.
type countMove struct {
	endpoint compute.EndpointID
	from, to compute.JobStatus
	lost     bool
}

func (m countMove) apply(c *compute.JobCounts) {
	add(c, m.from, -1)
	add(c, m.to, 1)
	if m.lost {
		c.Retried++
	}
}

func add(c *compute.JobCounts, s compute.JobStatus, n int64) {
	switch s {
	case compute.JobInQueue:
		c.InQueue += n
	case compute.JobInProgress:
		c.InProgress += n
	case compute.JobCompleted:
		c.Completed += n
	case compute.JobFailed:
		c.Failed += n
	case compute.JobCancelled, compute.JobTimedOut: // not counted
	}
}

// move notes the effect of a move.
func (tx *Tx) move(m countMove) {
	if tx.moves == nil {
		tx.moves = tx.oneMove[:0]
	}
	tx.moves = append(tx.moves, m)
}

// Add takes over what a Tx that is to be committed changed.
func (c Counts) Add(tx *Tx) {
	for _, m := range tx.moves {
		n := c[m.endpoint]
		m.apply(&n)
		c[m.endpoint] = n
	}
}

// Flush writes the changes, so that they are committed with the rows, and forgets them. It writes in the order of the endpoints:
// where several processes write, two that hold each other's next row would wait for each other.
func (c Counts) Flush(conn *Conn) error {
	for _, e := range slices.Sorted(maps.Keys(c)) {
		n := c[e]
		if n == (compute.JobCounts{}) {
			continue
		}
		if _, err := conn.Exec(addCounts, countColumns.values(conn.values[:0], &n, string(e))...); err != nil {
			return fmt.Errorf("count jobs: %w", err)
		}
	}
	clear(c)
	return nil
}

// CountJobs gives the counts of an endpoint, those of this transaction included. An unknown endpoint has none.
func (tx *Tx) CountJobs(e compute.EndpointID) (compute.JobCounts, error) {
	n, _, err := get(tx, "count jobs", countColumns, selectCounts, string(e))
	if err != nil {
		return compute.JobCounts{}, err
	}
	p := tx.counts[e]
	n.InQueue += p.InQueue
	n.InProgress += p.InProgress
	n.Completed += p.Completed
	n.Failed += p.Failed
	n.Retried += p.Retried

	for _, m := range tx.moves {
		if m.endpoint == e {
			m.apply(&n)
		}
	}

	return n, nil
}
