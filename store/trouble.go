package store

import (
	"errors"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Trouble is why the storage cannot do, for now, what it is asked for.
type Trouble string

// The troubles.
const (
	Full    Trouble = "full"    // there is no room
	Failing Trouble = "failing" // reading or writing fails
	Locked  Trouble = "locked"  // another program keeps it locked
	Away    Trouble = "away"    // it cannot be reached
	Moved   Trouble = "moved"   // another replica owns it
)

// retryAfter is when who was refused may try again. The store finds out within a second that the trouble is over.
const retryAfter = 5 * time.Second

// words are what callers read about each trouble: not what the disk answered.
var words = map[Trouble]struct{ title, detail string }{
	Full:    {"Storage Full", "the disk of the database is full: nothing can be stored until there is room"},
	Failing: {"Storage Failing", "the disk of the database fails; the log of the server says how"},
	Locked:  {"Storage Locked", "another program keeps the database locked"},
	Away:    {"Storage Away", "the database cannot be reached; the log of the server says why"},
	Moved:   {"Storage Moved", "another replica owns the database since a moment ago: ask again"},
}

// Troubled is the error of a call that the storage failed: Unavailable, with a title that says of what (rule errors.storage). A
// write that gets it was not acknowledged, and is not there unless the power fails before the next one.
func Troubled(t Trouble, cause error) error {
	return &troubled{t, compute.Error{
		Code: compute.Unavailable, Title: words[t].title, Detail: words[t].detail, RetryAfter: retryAfter, Cause: cause,
	}}
}

// TroubleOf gives the trouble that err is about; empty: none.
func TroubleOf(err error) Trouble {
	if e, ok := errors.AsType[*troubled](err); ok {
		return e.trouble
	}
	return ""
}

// Unknown is the error of a write that failed and may be on disk all the same: its commit failed, or the answer to it was lost.
// The rows show which.
func Unknown(cause error) error { return &unknown{cause} }

// IsUnknown reports whether a write that failed with err may be on disk all the same. Any other failed write is not.
func IsUnknown(err error) bool {
	_, ok := errors.AsType[*unknown](err)
	return ok
}

type unknown struct{ cause error }

func (e *unknown) Error() string { return e.cause.Error() }

func (e *unknown) Unwrap() error { return e.cause }

type troubled struct {
	trouble Trouble
	public  compute.Error
}

func (e *troubled) Error() string { return e.public.Error() }

// Unwrap gives what callers get.
func (e *troubled) Unwrap() error { return &e.public }
