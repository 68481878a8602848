package sqldb

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

var (
	endedColumns = all(columns[compute.EndedWorker]{
		text("id", func(w *compute.EndedWorker) *compute.WorkerID { return &w.ID }),
		text("endpoint_id", func(w *compute.EndedWorker) *compute.EndpointID { return &w.EndpointID }),
		whole("version", func(w *compute.EndedWorker) *int64 { return &w.Version }),
		instant("started_at", func(w *compute.EndedWorker) *time.Time { return &w.StartedAt }),
		instant("ended_at", func(w *compute.EndedWorker) *time.Time { return &w.EndedAt }),
		text("reason", func(w *compute.EndedWorker) *string { return &w.Reason }),
	}, optional(func(w *compute.EndedWorker) **int64 { return &w.ExitCode }, columns[int64]{whole("exit_code", itself[int64])}))
	endedWithLog = all(endedColumns, columns[compute.EndedWorker]{
		custom("lines", func(w *compute.EndedWorker) string { return wordsText(lineTexts(w.Log)) }, readLines),
	})

	insertEnded   = endedWithLog.insert("ended_workers")
	selectEndedOf = `SELECT ` + endedColumns.list() + ` FROM ended_workers WHERE endpoint_id = ? ORDER BY seq DESC`
	selectEnded   = `SELECT ` + endedWithLog.list() + ` FROM ended_workers WHERE id = ?`
)

const (
	forgetEnded = `DELETE FROM ended_workers WHERE endpoint_id = ?1 AND seq <=
(SELECT seq FROM ended_workers WHERE endpoint_id = ?1 ORDER BY seq DESC LIMIT 1 OFFSET ?2)`
	deleteEnded = `DELETE FROM ended_workers WHERE endpoint_id = ?`
)

// InsertEndedWorker stores a worker that has ended, and forgets all but the last compute.EndedWorkers of its endpoint. Conflict
// when the id is taken.
func (tx *Tx) InsertEndedWorker(w compute.EndedWorker) error {
	_, err := tx.exec("insert ended worker "+string(w.ID), insertEnded, endedWithLog.values(tx.args(), &w)...)
	if err != nil {
		return err
	}
	_, err = tx.exec("forget ended workers of "+string(w.EndpointID), forgetEnded, string(w.EndpointID), compute.EndedWorkers)
	return err
}

// ListEndedWorkersOf gives the endpoint's workers that have ended, the last one first, without their logs.
func (tx *Tx) ListEndedWorkersOf(id compute.EndpointID) ([]compute.EndedWorker, error) {
	return list(tx, "list ended workers of "+string(id), endedColumns, selectEndedOf, string(id))
}

// EndedWorker gives a worker that has ended, with its log. NotFound for an unknown id.
func (tx *Tx) EndedWorker(id compute.WorkerID) (compute.EndedWorker, error) {
	w, found, err := get(tx, "read ended worker "+string(id), endedWithLog, selectEnded, string(id))
	if err == nil && !found {
		err = compute.Errorf(compute.NotFound, "worker %q does not exist", id)
	}
	return w, err
}

// lineTexts gives the lines of a log, each as its position, its source and its text.
func lineTexts(log []compute.LogLine) []string {
	lines := make([]string, 0, len(log))
	for _, l := range log {
		lines = append(lines, strconv.FormatInt(l.Position, 10)+" "+string(l.Source)+" "+l.Text)
	}
	return lines
}

func readLines(w *compute.EndedWorker, s string) error {
	lines, err := wordsOf[string](s)
	if err == nil {
		w.Log, err = logLines(lines)
	}
	return err
}

// logLines reads what lineTexts wrote.
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
