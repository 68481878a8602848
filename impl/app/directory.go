package app

import (
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store/sqlite"
)

// What berth keeps in a data directory.
const (
	databaseFile = "berth.db"
	secretFile   = "secret.key"    // the key of what is stored encrypted: who has it and the database can read the registry credentials
	devKeyFile   = "dev.key"       // the key that berth dev shows at every start, which is good for everything
	lockFile     = "lock"          // held while a server runs
	ownerFile    = "runtime-owner" // the name that the directory's containers are found by
	bodiesDir    = "bodies"        // of large bodies while they come
	statesDir    = "states"        // of saved states
	buildsDir    = "builds"        // of archives that are built
	artifactsDir = "artifacts"     // of what flash apps are made of
	acmeDir      = "acme"          // of certificates of an authority and their keys
)

// What ends the names of databases that are made beside that of the directory.
const (
	restoringEnd = ".restoring" // it takes its place
	loadingEnd   = ".loading"   // likewise
	savingEnd    = ".saving"    // it becomes a saved state
)

// removeHalves removes the databases that were not finished when what made them was killed. The directory is locked.
func removeHalves(dir string) error {
	var errs []error
	for _, end := range []string{restoringEnd, loadingEnd, savingEnd} {
		errs = append(errs, sqlite.RemoveFiles(filepath.Join(dir, databaseFile+end)))
	}
	return errors.Join(errs...)
}

// lostAndFound is at the root of some file systems, which a data directory may be.
const lostAndFound = "lost+found"

// ErrNoDirectory is that a directory has no database of berth.
var ErrNoDirectory = errors.New("it is no data directory of berth")

// noDirectory is the error of a data directory whose database cannot be looked at.
func noDirectory(dir string, err error) error {
	if dir == "" {
		return fmt.Errorf("an empty name: %w", ErrNoDirectory)
	}
	if errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return fmt.Errorf("%s: %w: there is no %s", dir, ErrNoDirectory, filepath.Join(dir, databaseFile))
	}
	return err // which names the file
}

// openDirectory makes the data directory if it is missing, sees to it that nobody else can read what is in it, and makes it this
// process's own until unlock. It gives the directories in which it made one, whose names are not on disk yet. Where there is something of an earlier server without its database, it says so: a new one beside it
// would be taken for all there ever was. hasDatabase says whether the database is in the directory.
func openDirectory(dir, version string, hasDatabase bool, log *slog.Logger) (madeIn []string, unlock func() error, err error) {
	if madeIn, err = atomicfile.MakeDir(dir); err != nil {
		return nil, nil, err
	}
	if err := closeToOthers(dir, log); err != nil {
		return nil, nil, err
	}
	if unlock, err = lock(dir, "berth "+version); err != nil {
		return nil, nil, err
	}
	removeFetched(dir, "", log)
	err = removeHalves(dir)
	if hasDatabase {
		err = errors.Join(err, takeBack(filepath.Join(dir, databaseFile)))
	}
	if err := errors.Join(err, checkFiles(dir, hasDatabase, log)); err != nil {
		return nil, nil, errors.Join(err, unlock())
	}

	return madeIn, unlock, nil
}

// closeToOthers sees to it that the directory is its owner's alone. What is in it may be another program's, which would miss it: then
// nothing is changed.
func closeToOthers(dir string, log *slog.Logger) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is no directory", dir)
	case !openToOthers(info):
		return nil
	}

	refused := func(why string) error {
		return fmt.Errorf("%s is open to others (%v), and %s: chmod 700 it, or give berth a directory of its own, such as %s",
			dir, info.Mode(), why, filepath.Join(dir, "berth-data"))
	}
	link, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if link.Mode()&fs.ModeSymlink != 0 {
		return refused("what a link leads to is not changed")
	}
	if info.Mode()&fs.ModeSticky != 0 {
		return refused("is meant to be, as a directory for temporary files is")
	}

	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}

	for _, e := range entries {
		if !isOurs(e.Name()) {
			return refused("has " + e.Name() + " in it, which is not berth's")
		}
	}

	if err := os.Chmod(dir, 0o700); err != nil { //nolint:gosec // a directory is entered
		return fmt.Errorf("%w (%w)", refused("that cannot be changed"), err)
	}
	if len(entries) > 0 {
		log.Warn("the data directory was open to others: now it is its owner's alone", "directory", dir, "mode", info.Mode().String())
	}

	return nil
}

// HoldsDatabase reports whether a data directory has a database.
func HoldsDatabase(dir string) bool {
	_, err := os.Lstat(filepath.Join(dir, databaseFile))
	return err == nil
}

// isOurs reports whether a name in a data directory is one that berth or its database gives.
func isOurs(name string) bool {
	ours := []string{devKeyFile, lockFile, ownerFile, bodiesDir, buildsDir, statesDir, artifactsDir, acmeDir, lostAndFound}
	for _, k := range runtime.Kinds() {
		ours = append(ours, k.Folders...)
	}
	return slices.Contains(ours, strings.TrimSuffix(name, ".new")) || strings.HasPrefix(name, databaseFile) || strings.HasPrefix(name, secretFile) || strings.HasPrefix(name, fetchedPrefix)
}

// checkFiles looks at the files that matter: each is its owner's alone and nobody else's, and the database, if this is where it belongs, is
// there if anything is.
func checkFiles(dir string, hasDatabase bool, log *slog.Logger) error {
	for _, name := range []string{databaseFile, secretFile, devKeyFile} {
		if err := closeFileToOthers(dir, name, log); err != nil {
			return err
		}
	}

	if !hasDatabase {
		return nil
	}
	if _, err := os.Lstat(filepath.Join(dir, databaseFile)); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	for _, name := range []string{secretFile, ownerFile, databaseFile + replacedEnd} {
		if _, err := os.Lstat(filepath.Join(dir, name)); err == nil {
			return fmt.Errorf("%s is there, but %s is missing beside it: put the database back from a backup, or begin anew in another directory",
				filepath.Join(dir, name), databaseFile)
		}
	}

	return nil
}

// closeFileToOthers sees to it that a file, if it is there, is its owner's alone. What a link leads to is not changed: whoever could
// write to the directory once may have made the link.
func closeFileToOthers(dir, name string, log *slog.Logger) error {
	file := filepath.Join(dir, name)
	link, err := os.Lstat(file)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}

	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	if err := checkOwner(dir, file, info); err != nil {
		return err
	}
	if !openToOthers(info) || !info.Mode().IsRegular() { // of what is no file, who opens it says so
		return nil
	}
	if link.Mode()&fs.ModeSymlink != 0 {
		return fmt.Errorf("%s is a link to a file that is open to others (%v): chmod 600 what it leads to", file, info.Mode())
	}
	if err := os.Chmod(file, 0o600); err != nil {
		return fmt.Errorf("%s is open to others (%v), which cannot be changed: chmod 600 it: %w", file, info.Mode(), err)
	}

	log.Warn("a file of the data directory was open to others: now it is its owner's alone. Who could read it has what is in it",
		"file", file, "mode", info.Mode().String())
	return nil
}
