package compute

import (
	"errors"
	"fmt"
	"time"
)

// Code says in which way a request failed. The HTTP status and the GraphQL code of each stand in package problem.
type Code string

// The codes.
const (
	Invalid         Code = "INVALID"         // breaks the schema
	Rejected        Code = "REJECTED"        // breaks a rule of the service, or does not parse
	Unauthenticated Code = "UNAUTHENTICATED" // no usable key
	Forbidden       Code = "FORBIDDEN"       // the key lacks the scope
	OverSpend       Code = "OVER_SPEND"      // more would be spent than the key may
	NotFound        Code = "NOT_FOUND"       // absent, or not the caller's
	Conflict        Code = "CONFLICT"        // the resource's status does not allow it
	TooMany         Code = "TOO_MANY"        // a rate limit is exceeded
	Unavailable     Code = "UNAVAILABLE"     // the server is stopping, or its storage is in trouble
	Internal        Code = "INTERNAL"        // a fault of ours
)

// Error is the only error that an edge shows. Cause is for the log and never reaches the wire.
type Error struct {
	Code       Code
	Title      string // a few words; empty: those of the code
	Detail     string
	Fields     []string      // one line for each violation
	RetryAfter time.Duration // after which it may go better; 0: nobody knows
	Cause      error
}

func (e *Error) Error() string {
	if e.Cause != nil {
		return fmt.Sprintf("%s: %s: %v", e.Code, e.Detail, e.Cause)
	}
	return fmt.Sprintf("%s: %s", e.Code, e.Detail)
}

func (e *Error) Unwrap() error { return e.Cause }

// Errorf makes an Error with a code and a detail that the caller may see.
func Errorf(code Code, format string, args ...any) *Error {
	return &Error{Code: code, Detail: fmt.Sprintf(format, args...)}
}

// NoMoreNow is TooMany of things that last: nobody knows when another one ends, and each 429 says when to ask again (rule rates.retry-after).
func NoMoreNow(format string, args ...any) *Error {
	return &Error{Code: TooMany, RetryAfter: time.Second, Detail: fmt.Sprintf(format, args...)}
}

// CodeOf gives the code of err: Internal for an error that is no Error, and the empty code for nil.
func CodeOf(err error) Code {
	if err == nil {
		return ""
	}
	var e *Error
	if errors.As(err, &e) {
		return e.Code
	}
	return Internal
}
