package process

import (
	"bytes"
	"io"
	"slices"
	"sync"
)

const (
	ringSize = 256 << 10 // bytes of output kept for each allocation
	lineSize = 64 << 10  // bytes after which a line is passed on without its end
)

// ring keeps the last ringSize bytes written to it. It grows with what is written: most allocations write little.
type ring struct {
	mu   sync.Mutex
	kept []byte // at most 2*ringSize, so that bytes are moved once for each ringSize written
}

func (r *ring) Write(p []byte) (int, error) {
	n := len(p)
	p = p[max(0, n-ringSize):]
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.kept)+len(p) > 2*ringSize {
		r.kept = append(r.kept[:0], r.kept[len(r.kept)-ringSize+len(p):]...)
	}
	r.kept = append(r.kept, p...)
	return n, nil
}

// tail gives a copy of the last ringSize bytes.
func (r *ring) tail() []byte {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.kept[max(0, len(r.kept)-ringSize):])
}

// lines passes the lines of several allocations on to one writer, each in one piece.
type lines struct {
	mu sync.Mutex
	to io.Writer
}

// from gives a writer for one allocation's output. It never fails: what becomes of the copy must not end the allocation.
func (l *lines) from(id string) *prefixed { return &prefixed{lines: l, prefix: id + " | "} }

type prefixed struct {
	lines  *lines
	prefix string
	rest   []byte // a line that has no end yet
}

func (p *prefixed) Write(b []byte) (int, error) {
	if p.lines.to == nil {
		return len(b), nil
	}
	p.rest = append(p.rest, b...)
	from := 0
	for {
		end := bytes.IndexByte(p.rest[from:], '\n')
		if end < 0 {
			break
		}
		p.pass(p.rest[from : from+end])
		from += end + 1
	}
	p.rest = append(p.rest[:0], p.rest[from:]...)
	if len(p.rest) >= lineSize {
		p.flush()
	}
	return len(b), nil
}

// flush passes on a line that has no end.
func (p *prefixed) flush() {
	if len(p.rest) > 0 {
		p.pass(p.rest)
		p.rest = p.rest[:0]
	}
}

func (p *prefixed) pass(line []byte) {
	text := slices.Concat([]byte(p.prefix), line, []byte{'\n'})
	p.lines.mu.Lock()
	defer p.lines.mu.Unlock()
	_, _ = p.lines.to.Write(text)
}
