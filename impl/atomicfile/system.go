package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"runtime"
)

type operating struct{}

func (operating) Create(path string) (File, error) {
	return os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
}

func (operating) Rename(from, to string) error { return os.Rename(from, to) }

func (operating) Remove(path string) error { return os.Remove(path) }

func (operating) Mkdir(path string) error { return os.Mkdir(path, 0o700) }

func (operating) SyncDir(path string) error {
	if runtime.GOOS == "windows" {
		return nil // it has no such call, and no need of it
	}
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}

// isDir gives an error unless the path is a directory, or a link to one.
func isDir(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.IsDir() {
		err = &fs.PathError{Op: "mkdir", Path: path, Err: errors.New("not a directory")}
	}
	return err
}
