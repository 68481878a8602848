package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"net/url"
	"os"
)

// Copy writes what the database at path has at one moment to the file at to, reads it back, and returns once its content is on
// disk; the name is not yet. It gives the version of the schema, which may be any that this program knows.
//
// Unless it is alone, a server may write to the database meanwhile: Copy is one of its readers, for which no writer waits. The log is not
// begun anew before Copy ends, and grows by what is written. What was deleted is not in the copy.
//
// The file at to must not be there, or be empty. It fails on what is no database of berth, and on what a newer program wrote.
func Copy(ctx context.Context, path, to string, alone bool) (schema int, err error) {
	defer func() {
		if err != nil {
			err = fmt.Errorf("copy %s: %w", path, notADatabase(err))
		}
	}()

	made, err := os.OpenFile(to, os.O_CREATE|os.O_WRONLY, 0o600) // SQLite would let others read it
	if err == nil {
		err = made.Close()
	}
	if err != nil {
		return 0, err
	}

	err = withFile(ctx, path, alone, func(c *sql.Conn) (err error) {
		if schema, err = knownVersion(ctx, c); err != nil {
			return err
		}
		_, err = c.ExecContext(ctx, "VACUUM INTO ?", to)
		return err
	})
	if err != nil {
		return 0, err
	}
	if _, _, err := Verify(ctx, to); err != nil {
		return 0, err
	}

	f, err := os.OpenFile(to, os.O_RDWR, 0)
	if err != nil {
		return 0, err
	}
	return schema, errors.Join(f.Sync(), f.Close())
}

// CheckLog fails if the log of the database at path is damaged: then a copy would have less than was acknowledged, and nobody would be told.
// Nobody may write to it meanwhile: who calls has the lock of its directory.
func CheckLog(path string) error {
	_, err := checkLog(path)
	return err
}

// Verify reads all of the database at path, which nobody changes meanwhile. It fails if that is damaged or inconsistent, with what is wrong of it first, is no database of
// berth, or was written by a newer program. It gives the version of the schema, and the one that Open would bring it to.
func Verify(ctx context.Context, path string) (schema, program int, err error) {
	err = withFile(ctx, path, true, func(c *sql.Conn) (err error) {
		if schema, err = knownVersion(ctx, c); err != nil {
			return err
		}
		var wrong string
		if err := c.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&wrong); err != nil {
			return err
		}
		if wrong != "ok" {
			return fmt.Errorf("it is damaged: %s", wrong)
		}
		return checkForeignKeys(ctx, c)
	})
	if err != nil {
		err = fmt.Errorf("%s: %w", path, notADatabase(err))
	}
	return schema, len(migrations()), err
}

// knownVersion gives the version of the schema, and fails if this program does not know it.
func knownVersion(ctx context.Context, c *sql.Conn) (int, error) {
	version, err := versionOf(ctx, c)
	if err == nil && version > len(migrations()) {
		err = fmt.Errorf("a newer berth wrote it: its schema is version %d, this program knows %d; use the newer one", version, len(migrations()))
	}
	return version, err
}

// withFile opens the database at path to read it, beside whoever uses it.
func withFile(ctx context.Context, path string, alone bool, f func(*sql.Conn) error) (err error) {
	if err := checkFile(path); err != nil {
		return err
	}
	pool, err := openToRead(path, alone && !HasLog(path))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, pool.Close()) }()
	c, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, c.Close()) }()
	return f(c)
}

// HasLog reports whether there is a log beside the file: a server uses the database, or one that did was killed.
func HasLog(path string) bool {
	_, err := os.Lstat(path + "-wal")
	return err == nil
}

// openToRead opens a file that is not changed. One that nobody writes to is taken as it is: otherwise SQLite would make an empty log, and
// leave it there.
func openToRead(path string, unchanging bool, pragmas ...string) (*sql.DB, error) {
	query := url.Values{"mode": {"ro"}, "_pragma": append([]string{"busy_timeout(5000)", "temp_store(MEMORY)"}, pragmas...)}
	if unchanging {
		query.Set("immutable", "1")
	}
	return sql.Open("sqlite", uri(path, query))
}

// Beside gives the files that SQLite may keep beside the database at path.
func Beside(path string) (all []string) {
	for _, end := range beside {
		all = append(all, path+end)
	}
	return all
}
