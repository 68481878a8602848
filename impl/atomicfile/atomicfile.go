// Package atomicfile writes files of which a crash, or a failure of power, leaves all or nothing.
package atomicfile

import (
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"sync/atomic"
)

// Write writes a file for its owner alone, in place of one of that name. With sync its content is on disk when Write returns, and
// its name is once SyncDir was called for the directory; without it a failure of power, but no crash, may leave less. An error
// leaves what was there.
func Write(path string, content []byte, sync bool) error {
	half := path + ".new"
	err := fill(half, content, sync)
	if err == nil {
		err = system().Rename(half, path)
	}
	if err != nil {
		_ = system().Remove(half) // it may not be there
	}
	return err
}

func fill(path string, content []byte, sync bool) error {
	f, err := system().Create(path)
	if err != nil {
		return err
	}
	_, err = f.Write(content)
	if err == nil && sync {
		err = f.Sync()
	}
	return errors.Join(err, f.Close())
}

// MakeDir makes a directory for its owner alone, with those above it that are missing, and gives the directories in which it made
// one: their names are on disk once SyncDir was called for each. One that is there stays as it is.
func MakeDir(path string) (in []string, err error) {
	if in, err = MakeLastDir(path); err == nil || !errors.Is(err, fs.ErrNotExist) || filepath.Dir(path) == path {
		return in, err
	}
	if in, err = MakeDir(filepath.Dir(path)); err != nil {
		return in, err
	}
	last, err := MakeLastDir(path) // once: there are systems that find nothing where a name cannot be made, such as /proc
	return append(in, last...), err
}

// MakeLastDir is MakeDir for a directory in one that is there: it makes none above it, and fails with fs.ErrNotExist if any is missing.
func MakeLastDir(path string) (in []string, err error) {
	err = system().Mkdir(path)
	switch {
	case err == nil:
		return []string{filepath.Dir(path)}, nil
	case errors.Is(err, fs.ErrExist): // or somebody else has made it meanwhile
		return nil, isDir(path)
	}
	return nil, err
}

// SyncDir returns once the names in the directories are on disk.
func SyncDir(paths ...string) error {
	for _, path := range paths {
		if err := system().SyncDir(path); err != nil {
			return err
		}
	}
	return nil
}

// File is a file that is written.
type File interface {
	io.WriteCloser
	Sync() error
}

// System is what the package asks the operating system for.
type System interface {
	// Create opens a file for its owner alone, empty.
	Create(path string) (File, error)
	Rename(from, to string) error
	Remove(path string) error
	// Mkdir makes a directory for its owner alone.
	Mkdir(path string) error
	// SyncDir returns once the names in the directory are on disk.
	SyncDir(path string) error
}

// OS is the operating system().
var OS System = operating{}

var other atomic.Pointer[System]

// Use puts another system in place of the operating one, for a test: there is one for the process, as there is one default VFS of
// SQLite.
func Use(s System) { other.Store(&s) }

func system() System {
	if s := other.Load(); s != nil {
		return *s
	}
	return OS
}
