package faulttest_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store/faulttest"
)

// image is what a loss of power left, and what had been acknowledged by then.
type image struct {
	dir  string
	what string
	knew *ledger
}

// images takes images of a disk.
type images struct {
	t    *testing.T
	disk *faulttest.Disk
	l    *ledger
	at   string
	mu   sync.Mutex
	rng  *rand.Rand
	all  []image
}

func newImages(t *testing.T, disk *faulttest.Disk, l *ledger) *images {
	t.Helper()
	return &images{t: t, disk: disk, l: l, at: scratch(t), rng: random()}
}

// take loses the power now.
func (m *images) take(what string, losses ...faulttest.Loss) {
	m.mu.Lock()
	defer m.mu.Unlock()
	acked := m.l.knows().acked
	for _, loss := range losses {
		dir := filepath.Join(m.at, fmt.Sprint(len(m.all)))
		require.NoError(m.t, os.Mkdir(dir, 0o700))
		m.disk.Loses(m.t, dir, loss, m.rng)
		knew := &ledger{acked: acked, tried: m.l.knows().tried} // in this order: others go on
		m.all = append(m.all, image{dir, fmt.Sprintf("power lost before %s, loss %d", what, loss), knew})
	}
}

// before takes images before every call that changes something and that is one of so many.
func (m *images) before(every int, losses ...faulttest.Loss) func(faulttest.Call) {
	return func(c faulttest.Call) {
		if c.Kind.Changes() && c.N%every == 0 {
			m.take(fmt.Sprintf("call %d, %s of %s", c.N, c.Kind, filepath.Base(c.Path)), losses...)
		}
	}
}

// broken gives how many images lost something, and what was lost in the first one.
func (m *images) broken(size int) (n int, first error) {
	for _, i := range m.all {
		if err := i.knew.survived(in(i.dir), size); err != nil {
			n++
			if first == nil {
				first = fmt.Errorf("%s: %w", i.what, err)
			}
		}
		require.NoError(m.t, os.RemoveAll(i.dir))
	}
	return n, first
}

// TestAPowerLossAtAnyCallLosesNothingAcknowledged begins with the making of the directory and the file.
func TestAPowerLossAtAnyCallLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	disk := faulttest.New(t, dir)
	l := newLedger()
	m := newImages(t, disk, l)
	disk.Watch(m.before(step(7), faulttest.Everything, faulttest.Some, faulttest.Some))
	run(in(dir), l, jobs)
	require.Empty(t, l.errs)
	disk.Watch(nil)
	m.take("anything else", faulttest.Everything)
	t.Log(len(m.all), "images")
	_, err := m.broken(900)
	require.NoError(t, err)
}

// TestALyingSyncIsSeen is the control of the others: they see what a disk loses that acknowledges what it does not do.
func TestALyingSyncIsSeen(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	disk := faulttest.New(t, dir)
	l := newLedger()
	m := newImages(t, disk, l)
	disk.Lie()
	disk.Watch(m.before(step(7), faulttest.Some))
	run(in(dir), l, jobs)
	require.Empty(t, l.errs)
	total := len(m.all)
	n, err := m.broken(900)
	t.Log(n, "of", total, "images are broken, the first one so:", err)
	require.Greater(t, n, total/4)
}

// TestNoWriteIsAnsweredBeforeTheSyncOfTheLogThatHoldsIt has callers share commits, and loses everything that was not synced at
// the moment of each answer.
func TestNoWriteIsAnsweredBeforeTheSyncOfTheLogThatHoldsIt(t *testing.T) {
	t.Parallel()
	const callers, each = 8, 6
	dir := scratch(t)
	disk := faulttest.New(t, dir)
	l := newLedger()
	m := newImages(t, disk, l)
	db, err := open(in(dir))
	require.NoError(t, err)
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			for i := range each {
				live(db, l, c*each+i, 900)
				m.take(fmt.Sprint("the answer to job ", c*each+i), faulttest.Everything)
			}
		})
	}
	all.Wait()
	require.Empty(t, l.errs)
	require.NoError(t, db.Close())
	_, err = m.broken(900)
	require.NoError(t, err)
}

// TestWhatASyncFailedForIsWrittenAnewBeforeItIsAcknowledged: the system takes for written what a sync failed for, so no later
// sync brings it to disk.
func TestWhatASyncFailedForIsWrittenAnewBeforeItIsAcknowledged(t *testing.T) {
	t.Parallel()
	for n := 0; ; n += step(7) {
		dir := scratch(t)
		disk := faulttest.New(t, dir)
		l := newLedger()
		m := newImages(t, disk, l)
		syncs := -1
		disk.Fail(func(c faulttest.Call) faulttest.Fault {
			if c.Kind != faulttest.Sync {
				return faulttest.None
			}
			if syncs++; syncs != n {
				return faulttest.None
			}
			disk.Watch(m.before(max(step(13), 5), faulttest.Everything, faulttest.Some))
			return faulttest.Failing
		})
		run(in(dir), l, jobs)
		if syncs < n {
			break
		}
		disk.Watch(nil)
		m.take("anything else", faulttest.Everything, faulttest.Some)
		_, err := m.broken(900)
		require.NoError(t, err, "sync %d fails", n)
		require.NoError(t, os.RemoveAll(dir))
	}
}
