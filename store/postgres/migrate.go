package postgres

import (
	"context"
	"embed"
	"errors"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"
)

//go:embed migrations/*.sql
var embedded embed.FS

// migrations are the numbered files that make the schema, one after the other. A file that was released is never changed again.
func migrations() []string {
	names, _ := fs.Glob(embedded, "migrations/*.sql") // sorted by name, and named by number
	all := make([]string, 0, len(names))
	for _, name := range names {
		text, _ := embedded.ReadFile(name)
		all = append(all, string(text))
	}
	return all
}

// migrate brings the schema up to date: all of it, or nothing. Another replica may do so at the same time, and waits. A database that is
// not berth's, or a newer program's, it leaves as it is and says so.
func migrate(ctx context.Context, c *pgx.Conn) error { return migrateBy(ctx, c, migrateFrom) }

// lookAt fails as migrate does, and with errBehind if there is something to migrate. It leaves the database as it is.
func lookAt(ctx context.Context, c *pgx.Conn) error {
	return migrateBy(ctx, c, func(context.Context, pgx.Tx, int) error { return errBehind })
}

// errBehind says that the schema is older than the program.
var errBehind = errors.New("the schema is an older one")

// migrateBy has run bring the schema up to date from its version, unless it is.
func migrateBy(ctx context.Context, c *pgx.Conn, run func(ctx context.Context, tx pgx.Tx, version int) error) error {
	for {
		err := pgx.BeginFunc(ctx, c, func(tx pgx.Tx) error {
			version, err := lockVersion(ctx, tx)
			if err != nil {
				return err
			}
			last := len(migrations())
			if version > last {
				return fmt.Errorf("a newer berth wrote it: its schema is version %d, this program knows %d; run the newer one", version, last)
			}
			if version == last {
				return nil
			}
			return run(ctx, tx, version)
		})
		if !errors.Is(err, errMade) {
			return err
		}
	}
}

const duplicateTable = "42P07"

// errMade says that another replica made berth_schema meanwhile.
var errMade = errors.New("the schema was made meanwhile")

// migrateFrom runs the migrations that come after that version.
func migrateFrom(ctx context.Context, tx pgx.Tx, version int) error {
	all := migrations()
	for i, text := range all[version:] {
		if _, err := tx.Exec(ctx, text); err != nil {
			return fmt.Errorf("migrate to version %d: %w", version+i+1, err)
		}
	}
	if _, err := tx.Exec(ctx, "UPDATE berth_schema SET version = $1", len(all)); err != nil {
		return fmt.Errorf("migrate: %w", err)
	}
	return nil
}

// lockVersion gives the version of the schema, how many migrations made it, and keeps others from changing it until the transaction ends.
func lockVersion(ctx context.Context, tx pgx.Tx) (version int, err error) {
	var mine, others bool
	err = tx.QueryRow(ctx, `SELECT to_regclass('berth_schema') IS NOT NULL,
EXISTS (SELECT 1 FROM pg_catalog.pg_tables WHERE schemaname = current_schema())`).Scan(&mine, &others)
	switch {
	case err != nil:
		return 0, fmt.Errorf("read the schema: %w", err)
	case !mine && others:
		return 0, errors.New("it is no database of berth: it has tables, and no table berth_schema")
	case !mine:
		_, err := tx.Exec(ctx, `CREATE TABLE berth_schema (one integer PRIMARY KEY CHECK (one = 1), version integer NOT NULL);
INSERT INTO berth_schema VALUES (1, 0)`)
		if code := codeOf(err); code == uniqueViolation || code == duplicateTable {
			return 0, errors.Join(errMade, err)
		}
		return 0, err
	}

	if err := tx.QueryRow(ctx, "SELECT version FROM berth_schema FOR UPDATE").Scan(&version); err != nil {
		return 0, fmt.Errorf("read the version of the schema: %w", err)
	}
	return version, nil
}
