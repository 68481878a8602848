package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"sync"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqldb"
)

var _ store.Store = (*DB)(nil)

const (
	readers = 4
	// batchLimit is how many calls may share a commit: 16 are slower by a quarter, more than 256 gain nothing.
	batchLimit = 256
)

// DB is a store in one SQLite file.
type DB struct {
	clock    compute.Clock
	pools    []*sql.DB
	writer   *writer
	readers  chan *sqldb.Conn // the idle ones
	closed   chan struct{}
	closing  sync.Once
	closeErr error
}

// Open opens the file at path, makes it if there is none, and brings its schema up to date. It fails on a file that a
// newer program wrote. File and directory are its owner's alone, since jobs and environments hold secrets.
func Open(ctx context.Context, path string, clock compute.Clock) (*DB, error) {
	return open(ctx, path, clock, batchLimit)
}

func open(ctx context.Context, path string, clock compute.Clock, limit int) (_ *DB, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := prepareFile(path); err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	d := &DB{clock: clock, readers: make(chan *sqldb.Conn, readers), closed: make(chan struct{})}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open store %s: %w", path, err), d.closeAll())
		}
	}()
	// The writer first: it makes the file a WAL database and migrates it before anyone reads.
	c, err := d.connect(ctx, dsn(path, true))
	if err != nil {
		return nil, err
	}
	if err := migrate(ctx, c); err != nil {
		return nil, errors.Join(err, c.Close())
	}
	d.writer = newWriter(sqldb.NewConn(c, dialect{}), clock, limit)
	for range readers {
		c, err := d.connect(ctx, dsn(path, false))
		if err != nil {
			return nil, err
		}
		d.readers <- sqldb.NewConn(c, dialect{})
	}
	return d, nil
}

// prepareFile makes the directory and the file with modes that SQLite would not choose. SQLite gives the files beside it
// the same mode. A file that exists is not opened: closing it again would drop the locks that this process may hold on it.
func prepareFile(path string) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(path, os.O_CREATE|os.O_EXCL|os.O_RDWR, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return os.Chmod(path, 0o600)
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// dsn names the file and everything that a connection is set to.
func dsn(path string, write bool) string {
	q := url.Values{"_pragma": {
		"busy_timeout(5000)",           // ms, for another program such as a backup; first, so that the others wait too
		"auto_vacuum(INCREMENTAL)",     // of a new file, before anything is in it: what is deleted can be given back
		"journal_size_limit(33554432)", // bytes: a log that a burst made longer is cut again
		"journal_mode(WAL)",
		"synchronous(FULL)", // an answer means that the bytes are on disk
		"foreign_keys(1)",
		"temp_store(MEMORY)", // what a savepoint may undo
	}}
	if write {
		q.Set("_txlock", "immediate")
	} else {
		q.Add("_pragma", "query_only(1)")
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: q.Encode()}).String()
}

// connect opens one connection that stays open. Each has a pool of its own, so that none can be replaced unseen by one
// without its prepared statements.
func (d *DB) connect(ctx context.Context, dsn string) (*sql.Conn, error) {
	pool, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	d.pools = append(d.pools, pool)
	return pool.Conn(ctx)
}

// dialect tells SQLite's errors apart.
type dialect struct{}

func (dialect) IsUnique(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Code() == lib.SQLITE_CONSTRAINT_UNIQUE || e.Code() == lib.SQLITE_CONSTRAINT_PRIMARYKEY
}

func errClosed() error { return compute.Errorf(compute.Unavailable, "the store is closed") }

// Read runs f on a consistent snapshot. A ctx that ends while all connections are busy ends the wait; f itself is seen
// through. f must not call Read: four at once would wait for each other. Unavailable once the store is closed.
func (d *DB) Read(ctx context.Context, f func(store.Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-d.closed:
		return errClosed()
	default:
	}
	var c *sqldb.Conn
	select {
	case c = <-d.readers:
	case <-d.closed:
		return errClosed()
	case <-ctx.Done():
		return ctx.Err()
	}
	defer func() { d.readers <- c }()
	if _, err := c.Exec("BEGIN"); err != nil {
		return fmt.Errorf("begin to read: %w", err)
	}
	tx := sqldb.NewTx(c, d.clock.Now(), nil)
	defer func() { // also when f panics
		failed := tx.End()
		if err == nil {
			err = failed
		}
		if _, e := c.Exec("ROLLBACK"); e != nil && err == nil {
			err = fmt.Errorf("end reading: %w", e)
		}
	}()
	return f(tx)
}

// Write runs f in a transaction that it may share with other callers, and returns once it is on disk. A panic in f is
// raised again here. A ctx that ends before f began withdraws the call: Write returns its error and f never runs.
// Unavailable once the store is closed.
func (d *DB) Write(ctx context.Context, f func(store.Tx) error) error {
	return d.writer.write(ctx, false, f)
}

// WriteSure is Write without the savepoint that undoes f alone, which is a tenth of the work of a small write.
func (d *DB) WriteSure(ctx context.Context, f func(store.Tx) error) error {
	return d.writer.write(ctx, true, f)
}

// Observe has f told of each commit: how many writes shared it and how long it took. f must be quick, and is set before the
// first write.
func (d *DB) Observe(f func(writes int, took time.Duration)) { d.writer.observed = f }

// Close refuses new calls and waits for those that were begun or stand in line. Closing twice does no harm.
func (d *DB) Close() error {
	d.closing.Do(func() { d.closeErr = d.closeAll() })
	return d.closeErr
}

// closeAll closes what open has opened so far. The writer's connection goes last: it moves the log into the file.
func (d *DB) closeAll() error {
	close(d.closed)
	var errs []error
	if d.writer != nil {
		d.writer.stop()
		for range len(d.pools) - 1 {
			errs = append(errs, (<-d.readers).Close())
		}
		errs = append(errs, d.writer.conn.Close())
	}
	for i := len(d.pools) - 1; i >= 0; i-- {
		errs = append(errs, d.pools[i].Close())
	}
	return errors.Join(errs...)
}
