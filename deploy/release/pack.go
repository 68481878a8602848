package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"time"
)

// file is a file to pack.
type file struct {
	name    string // in the archive
	from    string // its path, or
	text    []byte // what it has
	program bool   // it can be run
}

func (f file) read() ([]byte, error) {
	if f.from == "" {
		return f.text, nil
	}
	return os.ReadFile(f.from)
}

func (f file) mode() os.FileMode {
	if f.program {
		return 0o755
	}
	return 0o644
}

// create makes a file, and the directory that it is in, and has pack write it.
func create(path string, pack func(io.Writer) error) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(pack(f), f.Close())
}

// writeTar packs files as a .tar.gz whose times are all the same one, and which nobody owns.
func writeTar(path string, at time.Time, files []file) error {
	return create(path, func(w io.Writer) error {
		squeezed, err := gzip.NewWriterLevel(w, gzip.BestCompression)
		if err != nil {
			return err
		}
		out := tar.NewWriter(squeezed)

		for _, f := range files {
			content, err := f.read()
			if err != nil {
				return err
			}
			if err := out.WriteHeader(&tar.Header{Name: f.name, Mode: int64(f.mode()), Size: int64(len(content)), ModTime: at, Format: tar.FormatUSTAR}); err != nil {
				return err
			}
			if _, err := out.Write(content); err != nil {
				return err
			}
		}
		return errors.Join(out.Close(), squeezed.Close())
	})
}

// writeZip packs files as a zip, with the same time for all of them.
func writeZip(path string, at time.Time, files []file) error {
	return create(path, func(w io.Writer) error {
		out := zip.NewWriter(w)
		for _, f := range files {
			content, err := f.read()
			if err != nil {
				return err
			}
			header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: at}
			header.SetMode(f.mode())

			entry, err := out.CreateHeader(header)
			if err != nil {
				return err
			}
			if _, err := entry.Write(content); err != nil {
				return err
			}
		}
		return out.Close()
	})
}
