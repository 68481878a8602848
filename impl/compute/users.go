package compute

import (
	"slices"
	"strings"
	"time"
)

// User is somebody who has keys, and whose pods, endpoints and all else are.
type User struct {
	Name      UserID
	Role      Role
	Disabled  bool // none of its keys is good for anything
	CreatedAt time.Time
}

// UserChange is what is to be another of a user. What is nil stays.
type UserChange struct {
	Role     *Role
	Disabled *bool
}

// Owner is the user whose server it is: the first key is its.
const Owner UserID = "owner"

// Role bounds what the keys of a user permit (rules users.roles.admin, users.roles.member, users.roles.reader).
type Role string

// The roles.
const (
	RoleAdmin  Role = "admin"  // everything
	RoleMember Role = "member" // everything of its own account: all but the scope admin
	RoleReader Role = "reader" // the scopes rest:read and graphql:read alone
)

// Roles are all of them.
var Roles = []Role{RoleAdmin, RoleMember, RoleReader}

// IsRole reports whether there is the role.
func IsRole(r Role) bool { return slices.Contains(Roles, r) }

// Allows reports whether the role allows the scope. That a key has "all" every role allows: it then permits all that the role allows.
func (r Role) Allows(s Scope) bool {
	switch r {
	case RoleMember:
		return s != ScopeAdmin
	case RoleReader:
		return s == ScopeRESTRead || s == ScopeGraphQLRead || s == ScopeAll
	}
	return true // an admin's, or a key that no role bounds
}

// The bounds of users.
const (
	MostUsers    = 10_000 // of a server
	mostUserName = 100    // characters
)

const userNameAlphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._@+-"

// CheckUserName gives what is wrong with the name of a user that is to be made; empty: nothing.
func CheckUserName(name UserID) string {
	switch {
	case name == "" || len(name) > mostUserName:
		return "the name of a user has from 1 to 100 characters"
	case strings.ContainsFunc(string(name), func(r rune) bool { return !strings.ContainsRune(userNameAlphabet, r) }):
		return "the name of a user has letters, digits and ._@+- alone"
	case strings.IndexByte("._@+-", name[0]) >= 0:
		return "the name of a user begins with a letter or a digit"
	}
	return ""
}

// Bounded gives the key as its user has it now: with the role, and good for nothing if the user is disabled, or there is none. The keys that the
// server makes for itself, for workers and for the test controls, are as they were made.
func (k Key) Bounded(u User, known bool) Key {
	if k.WorkerID == "" && !slices.Contains(k.Scopes, ScopeControls) {
		k.Role, k.Disabled = u.Role, u.Disabled || !known
	}
	return k
}
