package httpapi

import (
	"bytes"
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/changes"
	"github.com/berthdev/berth/impl/compute"
)

// eventsPath is where changes are followed.
const eventsPath = "/_berth/events"

// How many requests that last may be under way at a time: of a key, and in all. Each takes one of the connections that there are for everybody.
const (
	eventsOfKey, eventsInAll = 10, 200
	logsOfKey, logsInAll     = 100, 1000
	heldOfKey, heldInAll     = 2048, 1 << 20 // that wait for jobs: half of the connections that a server has by default
	waitingInAll             = 1 << 20       // those, and takes and polls of workers; of a key three quarters of the connections
)

// streams counts requests that last. It is safe for concurrent use.
type streams struct {
	what         string // they are, for who may have no more
	ofKey, inAll int
	with         *streams // that these count with, too; nil: none

	mu  sync.Mutex
	of  map[compute.KeyID]int
	all int
}

func newStreams(what string, ofKey, inAll int) *streams {
	return &streams{what: what, ofKey: ofKey, inAll: inAll, of: map[compute.KeyID]int{}}
}

// begin counts one more stream of the key, until end is called. TooMany if there are too many.
func (s *streams) begin(key compute.KeyID) (end func(), err error) {
	leave := func() {}
	if s.with != nil {
		if leave, err = s.with.begin(key); err != nil {
			return nil, err
		}
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.of[key] >= s.ofKey:
		leave()
		return nil, compute.NoMoreNow("the key has %d %s already, and may have no more at a time", s.ofKey, s.what)
	case s.all >= s.inAll:
		leave()
		return nil, compute.NoMoreNow("there are %d %s already, and there may be no more at a time", s.inAll, s.what)
	}

	s.of[key]++
	s.all++
	return func() {
		leave()
		s.mu.Lock()
		defer s.mu.Unlock()
		s.all--
		if s.of[key]--; s.of[key] == 0 {
			delete(s.of, key)
		}
	}, nil
}

// shown says which events the key sees (rules controls.events.scope, controls.events.all).
func shown(key compute.Key, kinds []controls.FollowedKind) func(changes.Event) bool {
	all, admin, read := key.Allows(compute.ScopeControls), key.Allows(compute.ScopeAdmin), key.Allows(compute.ScopeRESTRead)
	return func(e changes.Event) bool {
		if e.Kind == changes.Reset {
			return true
		}
		if len(kinds) > 0 && !slices.Contains(kinds, controls.FollowedKind(e.Kind)) {
			return false
		}

		switch e.Kind {
		case changes.Host, changes.Key:
			return all || admin
		case changes.Clock, changes.Fault, changes.Journal, changes.Webhook:
			return all
		case changes.Job:
			return all || e.User == key.UserID && key.Allows(compute.ScopeInvoke(e.Endpoint))
		}
		return all || read && e.User == key.UserID
	}
}

// GetEvents is GET /_berth/events.
func (h controlsHandlers) GetEvents(c echo.Context, p controls.GetEventsParams) error {
	key := callerOf(c).Key
	end, err := h.follows.begin(key.ID)
	if err != nil {
		return err
	}
	defer end()

	ctx, cancel := context.WithCancel(contextOf(c))
	defer cancel()
	stream := &eventStream{response: c.Response(), control: http.NewResponseController(c.Response()), clock: h.Clock}
	defer context.AfterFunc(h.Draining, func() {
		cancel()
		_ = stream.limit(time.Second) // a write that waits for a slow reader does not hold up the drain
	})()

	reader := h.Changes.Follow(value(p.LastEventID))
	defer reader.Close()
	f := &follower{
		eventStream: stream, reader: reader, shown: shown(key, p.Kinds), holds: func() bool { return h.Keyring.Holds(key) }, leaving: compute.Leaving(ctx),
	}
	if f.open() == nil {
		f.follow(ctx)
	}
	_ = stream.limit(slowest) // for the end
	return nil
}

// follower sends events to one client. It waits for nobody but this client, and keeps nothing for it: what the client is too slow for is
// forgotten, and it gets a reset instead.
type follower struct {
	*eventStream
	reader  *changes.Reader
	shown   func(changes.Event) bool
	holds   func() bool     // whether the key is still good
	leaving <-chan struct{} // closed when the server is to be left; nil: never
	text    bytes.Buffer
	silence silence
}

// silence rings when nothing was written for so long that it is time for a sign of life, by one of two clocks: that of a test may stand still, and a
// lost connection is to be noticed all the same (rule controls.events.heartbeat).
type silence struct {
	machine, server <-chan time.Time
	stop            func()
}

// begin begins anew.
func (s *silence) begin(clock compute.Clock) {
	s.end()
	machine, halt := compute.SystemClock{}.After(heartbeat)
	server, stop := clock.After(heartbeat)
	*s = silence{machine, server, func() { halt(); stop() }}
}

func (s *silence) end() {
	if s.stop != nil {
		s.stop()
	}
}

// retry begins a stream: the milliseconds after which a client that lost it is to come back.
const retry = "retry: 1000\n\n"

// follow sends what comes until ctx ends, the client goes, or the key is no longer good.
func (f *follower) follow(ctx context.Context) {
	f.text.WriteString(retry)
	events, more := f.reader.Read()
	if len(events) == 0 {
		f.text.WriteString("id: " + f.reader.ID() + "\n\n") // where it stands
	}

	defer f.silence.end()
	for f.holds() && f.send(events) {
		if !f.await(ctx, more) {
			return
		}
		events, more = f.reader.Read()
	}
}

// send writes the events that the key sees, at once; false: the client has gone.
func (f *follower) send(events []changes.Event) bool {
	for _, e := range events {
		if f.shown(e) && f.add(e) != nil {
			return false
		}
	}
	if f.text.Len() == 0 {
		return true
	}
	f.silence.begin(f.clock) // before the client can have read it
	err := f.write(f.text.Bytes())
	f.text.Reset()
	return err == nil
}

// add adds an event to the text.
func (f *follower) add(e changes.Event) error {
	f.text.WriteString("id: " + f.reader.IDOf(e) + "\nevent: " + string(e.Kind) + "\ndata: ")
	err := writeJSON(&f.text, eventView(e)) // ends with a line feed
	f.text.WriteByte('\n')
	return err
}

// await waits until there may be more, or it is time for a sign of life, which it adds with where the stream stands; false: it is over.
func (f *follower) await(ctx context.Context, more <-chan struct{}) bool {
	select {
	case <-more:
		return true
	case <-f.silence.machine:
	case <-f.silence.server:
	case <-f.leaving:
		return false
	case <-ctx.Done():
		return false
	}
	f.text.WriteString(": nothing new\nid: " + f.reader.ID() + "\n\n")
	return true
}

// eventView fills every field that the event has.
func eventView(e changes.Event) controls.Event {
	v := controls.Event{Kind: controls.EventKind(e.Kind), ID: e.ID, Change: controls.EventChange(e.Change), Status: orNil(e.Status)}
	if e.Kind == changes.Job || e.Kind == changes.Worker {
		v.EndpointID = orNil(string(e.Endpoint))
	}
	return v
}
