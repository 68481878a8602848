package app

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/observe"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store/ship"
	"github.com/berthdev/berth/store/sqlite"
)

// dayClock tells the time of day, since a backup is restored as of one, also after a sleep of the machine and a step of its clock. It never goes
// back: where the clock was set back it goes on from the latest that it has told.
type dayClock struct {
	compute.SystemClock
	ahead *atomic.Int64 // nanoseconds, of the clock that measures; it only grows
}

// day is that of this process.
var day = dayClock{ahead: new(atomic.Int64)}

// Now is the time of day, or what has passed since the latest that it has told.
func (d dayClock) Now() time.Time {
	wall := d.Wall().UnixNano() // first: what passes between the two must not bring it forward
	now := d.SystemClock.Now().UnixNano()
	return time.Unix(0, now+d.atLeast(wall-now)).UTC()
}

// Reach has it tell no moment before that one from now on.
func (d dayClock) Reach(at time.Time) { d.atLeast(at.UnixNano() - d.SystemClock.Now().UnixNano()) }

func (d dayClock) atLeast(ahead int64) int64 {
	for {
		was := d.ahead.Load()
		if ahead <= was {
			return was
		}
		if d.ahead.CompareAndSwap(was, ahead) {
			return ahead
		}
	}
}

// startBackup has the database shipped to where the settings say; nil: nowhere. When that is undone, the rest is shipped first.
func startBackup(c Config, db *sqlite.DB, sealed secrets, u *undo) (*ship.Shipper, error) {
	if c.BackupTo == "" {
		return nil, nil //nolint:nilnil // there is none
	}
	to, err := ship.Open(c.BackupTo, c.BackupEndpoint, os.Getenv)
	if err != nil {
		return nil, fmt.Errorf("--backup-to: %w", err)
	}
	var key []byte
	if c.BackupWithKey {
		key = sealed.key
	}

	s := ship.Start(ship.Options{
		Source: db, Target: to, Every: c.BackupEvery, Keep: c.BackupKeep, Key: key, Clock: day, Reach: day.Reach, Log: c.Log,
		Random: func() string { return strings.ToLower(rand.Text()[:8]) },
	})
	u.push("backup", func() error {
		if err := s.Close(c.Drain); err != nil {
			c.Log.Error("the continuous backup lacks something", "error", err)
		}
		return nil
	})
	return s, nil
}

// backupStatus gives how the shipping stands, for the metrics; nil: nothing is shipped.
func backupStatus(s *ship.Shipper) func() observe.Backup {
	if s == nil {
		return nil
	}
	return func() observe.Backup {
		t := s.Status()
		since := t.Began
		if t.Shipped.After(since) {
			since = t.Shipped
		}
		return observe.Backup{Age: day.Now().Sub(since), Bytes: t.Bytes, Failures: t.Failures, Ended: t.Broken}
	}
}

// Generation is what a server shipped to a place since it started.
type Generation = ship.Generation

// ListBackups gives what a server shipped to a place, the oldest generation first. A place without a backup is an error: its name may be a wrong one.
func ListBackups(ctx context.Context, place, endpoint string) (all []*Generation, err error) {
	if all, err = lookForBackups(ctx, place, endpoint); err == nil && len(all) == 0 {
		err = fmt.Errorf("%s has no backup", place)
	}
	return all, err
}

// lookForBackups gives what a server shipped to a place, of which there may be nothing yet.
func lookForBackups(ctx context.Context, place, endpoint string) ([]*Generation, error) {
	if !ship.IsBucket(place) {
		switch info, err := os.Stat(place); {
		case errors.Is(err, fs.ErrNotExist):
			return nil, fmt.Errorf("there is no folder %s", place)
		case err == nil && !info.IsDir():
			return nil, fmt.Errorf("%s is no folder", place)
		}
	}
	to, err := ship.Open(place, endpoint, os.Getenv)
	if err != nil {
		return nil, err
	}
	return ship.List(ctx, to)
}

