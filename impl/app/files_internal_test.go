package app

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/setting"
)

func TestFleet_OfARuntimeWithHostsOfItsOwnIsRefused(t *testing.T) {
	t.Parallel()
	_, _, err := catalogAndFleet(t.Context(), Config{Runtime: "kubernetes", Fleet: "fleet.yaml"})
	var refused *setting.Error
	require.ErrorAs(t, err, &refused)
	require.Equal(t, "fleet", refused.Name)
	require.ErrorContains(t, err, "the runtime kubernetes has hosts of its own, and takes no others")
}
