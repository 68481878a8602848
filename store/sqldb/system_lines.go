package sqldb

import (
	"github.com/berthdev/berth/impl/compute"
)

const (
	insertSystemLine = `INSERT INTO system_lines (pod_id, position, text)
SELECT ?1, max(?2, coalesce(max(position) + 1, 0)), ?3 FROM system_lines WHERE pod_id = ?1`
	forgetSystemLines = `DELETE FROM system_lines WHERE pod_id = ?1 AND position <=
(SELECT position FROM system_lines WHERE pod_id = ?1 ORDER BY position DESC LIMIT 1 OFFSET ?2)`
	selectSystemLines = `SELECT position, text FROM system_lines WHERE pod_id = ? AND position > ? ORDER BY position`
	deleteSystemLines = `DELETE FROM system_lines WHERE pod_id = ?`
)

// halfMilli puts the lines of a whole millisecond apart from what else was written then.
const halfMilli = 500_000

// AddSystemLine adds a line to the pod's log and forgets all but the last compute.SystemLines.
func (tx *Tx) AddSystemLine(id compute.PodID, text string) error {
	what := "add a line of pod " + string(id)
	if _, err := tx.exec(what, insertSystemLine, string(id), tx.now.UnixNano()+halfMilli, text); err != nil {
		return err
	}
	_, err := tx.exec(what, forgetSystemLines, string(id), compute.SystemLines)
	return err
}

// SystemLines gives the lines of the pod's log after a position, oldest first.
func (tx *Tx) SystemLines(id compute.PodID, after int64) ([]compute.LogLine, error) {
	return list(tx, "lines of pod "+string(id), func(row scanner) (compute.LogLine, error) {
		l := compute.LogLine{Source: compute.LogSystem}
		err := row.Scan(&l.Position, &l.Text)
		return l, err
	}, selectSystemLines, string(id), after)
}

// DeleteSystemLines removes the lines of the pod's log.
func (tx *Tx) DeleteSystemLines(id compute.PodID) error {
	_, err := tx.exec("delete the lines of pod "+string(id), deleteSystemLines, string(id))
	return err
}
