package app

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// Keys are the keys of a data directory, opened beside a server or without one. A server that runs on it knows a new
// key at once, and any other change within a second.
type Keys struct {
	*control.Keyring
	store store.Store
}

// OpenKeys opens the keys of the data directory, which must exist.
func OpenKeys(ctx context.Context, data string) (*Keys, error) {
	file := filepath.Join(data, "berth.db")
	if _, err := os.Stat(file); err != nil {
		return nil, fmt.Errorf("%s is no data directory of berth: %w", data, err)
	}
	clock := compute.SystemClock{}
	s, err := sqlite.Open(ctx, file, clock)
	if err != nil {
		return nil, err
	}
	keyring, err := control.NewKeyring(ctx, s, compute.NewIDs(rand.Reader, clock), clock)
	if err != nil {
		_ = s.Close()
		return nil, err
	}
	return &Keys{keyring, s}, nil
}

// Close closes the database.
func (k *Keys) Close() error { return k.store.Close() }

// makeFirstKey makes the key of a data directory that has none, beside what else a start does: most of the time is the disk's.
func (s *Server) makeFirstKey(ctx context.Context) <-chan error {
	made := make(chan error, 1)
	go func() {
		defer close(made)
		if len(s.keyring.Keys(false)) > 0 {
			return
		}
		_, token, err := s.keyring.Create(ctx, NewKey("first key", []string{string(compute.ScopeAll)}, false, 0))
		s.firstKey = token
		made <- err
	}()
	return made
}

// NewKey is a key of the owner. An expiry of 0 is none.
func NewKey(name string, scopes []string, exempt bool, expiry time.Duration) control.NewKey {
	n := control.NewKey{UserID: owner, Name: name, Exempt: exempt, Expiry: expiry}
	for _, s := range scopes {
		n.Scopes = append(n.Scopes, compute.Scope(s))
	}
	return n
}

var scopePattern = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(all|admin|rest:(read|write)|graphql:(read|write)|queue:(\*|[a-z0-9]{14}):(invoke|work)|pod:[a-z0-9]{14})$`)
})

// ScopeWords lists the scopes that a key may have, for people.
const ScopeWords = "all, admin, rest:read, rest:write, graphql:read, graphql:write, queue:<endpoint id or *>:invoke, " +
	"queue:<endpoint id or *>:work, pod:<pod id>"

// CheckScope refuses what is no scope.
func CheckScope(scope string) error {
	if !scopePattern().MatchString(scope) {
		return fmt.Errorf("scope %q: it must be one of %s", scope, ScopeWords)
	}
	return nil
}
