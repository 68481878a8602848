package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/impl/audit"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/postgres"
	"github.com/berthdev/berth/store/sqlite"
)

// Keys are the keys of a data directory, opened beside a server or without one. A server that runs on it knows a new
// key at once, and any other change within a second.
type Keys struct {
	*control.Keyring
	store store.Store
}

// OpenKeys opens the keys of the data directory, which must exist, or of the database that the URL names. While a server runs on it, it does
// not bring the database to another version of the schema, which that server would not know: it fails, and says which one runs.
func OpenKeys(ctx context.Context, data, storeURL string) (*Keys, error) {
	return openKeys(ctx, data, storeURL, keysOperation)
}

// OpenUsers is OpenKeys for who changes users: so the audit log calls it.
func OpenUsers(ctx context.Context, data, storeURL string) (*Keys, error) {
	return openKeys(ctx, data, storeURL, usersOperation)
}

func openKeys(ctx context.Context, data, storeURL, operation string) (*Keys, error) {
	clock := compute.SystemClock{}
	var s store.Store
	var err error
	if storeURL != "" {
		s, err = openPostgresBeside(ctx, storeURL, clock)
	} else {
		s, err = openFileBeside(ctx, data, clock)
	}
	if err != nil {
		return nil, err
	}

	noted := audit.StoreOf(s, audit.Actor{Operation: operation})
	keyring, err := control.NewKeyring(ctx, noted, compute.NewIDs(rand.Reader, clock), clock, nil)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &Keys{keyring, s}, nil
}

// What the audit log calls changes that are made at the store itself.
const (
	keysOperation  = "berth keys"
	usersOperation = "berth users"
)

// openPostgresBeside opens a database that servers may use.
func openPostgresBeside(ctx context.Context, url string, clock compute.Clock) (store.Store, error) {
	if err := postgres.CheckUpgrade(ctx, url); err != nil {
		return nil, err
	}
	return postgres.Open(ctx, url, clock)
}

// openFileBeside opens the database of a data directory on which a server may run.
func openFileBeside(ctx context.Context, data string, clock compute.Clock) (store.Store, error) {
	file := filepath.Join(data, databaseFile)
	if _, err := os.Lstat(file); err != nil {
		return nil, noDirectory(data, err)
	}
	quiet := slog.New(slog.DiscardHandler)
	if err := errors.Join(closeToOthers(data, quiet), checkFiles(data, true, quiet)); err != nil {
		return nil, err
	}

	if err := checkLogBeside(data, file); err != nil {
		return nil, err
	}
	has, knows, err := sqlite.Versions(ctx, file)
	if err != nil {
		return nil, err
	}
	unlock, err := lockToMigrate(data, has, knows)
	if err != nil {
		return nil, err
	}

	defer func() { _ = unlock() }() // or the end of the process does it
	return sqlite.Open(ctx, file, clock)
}

// checkLogBeside fails if the log of the database is damaged: whoever opens it then loses what cannot be read, and a server says so. While a server
// runs, it has read the log by itself, and writes to it.
func checkLogBeside(data, file string) error {
	if sqlite.CheckLog(file) == nil {
		return nil
	}
	unlock, err := lock(data, "berth keys")
	if _, held := errors.AsType[errLocked](err); held {
		return nil
	}
	if err != nil {
		return err
	}
	defer func() { _ = unlock() }()
	if err := sqlite.CheckLog(file); err != nil {
		return fmt.Errorf("%s: %w: restore a backup, or start a server, which goes on with what can be read", file, err)
	}
	return nil
}

// lockToMigrate keeps servers from the data directory until unlock, if its database is to be brought from one version of the schema
// to another. It fails if a server runs.
func lockToMigrate(data string, from, to int) (unlock func() error, err error) {
	if from >= to {
		return func() error { return nil }, nil
	}
	unlock, err = lock(data, "berth keys")
	var held errLocked
	if errors.As(err, &held) {
		return nil, fmt.Errorf("%s is served by %s, whose database is of version %d; this berth would make it version %d, which that one does not know: start the server anew with this one first, or use the one that serves",
			data, cmp.Or(held.who, "an older berth, which does not say its version"), from, to)
	}
	return unlock, err
}

