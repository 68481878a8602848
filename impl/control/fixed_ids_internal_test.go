package control

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestNewID_IsTheFixedOneWhereThereIsOne(t *testing.T) {
	t.Parallel()
	made := func() compute.PodID { return "made" }
	require.Equal(t, compute.PodID("made"), newID(t.Context(), made))
	require.Equal(t, compute.PodID("fixed"), newID(WithID(t.Context(), "fixed"), made))
}
