package control

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Placement places pods and workers on the hosts of the fleet. What they hold of hosts is claims, rows of the store: a claim is stored in
// the transaction that stores or moves its holder, and the rows refuse what is not free.
//
// Memory has what is free of each host, derived from the rows, so that a host is chosen without a query. It decides nothing alone: where
// the rows refuse a choice, or have room where memory knows of none, memory is read anew. It can be forgotten at any time.
//
// A choice is made before its transaction, and counted in memory at once, so that others choose something else meanwhile; what a
// transaction releases is counted once that is on disk. It is safe for concurrent use.
type Placement struct {
	store   store.Store
	catalog Catalog
	options PlacementOptions

	// flight is held for reading from a choice, or a release, until memory knows how its transaction came out, and for writing while
	// memory is read anew: so no transaction is counted twice or not at all.
	flight sync.RWMutex

	mu       sync.Mutex
	initial  []Host                // as the operator's file has it
	changes  []compute.HostChange  // what is stored of how it differs
	fleet    []Host                // as it is, with the changes
	draining map[string]bool       // hosts of the fleet on which nothing more is placed
	left     map[string]bool       // hosts that left the fleet while the server ran
	engines  map[string]HostEngine // of hosts that have one of their own, which was asked
	hosts    []host
	byID     map[string]*host  // nil until somebody asks: a server without pods never does
	kinds    map[kind]groups   // nil until somebody asks, likewise
	chosen   map[*host]amount  // what is in flight of the hosts on which something is
	trusted  int               // so many refusals take no look at the rows
	taken    map[string]amount // of hosts of a runtime that schedules: what it reports to be held of them
	known    bool              // memory has what the rows say
	readings int               // how often it was read
}

// PlacementOptions are what a placement works with.
type PlacementOptions struct {
	// Place chooses among the hosts that have room: that of the runtime. Hosts that are alike come as one compute.HostRoom.
	Place func(rooms iter.Seq[compute.HostRoom]) (compute.HostRoom, bool)
	// Schedules: the runtime places by a scheduler of its own. Nothing is claimed of hosts, and what could be held by one waits there
	// until it is; the hosts are those of SetReported.
	Schedules bool
	// Looked is notified of each look for a host, for a pod or a worker, and how it came out; it must be quick. Nil: nobody counts.
	Looked func(who string, o Outcome)
}

// NewPlacement makes a Placement over the claims in the store.
func NewPlacement(ctx context.Context, s store.Store, c Catalog, fleet []Host, o PlacementOptions) (*Placement, error) {
	return PrepareFleet(c, fleet).Open(ctx, s, o)
}

// PreparedFleet is a fleet in memory on which nothing is placed yet.
type PreparedFleet struct{ placement *Placement }

// PrepareFleet is the part of NewPlacement that needs no store, and takes longest.
func PrepareFleet(c Catalog, fleet []Host) PreparedFleet {
	p := &Placement{catalog: c, initial: fleet, fleet: fleet, draining: map[string]bool{}, left: map[string]bool{}, engines: map[string]HostEngine{}}
	p.setHosts(fleet)
	return PreparedFleet{p}
}

// Open reads what is claimed in a store, and gives the placement of pods and workers there. It may be called once.
func (f PreparedFleet) Open(ctx context.Context, s store.Store, o PlacementOptions) (*Placement, error) {
	p := f.placement
	p.store, p.options = s, o
	return p, p.read(ctx)
}

