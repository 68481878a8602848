package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func charges(t *testing.T, open Open) {
	s, clock := begin(t, open)
	p, none := "p", "none"
	both := []compute.Item{compute.PodGPU, compute.ServerlessCPU}
	list := func(items []compute.Item, resource *string, from, to time.Time) []compute.Charge {
		return read(t, s, func(tx store.Tx) ([]compute.Charge, error) { return tx.ListCharges("u", items, resource, from, to) })
	}
	at := func(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }
	everything := func() []compute.Charge { return list(both, nil, start, at(1000)) }
	require.Empty(t, everything())

	pod := compute.Charge{UserID: "u", Item: compute.PodGPU, ResourceID: "p", HolderID: "p", Rate: 1_000_000_000_000, BeganAt: start}
	worker := compute.Charge{UserID: "u", Item: compute.ServerlessCPU, ResourceID: "e", HolderID: "w", Rate: 7, BeganAt: at(1), SeenAt: at(1)}
	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(pod) })
	clock.Advance(time.Minute)
	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(worker) })
	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(pod) }) // it has one
	require.Equal(t, []compute.Charge{pod, worker}, everything())

	clock.Advance(time.Minute)
	write(t, s, func(tx store.Tx) error { return tx.SeeCharges() })
	clock.Advance(time.Minute)
	write(t, s, func(tx store.Tx) error { return tx.CloseUnseen("p") }) // it is not watched
	write(t, s, func(tx store.Tx) error { return tx.CloseUnseen("w") })
	worker.SeenAt, worker.EndedAt = at(2), at(2)
	require.Equal(t, []compute.Charge{pod, worker}, everything())

	write(t, s, func(tx store.Tx) error { return tx.CloseCharge("p") })
	clock.Advance(time.Minute)
	write(t, s, func(tx store.Tx) error { return tx.CloseCharge("p") })
	write(t, s, func(tx store.Tx) error { return tx.SeeCharges() })
	pod.EndedAt = at(3)
	again := pod
	again.BeganAt, again.EndedAt = at(4), time.Time{}
	write(t, s, func(tx store.Tx) error { return tx.OpenCharge(again) })
	require.Equal(t, []compute.Charge{pod, worker, again}, everything())

	require.Equal(t, []compute.Charge{pod, worker}, list(both, nil, start, at(4)), "what begins at the end is not in it")
	require.Equal(t, []compute.Charge{again}, list(both, nil, at(3), at(1000)), "nor is what ends at the beginning")
	require.Equal(t, []compute.Charge{worker}, list(both[1:], nil, start, at(1000)))
	require.Equal(t, []compute.Charge{pod, again}, list(both, &p, start, at(1000)))
	require.Empty(t, list(both, &none, start, at(1000)))
	require.Empty(t, read(t, s, func(tx store.Tx) ([]compute.Charge, error) { return tx.ListCharges("v", both, nil, start, at(1000)) }))
}
