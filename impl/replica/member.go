package replica

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

const (
	// Lease is for how long a replica owns the store from when it last renewed it.
	Lease = 6 * time.Second
	// renewTick is how often the owner renews it.
	renewTick = Lease / 3
	// lookTick is how often the others look who it is.
	lookTick = time.Second
	// lookPause is how long they leave the database alone between two looks, whoever calls for one: each request that waits does.
	lookPause = 100 * time.Millisecond
	// margin is how much earlier than the database the owner takes its lease for over.
	margin = time.Second
)

// Service is what a replica does while it owns the store.
type Service interface {
	http.Handler
	// StopWork ends what is done unasked, and what requests wait for. Requests are answered still, those of workers that end, too.
	StopWork() error
	// Close ends it, with what StopWork does if that was not done.
	Close() error
}

// Settings are what a Member is made of.
type Settings struct {
	Me     store.Replica
	Owners store.Owners
	Key    []byte // which all replicas share, and nobody else has
	Log    *slog.Logger
	// Refuse answers a request with a failure, as its interface does.
	Refuse func(http.ResponseWriter, *http.Request, error)
	// Reads reports whether a request without a body only reads, so that another owner may be asked if its answer was lost. nil: none does.
	Reads func(*http.Request) bool
	// Serve makes the service of the owner of that epoch. ctx ends when Serve has returned, and before if the replica owns the store no more.
	Serve func(ctx context.Context, epoch int64) (Service, error)
}

// Member is one replica among those that share a store. It answers requests, or sends them on.
type Member struct {
	settings Settings
	proof    string // of a request that a replica sends on
	moved    string // of an answer that says that its replica does not own the store: pods' answers go the same way
	forward  *forwarder
	senders  senders
	hurries  atomic.Bool  // it is about to stop
	seen     atomic.Int64 // the last epoch
	others   atomic.Pointer[[]store.Replica]
	now      atomic.Pointer[view]
	look     chan struct{} // somebody has found that the owner may be another one
	stale    atomic.Int64  // epoch of a service whose memory may differ from the rows; 0: none
	away     atomic.Bool   // the store cannot be reached
	ended    chan struct{} // closed when the service of before has ended; nil: there was none
	overlong overlong      // another owner that has more than a lease
}

// view is what a member knows of the owner. Another one takes its place; it is never changed.
type view struct {
	owner   store.Owner
	service Service       // nil: this replica does not own the store
	until   time.Time     // of the lease, by the machine's clock, without the margin
	changed chan struct{} // closed when there is another view
}

// Join makes a Member. It fails if another replica runs with other settings, and names them.
func Join(ctx context.Context, s Settings) (*Member, error) {
	others, err := s.Owners.Join(ctx, s.Me, Lease)
	if err != nil {
		return nil, err
	}
	for _, other := range others {
		if err := agree(s.Me, other); err != nil {
			return nil, errors.Join(err, s.Owners.Leave(ctx, s.Me))
		}
	}

	m := &Member{settings: s, proof: proofOf(s.Key, "a replica"), moved: proofOf(s.Key, "not the owner"), look: make(chan struct{}, 1)}
	m.forward = newForwarder(m)
	m.now.Store(&view{changed: make(chan struct{})})
	return m, nil
}

// agree fails if two replicas have settings that must be the same and are not.
func agree(me, other store.Replica) error {
	for _, name := range slices.Sorted(maps.Keys(me.Settings)) {
		if mine, theirs := me.Settings[name], other.Settings[name]; mine != theirs {
			return fmt.Errorf("the replica at %s has %s %q, and this one has %q: they must be the same", other.Address, name, theirs, mine)
		}
	}
	return nil
}

// Run keeps the replica's place among the others until ctx ends. It calls started once, when there is an owner.
func (m *Member) Run(ctx context.Context, started func(error)) {
	failing := false
	for ctx.Err() == nil {
		wait, err := m.step(ctx)
		if ctx.Err() != nil { // what ended with it says nothing about the store
			return
		}
		look := m.look
		if m.away.Store(store.TroubleOf(err) == store.Away); m.away.Load() { // each request would have it looked again, in vain
			wait, look = lookTick/4, nil
		}
		m.logChange(failing, err)
		failing = err != nil
		if started != nil && (err != nil || m.now.Load().owner.ID != "") {
			started(err)
			started = nil
		}

		stepped := compute.SystemClock{}.Now()
		if pause(ctx, wait, look) {
			pause(ctx, lookPause-compute.SystemClock{}.Now().Sub(stepped), nil)
		}
	}
}

// pause waits, and reports whether a look was called for meanwhile.
func pause(ctx context.Context, wait time.Duration, look <-chan struct{}) bool {
	tick, stop := compute.SystemClock{}.After(wait)
	defer stop()
	select {
	case <-tick:
	case <-look:
		return true
	case <-ctx.Done():
	}
	return false
}

