// Package sim is a deterministic fleet on the injected clock. It runs nothing and needs nothing: no goroutine, no timer,
// no file. How an allocation is follows from when it was started and from what the clock says when somebody asks, so a
// test that freezes or advances the clock sees every phase.
//
// What shall go wrong is asked for by name, in the environment of the allocation:
//
//	BERTH_SIM_START_ERROR  Start fails with this text
//	BERTH_SIM_EXIT_AFTER   the allocation ends by itself this long after it came up: a Go duration such as 90s
//	BERTH_SIM_EXIT_CODE    the exit code of that end, 0 to 255; 0 if it is not set
//	BERTH_SIM_LOG_EVERY    the allocation writes a line each time so much has passed since it came up: a Go duration
//	BERTH_SIM_MARK         the allocation says what it finds in a file of each of its disks, and writes this text there
//	BERTH_SIM_REACH        the allocation says under which address it reaches another one by this name in its network
//
// A container disk, a mount and a network are so much as these take: what is written, and who is up in it. Limits and
// credentials are accepted and mean nothing. Nothing runs, so Stats are zero, and published ports are those of an address
// that is set aside for documentation, each for one allocation alone.
//
// Since nothing runs, nothing can report an end that is due: Ended stays silent, and callers see the end when they
// Inspect. They tick anyway.
package sim

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"
	"unique"

	"github.com/berthdev/berth/impl/args"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// The variables of an allocation's environment that this fleet obeys.
const (
	EnvStartError = "BERTH_SIM_START_ERROR"
	EnvExitAfter  = "BERTH_SIM_EXIT_AFTER"
	EnvExitCode   = "BERTH_SIM_EXIT_CODE"
	EnvLogEvery   = "BERTH_SIM_LOG_EVERY"
	EnvMark       = "BERTH_SIM_MARK"
	EnvReach      = "BERTH_SIM_REACH"
)

// DefaultBoot is how long an allocation takes to come up, unless SetBoot says otherwise.
const DefaultBoot = 2 * time.Second

// forever is a time that does not come.
var forever = time.Date(9999, 1, 1, 0, 0, 0, 0, time.UTC)

// logRuns is how many runs of an allocation its logs cover.
const logRuns = 100

var errClosed = errors.New("sim: the fleet is closed")

var _ runtime.Runtime = (*Fleet)(nil)

// Fleet is a simulated runtime.
type Fleet struct {
	clock       compute.Clock
	ended       chan string
	mu          sync.Mutex
	boot        time.Duration
	closed      bool
	allocations map[string]allocation
	disks       map[disk]string // what is written on each
	images      map[compute.BuildID]bool
	numbers     numbers // of published ports
}

// allocation is the runs of one. It is no more than 128 bytes: of more, a map makes an object of its own for each, and there are
// tens of thousands for the garbage collector to walk through.
type allocation struct {
	run           // the present one
	earlier []run // oldest first
}

// run is one run of an allocation. Its future is fixed when it starts; only Stop and Close change it.
type run struct {
	image      unique.Handle[string] // most have one of a few
	generation int64
	startAt    int64 // nanoseconds since 1970
	upAt       time.Time
	endAt      time.Time // zero: it stays up until it is stopped
	exitCode   int
	lag        time.Duration // of the clock when it started: what people read is so much later
	*extras
}

// extras are what most runs do not ask for.
type extras struct {
	args     string
	ports    []string
	public   []int         // the numbers of what the ports are published on
	logEvery time.Duration // 0: it writes no lines of its own
	says     []string      // when it is up
	gpus     int
	link     *runtime.Link
}

// holds gives the numbers of the allocation's ports; none if there is no such allocation.
func (a allocation) holds() []int {
	if a.extras == nil {
		return nil
	}
	return a.public
}

// plain is what most runs have in common.
var plain = &extras{}

// none reports whether there is nothing of all that.
func (e *extras) none() bool {
	return e.args == "" && len(e.ports) == 0 && e.logEvery == 0 && len(e.says) == 0 && e.gpus == 0 && e.link == nil
}

