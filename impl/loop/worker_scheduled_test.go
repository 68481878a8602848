package loop_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
)

// scheduling is a fleet with a scheduler that finds no room as long as it waits for something.
type scheduling struct {
	*sim.Fleet
	waits, at string
}

func (f *scheduling) Inspect(ctx context.Context, id string) (runtime.State, error) {
	s, err := f.Fleet.Inspect(ctx, id)
	if f.waits != "" && err == nil {
		s = runtime.State{Phase: runtime.Starting, Generation: s.Generation, Reason: f.waits}
	}
	s.HostID = f.at
	return s, err
}

func TestWorkers_WhatAWorkerWaitsFor(t *testing.T) {
	t.Parallel()
	s := serve(t, 1, nil)
	fleet := &scheduling{Fleet: s.containers, waits: "0/2 nodes are available: 2 Insufficient cpu."}
	s.workers.Runtime = fleet
	s.step(0)
	s.step(time.Second)
	_, all, err := s.endpoints.Workers(t.Context(), "u", s.e.ID)
	require.NoError(t, err)
	require.Len(t, all, 1)
	require.Equal(t, throttled, all[0].Status)
	require.Equal(t, fleet.waits, all[0].Reason)

	s.step(time.Hour)
	_, ids := s.seen()
	require.Equal(t, []compute.WorkerID{all[0].ID}, ids, "it is not replaced: another one would wait as well")

	fleet.waits, fleet.at = "the image is pulled", "node-1"
	s.step(time.Second)
	statuses, _ := s.seen()
	require.Equal(t, []compute.WorkerStatus{initializing}, statuses, "it has a host")
	var lines []compute.LogLine
	require.NoError(t, s.db.Read(t.Context(), func(tx tx) (err error) {
		lines, err = tx.SystemLines(string(all[0].ID), 0)
		return err
	}))
	require.Equal(t, "worker waits: the image is pulled", lines[len(lines)-1].Text)
}
