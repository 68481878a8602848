package audit

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// The interfaces at which somebody is refused.
const (
	REST     = "rest"
	Queue    = "queue" // and that of workers
	GraphQL  = "graphql"
	Controls = "controls" // all below /_berth/: the console signs in there
	SSH      = "ssh"
)

// mostPending is how many rows wait at most for a storage that takes no writes; what comes beyond is not counted.
const mostPending = 4 * compute.RefusalsNamed

// Refusals counts who is refused. It counts in memory, by minute, client, interface, key and reason, so that a flood of refusals costs no
// write each; Save puts the counts into the store. What a sudden end of the process loses are the refusals since the last Save.
type Refusals struct {
	store store.Store
	clock compute.Clock

	mu      sync.Mutex
	minute  time.Time                // that named and clients are of
	named   map[compute.Refusal]bool // that have client and key in that minute
	clients map[string]int           // how many of them each client has
	pending map[compute.Refusal]int64
}

// NewRefusals makes one that has counted nothing.
func NewRefusals(s store.Store, clock compute.Clock) *Refusals {
	return &Refusals{store: s, clock: clock, named: map[compute.Refusal]bool{}, clients: map[string]int{}, pending: map[compute.Refusal]int64{}}
}

// Note counts the refusal that the error is, if it refuses a key (compute.RefusedKey). client gives the address of who was refused, and is
// asked for a refusal alone.
func (r *Refusals) Note(at string, client func() string, err error) {
	if of, is := errors.AsType[*compute.RefusedKey](err); is {
		r.Add(compute.Refusal{Interface: at, Reason: of.Reason, Client: client(), KeyID: of.KeyID, UserID: of.UserID})
	}
}

// Add counts a refusal. Where there is no room in its minute for one more row with client and key, it has neither.
func (r *Refusals) Add(x compute.Refusal) {
	x.At, x.Count = r.clock.Wall().Truncate(time.Minute), 0
	x.Client, x.KeyID, x.UserID = bounded(x.Client), compute.KeyID(bounded(string(x.KeyID))), compute.UserID(bounded(string(x.UserID)))
	r.mu.Lock()
	defer r.mu.Unlock()

	if !x.At.Equal(r.minute) {
		r.minute = x.At
		clear(r.named)
		clear(r.clients)
	}
	if !r.names(x) {
		x.Client, x.KeyID, x.UserID = "", "", ""
	}

	if _, counted := r.pending[x]; counted || len(r.pending) < mostPending {
		r.pending[x]++
	}
}

// names reports whether the refusal is counted with client and key: it is, or there is room for it. A client that has used up what all share, by
// a new key in each request, leaves the others what is reserved. The caller has the lock.
func (r *Refusals) names(x compute.Refusal) bool {
	if r.named[x] {
		return true
	}

	const all = compute.RefusalsNamed + compute.RefusalsReserved
	room := len(r.named) < compute.RefusalsNamed || len(r.named) < all && r.clients[x.Client] < compute.RefusalsOfEach
	if room {
		r.named[x] = true
		r.clients[x.Client]++
	}
	return room
}

// Save stores what was counted since the last Save, oldest first. Errors as for store.Store.Write; what it could not store, the next one does.
func (r *Refusals) Save(ctx context.Context) error {
	r.mu.Lock()
	counted := r.pending
	r.pending = map[compute.Refusal]int64{}
	r.mu.Unlock()
	if len(counted) == 0 {
		return nil
	}

	rows := slices.SortedFunc(maps.Keys(counted), earlier)
	for i := range rows {
		rows[i].Count = counted[rows[i]]
	}
	err := r.store.Write(ctx, func(tx store.Tx) error { return tx.AddRefusals(rows) })
	if err == nil {
		return nil
	}

	r.mu.Lock()
	defer r.mu.Unlock()
	for x, n := range counted {
		if _, again := r.pending[x]; again || len(r.pending) < mostPending {
			r.pending[x] += n
		}
	}
	return err
}

// earlier orders refusals by time, and then as they are told apart.
func earlier(a, b compute.Refusal) int {
	return cmp.Or(
		a.At.Compare(b.At), cmp.Compare(a.Client, b.Client), cmp.Compare(a.Interface, b.Interface), cmp.Compare(a.Reason, b.Reason),
		cmp.Compare(a.KeyID, b.KeyID), cmp.Compare(a.UserID, b.UserID),
	)
}
