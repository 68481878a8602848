package changes

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

const (
	// Window is how long changes are gathered: what happens to a thing meanwhile is one event.
	Window = 100 * time.Millisecond
	// Kept is how many events are kept, for those who are slow or come back. It bounds what is gathered in a window, too.
	Kept = 8192
	// Linger is how long events are kept for those who come back, when nobody follows any more.
	Linger = 30 * time.Second
)

// Log is the last events of a server. It is safe for concurrent use; nil keeps nothing.
type Log struct {
	clock compute.Clock // the machine's: what a test makes of the server's clock does not keep events from those who follow
	epoch string        // of this log: the numbers of another one mean nothing here
	store store.Store
	stop  context.CancelFunc
	ctx   context.Context
	tasks sync.WaitGroup

	following atomic.Bool // or somebody did a moment ago: events are kept

	mu       sync.Mutex
	readers  int
	left     time.Time     // when the last reader went
	gathered map[thing]int // place in waiting
	waiting  []Event
	lost     bool          // something happened that is not in waiting
	kept     []Event       // the event of a number is at that number modulo Kept
	first    int64         // number of the oldest one that is kept
	next     int64         // number of the one that comes
	more     chan struct{} // closed when there are more, or nobody is to wait any more
	kick     chan struct{} // receives when something is gathered
	owners   map[compute.EndpointID]compute.UserID
}

// New makes a log of the changes of the store: of those that are made through Log.Store. The epoch is a word that no other log has.
func New(clock compute.Clock, epoch string, s store.Store) *Log {
	l := &Log{clock: clock, epoch: epoch, store: s, first: 1, next: 1, more: make(chan struct{}), kick: make(chan struct{}, 1)}
	l.ctx, l.stop = context.WithCancel(context.Background())
	return l
}

// Close ends what the log does beside. Who follows it waits in vain.
func (l *Log) Close() error {
	l.stop()
	l.tasks.Wait()
	return nil
}

// Note adds what happened; it costs next to nothing while nobody follows. Of one event, the Sequence is not looked at.
func (l *Log) Note(all ...Event) {
	if l == nil || !l.following.Load() {
		return
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	if l.gathered == nil {
		return // the last one has gone
	}
	for _, e := range all {
		l.gather(e)
	}
	l.wake()
}

// Lose says that something happened that nobody can tell: whoever follows is to read everything again.
func (l *Log) Lose() {
	if l == nil || !l.following.Load() {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lost = true
	l.wake()
}

// gather adds an event to those of the window. The caller has the lock.
func (l *Log) gather(e Event) {
	switch at, there := l.gathered[e.thing()]; {
	case there:
		l.waiting[at] = e.after(l.waiting[at])
	case len(l.waiting) == Kept:
		l.lost = true
	default:
		l.gathered[e.thing()] = len(l.waiting)
		l.waiting = append(l.waiting, e)
	}
}

func (l *Log) wake() {
	select {
	case l.kick <- struct{}{}:
	default:
	}
}

// begin has events kept from now on. The numbers leave one out, so that who saw the last event before knows that something is missing. The
// caller has the lock.
func (l *Log) begin() {
	l.gathered, l.waiting, l.owners = map[thing]int{}, nil, map[compute.EndpointID]compute.UserID{}
	l.kept, l.lost = make([]Event, Kept), false
	l.next++
	l.first = l.next
	l.following.Store(true)
	l.tasks.Go(l.run)
}

// end keeps nothing any more if nobody has followed for a while, and reports whether it did.
func (l *Log) end() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.readers > 0 || l.clock.Now().Sub(l.left) < Linger {
		return false
	}
	l.following.Store(false)
	l.gathered, l.waiting, l.owners, l.kept = nil, nil, nil, nil
	return true
}

// run passes on what was gathered, a window after the first of it, until nobody has followed for a while.
func (l *Log) run() {
	for {
		linger, stop := l.clock.After(Linger)
		select {
		case <-l.kick:
			stop()
			if compute.Sleep(l.ctx, l.clock, Window) != nil {
				return
			}
			l.pass()
		case <-linger:
		case <-l.ctx.Done():
			stop()
			return
		}
		if l.end() {
			return
		}
	}
}

// pass gives what was gathered to those who follow.
func (l *Log) pass() {
	l.mu.Lock()
	batch, lost := l.waiting, l.lost
	l.gathered, l.waiting, l.lost = map[thing]int{}, nil, false
	owners := l.owners
	l.mu.Unlock()
	if len(batch) == 0 && !lost {
		return
	}
	gone := map[compute.EndpointID]bool{}
	for i := range batch {
		l.own(&batch[i], owners, gone)
	}

	l.mu.Lock()
	defer l.mu.Unlock()
	if lost { // nothing before is worth anything
		l.next++
		l.first = l.next
	}
	for _, e := range batch {
		e.Sequence = l.next
		l.kept[l.next%Kept] = e
		l.next++
		if e.Kind == Reset {
			l.first = l.next
		}
	}
	l.first = max(l.first, l.next-Kept)
	close(l.more)
	l.more = make(chan struct{})
}

// own says whose the event is, if that is known of its endpoint alone; of one that is gone nobody knows it any more. Only run calls it, without the
// lock, and so it alone changes owners.
func (l *Log) own(e *Event, owners map[compute.EndpointID]compute.UserID, gone map[compute.EndpointID]bool) {
	id := e.Endpoint
	if e.Kind == Endpoint && e.User != "" {
		owners[compute.EndpointID(e.ID)] = e.User
		if e.Change == Deleted {
			delete(owners, compute.EndpointID(e.ID))
		}
	}
	if e.User != "" || id == "" || gone[id] {
		return
	}

	user, known := owners[id]
	if !known {
		err := l.store.Read(l.ctx, func(tx store.Tx) error {
			endpoint, err := tx.Endpoint(id)
			user = endpoint.UserID
			return err
		})
		if err != nil {
			gone[id] = true
			if compute.CodeOf(err) != compute.NotFound && l.ctx.Err() == nil {
				l.Lose() // its user is not told of it
			}
			return
		}
		owners[id] = user
	}
	e.User = user
}
