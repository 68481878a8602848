package compute

import "time"

// AuditEntry says that somebody changed something: never to what.
type AuditEntry struct {
	Seq       int64 // ascending; the store gives it
	At        time.Time
	UserID    UserID // whose key it was done with; empty: nobody's, see Operation
	KeyID     KeyID  // empty: it was done without one
	Request   string // id of the request; empty: there was none
	Operation string // that was asked for: of a document, a field of GraphQL, or a command that works at the store itself
	Client    string // the address it came from; empty: it is not known
	Kind      string // of what was changed
	ID        string // of it; empty where there is one of the kind
	Change    AuditChange
	Fields    []string // what was changed of it, by name; empty: it was made, deleted or moved as a whole
}

// AuditChange is what was done with a thing.
type AuditChange string

// What can be done.
const (
	AuditCreated AuditChange = "created"
	AuditChanged AuditChange = "changed"
	AuditDeleted AuditChange = "deleted"
	AuditOpened  AuditChange = "opened" // a session in it
)

// AuditKept is how many entries of the audit log are kept at most.
const AuditKept = 100_000
