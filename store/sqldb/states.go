package sqldb

import (
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/transfer"
)

var (
	stateColumns = columns[compute.SavedState]{
		instant("saved_at", func(s *compute.SavedState) *time.Time { return &s.SavedAt }),
		text("secret", func(s *compute.SavedState) *string { return &s.Secret }),
	}
	selectState = `SELECT ` + stateColumns.list() + ` FROM states`
)

const deleteState = `DELETE FROM states`

// State gives what the state whose rows these are says of itself.
func (tx *Tx) State() (s compute.SavedState, found bool, err error) {
	return get(tx, "read what the state says", stateColumns, selectState)
}

// TakeState gives what the state whose rows these are says of itself, and forgets it.
func (tx *Tx) TakeState() (s compute.SavedState, found bool, err error) {
	if s, found, err = tx.State(); err != nil || !found {
		return s, found, err
	}
	_, err = tx.exec("forget what the state says", deleteState)
	return s, true, err
}

// Rows gives the rows of a table, each with the values of its columns in theirs.
func (tx *Tx) Rows(t transfer.Table) iter.Seq2[[]any, error] {
	var names []string
	for _, c := range t.Columns {
		names = append(names, c.Name)
	}
	query := fmt.Sprintf(`SELECT %s FROM %s`, strings.Join(names, ", "), t.Name)

	return func(yield func([]any, error) bool) {
		values := make([]any, len(names))
		err := tx.each("read "+t.Name, func(r row) error {
			for i := range values {
				values[i] = r[i]
				if b, is := r[i].([]byte); is && b == nil { // no bytes, which are not NULL
					values[i] = []byte{}
				}
			}
			if !yield(values, nil) {
				return errEnough
			}
			return nil
		}, query)
		if err != nil {
			yield(nil, err)
		}
	}
}
