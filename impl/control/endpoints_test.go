package control_test

import (
	"context"
	"crypto/rand"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// failingQueue fails to remove endpoints as often as it says.
type failingQueue struct{ fails int }

func (*failingQueue) SetEndpoint(compute.Endpoint)                          {}
func (*failingQueue) WorkerStates(compute.EndpointID) []compute.WorkerState { return nil }
func (q *failingQueue) RemoveEndpoint(context.Context, compute.EndpointID) error {
	if q.fails--; q.fails >= 0 {
		return errors.New("the disk is full")
	}
	return nil
}

func TestEndpoints_ADeletionThatFailedIsEndedByTheNext(t *testing.T) {
	t.Parallel()
	db, _, _, _ := keyrings(t)
	catalog, err := control.BuiltInCatalog()
	require.NoError(t, err)
	placement, err := control.NewPlacement(t.Context(), db, catalog, control.SimulatedFleet(catalog), control.PlacementOptions{Place: runtime.Pack})
	require.NoError(t, err)
	q := &failingQueue{fails: 1}
	endpoints := control.NewEndpoints(db, compute.NewIDs(rand.Reader, compute.SystemClock{}), placement, q, control.Runtime{Can: compute.AllCapabilities})
	made, err := endpoints.Declare(t.Context(), "u", control.NewEndpoint{Name: "one", Image: "one"})
	require.NoError(t, err)

	require.Equal(t, compute.NotFound, compute.CodeOf(endpoints.Delete(t.Context(), "another", made.ID)))
	require.ErrorContains(t, endpoints.Delete(t.Context(), "u", made.ID), "the disk is full")
	_, err = endpoints.Get(t.Context(), "u", made.ID)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.Equal(t, compute.NotFound, compute.CodeOf(endpoints.Delete(t.Context(), "another", made.ID)))
	require.NoError(t, endpoints.Delete(t.Context(), "u", made.ID))
	require.NoError(t, db.Read(t.Context(), func(tx store.Tx) error {
		_, err := tx.Endpoint(made.ID)
		require.Equal(t, compute.NotFound, compute.CodeOf(err))
		return nil
	}))
	require.Equal(t, compute.NotFound, compute.CodeOf(endpoints.Delete(t.Context(), "u", made.ID)))
}
