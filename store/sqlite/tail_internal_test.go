package sqlite

import (
	"encoding/binary"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"
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
