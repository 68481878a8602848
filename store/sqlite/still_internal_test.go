package sqlite

import (
	"context"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// stillFrame is the size of a page in a log.
const stillFrame = frameHeader + 4096

// still is a tail of copies of the files of a database, which nobody writes to any more.
type still struct {
	*Tail
	base   string // the file, without its log
	jobs   int    // one for each commit
	log    []byte // as it is
	pieces []Piece
}

func newStill(t *testing.T) *still {
	t.Helper()
	path := filepath.Join(t.TempDir(), "berth.db")
	d, err := Open(t.Context(), path, compute.SystemClock{})
	require.NoError(t, err)
	s := &still{base: filepath.Join(t.TempDir(), "base.db"), jobs: 5}
	for n := range s.jobs {
		require.NoError(t, d.Write(t.Context(), func(tx store.Tx) error {
			return tx.InsertJob(compute.Job{ID: compute.JobID(fmt.Sprint(n)), EndpointID: "e", Status: compute.JobInQueue}, nil)
		}))
	}

	f := &followed{held: -1}
	for end, to := range map[string]**os.File{"": &f.file, "-wal": &f.log, "-shm": &f.index} {
		text, err := os.ReadFile(path + end)
		require.NoError(t, err)
		copied := filepath.Join(t.TempDir(), "copy"+end)
		require.NoError(t, os.WriteFile(copied, text, 0o600))
		*to, err = os.OpenFile(copied, os.O_RDWR, 0)
		require.NoError(t, err)
		if end == "-wal" {
			s.log = text
		}
		if end == "" {
			require.NoError(t, os.WriteFile(s.base, text, 0o600))
		}
	}
	t.Cleanup(func() { require.NoError(t, f.closeFiles()) })
	require.NoError(t, d.Close())
	s.Tail = &Tail{f: f, now: time.Now, taken: func(p Piece) { s.pieces = append(s.pieces, p) }, ended: make(chan struct{})}
	f.tail = s.Tail
	return s
}

// pages is how many pages the log has.
func (s *still) pages() int64 { return (int64(len(s.log)) - logHeader) / stillFrame }

// damage changes a byte of the log.
func (s *still) damage(t *testing.T, at int64) {
	t.Helper()
	_, err := s.f.log.WriteAt([]byte{s.log[at] + 1}, at)
	require.NoError(t, err)
}

// index changes the header of the index, of which the checksum is right then.
func (s *still) index(t *testing.T, change func(header []byte)) {
	t.Helper()
	var b [2 * indexHeader]byte
	_, err := s.f.index.ReadAt(b[:], 0)
	require.NoError(t, err)
	change(b[:indexHeader])
	sum := checksum{order: binary.NativeEndian}
	sum.add(b[:40])
	binary.NativeEndian.PutUint32(b[40:], sum.a)
	binary.NativeEndian.PutUint32(b[44:], sum.b)
	copy(b[indexHeader:], b[:indexHeader])
	_, err = s.f.index.WriteAt(b[:], 0)
	require.NoError(t, err)
}

// whole reads all of the log.
func (s *still) whole(t *testing.T) {
	t.Helper()
	all, err := s.Read(math.MaxInt64)
	require.NoError(t, err)
	require.True(t, all)
}

// gives requires the pieces to be the log, each from where the one before ended.
func (s *still) gives(t *testing.T, pages int64) {
	t.Helper()
	var b []byte
	for _, p := range s.pieces {
		require.Equal(t, hex.EncodeToString(s.log[16:24]), p.Log)
		require.EqualValues(t, len(b), p.Offset)
		b = append(b, p.Bytes...)
	}
	require.Equal(t, s.log[:logHeader+pages*stillFrame], b)
}

// fails requires the tail to end with that error.
func (s *still) fails(t *testing.T, says string) {
	t.Helper()
	given := len(s.pieces)
	for range 2 {
		all, err := s.Read(math.MaxInt64)
		require.False(t, all)
		require.ErrorIs(t, err, ErrUnfollowed)
		require.ErrorContains(t, err, says)
		require.Len(t, s.pieces, given, "what is not known to be all is not given")
	}
	<-s.Ended()
	require.False(t, s.f.follows())
}

func TestTail_GivesTheLogInPiecesOfAnySize(t *testing.T) {
	t.Parallel()
	s := newStill(t)
	require.Greater(t, s.pages(), int64(5))
	all, err := s.Read(logHeader + stillFrame - 1)
	require.NoError(t, err)
	require.False(t, all)
	require.Empty(t, s.pieces, "there is no room for a page")

	const most = logHeader + 2*stillFrame
	for reads := int64(1); !all; reads++ {
		all, err = s.Read(most)
		require.NoError(t, err)
		require.Equal(t, reads*2 >= s.pages(), all)
		s.gives(t, min(2*reads, s.pages()))
	}
	for _, p := range s.pieces {
		require.LessOrEqual(t, len(p.Bytes), int(most))
	}
	given := len(s.pieces)
	s.whole(t)
	require.Len(t, s.pieces, given, "nothing came since")
	select {
	case <-s.Ended():
		require.Fail(t, "it goes on")
	default:
	}
	s.Close()
	s.Close()
	s.fails(t, "closed")
}

func TestTail_GivesNothingOfADamagedLog(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		at   int64
		says string
	}{
		"a page":                 {logHeader + 2*stillFrame + frameHeader + 9, "page 3 is damaged"},
		"the header of a page":   {logHeader + stillFrame + 1, "page 2 is damaged"},
		"which log a page is of": {logHeader + 9, "page 1 is damaged"},
		"the header":             {17, "its header is not the one that its index is of"},
		"the checksum of it":     {25, "its header is not the one that its index is of"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStill(t)
			s.damage(t, c.at)
			s.fails(t, c.says)
			require.Empty(t, s.pieces)
		})
	}
}

