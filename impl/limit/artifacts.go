package limit

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/berthdev/berth/impl/atomicfile"
	"github.com/berthdev/berth/impl/compute"
)

// Artifacts keeps the artifacts of flash apps in files: a whole one has the id of its build for a name, and of what is no whole one only
// this process knows. It is safe for concurrent use.
type Artifacts struct {
	dir  string
	n    int // that may come at once
	room compute.Share[compute.UserID]

	mu     sync.Mutex
	coming map[string]struct{} // the names of the files of those
}

// NewArtifacts keeps artifacts in the directory, which it makes when it needs it. n may come at once, three quarters of them of one user.
func NewArtifacts(dir string, n int) *Artifacts {
	return &Artifacts{dir: dir, n: n, coming: map[string]struct{}{}}
}

// partEnd is in the names of files that are no whole artifacts.
const partEnd = ".part-"

// Receive takes what comes as the artifact of the build, of an app of the user. Once all of it is on disk, received decides whether it is kept: it
// calls keep, which puts it in the place of an earlier one, or returns why not. Rejected for what has another size, or is not compressed with gzip; Unavailable with the cause
// ErrBusy where too many come at once; else the error of the body, or that of received.
func (a *Artifacts) Receive(user compute.UserID, id compute.FlashBuildID, body io.Reader, size int64, received func(keep func() error) error) error {
	if share := shareOf(a.n); !a.room.Enter(user, a.n, share) {
		detail := fmt.Sprintf("%d artifacts come now, or %d of the user, as many as may be", a.n, share)
		return &compute.Error{Code: compute.Unavailable, Detail: detail, Cause: ErrBusy}
	}
	defer a.room.Leave(user)

	file, over, err := a.part(id)
	if err != nil {
		return notKept(err)
	}
	defer over()

	sent := bufio.NewReader(io.LimitReader(body, size+1))
	if magic, _ := sent.Peek(2); len(magic) == 2 && string(magic) != "\x1f\x8b" {
		return compute.Errorf(compute.Rejected, "the body is not compressed with gzip")
	}
	n, err := io.Copy(file, sent)
	if _, ours := errors.AsType[*os.PathError](err); ours {
		return notKept(err)
	}
	switch {
	case err != nil:
		return err
	case n != size:
		return compute.Errorf(compute.Rejected, "the body has not the %d bytes that were announced as tarballSize", size)
	}

	if err := errors.Join(file.Sync(), file.Close()); err != nil {
		return notKept(err)
	}
	return received(func() error {
		err := os.Rename(file.Name(), a.Path(id))
		if err == nil {
			err = atomicfile.SyncDir(a.dir)
		}
		if err != nil {
			return notKept(err)
		}
		return nil
	})
}

// part makes the file of an artifact that comes. Over removes what is left of it.
func (a *Artifacts) part(id compute.FlashBuildID) (file *os.File, over func(), err error) {
	in, err := atomicfile.MakeDir(a.dir)
	if err == nil {
		err = atomicfile.SyncDir(in...)
	}
	if err != nil {
		return nil, nil, err
	}

	a.mu.Lock()
	defer a.mu.Unlock()
	if file, err = os.CreateTemp(a.dir, string(id)+partEnd); err != nil {
		return nil, nil, err
	}
	name := filepath.Base(file.Name())
	a.coming[name] = struct{}{}

	return file, func() {
		_ = file.Close()           // it is closed already if it is whole
		_ = os.Remove(file.Name()) // it has another name then

		a.mu.Lock()
		defer a.mu.Unlock()
		delete(a.coming, name)
	}, nil
}

func notKept(err error) error {
	return &compute.Error{Code: compute.Unavailable, Detail: "the artifact cannot be kept", Cause: err}
}

// Path gives where the artifact of the build is, if it is there.
func (a *Artifacts) Path(id compute.FlashBuildID) string { return filepath.Join(a.dir, string(id)) }

// Has reports whether the whole artifact is there.
func (a *Artifacts) Has(id compute.FlashBuildID) bool {
	if compute.CheckID(string(id)) != nil { // it comes from clients
		return false
	}
	info, err := os.Stat(a.Path(id))
	return err == nil && info.Mode().IsRegular()
}

// Open opens the artifact of the build for reading. NotFound if it is not there.
func (a *Artifacts) Open(id compute.FlashBuildID) (*os.File, error) {
	if !a.Has(id) {
		return nil, compute.Errorf(compute.NotFound, "the artifact of build %q is not on this server: deploy it again", id)
	}
	return os.Open(a.Path(id))
}

// Keep removes all files but those that were there before known was asked and that it has, and those that come.
func (a *Artifacts) Keep(known func() ([]compute.FlashBuildID, error)) error {
	files, err := os.ReadDir(a.dir)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	ids, err := known()
	if err != nil {
		return err
	}

	keep := map[string]bool{}
	for _, id := range ids {
		keep[string(id)] = true
	}
	for _, f := range files {
		if name := f.Name(); !keep[name] && !a.comes(name) {
			err = errors.Join(err, ignoring(os.Remove(filepath.Join(a.dir, name)), os.ErrNotExist))
		}
	}

	return err
}

// comes reports whether the file is one of an artifact that comes.
func (a *Artifacts) comes(name string) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	_, comes := a.coming[name]
	return comes && strings.Contains(name, partEnd)
}

func ignoring(err, none error) error {
	if errors.Is(err, none) {
		return nil
	}
	return err
}
