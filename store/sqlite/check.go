package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/sqldb"
	"github.com/berthdev/berth/store/transfer"
)

// mostFlaws is how many flaws of a kind are listed.
const mostFlaws = 1000

// Flaw is something in a database that no write leaves there.
type Flaw struct {
	Kind     string
	ID       string // of what has it; empty: the file itself
	Detail   string
	Mendable bool
	Does     string // what mending does or did, or what a person can do
}

// Checked is what a look at a database found.
type Checked struct {
	Flaws   []Flaw
	Pods    map[string]string // statuses of those that are not TERMINATED
	Workers map[string]bool
}

// Check reads all of the database at path, of this program's version of the schema, and changes nothing. Unless it is alone, a server may write
// to it meanwhile: then a flaw is one only if a second look finds it, too.
func Check(ctx context.Context, path string, alone bool) (found Checked, err error) {
	err = withFile(ctx, path, alone, func(c *sql.Conn) (err error) {
		found, err = check(ctx, c)
		return err
	})
	return found, checkFailed(path, err)
}

// Mend mends what of the flaws can be mended, all of it or nothing, and gives what was found and what is left. Nobody may use the database: who
// calls has the lock of its directory.
func Mend(ctx context.Context, path string) (found, left Checked, err error) {
	pool, err := sql.Open("sqlite", dsn(path, true, full))
	if err != nil {
		return found, left, err
	}
	defer func() { err = checkFailed(path, errors.Join(err, pool.Close())) }()
	c, err := pool.Conn(ctx)
	if err != nil {
		return found, left, err
	}
	defer func() { err = errors.Join(err, c.Close()) }()

	if found, err = check(ctx, c); err != nil || !slices.ContainsFunc(found.Flaws, func(f Flaw) bool { return f.Mendable }) {
		return found, found, err
	}
	tx, err := c.BeginTx(ctx, nil) // immediate, by the DSN
	if err != nil {
		return found, left, err
	}
	defer func() { _ = tx.Rollback() }() // nothing to do after a commit

	if slices.ContainsFunc(found.Flaws, isDamage) {
		if _, err := tx.ExecContext(ctx, "REINDEX"); err != nil {
			return found, left, fmt.Errorf("mend: %w", err)
		}
		if still, err := integrity(ctx, tx); err != nil || len(still) > 0 {
			return found, found, err // nobody should write to it
		}
	}
	// What mends one flaw may bring others to light, such as the count of a job that is deleted: all rules take their turn.
	for _, r := range sqldb.FlawRules() {
		for _, statement := range r.Mend {
			if _, err := tx.ExecContext(ctx, statement); err != nil {
				return found, left, fmt.Errorf("mend: %w", err)
			}
		}
	}
	if err := tx.Commit(); err != nil {
		return found, left, err
	}
	left, err = check(ctx, c)
	return found, left, err
}

func checkFailed(path string, err error) error {
	if err != nil {
		return fmt.Errorf("check %s: %w", path, notADatabase(err))
	}
	return nil
}

// check looks for flaws in one transaction.
func check(ctx context.Context, c *sql.Conn) (found Checked, err error) {
	version, err := versionOf(ctx, c)
	if err != nil {
		return found, err
	}
	if err := transfer.CheckVersion(version, len(migrations())); err != nil {
		return found, err
	}
	tx, err := c.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
	if err != nil {
		return found, err
	}
	defer func() { _ = tx.Rollback() }() // it wrote nothing

	if found.Flaws, err = integrity(ctx, tx); err != nil {
		return found, err
	}
	for _, r := range sqldb.FlawRules() {
		err := pairs(ctx, tx, r.Most(strconv.Itoa(mostFlaws)), func(id, detail string) {
			found.Flaws = append(found.Flaws, Flaw{r.Kind, id, detail, r.Mendable(), r.Does})
		})
		if err != nil {
			return found, fmt.Errorf("look for a %s: %w", r.Kind, err)
		}
	}

	found.Pods, found.Workers = map[string]string{}, map[string]bool{}
	err = pairs(ctx, tx, `SELECT id, status FROM pods WHERE gone = 0`, func(id, status string) { found.Pods[id] = status })
	if err == nil {
		err = pairs(ctx, tx, `SELECT id, '' FROM workers`, func(id, _ string) { found.Workers[id] = true })
	}
	return found, err
}

// damagedFile is the kind of what SQLite itself finds.
const damagedFile = "damaged file"

func isDamage(f Flaw) bool { return f.Kind == damagedFile }

// integrity has SQLite look at the file. Whether only an index is damaged shows once it is made again. A table that cannot be read at all is an
// error of who reads it.
func integrity(ctx context.Context, tx *sql.Tx) (all []Flaw, err error) {
	const query = `SELECT integrity_check, '' FROM pragma_integrity_check` // 100 lines of it, at most
	return all, pairs(ctx, tx, query, func(says, _ string) {
		if says != "ok" {
			all = append(all, Flaw{damagedFile, "", says, true, "makes the indexes again; if that does not help, nothing is repaired: restore a backup"})
		}
	})
}

// pairs calls f with two columns of each row.
func pairs(ctx context.Context, tx *sql.Tx, query string, f func(a, b string)) error {
	rows, err := tx.QueryContext(ctx, query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }() // Err has its error
	for rows.Next() {
		var a string
		var b sql.NullString
		if err := rows.Scan(&a, &b); err != nil {
			return err
		}
		f(a, b.String)
	}
	return rows.Err()
}

// Places gives the runtimes on which there may be something that outlives a server.
func Places(ctx context.Context, path string, alone bool) (all []compute.RuntimeAt, err error) {
	err = withFile(ctx, path, alone, func(c *sql.Conn) error {
		tx, err := c.BeginTx(ctx, &sql.TxOptions{ReadOnly: true})
		if err != nil {
			return err
		}
		defer func() { _ = tx.Rollback() }() // it wrote nothing
		return pairs(ctx, tx, `SELECT name, address FROM runtimes`, func(name, address string) {
			all = append(all, compute.RuntimeAt{Name: name, Address: address})
		})
	})
	return all, checkFailed(path, err)
}
