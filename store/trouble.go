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
)

// retryAfter is when who was refused may try again. The store finds out within a second that the trouble is over.
const retryAfter = 5 * time.Second

// words are what callers are told of each trouble, who are not told what the disk said.
var words = map[Trouble]struct{ title, detail string }{
	Full:    {"Storage Full", "the disk of the database is full: nothing can be stored until there is room"},
	Failing: {"Storage Failing", "the disk of the database fails; the log of the server says how"},
	Locked:  {"Storage Locked", "another program keeps the database locked"},
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

type troubled struct {
	trouble Trouble
	told    compute.Error
}

func (e *troubled) Error() string { return e.told.Error() }

// Unwrap gives what callers are told.
func (e *troubled) Unwrap() error { return &e.told }
