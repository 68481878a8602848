//go:build unix

package app

import (
	"errors"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/store/pgtest"
)

// TestReplica_EndsPodsWhileItAnswers: the end of one may take long, and nobody answers once requests are waited for.
func TestReplica_EndsPodsWhileItAnswers(t *testing.T) {
	t.Parallel()
	cluster, err := pgtest.Start(t.Context(), "fsync=off")
	if errors.Is(err, pgtest.ErrMissing) {
		t.Skip("SKIPPED:", err)
	}
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, cluster.Stop()) })

	c := Config{Data: t.TempDir(), Listen: "127.0.0.1:0", Store: cluster.URL("")}
	var mu sync.Mutex
	var undone []string
	c.probe.undone = func(step string) {
		mu.Lock()
		defer mu.Unlock()
		undone = append(undone, step)
	}
	s, err := Start(t.Context(), c)
	require.NoError(t, err)
	require.NoError(t, s.Close())
	require.Equal(t, []string{"replica", "loops", "pods", "requests"}, undone[:4])
}
