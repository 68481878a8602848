package kubernetes

import (
	"errors"
	"fmt"
	"net/http"
	"time"

	"github.com/berthdev/berth/impl/runtime"
)

var errClosed = errors.New("kubernetes: the runtime is closed")

// The reasons of the API that decide something here.
const (
	reasonExists   = "AlreadyExists"
	reasonNotFound = "NotFound"
	reasonConflict = "Conflict"
	reasonInvalid  = "Invalid" // also of a patch whose uid is that of an earlier object of the name
)

// apiError is what the API server answered in place of what was asked for.
type apiError struct {
	What    string // was asked for: "create pods berth-a-1"
	Code    int    // HTTP
	Reason  string // of the API, one word; empty: the server gave none, as where the whole API is not there
	Message string // for people
	Object  string // the name of the one that it is about; empty: the server named none
	Wait    time.Duration
}

// Error says what was asked for and what the server says to it.
func (e *apiError) Error() string {
	message := e.Message
	if message == "" {
		message = http.StatusText(e.Code)
	}
	return fmt.Sprintf("kubernetes: %s: %s (%d)", e.What, message, e.Code)
}

// Unwrap gives ErrUnavailable if the server could not answer now, or did not know who asks: the token may just be another one. Likewise if
// something changed meanwhile, such as the quota that is counted when an object is made, and where another one answered than the server.
func (e *apiError) Unwrap() error {
	switch {
	case e.Code == http.StatusUnauthorized, e.Code == http.StatusTooManyRequests, e.Code >= http.StatusInternalServerError, e.Reason == reasonConflict,
		e.Code == http.StatusNotFound && e.Reason == "":
		return runtime.ErrUnavailable
	}
	return nil
}

// answered reports whether the error is an answer with the code.
func answered(err error, code int) bool {
	var e *apiError
	return errors.As(err, &e) && e.Code == code
}

// because reports whether the error is an answer with the reason.
func because(err error, reason string) bool {
	var e *apiError
	return errors.As(err, &e) && e.Reason == reason
}

// isGone reports whether the server says that there is no such object. A 404 without that reason is of somebody else, such as a proxy in front
// of the server.
func isGone(err error) bool { return because(err, reasonNotFound) }

// isAbsent reports whether the server says that it does not have the whole API, or not this version of it: then it names no object.
func isAbsent(err error) bool {
	var e *apiError
	return errors.As(err, &e) && e.Code == http.StatusNotFound && e.Object == ""
}

// unlessGone gives nil if the error says that there is no such object.
func unlessGone(err error) error {
	if isGone(err) {
		return nil
	}
	return err
}
