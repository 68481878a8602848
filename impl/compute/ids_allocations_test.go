package compute_test

import (
	"crypto/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestIDs_AllocateTheirTextAlone(t *testing.T) {
	ids := compute.NewIDs(rand.Reader, compute.SystemClock{})
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _ = ids.Job(false) }), 1.0)
	require.LessOrEqual(t, testing.AllocsPerRun(100, func() { _ = ids.Word(16) }), 1.0)
}

func TestIDs_AWordMayBeLongerThanTheRoomForItsBytes(t *testing.T) {
	t.Parallel()
	ids := compute.NewIDs(rand.Reader, compute.SystemClock{})
	for _, n := range []int{0, 1, 64, 65, 1000} {
		require.Len(t, ids.Word(n), n)
	}
}
