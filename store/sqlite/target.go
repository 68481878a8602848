package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"net/url"
	"os"
	"path/filepath"
	"strings"

	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/store/transfer"
)

var _ transfer.Target = (*Target)(nil)

// unfinished ends the name of a file that is being filled. What a crash leaves of it the next Target removes.
const unfinished = ".unfinished"

// Target is a new database that is filled. It has its name once all of it is on disk.
type Target struct {
	path   string
	pool   *sql.DB
	conn   *sql.Conn // in one transaction
	tables []transfer.Table
}

// NewTarget makes a database that is to be at path. Whatever is there already is refused: what has rows with a *transfer.NotEmpty.
// Nobody else may make one there: who calls has the lock of the directory.
func NewTarget(ctx context.Context, path string) (_ *Target, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	d := &Target{path: path}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", path, err), d.Close())
		}
	}()

	if err := checkFree(ctx, path); err != nil {
		return nil, err
	}
	if err := d.remove(); err != nil {
		return nil, err
	}
	if err := makeFile(d.half(), false); err != nil {
		return nil, err
	}

	// Nobody opens a file that is half filled, and a crash has it made anew: nothing needs to be undone, and nothing waits for the disk.
	query := url.Values{"_pragma": {"locking_mode(EXCLUSIVE)", "journal_mode(DELETE)", "journal_mode(OFF)", "synchronous(OFF)", "temp_store(MEMORY)"}}
	if d.pool, err = sql.Open("sqlite", uri(d.half(), query)); err != nil {
		return nil, err
	}
	if d.conn, err = d.pool.Conn(ctx); err != nil {
		return nil, err
	}
	if d.tables, err = tablesOf(ctx, d.conn); err != nil {
		return nil, err
	}
	_, err = d.conn.ExecContext(ctx, "BEGIN IMMEDIATE")
	return d, err
}

// checkFree refuses a path at which there is something.
func checkFree(ctx context.Context, path string) error {
	for _, end := range beside {
		if _, err := os.Lstat(path + end); err == nil {
			if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
				return fmt.Errorf("it is missing, but its %s is there: move that away", filepath.Base(path+end))
			}
		}
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		return nil
	} else if err != nil {
		return err
	}

	there := errors.New("there is a file already: move it away, with those of the same name with -wal and -shm")
	filled, err := filledTables(ctx, path)
	if err != nil || len(filled) == 0 {
		return there
	}
	return fmt.Errorf("%w; %w", &transfer.NotEmpty{Tables: filled}, there)
}

// filledTables gives the tables with rows of the file at path, whatever version of the schema it has.
func filledTables(ctx context.Context, path string) (filled []string, err error) {
	pool, err := openToRead(path, !HasLog(path), "query_only(1)")
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	c, err := pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()

	tables, err := tablesOf(ctx, c)
	if err != nil || len(tables) == 0 {
		return nil, err
	}
	rows, err := c.QueryContext(ctx, transfer.Filled(tables))
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }() // Err has its error

	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			return nil, err
		}
		filled = append(filled, name)
	}
	return filled, rows.Err()
}

func (d *Target) half() string { return d.path + unfinished }

// Tables gives the tables.
func (d *Target) Tables() []transfer.Table { return d.tables }

// Rows gives the rows of a table.
func (d *Target) Rows(ctx context.Context, t transfer.Table) iter.Seq2[[]any, error] {
	return rowsOf(ctx, d.conn, t)
}

// Fill stores the rows of a table.
func (d *Target) Fill(ctx context.Context, t transfer.Table, rows iter.Seq2[[]any, error]) (err error) {
	insert, err := d.conn.PrepareContext(ctx, fmt.Sprintf(`INSERT INTO "%s" (%s) VALUES (%s)`, t.Name, t.Names(), strings.TrimPrefix(strings.Repeat(", ?", len(t.Columns)), ", ")))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, insert.Close()) }()

	for row, err := range rows {
		if err != nil {
			return err
		}
		if _, err := insert.ExecContext(ctx, row...); err != nil {
			return err
		}
	}
	return nil
}

// Commit brings the file to disk and gives it its name.
func (d *Target) Commit(ctx context.Context) error {
	if err := checkForeignKeys(ctx, d.conn); err != nil {
		return err
	}
	for _, statement := range []string{"COMMIT", "PRAGMA journal_mode = WAL"} { // it stays so
		if _, err := d.conn.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	if err := d.close(); err != nil {
		return err
	}
	for _, end := range beside {
		if err := os.Remove(d.half() + end); !errors.Is(err, fs.ErrNotExist) {
			return errors.Join(fmt.Errorf("%s was left", d.half()+end), err)
		}
	}

	f, err := os.OpenFile(d.half(), os.O_RDWR, 0)
	if err != nil {
		return err
	}
	if err := errors.Join(f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(d.half(), d.path); err != nil {
		return err
	}
	return atomicfile.SyncDir(filepath.Dir(d.path))
}

// close closes the connection.
func (d *Target) close() error {
	var errs []error
	if d.conn != nil {
		errs = append(errs, d.conn.Close())
	}
	if d.pool != nil {
		errs = append(errs, d.pool.Close())
	}
	d.conn, d.pool = nil, nil
	return errors.Join(errs...)
}

// remove removes what is half filled.
func (d *Target) remove() error {
	var errs []error
	for _, end := range append([]string{"", ".new"}, beside...) {
		if err := os.Remove(d.half() + end); !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// Close closes the file. Without Commit nothing stays of it.
func (d *Target) Close() error { return errors.Join(d.close(), d.remove()) }
