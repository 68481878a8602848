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

// receiver is what is remembered of a scheme, host and port to which documents go. Most are to be delivered to a few, so each has its
// line.
type receiver struct {
	line    line
	running int // deliveries that are made
	most    int // that there may be; 0: one
	pause   time.Duration
	until   time.Time // no try begins before
}

// receiverOf gives the name of the receiver of an address.
func receiverOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return "" // all that can be posted to nobody
	}
	port := u.Port()
	switch {
	case port != "":
	case u.Scheme == "https":
		port = "443"
	default:
		port = "80"
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
	if !now.Before(r.until) { // else several failed at once
		r.pause = min(max(firstReceiverPause, 2*r.pause), lastReceiverPause)
		r.until = now.Add(r.pause)
	}
}

// delivery is one that waits. Its document stays on disk.
type delivery struct {
	seq      int64
	receiver string
	epoch    int64     // of Webhooks, when it was found
	next     time.Time // of its next try
	over     time.Time // when no further try is made
	size     int       // bytes of its document
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
