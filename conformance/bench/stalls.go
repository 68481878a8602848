package main

import (
	"cmp"
	"slices"
	"sync"
	"time"
)

// tooLong is a time to an answer, in ms, of which one is to account for each.
const tooLong = 100

// stalls watches, while load is offered, what keeps the load itself from running: the machine below, and who else runs on this one.
type stalls struct {
	start time.Time
	looks []look
	stop  func()
}

// look is what was seen at a moment.
type look struct {
	at, late time.Duration // after the start; how much later than it was due
	machine  usage
	disk     time.Duration // that somebody had waited for it by then
}

// watchStalls begins to watch.
func watchStalls() *stalls {
	const between = 20 * time.Millisecond
	w, over := &stalls{start: time.Now()}, make(chan struct{})
	var watching sync.WaitGroup
	watching.Go(func() {
		for due := time.Duration(0); ; due = max(due+between, time.Since(w.start)) {
			select {
			case <-over:
				return
			case <-time.After(due - time.Since(w.start)):
			}
			now := time.Since(w.start)
			w.looks = append(w.looks, look{at: now, late: now - due, machine: processors(), disk: diskWait()})
		}
	})
	w.stop = func() {
		close(over)
		watching.Wait()
	}
	return w
}

// during gives what part of the processors' time the machine below took from a moment to another one, with half a second around them, the most
// that a look was late then, and how long somebody waited for the disk, both in ms.
func (w *stalls) during(from, to time.Duration) (taken, late, disk float64) {
	const around = 250 * time.Millisecond
	first, _ := slices.BinarySearchFunc(w.looks, from-around, func(l look, at time.Duration) int { return cmp.Compare(l.at, at) })
	last := first
	for i := first; i < len(w.looks) && w.looks[i].at <= to+around; i++ {
		last, late = i, max(late, milliseconds(w.looks[i].late))
	}
	if first >= len(w.looks) {
		return 0, 0, 0
	}
	return w.looks[first].machine.stolen(w.looks[last].machine), late, milliseconds(w.looks[last].disk - w.looks[first].disk)
}

// stall is the answers above tooLong that came close to each other.
type stall struct {
	at          time.Duration // after the load began, when the first of them was due
	answers     int
	longest     float64 // ms
	kind        byte    // of the longest, in order
	taken, late float64 // of the machine
	disk        float64 // ms in which somebody waited for it
}

// stalled sums up the answers above tooLong.
func (w *stalls) stalled(answers []answer) (all []stall) {
	const apart = time.Second
	slices.SortFunc(answers, func(x, y answer) int { return cmp.Compare(x.due, y.due) })
	var end time.Duration
	for _, a := range answers {
		if a.took <= tooLong {
			continue
		}
		if len(all) == 0 || a.due > end+apart {
			all = append(all, stall{at: a.due})
		}
		s := &all[len(all)-1]
		s.answers++
		end = max(end, a.due+time.Duration(a.took*float64(time.Millisecond)))
		if a.took > s.longest {
			s.longest, s.kind = a.took, order[a.i%len(order)]
		}
		s.taken, s.late, s.disk = w.during(s.at, end)
	}
	return all
}
