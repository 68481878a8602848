package groupcommit_test

import (
	"encoding/json"
	"errors"
	"runtime/debug"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/groupcommit"
)

var (
	errNo   = errors.New("no")
	errFull = errors.New("the disk is full") // is a trouble
)

// disk is an engine that keeps words in memory. It fails as it is told.
type disk struct {
	commit func() // is called by each commit; may be nil
	tidied func() // is called by each Tidy; may be nil

	mu      sync.Mutex
	failing map[string]error // of begin, commit and probe; nil: it succeeds
	words   []string         // that are kept in the transaction
	commits [][]string       // the words of each
	did     []string
	untidy  int // how often there is something to tidy
}

func (d *disk) does(what string) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.did = append(d.did, what)
	return d.failing[what]
}

// fails has begin, commit or probe fail from now on; with nil it succeeds again.
func (d *disk) fails(what string, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.failing == nil {
		d.failing = map[string]error{}
	}
	d.failing[what] = err
}

// log gives what was done since the last call.
func (d *disk) log() string {
	d.mu.Lock()
	defer d.mu.Unlock()
	did := strings.Join(d.did, ", ")
	d.did = nil
	return did
}

// committed gives the words of each commit that had some, since the last call.
func (d *disk) committed() (all []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, words := range d.commits {
		if len(words) > 0 {
			all = append(all, strings.Join(words, " "))
		}
	}
	d.commits = nil
	return all
}

func (d *disk) Begin() error { return d.does("begin") }

func (d *disk) Part() groupcommit.Part { return &part{} }

func (d *disk) Keep(p groupcommit.Part) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.words = append(d.words, p.(*part).words...)
}

func (d *disk) Commit() error {
	if d.commit != nil {
		d.commit()
	}
	if err := d.does("commit"); err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.commits, d.words = append(d.commits, d.words), nil
	return nil
}

func (d *disk) Rollback() {
	_ = d.does("rollback")
	d.mu.Lock()
	defer d.mu.Unlock()
	d.words = nil
}

func (d *disk) Probe(tx store.Tx) error {
	if err := d.does("probe"); err != nil {
		return err
	}
	tx.(*part).altered = true
	return nil
}

func (d *disk) TroubleOf(err error) store.Trouble {
	if errors.Is(err, errFull) {
		return store.Full
	}
	return ""
}

func (d *disk) Untidy() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.untidy > 0
}

func (d *disk) Tidy() {
	d.mu.Lock()
	d.untidy--
	d.mu.Unlock()
	if d.tidied != nil {
		d.tidied()
	}
}

// part is one write's part of a transaction. It has what these tests call of a store.Tx, and no more.
type part struct {
	store.Tx
	words   []string
	altered bool
	failed  error // that End gives
	effects []func()
}

func (p *part) End() error { return p.failed }

func (p *part) Changed() bool { return p.altered }

func (p *part) Effects() []func() { return p.effects }

func (p *part) AfterCommit(f func()) { p.effects = append(p.effects, f) }

func (p *part) Now() time.Time { return time.UnixMilli(1).UTC() }

func (p *part) Wall() time.Time { return time.UnixMilli(2).UTC() }

func (p *part) InsertJob(j compute.Job, _ json.RawMessage) error {
	p.put(string(j.ID))
	return nil
}

func (p *part) MoveJob(j compute.Job, _ store.JobGuard) (bool, error) {
	p.put(string(j.ID))
	return true, nil
}

func (p *part) put(word string) { p.words, p.altered = append(p.words, word), true }

// puts is a call that writes a word.
func puts(word string) groupcommit.Call {
	return groupcommit.Call{Run: func(tx store.Tx) error {
		tx.(*part).put(word)
		return nil
	}}
}

// spoils is a call that writes a word and fails then.
func spoils(word string, err error) groupcommit.Call {
	return groupcommit.Call{Run: func(tx store.Tx) error {
		tx.(*part).put(word)
		return err
	}}
}

// refuses is a call that fails before it writes anything.
func refuses(err error) groupcommit.Call {
	return groupcommit.Call{Run: func(store.Tx) error { return err }}
}

// counted gives a call whose runs are counted.
func counted(c groupcommit.Call, runs *int) groupcommit.Call {
	run := c.Run
	c.Run = func(tx store.Tx) error {
		*runs++
		return run(tx)
	}
	return c
}

// patient gives a call that does not wait for its commit.
func patient(c groupcommit.Call) groupcommit.Call {
	c.Early = func() bool { return true }
	return c
}

// begin makes a group that is closed at the end of the test.
func begin(t *testing.T, e groupcommit.Engine, o groupcommit.Options) *groupcommit.Group {
	t.Helper()
	g := groupcommit.New(e, o)
	t.Cleanup(g.Close)
	return g
}

// hold begins a write that lasts until it is released: what comes meanwhile stands in line. It must run in a synctest bubble.
func hold(t *testing.T, g *groupcommit.Group) (release func()) {
	t.Helper()
	gate, held := make(chan struct{}), make(chan error, 1)
	go func() {
		held <- g.Do(t.Context(), groupcommit.Call{Run: func(store.Tx) error { <-gate; return nil }})
	}()
	synctest.Wait()
	return func() {
		close(gate)
		require.NoError(t, <-held)
	}
}

// lined has the calls stand in line in this order, while another write is under way, and gives how each of them ended.
func lined(t *testing.T, g *groupcommit.Group, calls ...groupcommit.Call) []error {
	t.Helper()
	errs := make([]error, len(calls))
	release := hold(t, g)
	var done sync.WaitGroup
	for i, c := range calls {
		done.Go(func() { errs[i] = g.Do(t.Context(), c) })
		synctest.Wait()
	}
	release()
	done.Wait()
	return errs
}

// started begins a call in a goroutine of its own, and gives its result to come.
func started(t *testing.T, g *groupcommit.Group, c groupcommit.Call) <-chan error {
	t.Helper()
	result := make(chan error, 1)
	go func() { result <- g.Do(t.Context(), c) }()
	synctest.Wait()
	return result
}

// goroutine names the goroutine that calls it.
func goroutine() string {
	name, _, _ := strings.Cut(string(debug.Stack()), "\n")
	return name
}
