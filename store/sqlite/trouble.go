package sqlite

import (
	"errors"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// troubles are SQLite's primary result codes of what is no fault of a statement.
var troubles = map[int]store.Trouble{
	lib.SQLITE_FULL:     store.Full,
	lib.SQLITE_IOERR:    store.Failing,
	lib.SQLITE_CANTOPEN: store.Failing,
	lib.SQLITE_READONLY: store.Failing,
	lib.SQLITE_CORRUPT:  store.Failing,
	lib.SQLITE_NOTADB:   store.Failing,
	lib.SQLITE_BUSY:     store.Locked,
	lib.SQLITE_LOCKED:   store.Locked,
	lib.SQLITE_PROTOCOL: store.Locked,
}

// TroubleOf gives by SQLite's code what trouble an error is about.
func (e *engine) TroubleOf(err error) store.Trouble { return troubleOf(err) }

func troubleOf(err error) store.Trouble {
	var own *compute.Error
	var e *sqlite.Error
	if errors.As(err, &own) || !errors.As(err, &e) {
		return ""
	}
	return troubles[e.Code()&0xff] // the other bits say more of it
}

// reported gives err as callers get it: what the storage failed says so.
func reported(err error) error {
	if t := troubleOf(err); t != "" {
		return store.Troubled(t, err)
	}
	return err
}

// Trouble is that of the last write.
func (d *DB) Trouble() error { return d.group.Trouble() }
