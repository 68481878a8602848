package store

import (
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// Keys stores API keys.
type Keys interface {
	InsertKey(compute.Key) error
	// Key gives one key, revoked or not; NotFound for an unknown id.
	Key(compute.KeyID) (compute.Key, error)
	// ListKeys gives all keys, revoked ones too, oldest first.
	ListKeys() ([]compute.Key, error)
	// RevokeKey sets RevokedAt to Wall; NotFound for an unknown id.
	RevokeKey(compute.KeyID) error
	// DeleteKey removes the key, known or not.
	DeleteKey(compute.KeyID) error
	// DeleteInvalidKeys removes the keys that were revoked or expired before the time, and reports how many.
	DeleteInvalidKeys(before time.Time) (int, error)
}

// Users stores who has keys.
type Users interface {
	// InsertUser gives Conflict when the name is taken.
	InsertUser(compute.User) error
	// User gives NotFound for an unknown name.
	User(compute.UserID) (compute.User, error)
	// ListUsers gives all users, oldest first.
	ListUsers() ([]compute.User, error)
	// CountUsers gives how many there are.
	CountUsers() (int, error)
	// HoldAdmins gives how many admins are not disabled, and keeps other transactions from changing these until this one ends.
	HoldAdmins() (int, error)
	// HoldUser reports whether there is the user, and keeps other transactions from deleting it until this one ends.
	HoldUser(compute.UserID) (bool, error)
	// UpdateUser writes role and whether it is disabled; NotFound for an unknown name.
	UpdateUser(compute.User) error
	// DeleteUser removes the user, known or not, and leaves what it has.
	DeleteUser(compute.UserID) error
}
