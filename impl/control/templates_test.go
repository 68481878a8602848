package control_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

func TestControl_DeleteTemplate_RefusesOneThatAPodUses(t *testing.T) {
	t.Parallel()
	db, ids := open(t)
	placement, err := control.NewPlacement(t.Context(), db, control.Catalog{}, nil, control.PlacementOptions{Place: runtime.Pack})
	require.NoError(t, err)

	ctl := control.New(db, ids, placement, control.Runtime{Can: compute.AllCapabilities}, control.Hints{Pod: func(compute.PodID) {}})
	name := "n"
	template, err := ctl.CreateTemplate(t.Context(), "u", control.TemplateChange{Name: &name, Image: &name})
	require.NoError(t, err)

	pod := compute.Pod{ID: "p", UserID: "u", TemplateID: template.ID, Status: compute.PodRunning}
	require.NoError(t, db.Write(t.Context(), func(tx store.Tx) error { return tx.InsertPod(pod) }))
	err = ctl.DeleteTemplate(t.Context(), "u", template.ID)
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, `"p"`)
	require.NoError(t, ctl.DeletePod(t.Context(), "u", "p"))
	require.NoError(t, ctl.DeleteTemplate(t.Context(), "u", template.ID))
}
