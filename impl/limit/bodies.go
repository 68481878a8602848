package limit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"time"

	"github.com/berthdev/berth/impl/compute"
)

// ErrTooLarge says that a body of unknown length is longer than it may be.
var ErrTooLarge = errors.New("the body is too large")

// The bounds of bodies in bytes, and the share of one key.
const (
	freeBody = 4 << 10 // a shorter one counts for nothing: its connection takes more

	comingBodies, comingShare     = 40_000_000, 20_000_000
	completeBodies, completeShare = 44_000_000, 44_000_000
	fileBodies, fileShare         = 4_000_000_000, 2_000_000_000

	// leastFile is what a file counts for at least, since how many there may be is bounded, too.
	leastFile = 2_000_000
)

// Bodies reads the bodies of requests, and writes the texts of answers. What they hold of memory does not hang on how fast their clients are: a body for which
// there is no room at once comes into a file, and into memory when it is complete and it is its turn.
type Bodies struct {
	coming   *Memory // of bodies that come, or came, straight into memory
	complete *Memory // of those from files
	texts    *Memory // of answers
	files    *Memory // of the disk
	dir      string
	wait     time.Duration // for room in a file
}

// NewBodies makes files in the directory, which it makes when it needs it; it removes what another process left in it. A body waits
// for room in a file for so long at most: as long as one that stalls has it.
func NewBodies(dir string, wait time.Duration) (*Bodies, error) {
	if err := os.RemoveAll(dir); err != nil {
		return nil, err
	}
	disk := int64(fileBodies)
	if files := openFiles(); files > 0 {
		disk = min(disk, int64(files)/8*leastFile)
	}
	return &Bodies{
		coming: NewMemory(comingBodies, comingShare), complete: NewMemory(completeBodies, completeShare), texts: NewMemory(textBodies, textShare),
		files: NewMemory(disk, min(disk/2, fileShare)), dir: dir, wait: wait,
	}, nil
}

// Read reads the body of a request of the key, of the length, which is -1 if nobody knows it, and of most bytes at most. leave is
// to be called when its memory is not needed any more, more than once if need be. The error is that of ctx or of the body,
// ErrTooLarge, or Unavailable if no file can be written.
func (b *Bodies) Read(ctx context.Context, key compute.KeyID, body io.Reader, length, most int64) (text []byte, leave func(), err error) {
	if length > most {
		return nil, nil, ErrTooLarge
	}
	if 0 <= length && length <= freeBody {
		text = make([]byte, length)
		_, err = io.ReadFull(body, text)
		return text, func() {}, err
	}

	room := length
	if length < 0 {
		room = min(piece, most+1)
	}
	leave, ok := b.coming.Try(key, room)
	if !ok {
		return b.readFile(ctx, key, nil, body, length, most)
	}

	text = make([]byte, room)
	n, err := readUpTo(body, text)
	switch full := n == len(text); {
	case length >= 0 && full, length < 0 && !full && errors.Is(err, io.EOF):
		return text[:n], leave, nil
	case !full:
		leave()
		if errors.Is(err, io.EOF) {
			err = io.ErrUnexpectedEOF
		}
		return nil, nil, err
	}
	defer leave() // of unknown length, and long

	return b.readFile(ctx, key, text, body, length, most)
}

// readUpTo reads until the text is full, or an error comes: unlike that of io.ReadFull it is the body's own, which shows whether one of unknown
// length has ended or was cut off.
func readUpTo(body io.Reader, text []byte) (n int, err error) {
	for n < len(text) && err == nil {
		var more int
		more, err = body.Read(text[n:])
		n += more
	}
	return n, err
}

// readFile reads a body, of which the head has come, by way of a file.
func (b *Bodies) readFile(ctx context.Context, key compute.KeyID, head []byte, body io.Reader, length, most int64) (text []byte, leave func(), err error) {
	room := length
	if length < 0 {
		room = most
	}
	closed, err := b.files.enterWithin(ctx, b.wait, key, max(room, leastFile), "too many large bodies come at once")
	if err != nil {
		return nil, nil, err
	}

	defer closed()
	f, err := b.create()
	if err != nil {
		return nil, nil, noFile(err)
	}

	defer func() { _, _ = f.Close(), os.Remove(f.Name()) }() // removed already, where a file that is open can be

	size, err := fill(f, head, body, most)
	if err != nil {
		return nil, nil, err
	}

	switch {
	case size > most:
		return nil, nil, ErrTooLarge
	case size < length:
		return nil, nil, io.ErrUnexpectedEOF
	}

	if leave, err = b.complete.Enter(ctx, key, size); err != nil {
		return nil, nil, err
	}
	text = make([]byte, size)
	if _, err := f.ReadAt(text, 0); err != nil && size > 0 {
		leave()
		return nil, nil, noFile(err)
	}

	return text, leave, nil
}

// create makes a file that has no name any more, and so is gone with the process, however that ends.
func (b *Bodies) create() (*os.File, error) {
	f, err := os.CreateTemp(b.dir, "body-")
	if errors.Is(err, os.ErrNotExist) {
		if err = os.MkdirAll(b.dir, 0o700); err == nil {
			f, err = os.CreateTemp(b.dir, "body-")
		}
	}
	if err == nil {
		_ = os.Remove(f.Name())
	}
	return f, err
}

// fill writes the head and then the body to the file, at most a byte more than most, and gives how long that is. The buffer is
// small, since a client that stalls holds it.
func fill(f *os.File, head []byte, body io.Reader, most int64) (size int64, err error) {
	n, err := f.Write(head)
	if err != nil {
		return 0, noFile(err)
	}
	size = int64(n)

	buffer := make([]byte, 16<<10)
	for size <= most {
		n, err := body.Read(buffer)
		if n > 0 {
			if _, err := f.Write(buffer[:n]); err != nil {
				return 0, noFile(err)
			}
			size += int64(n)
		}
		if errors.Is(err, io.EOF) {
			return size, nil
		}

		if err != nil {
			return 0, err
		}
	}

	return size, nil
}

func noFile(err error) error {
	return &compute.Error{Code: compute.Unavailable, Detail: "the body cannot be kept while it comes", Cause: fmt.Errorf("file of a body: %w", err)}
}