// read reads from the rows which hosts there are and what is free of each. Nothing is in flight.
func (p *Placement) read(ctx context.Context) error {
	var sums map[string]compute.Claimed
	var changes []compute.HostChange
	devices := map[string][]string{}
	err := p.store.Read(ctx, func(tx store.Tx) (err error) {
		if changes, err = tx.HostChanges(); err != nil {
			return err
		}
		if sums, err = tx.ClaimSums(); err != nil {
			return err
		}
		return tx.ClaimedDevices(func(hostID, device string) { devices[hostID] = append(devices[hostID], device) })
	})
	if err != nil {
		return fmt.Errorf("read what is claimed of hosts: %w", err)
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.follow(changes); err != nil {
		return err
	}
	p.kinds = nil // they are made of what is read now
	for i := range p.hosts {
		h := &p.hosts[i]
		h.free, h.devices, h.group = h.whole().plus(p.taken[h.ID], -1), nil, nil
	}

	for id, claimed := range sums {
		if h := p.host(id); h != nil {
			h.free = h.free.plus(h.amountOf(claimed), -1)
			h.devices.set(h.numbers(devices[id]), true)
		}
	}

	p.known = true
	p.trusted = len(p.hosts) / hostsOfRefusal
	p.readings++
	return nil
}

// readAfter reads memory anew, once what is in flight has come out, unless somebody did since it had been read so often.
func (p *Placement) readAfter(ctx context.Context, readings int) error {
	p.flight.Lock()
	defer p.flight.Unlock()
	p.mu.Lock()
	current := p.known && p.readings != readings
	p.mu.Unlock()
	if current {
		return nil
	}
	return p.read(ctx)
}

// know has memory read if it is not, and gives how often it has been.
func (p *Placement) know(ctx context.Context) (readings int, err error) {
	p.mu.Lock()
	known, readings := p.known, p.readings
	p.mu.Unlock()
	if known {
		return readings, nil
	}
	err = p.readAfter(ctx, readings)
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.readings, err
}

// lockKnown locks memory for a report. If the store gives nothing, the report is of what was known last.
func (p *Placement) lockKnown() {
	_, _ = p.know(context.Background())
	p.mu.Lock()
}

// Forget forgets what is free: it is read from the rows before it is needed again.
func (p *Placement) Forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.known = false
}

// Clear forgets what is free, what capacity was set, and every change of the fleet: the caller has removed what is stored of that.
func (p *Placement) Clear() {
	p.flight.Lock()
	defer p.flight.Unlock()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.apply(nil, p.initial)
}

// ErrFull is the cause of a refusal because no host has room for the pod or the worker now.
var ErrFull = errors.New("no host has room")

// ErrNever is an ErrFull of what no host could hold with nothing else on it, in use or not.
var ErrNever = fmt.Errorf("%w, or ever could", ErrFull)

// errTaken is the cause of a refusal because the rows say that what memory chose is not free.
var errTaken = errors.New("another was faster")

// attempts bounds how often a host is chosen anew for one request. A second time is rare: when somebody else writes to the store, or
// memory was forgotten meanwhile.
const attempts = 8

// place chooses so many hosts, each by the first of the wants for which one has room, and has write store what is placed there with its
// claims. It chooses anew where write gives errTaken, by where the data of volumes is by then. Rejected, with the cause ErrFull, when nothing
// can hold it now.
func (p *Placement) place(ctx context.Context, who string, count int, asked []want, write func([]choice) error) error {
	var wants []want
	for range attempts {
		readings, err := p.know(ctx)
		if err != nil {
			return err
		}
		if wants, err = p.near(ctx, count, asked); err != nil {
			return err
		}
		placed, err := p.attempt(count, wants, write)
		again := errors.Is(err, errTaken)
		if !placed && err == nil {
			if p.mayCome(wants) {
				p.land()
				continue
			}
			again, err = p.behind(ctx, wants)
		}

		switch {
		case again:
			if err := p.readAfter(ctx, readings); err != nil {
				return err
			}
		case placed:
			p.looked(who, Placed, count)
			return err
		case err != nil:
			return err
		default:
			return p.refuse(who, wants)
		}
	}

	return p.refuse(who, wants)
}

// attempt chooses once; it reports whether there was room for all. What was chosen is free again if write fails.
func (p *Placement) attempt(count int, wants []want, write func([]choice) error) (placed bool, err error) {
	p.flight.RLock()
	defer p.flight.RUnlock()

	choices := p.choose(count, wants)
	if choices == nil {
		return false, nil
	}

	stored := false
	defer func() { // also when write panicked
		p.unchoose(choices, stored)
		if !stored {
			p.doubt(err)
		}
	}()

	err = errUnwound
	err = write(choices)
	stored = err == nil
	return true, err
}

// errUnwound is the error of what did not return.
var errUnwound = errors.New("control: the function did not return")

// doubt has memory read anew after an error that does not say whether the transaction is on disk. One that was withdrawn is not:
// clients that go away cost nothing.
func (p *Placement) doubt(err error) {
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return
	}
	if code := compute.CodeOf(err); code == compute.Internal || code == compute.Unavailable {
		p.Forget()
	}
}

// mayCome reports whether there would be room for one of the wants if what is in flight came to nothing.
func (p *Placement) mayCome(wants []want) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range wants {
		w := &wants[i]
		for h, chosen := range p.chosen {
			if h.has(kind{w.GPU, w.CPU}) && !h.draining && h.suits(w) && h.fits(w, h.free.plus(chosen, 1)) {
				return true
			}
		}
	}
	return false
}

