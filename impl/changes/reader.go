package changes

import (
	"strconv"
	"strings"
)

// Reader follows a log. It is for one goroutine.
type Reader struct {
	log  *Log
	next int64 // number of the event that it reads next
	lost bool  // it begins with a reset: what came before it is not known any more
}

// most is how many events are read at once.
const most = 512

// Follow gives what reads the events that come after the one with the id, which Reader.ID gave; an empty one: those that come from now on.
// Where the id is of another log, or of an event that is no longer kept, it begins with a reset. Close ends it.
func (l *Log) Follow(after string) *Reader {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers++; l.gathered == nil && l.ctx.Err() == nil {
		l.begin()
	}

	r := &Reader{log: l, next: l.next}
	if after != "" {
		seen, known := l.sequence(after)
		if r.lost = !known || seen+1 < l.first || seen+1 > l.next; !r.lost {
			r.next = seen + 1
		}
	}
	return r
}

// Close ends the reader, once.
func (r *Reader) Close() {
	r.log.mu.Lock()
	defer r.log.mu.Unlock()
	r.log.readers--
	r.log.left = r.log.clock.Now()
}

// ID gives the id of the event that was read last, after which another reader can go on.
func (r *Reader) ID() string { return r.log.epoch + "-" + strconv.FormatInt(r.next-1, 10) }

// IDOf gives the id of an event.
func (r *Reader) IDOf(e Event) string { return r.log.epoch + "-" + strconv.FormatInt(e.Sequence, 10) }

// sequence reads the number of an id of this log.
func (l *Log) sequence(id string) (int64, bool) {
	number, ours := strings.CutPrefix(id, l.epoch+"-")
	n, err := strconv.ParseInt(number, 10, 64)
	return n, ours && err == nil && n >= 0
}

// Read gives the events that are there, with one of the kind Reset before them if some were missed, and what is closed when there may be more.
// It waits for nobody.
func (r *Reader) Read() (events []Event, more <-chan struct{}) {
	l := r.log
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.kept == nil {
		return nil, l.more
	}
	if r.lost || r.next < l.first {
		r.lost, r.next = false, max(r.next, l.first)
		events = append(events, Event{Sequence: r.next - 1, Kind: Reset, Change: Changed})
	}
	for ; r.next < l.next && len(events) < most; r.next++ {
		events = append(events, l.kept[r.next%Kept])
	}
	if r.next < l.next {
		return events, closed
	}
	return events, l.more
}

// closed is what there is more than.
var closed = func() chan struct{} {
	c := make(chan struct{})
	close(c)
	return c
}()
