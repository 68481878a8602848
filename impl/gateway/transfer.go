package gateway

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/pkg/sftp"

	"github.com/berthdev/berth/impl/runtime"
)

// Clients ask for many pieces of a file at a time, and these are answered beside one another: so they come nearly in order.
const (
	window = 8 << 20 // bytes of a file that are kept behind what was read of it last, and before what can be written of it next
	chunk  = 64 << 10
)

// opened begins a command that reads or writes a file, and gives what ends it: one that reads its input comes to its end, the other is cut off.
func (f *files) opened(ctx context.Context, command []string, stdin io.Reader, stdout io.Writer) (end func() error) {
	ctx, cancel := context.WithCancel(ctx)
	errs, over := &kept{most: 4 << 10}, make(chan struct{})
	var failed error
	go func() {
		defer close(over)
		code, err := f.exec(ctx, runtime.Exec{Command: command, Env: append(f.env, "LC_ALL=C"), Stdin: stdin, Stdout: stdout, Stderr: errs})
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
	return &reading{files: f, name: r.Filepath}, nil
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
}

// ReadAt gives a piece of the file.
func (r *reading) ReadAt(p []byte, at int64) (int, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
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

// more reads on, and forgets what is a window behind.
func (r *reading) more() {
	if len(r.kept) >= 2*window {
		r.first += window
		r.kept = append(r.kept[:0], r.kept[window:]...)
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
		r.out = nil
	}
}

// Close ends the command.
func (r *reading) Close() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop()
	return nil
}

// Filewrite opens a file to write.
func (f *files) Filewrite(r *sftp.Request) (io.WriterAt, error) {
	flags := r.Pflags()
	first := int64(0)
	command := []string{"sh", "-c", `cat > "$1"`, "sh", r.Filepath}
	switch one, err := f.stat(r.Filepath, false); {
	case err == nil && one.IsDir():
		return nil, errors.New("it is a folder")
	case err == nil && flags.Creat && flags.Excl:
		return nil, errors.New("it is there")
	case err == nil && !flags.Trunc && one.Size() > 0: // it is gone on with
		first = one.Size()
		command[2] = `cat >> "$1"`
	case err != nil && !flags.Creat:
		return nil, err
	}
	if err := f.do("sh", "-c", `: >> "$1"`, "sh", r.Filepath); err != nil { // so that what cannot be is said at once
		return nil, err
	}

	out, in := io.Pipe()
	return &writing{in: in, end: f.opened(f.ctx, command, out, nil), next: first, early: map[int64][]byte{}}, nil
}

// writing is a file that is written from one place on: a command takes it in order, and what comes early waits.
type writing struct {
	in  *io.PipeWriter
	end func() error

	mu    sync.Mutex
	next  int64
	early map[int64][]byte
	waits int // bytes of early
}

var errOrder = errors.New("files are written in order here: write it anew, or have an sftp-server in the image")

// WriteAt takes a piece of the file.
func (w *writing) WriteAt(p []byte, at int64) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case at < w.next || w.waits+len(p) > window:
		return 0, errOrder
	case at > w.next:
		w.early[at] = append([]byte(nil), p...)
		w.waits += len(p)
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
			w.waits -= len(piece)
		}
	}
	return len(p), nil
}

// Close ends the file, and reports whether all of it was written.
func (w *writing) Close() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	_ = w.in.Close()
	err := w.end()
	if err == nil && len(w.early) > 0 {
		return errOrder
	}
	return err
}
