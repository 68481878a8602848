package postgres

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/groupcommit"
	"github.com/berthdev/berth/store/sqldb"
)

// readers is how many connections read at most, beside the one that writes.
const readers = 4

// Read runs f on a consistent snapshot. A ctx that ends while all connections are busy ends the wait; f itself is seen through. f must
// not call Read. Unavailable once the store is closed.
func (d *DB) Read(ctx context.Context, f func(store.Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	defer func() { err = reported(err) }()
	s, err := d.beginRead(ctx)
	if err != nil {
		return err
	}

	tx := sqldb.NewTx(s.Conn, d.clock, nil, 0)
	defer func() { // also when f panics
		if failed := tx.End(); err == nil {
			err = failed
		}
		if s.do(context.Background(), rollback) != nil { // what was read is read
			_ = s.Close()
			s = nil
		}
		d.readers <- s
	}()

	return f(tx)
}

// beginRead takes a connection and begins to read. One that was lost since it was last used is opened again, unless the server has been
// found to be silent since the caller began to wait.
func (d *DB) beginRead(ctx context.Context) (s *session, err error) {
	select {
	case <-d.closed:
		return nil, groupcommit.ErrClosed()
	default:
	}

	before := d.silent.Load()
	select {
	case s = <-d.readers:
	case <-d.closed:
		return nil, groupcommit.ErrClosed()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() {
		if err != nil {
			d.readers <- nil
		}
	}()

	if s != nil {
		if s.do(context.Background(), beginRead) == nil {
			d.answered()
			return s, nil
		}
		_ = s.Close()
	}
	if now := d.silent.Load(); now != nil && now != before {
		return nil, now.cause
	}
	return d.openRead(ctx)
}

// silent is why a connection could not be opened that was waited for: whoever waited for its place meanwhile fails with that, too, or
// each would wait as long again, a few at a time. One that is refused at once says nothing of the next.
type silent struct{ cause error }

// silentAfter is how long an opening takes at least that failed since the server says nothing.
const silentAfter = time.Second

// openRead opens a connection and begins to read.
func (d *DB) openRead(ctx context.Context) (s *session, err error) {
	asked := compute.SystemClock{}.Now()
	defer func() {
		took := compute.SystemClock{}.Now().Sub(asked)
		switch {
		case err == nil:
			d.answered()
		case took >= silentAfter && ctx.Err() == nil: // else it may have been the caller who had no patience
			d.silent.Store(&silent{err})
		}
	}()

	if s, err = d.connect(ctx); err != nil {
		return nil, err
	}
	if err := s.do(context.Background(), beginRead); err != nil {
		return nil, errors.Join(fmt.Errorf("begin to read: %w", err), s.Close())
	}
	return s, nil
}

// answered notes that the server is not silent.
func (d *DB) answered() {
	if d.silent.Load() != nil {
		d.silent.Store(nil)
	}
}
