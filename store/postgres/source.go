package postgres

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"net"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/berthdev/berth/store/transfer"
)

var _ transfer.Source = (*Source)(nil)

// Source is a database that everything is read from, in one snapshot. It is neither changed nor brought to another schema, and nobody
// else writes to it meanwhile.
type Source struct{ session *transferSession }

// OpenSource opens the database that the URL names, as Open does. It fails on one that is no database of berth, has another version of
// the schema than this program's, or a server that uses it.
func OpenSource(ctx context.Context, url string) (*Source, error) {
	s, err := openTransfer(ctx, url, beginRead, "SHARE", func(ctx context.Context, c *pgx.Conn) error { return checkSchema(ctx, c) })
	if err != nil {
		return nil, err
	}
	return &Source{s}, nil
}

// Tables gives the tables.
func (s *Source) Tables() []transfer.Table { return s.session.tables }

// Rows gives the rows of a table.
func (s *Source) Rows(ctx context.Context, t transfer.Table) iter.Seq2[[]any, error] {
	return s.session.rows(ctx, t)
}

// Close closes the connection.
func (s *Source) Close() error { return s.session.close() }

// checkSchema fails if the schema is not this program's.
func checkSchema(ctx context.Context, c *pgx.Conn) error {
	var mine bool
	if err := c.QueryRow(ctx, `SELECT to_regclass('berth_schema') IS NOT NULL`).Scan(&mine); err != nil {
		return fmt.Errorf("read the schema: %w", err)
	}
	if !mine {
		return errors.New("it is no database of berth: it has no table berth_schema")
	}
	var version int
	if err := c.QueryRow(ctx, "SELECT version FROM berth_schema").Scan(&version); err != nil {
		return fmt.Errorf("read the version of the schema: %w", err)
	}
	return transfer.CheckVersion(version, len(migrations()))
}

// transferSession is a connection for a transfer, in one transaction.
type transferSession struct {
	conn   *pgx.Conn
	tables []transfer.Table
}

// lockTimeout bounds how long a transfer waits for others who use the tables.
const lockTimeout = "5000"

// openTransfer opens a connection, has prepare look at the schema, begins, and keeps others from writing until the end. It fails if
// a server uses the database.
func openTransfer(ctx context.Context, url, begin, mode string, prepare func(context.Context, *pgx.Conn) error) (_ *transferSession, err error) {
	config, err := parse(url)
	if err != nil {
		return nil, err
	}
	config.RuntimeParams["statement_timeout"] = "0" // a large table takes as long as it takes
	config.RuntimeParams["idle_in_transaction_session_timeout"] = "0"
	config.RuntimeParams["lock_timeout"] = lockTimeout
	config.DialFunc = (&net.Dialer{}).DialContext // a COPY is not answered before its end: keep-alives notice a machine that is gone
	defer func() {
		if err != nil {
			err = fmt.Errorf("%s: %w", nameOf(config), err)
		}
	}()

	s := &transferSession{}
	if s.conn, err = pgx.ConnectConfig(ctx, config); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()

	if err := prepare(ctx, s.conn); err != nil {
		return nil, err
	}
	if s.tables, err = tablesOf(ctx, s.conn); err != nil {
		return nil, err
	}
	if _, err := s.conn.Exec(ctx, begin); err != nil {
		return nil, err
	}
	if err := s.lock(ctx, mode); err != nil {
		return nil, err
	}

	return s, s.checkUnused(ctx)
}

// Same reports whether two URLs lead to one database.
func Same(ctx context.Context, one, other string) (bool, error) {
	var identities []string
	for _, url := range []string{one, other} {
		config, err := parse(url)
		if err != nil {
			return false, err
		}
		identity, err := identityOf(ctx, config)
		if err != nil {
			return false, fmt.Errorf("%s: %w", nameOf(config), err)
		}
		identities = append(identities, identity)
	}
	return identities[0] == identities[1], nil
}

// identityOf gives what no other database has.
func identityOf(ctx context.Context, config *pgx.ConnConfig) (identity string, err error) {
	c, err := pgx.ConnectConfig(ctx, config)
	if err != nil {
		return "", err
	}
	err = c.QueryRow(ctx, `SELECT concat_ws('/', pg_postmaster_start_time(), d.oid, current_schema()::regnamespace::oid)
FROM pg_database d WHERE d.datname = current_database()`).Scan(&identity)
	return identity, errors.Join(err, c.Close(ctx))
}