func TestTail_EndsWhereItsIndexContradictsIt(t *testing.T) {
	t.Parallel()
	add := func(at int, n uint32) func([]byte) {
		return func(header []byte) {
			binary.NativeEndian.PutUint32(header[at:], binary.NativeEndian.Uint32(header[at:])+n)
		}
	}
	const commits, frames, sum, salt, minus = 8, 16, 24, 32, math.MaxUint32 // plus that is one less
	for name, c := range map[string]struct {
		change func([]byte)
		says   string
	}{
		"fewer pages than were read":       {add(frames, minus), "pages, and had"},
		"commits that are in no page":      {add(commits, 2), "it began anew with 2 commits that were not read"},
		"another checksum":                 {add(sum, 1), "has another checksum than its index says"},
		"another one in its second part":   {add(sum+4, 1), "has another checksum than its index says"},
		"another log":                      {add(salt, 1), "its header is not the one that its index is of"},
		"the form of a later SQLite":       {add(0, 1), "its index is of version 3007001"},
		"another log with no commit in it": {func(header []byte) { add(salt, 1)(header); add(commits, 1)(header); clear(header[frames : frames+4]) }, "it began anew with 1 commits"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStill(t)
			s.whole(t)
			s.gives(t, s.pages())
			s.index(t, c.change)
			s.fails(t, c.says)
		})
	}

	s := newStill(t)
	s.whole(t)
	s.index(t, func(header []byte) { clear(header[frames : frames+4]) })
	s.whole(t) // the log begins anew with the next commit
}

func TestTail_LogOfAnotherSizeOfPagesIsNotTheOneOfTheIndex(t *testing.T) {
	t.Parallel()
	s := newStill(t)
	s.index(t, func(header []byte) { binary.NativeEndian.PutUint16(header[14:], 8192) })
	s.fails(t, "its header is not the one that its index is of")
}

