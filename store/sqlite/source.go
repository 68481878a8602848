package sqlite

import (
	"bufio"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/store/transfer"
)

var _ transfer.Source = (*Source)(nil)

// Source is a database that everything is read from. It is neither changed nor brought to another schema.
type Source struct {
	pool   *sql.DB
	conn   *sql.Conn
	tables []transfer.Table
}

// OpenSource opens the file at path. It fails on one that is not there, is no database of berth, has another version of the schema than
// this program's, or a damaged log. Nobody else may use it: who calls has the lock of its directory.
func OpenSource(ctx context.Context, path string) (_ *Source, err error) {
	if path, err = filepath.Abs(path); err != nil {
		return nil, err
	}
	s := &Source{}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("%s: %w", path, notADatabase(err)), s.Close())
		}
	}()

	if err := checkFile(path); err != nil {
		return nil, err
	}
	logged, err := checkLog(path)
	if err != nil {
		return nil, err
	}
	if s.pool, err = openToRead(path, !logged, "query_only(1)"); err != nil {
		return nil, err
	}
	if s.conn, err = s.pool.Conn(ctx); err != nil {
		return nil, err
	}
	if _, err := s.conn.ExecContext(ctx, "BEGIN"); err != nil {
		return nil, err
	}

	version, err := versionOf(ctx, s.conn)
	if err != nil {
		return nil, err
	}
	if err := transfer.CheckVersion(version, len(migrations())); err != nil {
		return nil, err
	}
	s.tables, err = tablesOf(ctx, s.conn)
	return s, err
}

// checkLog reports whether there is something in the log. It fails if that is damaged: a start says what of it is lost.
func checkLog(path string) (logged bool, err error) {
	f, err := os.Open(path + "-wal")
	if errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	defer func() { _ = f.Close() }() // it was read only

	info, err := f.Stat()
	if err != nil {
		return false, err
	}
	d, err := readLog(bufio.NewReaderSize(f, 1<<16))
	if err != nil {
		return false, fmt.Errorf("look at the log: %w", err)
	}
	if d != nil {
		return false, fmt.Errorf("%w; start a server on it once, which goes on with what could be read", d)
	}
	return info.Size() > 0, nil
}

// Tables gives the tables.
func (s *Source) Tables() []transfer.Table { return s.tables }

// Rows gives the rows of a table.
func (s *Source) Rows(ctx context.Context, t transfer.Table) iter.Seq2[[]any, error] {
	return rowsOf(ctx, s.conn, t)
}

// Close closes the file.
func (s *Source) Close() error {
	var errs []error
	if s.conn != nil {
		errs = append(errs, s.conn.Close())
	}
	if s.pool != nil {
		errs = append(errs, s.pool.Close())
	}
	return errors.Join(errs...)
}

// rowsOf gives the rows of a table.
func rowsOf(ctx context.Context, c *sql.Conn, t transfer.Table) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		rows, err := c.QueryContext(ctx, fmt.Sprintf(`SELECT %s FROM "%s"`, t.Names(), t.Name))
		if err != nil {
			yield(nil, err)
			return
		}
		defer func() { _ = rows.Close() }() // Err has its error

		row := make([]any, len(t.Columns))
		places := make([]any, len(row))
		for i := range row {
			places[i] = &row[i]
		}
		for rows.Next() {
			if err := rows.Scan(places...); err != nil {
				yield(nil, err)
				return
			}
			for i, value := range row {
				if b, is := value.([]byte); is && b == nil { // no bytes, which the driver would store as NULL
					row[i] = []byte{}
				}
			}
			if !yield(row, nil) {
				return
			}
		}

		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// kinds are the types of columns of strict tables.
var kinds = map[string]transfer.Kind{"INTEGER": transfer.Integer, "REAL": transfer.Real, "TEXT": transfer.Text, "BLOB": transfer.Bytes}

// tablesOf gives the tables of the database.
func tablesOf(ctx context.Context, c *sql.Conn) (all []transfer.Table, err error) {
	columns, err := c.QueryContext(ctx, `SELECT t.name, c.name, c.type, c."notnull" = 0 AND c.pk = 0, c.pk
FROM sqlite_schema t, pragma_table_info(t.name) c WHERE t.type = 'table' AND t.name NOT LIKE 'sqlite\_%' ESCAPE '\' ORDER BY t.name, c.name`)
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}
	defer func() { _ = columns.Close() }() // Err has its error

	for columns.Next() {
		var table, kind string
		var column transfer.Column
		var place int
		if err := columns.Scan(&table, &column.Name, &kind, &column.Null, &place); err != nil {
			return nil, fmt.Errorf("read the schema: %w", err)
		}
		if column.Kind = kinds[kind]; column.Kind == "" {
			return nil, fmt.Errorf("read the schema: %s.%s is of the type %q", table, column.Name, kind)
		}
		all = transfer.AddColumn(all, table, column, place)
	}
	if err := columns.Err(); err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}

	parents, err := c.QueryContext(ctx, `SELECT DISTINCT t.name, f."table" FROM sqlite_schema t, pragma_foreign_key_list(t.name) f WHERE t.type = 'table' ORDER BY 1, 2`)
	if err != nil {
		return nil, fmt.Errorf("read the foreign keys: %w", err)
	}
	defer func() { _ = parents.Close() }() // Err has its error

	for parents.Next() {
		var table, parent string
		if err := parents.Scan(&table, &parent); err != nil {
			return nil, fmt.Errorf("read the foreign keys: %w", err)
		}
		transfer.AddParent(all, table, parent)
	}
	return all, parents.Err()
}
