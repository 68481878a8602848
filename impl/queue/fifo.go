package queue

import (
	"iter"
	"slices"
	"sort"

	"github.com/berthdev/berth/impl/compute"
)

// waiting is one job that waits: its id and when it began to wait. Its input stays on disk. It holds no pointer, so that the
// garbage collector passes over a backlog, however long it is.
type waiting struct {
	key compute.JobKey
	wait
}

// wait is what is known of its waiting: all that its status shows.
type wait struct {
	turn     int64 // its place: ascending from the front to the end, with gaps
	since    int64 // milliseconds since 1970
	returned bool  // it came back to the front: it may wait for less long than those behind it
	plain    bool  // its status has nothing but its id, its status and since
	low      bool  // of low priority
}

// blockLength is how many jobs a block has at most: 3 KB of them, which are moved when one leaves from the middle.
const blockLength = 128

// block is a stretch of a fifo, never empty.
type block struct {
	from int64 // the turn of the first one
	jobs []standing
}

// standing is where a job stands.
type standing struct {
	key  compute.JobKey
	turn int64
}

// fifo is a queue of waiting jobs, in which each stands once and is found by its key. It gives its memory back as it drains,
// from the front or from the middle.
type fifo struct {
	blocks []block
	waits  map[compute.JobKey]wait
}

func (f *fifo) len() int { return len(f.waits) }

// push puts one at the end.
func (f *fifo) push(w waiting) {
	f.drop(w.key)
	size, last := 0, len(f.blocks)-1 // the first block begins small: most are short
	if last >= 0 {
		jobs := f.blocks[last].jobs
		w.turn = jobs[len(jobs)-1].turn + 1
		if len(jobs) == blockLength {
			size, last = blockLength, -1
		}
	}

	if last < 0 {
		f.blocks = append(f.blocks, block{from: w.turn, jobs: make([]standing, 0, size)})
		last = len(f.blocks) - 1
	}
	b := &f.blocks[last]
	b.jobs = append(b.jobs, standing{w.key, w.turn})
	f.note(w)
}

// unshift puts one at the front.
func (f *fifo) unshift(w waiting) {
	f.drop(w.key)
	if len(f.blocks) == 0 {
		f.push(w)
		return
	}
	w.turn = f.blocks[0].jobs[0].turn - 1
	if len(f.blocks[0].jobs) == blockLength {
		f.blocks = slices.Insert(f.blocks, 0, block{})
	}
	b := &f.blocks[0]
	b.from, b.jobs = w.turn, slices.Insert(b.jobs, 0, standing{w.key, w.turn})
	f.note(w)
}

func (f *fifo) note(w waiting) {
	if f.waits == nil {
		f.waits = map[compute.JobKey]wait{}
	}
	f.waits[w.key] = w.wait
}

// pop takes the first one, if there is one.
func (f *fifo) pop() (w waiting, ok bool) {
	if len(f.blocks) == 0 {
		return waiting{}, false
	}
	return f.take(0, 0), true
}

// empty takes all out, and gives them in their order.
func (f *fifo) empty() (all []waiting) {
	for w, ok := f.pop(); ok; w, ok = f.pop() {
		all = append(all, w)
	}
	return all
}

// restore puts those that empty took out back at the front, in their order. Others may know of them by now, and have ended them.
func (f *fifo) restore(all []waiting) {
	for _, w := range slices.Backward(all) {
		w.plain = false
		f.unshift(w)
	}
}

// drop takes a job out, wherever it stands, if it does.
func (f *fifo) drop(k compute.JobKey) {
	if b, j, ok := f.place(k); ok {
		f.take(b, j)
	}
}

// find gives a job, if it stands here.
func (f *fifo) find(k compute.JobKey) (w waiting, ok bool) {
	known, ok := f.waits[k]
	return waiting{k, known}, ok
}

// markStale has the status of a job read from disk, if it stands here.
func (f *fifo) markStale(k compute.JobKey) {
	if w, ok := f.waits[k]; ok {
		w.plain = false
		f.waits[k] = w
	}
}

// place gives in which block a job stands, and where there.
func (f *fifo) place(k compute.JobKey) (b, j int, ok bool) {
	w, ok := f.waits[k]
	if !ok {
		return 0, 0, false
	}
	turn := w.turn
	b = sort.Search(len(f.blocks), func(i int) bool { return f.blocks[i].from > turn }) - 1
	jobs := f.blocks[b].jobs
	j = int(min(turn-f.blocks[b].from, int64(len(jobs)-1))) // its place, unless some before it have left
	if jobs[j].turn != turn {
		j = sort.Search(j, func(i int) bool { return jobs[i].turn >= turn })
	}
	return b, j, true
}

// ahead counts those that stand before a job, if it stands here.
func (f *fifo) ahead(k compute.JobKey) (n int, ok bool) {
	b, n, ok := f.place(k)
	for i := range b {
		n += len(f.blocks[i].jobs)
	}
	return n, ok
}

// take takes out the job at a place.
func (f *fifo) take(b, j int) waiting {
	jobs := f.blocks[b].jobs
	w := waiting{jobs[j].key, f.waits[jobs[j].key]}
	delete(f.waits, w.key)
	if j == 0 {
		jobs = jobs[1:]
	} else if jobs = slices.Delete(jobs, j, j+1); 4*len(jobs) <= cap(jobs) {
		jobs = slices.Clone(jobs)
	}

	if len(jobs) == 0 {
		f.blocks = slices.Delete(f.blocks, b, b+1)
	} else {
		f.blocks[b] = block{jobs[0].turn, jobs}
	}

	if len(f.blocks) == 0 && cap(f.blocks) > 1 { // it was long: a map does not shrink
		*f = fifo{}
	}
	return w
}

// all gives the jobs from the front to the end.
func (f *fifo) all() iter.Seq[waiting] {
	return func(yield func(waiting) bool) {
		for _, b := range f.blocks {
			for _, s := range b.jobs {
				if !yield(waiting{s.key, f.waits[s.key]}) {
					return
				}
			}
		}
	}
}

// oldest gives when the one began to wait that waits longest, in milliseconds since 1970; 0 if there is none.
func (f *fifo) oldest() (since int64) {
	for w := range f.all() {
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
	for w := range f.all() {
		switch {
		case n == most:
			return n
		case w.since < since:
			n++
		case !w.returned:
			return n // none behind it has waited longer
		}
	}
	return n
}
