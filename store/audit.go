package store

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Audit stores who changed what, and who was refused. Entries come and expire; those of changes are never changed.
type Audit interface {
	// InsertAudit stores an entry, At being Wall. Its Seq is greater than that of any other that is kept.
	InsertAudit(compute.AuditEntry) error
	// PageAudit gives a page of the entries that are searched for, newest first, and where the next one begins; zero: there is none.
	PageAudit(AuditSearch, compute.Page) ([]compute.AuditEntry, compute.Position, error)
	// DeleteAudit removes at most limit entries that are older than the time, or than the last so many that are kept, and reports how many.
	DeleteAudit(before time.Time, kept int64, limit int) (int, error)
	// AddRefusals adds the count of each to that of the row that is else the same, which it makes if there is none.
	AddRefusals([]compute.Refusal) error
	// PageRefusals gives a page of the refusals that are searched for, by when they came into the store, newest first, and where the next one
	// begins; zero: there is none.
	PageRefusals(RefusalSearch, compute.Page) ([]compute.Refusal, compute.Position, error)
	// DeleteRefusals is DeleteAudit for refusals.
	DeleteRefusals(before time.Time, kept int64, limit int) (int, error)
}

// AuditSearch is what is searched for in the audit log. What is empty is not asked for.
type AuditSearch struct {
	Since, Until time.Time // at the earliest; before which
	UserID       compute.UserID
	KeyID        compute.KeyID
	Kind, ID     string
	Operation    string
}

// RefusalSearch is what is searched for among the refusals. What is empty is not asked for.
type RefusalSearch struct {
	Since, Until time.Time // in minutes that begin at the earliest, and before which
	Client       string
	KeyID        compute.KeyID
	UserID       compute.UserID
}
