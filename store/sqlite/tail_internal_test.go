package sqlite

import (
	"encoding/binary"
	"math"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store/sqldb"
)

// torn is an index whose two headers differ for so many reads: who writes them has no processor meanwhile.
type torn struct {
	header [indexHeader]byte
	left   int
}

func (r *torn) ReadAt(b []byte, _ int64) (int, error) {
	copy(b, r.header[:])
	copy(b[indexHeader:], r.header[:])
	if r.left > 0 {
		r.left--
		b[8]++
	}
	return len(b), nil
}

func TestReadIndex_WaitsForWhoIsInTheMiddleOfACommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var r torn
		order := binary.NativeEndian
		order.PutUint32(r.header[:], indexVersion)
		order.PutUint32(r.header[8:], 7)
		sum := checksum{order: order}
		sum.add(r.header[:40])
		order.PutUint32(r.header[40:], sum.a)
		order.PutUint32(r.header[44:], sum.b)

		r.left = indexTries - 1
		i, err := readIndex(&r)
		require.NoError(t, err)
		require.EqualValues(t, 7, i.commits)

		r.left = indexTries
		_, err = readIndex(&r)
		require.ErrorContains(t, err, "never at rest")
	})
}

func TestFollowed_FilesThatCannotBeOpenedAreOpenedLater(t *testing.T) {
	t.Parallel()
	f := followed{db: &DB{path: filepath.Join(t.TempDir(), "berth.db")}}
	for _, end := range []string{"", "-wal", "-shm"} {
		require.ErrorIs(t, f.open(), os.ErrNotExist, end)
		require.NoError(t, os.WriteFile(f.db.path+end, nil, 0o600))
	}
	require.NoError(t, f.open())
	for _, file := range []*os.File{f.file, f.log, f.index} {
		require.NoError(t, file.Close())
	}
}

func TestTail_LogThatBeganAnewBeforeItWasReadOnceEndsIt(t *testing.T) {
	t.Parallel()
	for name, frames := range map[string]int64{"a part was read": 10, "nothing was read": 0} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d, err := OpenUnsynced(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
			require.NoError(t, err)
			defer func() { require.NoError(t, d.Close()) }()
			c, err := d.connect(t.Context(), dsn(d.path, true, d.synchronous))
			require.NoError(t, err)
			other := sqldb.NewConn(c, dialect{})
			defer func() { require.NoError(t, other.Close()) }()
			commit := func(statement string) {
				t.Helper()
				_, err := other.Exec(statement)
				require.NoError(t, err)
			}
			commit("CREATE TABLE filler (b BLOB)")
			commit("INSERT INTO filler VALUES (zeroblob(500000))") // over a hundred pages
			pages, err := logged(other)
			require.NoError(t, err)
			require.Greater(t, pages, int64(100))

			began := 0
			tail, err := d.Follow(t.Context(), time.Now, func(p Piece) {
				if p.Offset == 0 {
					began++
				}
			})
			require.NoError(t, err)
			defer tail.Close()
			page, err := number(other, "PRAGMA page_size")
			require.NoError(t, err)
			all, err := tail.Read(logHeader + frames*(frameHeader+page))
			require.NoError(t, err)
			require.False(t, all)
			commit("INSERT INTO filler VALUES ('x')") // the log begins anew: all of it is in the file
			_, err = tail.Read(math.MaxInt64)
			require.ErrorIs(t, err, ErrUnfollowed)
			require.ErrorContains(t, err, "it began anew")
			require.LessOrEqual(t, began, 1)
		})
	}
}