// New makes an empty fleet.
func New(clock compute.Clock) *Fleet {
	return &Fleet{boot: DefaultBoot, clock: clock, ended: make(chan string), allocations: map[string]allocation{}, disks: map[disk]string{}, images: map[compute.BuildID]bool{}}
}

// Start plans the allocation's run. One that the fleet does not know and that was up before a restart of berth is up at
// once. It fails if the environment asks for that or does not make sense.
func (f *Fleet) Start(ctx context.Context, a runtime.Allocation) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()

	if f.closed {
		return errClosed
	}
	now := f.clock.Now()
	last, known := f.allocations[a.ID]
	if known && last.state(now).Phase != runtime.Ended {
		return nil
	}
	if text := a.Env[EnvStartError]; text != "" {
		return errors.New(text)
	}
	if _, err := args.Parse(a.Args); err != nil {
		return err
	}

	boot := f.boot
	if a.Boot != nil {
		boot = *a.Boot
	}
	r := run{
		image: unique.Make(a.Image), generation: a.Generation, startAt: now.UnixNano(), upAt: now.Add(boot), lag: compute.Lag(f.clock),
		extras: &extras{args: a.Args, ports: a.Ports, gpus: a.GPUs.Number(), link: a.Link},
	}
	if !known && !a.StartedAt.IsZero() {
		r.upAt = a.StartedAt.Add(-r.lag)
		if r.upAt.After(now) { // the clock was set back; "up at once" still holds
			r.upAt = now
		}
	}

	if err := r.plan(a.Env); err != nil {
		return err
	}
	f.numbers.give(last.holds())
	r.public = f.numbers.take(len(r.ports))
	r.says = append(f.mark(a), f.reach(a, now)...)
	if r.none() {
		r.extras = plain
	}

	next := allocation{run: r}
	if known {
		next.earlier = append(last.earlier, last.run)
		next.earlier = next.earlier[max(0, len(next.earlier)-logRuns+1):]
	}
	f.allocations[a.ID] = next

	return nil
}

// plan reads from the environment how the run is to end.
func (r *run) plan(env map[string]string) error {
	if text, ok := env[EnvExitCode]; ok {
		code, err := strconv.ParseUint(text, 10, 8)
		if err != nil {
			return fmt.Errorf("sim: %s: %w", EnvExitCode, err)
		}
		r.exitCode = int(code)
	}

	if text, ok := env[EnvExitAfter]; ok {
		after, err := duration(EnvExitAfter, text)
		if err != nil {
			return err
		}
		r.endAt = r.upAt.Add(after)
	}

	if text, ok := env[EnvLogEvery]; ok {
		var err error
		if r.logEvery, err = duration(EnvLogEvery, text); err != nil {
			return err
		}
	}

	return nil
}

func duration(name, text string) (time.Duration, error) {
	d, err := time.ParseDuration(text)
	if err == nil && d < 0 {
		err = fmt.Errorf("%s is negative", d)
	}
	if err != nil {
		return 0, fmt.Errorf("sim: %s: %w", name, err)
	}
	return d, nil
}

func (r run) state(now time.Time) runtime.State {
	s := runtime.State{Phase: runtime.Starting, Generation: r.generation, Until: r.upAt}
	if !r.endAt.IsZero() && r.endAt.Before(r.upAt) {
		s.Until = r.endAt
	}

	ended := !r.endAt.IsZero() && !r.endAt.After(now)
	if !r.upAt.After(now) && (!ended || !r.endAt.Before(r.upAt)) {
		s.Phase, s.StartedAt, s.Ports, s.Until = runtime.Up, r.upAt.Add(r.lag), published(r.ports, r.public), r.endAt
		if r.endAt.IsZero() {
			s.Until = forever
		}
	}

	if ended {
		s.Phase, s.ExitCode, s.Ports, s.Until = runtime.Ended, r.exitCode, nil, time.Time{}
	}
	return s
}

