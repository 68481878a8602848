package loop_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
)

// lossy is a host whose answers to the first starts are lost.
type lossy struct {
	*host
	lost   atomic.Int64 // how many are to be
	silent atomic.Bool  // and then it takes nothing
}

func (l *lossy) Start(ctx context.Context, a runtime.Allocation) error {
	err := l.host.Start(ctx, a)
	if err == nil && l.lost.Add(-1) >= 0 {
		l.silent.Store(true)
		return runtime.ErrUnavailable
	}
	return err
}

func (l *lossy) Remove(ctx context.Context, id string) error {
	if l.silent.Load() {
		return runtime.ErrUnavailable
	}
	return l.host.Remove(ctx, id)
}

// A worker that was started although nobody heard of it has a key that is no more: it is removed, and the next one has its own.
func TestWorkers_WhoseStartIsUnansweredDoNotStay(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	l := &lossy{host: &host{Fleet: s.containers}}
	l.lost.Store(1)
	s.workers.Runtime = l
	tokens := map[string]string{}
	up := func() (all []string) {
		ids, err := s.containers.List(t.Context())
		require.NoError(t, err)
		if a := l.last.Load(); tokens[a.ID] == "" { // starting what is there changes nothing
			tokens[a.ID] = a.Facts["RUNPOD_AI_API_KEY"]
		}
		return ids
	}

	s.step(0)
	first := up()
	require.Len(t, first, 1)
	require.Empty(t, s.rows())
	require.Empty(t, s.keyring.Keys(true))
	s.step(time.Second)
	require.Len(t, s.rows(), 1)
	up()
	l.silent.Store(false)
	s.step(time.Minute)
	left := up()
	require.Equal(t, s.workersOf(s.e), left)
	require.NotEqual(t, first, left)
	require.Empty(t, s.workers.Behind(compute.WorkerID(first[0])))
	for _, id := range left {
		key, _, err := s.keyring.Authenticate(t.Context(), tokens[id], true)
		require.NoError(t, err)
		require.Equal(t, compute.WorkerID(id), key.WorkerID)
	}
}
