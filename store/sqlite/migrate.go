package sqlite

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"io/fs"
)

//go:embed migrations/*.sql
var migrations embed.FS

// migrate runs the numbered files that the database has not seen, in one transaction; the number of the last one is its
// user_version. A file that was released is never changed again.
func migrate(ctx context.Context, c *sql.Conn) error {
	files, err := fs.Glob(migrations, "migrations/*.sql") // sorted by name, and named by number
	if err != nil {
		return err
	}
	tx, err := c.BeginTx(ctx, nil) // immediate, by the DSN
	if err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	defer func() { _ = tx.Rollback() }() // nothing to do after a commit
	var version int
	if err := tx.QueryRowContext(ctx, "PRAGMA user_version").Scan(&version); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if version > len(files) {
		return fmt.Errorf("a newer berth wrote it: its schema is version %d, this program knows %d; run the newer one", version, len(files))
	}
	if version == len(files) {
		return nil
	}
	for _, name := range files[version:] {
		text, err := migrations.ReadFile(name)
		if err != nil {
			return err
		}
		if _, err := tx.ExecContext(ctx, string(text)); err != nil {
			return fmt.Errorf("migrate: %s: %w", name, err)
		}
	}
	if _, err := tx.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d", len(files))); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	if err := tx.Commit(); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}
