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
	"strings"
	"time"

	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/store/ship"
	"github.com/berthdev/berth/store/sqlite"
)

// keyEnd ends the name of the file beside a backup that has the key of what is sealed in it.
const keyEnd = ".key"

// replacedEnd ends the names of the files that a restored backup took the place of.
const replacedEnd = ".replaced"

// unfinishedPart begins what the name of a backup has at its end until it is finished.
const unfinishedPart = ".unfinished-"

// abandonedAfter is how long nobody has written to an unfinished backup whose program was killed.
const abandonedAfter = time.Hour

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

	removeUnfinished(b.File)
	half, err := os.CreateTemp(filepath.Dir(b.File), filepath.Base(b.File)+unfinishedPart+"*") // its owner's alone
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

	if b.SecretKey, b.KeyFile, err = keyBeside(b.File, o); err != nil {
		return b, err
	}
	if err := os.Rename(half.Name(), b.File); err != nil {
		return b, err
	}
	return b, atomicfile.SyncDir(filepath.Dir(b.File))
}

// removeUnfinished removes what backups of that name left whose program was killed. What cannot be removed keeps nobody from making a backup.
func removeUnfinished(backup string) {
	dir, name := filepath.Split(backup)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		if !isNumbered(e.Name(), name+unfinishedPart) {
			continue
		}
		if info, err := e.Info(); err == nil && info.Mode().IsRegular() && day.Wall().Sub(info.ModTime()) > abandonedAfter {
			_ = sqlite.RemoveFiles(filepath.Join(dir, e.Name()))
		}
	}
}

// isNumbered reports whether a name is the prefix and a number, as os.CreateTemp and os.MkdirTemp make them.
func isNumbered(name, prefix string) bool {
	number, has := strings.CutPrefix(name, prefix)
	return has && number != "" && strings.Trim(number, "0123456789") == ""
}