// logChange has the log say once that the owner cannot be found out, and once that it can.
func (m *Member) logChange(failing bool, err error) {
	switch {
	case err != nil && !failing:
		m.settings.Log.Warn("who owns the store cannot be found out", "error", err)
	case err == nil && failing:
		m.settings.Log.Info("who owns the store is known again")
	}
}

// step renews the lease, or finds out whose it is, and has the service follow. It gives when to do so again.
func (m *Member) step(ctx context.Context) (wait time.Duration, err error) {
	asked := compute.SystemClock{}.Now()
	within, cancel := context.WithTimeout(ctx, Lease)
	defer cancel()
	owner, err := m.find(within)
	if err != nil {
		return lookTick, err // what this replica owns it owns until another one can
	}
	others, err := m.settings.Owners.Join(within, m.settings.Me, Lease)
	if err != nil {
		return lookTick, err
	}
	m.others.Store(&others)

	before := m.now.Load()
	switch {
	case owner.ID == m.settings.Me.ID && owner.Epoch == m.stale.Load():
		err := m.settings.Owners.Release(within, m.settings.Me)
		m.lose(before)
		return 0, err
	case owner.ID != m.settings.Me.ID:
		m.lose(before)
		if owner.Left <= 0 { // nobody owns it
			owner = store.Owner{}
		}
		m.see(&view{owner: owner})
		if m.ending() { // until then it takes nothing, and its end calls for a look
			return lookTick, nil
		}
		return min(lookTick, max(owner.Left, 10*time.Millisecond)), nil
	case before.service != nil && before.owner.Epoch == owner.Epoch:
		m.now.Store(before.renewed(owner, asked))
		return renewTick, nil
	}

	m.lose(before)
	return m.begin(ctx, owner)
}

// find renews the lease, or takes what nobody has, and gives the owner. A replica whose service of before still ends takes nothing. One that
// owns nothing looks first, which holds up nobody: to try to take the lease would hold up what the owner writes.
func (m *Member) find(ctx context.Context) (store.Owner, error) {
	if m.now.Load().service == nil {
		owner, err := m.settings.Owners.See(ctx)
		mine := owner.ID == m.settings.Me.ID
		switch {
		case err != nil, owner.ID != "" && !mine && owner.Left > 0 && !m.outlasts(owner):
			return owner, err
		case m.ending() && mine:
			return store.Owner{}, nil
		case m.ending():
			return owner, nil
		case owner.Left > Lease && !mine:
			if err := m.settings.Owners.Release(ctx, store.Replica{ID: owner.ID}); err != nil {
				return owner, err
			}
		}
	}
	return m.settings.Owners.Hold(ctx, m.settings.Me, Lease)
}

// overlong is an owner that was seen to have more than a lease, and since when; zero: none was.
type overlong struct {
	id    string
	epoch int64
	since time.Time
}

// outlasts reports whether another owner has had more than a lease for as long as one lasts: the clock of the database has gone back, and an owner
// that runs would have renewed it. By its own clock, too, its lease is over then.
func (m *Member) outlasts(owner store.Owner) bool {
	now := compute.SystemClock{}.Now()
	switch seen := &m.overlong; {
	case owner.Left <= Lease:
		seen.id = ""
	case seen.id != owner.ID || seen.epoch != owner.Epoch:
		*seen = overlong{owner.ID, owner.Epoch, now}
	default:
		return now.Sub(seen.since) > Lease
	}
	return false
}

// ending reports whether the service of before still ends.
func (m *Member) ending() bool {
	select {
	case <-m.ended:
		return false
	default:
		return m.ended != nil
	}
}

// errLost ends what a replica begins that does not own the store any more.
var errLost = errors.New("the lease was lost")

// begin begins to serve as the owner, and keeps the lease meanwhile. If that is lost, it ends at once: the next step finds out who has it.
func (m *Member) begin(ctx context.Context, owner store.Owner) (time.Duration, error) {
	m.settings.Log.Info("this replica owns the store", "epoch", owner.Epoch)
	kept, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	go m.keep(kept, owner.Epoch, func() { stop(errLost) })
	if m.ended != nil {
		select {
		case <-m.ended:
		case <-kept.Done():
		}
	}
	var service Service
	err := kept.Err()
	if err == nil {
		service, err = m.settings.Serve(kept, owner.Epoch)
	}

	switch lost := errors.Is(context.Cause(kept), errLost); {
	case lost:
		m.settings.Log.Warn("this replica does not own the store any more", "epoch", owner.Epoch)
		if err == nil {
			m.end(service)
		}
		return 0, nil
	case err != nil:
		return lookTick, errors.Join(fmt.Errorf("serve: %w", err), m.settings.Owners.Release(ctx, m.settings.Me))
	}
	m.see(&view{owner: owner, service: service, until: compute.SystemClock{}.Now().Add(renewTick)})
	return 0, nil
}

