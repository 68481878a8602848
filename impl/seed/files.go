package seed

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
)

// The bounds of what is read.
const (
	mostFiles = 200
	mostBytes = 32 << 20 // of all files
	mostNodes = 500_000  // of a file, with what its aliases stand for
	mostItems = 10_000
	mostDepth = 100
)

// file is one file.
type file struct {
	name string // as it is shown
	text []byte
}

// filesAt reads the file, or those of the directory.
func filesAt(path string) (files []file, err error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	names := []string{path}
	if info.IsDir() {
		if names, err = namesIn(path); err != nil {
			return nil, err
		}
	}

	left := int64(mostBytes)
	for _, name := range names {
		text, err := readUpTo(name, left)
		if err != nil {
			return nil, err
		}
		left -= int64(len(text))
		files = append(files, file{name, text})
	}
	return files, nil
}

// namesIn gives the files of a seed in the directory, in the order of their names. It fails if there is none: the path may be wrong.
func namesIn(dir string) (names []string, err error) {
	entries, err := os.ReadDir(dir)
	if err != nil {
		return nil, err
	}
	for _, e := range entries {
		if !e.IsDir() && slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(e.Name())) {
			names = append(names, filepath.Join(dir, e.Name()))
		}
	}
	switch {
	case len(names) == 0:
		return nil, fmt.Errorf("%s has no file that ends in .yaml, .yml or .json", dir)
	case len(names) > mostFiles:
		return nil, fmt.Errorf("%s has %d files; a seed has at most %d", dir, len(names), mostFiles)
	}
	return names, nil
}

func readUpTo(name string, most int64) (text []byte, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	text, err = io.ReadAll(io.LimitReader(f, most+1))
	if err == nil && int64(len(text)) > most {
		err = fmt.Errorf("%s: a seed has at most %d MB", name, mostBytes>>20)
	}
	return text, err
}
