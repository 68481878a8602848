package compute

import "time"

// Refusal says how often somebody was refused in a minute, and why: never with what they tried.
type Refusal struct {
	Seq       int64     // ascending; the store gives it
	At        time.Time // the beginning of the minute
	Interface string    // that was asked: one of the documents, graphql or ssh
	Reason    RefusalReason
	Client    string // the address it came from; empty: of many, see RefusalsNamed
	KeyID     KeyID  // of the key, or the fingerprint of one of SSH; empty: it tells none, or of many
	UserID    UserID // whose key it is; empty: nobody's that is known
	Count     int64
}

// RefusalReason is why somebody was refused.
type RefusalReason string

// The reasons.
const (
	RefusedMissing   RefusalReason = "missing"   // no key was sent
	RefusedMalformed RefusalReason = "malformed" // what was sent has not the form of a key
	RefusedUnknown   RefusalReason = "unknown"   // there is no such key, or, by SSH, the account of the pod has none such
	RefusedExpired   RefusalReason = "expired"
	RefusedRevoked   RefusalReason = "revoked"
	RefusedScope     RefusalReason = "scope"    // the key is good, and may not do that
	RefusedRole      RefusalReason = "role"     // the key may do that, and the role of its user does not allow it
	RefusedDisabled  RefusalReason = "disabled" // its user is
)

// The bounds of what refusals have us keep.
const (
	RefusalsNamed    = 256    // of a minute have client and key; what comes beyond is counted by interface and reason alone
	RefusalsReserved = 256    // more have them that are the first RefusalsOfEach of their clients: or one client would hide all others
	RefusalsOfEach   = 4      // see RefusalsReserved
	RefusalsKept     = 50_000 // at most
)

// RefusedKey is the cause of an error that refuses a key: what is known of it.
type RefusedKey struct {
	Reason RefusalReason
	KeyID  KeyID
	UserID UserID
}

func (r *RefusedKey) Error() string { return string(r.Reason) }

// refused makes the error that refuses a key, with the detail that the caller may see.
func (r RefusedKey) refused(code Code, detail string) *Error {
	return &Error{Code: code, Detail: detail, Cause: &r}
}

// Refuse gives the error that refuses a key with Unauthenticated. What is known of the key is for the audit log alone.
func (r RefusedKey) Refuse(detail string) *Error { return r.refused(Unauthenticated, detail) }

// LacksScope gives the Forbidden that refuses the key, since it lacks the scope, or the role of its user does not allow that.
func (k Key) LacksScope(want Scope) *Error {
	role := k.Role
	k.Role = ""
	if k.Allows(want) {
		return RefusedKey{RefusedRole, k.ID, k.UserID}.refused(Forbidden, "the role "+string(role)+" of the user of the API key does not allow the scope "+string(want))
	}
	return k.MayNot("the API key lacks the scope " + string(want))
}

// MayNot gives the Forbidden that refuses the key, since it is for something else than what is asked, with the detail that the caller may see.
func (k Key) MayNot(detail string) *Error {
	return RefusedKey{RefusedScope, k.ID, k.UserID}.refused(Forbidden, detail)
}
