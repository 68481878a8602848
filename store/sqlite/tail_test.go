package sqlite_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// pieces keeps what a tail gives.
type pieces struct {
	mu  sync.Mutex
	all []sqlite.Piece
}

func (p *pieces) take(one sqlite.Piece) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all = append(p.all, one)
}

func (p *pieces) logs() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	seen := map[string]bool{}
	for _, one := range p.all {
		seen[one.Log] = true
	}
	return len(seen)
}

// insert writes job i, with so large an input.
func insert(t *testing.T, db store.Store, i, size int) {
	t.Helper()
	j := compute.Job{ID: compute.JobID(fmt.Sprintf("job-%d", i)), EndpointID: "e", Status: compute.JobInQueue}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error {
		j.CreatedAt, j.QueuedAt, j.ExpiresAt = tx.Now(), tx.Now(), tx.Now()
		return tx.InsertJob(j, json.RawMessage(fmt.Sprintf("%q", make([]byte, size))))
	}))
}

// copyOf copies the file of a tail, as whoever ships it does.
func copyOf(t *testing.T, tail *sqlite.Tail) string {
	t.Helper()
	file, size, err := tail.File()
	require.NoError(t, err)
	b := make([]byte, size)
	n, err := file.ReadAt(b, 0)
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "copy.db")
	require.NoError(t, os.WriteFile(path, b[:n], 0o600))
	return path
}

// holds requires the jobs up to n to be in the copy with the pieces, and gives how many there are.
func holds(t *testing.T, path string, all []sqlite.Piece) (jobs int) {
	t.Helper()
	r := sqlite.NewReplay(path)
	for _, p := range all {
		require.NoError(t, r.Add(t.Context(), p))
	}
	require.NoError(t, r.End(t.Context()))
	_, _, err := sqlite.Verify(t.Context(), path)
	require.NoError(t, err)

	db, err := sqlite.Open(t.Context(), path, compute.SystemClock{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	require.NoError(t, db.Read(context.Background(), func(tx store.Tx) error {
		for {
			_, err := tx.Job(compute.JobID(fmt.Sprintf("job-%d", jobs)))
			if compute.CodeOf(err) == compute.NotFound {
				return nil
			}
			if err != nil {
				return err
			}
			jobs++
		}
	}))
	return jobs
}

func TestTail_CopyAndPiecesAreTheDatabaseWhileLogsBeginAnew(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	insert(t, db, 0, 1000)
	var p pieces
	tail, err := db.Follow(t.Context(), time.Now, p.take)
	require.NoError(t, err)
	defer tail.Close()

	n := 1
	for ; p.logs() < 3; n++ { // one begins anew after a thousand pages
		require.Less(t, n, 2000)
		insert(t, db, n, 30_000)
	}
	path := copyOf(t, tail)
	for ; p.logs() < 5; n++ {
		require.Less(t, n, 4000)
		insert(t, db, n, 30_000)
		if n%50 == 0 {
			_, err := tail.Read(1 << 20)
			require.NoError(t, err)
		}
	}
	all, err := tail.Read(math.MaxInt64)
	require.NoError(t, err)
	require.True(t, all)
	require.Equal(t, n, holds(t, path, p.all))
}

func TestTail_LastPieceAloneHasTheMomentOfTheRead(t *testing.T) {
	t.Parallel()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	defer func() { require.NoError(t, db.Close()) }()
	began := time.Now()
	now := began
	var p pieces
	tail, err := db.Follow(t.Context(), func() time.Time { return now }, p.take)
	require.NoError(t, err)
	defer tail.Close()

	insert(t, db, 0, 5<<20) // more than a piece: what is in the first of them is not all that was committed by then
	now = began.Add(time.Minute)
	all, err := tail.Read(math.MaxInt64)
	require.NoError(t, err)
	require.True(t, all)
	require.Greater(t, len(p.all), 1)
	for i, one := range p.all {
		want := began
		if i == len(p.all)-1 {
			want = now
		}
		require.Equal(t, want, one.At, "piece %d", i)
	}
}
