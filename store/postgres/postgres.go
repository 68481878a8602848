package postgres

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/groupcommit"
	"github.com/berthdev/berth/store/sqldb"
)

var _ store.Store = (*DB)(nil)

// statementTimeout bounds what one statement may take, in milliseconds: who waits has gone long before. It does not bound those that read
// what a new owner takes over (sqldb.Loads).
const statementTimeout = "30000"

// idleTimeout bounds how long a transaction may do nothing, in milliseconds: less than a lease lasts, since that of an owner that is
// paused keeps others from becoming the owner.
const idleTimeout = "3000"

// DB is a store in one database.
type DB struct {
	config  *pgx.ConnConfig
	clock   compute.Clock
	engine  *engine // the group's
	group   *groupcommit.Group
	readers chan *session          // of each that may be, nil if it is not open
	silent  atomic.Pointer[silent] // nil: the server is not, as far as reads know
	closed  chan struct{}
	closing sync.Once
	err     error // of Close
}

// Option is what may be chosen for a store that is opened.
type Option func(*options)

type options struct {
	groupcommit.Options
	epoch   int64
	unknown func()
	timeout string // of a statement, in place of statementTimeout; "": that
}

// Of has writes refused once the owner of the store is not the one of this epoch any more (store.Moved). What becomes of a commit whose
// answer is lost can be found out then.
func Of(epoch int64) Option {
	return func(o *options) { o.epoch = epoch }
}

// Unknown has f called, before the callers are answered, if a commit may be on disk or not and this cannot be found out (store.Unknown).
// Every write is refused from then on: the store must be opened again, by the owner of another epoch, and memory be made anew of the rows.
// f must be quick.
func Unknown(f func()) Option {
	return func(o *options) { o.unknown = f }
}

// Observe has f notified of each commit: how many writes shared it and how long it took. f must be quick.
func Observe(f func(writes int, took time.Duration)) Option {
	return func(o *options) { o.Observe = f }
}

// Watch has f called with why writes begin to fail, and with nil once they succeed again, with how many failed. f must be quick.
func Watch(f func(trouble error, failed int)) Option {
	return func(o *options) { o.Watch = f }
}

// Check refuses what is no URL of a database. The error has nothing of it: there may be a password in it.
func Check(url string) error {
	scheme, _, found := strings.Cut(url, "://")
	if !found || scheme != "postgres" && scheme != "postgresql" {
		return errNoURL
	}
	if _, err := pgx.ParseConfig(url); err != nil {
		return errNoURL
	}
	return nil
}

var errNoURL = errors.New("it must be the URL of a PostgreSQL database, such as postgres://user@host:5432/database?sslmode=verify-full")

// Open opens the database that the URL names, as PostgreSQL's own programs do, and brings its schema up to date. It fails on a database
// that a newer program wrote or that has tables of another one, and leaves it as it is. No error has the password.
func Open(ctx context.Context, url string, clock compute.Clock, with ...Option) (*DB, error) {
	config, err := prepare(ctx, url)
	if err != nil {
		return nil, err
	}

	d := &DB{config: config, clock: clock, readers: make(chan *session, readers), closed: make(chan struct{})}
	for range readers {
		d.readers <- nil
	}
	var o options
	for _, set := range with {
		set(&o)
	}
	if o.timeout != "" {
		config.RuntimeParams["statement_timeout"] = o.timeout
	}
	d.engine = &engine{open: d.connect, clock: clock, fence: newFence(o.epoch, o.unknown), counts: sqldb.Counts{}}
	d.group = groupcommit.New(d.engine, o.Options)
	return d, nil
}

// prepare makes of a URL how connections are opened, and brings the schema of the database up to date.
func prepare(ctx context.Context, url string) (*pgx.ConnConfig, error) {
	config, err := parse(url)
	if err != nil {
		return nil, fmt.Errorf("open store: %w", err)
	}
	if err := migrated(ctx, config); err != nil {
		return nil, &openError{fmt.Errorf("open store %s: %w", nameOf(config), err), reported(err)}
	}
	return config, nil
}

