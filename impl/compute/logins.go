package compute

import (
	"crypto/sha256"
	"encoding/hex"
	"net/netip"
	"regexp"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"
)

// LoginStatus is how far a request to log in is.
type LoginStatus string

// The statuses of a request to log in.
const (
	LoginPending  LoginStatus = "PENDING"
	LoginApproved LoginStatus = "APPROVED" // its key is made when it is fetched: none lies about until then
	LoginDenied   LoginStatus = "DENIED"
	LoginExpired  LoginStatus = "EXPIRED"  // never stored: it follows from the time
	LoginConsumed LoginStatus = "CONSUMED" // its key was handed out
)

// LoginRequest is a request of a client without a key to get one of whoever approves it. Its id is a secret, and only the hash of it is stored.
type LoginRequest struct {
	Hash      string // of its id, in hexadecimal digits
	Name      string // that its key is to have; empty: one is made
	Challenge string // as it was sent; empty: none was
	Client    string // the address that it came from
	Origin    string // that is counted for it, see LoginOrigin
	Agent     string // what the client called itself
	CreatedAt time.Time
	ExpiresAt time.Time
	Status    LoginStatus

	Approver KeyID  // whose key is as its key will be; empty: it was not approved
	UserID   UserID // of the approver
	KeyID    KeyID  // the key that was made; empty: none was
}

// The bounds of requests to log in: anybody can make them.
const (
	LoginTime      = 10 * time.Minute // from a request to its end: as long as clients wait
	LoginKept      = time.Hour        // after its end, so that a client which was late hears why
	LoginsOfOrigin = 20               // of one origin that are pending
	Logins         = 1000             // that are pending in all
	LoginKeys      = 1000             // keys of a user with which no more come of logins: a key that came of one may approve others

	LoginNameRunes = 100
	loginAgent     = 200 // bytes
	loginIDSize    = 40
)

// LoginChallengeMethod is the only way in which a challenge is made.
const LoginChallengeMethod = "S256"

var loginChallenge = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z0-9_-]{43,128}$`) })

// At gives the request as it is at the time: what nobody decided or fetched in time has expired.
func (l LoginRequest) At(now time.Time) LoginRequest {
	if (l.Status == LoginPending || l.Status == LoginApproved) && !now.Before(l.ExpiresAt) {
		l.Status = LoginExpired
	}
	return l
}

// Login makes the id of a request to log in, which nobody can guess.
func (s *IDs) Login() string { return s.Word(loginIDSize) }

// HashOfLogin gives what is stored of an id; false for what can be none, which is not worth a look.
func HashOfLogin(id string) (string, bool) {
	if len(id) != loginIDSize || strings.Trim(id, idAlphabet) != "" {
		return "", false
	}
	hash := sha256.Sum256([]byte(id))
	return hex.EncodeToString(hash[:]), true
}

// LoginOrigin gives for whom requests of an address, with a port or without, are counted: the address itself, or of IPv6 its first 64 bits,
// of which everybody has many addresses.
func LoginOrigin(client string) string {
	address, err := netip.ParseAddr(client)
	if err != nil {
		at, err := netip.ParseAddrPort(client)
		if err != nil {
			return client
		}
		address = at.Addr()
	}
	address = address.Unmap().WithZone("")
	if address.Is4() {
		return address.String()
	}
	network, err := address.Prefix(64)
	if err != nil {
		return client
	}
	return network.String()
}

// LoginAgent gives what is kept of what a client calls itself, without what could hide a part of it from who reads it.
func LoginAgent(agent string) string {
	shown := strings.ToValidUTF8(agent[:min(len(agent), loginAgent)], "")
	return strings.Map(func(r rune) rune {
		if hidden(r) {
			return -1
		}
		return r
	}, shown)
}

// hidden reports whether a character is not seen, or changes how others are.
func hidden(r rune) bool { return !unicode.IsPrint(r) }

// CheckLogin refuses with Invalid a name that is none, and a challenge of another kind.
func CheckLogin(name, challenge, method string) error {
	switch {
	case utf8.RuneCountInString(name) > LoginNameRunes || strings.ContainsFunc(name, hidden):
		return Errorf(Invalid, "apiKeyName: must have at most %d characters that are shown", LoginNameRunes)
	case challenge != "" && !loginChallenge().MatchString(challenge):
		return Errorf(Invalid, "codeChallenge: must be 43 to 128 letters, digits, hyphens and underscores")
	case challenge != "" && method != LoginChallengeMethod:
		return Errorf(Invalid, "codeChallengeMethod: must be %s", LoginChallengeMethod)
	case challenge == "" && method != "":
		return Errorf(Invalid, "codeChallengeMethod: must be null without a codeChallenge")
	}
	return nil
}

// Heir gives a key of the same user that permits no more than this one, and no longer: never the test controls, nor more requests than
// others may make.
func (k Key) Heir(id KeyID, name, token string, now time.Time) Key {
	heir := Key{
		ID: id, UserID: k.UserID, Name: name, Scopes: []Scope{}, Hash: HashOf(token), Contract: k.Contract, CreatedAt: now,
		SpendLimit: k.SpendLimit, ExpiresAt: k.ExpiresAt, Role: k.Role, Disabled: k.Disabled,
	}
	for _, s := range k.Scopes {
		if s != ScopeControls {
			heir.Scopes = append(heir.Scopes, s)
		}
	}
	return heir
}
