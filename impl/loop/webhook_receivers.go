package loop

import (
	"cmp"
	"container/heap"
	"net/url"
	"time"
)

// receiverMost is how many tries of one receiver are under way at once. One that is new, or that is in trouble, has one; with
// each that it takes it has twice as many.
const receiverMost = 8

// The pause before a receiver that is in trouble is tried again doubles from the first to the last. It is no longer than that
// between two tries of a delivery.
const (
	firstReceiverPause = time.Second
	lastReceiverPause  = webhookPause
)

// The HTTP statuses by which a receiver says that it is in trouble: the second and all above.
const (
	busy     = 429
	troubled = 500
)

// receiver is a scheme, host and port to which documents go. Most are to be delivered to a few, so each has its line.
type receiver struct {
	name    string
	line    line
	running int // tries under way
	most    int // that there may be
	pause   time.Duration
	until   time.Time // no try begins before

	at    time.Time // when its next try is due
	turn  int64     // among those that are due at the same time
	place int       // in the order
}

// receiverOf gives the name of the receiver of an address.
func receiverOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "" // all that can be posted to nobody
	}
	port := u.Port()
	if port == "" {
		port = u.Scheme
	}
	return u.Scheme + "://" + u.Hostname() + ":" + port
}

// answered notes how the receiver answered a try: with a status, or not at all if that is 0.
func (r *receiver) answered(status int, now time.Time) {
	if status != 0 && status != busy && status < troubled {
		r.most, r.pause, r.until = min(2*r.most, receiverMost), 0, time.Time{}
		return
	}
	r.most = 1
	if !now.Before(r.until) { // else that is said of several at once
		r.pause = min(max(firstReceiverPause, 2*r.pause), lastReceiverPause)
		r.until = now.Add(r.pause)
	}
}

// delivery is one that waits. Its document stays on disk.
type delivery struct {
	seq  int64
	next time.Time // of its next try
	over time.Time // when no further try is made
	size int       // bytes of its document
}

// line are the deliveries of a receiver, those first that are due first.
type line []delivery

func (l *line) add(d delivery) { heap.Push(l, d) }

func (l *line) take() delivery { return heap.Pop(l).(delivery) }

// Len is for the heap, as are the next ones.
func (l line) Len() int { return len(l) }

func (l line) Less(i, j int) bool {
	return cmp.Or(l[i].next.Compare(l[j].next), cmp.Compare(l[i].seq, l[j].seq)) < 0
}

func (l line) Swap(i, j int) { l[i], l[j] = l[j], l[i] }

func (l *line) Push(d any) { *l = append(*l, d.(delivery)) }

func (l *line) Pop() any {
	last := len(*l) - 1
	d := (*l)[last]
	*l = (*l)[:last]
	return d
}

// nowhere is the place of a receiver that does not stand in the order.
const nowhere = -1

// order are receivers with something to deliver, those first whose turn it is.
type order []*receiver

func (o *order) add(r *receiver) { heap.Push(o, r) }

// remove takes the receiver out, if it stands there.
func (o *order) remove(r *receiver) {
	if r.place != nowhere {
		heap.Remove(o, r.place)
	}
}

// Len is for the heap, as are the next ones.
func (o order) Len() int { return len(o) }

func (o order) Less(i, j int) bool {
	return cmp.Or(o[i].at.Compare(o[j].at), cmp.Compare(o[i].turn, o[j].turn)) < 0
}

func (o order) Swap(i, j int) {
	o[i], o[j] = o[j], o[i]
	o[i].place, o[j].place = i, j
}

func (o *order) Push(r any) {
	one := r.(*receiver)
	one.place = len(*o)
	*o = append(*o, one)
}

func (o *order) Pop() any {
	last := len(*o) - 1
	r := (*o)[last]
	(*o)[last] = nil
	*o = (*o)[:last]
	r.place = nowhere
	return r
}