// land returns once all that is in flight has come out.
func (p *Placement) land() {
	p.flight.Lock()
	defer p.flight.Unlock()
}

// hostsOfRefusal is for how many hosts there is one refusal between two looks at the rows of all: so what a refusal takes on average does
// not grow with the fleet.
const hostsOfRefusal = 100

// behind reports whether the rows have room for one of the wants where memory knows of less: what another server released, as none does
// while this one is the owner of the store. In a large fleet it does not look each time.
func (p *Placement) behind(ctx context.Context, wants []want) (bool, error) {
	p.mu.Lock()
	trusted := p.known && p.trusted > 0
	if trusted {
		p.trusted--
	}
	p.mu.Unlock()
	if trusted {
		return false, nil
	}

	var sums map[string]compute.Claimed
	err := p.store.Read(ctx, func(tx store.Tx) (err error) {
		sums, err = tx.ClaimSums()
		return err
	})
	if err != nil {
		return false, err
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	if !p.known {
		return true, nil
	}

	free := make(map[*host]amount, len(sums))
	for id, claimed := range sums {
		if h := p.host(id); h != nil {
			if _, other := free[h]; !other {
				free[h] = h.whole()
			}
			free[h] = free[h].plus(h.amountOf(claimed), -1)
		}
	}

	for i := range wants {
		for g := range p.suiting(&wants[i]) {
			for _, h := range g.hosts {
				rows, claimed := free[h]
				if !claimed {
					rows = h.whole()
				}
				if !h.free.covers(rows) && h.fits(&wants[i], rows) {
					return true, nil
				}
			}
		}
	}

	p.trusted = len(p.hosts) / hostsOfRefusal
	return false, nil
}

// looked reports that a look for room came out so, for so many.
func (p *Placement) looked(who string, o Outcome, times int) {
	for range times {
		if p.options.Looked != nil {
			p.options.Looked(who, o)
		}
	}
}

// refuse says that there is no room, and what is free (rule placement.full).
func (p *Placement) refuse(who string, wants []want) error {
	p.mu.Lock()
	outcome := NoHost
	for i := range wants {
		for range p.suiting(&wants[i]) {
			outcome = Full
			break
		}
	}

	cause := ErrNever
	for i := range wants {
		if found, others := p.couldEver(&wants[i]); found || others != (outOfUse{}) {
			cause = ErrFull
			break
		}
	}

	e := &compute.Error{Code: compute.Rejected, Detail: fmt.Sprintf("the catalog has nothing any more that the %s may get", who)}
	if len(wants) > 0 {
		e = p.full(who, wants[0])
	}
	p.mu.Unlock()
	e.Cause = cause
	p.looked(who, outcome, 1)

	return e
}

// full says what was asked and what is free. The caller has the lock.
func (p *Placement) full(noun string, w want) *compute.Error {
	unit, name := w.unit()
	asked := fmt.Sprintf("asked for %d %s %s and %d GB of disk in cloud %s", w.Count, unit, name, w.DiskGB, w.Cloud)
	if w.PersistentGB > 0 {
		asked += fmt.Sprintf(", %d GB of persistent storage", w.PersistentGB)
	}
	if len(w.DataCenterIDs) > 0 {
		asked += ", data center " + strings.Join(w.DataCenterIDs, " or ")
	}
	if w.GlobalNetwork {
		asked += ", with global networking"
	}
	asked += w.words()
	if w.Together > 1 {
		asked += fmt.Sprintf(", for each of %d %ss", w.Together, noun)
	}
	switch {
	case w.HostID != "":
		asked += ", on the host that holds its data"
	case w.Shared:
		asked += ", on a host of the engine that holds its data"
	case w.Together > 1:
		asked += ", all on one host"
	}

	all, most, disk := p.freeFor(&w)
	found, others := p.couldEver(&w)
	return compute.Errorf(compute.Rejected, "nothing can hold the %s now: %s; free there: %d in all, at most %d and %d GB of disk on one host%s", noun, asked, all, most, disk, others.words(found))
}

// freeFor gives what is free on the hosts of the asked sort: of what the want counts, in all and at most on one host, and the most disk in
// GB. The caller has the lock.
func (p *Placement) freeFor(w *want) (all, most, disk int64) {
	for g := range p.suiting(w) {
		t := g.tree
		if w.CPU != "" {
			all, most = all+t.all.vcpus, max(most, t.most.vcpus)
		} else {
			all, most = all+t.all.gpus, max(most, t.most.gpus)
		}
		disk = max(disk, t.most.diskGB)
	}
	return all, most, disk
}