// migrated brings the schema of the database up to date. What is made of a large table takes as long as it takes; others are waited for no
// longer than a statement may take. Where nothing is to be made, a silent server is waited for no longer than by other connections.
func migrated(ctx context.Context, config *pgx.ConnConfig) error {
	config = config.Copy()
	config.RuntimeParams["statement_timeout"], config.RuntimeParams["idle_in_transaction_session_timeout"] = "0", "0"
	config.RuntimeParams["lock_timeout"] = statementTimeout
	err := connected(ctx, config, lookAt)
	if errors.Is(err, errBehind) {
		config.DialFunc = (&net.Dialer{}).DialContext // as a transfer
		err = connected(ctx, config, migrate)
	}
	return err
}

// connected runs f on a connection of its own.
func connected(ctx context.Context, config *pgx.ConnConfig, f func(context.Context, *pgx.Conn) error) error {
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return &awayError{err}
	}
	if err = f(ctx, c); err != nil && c.IsClosed() {
		err = &awayError{err}
	}
	return errors.Join(err, c.Close(ctx))
}

// parse makes of a URL how connections are opened.
func parse(url string) (*pgx.ConnConfig, error) {
	if err := Check(url); err != nil {
		return nil, err
	}
	config, err := pgx.ParseConfig(url)
	if err != nil {
		return nil, errNoURL
	}

	config.ConnectTimeout = connectTimeout / hosts(config)
	config.DialFunc = impatient(config.DialFunc, silence)
	config.RuntimeParams["application_name"] = "berth"
	config.RuntimeParams["synchronous_commit"] = "on"
	config.RuntimeParams["statement_timeout"] = statementTimeout
	config.RuntimeParams["idle_in_transaction_session_timeout"] = idleTimeout
	config.RuntimeParams["timezone"] = "UTC"
	return config, nil
}

// nameOf says for people which database it is.
func nameOf(config *pgx.ConnConfig) string {
	return fmt.Sprintf("postgres://%s:%d/%s", config.Host, config.Port, config.Database)
}

// openError says where the database is that cannot be opened, and what trouble there is with it, if there is one (store.TroubleOf).
type openError struct{ where, trouble error }

func (e *openError) Error() string { return e.where.Error() }

func (e *openError) Unwrap() []error { return []error{e.where, e.trouble} }

// hosts is how many hosts the URL names. Who opens a connection waits for all of them together no longer than for one: the first may be
// the machine that is gone, and the last the one that has taken its place.
func hosts(config *pgx.ConnConfig) time.Duration {
	all := map[string]bool{net.JoinHostPort(config.Host, strconv.Itoa(int(config.Port))): true}
	for _, f := range config.Fallbacks {
		all[net.JoinHostPort(f.Host, strconv.Itoa(int(f.Port)))] = true
	}
	return time.Duration(len(all))
}

// connect opens a connection.
func (d *DB) connect(ctx context.Context) (*session, error) {
	c, err := connect(ctx, d.config)
	if err != nil {
		return nil, err
	}
	return &session{sqldb.NewConn(c, dialect{}), c}, nil
}

// Write runs f in a transaction that it may share with other callers, and returns once it is on disk. A panic in f is raised again here.
// A ctx that ends before f began withdraws the call: Write returns its error and f never runs. Unavailable once the store is closed.
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

// Trouble is that of the last write.
func (d *DB) Trouble() error { return d.group.Trouble() }

// Close refuses new calls and waits for those that were begun or stand in line. Closing twice does no harm.
func (d *DB) Close() error {
	d.closing.Do(func() {
		close(d.closed)
		d.group.Close()
		var errs []error
		if d.engine.on != nil {
			errs = append(errs, d.engine.on.Close())
		}
		for range readers {
			if s := <-d.readers; s != nil {
				errs = append(errs, s.Close())
			}
		}
		d.err = errors.Join(errs...)
	})
	return d.err
}
