package sqldb

import (
	"strconv"

	"github.com/berthdev/berth/impl/compute"
)

// positionColumns are what lists are ordered by, the latest first.
var positionColumns = columns[compute.Position]{
	whole("created_at", func(p *compute.Position) *int64 { return &p.At }),
	whole("seq", func(p *compute.Position) *int64 { return &p.Seq }),
}

// newestFirst is a list that is read in pages, each with a search of the index that orders it, from the place on where the page before
// ended. That place is read only where a page follows, so that the rows need not carry theirs.
type newestFirst[T any] struct {
	columns  columns[T]
	id       func(*T) string
	first    string // the statement of the first page
	later    string // and that of the others
	position string // where the row with an id is
}

// limit bounds the rows of a statement. To a bare parameter SQLite would fit the plan: it would prepare the statement anew at every use,
// which was a tenth of a list of 100 pods.
const limit = ` LIMIT ? + 0`

// pagesOf makes the statements of a list: the rows of the table for which the condition holds, which has one value.
func pagesOf[T any](table string, c columns[T], condition string, id func(*T) string) newestFirst[T] {
	rows := `SELECT ` + c.list() + ` FROM ` + table + ` WHERE ` + condition
	const order = ` ORDER BY created_at DESC, seq DESC` + limit
	return newestFirst[T]{
		columns: c, id: id,
		first: rows + order, later: rows + ` AND (created_at, seq) < (?, ?)` + order,
		position: `SELECT ` + positionColumns.list() + ` FROM ` + table + ` WHERE id = ?`,
	}
}

// The rows that a statement of a page asks for at first where it may end for want of room, and how many times as many each next one asks
// for: an engine that sends rows unasked sends those that are not read, too.
const (
	firstRows = 64
	moreRows  = 4
)

// page reads a page of what belongs to the owner, and the place where the next one begins; zero: there is none.
func (n *newestFirst[T]) page(tx *Tx, what, owner string, p compute.Page) (all []T, next compute.Position, err error) {
	one := p.Limit + 1 // it reports whether there are more
	step := one
	if p.Room != nil {
		step = firstRows
	}

	f := filling[T]{room: p.Room}
	for after := p.After; ; step *= moreRows {
		had, asked := len(f.all), min(step, one-len(f.all))
		if after == (compute.Position{}) {
			err = f.read(tx, what, n.columns, n.first, owner, asked)
		} else {
			err = f.read(tx, what, n.columns, n.later, owner, after.At, after.Seq, asked)
		}

		last := min(len(f.all), p.Limit) - 1
		switch {
		case err != nil:
			return nil, next, err
		case !f.full && len(f.all)-had < asked:
			return f.all, next, nil
		}
		if after, _, err = get(tx, what+" after "+strconv.Itoa(last+1), positionColumns, n.position, n.id(&f.all[last])); err != nil {
			return nil, next, err
		}
		if f.full || len(f.all) == one {
			return f.all[:last+1], after, nil
		}
	}
}
