package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
)

//go:embed migrations/*.sql
var embedded embed.FS

// migrations are the numbered files that make the schema, one after the other. A file that was released is never changed again.
func migrations() []migration {
	names, _ := fs.Glob(embedded, "migrations/*.sql") // sorted by name, and named by number
	all := make([]migration, 0, len(names))
	for _, name := range names {
		text, _ := embedded.ReadFile(name)
		all = append(all, migration{filepath.Base(name), string(text)})
	}
	return all
}

type migration struct{ name, text string }

// marks are the tables that every version of the schema has: a database without them is not berth's.
var marks = []string{"endpoints", "jobs", "keys", "pods"}

// migrate brings a database of berth to WAL mode and to the last of the migrations. One that is not berth's, a newer
// program's, or none that the migrations made, it leaves as it is and says so.
func migrate(ctx context.Context, c *sql.Conn, all []migration) error {
	version, err := versionOf(ctx, c)
	if err != nil {
		return err
	}
	if version > len(all) {
		return fmt.Errorf("a newer berth wrote it: its schema is version %d, this program knows %d; run the newer one", version, len(all))
	}
	if version < len(all) {
		if err := checkLineage(ctx, c, all[:version]); err != nil {
			return err
		}
	}
	if _, err := c.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil { // it stays so; a backup may have another one
		return fmt.Errorf("set WAL mode: %w", err)
	}
	if version == len(all) {
		return nil
	}

	return run(ctx, c, all)
}

// versionOf gives the version of the schema, how many migrations made it, and fails if the database is not berth's.
func versionOf(ctx context.Context, c *sql.Conn) (version int, err error) {
	if err := c.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return 0, fmt.Errorf("read the version of the schema: %w", err)
	}
	if version < 1 {
		return 0, fmt.Errorf("it is no database of berth: its schema is version %d; %s", version, advice)
	}

	rows, err := c.QueryContext(ctx, "SELECT name FROM sqlite_schema WHERE type = 'table'")
	if err != nil {
		return 0, fmt.Errorf("read the schema: %w", err)
	}
	defer func() { _ = rows.Close() }() // Err has its error

	missing := slices.Clone(marks)
	for rows.Next() {
		var table string
		if err := rows.Scan(&table); err != nil {
			return 0, fmt.Errorf("read the schema: %w", err)
		}
		missing = slices.DeleteFunc(missing, func(mark string) bool { return mark == table })
	}

	if err := rows.Err(); err != nil {
		return 0, fmt.Errorf("read the schema: %w", err)
	}
	if len(missing) > 0 {
		return 0, fmt.Errorf("it is no database of berth: it has no table %s; %s", missing[0], advice)
	}

	return version, nil
}

// run runs the migrations that the database has not seen, in one transaction: either all of them happened, or the database is as
// it was. The number of the last one is its user_version.
//
// Foreign keys are not enforced meanwhile, since a table that a migration makes anew is dropped, which would delete what hangs on
// its rows. They are checked at the end instead.
func run(ctx context.Context, c *sql.Conn, all []migration) (err error) {
	if _, err := c.ExecContext(ctx, "PRAGMA foreign_keys = OFF"); err != nil { // has no effect inside a transaction
		return fmt.Errorf("migrate: %w", err)
	}
	defer func() {
		_, on := c.ExecContext(context.WithoutCancel(ctx), "PRAGMA foreign_keys = ON")
		err = errors.Join(err, on)
	}()
	tx, err := c.BeginTx(ctx, nil) // immediate, by the DSN
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}

	defer func() { _ = tx.Rollback() }() // nothing to do after a commit

	var version int // another program may have been at it meanwhile
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}

	for _, m := range all[min(version, len(all)):] {
		if _, err := tx.ExecContext(ctx, m.text); err != nil {
			return fmt.Errorf("migrate: %s: %w", m.name, err)
		}
	}

	if err := checkForeignKeys(ctx, tx); err != nil {
		return err
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", max(version, len(all)))); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}

	return nil
}

// queryer is a connection, or a transaction on one.
type queryer interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}

// checkForeignKeys fails if a row hangs on one that is not there.
func checkForeignKeys(ctx context.Context, tx queryer) error {
	var table, parent string
	err := tx.QueryRowContext(ctx, `SELECT "table", parent FROM pragma_foreign_key_check LIMIT 1`).Scan(&table, &parent)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil
	case err != nil:
		return fmt.Errorf("migrate: %w", err)
	}
	return fmt.Errorf("migrate: a row of %s hangs on one of %s that is not there", table, parent)
}