// lock keeps others from writing, and servers from becoming the owner, until the transaction ends.
func (s *transferSession) lock(ctx context.Context, mode string) error {
	names := append([]string{}, ofReplicas...)
	for _, t := range s.tables {
		names = append(names, pgx.Identifier{t.Name}.Sanitize())
	}
	_, err := s.conn.Exec(ctx, "LOCK TABLE "+strings.Join(names, ", ")+" IN "+mode+" MODE")
	if codeOf(err) == lockNotAvailable {
		return fmt.Errorf("somebody else writes to it: stop every server and command that uses it: %w", err)
	}
	return err
}

const lockNotAvailable = "55P03"

// checkUnused fails if a server uses the database.
func (s *transferSession) checkUnused(ctx context.Context) error {
	var id, address string
	err := s.conn.QueryRow(ctx, `SELECT replica, address FROM owners WHERE until > `+now+`
UNION ALL SELECT id, address FROM replicas WHERE until > `+now+` LIMIT 1`).Scan(&id, &address)
	switch {
	case errors.Is(err, pgx.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("who owns the store: %w", err)
	}
	return fmt.Errorf("a server uses it, replica %s at %s: stop every server that does, and wait for some seconds if one was killed", id, address)
}

// rows gives the rows of a table.
func (s *transferSession) rows(ctx context.Context, t transfer.Table) iter.Seq2[[]any, error] {
	return func(yield func([]any, error) bool) {
		rows, err := s.conn.Query(ctx, fmt.Sprintf("SELECT %s FROM %s", t.Names(), pgx.Identifier{t.Name}.Sanitize()))
		if err != nil {
			yield(nil, err)
			return
		}
		defer rows.Close()

		for rows.Next() {
			row, err := rows.Values()
			for i := range row {
				if text, is := row[i].(string); is && err == nil {
					row[i], err = plain(text)
				}
			}
			if !yield(row, err) || err != nil {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(nil, err)
		}
	}
}

// close closes the connection, and ends its transaction.
func (s *transferSession) close() error { return s.conn.Close(context.Background()) }

// ofReplicas are the tables of who runs and owns, which are no part of what is stored.
var ofReplicas = []string{"commits", "owners", "replicas"}

// kinds are the types of columns.
var kinds = map[string]transfer.Kind{"bigint": transfer.Integer, "double precision": transfer.Real, "text": transfer.Text, "bytea": transfer.Bytes}

// ownTables are those of the first schema, but for the version of it and those of the replicas.
const ownTables = `pg_class t WHERE t.relnamespace = current_schema()::regnamespace AND t.relkind IN ('r', 'p') AND NOT t.relispartition
AND t.relname <> 'berth_schema' AND t.relname <> ALL ($1)`

// tablesOf gives the tables of the database.
func tablesOf(ctx context.Context, c *pgx.Conn) (all []transfer.Table, err error) {
	columns, _ := c.Query(ctx, `SELECT t.relname::text, c.attname::text, format_type(c.atttypid, c.atttypmod), NOT c.attnotnull,
coalesce((SELECT array_position(i.indkey::int2[], c.attnum) + 1 - array_lower(i.indkey::int2[], 1) FROM pg_index i WHERE i.indrelid = t.oid AND i.indisprimary), 0)
FROM pg_attribute c JOIN (SELECT t.oid, t.relname FROM `+ownTables+`) t ON c.attrelid = t.oid
WHERE c.attnum > 0 AND NOT c.attisdropped ORDER BY t.relname COLLATE "C", c.attname COLLATE "C"`, ofReplicas) // its error is that of reading
	var table, kind string
	var column transfer.Column
	var place int
	_, err = pgx.ForEachRow(columns, []any{&table, &column.Name, &kind, &column.Null, &place}, func() error {
		if column.Kind = kinds[kind]; column.Kind == "" {
			return fmt.Errorf("%s.%s is of the type %q", table, column.Name, kind)
		}
		all = transfer.AddColumn(all, table, column, place)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the schema: %w", err)
	}

	parents, _ := c.Query(ctx, `SELECT DISTINCT t.relname::text COLLATE "C", k.confrelid::regclass::text COLLATE "C"
FROM pg_constraint k JOIN (SELECT t.oid, t.relname FROM `+ownTables+`) t ON k.conrelid = t.oid WHERE k.contype = 'f' ORDER BY 1, 2`, ofReplicas)
	var parent string
	_, err = pgx.ForEachRow(parents, []any{&table, &parent}, func() error {
		transfer.AddParent(all, table, parent)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read the foreign keys: %w", err)
	}
	return all, nil
}
