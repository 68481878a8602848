package sqldb

import (
	"math"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

var (
	auditFields = columns[compute.AuditEntry]{
		instant("at", func(e *compute.AuditEntry) *time.Time { return &e.At }),
		text("user_id", func(e *compute.AuditEntry) *compute.UserID { return &e.UserID }),
		text("key_id", func(e *compute.AuditEntry) *compute.KeyID { return &e.KeyID }),
		text("request", func(e *compute.AuditEntry) *string { return &e.Request }),
		text("operation", func(e *compute.AuditEntry) *string { return &e.Operation }),
		text("client", func(e *compute.AuditEntry) *string { return &e.Client }),
		text("kind", func(e *compute.AuditEntry) *string { return &e.Kind }),
		text("id", func(e *compute.AuditEntry) *string { return &e.ID }),
		text("change", func(e *compute.AuditEntry) *compute.AuditChange { return &e.Change }),
		words("fields", func(e *compute.AuditEntry) *[]string { return &e.Fields }),
	}
	auditColumns = all(columns[compute.AuditEntry]{whole("seq", func(e *compute.AuditEntry) *int64 { return &e.Seq })}, auditFields)

	insertAudit = auditFields.insert("audit")
	selectAudit = `SELECT ` + auditColumns.list() + ` FROM audit WHERE seq < ?1 AND at >= ?2 AND at < ?3
AND (?4 = '' OR user_id = ?4) AND (?5 = '' OR key_id = ?5) AND (?6 = '' OR kind = ?6) AND (?7 = '' OR id = ?7) AND (?8 = '' OR operation = ?8)
ORDER BY seq DESC LIMIT ?9`
)

// deleteAudit goes from the oldest one on. Where the time of day has stepped back, those that are later stay with those before them.
const deleteAudit = `DELETE FROM audit WHERE seq IN (SELECT seq FROM audit ORDER BY seq LIMIT ?3)
AND (at < ?1 OR seq <= (SELECT max(seq) FROM audit) - ?2)`

// InsertAudit stores an entry, At being Wall.
func (tx *Tx) InsertAudit(e compute.AuditEntry) error {
	e.At = tx.wall
	_, err := tx.exec("insert audit entry", insertAudit, auditFields.values(tx.args(), &e)...)
	return err
}

// PageAudit gives a page of the entries that are searched for, newest first, and where the next one begins; zero: there is none.
func (tx *Tx) PageAudit(s store.AuditSearch, p compute.Page) (all []compute.AuditEntry, next compute.Position, err error) {
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

	all, err = list(tx, "list audit entries", auditColumns, selectAudit,
		before, since, until, string(s.UserID), string(s.KeyID), s.Kind, s.ID, s.Operation, p.Limit+1) // one reports whether there are more
	if err != nil || len(all) <= p.Limit {
		return all, next, err
	}
	all = all[:p.Limit]
	last := all[p.Limit-1]
	return all, compute.Position{At: last.At.UnixMilli(), Seq: last.Seq}, nil
}

// DeleteAudit removes at most limit entries that are older than the time, or than the last so many that are kept, and reports how many.
func (tx *Tx) DeleteAudit(before time.Time, kept int64, limit int) (int, error) {
	n, err := tx.affected("delete audit entries", deleteAudit, before.UnixMilli(), kept, limit)
	tx.deleted = tx.deleted || n > 0
	return n, err
}
