package sqldb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/berthdev/berth/impl/compute"
)

const endedColumns = `id, endpoint_id, version, started_at, ended_at, exit_code, reason`

const (
	insertEnded = `INSERT INTO ended_workers (` + endedColumns + `, lines) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`
	forgetEnded = `DELETE FROM ended_workers WHERE endpoint_id = ?1 AND seq <=
(SELECT seq FROM ended_workers WHERE endpoint_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`
	selectEndedOf = `SELECT ` + endedColumns + ` FROM ended_workers WHERE endpoint_id = ? ORDER BY seq DESC`
	selectEnded   = `SELECT ` + endedColumns + `, lines FROM ended_workers WHERE id = ?`
	deleteEnded   = `DELETE FROM ended_workers WHERE endpoint_id = ?`
)

// InsertEndedWorker stores a worker that has ended, and forgets all but the last compute.EndedWorkers of its endpoint. Conflict
// when the id is taken.
func (tx *Tx) InsertEndedWorker(w compute.EndedWorker) error {
	var code any
	if w.ExitCode != nil {
		code = *w.ExitCode
	}
	lines := []string{} // each is its position, its source and its text
	for _, l := range w.Log {
		lines = append(lines, strconv.FormatInt(l.Position, 10)+" "+string(l.Source)+" "+l.Text)
	}
	_, err := tx.exec("insert ended worker "+string(w.ID), insertEnded, string(w.ID), string(w.EndpointID), w.Version, millis(w.StartedAt),
		millis(w.EndedAt), code, w.Reason, text(lines))
	if err != nil {
		return err
	}
	_, err = tx.exec("forget ended workers of "+string(w.EndpointID), forgetEnded, string(w.EndpointID), compute.EndedWorkers)
	return err
}

func scanEnded(row scanner, more ...any) (w compute.EndedWorker, err error) {
	var code optional[int64]
	err = row.Scan(append([]any{&w.ID, &w.EndpointID, &w.Version, instant{&w.StartedAt}, instant{&w.EndedAt}, &code, &w.Reason}, more...)...)
	if code.Valid {
		w.ExitCode = &code.V
	}
	return w, err
}

// ListEndedWorkersOf gives the endpoint's workers that have ended, the last one first, without their logs.
func (tx *Tx) ListEndedWorkersOf(id compute.EndpointID) ([]compute.EndedWorker, error) {
	return list(tx, "list ended workers of "+string(id), func(row scanner) (compute.EndedWorker, error) { return scanEnded(row) },
		selectEndedOf, string(id))
}

// EndedWorker gives a worker that has ended, with its log. NotFound for an unknown id.
func (tx *Tx) EndedWorker(id compute.WorkerID) (w compute.EndedWorker, err error) {
	found, err := tx.one("read ended worker "+string(id), func(row scanner) (err error) {
		var lines []string
		if w, err = scanEnded(row, words[[]string]{&lines}); err == nil {
			w.Log, err = logLines(lines)
		}
		return err
	}, selectEnded, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "worker %q does not exist", id)
	}
	return w, err
}

// logLines reads the lines of a log as InsertEndedWorker wrote them.
func logLines(texts []string) (lines []compute.LogLine, err error) {
	lines = slices.Grow(lines, len(texts))
	for _, t := range texts {
		position, rest, _ := strings.Cut(t, " ")
		source, text, ok := strings.Cut(rest, " ")
		n, err := strconv.ParseInt(position, 10, 64)
		if err != nil || !ok {
			return nil, fmt.Errorf("%q is no line of a log", t)
		}
		lines = append(lines, compute.LogLine{Source: compute.LogSource(source), Position: n, Text: text})
	}
	return lines, nil
}
