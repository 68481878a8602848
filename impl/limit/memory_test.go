package limit_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
)

// enter waits in the background, and reports when it is in.
func enter(t *testing.T, m *limit.Memory, key compute.KeyID, bytes int64) (in chan func()) {
	in = make(chan func(), 1)
	go func() {
		leave, err := m.Enter(t.Context(), key, bytes)
		if err == nil {
			in <- leave
		}
	}()
	synctest.Wait()
	return in
}

func TestMemory_IsBoundedForAllAndEachKey(t *testing.T) {
	t.Parallel()
	m := limit.NewMemory(100, 60)
	a, ok := m.Try("a", 50)
	require.True(t, ok)

	_, ok = m.Try("a", 20)
	require.False(t, ok, "its share")
	_, ok = m.Try("b", 60)
	require.False(t, ok, "of all")

	b, ok := m.Try("b", 50)
	require.True(t, ok)
	_, ok = m.Try("c", 1)
	require.False(t, ok)

	a()
	a() // again does no harm
	_, ok = m.Try("c", 51)
	require.False(t, ok)

	_, ok = m.Try("c", 50)
	require.True(t, ok)
	b()
	_, ok = m.Try("d", 61)
	require.False(t, ok, "more than a share is waited for")
}

func TestMemory_GoesFirstToWhoHoldsLeast(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := limit.NewMemory(100, 60)
		first, second := <-enter(t, m, "a", 40), <-enter(t, m, "b", 60)
		again, later, other := enter(t, m, "b", 10), enter(t, m, "b", 10), enter(t, m, "c", 30)
		require.Empty(t, again)
		require.Empty(t, other)

		_, ok := m.Try("d", 1)
		require.False(t, ok, "others wait")

		first() // c holds nothing, b much
		leave := <-other
		require.Empty(t, again, "the share of b is held")
		second()
		(<-again)()
		(<-later)()
		leave()
		_, ok = m.Try("b", 60)
		require.True(t, ok)
	})
}

func TestMemory_WhatExceedsTheBoundHasItAlone(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := limit.NewMemory(100, 60)
		small := <-enter(t, m, "a", 1)
		huge := enter(t, m, "b", 1000)
		behind := enter(t, m, "c", 1)
		require.Empty(t, huge)
		require.Empty(t, behind, "or the huge one would never have its turn")

		small()
		leave := <-huge
		require.Empty(t, behind)
		leave()
		(<-behind)()
	})
}

func TestMemory_WhoGivesUpHoldsNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		m := limit.NewMemory(100, 100)
		leave := <-enter(t, m, "a", 100)
		ctx, cancel := context.WithCancel(t.Context())
		gone := make(chan error)
		go func() {
			_, err := m.Enter(ctx, "b", 100)
			gone <- err
		}()
		synctest.Wait()

		behind := enter(t, m, "c", 100)
		cancel()
		require.ErrorIs(t, <-gone, context.Canceled)
		leave()
		(<-behind)()
	})
}

func TestMemory_WhatIsFreeIsHadWithoutTimeToWait(t *testing.T) {
	t.Parallel()
	m := limit.NewMemory(100, 100)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for range 100 { // of two channels that are ready select takes any
		leave, err := m.Enter(ended, "a", 100)
		require.NoError(t, err)
		_, err = m.Enter(ended, "a", 1)
		require.ErrorIs(t, err, context.Canceled)
		leave()
	}
}

func TestAnswers_AreRefusedInTimeWithoutMemory(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := limit.NewAnswers(20 * time.Second)
		leave, ok := a.Try("a", 20_000_000)
		require.True(t, ok)
		_, ok = a.Try("a", 1)
		require.False(t, ok)

		start := time.Now()
		_, err := a.Whole(t.Context(), "a", 1)
		require.Equal(t, compute.Unavailable, compute.CodeOf(err))
		require.ErrorIs(t, err, limit.ErrBusy)
		require.Equal(t, 20*time.Second, time.Since(start))

		other, err := a.Whole(t.Context(), "b", 1)
		require.NoError(t, err, "another key has a share of its own")
		piece, err := a.Piece(t.Context(), "a", 1)
		require.NoError(t, err, "there is room for pieces")

		leave()
		other()
		piece()
	})
}

func TestProcessor_BudgetIsSharedByThoseWithoutAKey(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := limit.NewProcessor(0.5, 2*time.Second)
		work := func(d time.Duration) (waited time.Duration) {
			start := time.Now()
			leave, err := p.Enter(t.Context())
			require.NoError(t, err)
			waited = time.Since(start)
			pause(d) // fake
			leave()
			return waited
		}

		require.Zero(t, work(time.Second), "the burst")
		require.Zero(t, work(3*time.Second))
		require.Equal(t, 2*time.Second, work(0), "4 s were taken of 2 s and half of 4 s; a half of them comes back in the rest")
	})
}

func TestProcessor_OnlySomeMayWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		p := limit.NewProcessor(0.5, time.Second)
		leave, err := p.Enter(t.Context())
		require.NoError(t, err)

		refused := make(chan error, 100)
		for range 100 {
			go func() {
				_, err := p.Enter(t.Context())
				refused <- err
			}()
		}

		synctest.Wait()
		require.Len(t, refused, 36, "at once: 64 wait")
		pause(5 * time.Second) // fake
		synctest.Wait()
		require.Len(t, refused, 100, "who waits too long")

		err = <-refused
		require.Equal(t, compute.TooMany, compute.CodeOf(err))
		require.ErrorIs(t, err, limit.ErrBusy)
		leave()
		pause(8 * time.Second) // what it took
		leave, err = p.Enter(t.Context())
		require.NoError(t, err)
		leave()
	})
}
