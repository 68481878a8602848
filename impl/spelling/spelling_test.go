package spelling_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/spelling"
)

func TestClosest_BeginsWithWhatDiffersLeast(t *testing.T) {
	t.Parallel()
	names := []string{"runSync", "listPods", "getPod", "run"}
	require.Equal(t, "getPod", spelling.Closest("getpods", names)[0])
	require.Equal(t, "runSync", spelling.Closest("RUNSYNC", names)[0])
	require.ElementsMatch(t, names, spelling.Closest("nothing alike", names))
	require.Equal(t, []string{"a", "b"}, spelling.Closest("x", []string{"b", "a"}), "in the order of the alphabet")
}

func TestDistance_CountsLetters(t *testing.T) {
	t.Parallel()
	require.Equal(t, 0, spelling.Distance("pods", "pods"))
	require.Equal(t, 1, spelling.Distance("pod", "pods"))
	require.Equal(t, 3, spelling.Distance("", "pod"))
	require.Equal(t, 2, spelling.Distance("pdos", "pods"))
}