// Shipped is what was restored of what a server shipped.
type Shipped struct {
	Generation string    `json:"generation"`
	Upto       time.Time `json:"upto"`     // all that was acknowledged before is there
	Segments   int       `json:"segments"` // of the log, that were brought into the base
	Later      []string  `json:"later"`    // generations that began later, of which nothing is there: they have no base
	Damaged    []string  `json:"damaged"`  // bases that cannot be read, in place of which an earlier one was taken

	KeyDamaged string `json:"keyDamaged,omitempty"` // the key that was shipped, and cannot be read; empty: it was restored, or there is none
}

// fetchedPrefix begins the name of the folder in which a restore puts together what it fetches.
const fetchedPrefix = "fetched-"

// removeFetched removes what restores left in a data directory whose program was killed: there may be a key in it. The directory is locked, so nobody
// uses it, unless somebody found a backup in one and restores that: it is kept.
func removeFetched(dir, kept string, log *slog.Logger) {
	used, _ := os.Stat(kept) // nil: there is none
	entries, err := os.ReadDir(dir)
	for _, e := range entries {
		if !e.IsDir() || !isNumbered(e.Name(), fetchedPrefix) {
			continue
		}
		path := filepath.Join(dir, e.Name())
		if info, failed := os.Stat(path); failed != nil || !os.SameFile(info, used) {
			err = errors.Join(err, os.RemoveAll(path))
		}
	}
	if err != nil {
		log.Warn("what a restore left that was cut off cannot be removed, and may have the key of what is sealed", "error", err)
	}
}

// restoreShipped makes a backup of what a server shipped, and restores that.
func restoreShipped(ctx context.Context, o RestoreOptions) (r Restored, err error) {
	from, err := ship.Open(o.File, o.Endpoint, os.Getenv)
	if err != nil {
		return r, err
	}
	unlock, err := lockToRestore(o.Data, "")
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, unlock()) }()
	if err := checkRoom(filepath.Join(o.Data, databaseFile), o); err != nil { // before all is fetched
		return r, err
	}
	dir, err := os.MkdirTemp(o.Data, fetchedPrefix+"*") // its owner's alone
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	o.File = filepath.Join(dir, databaseFile)
	got, err := ship.Restore(ctx, from, ship.Wish{Generation: o.Generation, At: o.At}, o.File)
	if err != nil {
		return r, err
	}
	if got.Key != nil {
		if err := atomicfile.Write(o.File+keyEnd, got.Key, false); err != nil {
			return r, err
		}
	}
	if r, err = verifyBackup(ctx, o.File); err == nil {
		r, err = replaceDatabase(ctx, o, r)
	}
	r.Shipped = &Shipped{Generation: got.Generation, Upto: got.Upto, Segments: got.Segments, Later: append([]string{}, got.Later...), Damaged: append([]string{}, got.Damaged...), KeyDamaged: got.KeyDamaged}
	return r, err
}

// examineBackup reports how far what a server ships to a place goes.
func examineBackup(ctx context.Context, place, endpoint string) Finding {
	f := findingOf("backup", runtime.Report{})
	ctx, cancel := context.WithTimeout(ctx, examineTime)
	defer cancel()
	all, err := lookForBackups(ctx, place, endpoint)
	if err != nil {
		f.Detail = err.Error()
		return f
	}

	f.Available, f.Detail = true, place+" can be read, and has no backup yet"
	for _, g := range all {
		if g.Bases > 0 {
			f.Detail = fmt.Sprintf("%s has generation %s, from which the database of %s to %s can be restored", place, g.Name, g.From.Format(time.RFC3339), g.To.Format(time.RFC3339))
		}
		if len(g.Missing) > 0 {
			f.Warnings = append(f.Warnings, fmt.Sprintf("generation %s lacks %d segments, the first of them %d", g.Name, len(g.Missing), g.Missing[0]))
		}
		for _, name := range g.Damaged {
			f.Warnings = append(f.Warnings, name+" is damaged")
		}
	}
	return f
}
