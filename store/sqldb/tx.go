package sqldb

import (
	"cmp"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

var _ store.Tx = (*Tx)(nil)

var errOver = errors.New("sqldb: the transaction is over")

// Tx is one caller's part of a database transaction.
type Tx struct {
	conn    *Conn
	now     time.Time
	wall    time.Time
	stepped time.Duration // the time of day, with this caller's part
	counts  Counts        // of the callers before this one in the same database transaction
	moves   []countMove   // this caller's
	err     error         // once set, no statement runs

	altered bool // something
	deleted bool // jobs
	effects []func()

	oneMove   [1]countMove // room for what most have no more of
	oneEffect [1]func()
}

// NewTx makes a Tx at the time that the clock shows, which it cuts to whole milliseconds. counts holds what the callers before it
// changed in the same database transaction, and may be nil; stepped is by how much the time of day stepped with them, which the clock
// does not show yet. Begin and end are the caller's.
func NewTx(c *Conn, clock compute.Clock, counts Counts, stepped time.Duration) *Tx {
	return &Tx{
		conn: c, now: clock.Now().UTC().Truncate(time.Millisecond), wall: clock.Wall().Add(stepped).UTC().Truncate(time.Millisecond), counts: counts,
	}
}

// Now is the time of the transaction by which things fall due.
func (tx *Tx) Now() time.Time { return tx.now }

// Wall is the time of day at Now.
func (tx *Tx) Wall() time.Time { return tx.wall }

// Stepped is by how much the time of day steps with this Tx.
func (tx *Tx) Stepped() time.Duration { return tx.stepped }

// End makes the Tx useless and gives the error of the first statement that failed otherwise than by a guard or a taken
// value. Such a failure may have undone more than its statement, so nothing of this Tx may be committed then, whatever
// its function returned.
func (tx *Tx) End() error {
	err := tx.err
	tx.err = errOver
	return err
}

// Changed reports whether a statement changed something, or may have.
func (tx *Tx) Changed() bool { return tx.altered }

// AfterCommit has f called once the transaction is on disk.
func (tx *Tx) AfterCommit(f func()) {
	if tx.effects == nil {
		tx.effects = tx.oneEffect[:0]
	}
	tx.effects = append(tx.effects, f)
}

// Effects gives what is to be called after the commit.
func (tx *Tx) Effects() []func() { return tx.effects }

// Exec runs a statement of the engine itself.
func (tx *Tx) Exec(query string) error {
	_, err := tx.exec("write", query)
	return err
}

// Deleted reports whether jobs were deleted.
func (tx *Tx) Deleted() bool { return tx.deleted }

// fail notes an error that the Tx cannot outlive.
func (tx *Tx) fail(what string, err error) error {
	tx.err = fmt.Errorf("%s: %w", what, err)
	tx.altered = true // nobody knows
	return tx.err
}

// exec runs a statement. Conflict when a unique value is taken.
func (tx *Tx) exec(what, query string, args ...any) (sql.Result, error) {
	if tx.err != nil {
		return nil, tx.err
	}
	r, err := tx.conn.Exec(query, args...)
	if err != nil {
		return nil, tx.refused(what, err)
	}
	tx.altered = true
	return r, nil
}

func (tx *Tx) refused(what string, err error) error {
	if tx.conn.dialect.IsUnique(err) {
		return &compute.Error{Code: compute.Conflict, Detail: what + ": it exists already", Cause: err}
	}
	return tx.fail(what, err)
}

// args is where the arguments of the next statement go, of which there is one at a time.
func (tx *Tx) args() []any { return tx.conn.values[:0] }

// changed runs a statement and reports whether it changed a row.
func (tx *Tx) changed(what, query string, args ...any) (bool, error) {
	n, err := tx.affected(what, query, args...)
	return n > 0, err
}

// affected runs a statement and reports how many rows it changed.
func (tx *Tx) affected(what, query string, args ...any) (int, error) {
	r, err := tx.exec(what, query, args...)
	if err != nil {
		return 0, err
	}
	n, err := r.RowsAffected()
	if err != nil {
		return 0, tx.fail(what, err)
	}
	return int(n), nil
}

// row has the values of a row.
type row = []driver.Value

// errEnough as the error of a scan ends the reading, which has succeeded.
var errEnough = errors.New("sqldb: the rest is not needed")

// each calls scan for every row of a query that changes nothing, and stops at its error.
func (tx *Tx) each(what string, scan func(row) error, query string, args ...any) error {
	if tx.err != nil {
		return tx.err
	}
	rows, err := tx.conn.Query(query, args...)
	if err != nil {
		return tx.refused(what, err)
	}

	defer func() { _ = rows.Close() }() // Err has its error
	for rows.Next() {
		if err := scan(rows.Row()); err == errEnough { //nolint:errorlint // it is never wrapped
			return nil
		} else if err != nil {
			return tx.fail(what, err)
		}
	}

	if err := rows.Err(); err != nil {
		return tx.refused(what, err)
	}
	return nil
}

// into reads the first row of a query; it reports whether there was one.
func into[T any](tx *Tx, what string, c columns[T], v *T, query string, args ...any) (found bool, err error) {
	err = tx.each(what, func(r row) error {
		found = true
		return cmp.Or(c.scan(r, v), errEnough) // to ask for another row takes as long as to read this one
	}, query, args...)
	return found, err
}

// get gives the first row of a query; it reports whether there was one.
func get[T any](tx *Tx, what string, c columns[T], query string, args ...any) (v T, found bool, err error) {
	found, err = into(tx, what, c, &v, query, args...)
	return v, found, err
}

// gave gives the only row of a statement that changes it, which is run to its end; it reports whether there was one.
func gave[T any](tx *Tx, what string, c columns[T], query string, args ...any) (v T, found bool, err error) {
	tx.altered = true
	err = tx.each(what, func(r row) error {
		found = true
		return c.scan(r, &v)
	}, query, args...)
	return v, found, err
}

// eachOf calls f for each row of a query.
func eachOf[T any](tx *Tx, what string, c columns[T], f func(T) error, query string, args ...any) error {
	return tx.each(what, func(r row) error {
		var one T
		if err := c.scan(r, &one); err != nil {
			return err
		}
		return f(one)
	}, query, args...)
}

// list reads all rows of a query.
func list[T any](tx *Tx, what string, c columns[T], query string, args ...any) ([]T, error) {
	var f filling[T]
	err := f.read(tx, what, c, query, args...)
	if err != nil {
		return nil, err
	}
	return f.all, nil
}

// listWithin reads the rows of a query as far as there is room; whole says that it is all of them.
func listWithin[T any](tx *Tx, room compute.Room, what string, c columns[T], query string, args ...any) (all []T, whole bool, err error) {
	f := filling[T]{room: room}
	err = f.read(tx, what, c, query, args...)
	return f.all, !f.full, err
}

// filling is a list that is read by one query or several, as far as there is room.
type filling[T any] struct {
	all   []T
	room  compute.Room // nil: for all
	bytes int
	full  bool // a row was left for which there was none
}

// read reads the rows of a query for which there is room, and the very first one in any case.
func (f *filling[T]) read(tx *Tx, what string, c columns[T], query string, args ...any) error {
	return tx.each(what, func(r row) error {
		if f.room != nil {
			if f.bytes += sizeOf(r); !f.room(f.bytes) && len(f.all) > 0 {
				f.full = true
				return errEnough
			}
		}

		if len(f.all) == cap(f.all) { // append alone would go on by a quarter and copy a long list ten times
			f.all = slices.Grow(f.all, max(len(f.all), 8))
		}
		f.all = f.all[:len(f.all)+1]
		return c.scan(r, &f.all[len(f.all)-1])
	}, query, args...)
}

// sizeOf is about how many bytes a row takes: those of its texts, and for each value a word.
func sizeOf(r row) int {
	const word = 8
	n := word * len(r)
	for _, v := range r {
		switch v := v.(type) {
		case string:
			n += len(v)
		case []byte:
			n += len(v)
		}
	}
	return n
}
