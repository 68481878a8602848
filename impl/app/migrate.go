package app

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/impl/setting"
	"github.com/berthdev/berth/store/postgres"
	"github.com/berthdev/berth/store/sqlite"
	"github.com/berthdev/berth/store/transfer"
)

// Location is where a database is: a file, or what a URL names.
type Location struct {
	url  string
	file string // absolute; empty: there is a URL
}

// ParseLocation reads where a database is: the URL of a PostgreSQL database without a password, a data directory, or the path of a file,
// which ends in .db if it is not there yet. No error has a password.
func ParseLocation(text string) (l Location, err error) {
	if strings.Contains(text, "://") {
		if setting.HasPassword(text) {
			return l, errors.New("a password on the command line is seen by everybody on the machine: leave it out and set PGPASSWORD, PGPASSFILE or ~/.pgpass")
		}
		return Location{url: text}, postgres.Check(text)
	}
	if text == "" {
		return l, errors.New("it must be a data directory, a database file or the URL of a PostgreSQL database")
	}

	if l.file, err = filepath.Abs(text); err != nil {
		return l, err
	}
	info, err := os.Stat(l.file)
	switch {
	case err == nil && info.IsDir(), errors.Is(err, fs.ErrNotExist) && filepath.Ext(text) != ".db":
		l.file = filepath.Join(l.file, databaseFile)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return l, err
	}
	return l, nil
}

// String gives the location, for people.
func (l Location) String() string { return cmp.Or(l.file, l.url) }

// inDirectory reports whether the database is where a server would look for it.
func (l Location) inDirectory() bool { return filepath.Base(l.file) == databaseFile }

// SecretKey is where the key of what is sealed in the database belongs; empty if it is not known.
func (l Location) SecretKey() string {
	if !l.inDirectory() {
		return ""
	}
	return filepath.Join(filepath.Dir(l.file), secretFile)
}

// CopiedTable is a table that came over.
type CopiedTable = transfer.Copied

// errSame is the error of one database in two places.
var errSame = errors.New("source and target are the same database")

// Migrate copies everything of a database into an empty one, and compares. It fails, with nothing in the target, if a server uses the
// source or the target, if the source has another version of the schema than this program's, or if there is anything in the target.
// Progress is called with how many rows of a table were read so far.
func Migrate(ctx context.Context, from, to Location, progress func(table string, rows int64)) (all []CopiedTable, err error) {
	is, err := same(ctx, from, to)
	if err != nil {
		return nil, err
	}
	if is {
		return nil, errSame
	}
	u := &undo{}
	defer func() { err = errors.Join(err, u.all(true)) }()

	source, err := openSource(ctx, from, u)
	if err != nil {
		return nil, fmt.Errorf("--from: %w", err)
	}
	target, err := openTarget(ctx, to, u)
	if err != nil {
		return nil, fmt.Errorf("--to: %w", err)
	}
	if all, err = transfer.Run(ctx, source, target, progress); err != nil || !to.inDirectory() {
		return all, err
	}
	return all, giveToOwner(to.file)
}

// same reports whether the two are one database.
func same(ctx context.Context, from, to Location) (bool, error) {
	switch {
	case from == to:
		return true, nil
	case from.url != "" && to.url != "":
		return postgres.Same(ctx, from.url, to.url)
	}
	a, errA := os.Stat(from.file)
	b, errB := os.Stat(to.file)
	return errA == nil && errB == nil && os.SameFile(a, b), nil // who opens them says what is wrong
}

func openSource(ctx context.Context, l Location, u *undo) (transfer.Source, error) {
	if l.url != "" {
		s, err := postgres.OpenSource(ctx, l.url)
		if err != nil {
			return nil, err
		}
		u.push("source", closeRead(s))
		return s, nil
	}

	_, err := os.Stat(l.file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("there is no database at %s", l.file)
	}
	if err != nil {
		return nil, err
	}
	if err := l.lock(u); err != nil {
		return nil, err
	}
	s, err := sqlite.OpenSource(ctx, l.file)
	if err != nil {
		return nil, err
	}
	u.push("source", closeRead(s))
	return s, nil
}

// closeRead closes what was read: whatever is wrong with that, what was read is read.
func closeRead(c io.Closer) func() error {
	return func() error {
		_ = c.Close()
		return nil
	}
}

func openTarget(ctx context.Context, l Location, u *undo) (transfer.Target, error) {
	if l.url != "" {
		t, err := postgres.OpenTarget(ctx, l.url)
		if err != nil {
			return nil, err
		}
		u.push("target", t.Close)
		return t, nil
	}

	if l.inDirectory() {
		in, err := atomicfile.MakeDir(filepath.Dir(l.file))
		if err := errors.Join(err, atomicfile.SyncDir(in...)); err != nil {
			return nil, err
		}
		if err := closeToOthers(filepath.Dir(l.file), slog.New(slog.DiscardHandler)); err != nil {
			return nil, err
		}
	}
	if err := l.lock(u); err != nil {
		return nil, err
	}
	t, err := sqlite.NewTarget(ctx, l.file)
	if err != nil {
		return nil, err
	}
	u.push("target", t.Close)
	return t, nil
}

// lock keeps servers from a data directory until the end. Where the database has another name no server looks for it.
func (l Location) lock(u *undo) error {
	if !l.inDirectory() {
		return nil
	}
	unlock, err := lock(filepath.Dir(l.file), "berth migrate")
	if held, is := errors.AsType[errLocked](err); is {
		return fmt.Errorf("%w: stop it first", held)
	}
	if err != nil {
		return err
	}
	u.push("data directory", unlock)
	return nil
}
