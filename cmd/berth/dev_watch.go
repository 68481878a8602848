package main

import (
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// Watching is by looking: no file system notifies over every kind of mount. It takes a twentieth of a processor at most.
const (
	watchEvery = 500 * time.Millisecond // between two looks
	watchShare = 20                     // a look is followed by a pause of so many times as long
	mostFiles  = 2_000                  // that are watched
	mostPaths  = 20_000                 // that one look passes
)

// stamp is what shows that a file has changed.
type stamp struct {
	at   time.Time
	size int64
}

// watch reports when files change: those named, and all of the same extensions beside and below them. Hidden directories and what is
// installed are passed over, as is the data directory.
type watch struct {
	files  []string
	data   string
	seen   map[string]stamp // at the last change that was reported, or at the beginning
	before map[string]stamp // at the look before
	took   time.Duration    // by the last look
}

func newWatch(files []string, data string) *watch {
	if real, err := filepath.EvalSymlinks(data); err == nil {
		data = real // as a walk finds it
	}
	w := &watch{files: files, data: data}
	w.seen = w.look()
	w.before = w.seen
	return w
}

// pause is how long nobody looks after the last look.
func (w *watch) pause() time.Duration { return max(watchEvery, watchShare*w.took) }

// changed looks, and reports whether anything changed since the last change that it reported. It reports one once it is complete: when two
// looks see the same, and the files named are there.
func (w *watch) changed() bool {
	now := w.look()
	same := maps.Equal(now, w.before)
	w.before = now
	if !same || maps.Equal(now, w.seen) {
		return false
	}

	for _, file := range w.files {
		if _, there := now[file]; !there {
			return false
		}
	}

	w.seen = now
	return true
}

// look gives the stamps of the files.
func (w *watch) look() map[string]stamp {
	begun := time.Now()
	stamps, paths := map[string]stamp{}, 0
	for _, file := range w.files {
		note(stamps, file)
	}

	for _, file := range w.files {
		dir, kind := filepath.Dir(file), filepath.Ext(file)
		if real, err := filepath.EvalSymlinks(dir); err == nil {
			dir = real // a walk does not follow the link that it begins at
		}
		_ = filepath.WalkDir(dir, func(path string, entry fs.DirEntry, err error) error { // what cannot be read is not watched
			paths++
			switch {
			case paths > mostPaths || len(stamps) >= mostFiles:
				return fs.SkipAll
			case err != nil:
				return nil
			case entry.IsDir() && path != dir && w.skips(path, entry.Name()):
				return fs.SkipDir
			case entry.Type().IsRegular() && filepath.Ext(path) == kind:
				note(stamps, path)
			}

			return nil
		})
	}

	w.took = time.Since(begun)
	return stamps
}

// skips reports whether a directory has nothing that somebody edits.
func (w *watch) skips(path, name string) bool {
	if strings.HasPrefix(name, ".") || name == "__pycache__" || name == "node_modules" || name == "site-packages" || path == w.data {
		return true
	}
	_, err := os.Lstat(filepath.Join(path, "pyvenv.cfg"))
	return err == nil
}

func note(stamps map[string]stamp, path string) {
	if info, err := os.Stat(path); err == nil {
		stamps[path] = stamp{info.ModTime(), info.Size()}
	}
}
