package ship

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store/sqlite"
)

// waiting makes a generation for which so many bytes may wait.
func waiting(most int64) *generation {
	return &generation{s: &Shipper{o: Options{most: most}}, more: make(chan struct{}, 1), room: make(chan struct{}, 1), full: make(chan struct{}), seen: at(0)}
}

func piece(log string, offset int64, bytes, hour int) sqlite.Piece {
	b := make([]byte, bytes)
	for i := range b {
		b[i] = byte(offset) + byte(i)
	}
	return sqlite.Piece{Log: log, Offset: offset, Bytes: b, At: at(hour)}
}

func TestGeneration_PiecesOfOneLogGoTogether(t *testing.T) {
	t.Parallel()
	g := waiting(1000)
	_, n, seen := g.next()
	require.Zero(t, n)
	require.Equal(t, at(0), seen, "all that came before is there")

	for i, p := range []sqlite.Piece{piece("a", 0, 40, 1), piece("a", 40, 30, 2), piece("a", 70, 20, 3), piece("b", 0, 10, 4), piece("b", 10, 10, 5), piece("b", 0, 5, 6), piece("c", 5, 5, 7)} {
		g.take(p)
		require.Len(t, g.more, 1)
		require.EqualValues(t, i+1, g.taken)
	}
	require.EqualValues(t, 120, g.s.Status().Pending)
	for _, want := range []struct {
		piece  sqlite.Piece
		pieces int
		left   int64
	}{{piece("a", 0, 90, 3), 3, 30}, {piece("b", 0, 20, 5), 2, 10}, {piece("b", 0, 5, 6), 1, 5}, {piece("c", 5, 5, 7), 1, 0}} {
		for range 2 { // until it is taken away
			p, n, seen := g.next()
			require.Equal(t, want.piece, p)
			require.Equal(t, want.pieces, n)
			require.Equal(t, at(0), seen)
		}
		g.done(want.pieces)
		require.Equal(t, want.left, g.s.Status().Pending)
		require.Equal(t, want.left, g.bytes)
		require.Len(t, g.room, 1)
	}
	_, n, _ = g.next()
	require.Zero(t, n)
}

func TestGeneration_SegmentHasNoMoreThanSoManyBytes(t *testing.T) {
	t.Parallel()
	g := waiting(100 << 20)
	const half = segmentBytes / 2
	for i := range int64(3) {
		g.take(piece("a", i*half, half, 1))
	}
	p, n, _ := g.next()
	require.Equal(t, 2, n)
	require.Len(t, p.Bytes, segmentBytes)
	g.done(1)
	g.take(piece("a", 3*half, half+1, 1))
	g.done(1)
	_, n, _ = g.next()
	require.Equal(t, 1, n, "both are more than a segment has")
}

func TestGeneration_EndsOnceMoreWaitsThanMay(t *testing.T) {
	t.Parallel()
	g := waiting(100)
	over := func() bool {
		select {
		case <-g.full:
			return true
		default:
			return false
		}
	}
	g.take(piece("a", 0, 60, 1))
	g.take(piece("a", 60, 40, 1))
	require.False(t, over(), "it is full to the brim")
	g.take(piece("a", 100, 1, 1))
	require.True(t, over())
	g.take(piece("a", 101, 1, 1))
	require.EqualValues(t, 3, g.taken, "what comes after is of no use")
	require.EqualValues(t, 101, g.s.Status().Pending)
}

func TestGeneration_TellsOnlyWhatABaseHolds(t *testing.T) {
	t.Parallel()
	g := waiting(1)
	g.tell(at(5))
	require.Zero(t, g.s.Status().Shipped, "there is no base")
	g.whole = true
	for _, hour := range []int{2, 5, 3} {
		g.tell(at(hour))
	}
	require.Equal(t, at(5), g.s.Status().Shipped, "it never goes back")
}
