//go:build unix

package app

import (
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplica_EndsPodsWhileItAnswers: the end of one may take long, and nobody answers once requests are waited for.
func TestReplica_EndsPodsWhileItAnswers(t *testing.T) {
	t.Parallel()

	c := Config{Data: t.TempDir(), Listen: "127.0.0.1:0", Store: newCluster(t).URL("")}
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
