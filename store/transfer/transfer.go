// Package transfer carries everything from one database into another one that is empty, whatever the engine of each, and compares what
// came with what was sent. It knows no table: engines list which ones they have, and two that do not agree about them are refused.
package transfer

import (
	"context"
	"errors"
	"fmt"
	"iter"
)

// Source is a database that is read. It does not change meanwhile.
type Source interface {
	// Tables gives the tables, but for those of the engine itself.
	Tables() []Table
	// Rows gives the rows of a table in any order, each with the values of its columns in theirs: int64, float64, string, []byte or
	// nil. A row is good until the next one; after an error there is none.
	Rows(ctx context.Context, t Table) iter.Seq2[[]any, error]
}

// Target is a database that is filled. Nobody sees what is in it before Commit, and without that nothing of it stays.
type Target interface {
	Source
	// Fill stores the rows of a table, up to an error that they give.
	Fill(ctx context.Context, t Table, rows iter.Seq2[[]any, error]) error
	// Commit returns once everything is on disk.
	Commit(ctx context.Context) error
}

// Copied is a table that came over.
type Copied struct {
	Table    string `json:"table"`
	Rows     int64  `json:"rows"`
	Checksum string `json:"checksum"` // of all rows, in whatever order
}

// Progress is called with how many rows of a table were read so far.
type Progress func(table string, rows int64)

// step is after how many rows Progress is called.
const step = 1000

// Run fills the target with what the source has, reads it back, and commits if all of it came. It holds a row at a time in memory, and
// what the connections buffer. The source is read without a pause, which a server would take for a client that is gone: it is read
// whole before the target is read back.
func Run(ctx context.Context, from Source, to Target, progress Progress) ([]Copied, error) {
	if differ := Difference(from.Tables(), to.Tables()); differ != nil {
		return nil, fmt.Errorf("source and target have other tables: %w", errors.Join(differ...))
	}

	all := parentsFirst(from.Tables())
	sent := make([]sum, len(all))
	for i, t := range all {
		if err := to.Fill(ctx, t, sent[i].over(t, from.Rows(ctx, t), progress)); err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Name, err)
		}
	}

	copied := []Copied{}
	for i, t := range all {
		if err := compare(ctx, to, t, sent[i]); err != nil {
			return nil, fmt.Errorf("table %s: %w", t.Name, err)
		}
		copied = append(copied, Copied{Table: t.Name, Rows: sent[i].rows, Checksum: sent[i].text()})
	}
	return copied, to.Commit(ctx)
}

// compare reads a table of the target back, which must have what was sent.
func compare(ctx context.Context, to Target, t Table, sent sum) error {
	var stored sum
	for _, err := range stored.over(t, to.Rows(ctx, t), nil) {
		if err != nil {
			return fmt.Errorf("read it back: %w", err)
		}
	}

	if sent != stored {
		return fmt.Errorf("the target has %d rows of checksum %s, and the source has %d of %s", stored.rows, stored.text(), sent.rows, sent.text())
	}
	return nil
}