// keep renews the lease of that epoch until ctx ends: to begin may take longer than one lasts. It calls lost, and ends, once another replica
// or another epoch has it.
func (m *Member) keep(ctx context.Context, epoch int64, lost func()) {
	for {
		tick, stop := compute.SystemClock{}.After(renewTick)
		select {
		case <-tick:
		case <-ctx.Done():
			stop()
			return
		}

		asked := compute.SystemClock{}.Now()
		owner, err := m.hold(ctx)
		switch v := m.now.Load(); {
		case err != nil: // the next step says why
		case owner.ID != m.settings.Me.ID || owner.Epoch != epoch:
			lost()
			return
		case v.service != nil && v.owner.Epoch == epoch:
			m.now.CompareAndSwap(v, v.renewed(owner, asked))
		}
	}
}

// hold renews the lease. A database that is silent is asked again once the lease is over: another one may have taken its place.
func (m *Member) hold(ctx context.Context) (store.Owner, error) {
	within, cancel := context.WithTimeout(ctx, Lease)
	defer cancel()
	return m.settings.Owners.Hold(within, m.settings.Me, Lease)
}

// renewed is the view after the lease was renewed, which was asked for at that moment.
func (v *view) renewed(owner store.Owner, asked time.Time) *view {
	return &view{owner: owner, service: v.service, until: asked.Add(owner.Left - margin), changed: v.changed}
}

// lose ends the service of an owner that is none any more, beside what else is done: its workers may take their time to end, and
// requests are sent on meanwhile. What it would write is refused.
func (m *Member) lose(before *view) {
	if before.service == nil {
		return
	}
	m.settings.Log.Warn("this replica does not own the store any more", "epoch", before.owner.Epoch)
	m.see(&view{})
	m.end(before.service)
}

// end ends a service beside what else is done.
func (m *Member) end(s Service) {
	ended := make(chan struct{})
	m.ended = ended
	go func() {
		if err := s.Close(); err != nil {
			m.settings.Log.Warn("what an owner does did not end well", "error", err)
		}
		close(ended)
		m.Doubt()
	}()
}

// same reports whether two are one owner, however long the lease lasts still.
func same(a, b store.Owner) bool {
	a.Left, b.Left = 0, 0
	return a == b
}

// see has a new view take the place of the one before. Who waits for another owner is woken by one alone.
func (m *Member) see(v *view) {
	before := m.now.Load()
	if v.changed = before.changed; !same(before.owner, v.owner) || before.service != v.service {
		v.changed = make(chan struct{})
		defer close(before.changed)
	}
	m.now.Store(v)
	if v.owner.Epoch > m.seen.Load() {
		m.seen.Store(v.owner.Epoch)
		go m.forward.tries.giveUp(v.owner.Epoch)
	}
}

// Doubt has the member look at once who the owner is: a write was refused, or the owner does not answer.
func (m *Member) Doubt() {
	select {
	case m.look <- struct{}{}:
	default:
	}
}

// Renew has the service of the owner of that epoch answer nothing any more, and another one with another epoch take its place, here or at
// another replica: the memory of that one may differ from the rows.
func (m *Member) Renew(epoch int64) {
	m.stale.Store(epoch)
	m.Doubt()
}

// Owner gives the owner as far as the replica knows; its ID is empty if there is none.
func (m *Member) Owner() store.Owner { return m.now.Load().owner }

// Owns reports whether this replica is the owner, and answers. It does not once its lease is over, whoever else may be the owner then.
func (m *Member) Owns() bool { return m.serves(m.now.Load()) }

// Service gives the service of the replica; nil if it does not own the store.
func (m *Member) Service() Service { return m.now.Load().service }

// Leave ends the service if there is one, and gives the store to who asks next. Requests are sent on from then on. Run must have ended.
func (m *Member) Leave(ctx context.Context) error {
	err := m.handOver(ctx)
	if m.ended != nil {
		<-m.ended
	}
	err = errors.Join(err, m.settings.Owners.Leave(ctx, m.settings.Me))
	m.notifyAll(ctx)
	return err
}

// handOver ends the service, and keeps the lease until it has ended: what it does last is to be written.
func (m *Member) handOver(ctx context.Context) error {
	v := m.now.Load()
	if v.service == nil {
		m.see(&view{owner: v.owner})
		return nil
	}

	kept, stop := context.WithCancel(ctx)
	var keeping sync.WaitGroup
	keeping.Go(func() { m.keep(kept, v.owner.Epoch, func() {}) }) // it ends whoever owns the store
	defer keeping.Wait()
	defer stop()

	err := v.service.StopWork()
	m.see(&view{})
	return errors.Join(err, v.service.Close())
}

// Follow looks who the owner is until ctx ends, and never becomes it: for a replica that has left, and still has requests.
func (m *Member) Follow(ctx context.Context) {
	for ctx.Err() == nil {
		owner, err := m.settings.Owners.See(ctx)
		if ctx.Err() != nil {
			return
		}
		m.away.Store(store.TroubleOf(err) == store.Away)
		if err == nil && owner.Left > 0 {
			m.see(&view{owner: owner})
		}
		tick, stop := compute.SystemClock{}.After(lookTick / 4)
		select {
		case <-tick:
		case <-ctx.Done():
		}
		stop()
	}
}
