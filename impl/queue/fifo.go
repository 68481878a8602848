package queue

import (
	"slices"

	"github.com/berthdev/berth/impl/compute"
)

// waiting is one job in a line: its id and when it began to wait. Its input stays on disk.
type waiting struct {
	id       compute.JobID
	since    int64 // milliseconds since 1970
	in       *fifo
	returned bool // it came back to the front: it may wait for less long than those behind it
	dropped  bool
	plain    bool // nothing but its id, its status and since is to be said of it
}

// fifo is a queue of waiting jobs that gives its memory back as it drains. One that is dropped in the middle is passed over
// when its turn comes.
type fifo struct {
	all  []*waiting
	head int
	live int // not dropped
}

func (f *fifo) push(w *waiting) {
	w.in = f
	f.all = append(f.all, w)
	f.live++
}

// unshift puts one at the front.
func (f *fifo) unshift(w *waiting) {
	w.in = f
	f.live++
	if f.head > 0 {
		f.head--
		f.all[f.head] = w
		return
	}
	f.all = slices.Insert(f.all, 0, w)
}

// pop gives the first one; nil if there is none.
func (f *fifo) pop() *waiting {
	for f.head < len(f.all) {
		w := f.all[f.head]
		f.all[f.head] = nil
		f.head++
		if f.head >= 1024 && f.head*2 >= len(f.all) {
			f.all, f.head = slices.Clone(f.all[f.head:]), 0
		}
		if !w.dropped {
			f.live--
			return w
		}
	}
	f.all, f.head = f.all[:0], 0
	return nil
}

// dropsLeast is how many dropped ones a fifo may have in any case.
const dropsLeast = 1024

// drop has one passed over. Once more of them were dropped than wait, they are taken out: jobs that end where they wait would
// else be met again and again, and never be given back.
func (w *waiting) drop() {
	w.dropped = true
	f := w.in
	f.live--
	switch {
	case f.live == 0:
		*f = fifo{}
	case len(f.all)-f.head-f.live > max(f.live, dropsLeast):
		left := make([]*waiting, 0, 2*f.live)
		for _, one := range f.all[f.head:] {
			if !one.dropped {
				left = append(left, one)
			}
		}
		f.all, f.head = left, 0
	}
}

// oldest gives when the one began to wait that waits longest, in milliseconds since 1970; 0 if there is none. Those at the
// front that were dropped are passed over for good: they are not met again.
func (f *fifo) oldest() (since int64) {
	for f.head < len(f.all) && f.all[f.head].dropped {
		f.all[f.head] = nil
		f.head++
	}
	for _, w := range f.all[f.head:] {
		if w.dropped {
			continue
		}
		if since == 0 || w.since < since {
			since = w.since
		}
		if !w.returned {
			return since // none behind it has waited longer
		}
	}
	return since
}

// before counts those that have waited since before the time, in milliseconds since 1970, but not further than most.
func (f *fifo) before(since int64, most int) (n int) {
	for _, w := range f.all[f.head:] {
		switch {
		case n == most:
			return n
		case w.dropped:
		case w.since < since:
			n++
		case !w.returned:
			return n // none behind it has waited longer
		}
	}
	return n
}
