package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func endpoint(id compute.EndpointID, user compute.UserID, name string) compute.Endpoint {
	return compute.Endpoint{
		ID: id, UserID: user, Name: name, Image: "i", Env: map[string]string{"A": "1"}, WorkersMin: 1, WorkersMax: 3,
		IdleTimeout: 1500 * time.Millisecond, Scaler: compute.ByCount, ScalerValue: 4, CreatedAt: start,
	}
}

func endpointRoundTrip(t *testing.T, open Open) {
	s, _ := begin(t, open)
	first, second, bare := endpoint("z", "u", "first"), endpoint("a", "u", "second"), compute.Endpoint{ID: "bare", CreatedAt: start.Add(-time.Hour)}
	for _, e := range []compute.Endpoint{first, second, bare} {
		write(t, s, func(tx store.Tx) error { return tx.InsertEndpoint(e) })
		require.Equal(t, e, read(t, s, func(tx store.Tx) (compute.Endpoint, error) { return tx.Endpoint(e.ID) }))
		require.Equal(t, e, read(t, s, func(tx store.Tx) (compute.Endpoint, error) { return tx.EndpointByName(e.UserID, e.Name) }))
	}
	require.Equal(t, []compute.Endpoint{bare, first, second},
		read(t, s, func(tx store.Tx) ([]compute.Endpoint, error) { return tx.ListEndpoints() }))
	_, err := tryRead(t, s, func(tx store.Tx) (compute.Endpoint, error) { return tx.Endpoint("none") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	_, err = tryRead(t, s, func(tx store.Tx) (compute.Endpoint, error) { return tx.EndpointByName("v", "first") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err), "another user's")
}

func endpointNames(t *testing.T, open Open) {
	s, _ := begin(t, open)
	write(t, s, func(tx store.Tx) error { return tx.InsertEndpoint(endpoint("a", "u", "n")) })
	write(t, s, func(tx store.Tx) error { return tx.InsertEndpoint(endpoint("b", "v", "n")) })
	write(t, s, func(tx store.Tx) error {
		require.Equal(t, compute.Conflict, compute.CodeOf(tx.InsertEndpoint(endpoint("c", "u", "n"))))
		return tx.InsertEndpoint(endpoint("c", "u", "m")) // a refusal does not spoil the transaction
	})
	require.Equal(t, compute.Conflict, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error {
		return tx.UpdateEndpoint(endpoint("c", "u", "n"))
	})))
	require.Equal(t, "m", read(t, s, func(tx store.Tx) (compute.Endpoint, error) { return tx.Endpoint("c") }).Name)
}

func endpointUpdate(t *testing.T, open Open) {
	s, _ := begin(t, open)
	write(t, s, func(tx store.Tx) error { return tx.InsertEndpoint(endpoint("a", "u", "n")) })
	e := compute.Endpoint{
		ID: "a", UserID: "not written", Name: "m", Image: "j", Env: map[string]string{}, WorkersMin: 2, WorkersMax: 9,
		IdleTimeout: time.Minute, CreatedAt: start.Add(time.Hour),
	}
	write(t, s, func(tx store.Tx) error { return tx.UpdateEndpoint(e) })
	e.UserID, e.CreatedAt = "u", start
	require.Equal(t, e, read(t, s, func(tx store.Tx) (compute.Endpoint, error) { return tx.Endpoint("a") }))
	e.ID = "none"
	require.Equal(t, compute.NotFound, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.UpdateEndpoint(e) })))
}
