package app

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
	"github.com/berthdev/berth/store/transfer"
)

// The bounds of saved states.
const (
	mostStates     = 100
	mostStateBytes = 1 << 30 // of the values in the rows of one
)

var stateName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[a-z0-9][a-z0-9_-]{0,63}$`) })

// stateFile gives where the state is. Rejected for what is no name.
func (c Config) stateFile(name string) (string, error) {
	if !stateName().MatchString(name) {
		return "", compute.Errorf(compute.Rejected, "%q is no name of a state: it has 1 to 64 lower-case letters, digits, hyphens and underscores, the first one no hyphen or underscore", name)
	}
	return filepath.Join(c.Data, statesDir, name+stateEnd), nil
}

// stateEnd ends the name of the file of a state, which is a database of SQLite.
const stateEnd = ".db"

func noState(name string) error {
	return compute.Errorf(compute.NotFound, "there is no state %q", name)
}

// States gives the saved states of the data directory, by name.
func (c *controls) States(context.Context) (all []control.State, err error) {
	entries, err := os.ReadDir(filepath.Join(c.config.Data, statesDir))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	for _, e := range entries {
		name, is := strings.CutSuffix(e.Name(), stateEnd)
		if !is || !stateName().MatchString(name) {
			continue
		}
		info, infoErr := e.Info()
		if infoErr != nil {
			continue // it was deleted meanwhile
		}
		all = append(all, control.State{Name: name, SavedAt: info.ModTime().UTC().Truncate(time.Millisecond), Bytes: info.Size()})
	}
	return all, err
}

// SaveState saves all rows as they are at one time under the name, in place of what was there. Rejected for a name that is none; Conflict if there
// are as many states as may be, or too much is in the rows.
func (c *controls) SaveState(ctx context.Context, name string) error {
	file, err := c.config.stateFile(name)
	if err != nil {
		return err
	}
	c.saving.Lock()
	defer c.saving.Unlock()
	all, err := c.States(ctx)
	if err != nil {
		return err
	}
	if len(all) >= mostStates && !slices.ContainsFunc(all, func(s control.State) bool { return s.Name == name }) {
		return compute.Errorf(compute.Conflict, "there are %d saved states, as many as there may be: delete some", len(all))
	}
	if _, err := atomicfile.MakeDir(filepath.Dir(file)); err != nil {
		return err
	}
	if err := c.rates.rest.Save(ctx); err != nil {
		return err
	}

	half := filepath.Join(c.config.Data, databaseFile+savingEnd)
	if err := sqlite.RemoveFiles(half); err != nil {
		return err
	}
	most := cmp.Or(c.config.probe.stateBytes, mostStateBytes)
	err = c.db.store.Read(ctx, func(tx store.Tx) error { return writeState(ctx, tx, half, c.secrets.key, most) })
	if err == nil {
		err = os.Rename(half, file)
	}
	if err == nil && !c.config.Ephemeral { // the folder of the states may be new, too
		err = atomicfile.SyncDir(filepath.Dir(file), c.config.Data)
	}
	return errors.Join(err, sqlite.RemoveFiles(half))
}

// writeState makes a database of all rows, whose values have so many bytes at most.
func writeState(ctx context.Context, tx store.Tx, file string, key []byte, most int64) (err error) {
	target, err := sqlite.NewTarget(ctx, file)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, target.Close()) }()
	_, err = transfer.Run(ctx, &savedRows{tables: target.Tables(), tx: tx, secret: fingerprint(key), most: most}, target, nil)
	return err
}

// savedRows are all rows of a transaction, and what a state says of itself.
type savedRows struct {
	tables []transfer.Table
	tx     store.Tx
	secret string
	most   int64 // bytes that may be read
	bytes  int64 // that were read
}

func (s *savedRows) Tables() []transfer.Table { return s.tables }

func (s *savedRows) Rows(_ context.Context, t transfer.Table) iter.Seq2[[]any, error] {
	rows := s.tx.Rows(t)
	switch t.Name {
	case "states":
		rows = one(t, map[string]any{"saved_at": s.tx.Now().UnixMilli(), "secret": s.secret})
	case "clock": // as it is now, which the server keeps no more exactly than it needs
		rows = one(t, map[string]any{"lag": s.tx.Wall().Sub(s.tx.Now()).Milliseconds(), "seen_at": s.tx.Wall().UnixMilli()})
	}
	return func(yield func([]any, error) bool) {
		for row, err := range rows {
			for _, value := range row {
				switch v := value.(type) {
				case string:
					s.bytes += int64(len(v))
				case []byte:
					s.bytes += int64(len(v))
				}
			}
			if err == nil && s.bytes > s.most {
				err = compute.Errorf(compute.Conflict, "there is more in the server than a state may have, %d MB", s.most>>20)
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
	}
}

// one gives the row of a table that has no other.
func one(t transfer.Table, values map[string]any) iter.Seq2[[]any, error] {
	row := make([]any, len(t.Columns))
	for i, column := range t.Columns {
		row[i] = values[column.Name]
		if column.Name == "one" {
			row[i] = int64(1)
		}
	}
	return func(yield func([]any, error) bool) { yield(row, nil) }
}

// DeleteState deletes a state. NotFound if there is none of the name.
func (c *controls) DeleteState(_ context.Context, name string) error {
	file, err := c.config.stateFile(name)
	if err != nil {
		return err
	}
	c.saving.Lock()
	defer c.saving.Unlock()
	switch err := os.Remove(file); {
	case errors.Is(err, fs.ErrNotExist):
		return noState(name)
	case err != nil:
		return err
	case c.config.Ephemeral:
		return nil
	}
	return atomicfile.SyncDir(filepath.Dir(file))
}

// LoadState puts a state in the place of what the server has: as if it were started again on the rows of the state. The key of the test controls,
// the data directory and the settings stay. NotFound if there is none of the name; Conflict where a state cannot be loaded.
func (c *controls) LoadState(ctx context.Context, name string) (err error) {
	file, err := c.config.stateFile(name)
	if err != nil {
		return err
	}
	if _, err := os.Stat(file); errors.Is(err, fs.ErrNotExist) {
		return noState(name)
	}
	h := c.holder
	switch {
	case h == nil:
		return compute.Errorf(compute.Conflict, "the database is shared by servers: a state is loaded while none runs, by berth migrate into an empty database")
	case !Simulates(c.config.Runtime):
		return compute.Errorf(compute.Conflict, "what runs on --runtime %s is not what the state has: states are loaded on the simulated runtime alone", c.config.Runtime)
	}
	h.loading.Lock()
	defer h.loading.Unlock()
	if h.over {
		return errNotOwner
	}
	c = h.now.controls // another load may have ended the service of these

	ctx = context.WithoutCancel(ctx) // half a state is none
	half := filepath.Join(c.config.Data, databaseFile+loadingEnd)
	at, err := c.prepare(ctx, file, half)
	if errors.Is(err, fs.ErrNotExist) {
		return noState(name)
	} else if err != nil {
		return errors.Join(err, sqlite.RemoveFiles(half))
	}
	c.config.loaded("prepared")
	c.SetStorage("") // what the service that ends could not write is not kept anyway
	// What the next service does by itself is no part of the request: nobody has asked for it.
	return errors.Join(h.replace(context.Background(), half, at), sqlite.RemoveFiles(half))
}

// prepare makes a database of the state that the server can go on with, and gives the time at which the state was saved; zero: it is the database of
// a server.
func (c *controls) prepare(ctx context.Context, file, to string) (at time.Time, err error) {
	if _, err := os.Stat(file); err != nil {
		return at, err
	}
	db, err := sqlite.OpenState(ctx, file, to, compute.SystemClock{})
	if err != nil {
		return at, &compute.Error{Code: compute.Conflict, Detail: err.Error(), Cause: err}
	}
	defer func() { err = errors.Join(err, db.Close()) }()
	if err := c.checkSealed(ctx, db); err != nil {
		return at, err
	}

	own, err := c.ownKey(ctx)
	if err != nil {
		return at, err
	}
	err = db.Write(ctx, func(tx store.Tx) error {
		s, found, err := tx.TakeState()
		if err != nil {
			return err
		}
		if err := replaceControlsKey(tx, own); err != nil {
			return err
		}
		if seed := c.holder.ground.bounds.seed; seed != nil { // the state has it, or somebody deleted it
			if err := tx.SetSeed(seed.Digest); err != nil {
				return err
			}
		}
		if !found { // the database of a server: its time goes on as after a stop
			return nil
		}
		at = s.SavedAt
		return goOn(tx, at)
	})
	return at, err
}

// goOn has the time go on from where it was when the state was saved: what falls due, and what runs costs. The time of day is another
// one now, so that the charges of what runs are split like at a step of the clock.
func goOn(tx store.Tx, savedAt time.Time) error {
	lag, err := tx.Lag()
	if err != nil {
		return err
	}
	wall := savedAt.Add(lag)
	if err := tx.StepCharges(wall, tx.Wall().Sub(wall)); err != nil {
		return err
	}
	return errors.Join(tx.SetLag(tx.Wall().Sub(savedAt)), tx.SeeWall(tx.Wall()))
}

// checkSealed refuses a state with what another key has sealed.
func (c *controls) checkSealed(ctx context.Context, db store.Store) error {
	ids := compute.NewIDs(rand.Reader, compute.SystemClock{})
	_, err := control.NewRegistries(ctx, db, ids, c.secrets.Sealer)
	if err == nil {
		_, err = control.NewSecrets(ctx, db, ids, c.secrets.Sealer)
	}
	if !errors.Is(err, control.ErrSecretKey) {
		return err
	}

	var by compute.SavedState
	_ = db.Read(ctx, func(tx store.Tx) (err error) { // the refusal is what matters
		by, _, err = tx.State()
		return err
	})
	return compute.Errorf(compute.Conflict, "the secret key %s sealed registry credentials or secrets of the state, and this server has %s: start it with --secret-key and the key of the server that saved the state",
		cmp.Or(by.Secret, "of another server"), fingerprint(c.secrets.key))
}

// ownKey gives the key of the test controls.
func (c *controls) ownKey(ctx context.Context) (k compute.Key, err error) {
	id, _ := compute.ParseToken(c.key)
	err = c.db.store.Read(ctx, func(tx store.Tx) error {
		k, err = tx.Key(id)
		return err
	})
	return k, err
}

// replaceControlsKey removes the keys of test controls from the rows, and stores that one.
func replaceControlsKey(tx store.Keys, own compute.Key) error {
	all, err := tx.ListKeys()
	if err != nil {
		return err
	}
	for _, k := range all {
		if k.Allows(compute.ScopeControls) {
			if err := tx.DeleteKey(k.ID); err != nil {
				return err
			}
		}
	}
	return tx.InsertKey(own)
}

// SaveState saves the state of the server under a name, in place of what was there. It needs the test controls.
func (s *Server) SaveState(ctx context.Context, name string) error {
	c, err := s.controls()
	if err != nil {
		return err
	}
	return c.SaveState(ctx, name)
}

// LoadState goes back to a state that was saved under the name. It needs the test controls.
func (s *Server) LoadState(ctx context.Context, name string) error {
	c, err := s.controls()
	if err != nil {
		return err
	}
	return c.LoadState(ctx, name)
}

// controls gives the test controls.
func (s *Server) controls() (*controls, error) {
	v := s.current()
	switch {
	case v == nil:
		return nil, errNotOwner
	case v.controls == nil:
		return nil, fmt.Errorf("the server has no test controls")
	}
	return v.controls, nil
}
