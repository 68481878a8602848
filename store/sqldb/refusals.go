package sqldb

import (
	"math"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

var (
	refusalFields = columns[compute.Refusal]{
		instant("at", func(r *compute.Refusal) *time.Time { return &r.At }),
		text("interface", func(r *compute.Refusal) *string { return &r.Interface }),
		text("reason", func(r *compute.Refusal) *compute.RefusalReason { return &r.Reason }),
		text("client", func(r *compute.Refusal) *string { return &r.Client }),
		text("key_id", func(r *compute.Refusal) *compute.KeyID { return &r.KeyID }),
		text("user_id", func(r *compute.Refusal) *compute.UserID { return &r.UserID }),
		whole("times", func(r *compute.Refusal) *int64 { return &r.Count }),
	}
	refusalColumns = all(columns[compute.Refusal]{whole("seq", func(r *compute.Refusal) *int64 { return &r.Seq })}, refusalFields)

	newRefusal = refusalFields.insert("refusals")

	// First an UPDATE: with ON CONFLICT PostgreSQL would use up a number of a row each time, and the oldest are deleted by their numbers.
	addRefusal = `UPDATE refusals SET times = times + ? WHERE at = ? AND client = ? AND interface = ? AND reason = ? AND key_id = ? AND user_id = ?`

	selectRefusals = `SELECT ` + refusalColumns.list() + ` FROM refusals WHERE seq < ?1 AND at >= ?2 AND at < ?3
AND (?4 = '' OR client = ?4) AND (?5 = '' OR key_id = ?5) AND (?6 = '' OR user_id = ?6) ORDER BY seq DESC LIMIT ?7`
)

// deleteRefusals goes from the oldest one on, as deleteAudit does.
const deleteRefusals = `DELETE FROM refusals WHERE seq IN (SELECT seq FROM refusals ORDER BY seq LIMIT ?3)
AND (at < ?1 OR seq <= (SELECT max(seq) FROM refusals) - ?2)`

// AddRefusals adds the count of each to that of the row that is else the same, which it makes if there is none.
func (tx *Tx) AddRefusals(all []compute.Refusal) error {
	for i := range all {
		r := &all[i]
		added, err := tx.changed("add refusals", addRefusal, r.Count, millis(r.At), r.Client, r.Interface, string(r.Reason), string(r.KeyID), string(r.UserID))
		if err == nil && !added {
			_, err = tx.exec("add refusals", newRefusal, refusalFields.values(tx.args(), r)...)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// PageRefusals gives a page of the refusals that are searched for, newest first, and where the next one begins; zero: there is none.
func (tx *Tx) PageRefusals(s store.RefusalSearch, p compute.Page) (all []compute.Refusal, next compute.Position, err error) {
	before, since, until := int64(math.MaxInt64), int64(math.MinInt64), int64(math.MaxInt64)
	if p.After != (compute.Position{}) {
		before = p.After.Seq
	}
	if !s.Since.IsZero() {
		since = s.Since.UnixMilli()
	}
	if !s.Until.IsZero() {
		until = s.Until.UnixMilli()
	}

	all, err = list(tx, "list refusals", refusalColumns, selectRefusals,
		before, since, until, s.Client, string(s.KeyID), string(s.UserID), p.Limit+1) // one reports whether there are more
	if err != nil || len(all) <= p.Limit {
		return all, next, err
	}
	all = all[:p.Limit]
	last := all[p.Limit-1]
	return all, compute.Position{At: last.At.UnixMilli(), Seq: last.Seq}, nil
}

// DeleteRefusals removes at most limit of the oldest that are older than the time, or than the last so many that are kept, and reports how many.
func (tx *Tx) DeleteRefusals(before time.Time, kept int64, limit int) (int, error) {
	n, err := tx.affected("delete refusals", deleteRefusals, before.UnixMilli(), kept, limit)
	tx.deleted = tx.deleted || n > 0
	return n, err
}