// found gives how many jobs are in a file.
func found(t *testing.T, path string) (jobs int) {
	t.Helper()
	d, err := Open(t.Context(), path, compute.SystemClock{})
	require.NoError(t, err)
	defer func() { require.NoError(t, d.Close()) }()
	require.NoError(t, d.Read(context.Background(), func(tx store.Tx) error {
		return tx.UnfinishedJobs(func(compute.Job) { jobs++ })
	}))
	return jobs
}

func TestReplay_BringsWhatWasCommittedIntoTheFile(t *testing.T) {
	t.Parallel()
	s := newStill(t)
	for all := false; !all; {
		var err error
		all, err = s.Read(logHeader + stillFrame)
		require.NoError(t, err)
	}
	require.Zero(t, found(t, s.base))
	for _, without := range []int{1, 0} { // the end of the last commit, or none
		r := NewReplay(s.base)
		for _, p := range s.pieces[:len(s.pieces)-without] {
			require.NoError(t, r.Add(t.Context(), p))
		}
		info, err := os.Stat(s.base + "-wal")
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), info.Mode().Perm())
		require.NoError(t, r.End(t.Context()))
		require.NoError(t, r.End(t.Context()), "there is nothing more to bring")
		require.NoError(t, r.Close())
		require.NoFileExists(t, s.base+"-wal")
		require.Equal(t, s.jobs-without, found(t, s.base))
	}

	r := NewReplay(s.base)
	require.NoError(t, r.Add(t.Context(), s.pieces[0]))
	require.NoError(t, r.Close())
	require.FileExists(t, s.base+"-wal", "what was not ended is left")
	require.NoError(t, NewReplay(s.base).Close())
}

func TestReplay_RefusesWhatDoesNotFollow(t *testing.T) {
	t.Parallel()
	s := newStill(t)
	for all := false; !all; {
		var err error
		all, err = s.Read(logHeader + 2*stillFrame)
		require.NoError(t, err)
	}
	refuses := func(says string, begun []Piece, p Piece) {
		t.Helper()
		r := NewReplay(filepath.Join(t.TempDir(), "copy.db"))
		for _, one := range begun {
			require.NoError(t, r.Add(t.Context(), one))
		}
		require.ErrorContains(t, r.Add(t.Context(), p), says)
		require.NoError(t, r.Close())
	}
	first, second, third := s.pieces[0], s.pieces[1], s.pieces[2]
	refuses("does not follow on log  at 0", nil, second)
	refuses("does not follow on log "+first.Log, s.pieces[:1], third)
	refuses("does not follow on log "+first.Log, s.pieces[:2], second)
	other := second
	other.Log = "another"
	refuses("a piece of log another at ", s.pieces[:1], other)

	changed := func(at int, with ...byte) Piece {
		p := first
		p.Bytes = append([]byte(nil), first.Bytes...)
		copy(p.Bytes[at:], with)
		return p
	}
	refuses("has not its header", nil, changed(16, 0, 0, 0, 0))
	short := first
	short.Bytes = first.Bytes[:logHeader-1]
	refuses("has not its header", nil, short)
	refuses("has pages of 256 bytes", nil, changed(8, 0, 0, 1, 0))
	refuses("has pages of 131072 bytes", nil, changed(8, 0, 2, 0, 0))
}

func TestReplay_FailsWhereSQLiteTakesLess(t *testing.T) {
	t.Parallel()
	s := newStill(t)
	s.whole(t)
	p := s.pieces[0]
	p.Bytes = append([]byte(nil), p.Bytes...)
	p.Bytes[len(p.Bytes)-1]++
	r := NewReplay(s.base)
	require.NoError(t, r.Add(t.Context(), p))
	err := r.End(t.Context())
	require.ErrorContains(t, err, fmt.Sprintf("of %d pages of log %s SQLite took ", s.pages(), p.Log))
	require.NoError(t, r.Close())
}
