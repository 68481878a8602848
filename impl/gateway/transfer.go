package gateway

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"sync"

	"github.com/pkg/sftp"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// Clients ask for many pieces of a file at a time, and these are answered beside one another: so they come nearly in order.
const (
	window = 2 << 20 // bytes of a file that are kept: what was read of it last, or what comes before it can be written
	chunk  = 64 << 10
)

// How many files may be open at a time: each may have a window in memory.
const (
	mostFiles       = 32 // of all users
	mostFilesOfUser = 16
)

var errFiles = errors.New("too many files are open")

// opens counts a file that the user has open, until closes is called. False: there may be no more.
func (g *Gateway) opens(user compute.UserID) bool {
	return g.files.Enter(user, mostFiles, mostFilesOfUser)
}

func (g *Gateway) closes(user compute.UserID) { g.files.Leave(user) }

// opened begins a command that reads or writes a file, and gives what ends it: one that reads its input comes to its end, the other is cut off.
func (f *files) opened(ctx context.Context, command []string, stdin io.Reader, stdout io.Writer) (end func() error) {
	ctx, cancel := context.WithCancel(ctx)
	errs, over := &kept{most: 4 << 10}, make(chan struct{})
	var failed error
	go func() {
		defer close(over)
		code, err := f.part(ctx, runtime.Exec{Command: command, Env: slices.Concat(f.env, []string{"LC_ALL=C"}), Stdin: stdin, Stdout: stdout, Stderr: errs})
		if err == nil && code != 0 {
			err = failure(errs.text.String())
		}
		failed = err
		if out, is := stdout.(*io.PipeWriter); is {
			_ = out.CloseWithError(err) // nil is the end
		}
		if in, is := stdin.(*io.PipeReader); is {
			_ = in.CloseWithError(errors.Join(errEnded, err))
		}
	}()
	return func() error {
		if stdin == nil {
			cancel()
		}
		<-over
		cancel()
		return failed
	}
}

var errEnded = errors.New("the command for it has ended")

// Fileread opens a file to read.
func (f *files) Fileread(r *sftp.Request) (io.ReaderAt, error) {
	one, err := f.stat(r.Filepath, false)
	if err != nil {
		return nil, err
	}
	if one.IsDir() {
		return nil, errors.New("it is a folder")
	}
	if err := f.do("test", "-r", r.Filepath); err != nil {
		return nil, sftp.ErrSSHFxPermissionDenied
	}
	if !f.opens(f.by.User) {
		return nil, errFiles
	}
	return &reading{files: f, name: r.Filepath, open: true}, nil
}

// reading is a file that is read: one command writes it, from a place on, and a window of what it wrote is kept.
type reading struct {
	files *files
	name  string

	mu    sync.Mutex
	out   *io.PipeReader // nil: no command runs
	end   func() error
	kept  []byte // what was read last
	first int64  // where that begins
	over  error  // after kept there is nothing more
	open  bool   // it counts among the files that are
}

// ReadAt gives a piece of the file.
func (r *reading) ReadAt(p []byte, at int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.open {
		return 0, os.ErrClosed
	}
	if last := r.first + int64(len(r.kept)); r.out == nil || at < r.first || at > last+window {
		r.from(at)
	}
	for r.over == nil && r.first+int64(len(r.kept)) < at+int64(len(p)) {
		r.more()
	}

	if have := at - r.first; have < int64(len(r.kept)) {
		n := copy(p, r.kept[have:])
		if n < len(p) {
			return n, r.over
		}
		return n, nil
	}
	return 0, r.over
}

// from has a command write the file from a place on.
func (r *reading) from(at int64) {
	r.stop()
	out, in := io.Pipe()
	r.end = r.files.opened(r.files.ctx, []string{"tail", "-c", fmt.Sprintf("+%d", at+1), "--", r.name}, nil, in)
	r.out, r.kept, r.first, r.over = out, nil, at, nil
}

// more reads on, and forgets what is furthest behind.
func (r *reading) more() {
	if r.kept == nil {
		r.kept = make([]byte, 0, 2*chunk) // most files are short
	}
	if len(r.kept) >= window {
		r.first += window / 2
		r.kept = append(r.kept[:0], r.kept[window/2:]...)
	}
	old := len(r.kept)
	r.kept = append(r.kept, make([]byte, chunk)...)
	n, err := r.out.Read(r.kept[old:])
	r.kept, r.over = r.kept[:old+n], err
}

func (r *reading) stop() {
	if r.out != nil {
		_ = r.out.CloseWithError(errEnded)
		_ = r.end() // it was cut off
	}
	r.out, r.kept = nil, nil
}

// Close ends the command.
func (r *reading) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	if r.open {
		r.open = false
		r.files.closes(r.files.by.User)
	}
	return nil
}

