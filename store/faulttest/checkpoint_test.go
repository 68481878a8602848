package faulttest_test

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/faulttest"
)

// So many jobs with inputs of so many bytes write enough for a checkpoint, for which the writer waits, and a log that begins anew.
const (
	manyJobs   = 150
	largeInput = 60_000
)

// ofFile reports whether a call is one of the file itself, into which only checkpoints write.
func ofFile(c faulttest.Call) bool {
	return strings.HasSuffix(c.Path, ".db") && (c.Kind == faulttest.Write || c.Kind == faulttest.Sync || c.Kind == faulttest.Truncate)
}

// crowded has many jobs live, each after the other, and more of them until there are enough: a checkpoint that meets a reader does nothing,
// and the next one is called for by more writes.
func crowded(t *testing.T, path string, l *ledger, enough func() bool) {
	t.Helper()
	db, err := open(path)
	require.NoError(t, err)
	for i := range 10 * manyJobs {
		if i >= manyJobs && enough() {
			break
		}
		live(db, l, i, largeInput)
	}
	_ = db.Close() // what fails here was acknowledged before
}

func TestCheckpoint_PowerLossLosesNothingAcknowledged(t *testing.T) {
	t.Parallel()
	dir := scratch(t)
	disk := faulttest.New(t, dir)
	l := newLedger()
	m := newImages(t, disk, l, largeInput)
	var checkpoints atomic.Int64
	every := int64(300)
	if whole {
		every = 30
	}

	disk.Watch(func(c faulttest.Call) {
		if ofFile(c) && (checkpoints.Add(1)%every == 0 || c.Kind != faulttest.Write) {
			m.take(fmt.Sprintf("call %d, %s of the file", c.N, c.Kind), faulttest.Everything, faulttest.Some)
		}
	})

	crowded(t, in(dir), l, func() bool { return checkpoints.Load() > 0 })
	require.Positive(t, checkpoints.Load())
	require.Empty(t, l.errs)

	t.Log(m.n, "images,", checkpoints.Load(), "calls of checkpoints")
	require.NoError(t, m.first)
}

func TestCheckpoint_FailureLosesNothing(t *testing.T) {
	t.Parallel()
	rounds := int64(2)
	if whole {
		rounds = 40
	}

	for _, how := range []faulttest.Fault{faulttest.Failing, faulttest.Full} {
		for round := range rounds {
			dir := scratch(t)
			disk := faulttest.New(t, dir)
			var checkpoints atomic.Int64
			var failed string

			nth := 1 + round*500/rounds
			disk.Fail(func(c faulttest.Call) faulttest.Fault {
				if !ofFile(c) || checkpoints.Add(1) != nth {
					return faulttest.None
				}
				failed = fmt.Sprintf("call %d, %s of the file", c.N, c.Kind)
				return how
			})

			l := newLedger()
			crowded(t, in(dir), l, func() bool { return true })
			require.NotEmpty(t, failed)
			for _, err := range l.errs {
				require.NotEmpty(t, store.TroubleOf(err), failed)
			}
			require.LessOrEqual(t, len(l.errs), 1, failed)
			require.NoError(t, l.survived(in(dir), largeInput), failed)
			require.NoError(t, os.RemoveAll(dir))
		}
	}
}
