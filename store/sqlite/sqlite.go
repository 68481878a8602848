package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"path/filepath"
	"regexp"
	"sync"
	"time"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/groupcommit"
	"github.com/berthdev/berth/store/sqldb"
)

var _ store.Store = (*DB)(nil)

const readers = 4

// DB is a store in one SQLite file.
type DB struct {
	path         string
	clock        compute.Clock
	engine       *engine // the group's
	group        *groupcommit.Group
	readers      chan *sqldb.Conn // the idle ones
	unopened     chan struct{}    // one for each reader that nobody has needed yet
	closed       chan struct{}
	checkpointed chan struct{} // closed when the last checkpoint has ended
	synchronous  synchronous
	damage       *Damage // that was found at the start
	followed     followed
	closing      sync.Once
	closeErr     error

	mu    sync.Mutex
	pools []*sql.DB // the writer's first
}

// Open opens the file at path, makes it if there is none, and brings its schema up to date. It fails on a file that a
// newer program wrote or that is no database of berth, and leaves it as it is. File and directory are its owner's alone, since
// jobs and environments hold secrets.
func Open(ctx context.Context, path string, clock compute.Clock, with ...Option) (*DB, error) {
	return open(ctx, path, clock, full, migrations(), with...)
}

// OpenUnsynced is Open of a file that is to be thrown away: a Write returns without waiting for the disk, and what it wrote
// outlives this process, but not a failure of power.
func OpenUnsynced(ctx context.Context, path string, clock compute.Clock, with ...Option) (*DB, error) {
	return open(ctx, path, clock, off, migrations(), with...)
}

// Option is what may be chosen for a store that is opened.
type Option func(*groupcommit.Options)

// Observe has f notified of each commit: how many writes shared it and how long it took. f must be quick.
func Observe(f func(writes int, took time.Duration)) Option {
	return func(o *groupcommit.Options) { o.Observe = f }
}

// Watch has f called with why writes begin to fail, and with nil once they succeed again, with how many failed. f must be quick.
func Watch(f func(trouble error, failed int)) Option {
	return func(o *groupcommit.Options) { o.Watch = f }
}

// Versions reports which version of the schema the file has, and to which Open would bring it. It changes nothing, and fails as Open
// does on a file that is not there or no database of berth.
func Versions(ctx context.Context, path string) (file, program int, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return 0, 0, fmt.Errorf("read the version of the store: %w", err)
	}

	defer func() {
		if err != nil {
			err = fmt.Errorf("read the version of the store %s: %w", path, notADatabase(err))
		}
	}()

	if err := checkFile(path); err != nil {
		return 0, 0, err
	}
	pool, err := sql.Open("sqlite", dsn(path, false, full))
	if err != nil {
		return 0, 0, err
	}

	defer func() { err = errors.Join(err, pool.Close()) }()
	c, err := pool.Conn(ctx)
	if err != nil {
		return 0, 0, err
	}

	defer func() { err = errors.Join(err, c.Close()) }()
	file, err = versionOf(ctx, c)
	return file, len(migrations()), err
}

func open(ctx context.Context, path string, clock compute.Clock, s synchronous, all []migration, with ...Option) (_ *DB, err error) {
	path, err = filepath.Abs(path)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	made, err := prepareFile(path, s == full)
	if err != nil {
		return nil, fmt.Errorf("open store %s: %w", path, err)
	}

	d := &DB{path: path, clock: clock, readers: make(chan *sqldb.Conn, readers), unopened: make(chan struct{}, readers), closed: make(chan struct{}), synchronous: s}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("open store %s: %w", path, notADatabase(err)), d.closeAll())
		}
	}()

	// The writing connection first: it migrates the file before anyone reads.
	c, err := d.connect(ctx, dsn(path, true, s))
	if err != nil {
		return nil, err
	}

	if !made {
		if d.damage, err = findDamage(ctx, c, path); err == nil {
			err = migrate(ctx, c, all)
		}
		if err != nil {
			return nil, errors.Join(err, c.Close())
		}
	}

	d.engine = newEngine(sqldb.NewConn(c, dialect{}), clock)
	d.engine.follows = d.followed.follows
	var o groupcommit.Options
	for _, set := range with {
		set(&o)
	}
	d.group = groupcommit.New(d.engine, o)
	d.checkpointed = make(chan struct{})
	go d.checkpoints(context.WithoutCancel(ctx))
	for range readers {
		d.unopened <- struct{}{}
	}

	return d, nil
}

// synchronous is when SQLite waits for the disk.
type synchronous string

const (
	full synchronous = "FULL" // an answer means that the bytes are on disk
	off  synchronous = "OFF"
)

// dsn names the file and everything that a connection is set to.
func dsn(path string, write bool, s synchronous) string {
	q := url.Values{"_pragma": {
		"busy_timeout(5000)",           // ms, for another program such as a backup; first, so that the others wait too
		"journal_size_limit(33554432)", // bytes: a log that a burst made longer is cut again
		"synchronous(" + string(s) + ")",
		"foreign_keys(1)",
		"temp_store(MEMORY)", // what a statement may undo
	}}

	if write {
		q.Set("_txlock", "immediate")
		q.Add("_pragma", "wal_autocheckpoint(10000)") // in case that checkpoints do not come; migrate sets the journal_mode
		q.Add("_pragma", "secure_delete(FAST)")       // what is deleted is overwritten where that takes no further page
	} else {
		q.Add("_pragma", "query_only(1)")
	}

	return uri(path, q)
}

