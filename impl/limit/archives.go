package limit

import (
	"errors"
	"fmt"
	"io"
	"os"
	"sync"

	"github.com/berthdev/berth/impl/compute"
)

// Archives keeps what is sent to be built, in files, until it is built.
type Archives struct {
	dir  string
	most int64 // bytes of each
	n    int   // that there may be
	room compute.Share[compute.UserID]
}

// NewArchives keeps n archives of most bytes each in the directory, which it makes when it needs it; it removes what another process left
// in it. One user has three quarters of them at most.
func NewArchives(dir string, most int64, n int) (*Archives, error) {
	return &Archives{dir: dir, most: most, n: n}, os.RemoveAll(dir)
}

// Read takes an archive of a user, of the length, which is -1 if nobody knows it. Its file has no name, and is gone with the process; to close
// it makes room for another one. The error is that of the body, ErrTooLarge, or Unavailable: with the cause ErrBusy if there is no room.
func (a *Archives) Read(user compute.UserID, body io.Reader, length int64) (_ io.ReadCloser, err error) {
	if length > a.most {
		return nil, ErrTooLarge
	}
	if share := shareOf(a.n); !a.room.Enter(user, a.n, share) {
		detail := fmt.Sprintf("%d builds are under way, or %d of the user, as many as may be", a.n, share)
		return nil, &compute.Error{Code: compute.Unavailable, Detail: detail, Cause: ErrBusy}
	}

	one := &archive{leave: sync.OnceFunc(func() { a.room.Leave(user) })}
	defer func() {
		if err != nil {
			_ = one.Close()
		}
	}()
	if err := os.MkdirAll(a.dir, 0o700); err != nil {
		return nil, noArchive(err)
	}
	if one.File, err = os.CreateTemp(a.dir, "archive-"); err != nil {
		return nil, noArchive(err)
	}
	_ = os.Remove(one.Name())

	size, err := io.Copy(one.File, io.LimitReader(body, a.most+1))
	if _, ours := errors.AsType[*os.PathError](err); ours {
		return nil, noArchive(err)
	}
	if err != nil {
		return nil, err
	}
	if size > a.most {
		return nil, ErrTooLarge
	}
	if _, err := one.Seek(0, io.SeekStart); err != nil {
		return nil, noArchive(err)
	}

	return one, nil
}

// shareOf is how many of n places one user may have.
func shareOf(n int) int { return max(1, n*3/4) }

func noArchive(err error) error {
	return &compute.Error{Code: compute.Unavailable, Detail: "the archive cannot be kept", Cause: err}
}

// archive is a file that takes room.
type archive struct {
	*os.File // nil: it could not be made
	leave    func()
}

// Close removes it.
func (a *archive) Close() (err error) {
	defer a.leave()
	if a.File != nil {
		err = a.File.Close()
	}
	return err
}