// checkBackup refuses to write a backup over a database, and over anything else unless that is asked for.
func checkBackup(database, file string, o BackupOptions) error {
	from, err := os.Stat(database)
	if errors.Is(err, fs.ErrNotExist) {
		return noDirectory(o.Data, err)
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

// keyBeside gives the file of the key that the backup needs, and the one beside the backup to which it copies that, if that is asked for.
func keyBeside(backup string, o BackupOptions) (file, copied string, err error) {
	path := Config{Data: o.Data, SecretKey: o.SecretKey}.secretFile()
	key, err := os.ReadFile(path)
	made := !errors.Is(err, fs.ErrNotExist) || o.SecretKey != "" || o.WithKey // else a server was never started, and there is none
	if err != nil && made {
		return "", "", err
	}
	if file, err = filepath.Abs(path); err != nil {
		return file, "", err
	}
	if !made {
		file = ""
	}
	if !o.WithKey {
		other, err := os.ReadFile(backup + keyEnd) // which a restore would take
		if err == nil && !bytes.Equal(other, key) {
			return "", "", fmt.Errorf("%s is there already, and is not the key of %s: --with-key replaces it", backup+keyEnd, o.Data)
		}
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return "", "", err
		}
		return file, "", nil
	}
	return file, backup + keyEnd, atomicfile.Write(backup+keyEnd, key, true)
}

// RestoreOptions say what is restored, and where to.
type RestoreOptions struct {
	File      string // the backup; the key beside it is restored with it. Or what a server ships to: a folder, or s3://BUCKET/PREFIX
	Data      string // the data directory, which is made if it is missing
	SecretKey string // file of the key that the server will use; empty: the one of the data directory
	Force     bool   // in place of what is there, which stays beside it under another name

	Endpoint   string    // of S3, of what was shipped; empty: what the environment says, or Amazon's
	Generation string    // of what was shipped; empty: the last one
	At         time.Time // of what was shipped: the last moment before; zero: the last one there is
}

// Restored is what was restored.
type Restored struct {
	Database  string   `json:"database"`
	Schema    int      `json:"schema"`
	Program   int      `json:"programSchema"` // to which the next start of a server brings it
	SecretKey string   `json:"secretKey"`     // file of the key that the server will use
	HasKey    bool     `json:"hasKey"`        // it is there
	Replaced  []string `json:"replaced"`      // files of before
	// MissingOwner is the file, which is not there, with the name by which a server finds the containers and volumes of the pods. Empty: it is
	// there, or there are none.
	MissingOwner string `json:"missingOwner,omitempty"`

	Shipped *Shipped `json:"shipped,omitempty"` // nil: a file was restored
}

// ErrOneMoment is what Restore says if it is asked for a moment or a generation of a backup that is a file.
var ErrOneMoment = errors.New("--at and --generation are for the place that --backup-to shipped to")

// Restore puts a backup in the place of the database of a data directory, on which no server may run. The backup is read through first, and so is
// what was made of it: one that is damaged, no database of berth's or a newer program's is refused, and changes nothing.
func Restore(ctx context.Context, o RestoreOptions) (r Restored, err error) {
	info, err := os.Stat(o.File)
	switch {
	case ship.IsBucket(o.File) || err == nil && info.IsDir():
		return restoreShipped(ctx, o)
	case errors.Is(err, fs.ErrNotExist):
		return r, fmt.Errorf("there is no %s", o.File)
	case err == nil && (!o.At.IsZero() || o.Generation != ""):
		return r, fmt.Errorf("%s is one backup of one moment: %w", o.File, ErrOneMoment)
	}
	return restoreFile(ctx, o)
}

func restoreFile(ctx context.Context, o RestoreOptions) (r Restored, err error) {
	if r, err = verifyBackup(ctx, o.File); err != nil {
		return r, err
	}
	unlock, err := lockToRestore(o.Data, filepath.Dir(o.File))
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	return replaceDatabase(ctx, o, r)
}

// verifyBackup reads a backup through.
func verifyBackup(ctx context.Context, file string) (r Restored, err error) {
	if err := sqlite.CheckLog(file); err != nil {
		return r, fmt.Errorf("%s: %w", file, err)
	}
	r.Schema, r.Program, err = sqlite.Verify(ctx, file)
	return r, err
}

// lockToRestore makes the data directory if it is missing, and sees to it that nobody else uses it until unlock. What is restored is in the
// folder from, which stays; empty: elsewhere.
func lockToRestore(dir, from string) (unlock func() error, err error) {
	in, err := atomicfile.MakeDir(dir)
	if err := errors.Join(err, atomicfile.SyncDir(in...)); err != nil {
		return nil, err
	}
	quiet := slog.New(slog.DiscardHandler)
	if err := closeToOthers(dir, quiet); err != nil {
		return nil, err
	}
	unlock, err = lock(dir, "berth restore")
	if held, is := errors.AsType[errLocked](err); is {
		return nil, fmt.Errorf("%w: stop it first", held)
	}
	if err == nil {
		removeFetched(dir, from, quiet)
	}
	return unlock, err
}

// replaceDatabase puts a backup that was verified in the place of the database of a directory that is locked.
func replaceDatabase(ctx context.Context, o RestoreOptions, r Restored) (_ Restored, err error) {
	if r.Database, err = filepath.Abs(filepath.Join(o.Data, databaseFile)); err != nil {
		return r, err
	}
	if err := takeBack(r.Database); err != nil {
		return r, err
	}
	key, err := findKey(o)
	if err != nil {
		return r, err
	}
	if err := checkRoom(r.Database, o); err != nil {
		return r, err
	}
	r.SecretKey, r.HasKey = key.file, key.there || key.restored != nil
	if r.Replaced, err = put(ctx, o.File, r.Database, key); err == nil {
		r.MissingOwner = missingOwner(ctx, r.Database)
	}
	return r, err
}

// missingOwner gives the file that is missing beside a database of which a server had something on a runtime that outlives it. A database of before
// such runtimes were noted is of none that is known.
func missingOwner(ctx context.Context, database string) string {
	file := filepath.Join(filepath.Dir(database), ownerFile)
	if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
		return ""
	}
	if places, err := sqlite.Places(ctx, database, true); err != nil || len(places) == 0 {
		return ""
	}
	return file
}

// foundKey is the key that a server will use of a restored backup.
type foundKey struct {
	file     string
	there    bool
	restored []byte // what is to be in the file; nil: what is there
}