// Filewrite opens a file to write.
func (f *files) Filewrite(r *sftp.Request) (io.WriterAt, error) {
	flags := r.Pflags()
	size := int64(0)
	one, err := f.stat(r.Filepath, false)
	there := err == nil
	switch {
	case err == nil && one.IsDir():
		return nil, errors.New("it is a folder")
	case err == nil && flags.Creat && flags.Excl:
		return nil, errors.New("it is there")
	case err == nil && !flags.Trunc:
		size = one.Size()
	case err != nil && !flags.Creat:
		return nil, err
	}
	if err := f.do(creating(r, there)...); err != nil { // so that what cannot be is said at once
		return nil, err
	}

	if !f.opens(f.by.User) {
		return nil, errFiles
	}
	w := &writing{files: f, name: r.Filepath, size: size, appends: flags.Append, open: true, early: map[int64][]byte{}}
	if size == 0 {
		w.from(0)
	}
	return w, nil
}

// creating is the command that makes a file that is to be written, or empties it if that was asked for. A new one has the mode that the client names,
// which is all that OpenSSH says of it; package sftp has that in the bytes of the attributes alone.
func creating(r *sftp.Request, there bool) []string {
	flags := r.Pflags()
	switch {
	case !there && len(r.Attrs) == 4:
		mode := binary.BigEndian.Uint32(r.Attrs) & 0o777 &^ 0o022
		return []string{"sh", "-c", `umask 077; : >> "$1" && chmod "$2" "$1"`, "sh", r.Filepath, fmt.Sprintf("%04o", cmp.Or(mode, 0o600))}
	case flags.Trunc && flags.Append:
		return []string{"sh", "-c", `: > "$1"`, "sh", r.Filepath}
	}
	return []string{"sh", "-c", `: >> "$1"`, "sh", r.Filepath}
}

// writing is a file that is written from one place on: a command takes it in order, and what comes early waits.
type writing struct {
	files *files
	name  string
	size  int64 // of what is there: it is gone on with, or written anew, as the first piece says

	appends bool // every piece goes to the end, whatever place it names: that only says in which order they were sent

	mu    sync.Mutex
	open  bool           // it counts among the files that are
	in    *io.PipeWriter // nil: it is not known yet where the first piece is
	end   func() error
	next  int64
	early map[int64][]byte
	waits int // what early takes
}

// pieceCost is what a piece that waits takes in memory beside its bytes.
const pieceCost = 128

func cost(piece []byte) int { return len(piece) + pieceCost }

var errOrder = errors.New("files are written in order here: write it anew, or have an sftp-server in the image")

// from has a command take what comes from a place on.
func (w *writing) from(at int64) {
	script := `cat > "$1"`
	switch {
	case at > 0 || w.appends:
		script = `cat >> "$1"`
	case w.size > 0: // what is not written again stays
		script = `cat 1<> "$1"`
	}
	out, in := io.Pipe()
	w.in, w.next, w.end = in, at, w.files.opened(w.files.ctx, []string{"sh", "-c", script, "sh", w.name}, out, nil)
}

// WriteAt takes a piece of the file.
func (w *writing) WriteAt(p []byte, at int64) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.open {
		return 0, os.ErrClosed
	}
	if len(p) == 0 {
		return 0, nil
	}
	if w.in == nil && (at == 0 || at == w.size) {
		w.from(at)
	}
	if w.appends {
		if _, twice := w.early[at]; twice || w.waits+cost(p) > window {
			if err := w.flush(); err != nil {
				return 0, err
			}
		}
		if w.in != nil {
			at = max(at, w.next)
		}
	}

	switch {
	case w.in != nil && at < w.next || w.waits+cost(p) > window:
		return 0, errOrder
	case w.in == nil || at > w.next:
		if old, twice := w.early[at]; twice {
			w.waits -= cost(old)
		}
		w.early[at] = slices.Clone(p)
		w.waits += cost(p)
		return len(p), nil
	}

	for piece := p; piece != nil; {
		if _, err := w.in.Write(piece); err != nil {
			return 0, err
		}
		w.next += int64(len(piece))
		at := w.next
		if piece = w.early[at]; piece != nil {
			delete(w.early, at)
			w.waits -= cost(piece)
		}
	}
	return len(p), nil
}

// flush appends what waits, in its order, though something seems to be missing before it.
func (w *writing) flush() error {
	if w.in == nil {
		w.from(w.size)
	}
	for _, at := range slices.Sorted(maps.Keys(w.early)) {
		piece := w.early[at]
		if _, err := w.in.Write(piece); err != nil {
			return err
		}
		w.next = max(w.next, at+int64(len(piece)))
		w.waits -= cost(piece)
		delete(w.early, at)
	}
	return nil
}

// Close ends the file, and reports whether all of it was written.
func (w *writing) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.open {
		w.open = false
		defer w.files.closes(w.files.by.User)
	}

	var err error
	if w.appends && len(w.early) > 0 {
		err = w.flush()
	}
	if w.in != nil {
		_ = w.in.Close()
		err = errors.Join(err, w.end())
	}
	if err == nil && len(w.early) > 0 {
		return errOrder
	}
	return err
}
