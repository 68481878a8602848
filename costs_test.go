package berth_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth"
	"github.com/berthdev/berth/berthtest"
)

func TestServer_CostsAreOnItsClock(t *testing.T) {
	t.Parallel()
	s := berthtest.Start(t, berth.Options{})
	clock := s.Clock()
	clock.Freeze()
	id := pod(t, s)
	require.NoError(t, clock.Advance(t.Context(), 24*time.Hour))

	all, err := s.Costs(t.Context(), berth.CostFilter{})
	require.NoError(t, err)
	require.Len(t, all.Costs, 1)
	require.Equal(t, id, *all.Costs[0].ID)
	require.InDelta(t, (24 * time.Hour).Milliseconds(), all.Costs[0].Milliseconds, 60_000)
	require.Positive(t, all.Total)

	later := all.Until.Add(time.Hour)
	none, err := s.Costs(t.Context(), berth.CostFilter{Since: &later})
	require.NoError(t, err)
	require.Zero(t, none.Total)
	tooMany := int64(1001)
	_, err = s.Costs(t.Context(), berth.CostFilter{Limit: &tooMany})
	require.ErrorContains(t, err, "limit")
}
