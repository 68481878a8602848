package postgres

import (
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store"
)

func TestFence_StoresAnIDOfEachTransactionAndDeletesOldOnes(t *testing.T) {
	t.Parallel()
	f := newFence(7, nil)
	require.Equal(t, f.first, f.id)
	require.NotEqual(t, f.first, newFence(7, nil).first, "another owner has other ids")
	insert := func(n int64) string {
		return fmt.Sprintf("; INSERT INTO commits (id) SELECT %d FROM owners WHERE shard = 0 AND epoch = 7 FOR SHARE", f.first+n)
	}

	_, ok := f.plain()
	require.False(t, ok, "the first one deletes those of owners before")
	for n := int64(1); n <= 3*cleaned; n++ {
		want := begin + insert(n)
		switch {
		case n == 1:
			want = begin + fmt.Sprintf("; DELETE FROM commits WHERE id <> %d", f.first+n) + insert(n)
		case n%cleaned == 0:
			_, ok := f.plain()
			require.False(t, ok, "%d", n)
			want = begin + fmt.Sprintf("; DELETE FROM commits WHERE id >= %d AND id < %d", f.first+n-9*cleaned, f.first+n-cleaned) + insert(n)
		case n%2 == 0:
			id, ok := f.plain()
			require.True(t, ok, "%d", n)
			require.Equal(t, f.first+n, id)
			continue
		}
		commands, err := f.next()
		require.NoError(t, err)
		require.Equal(t, want, commands)
		require.Equal(t, f.first+n, f.id)
	}
}

func TestFence_OfNoOwnerStoresNothing(t *testing.T) {
	t.Parallel()
	f := newFence(0, nil)
	for range 2 {
		commands, err := f.next()
		require.NoError(t, err)
		require.Equal(t, begin, commands)
		id, ok := f.plain()
		require.True(t, ok)
		require.Equal(t, f.first, id)
	}
}

func TestFence_NothingIsWrittenOnceACommitIsUnknown(t *testing.T) {
	t.Parallel()
	for _, epoch := range []int64{0, 7} {
		f := newFence(epoch, nil)
		f.stale = true
		_, err := f.next()
		require.ErrorIs(t, err, errStale)
		require.Equal(t, store.Away, troubleOf(err))
		_, ok := f.plain()
		require.False(t, ok)
		require.Equal(t, f.first, f.id)
	}
}

func TestEngine_CommitWithoutAnOwnerIsUnknown(t *testing.T) {
	t.Parallel()
	e := &engine{fence: newFence(0, nil)}
	lost := &awayError{errors.New("the connection was lost")}
	err := e.resolve(lost)
	require.True(t, store.IsUnknown(err))
	require.Equal(t, store.Away, troubleOf(err))
	require.False(t, e.BeginLate(), "there is no connection")
	require.False(t, e.Untidy())
}

// TestEngine_GivesUpToFindOutWhatBecameOfACommit: there is no connection any more for as long as it tries.
func TestEngine_GivesUpToFindOutWhatBecameOfACommit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		told, tries := 0, 0
		e := &engine{fence: newFence(7, func() { told++ }), open: func(context.Context) (*session, error) {
			tries++
			return nil, &awayError{errors.New("refused")}
		}}
		began := time.Now()
		err := e.resolve(&awayError{errors.New("the connection was lost")})
		require.True(t, store.IsUnknown(err))
		require.Equal(t, store.Away, troubleOf(err))
		require.ErrorContains(t, err, "the connection was lost; then: refused")
		require.Equal(t, connectTimeout, time.Since(began))
		require.Greater(t, tries, 10)
		require.Less(t, tries, 30, "its pauses become longer")
		require.Equal(t, 1, told)
		require.ErrorIs(t, e.Begin(), errStale)
	})
}

func TestCommitted_IsOnlyWhatTheServerSaysWithoutAWarning(t *testing.T) {
	t.Parallel()
	c := &conn{}
	require.NoError(t, c.committed(pgconn.NewCommandTag("COMMIT")))
	err := c.committed(pgconn.NewCommandTag("ROLLBACK"))
	require.ErrorContains(t, err, "the transaction was over: ROLLBACK")
	require.Empty(t, troubleOf(err))
	c.warning = "canceling wait for synchronous replication due to user request"
	err = c.committed(pgconn.NewCommandTag("COMMIT"))
	require.ErrorContains(t, err, "canceling wait")
	require.Equal(t, store.Away, troubleOf(err), "where it is, is to be found out")
}

func TestWaited_EndsWithItsContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		require.True(t, waited(t.Context(), time.Second))
		require.Equal(t, time.Second, time.Since(began))
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		require.False(t, waited(ctx, time.Hour))
		require.Equal(t, 2*time.Second, time.Since(began))
	})
}