// Close closes the database.
func (k *Keys) Close() error { return k.store.Close() }

// firstKeyName is what the first key is called, be its token made here or chosen.
const firstKeyName = "first key"

// makeFirstKey makes the key of a data directory that has none, beside what else a start does: most of the time is the disk's. Its
// token is empty if there is one, and if it was chosen: then there is a key of it afterwards.
func makeFirstKey(ctx context.Context, keyring *control.Keyring, chosen string) *beside[string] {
	return makeBeside(func() (string, error) {
		if chosen != "" {
			return "", keyring.Keep(ctx, NewKey(firstKeyName, []string{string(compute.ScopeAll)}, false, 0), chosen)
		}
		if len(keyring.Keys(false)) > 0 {
			return "", nil
		}
		_, token, err := keyring.Create(ctx, NewKey(firstKeyName, []string{string(compute.ScopeAll)}, false, 0))
		return token, err
	})
}

// mostTokenFile is how long a file with a token may be, in bytes.
const mostTokenFile = 4 << 10

// ReadFirstKey gives the token that a setting chooses: itself, or with a slash in it what the file of that name has. The error has nothing of the
// token.
func ReadFirstKey(value string) (token string, err error) {
	token = value
	if strings.ContainsAny(value, `/\`) {
		file, err := os.Open(value)
		if err != nil {
			return "", err
		}
		defer func() { _ = file.Close() }()
		text, err := io.ReadAll(io.LimitReader(file, mostTokenFile))
		if err != nil {
			return "", err
		}
		token = strings.TrimSpace(string(text))
	}
	if wrong, is := errors.AsType[*compute.Error](compute.CheckToken(token)); is {
		return "", errors.New(wrong.Detail)
	}
	return token, nil
}

// takeBackFirstKey deletes it, if it was made: nobody has seen it, and the next start makes none if there is one.
func takeBackFirstKey(ctx context.Context, keyring *control.Keyring, first *beside[string]) error {
	token, err := first.wait()
	if token == "" || err != nil {
		return nil // who waits for it has the error
	}
	id, _ := compute.ParseToken(token)
	return keyring.Delete(ctx, id)
}

// DevKey gives the key that the data directory keeps, in a file for its owner alone, so that it can be shown at every start. It is
// the first key of a new directory, and a new one where there is none that is good.
func (s *Server) DevKey(ctx context.Context) (string, error) {
	file := filepath.Join(s.config.Data, devKeyFile)
	kept, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return "", err
	}

	keyring, err := s.keyring()
	if err != nil {
		return "", err
	}
	token := strings.TrimSpace(string(kept))
	if token != "" {
		key, err := keyring.Find(ctx, token)
		if err == nil && slices.Contains(key.Scopes, compute.ScopeAll) {
			return token, nil
		}
		if err != nil && compute.CodeOf(err) != compute.Unauthenticated {
			return "", err
		}
	}

	if token = s.FirstKey(); token == "" {
		if _, token, err = s.CreateKey(ctx, NewKey("berth dev", []string{string(compute.ScopeAll)}, false, 0)); err != nil {
			return "", err
		}
	}

	if err := atomicfile.Write(file, []byte(token+"\n"), !s.config.Ephemeral); err != nil {
		return "", err
	}
	return token, atomicfile.SyncDir(s.config.Data)
}

// Contracts gives the names of the editions of the contract, and their other names.
func Contracts() []string { return httpapi.Contracts() }

// Contract gives the name of the edition of the contract that has that name, be it its other one. It fails for any other.
func Contract(name string) (string, error) { return httpapi.Contract(name) }

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
