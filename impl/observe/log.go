package observe

import (
	"bytes"
	"context"
	"io"
	"sync"
)

// logRoom is how many bytes of the log wait for its reader at most; a second time as many may be being written.
const logRoom = 1 << 20

// Log writes what is logged to a writer that may be slow or never come back, as a standard error does that nobody reads: whoever
// logs never waits for it. What finds no room is dropped and counted. It is safe for concurrent use.
type Log struct {
	to      io.Writer
	dropped func(lines int64) // is called, once lines can be written again, with how many could not

	mu      sync.Mutex
	waiting []byte
	spare   []byte // the memory of what was written last
	lost    int64  // lines, in all
	logged  int64  // of them
	writing bool
	idle    *sync.Cond
}

// NewLog makes a log that is written to a writer, and calls dropped when lines could not be written and others can again.
func NewLog(to io.Writer, dropped func(lines int64)) *Log {
	l := &Log{to: to, dropped: dropped}
	l.idle = sync.NewCond(&l.mu)
	return l
}

// Write takes lines to write them later. It never fails.
func (l *Log) Write(lines []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting)+len(lines) > logRoom {
		l.lost += count(lines)
		return len(lines), nil
	}
	l.waiting = append(l.waiting, lines...)
	if !l.writing {
		l.writing = true
		go l.writeAll()
	}
	return len(lines), nil
}

// Dropped gives how many lines were not written, in all.
func (l *Log) Dropped() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.lost
}

// Flush waits until everything was written, or ctx ends.
func (l *Log) Flush(ctx context.Context) {
	defer context.AfterFunc(ctx, func() {
		l.mu.Lock() // so that none falls between the look below and its wait
		defer l.mu.Unlock()
		l.idle.Broadcast()
	})()
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.writing && ctx.Err() == nil {
		l.idle.Wait()
	}
}

// writeAll writes what waits, until nothing does.
func (l *Log) writeAll() {
	l.mu.Lock()
	defer l.mu.Unlock()

	written := false // whether somebody reads
	for len(l.waiting) > 0 || written && l.lost > l.logged {
		lines := l.waiting
		l.waiting = l.spare[:0]
		missed := int64(0)
		if written {
			missed = l.lost - l.logged
			l.logged = l.lost
		}

		l.mu.Unlock()
		if missed > 0 {
			l.dropped(missed) // which logs a line: now nothing waits, so it has room
		}
		var err error
		if len(lines) > 0 {
			_, err = l.to.Write(lines)
		}

		l.mu.Lock()
		l.spare = lines
		if written = err == nil; !written { // whoever read has gone
			l.lost += count(lines)
		}
	}

	l.writing = false
	l.idle.Broadcast()
}

func count(lines []byte) int64 { return int64(max(1, bytes.Count(lines, []byte("\n")))) }
