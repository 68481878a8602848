package sqldb

import (
	"github.com/berthdev/berth/impl/compute"
)

// systemLine is a line of the log of a pod or worker.
type systemLine struct {
	id string
	compute.LogLine
}

var (
	lineFields = columns[compute.LogLine]{
		whole("position", func(l *compute.LogLine) *int64 { return &l.Position }),
		text("text", func(l *compute.LogLine) *string { return &l.Text }),
	}
	lineColumns = all(columns[systemLine]{text("id", func(l *systemLine) *string { return &l.id })},
		embedded(func(l *systemLine) *compute.LogLine { return &l.LogLine }, lineFields))

	beginSystemLines  = lineColumns.insert("system_lines")
	selectSystemLines = `SELECT ` + lineFields.list() + ` FROM system_lines WHERE id = ? AND position > ? ORDER BY position`
)

const (
	insertSystemLine = `INSERT INTO system_lines (id, position, text)
VALUES (?1, max(?2, coalesce((SELECT max(position) + 1 FROM system_lines WHERE id = ?1), 0)), ?3)`
	forgetSystemLines = `DELETE FROM system_lines WHERE id = ?1 AND position <=
(SELECT position FROM system_lines WHERE id = ?1 ORDER BY position DESC LIMIT 1 OFFSET ?2)`
	deleteSystemLines = `DELETE FROM system_lines WHERE id = ?`
)

// halfMilli puts the lines of a whole millisecond apart from what else was written then.
const halfMilli = 500_000

// BeginSystemLines stores the first line of the log, in half the time of AddSystemLine. Conflict if the log may have one.
func (tx *Tx) BeginSystemLines(id, text string) error {
	line := systemLine{id, compute.LogLine{Position: tx.wall.UnixNano() + halfMilli, Text: text}}
	_, err := tx.exec("begin the lines of "+id, beginSystemLines, lineColumns.values(tx.args(), &line)...)
	return err
}

// AddSystemLine adds a line to the log.
func (tx *Tx) AddSystemLine(id, text string) error {
	_, err := tx.exec("add a line of "+id, insertSystemLine, id, tx.wall.UnixNano()+halfMilli, text)
	return err
}

// ForgetSystemLines forgets all but the last compute.SystemLines of the log.
func (tx *Tx) ForgetSystemLines(id string) error {
	_, err := tx.exec("forget lines of "+id, forgetSystemLines, id, compute.SystemLines)
	return err
}

// SystemLines gives the lines of the log after a position, oldest first.
func (tx *Tx) SystemLines(id string, after int64) ([]compute.LogLine, error) {
	lines, err := list(tx, "lines of "+id, lineFields, selectSystemLines, id, after)
	for i := range lines {
		lines[i].Source = compute.LogSystem
	}
	return lines, err
}

// DeleteSystemLines removes the lines of the log.
func (tx *Tx) DeleteSystemLines(id string) error {
	_, err := tx.exec("delete the lines of "+id, deleteSystemLines, id)
	return err
}
