package control

import (
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Rates counts each user's requests in fixed windows. It counts in memory, so that a request costs no write; Save puts the
// counts into the store, from where a restart takes them up.
type Rates struct {
	store   store.Store
	clock   compute.Clock
	windows []compute.Window

	mu      sync.Mutex
	counts  map[compute.UserID][]compute.RequestCount // in the order of the windows
	changed map[compute.UserID]bool                   // since the last Save
}

// NewRates loads the counts.
func NewRates(ctx context.Context, s store.Store, clock compute.Clock, windows []compute.Window) (*Rates, error) {
	r := &Rates{
		store: s, clock: clock, windows: windows,
		counts: map[compute.UserID][]compute.RequestCount{}, changed: map[compute.UserID]bool{},
	}
	err := s.Read(ctx, func(tx store.Tx) error {
		stored, err := tx.RequestCounts()
		for _, c := range stored {
			for i, w := range windows {
				if w.Name == c.Window {
					r.user(c.UserID)[i] = c
				}
			}
		}
		return err
	})

	return r, err
}

// user gives the user's counts, one for each window. The caller has the lock.
func (r *Rates) user(u compute.UserID) []compute.RequestCount {
	if r.counts[u] == nil {
		for _, w := range r.windows {
			r.counts[u] = append(r.counts[u], compute.RequestCount{UserID: u, Window: w.Name})
		}
	}
	return r.counts[u]
}

// Count counts one request of the user, refused or not (rule rates.counted), and reports where they stand in each window.
func (r *Rates) Count(u compute.UserID) []compute.Rate {
	now := r.clock.Wall()
	r.mu.Lock()
	defer r.mu.Unlock()
	rates := make([]compute.Rate, len(r.windows))
	r.changed[u] = true
	for i, w := range r.windows {
		rates[i] = w.Count(&r.user(u)[i], now)
	}
	return rates
}

// SetQuotas replaces the windows and begins to count anew in each.
func (r *Rates) SetQuotas(windows []compute.Window) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.windows = windows
	clear(r.counts)
	clear(r.changed)
}

// Save stores the counts that changed since the last Save, in the order of the users.
func (r *Rates) Save(ctx context.Context) error {
	var changed []compute.RequestCount
	r.mu.Lock()
	for _, u := range slices.Sorted(maps.Keys(r.changed)) {
		changed = append(changed, r.counts[u]...)
	}
	clear(r.changed)
	r.mu.Unlock()
	if len(changed) == 0 {
		return nil
	}

	err := r.store.Write(ctx, func(tx store.Tx) error {
		for _, c := range changed {
			if err := tx.SetRequestCount(c); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil { // the next Save stores them
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, c := range changed {
			if r.counts[c.UserID] != nil { // the quotas were not set meanwhile
				r.changed[c.UserID] = true
			}
		}
	}

	return err
}

// Forget forgets the users who made no request in any of the present windows.
func (r *Rates) Forget(ctx context.Context) error {
	now := r.clock.Wall()
	idle := func(counts []compute.RequestCount) bool {
		for i, c := range counts {
			if now.Before(c.Start.Add(r.windows[i].Length)) {
				return false
			}
		}
		return true
	}
	var over []compute.RequestCount
	r.mu.Lock()
	for _, counts := range r.counts {
		if idle(counts) {
			over = append(over, counts...)
		}
	}

	r.mu.Unlock()
	if len(over) == 0 {
		return nil
	}
	err := r.store.Write(ctx, func(tx store.Tx) error {
		for _, c := range over {
			if err := tx.DeleteRequestCount(c); err != nil {
				return err
			}
		}
		return nil
	})

	if err == nil {
		r.mu.Lock()
		for u, counts := range r.counts {
			if idle(counts) { // still: who made a request meanwhile is kept, and stored again
				delete(r.counts, u)
				delete(r.changed, u)
			}
		}
		r.mu.Unlock()
	}
	return err
}

// Exceeded gives the exceeded window that is the last to reset.
func Exceeded(rates []compute.Rate) (worst compute.Rate, exceeded bool) {
	for _, rate := range rates {
		if rate.Exceeded && rate.Reset >= worst.Reset {
			worst, exceeded = rate, true
		}
	}
	return worst, exceeded
}

// Seconds rounds up, so that who waits that long has waited enough.
func Seconds(d time.Duration) int64 { return int64((d + time.Second - 1) / time.Second) }
