package store

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Logins stores requests to log in.
type Logins interface {
	InsertLogin(compute.LoginRequest) error
	// Login gives the request whose id has the hash, as it is stored. NotFound for an unknown one.
	Login(hash string) (compute.LoginRequest, error)
	// CountLogins gives how many requests are stored as PENDING that end after the time: of the origin, and in all.
	CountLogins(origin string, after time.Time) (ofOrigin, all int64, err error)
	// MoveLogin writes status, Approver, UserID and KeyID of l, if its status is still the one given; it reports whether it was.
	MoveLogin(l compute.LoginRequest, from compute.LoginStatus) (bool, error)
	// DeleteLogins removes at most limit requests that ended before the time, and reports how many.
	DeleteLogins(before time.Time, limit int) (int, error)
}
