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

// images lose the power of a disk and judge what is left, each time at once: together they would need gigabytes.
type images struct {
	t    *testing.T
	disk *faulttest.Disk
	l    *ledger
	size int // of inputs
	at   string

	mu     sync.Mutex
	rng    *rand.Rand
	n      int
	broken int
	first  error // what was lost in the first one that is broken
}

func newImages(t *testing.T, disk *faulttest.Disk, l *ledger, size int) *images {
	t.Helper()
	return &images{t: t, disk: disk, l: l, size: size, at: scratch(t), rng: random()}
}

// take loses the power now.
func (m *images) take(what string, losses ...faulttest.Loss) {
	m.mu.Lock()
	defer m.mu.Unlock()

	acked := m.l.knows().acked
	for _, loss := range losses {
		dir := filepath.Join(m.at, fmt.Sprint(m.n))
		require.NoError(m.t, os.Mkdir(dir, 0o700))
		m.disk.Loses(m.t, dir, loss, m.rng)

		knew := &ledger{acked: acked, tried: m.l.knows().tried} // in this order: others go on
		if err := knew.survived(in(dir), m.size); err != nil {
			if m.broken++; m.first == nil {
				m.first = fmt.Errorf("power lost before %s, loss %d: %w", what, loss, err)
			}
		}

		m.n++
		require.NoError(m.t, os.RemoveAll(dir))
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

// TestPower_LossAtAnyCallLosesNothingAcknowledged begins with the making of the directory and the file.
func TestPower_LossAtAnyCallLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	disk := faulttest.New(t, dir)
	l := newLedger()
	m := newImages(t, disk, l, 900)
	disk.Watch(m.before(step(7), faulttest.Everything, faulttest.Some, faulttest.Some))
	run(in(dir), l, jobs)
	require.Empty(t, l.errs)
	disk.Watch(nil)
	m.take("anything else", faulttest.Everything)
	t.Log(m.n, "images")
	require.NoError(t, m.first)
}

// TestPower_LyingSyncIsSeen is the control of the others: they see what a disk loses that acknowledges what it does not do.
func TestPower_LyingSyncIsSeen(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	disk := faulttest.New(t, dir)
	l := newLedger()
	m := newImages(t, disk, l, 900)
	disk.Lie()
	disk.Watch(m.before(step(7), faulttest.Some))
	run(in(dir), l, jobs)
	require.Empty(t, l.errs)
	t.Log(m.broken, "of", m.n, "images are broken, the first one so:", m.first)
	require.Greater(t, m.broken, m.n/4)
}

// TestPower_NoWriteIsAnsweredBeforeItsSync has callers share commits, and loses everything that was not synced at
// the moment of each answer.
func TestPower_NoWriteIsAnsweredBeforeItsSync(t *testing.T) {
	t.Parallel()
	const callers, each = 8, 6
	dir := scratch(t)
	disk := faulttest.New(t, dir)
	l := newLedger()
	m := newImages(t, disk, l, 900)
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
	require.NoError(t, m.first)
}

// TestPower_FailedSyncIsWrittenAnew: the system takes for written what a sync failed for, so no later
// sync brings it to disk.
func TestPower_FailedSyncIsWrittenAnew(t *testing.T) {
	t.Parallel()
	for n := 0; ; n += step(7) {
		dir := scratch(t)
		disk := faulttest.New(t, dir)
		l := newLedger()
		m := newImages(t, disk, l, 900)

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
		require.NoError(t, m.first, "sync %d fails", n)
		require.NoError(t, os.RemoveAll(dir))
	}
}
