package queue

import (
	"encoding/binary"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func numbered(n int) (w waiting) {
	binary.BigEndian.PutUint64(w.key[:], uint64(n))
	w.since = int64(n)
	return w
}

// room is for how many jobs the fifo has memory, apart from its map.
func (f *fifo) room() (n int) {
	for _, b := range f.blocks {
		n += cap(b.jobs)
	}
	return n
}

func TestFifo_DoesNotGrowWhileJobsEndInIt(t *testing.T) {
	t.Parallel()
	const wait = 5000
	var f fifo
	f.push(numbered(0)) // which stays, in front of them all

	for i := 1; i < 200_000; i++ {
		f.push(numbered(i))
		if i >= wait {
			f.drop(numbered(i - wait + 1).key)
		}
	}

	require.Equal(t, wait, f.len())
	require.LessOrEqual(t, f.room(), wait+3*blockLength)
	require.Zero(t, f.oldest())

	var left []int64
	for _, w := range slices.Collect(f.all()) {
		if w.since%50 == 0 {
			left = append(left, w.since)
		} else {
			f.drop(w.key)
		}
	}

	require.Len(t, left, 100)
	require.LessOrEqual(t, f.room(), 4*len(left)+blockLength)
	for _, since := range left {
		w, ok := f.pop()
		require.True(t, ok)
		require.Equal(t, since, w.since)
	}

	_, ok := f.pop()
	require.False(t, ok)
	require.Zero(t, f.room())
	require.Nil(t, f.waits, "a map gives nothing back but as a whole")
}

func TestFifo_DoesWhatASliceDoes(t *testing.T) {
	t.Parallel()
	for seed := range uint64(40) {
		r := rand.New(rand.NewPCG(seed, 0))
		var f fifo
		var want []int64
		for i := range 4000 {
			w := numbered(i)
			switch act := r.IntN(12); {
			case act < 4+int(seed%3):
				f.push(w)
				want = append(want, w.since)
			case act < 7:
				f.unshift(w)
				want = slices.Insert(want, 0, w.since)
			case len(want) == 0:
				_, ok := f.pop()
				require.False(t, ok)
			case act == 7:
				w, ok := f.pop()
				require.True(t, ok)
				require.Equal(t, want[0], w.since)
				want = want[1:]
			default:
				at := r.IntN(len(want))
				w := numbered(int(want[at]))
				found, ok := f.find(w.key)
				require.True(t, ok)
				require.Equal(t, w.since, found.since)

				want = slices.Delete(want, at, at+1)
				if act == 8 { // once more, though it stands there: it moves
					f.push(w)
					want = append(want, w.since)
				} else {
					f.drop(w.key)
				}
			}

			_, ok := f.find(numbered(-1).key)
			require.False(t, ok)
			require.Equal(t, len(want), f.len())
		}

		var got []int64
		for w := range f.all() {
			got = append(got, w.since)
		}
		require.Equal(t, want, got, "seed %d", seed)
	}
}

func TestDispatcher_BacklogHasNoObjectPerJob(t *testing.T) {
	const jobs = 100_000
	objects := func() (n uint64) {
		var m runtime.MemStats
		runtime.GC()
		runtime.GC()
		runtime.ReadMemStats(&m)
		return m.HeapObjects
	}

	ids := compute.NewIDs(rand.NewChaCha8([32]byte{}), compute.SystemClock{})
	l := newDispatcher(compute.Endpoint{})
	before := objects()
	for i := range jobs {
		l.push(compute.Job{ID: ids.Job(i%2 == 0)}, false, true)
	}
	require.Less(t, objects(), before+jobs/10)
	require.Equal(t, jobs, l.waits())
}
