package sqlite

import (
	"bytes"
	_ "embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/berthdev/berth/impl/atomicfile"
)

// schema is the text of what the migrations make, which new files are made from. TestSchema_IsWhatTheMigrationsMake writes it.
//
//go:embed schema.sql
var schema string

// advice says what can be done about a file that is none of berth's.
const advice = "put the database back from a backup, or begin anew in another directory"

// beside are the ends of the names of the files that SQLite keeps beside a database.
var beside = []string{"-wal", "-shm", "-journal"}

// prepareFile makes the directory and the file with modes that SQLite would not choose, or looks whether the file that is there
// may be one of berth's and makes it its owner's alone. A new file is made only where there is no trace of an earlier one. A file
// that exists is not opened: closing it again would drop the locks that this process may hold on it. A crash leaves all
// of a new file or nothing. Its name comes to disk with that of the log, by the first sync of the log, which is before any answer.
func prepareFile(path string, sync bool) (made bool, err error) {
	in, err := atomicfile.MakeDir(filepath.Dir(path))
	if err == nil && sync {
		err = atomicfile.SyncDir(in...)
	}
	if err != nil {
		return false, err
	}

	err = checkFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return true, makeFile(path, sync)
	}
	if err != nil {
		return false, err
	}
	if err := os.Chmod(path, 0o600); err != nil { //nolint:gosec // the path is the operator's own
		return false, err
	}

	for _, end := range beside {
		if err := os.Chmod(path+end, 0o600); err != nil && !errors.Is(err, fs.ErrNotExist) { //nolint:gosec // the path is the operator's own
			return false, err
		}
	}

	return false, nil
}

// checkFile fails if the file is not there, or none that SQLite is to open.
func checkFile(path string) error {
	info, err := os.Lstat(path) //nolint:gosec // the path is the operator's own
	switch {
	case err != nil:
		return err
	case !info.Mode().IsRegular():
		return errors.New("it is no regular file; to keep it elsewhere, make its directory a link")
	case info.Size() == 0:
		return errors.New("it is empty, as no database of berth ever is; " + advice)
	}
	return nil
}

// makeFile makes a file without rows.
func makeFile(path string, sync bool) error {
	for _, end := range beside {
		if _, err := os.Lstat(path + end); !errors.Is(err, fs.ErrNotExist) { //nolint:gosec // the path is the operator's own
			return errors.Join(fmt.Errorf("it is missing, but its %s is there; %s", filepath.Base(path+end), advice), err)
		}
	}

	objects, err := schemaObjects(schema)
	if err != nil {
		return err
	}
	var content bytes.Buffer
	if err := writeNewFile(&content, objects, len(migrations())); err != nil {
		return err
	}

	return atomicfile.Write(path, content.Bytes(), sync)
}
