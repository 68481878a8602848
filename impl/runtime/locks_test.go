package runtime_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/runtime"
)

func TestTryLock_DoesNotWait(t *testing.T) {
	t.Parallel()
	var l runtime.Locks
	unlock, err := l.Lock(t.Context(), "a")
	require.NoError(t, err)
	_, ok := l.TryLock("a")
	require.False(t, ok)
	other, ok := l.TryLock("b")
	require.True(t, ok)
	other()

	unlock()
	again, ok := l.TryLock("a")
	require.True(t, ok)
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = l.Lock(over, "a")
	require.ErrorIs(t, err, context.Canceled)
	again()
	unlock, err = l.Lock(t.Context(), "a")
	require.NoError(t, err)
	unlock()
}
