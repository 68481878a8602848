package faulttest

import (
	"io/fs"
	"path/filepath"
	"syscall"

	"github.com/berthdev/berth/impl/atomicfile"
)

// system is what package atomicfile asks for, on the disks of tests.
type system struct{}

// failure is the error of a call; nil: it does not fail.
func failure(kind Kind, path string) error {
	d := diskOf(path)
	if d == nil {
		return nil
	}
	switch d.call(kind, path) {
	case Failing:
		return &fs.PathError{Op: string(kind), Path: path, Err: syscall.EIO}
	case Full:
		return &fs.PathError{Op: string(kind), Path: path, Err: syscall.ENOSPC}
	case None, Locked:
	}
	return nil
}

// onDisk has the disk of the path note what the system did.
func onDisk(path string, err error, note func(*Disk)) error {
	if d := diskOf(path); d != nil && err == nil {
		note(d)
	}
	return err
}

func (system) Create(path string) (atomicfile.File, error) {
	if err := failure(Create, path); err != nil {
		return nil, err
	}
	f, err := atomicfile.OS.Create(path)
	d := diskOf(path)
	if err != nil || d == nil {
		return f, err
	}
	n := d.opened(path)
	d.wrote(n, 0, nil)
	return &file{File: f, disk: d, inode: n, path: path}, nil
}

func (system) Rename(from, to string) error {
	if err := failure(Rename, to); err != nil {
		return err
	}
	return onDisk(to, atomicfile.OS.Rename(from, to), func(d *Disk) { d.renamed(naming{from: from, to: to}) })
}

func (system) Remove(path string) error {
	if err := failure(Delete, path); err != nil {
		return err
	}
	return onDisk(path, atomicfile.OS.Remove(path), func(d *Disk) { d.renamed(naming{from: path}) })
}

func (system) Mkdir(path string) error {
	if err := failure(Mkdir, path); err != nil {
		return err
	}
	return onDisk(path, atomicfile.OS.Mkdir(path), func(d *Disk) { d.renamed(naming{to: path, inode: &inode{dir: true}}) })
}

func (system) SyncDir(path string) error {
	in := filepath.Join(path, ".") // the root of a disk is on it, too, for this
	if err := failure(DirSync, filepath.Join(in, "names")); err != nil {
		return err
	}
	return onDisk(filepath.Join(in, "names"), atomicfile.OS.SyncDir(path), func(d *Disk) { d.syncedNames(in) })
}

// file is a file on the disk of a test. One goroutine writes it.
type file struct {
	atomicfile.File
	disk  *Disk
	inode *inode
	path  string
	end   int64
}

func (f *file) Write(b []byte) (int, error) {
	if err := failure(FileWrite, f.path); err != nil {
		n, _ := f.File.Write(b[:len(b)/2])
		f.noted(b[:n])
		return n, err
	}
	n, err := f.File.Write(b)
	f.noted(b[:n])
	return n, err
}

func (f *file) noted(b []byte) {
	if len(b) > 0 {
		f.disk.wrote(f.inode, f.end, append([]byte(nil), b...))
		f.end += int64(len(b))
	}
}

func (f *file) Sync() error {
	if err := failure(FileSync, f.path); err != nil {
		f.disk.unsynced(f.inode)
		return err
	}
	err := f.File.Sync()
	if err == nil {
		f.disk.synced(f.inode)
	}
	return err
}
