package postgres

import (
	"context"
	"fmt"
	"iter"

	"github.com/jackc/pgx/v5"

	"github.com/berthdev/berth/store/transfer"
)

var _ transfer.Target = (*Target)(nil)

// Target is an empty database that is filled in one transaction: until Commit, and if the connection or the program ends before, it is
// empty.
type Target struct{ session *transferSession }

// OpenTarget opens the database that the URL names, as Open does, and brings its schema up to date. It fails on one that Open fails on,
// that a server uses, or that has rows, with a *transfer.NotEmpty.
func OpenTarget(ctx context.Context, url string) (_ *Target, err error) {
	s, err := openTransfer(ctx, url, begin, "SHARE ROW EXCLUSIVE", func(ctx context.Context, c *pgx.Conn) error {
		if err := checkUpgrade(ctx, c); err != nil {
			return err
		}
		return migrate(ctx, c)
	})
	if err != nil {
		return nil, err
	}

	filled, _ := s.conn.Query(ctx, transfer.Filled(s.tables)) // its error is that of reading
	names, err := pgx.CollectRows(filled, pgx.RowTo[string])
	if err == nil && len(names) > 0 {
		err = fmt.Errorf("%s: %w", nameOf(s.conn.Config()), &transfer.NotEmpty{Tables: names})
	}
	if err != nil {
		_ = s.close()
		return nil, err
	}
	return &Target{s}, nil
}

// Tables gives the tables.
func (d *Target) Tables() []transfer.Table { return d.session.tables }

// Rows gives the rows of a table.
func (d *Target) Rows(ctx context.Context, t transfer.Table) iter.Seq2[[]any, error] {
	return d.session.rows(ctx, t)
}

// Fill stores the rows of a table.
func (d *Target) Fill(ctx context.Context, t transfer.Table, rows iter.Seq2[[]any, error]) error {
	var columns []string
	for _, c := range t.Columns {
		columns = append(columns, c.Name)
	}
	next, stop := iter.Pull2(rows)
	defer stop()

	_, err := d.session.conn.CopyFrom(ctx, pgx.Identifier{t.Name}, columns, pgx.CopyFromFunc(func() ([]any, error) {
		row, err, more := next()
		if err != nil || !more {
			return nil, err
		}
		for i, value := range row {
			if text, is := value.(string); is {
				row[i] = kept(text)
			}
		}
		return row, nil
	}))
	return err
}

// Commit has the next numbers of rows follow those that came, and commits.
func (d *Target) Commit(ctx context.Context) error {
	conn := d.session.conn
	numbered, _ := conn.Query(ctx, `SELECT t.relname::text, c.attname::text, pg_get_serial_sequence(quote_ident(t.relname), c.attname)
FROM pg_attribute c JOIN (SELECT t.oid, t.relname FROM `+ownTables+`) t ON c.attrelid = t.oid WHERE c.attidentity <> ''`, ofReplicas) // its error is that of reading
	var table, column, sequence string
	batch := &pgx.Batch{}
	_, err := pgx.ForEachRow(numbered, []any{&table, &column, &sequence}, func() error {
		t, c := pgx.Identifier{table}.Sanitize(), pgx.Identifier{column}.Sanitize()
		batch.Queue(fmt.Sprintf(`SELECT setval($1::text::regclass, max(%s)) FROM %s HAVING max(%s) IS NOT NULL`, c, t, c), sequence)
		return nil
	})
	if err != nil {
		return fmt.Errorf("read the numbers of rows: %w", err)
	}
	if err := conn.SendBatch(ctx, batch).Close(); err != nil {
		return fmt.Errorf("set the numbers of rows: %w", err)
	}

	for _, t := range d.session.tables { // what is planned by it must not wait until PostgreSQL does so unasked
		if _, err := conn.Exec(ctx, "ANALYZE "+pgx.Identifier{t.Name}.Sanitize()); err != nil {
			return err
		}
	}
	last, err := conn.Exec(ctx, commit)
	switch {
	case err != nil && conn.IsClosed():
		return fmt.Errorf("the connection was lost during the commit, and the target has everything or nothing: the same command again refuses it if it has: %w", err)
	case err == nil && last.String() != commit:
		return fmt.Errorf("the transaction was over: %s", last)
	}
	return err
}

// Close closes the connection.
func (d *Target) Close() error { return d.session.close() }
