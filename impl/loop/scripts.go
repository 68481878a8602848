package loop

import (
	"context"
	"maps"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/script"
	"github.com/berthdev/berth/store"
)

// Scripts are the scripts of endpoints, as their rows have them. It is safe for concurrent use.
type Scripts struct {
	Hint  Hint // is given when there may be something to do by them
	store store.Store
	stale atomic.Bool // the rows may say something else
	fresh atomic.Bool // they did, and the scripted workers have not looked at it

	reading sync.Mutex // while the rows are read: who asks meanwhile waits for what they say
	mu      sync.Mutex
	known   map[compute.EndpointID]known
}

// known is a script that was read.
type known struct {
	document string
	*script.Script
}

// NewScripts makes Scripts.
func NewScripts(s store.Store) *Scripts {
	all := &Scripts{store: s, Hint: NewHint(), known: map[compute.EndpointID]known{}}
	all.stale.Store(true)
	all.fresh.Store(true)
	return all
}

// Changed has the rows read again.
func (s *Scripts) Changed() {
	s.stale.Store(true)
	s.fresh.Store(true)
	s.Hint.Give()
}

// reread reads the rows, if they may say something else.
func (s *Scripts) reread(ctx context.Context) error {
	s.reading.Lock()
	defer s.reading.Unlock()
	if !s.stale.Swap(false) {
		return nil
	}
	var rows []compute.EndpointScript
	err := s.store.Read(ctx, func(tx store.Tx) (err error) {
		rows, err = tx.ListScripts()
		return err
	})
	if err != nil {
		s.stale.Store(true)
		return err
	}

	s.mu.Lock()
	there := map[compute.EndpointID]bool{}
	for _, row := range rows {
		there[row.EndpointID] = true
	}
	for id := range s.known {
		if !there[id] {
			delete(s.known, id)
		}
	}
	s.mu.Unlock()

	for _, row := range rows {
		if _, err := s.parsed(row); err != nil {
			return err
		}
	}
	return nil
}

// parsed gives the script of a row.
func (s *Scripts) parsed(row compute.EndpointScript) (*script.Script, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if k := s.known[row.EndpointID]; k.document == row.Document {
		return k.Script, nil
	}
	read, err := script.Parse(row.Document)
	if err == nil {
		s.known[row.EndpointID] = known{row.Document, read}
	}
	return read, err
}

// of gives the script of an endpoint, as it was read last; nil if it has none.
func (s *Scripts) of(id compute.EndpointID) *script.Script {
	if s == nil {
		return nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[id].Script
}

// keep forgets all but those of the endpoints, of which the others are no more, or were made since: the rows say which.
func (s *Scripts) keep(endpoints map[compute.EndpointID]compute.Endpoint) {
	s.mu.Lock()
	defer s.mu.Unlock()
	before := len(s.known)
	maps.DeleteFunc(s.known, func(id compute.EndpointID, _ known) bool {
		_, there := endpoints[id]
		return !there
	})
	if len(s.known) < before {
		s.stale.Store(true)
	}
}

// none reports whether no endpoint has one, as the rows were read last.
func (s *Scripts) none() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.known) == 0
}

// count has f do something by the script of the endpoint, and stores what it counts. It reports whether there is a script. f may be called again.
func (s *Scripts) count(ctx context.Context, id compute.EndpointID, f func(*script.Script, *script.Counts)) (found bool, err error) {
	err = s.store.Write(ctx, func(tx store.Tx) error {
		var row compute.EndpointScript
		if row, found, err = tx.Script(id); err != nil || !found {
			return err
		}
		read, err := s.parsed(row)
		if err != nil {
			return err
		}
		counts, err := script.ReadCounts(row.Counts)
		if err != nil {
			return err
		}

		f(read, &counts)
		row.Counts = counts.Text()
		return tx.SetScript(row)
	})
	return found, err
}

// start counts a worker that is started, and gives how long it takes until its container is up, and then until it is ready; scripted is false
// if no script says so.
func (s *Scripts) start(ctx context.Context, id compute.EndpointID) (up, ready time.Duration, scripted bool, err error) {
	if s == nil {
		return 0, 0, false, nil
	}
	if err = s.reread(ctx); err != nil || s.of(id) == nil {
		return 0, 0, false, err
	}
	_, err = s.count(ctx, id, func(one *script.Script, c *script.Counts) { up, ready, scripted = one.Start(c) })
	return up, ready, scripted, err
}
