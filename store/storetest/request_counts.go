package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func requestCounts(t *testing.T, open Open) {
	s, _ := begin(t, open)
	first := compute.RequestCount{UserID: "u", Window: "day", Start: start, Requests: 3}
	second := compute.RequestCount{UserID: "u", Window: "minute", Start: start, Requests: 1}
	for _, c := range []compute.RequestCount{second, first} {
		write(t, s, func(tx store.Tx) error { return tx.SetRequestCount(c) })
	}
	first.Start, first.Requests = start.Add(24*time.Hour), 7
	write(t, s, func(tx store.Tx) error { return tx.SetRequestCount(first) })
	got := read(t, s, func(tx store.Tx) ([]compute.RequestCount, error) { return tx.RequestCounts() })
	require.Equal(t, []compute.RequestCount{first, second}, got)

	other := compute.RequestCount{UserID: "v", Window: "day", Start: start, Requests: 3}
	write(t, s, func(tx store.Tx) error { return tx.SetRequestCount(other) })
	earlier := second
	earlier.Start = start.Add(-time.Minute)
	for _, c := range []compute.RequestCount{first, earlier} {
		write(t, s, func(tx store.Tx) error { return tx.DeleteRequestCount(c) })
	}
	got = read(t, s, func(tx store.Tx) ([]compute.RequestCount, error) { return tx.RequestCounts() })
	require.Equal(t, []compute.RequestCount{second, other}, got)
}