// Exec gives ErrSimulated: there is nothing in which a command could run.
func (f *Fleet) Exec(ctx context.Context, id string, _ runtime.Exec) (int, error) {
	state, err := f.Inspect(ctx, id)
	switch {
	case err != nil:
		return 0, err
	case state.Phase != runtime.Up:
		return 0, runtime.ErrNotUp
	}
	return 0, runtime.ErrSimulated
}

// Stop ends the allocation at once with exit code 0, as a program that heeds SIGTERM.
func (f *Fleet) Stop(ctx context.Context, id string, _ time.Duration) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.allocations[id]; !ok {
		return runtime.ErrUnknown
	}
	f.end(id, 0)
	return nil
}

// end ends the present run now, unless it has ended already. The caller holds the lock.
func (f *Fleet) end(id string, code int) {
	now := f.clock.Now()
	a := f.allocations[id]
	if a.state(now).Phase != runtime.Ended {
		a.endAt, a.exitCode = now, code
		f.allocations[id] = a
	}
}

// Exit ends the allocation with the exit code, as a program that ends by itself. An unknown one is no error.
func (f *Fleet) Exit(id string, code int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if _, ok := f.allocations[id]; ok {
		f.end(id, code)
	}
}

// Remove forgets the allocation.
func (f *Fleet) Remove(ctx context.Context, id string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.numbers.give(f.allocations[id].holds())
	delete(f.allocations, id)
	delete(f.disks, disk{container, id})
	delete(f.disks, disk{persistent, id})
	return nil
}

// Inspect works out how the allocation is now.
func (f *Fleet) Inspect(ctx context.Context, id string) (runtime.State, error) {
	if err := ctx.Err(); err != nil {
		return runtime.State{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	a, ok := f.allocations[id]
	if !ok {
		return runtime.State{}, runtime.ErrUnknown
	}
	return a.state(f.clock.Now()), nil
}

// Next gives when an allocation changes its phase next, by itself; zero if none will.
func (f *Fleet) Next() time.Time {
	f.mu.Lock()
	defer f.mu.Unlock()
	now := f.clock.Now()
	var next time.Time
	for _, a := range f.allocations {
		for _, at := range []time.Time{a.upAt, a.endAt} {
			if at.After(now) && (next.IsZero() || at.Before(next)) && a.state(now).Phase != runtime.Ended {
				next = at
			}
		}
	}
	return next
}

// SetBoot sets how long an allocation that is started from now on takes to come up.
func (f *Fleet) SetBoot(d time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.boot = d
}

// Reset forgets every allocation, and what SetBoot set.
func (f *Fleet) Reset() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.boot = DefaultBoot
	clear(f.allocations)
	clear(f.disks)
	clear(f.images)
	f.numbers = numbers{}
}

// Stats gives zero, for each GPU too: nothing runs.
func (f *Fleet) Stats(ctx context.Context, id string) (runtime.Stats, error) {
	s, err := f.Inspect(ctx, id)
	if err != nil || s.Phase != runtime.Up {
		return runtime.Stats{}, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	a, ok := f.allocations[id]
	if !ok {
		return runtime.Stats{}, runtime.ErrUnknown
	}
	return runtime.Stats{GPUs: make([]compute.GPUUse, a.gpus)}, nil
}

// List gives the allocations that were started and not removed.
func (f *Fleet) List(ctx context.Context) ([]string, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Sorted(maps.Keys(f.allocations)), ctx.Err()
}

// Sweep has nothing to remove.
func (f *Fleet) Sweep(ctx context.Context) error { return ctx.Err() }

// Place packs.
func (f *Fleet) Place(rooms iter.Seq[compute.HostRoom]) (compute.HostRoom, bool) {
	return runtime.Pack(rooms)
}

// Ended gives a channel that stays silent: see the package's comment.
func (f *Fleet) Ended() <-chan string { return f.ended }

// Close ends every run as a kill does and refuses further starts.
func (f *Fleet) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
	for id := range f.allocations {
		f.end(id, -1)
	}
	return nil
}
