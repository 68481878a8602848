package storetest

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func endedWorkers(t *testing.T, open Open) {
	s, _ := begin(t, open)
	code := int64(-1)
	first := compute.EndedWorker{
		ID: "first", EndpointID: "e", Version: 3, StartedAt: start, EndedAt: start.Add(time.Second), ExitCode: &code, Reason: "it fell\nover",
		Log: []compute.LogLine{
			{Source: compute.LogSystem, Position: 1, Text: "worker is up"},
			{Source: compute.LogContainer, Position: 1 << 60, Text: " \"quoted\" \\ <é>\t"},
			{Source: compute.LogContainer, Position: 1<<60 + 1, Text: ""},
		},
	}

	bare := compute.EndedWorker{ID: "bare", EndpointID: "other", EndedAt: start, Log: []compute.LogLine{}}
	for _, w := range []compute.EndedWorker{first, bare} {
		write(t, s, func(tx store.Tx) error { return tx.InsertEndedWorker(w) })
		got := read(t, s, func(tx store.Tx) (compute.EndedWorker, error) { return tx.EndedWorker(w.ID) })
		require.Empty(t, got.Log[len(w.Log):])
		got.Log = append([]compute.LogLine{}, got.Log...)
		require.Equal(t, w, got)
	}

	_, err := tryRead(t, s, func(tx store.Tx) (compute.EndedWorker, error) { return tx.EndedWorker("none") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))

	of := func(e compute.EndpointID) (ids []compute.WorkerID) {
		for _, w := range read(t, s, func(tx store.Tx) ([]compute.EndedWorker, error) { return tx.ListEndedWorkersOf(e) }) {
			require.Empty(t, w.Log, "a list has no logs")
			ids = append(ids, w.ID)
		}
		return ids
	}

	for i := range compute.EndedWorkers {
		require.Contains(t, of("e"), first.ID)
		w := compute.EndedWorker{ID: compute.WorkerID(fmt.Sprint(i)), EndpointID: "e", EndedAt: start}
		write(t, s, func(tx store.Tx) error { return tx.InsertEndedWorker(w) })
	}

	require.Len(t, of("e"), compute.EndedWorkers)
	require.Equal(t, compute.WorkerID("9"), of("e")[0], "the last one first")
	require.NotContains(t, of("e"), first.ID)
	require.Equal(t, []compute.WorkerID{"bare"}, of("other"))

	write(t, s, func(tx store.Tx) error { return tx.DeleteEndpoint("e") })
	require.Empty(t, of("e"))
	require.Equal(t, []compute.WorkerID{"bare"}, of("other"))
	write(t, s, func(tx store.Tx) error { return tx.Clear() })
	require.Empty(t, of("other"))
}
