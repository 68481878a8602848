package process

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/runtime"
)

const (
	bookSize = 256 << 10 // bytes of lines that are kept for each allocation, at least; at most it is twice that
	lineSize = 64        // bytes that a line counts besides its text
)

// book keeps the last lines of an allocation, over all of its runs.
type book struct {
	mu    sync.Mutex
	lines []runtime.Line
	size  int
	last  int64
	more  chan struct{} // closed when a line is added
}

func newBook() *book { return &book{more: make(chan struct{})} }

func (b *book) add(l runtime.Line) {
	b.mu.Lock()
	defer b.mu.Unlock()

	b.last = runtime.Number(l.At, b.last)
	l.Position = b.last
	b.lines = append(b.lines, l)
	b.size += lineSize + len(l.Text)

	if b.size > 2*bookSize { // and not at every line: what is kept is moved
		drop := 0
		for ; b.size > bookSize; drop++ {
			b.size -= lineSize + len(b.lines[drop].Text)
		}
		b.lines = slices.Delete(b.lines, 0, drop)
	}

	close(b.more)
	b.more = make(chan struct{})
}

// read gives what the query asks for and is there, and what to wait for if there is to be more.
func (b *book) read(q runtime.LogQuery) ([]runtime.Line, <-chan struct{}) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return q.Select(b.lines), b.more
}

// follow calls emit with what the query asks for until over is closed and everything was read.
func (b *book) follow(ctx context.Context, q runtime.LogQuery, over <-chan struct{}, emit func(runtime.Line) error) error {
	for {
		ended := !q.Follow
		select {
		case <-over: // seen before the lines are read: none is missed
			ended = true
		default:
		}

		lines, more := b.read(q)
		for _, l := range lines {
			if err := emit(l); err != nil {
				return err
			}
			q.After = l.Position
		}

		if ended {
			return ctx.Err()
		}
		q.Tail = 0

		select {
		case <-more:
		case <-over:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// lines passes the lines of several allocations on to one writer, each in one piece.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

// pass never fails: what becomes of the copy must not end the allocation.
func (l *lines) pass(id, text string) {
	if l.to == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = io.WriteString(l.to, id+" | "+text+"\n")
}

// copy reads a stream of the run to its end, line by line, into the book and to the output.
func (h *Runtime) copy(r *run, stream runtime.Stream, from *os.File) {
	splitter := runtime.Splitter{Stream: stream, Emit: func(l runtime.Line) error {
		r.log.add(l)
		h.output.pass(r.id, l.Text)
		return nil
	}}

	reader := bufio.NewReaderSize(&rest{from: from}, 32<<10)
	for {
		piece, err := reader.ReadSlice('\n') // or what the buffer holds of a longer line
		_ = splitter.Write(time.Now().UTC(), string(piece))
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			_ = splitter.Flush()
			return
		}
	}
}
