package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/impl/compute"
)

// OpenState opens a copy of the file of a saved state at path, which is made anew and brought to this program's schema. The file itself stays
// as it is. It fails as Open does on what a newer program wrote and on what is no database of berth.
func OpenState(ctx context.Context, file, path string, clock compute.Clock) (_ *DB, err error) {
	if err := RemoveFiles(path); err != nil {
		return nil, err
	}
	if err := copyFile(file, path); err != nil {
		return nil, err
	}
	d, err := Open(ctx, path, clock)
	if err != nil {
		return nil, errors.Join(fmt.Errorf("the state %s: %w", filepath.Base(file), err), RemoveFiles(path))
	}
	return d, nil
}

// RemoveFiles removes a database, what SQLite keeps beside it, and what was left of one that was to get its name. Nobody may have it open.
func RemoveFiles(path string) error {
	var errs []error
	for _, end := range append([]string{""}, beside...) {
		if err := os.Remove(path + end); err != nil && !os.IsNotExist(err) {
			errs = append(errs, err)
		}
	}
	return errors.Join(append(errs, (&Target{path: path}).remove())...)
}

// copyFile makes a file of one's own with the content of another.
func copyFile(from, to string) (err error) {
	if err := checkFile(from); err != nil {
		return err
	}
	in, err := os.Open(from)
	if err != nil {
		return err
	}
	defer func() { _ = in.Close() }() // it was read only
	out, err := os.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	_, err = io.Copy(out, in)
	return errors.Join(err, out.Sync(), out.Close())
}
