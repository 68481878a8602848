package sqlite

import (
	"context"
	"errors"
	"fmt"
	"time"

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

// told gives err as callers get it: what the storage failed, by SQLite's code, says so.
func told(err error) error {
	if err == nil {
		return nil
	}
	var own *compute.Error
	var e *sqlite.Error
	if errors.As(err, &own) || !errors.As(err, &e) {
		return err
	}
	if t, ok := troubles[e.Code()&0xff]; ok { // the other bits say more of it
		return store.Troubled(t, err)
	}
	return err
}

// tryEvery is how often the store tries to write while it cannot: it is how late the end of a trouble is known where nobody
// writes.
const tryEvery = time.Second

// Trouble is that of the last write.
func (d *DB) Trouble() error {
	if e := d.writer.trouble.Load(); e != nil {
		return *e
	}
	return nil
}

// Watch has f told why writes begin to fail, and with nil that they succeed again, with how many failed. f must be quick, and is
// set before the first write.
func (d *DB) Watch(f func(trouble error, failed int)) { d.writer.watched = f }

// failed gives the error of a call that fails as its caller gets it, and notes the trouble that it is about. The caller has the
// turn.
func (w *writer) failed(err error) error {
	err = told(err)
	if store.TroubleOf(err) == "" {
		return err
	}
	if w.trouble.Swap(&err) != nil {
		return err
	}
	if w.watched != nil {
		w.watched(err, 0)
	}
	select {
	case w.ill <- struct{}{}:
	default:
	}
	return err
}

// succeeded notes that something was written. The caller has the turn.
func (w *writer) succeeded() {
	if w.trouble.Load() == nil {
		return
	}
	w.trouble.Store(nil)
	if w.watched != nil {
		w.watched(nil, w.refused)
	}
	w.refused = 0
}

// tryAgain writes something once in a while as long as writes fail.
func (d *DB) tryAgain(ctx context.Context) {
	defer close(d.tried)
	for {
		select {
		case <-d.closed:
			return
		case <-d.writer.ill:
		}
		for d.Trouble() != nil {
			passed, stop := compute.SystemClock{}.After(tryEvery)
			select {
			case <-d.closed:
				stop()
				return
			case <-passed:
			}
			_ = d.writer.write(ctx, false, d.writer.rewrite) // noted as any other
		}
	}
}

// rewrite writes a page of the file as it is.
func (w *writer) rewrite(store.Tx) error {
	version, err := number(w.conn, "PRAGMA user_version")
	if err != nil {
		return err
	}
	w.changed = true
	_, err = w.conn.Exec(fmt.Sprintf("PRAGMA user_version = %d", version))
	return err
}
