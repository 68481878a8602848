package compute

import (
	"crypto/sha256"
	"crypto/subtle"
	"slices"
	"strings"
	"time"
)

// Key is an API key. Its secret is never stored, only the hash.
type Key struct {
	ID        KeyID
	UserID    UserID
	Name      string
	Scopes    []Scope
	Hash      [sha256.Size]byte // of the whole token
	WorkerID  WorkerID          // set on the key of a worker
	Exempt    bool              // from rate limits
	Contract  string            // the edition of the contract that its requests are of, unless they name one; empty: the server's
	CreatedAt time.Time

	SpendLimit float64   // USD an hour: more than this its user must not spend by its requests; 0: there is none
	ExpiresAt  time.Time // zero: never
	RevokedAt  time.Time // zero: not revoked

	// Not stored with it: of its user, as they are now (Bounded).
	Role     Role // bounds what it permits; empty: nothing does
	Disabled bool
}

// Scope is a permission of a key (rule auth.scopes).
type Scope string

// The scopes that do not depend on an endpoint.
const (
	ScopeAll          Scope = "all"
	ScopeAdmin        Scope = "admin"
	ScopeRESTRead     Scope = "rest:read"
	ScopeRESTWrite    Scope = "rest:write"
	ScopeGraphQLRead  Scope = "graphql:read"
	ScopeGraphQLWrite Scope = "graphql:write"

	// ScopeControls permits the test controls. No other scope includes it, not even "all".
	ScopeControls Scope = "controls"
)

// ScopeInvoke permits calls of one endpoint's queue.
func ScopeInvoke(id EndpointID) Scope { return Scope("queue:" + string(id) + ":invoke") }

// ScopeWork permits a worker of the endpoint to take and finish its jobs, and nothing else (rule auth.scopes.work).
func ScopeWork(id EndpointID) Scope { return Scope("queue:" + string(id) + ":work") }

// scopePod begins the scope of one pod.
const scopePod = "pod:"

// ScopePod permits to read, change, stop, restart and delete one pod, and to read its logs (rules auth.scopes.pod.*).
func ScopePod(id PodID) Scope { return scopePod + Scope(id) }

// Over reports whether the key was revoked or has expired by then.
func (k Key) Over(at time.Time) bool {
	return !k.RevokedAt.IsZero() || !k.ExpiresAt.IsZero() && !at.Before(k.ExpiresAt)
}

// Allows reports whether the key holds the scope, through a wildcard or "all" too, and the role of its user allows it.
func (k Key) Allows(want Scope) bool {
	if !k.Role.Allows(want) {
		return false
	}
	if slices.Contains(k.Scopes, want) {
		return true
	}
	if slices.Contains(k.Scopes, ScopeAll) {
		return want != ScopeControls
	}
	if rest, ok := strings.CutPrefix(string(want), "queue:"); ok {
		if _, verb, ok := strings.Cut(rest, ":"); ok {
			return slices.Contains(k.Scopes, Scope("queue:*:"+verb))
		}
	}
	return false
}

// HasPods reports whether the key is for single pods, besides what else it may do.
func (k Key) HasPods() bool {
	return k.Role.Allows(scopePod) && slices.ContainsFunc(k.Scopes, func(s Scope) bool { return strings.HasPrefix(string(s), scopePod) })
}

// Invokes reports whether the key may call the queue of some endpoint.
func (k Key) Invokes() bool {
	return k.Allows(ScopeInvoke("*")) || slices.ContainsFunc(k.Scopes, func(s Scope) bool {
		return k.Role.Allows(s) && strings.HasPrefix(string(s), "queue:") && strings.HasSuffix(string(s), ":invoke")
	})
}

// Calls reports whether the key may call an endpoint or is one of its workers'; empty: every endpoint.
func (k Key) Calls(e EndpointID) bool { return k.Allows(ScopeInvoke(e)) || k.Allows(ScopeWork(e)) }

// UserFor gives as whom the key asks for a pod, if want is the scope that this takes: nobody, to whom no pod belongs, if the
// key has neither that scope nor the pod's. So a pod that it is not for does not exist to it (rule auth.scopes.pod.other).
func (k Key) UserFor(pod PodID, want Scope) UserID {
	if k.Allows(want) || k.Allows(ScopePod(pod)) {
		return k.UserID
	}
	return ""
}

// tokenPrefix begins every token, so that leaked ones can be found by scanners.
const tokenPrefix = "brt_"

// NewToken makes the token of a key: prefix, key id, secret. It is shown once; store its hash.
func NewToken(ids *IDs, id KeyID) string { return tokenPrefix + string(id) + "_" + ids.Word(40) }

// ParseToken gives the key id of a token, or false if the token is malformed.
func ParseToken(token string) (KeyID, bool) {
	rest, ok := strings.CutPrefix(token, tokenPrefix)
	if !ok {
		return "", false
	}
	id, secret, ok := strings.Cut(rest, "_")
	return KeyID(id), ok && len(id) == 10 && len(secret) == 40
}

// KeyOfToken gives the id in a token that was refused, which tells the key and is no secret; empty if the token has none.
func KeyOfToken(token string) KeyID {
	id, ok := ParseToken(token)
	if !ok || strings.ContainsFunc(string(id), func(r rune) bool { return (r < 'a' || r > 'z') && (r < '0' || r > '9') }) {
		return ""
	}
	return id
}

// The bounds of a token that somebody chose, in characters.
const (
	leastToken = 16
	mostToken  = 200

	tokenAlphabet = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._~"
)

// CheckToken refuses with Rejected a token that somebody chose and that can be none: too short, too long, or with characters that a header or an
// address would change. The error has nothing of it.
func CheckToken(token string) error {
	switch {
	case len(token) < leastToken || len(token) > mostToken:
		return Errorf(Rejected, "a token has from %d to %d characters", leastToken, mostToken)
	case strings.ContainsFunc(token, func(r rune) bool { return !strings.ContainsRune(tokenAlphabet, r) }):
		return Errorf(Rejected, "a token has letters, digits, hyphens, points, underscores and tildes alone")
	case IsPodToken(token):
		return Errorf(Rejected, "a token must not look like that of a pod")
	}
	return nil
}

// HashOf gives what is stored of a token.
func HashOf(token string) [sha256.Size]byte { return sha256.Sum256([]byte(token)) }

// Matches compares the token's hash in constant time.
func (k Key) Matches(token string) bool {
	hash := sha256.Sum256(append(make([]byte, 0, 64), token...)) // a token fits, on the stack
	return subtle.ConstantTimeCompare(hash[:], k.Hash[:]) == 1
}
