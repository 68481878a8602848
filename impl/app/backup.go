package app

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store/sqlite"
)

// keyEnd ends the name of the file beside a backup that has the key of what is sealed in it.
const keyEnd = ".key"

// replacedEnd ends the names of the files that a restored backup took the place of.
const replacedEnd = ".replaced"

// BackupOptions say what is backed up, and where to.
type BackupOptions struct {
	Data      string // the data directory
	SecretKey string // file of the key of what is sealed; empty: the one of the data directory
	File      string // the backup
	WithKey   bool   // the key goes into a file beside it
	Force     bool   // in place of what is there
}

// Backup is what was backed up.
type Backup struct {
	File      string `json:"file"`
	Bytes     int64  `json:"bytes"`
	Schema    int    `json:"schema"`
	SecretKey string `json:"secretKey"` // file of the key that opens what is sealed in the backup; empty: there is none
	KeyFile   string `json:"keyFile"`   // the copy of it beside the backup; empty: none was asked for
}

// BackUp writes a backup of the database of a data directory, as it is at one moment, whether a server runs on it or not. When it returns,
// all of it is on disk; if it fails, nothing is there or what was there before. All that was acknowledged before it was called is in it.
func BackUp(ctx context.Context, o BackupOptions) (b Backup, err error) {
	database := filepath.Join(o.Data, databaseFile)
	if b.File, err = filepath.Abs(o.File); err != nil {
		return b, err
	}
	if err := checkBackup(database, b.File, o); err != nil {
		return b, err
	}
	alone, unlock, err := lockToCopy(o.Data, database)
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	half, err := os.CreateTemp(filepath.Dir(b.File), filepath.Base(b.File)+".unfinished-*") // its owner's alone
	if err != nil {
		return b, err
	}
	defer func() { err = errors.Join(err, sqlite.RemoveFiles(half.Name())) }()
	if err := half.Close(); err != nil {
		return b, err
	}
	if b.Schema, err = sqlite.Copy(ctx, database, half.Name(), alone); err != nil {
		return b, err
	}
	info, err := os.Stat(half.Name())
	if err != nil {
		return b, err
	}
	b.Bytes = info.Size()

	if err := b.addKey(o); err != nil {
		return b, err
	}
	if err := os.Rename(half.Name(), b.File); err != nil {
		return b, err
	}
	return b, atomicfile.SyncDir(filepath.Dir(b.File))
}

// checkBackup refuses to write a backup over a database, and over anything else unless that is asked for.
func checkBackup(database, file string, o BackupOptions) error {
	from, err := os.Stat(database)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is no data directory of berth: %w", o.Data, err)
	}
	if err != nil {
		return err
	}

	names := []string{file}
	if o.WithKey {
		names = append(names, file+keyEnd)
	}
	for _, name := range names {
		to, err := os.Stat(name)
		switch {
		case errors.Is(err, fs.ErrNotExist):
		case err != nil:
			return err
		case os.SameFile(from, to):
			return fmt.Errorf("%s is the database itself", name)
		case !to.Mode().IsRegular():
			return fmt.Errorf("%s is no regular file", name)
		case !o.Force:
			return fmt.Errorf("%s is there already: --force replaces it", name)
		}
	}
	if sqlite.HasLog(file) {
		return fmt.Errorf("%s-wal is there, so a program uses %s as its database, or did", file, file)
	}
	return nil
}

// lockToCopy reports whether the database is used by nobody until unlock. A server that runs looked at the log when it started; where none does, a
// damaged log is refused.
func lockToCopy(dir, database string) (alone bool, unlock func() error, err error) {
	unlock, err = lock(dir, "berth backup")
	if _, held := errors.AsType[errLocked](err); held {
		return false, func() error { return nil }, nil
	}
	if err != nil {
		return false, nil, err
	}

	if sqlite.HasLog(database) {
		if err := sqlite.CheckLog(database); err != nil {
			return false, nil, errors.Join(fmt.Errorf("%s: %w", database, err), unlock())
		}
		return false, func() error { return nil }, unlock() // a server may start beside
	}
	return true, unlock, nil
}

// addKey says which key the backup needs, and copies it if that is asked for.
func (b *Backup) addKey(o BackupOptions) error {
	path := Config{Data: o.Data, SecretKey: o.SecretKey}.secretFile()
	key, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) && o.SecretKey == "" && !o.WithKey {
		return nil // a server that was never started made none
	}
	if err != nil {
		return err
	}
	if b.SecretKey, err = filepath.Abs(path); err != nil || !o.WithKey {
		return err
	}
	b.KeyFile = b.File + keyEnd
	return atomicfile.Write(b.KeyFile, key, true)
}

// RestoreOptions say what is restored, and where to.
type RestoreOptions struct {
	File      string // the backup; the key beside it is restored with it
	Data      string // the data directory, which is made if it is missing
	SecretKey string // file of the key that the server will use; empty: the one of the data directory
	Force     bool   // in place of what is there, which stays beside it under another name
}

