package reconcile_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestReconciler_ListThatFailsHasABackoff(t *testing.T) {
	t.Parallel()
	times := 0
	r, clock, _ := open(config{Tick: time.Hour, List: func(context.Context, bool) ([]string, error) {
		times++
		return nil, errors.New("not now")
	}}, never)
	require.NoError(t, r.Step(t.Context()))
	require.Equal(t, 1, times)
	for i, pause := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 8 * time.Second, 10 * time.Second, 10 * time.Second} {
		clock.Advance(pause - 1)
		require.NoError(t, r.Step(t.Context()))
		require.Equal(t, i+1, times, pause)
		clock.Advance(1)
		require.NoError(t, r.Step(t.Context()))
		require.Equal(t, i+2, times, pause)
	}

	require.NoError(t, r.StepAll(t.Context()))
	require.Equal(t, 8, times, "who wants all that there is does not wait for it")
	require.Zero(t, r.Next(), "it is no look at an object")
}

func TestReconciler_ListWhoseCallerHasGoneIsReadAgain(t *testing.T) {
	t.Parallel()
	var firsts []bool
	ctx, gone := context.WithCancel(t.Context())
	r, _, d := open(config{List: func(_ context.Context, first bool) ([]string, error) {
		firsts = append(firsts, first)
		gone()
		return []string{"a"}, nil
	}}, never)
	require.ErrorIs(t, r.Step(ctx), context.Canceled)
	require.Empty(t, d.take())

	require.NoError(t, r.Step(t.Context()))
	require.Equal(t, []bool{true, true}, firsts, "nobody knows how much of it was there")
	require.Equal(t, []string{"a"}, d.take())
	require.NoError(t, r.Step(t.Context()))
	require.Len(t, firsts, 2, "and then no more")
}

func TestReconciler_ListFromBeforeADropDoesNotCount(t *testing.T) {
	t.Parallel()
	var firsts []bool
	var r *reconciler
	r, _, d := open(config{List: func(_ context.Context, first bool) ([]string, error) {
		if firsts = append(firsts, first); len(firsts) == 1 {
			r.Hint("before")
			r.Drop()
		}
		return []string{"a"}, nil
	}}, never)
	require.NoError(t, r.Step(t.Context()))
	require.Equal(t, []string{"a"}, d.take())

	require.NoError(t, r.Step(t.Context()))
	require.Equal(t, []bool{true, true}, firsts)
	require.Equal(t, []string{"a"}, d.take())
	require.NoError(t, r.Step(t.Context()))
	require.Len(t, firsts, 2)
}