// findKey looks for the key beside the backup. It refuses to replace another one, unless that is asked for.
func findKey(o RestoreOptions) (k foundKey, err error) {
	if k.file, err = filepath.Abs(Config{Data: o.Data, SecretKey: o.SecretKey}.secretFile()); err != nil {
		return k, err
	}
	there, err := os.ReadFile(k.file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return k, err
	}
	k.there = err == nil

	beside := o.File + keyEnd
	key, err := os.ReadFile(beside)
	switch {
	case errors.Is(err, fs.ErrNotExist), err == nil && bytes.Equal(key, there):
		return k, nil
	case err != nil:
		return k, err
	case len(key) != control.SecretKeySize:
		return k, fmt.Errorf("%s has %d bytes, not %d", beside, len(key), control.SecretKeySize)
	case k.there && o.SecretKey != "":
		return k, fmt.Errorf("%s is another key than %s, which the backup needs", k.file, beside)
	case k.there && !o.Force:
		return k, fmt.Errorf("%s is there already, and is another key than %s: --force moves it aside", k.file, beside)
	}
	k.restored = key
	return k, nil
}

// checkRoom refuses to restore over a database, unless that is asked for, and over the backup itself.
func checkRoom(database string, o RestoreOptions) error {
	if a, err := os.Stat(database); err == nil {
		if b, err := os.Stat(o.File); err == nil && os.SameFile(a, b) {
			return fmt.Errorf("%s is the database of %s, and no backup of it", o.File, o.Data)
		}
	}
	for _, file := range append([]string{database}, sqlite.Beside(database)...) {
		if _, err := os.Lstat(file); !errors.Is(err, fs.ErrNotExist) && !o.Force {
			return errors.Join(fmt.Errorf("%s is there already: --force moves it aside", file), err)
		}
	}
	return nil
}

// put makes a database of the backup, moves what is there aside, and gives it its name. Wherever it is cut off, the next start has the one
// database or the other, or says that there is none. It gives the files of before.
func put(ctx context.Context, backup, database string, key foundKey) (replaced []string, err error) {
	half := database + restoringEnd
	if err := sqlite.RemoveFiles(half); err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, sqlite.RemoveFiles(half)) }()
	if _, err := sqlite.Copy(ctx, backup, half, true); err != nil {
		return nil, err
	}

	// The database goes first: with the other key it would be taken for one whose key is there.
	if replaced, err = makeRoom(replaced, database); err != nil {
		return replaced, err
	}
	if key.restored != nil {
		if replaced, err = moveAside(replaced, key.file, key.file+replacedEnd); err != nil {
			return replaced, err
		}
		if err := atomicfile.Write(key.file, key.restored, true); err != nil {
			return replaced, err
		}
	}
	if err := giveToOwner(half, key.file); err != nil { // also a key that a restore brought which was cut off
		return replaced, err
	}
	if err := atomicfile.SyncDir(filepath.Dir(key.file)); err != nil {
		return replaced, err
	}
	if err := os.Rename(half, database); err != nil {
		return replaced, err
	}
	return replaced, atomicfile.SyncDir(filepath.Dir(database), filepath.Dir(key.file))
}

// makeRoom moves the database that is there aside, with what is beside it.
func makeRoom(replaced []string, database string) (_ []string, err error) {
	if _, err := os.Lstat(database); err == nil { // else a restore was cut off, whose files these are
		if err := sqlite.RemoveFiles(database + replacedEnd); err != nil {
			return replaced, err
		}
	}
	// The database first: without it the others are none, and a start says so.
	for _, file := range append([]string{database}, sqlite.Beside(database)...) {
		if replaced, err = moveAside(replaced, file, database+replacedEnd+file[len(database):]); err != nil {
			return replaced, err
		}
	}
	return replaced, atomicfile.SyncDir(filepath.Dir(database)) // no log of before is to be found beside what comes
}

// moveAside gives a file another name, if it is there, and adds that to those that were replaced.
func moveAside(replaced []string, file, to string) ([]string, error) {
	err := os.Rename(file, to)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return replaced, nil
	case err != nil:
		return replaced, err
	}
	return append(replaced, to), nil
}