// Restored is what was restored.
type Restored struct {
	Database  string   `json:"database"`
	Schema    int      `json:"schema"`
	Program   int      `json:"programSchema"` // to which the next start of a server brings it
	SecretKey string   `json:"secretKey"`     // file of the key that the server will use
	HasKey    bool     `json:"hasKey"`        // it is there
	Replaced  []string `json:"replaced"`      // files of before
}

// Restore puts a backup in the place of the database of a data directory, on which no server may run. The backup is read through first, and so is
// what was made of it: one that is damaged, no database of berth's or a newer program's is refused, and changes nothing.
func Restore(ctx context.Context, o RestoreOptions) (r Restored, err error) {
	if err := sqlite.CheckLog(o.File); err != nil {
		return r, fmt.Errorf("%s: %w", o.File, err)
	}
	if r.Schema, r.Program, err = sqlite.Verify(ctx, o.File); err != nil {
		return r, err
	}
	in, err := atomicfile.MakeDir(o.Data)
	if err := errors.Join(err, atomicfile.SyncDir(in...)); err != nil {
		return r, err
	}
	if err := closeToOthers(o.Data, slog.New(slog.DiscardHandler)); err != nil {
		return r, err
	}
	unlock, err := lock(o.Data, "berth restore")
	if held, is := errors.AsType[errLocked](err); is {
		return r, fmt.Errorf("%w: stop it first", held)
	}
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, unlock()) }()

	if r.Database, err = filepath.Abs(filepath.Join(o.Data, databaseFile)); err != nil {
		return r, err
	}
	if err := takeBack(r.Database); err != nil {
		return r, err
	}
	key, err := r.findKey(o)
	if err != nil {
		return r, err
	}
	return r, r.put(ctx, o, key)
}

// findKey gives the key that is beside the backup, unless the server has it already; nil: there is none to restore. It refuses to replace another
// one, unless that is asked for.
func (r *Restored) findKey(o RestoreOptions) (key []byte, err error) {
	if r.SecretKey, err = filepath.Abs(Config{Data: o.Data, SecretKey: o.SecretKey}.secretFile()); err != nil {
		return nil, err
	}
	there, err := os.ReadFile(r.SecretKey)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	r.HasKey = err == nil

	file := o.File + keyEnd
	key, err = os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && bytes.Equal(key, there):
		return nil, nil
	case err != nil:
		return nil, err
	case len(key) != control.SecretKeySize:
		return nil, fmt.Errorf("%s has %d bytes, not %d", file, len(key), control.SecretKeySize)
	case r.HasKey && o.SecretKey != "":
		return nil, fmt.Errorf("%s is another key than %s, which the backup needs", r.SecretKey, file)
	case r.HasKey && !o.Force:
		return nil, fmt.Errorf("%s is there already, and is another key than %s: --force moves it aside", r.SecretKey, file)
	}
	return key, nil
}

// put makes a database of the backup, moves what is there aside, and gives it its name. Wherever it is cut off, the next start has the one
// database or the other, or says that there is none.
func (r *Restored) put(ctx context.Context, o RestoreOptions, key []byte) (err error) {
	files := append([]string{r.Database}, sqlite.Beside(r.Database)...)
	if a, err := os.Stat(r.Database); err == nil {
		if b, err := os.Stat(o.File); err == nil && os.SameFile(a, b) {
			return fmt.Errorf("%s is the database of %s, and no backup of it", o.File, o.Data)
		}
	}
	for _, file := range files {
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) && !o.Force {
			return errors.Join(fmt.Errorf("%s is there already: --force moves it aside", file), err)
		}
	}

	half := r.Database + ".restoring"
	if err := sqlite.RemoveFiles(half); err != nil {
		return err
	}
	defer func() { err = errors.Join(err, sqlite.RemoveFiles(half)) }()
	if _, err := sqlite.Copy(ctx, o.File, half, true); err != nil {
		return err
	}

	if key != nil {
		if err := r.moveAside(r.SecretKey); err != nil {
			return err
		}
		if err := atomicfile.Write(r.SecretKey, key, true); err != nil {
			return err
		}
		r.HasKey = true
	}
	if err := r.makeRoom(); err != nil {
		return err
	}
	if err := os.Rename(half, r.Database); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(r.Database), filepath.Dir(r.SecretKey))
}

// makeRoom moves the database that is there aside, with what is beside it.
func (r *Restored) makeRoom() error {
	if _, err := os.Lstat(r.Database); err == nil { // else a restore was cut off, whose files these are
		if err := sqlite.RemoveFiles(r.Database + replacedEnd); err != nil {
			return err
		}
	}
	if err := r.moveAside(r.Database); err != nil { // first: without it the others are no database, and a start says so
		return err
	}
	for _, file := range sqlite.Beside(r.Database) {
		if err := r.moveTo(file, r.Database+replacedEnd+file[len(r.Database):]); err != nil {
			return err
		}
	}
	return atomicfile.SyncDir(filepath.Dir(r.Database)) // no log of before is to be found beside what comes
}

// moveAside gives a file that is there another name.
func (r *Restored) moveAside(file string) error { return r.moveTo(file, file+replacedEnd) }

func (r *Restored) moveTo(file, to string) error {
	err := os.Rename(file, to)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil {
		r.Replaced = append(r.Replaced, to)
	}
	return err
}