// uri names a file for SQLite. It makes a relative path absolute: SQLite would take its first part for the name of a machine.
func uri(path string, query url.Values) string {
	if whole, err := filepath.Abs(path); err == nil { // it fails only where the working directory is gone, where no file is reached either
		path = whole
	}
	return (&url.URL{Scheme: "file", Path: filepath.ToSlash(path), RawQuery: query.Encode()}).String()
}

// connect opens one connection that stays open. Each has a pool of its own, so that none can be replaced unseen by one
// without its prepared statements.
func (d *DB) connect(ctx context.Context, dsn string) (*sql.Conn, error) {
	pool, err := sql.Open("sqlite", dsn)
	if err != nil {
		return nil, err
	}
	pool.SetMaxOpenConns(1)
	c, err := pool.Conn(ctx)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}

	d.mu.Lock()
	defer d.mu.Unlock()
	d.pools = append(d.pools, pool)
	return c, nil
}

// reader gives an idle connection, or opens one: only as many as were ever needed at once are open, each with its statements
// and a cache.
func (d *DB) reader(ctx context.Context) (*sqldb.Conn, error) {
	select {
	case c := <-d.readers:
		return c, nil
	default:
	}

	select {
	case c := <-d.readers:
		return c, nil
	case <-d.unopened:
		c, err := d.connect(ctx, dsn(d.path, false, full))
		if err != nil {
			d.unopened <- struct{}{}
			return nil, fmt.Errorf("open a connection: %w", err)
		}
		return sqldb.NewConn(c, dialect{}), nil
	case <-d.closed:
		return nil, groupcommit.ErrClosed()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// notADatabase says what to do about a file that SQLite does not know, or cannot read.
func notADatabase(err error) error {
	var e *sqlite.Error
	if errors.As(err, &e) && (e.Code()&0xff == lib.SQLITE_NOTADB || e.Code()&0xff == lib.SQLITE_CORRUPT) {
		return fmt.Errorf("it is no database, or a damaged one; %s: %w", advice, err)
	}
	return err
}

// dialect is SQLite's.
type dialect struct{}

// listed are the columns that a statement of package sqldb lists.
var listed = regexp.MustCompile(`(\w+\.)?"(\w+)"`)

// Statement makes expressions of the listed columns, which have neither a name nor a type: the driver asks for both of every column
// of each answer, which takes a tenth of the time of reading a pod.
func (dialect) Statement(query string) string { return listed.ReplaceAllString(query, `+$1$2 AS ""`) }

// IsUnique reports by SQLite's code whether a unique value is taken.
func (dialect) IsUnique(err error) bool {
	var e *sqlite.Error
	if !errors.As(err, &e) {
		return false
	}
	return e.Code() == lib.SQLITE_CONSTRAINT_UNIQUE || e.Code() == lib.SQLITE_CONSTRAINT_PRIMARYKEY
}

// Read runs f on a consistent snapshot. A ctx that ends while all connections are busy ends the wait; f itself is seen
// through. f must not call Read: four at once would wait for each other. Unavailable once the store is closed.
func (d *DB) Read(ctx context.Context, f func(store.Tx) error) (err error) {
	if err := ctx.Err(); err != nil {
		return err
	}
	select {
	case <-d.closed:
		return groupcommit.ErrClosed()
	default:
	}
	defer func() { err = reported(err) }() // also when f panics

	c, err := d.reader(ctx)
	if err != nil {
		return err
	}
	defer func() { d.readers <- c }()
	if _, err := c.Exec("BEGIN"); err != nil {
		return fmt.Errorf("begin to read: %w", err)
	}

	tx := sqldb.NewTx(c, d.clock, nil, 0)
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
	return d.group.Do(ctx, groupcommit.Call{Run: f})
}

// SubmitJob stores a new job.
func (d *DB) SubmitJob(ctx context.Context, s *store.Submission) error {
	return groupcommit.SubmitJob(ctx, d.group, s)
}

// TakeJobs takes those of the jobs that are IN_QUEUE.
func (d *DB) TakeJobs(ctx context.Context, t store.Take) error {
	return groupcommit.TakeJobs(ctx, d.group, t)
}

// EndJob ends a job that is still as its caller knows it.
func (d *DB) EndJob(ctx context.Context, e store.JobEnd) error {
	return groupcommit.EndJob(ctx, d.group, e)
}

// Close refuses new calls and waits for those that were begun or stand in line. Closing twice does no harm.
func (d *DB) Close() error {
	d.closing.Do(func() { d.closeErr = d.closeAll() })
	return d.closeErr
}

// closeAll closes what open has opened so far. The writer's connection goes last: it moves the log into the file.
func (d *DB) closeAll() error {
	close(d.closed)
	var errs []error
	if d.group != nil {
		d.group.Close()
		<-d.checkpointed
		errs = append(errs, d.followed.close())
		for range readers {
			select {
			case c := <-d.readers:
				errs = append(errs, c.Close())
			case <-d.unopened:
			}
		}

		errs = append(errs, d.engine.conn.Close())
	}

	for i := len(d.pools) - 1; i >= 0; i-- {
		errs = append(errs, d.pools[i].Close())
	}
	return errors.Join(append(errs, d.followed.closeFiles())...)
}
