package record

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestDiffer_WhatIsMeasuredLaterMayBeOnOneSideAlone(t *testing.T) {
	t.Parallel()
	early := map[string]any{"runtime": map[string]any{"uptime": 1.0}}
	late := map[string]any{"runtime": map[string]any{"uptime": 1.0, "cpu": map[string]any{"util": 0.0}, "memory": map[string]any{"util": 0.0}, "gpus": []any{}}}
	for _, sides := range [][2]map[string]any{{early, late}, {late, early}} {
		d := differ{}
		d.values(at{}, sides[0], sides[1])
		require.Empty(t, d.found)

		d = differ{exact: true}
		d.values(at{}, sides[0], sides[1])
		require.Len(t, d.found, 3)
	}

	d := differ{}
	d.values(at{}, map[string]any{"cpu": 1.0}, map[string]any{})
	require.Equal(t, []difference{{Missing, "/cpu", "1", ""}}, d.found, "it is measured in runtime alone")
}
