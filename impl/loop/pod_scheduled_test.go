package loop_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/impl/runtime/sim"
)

func TestPods_WhatAPodWaitsFor(t *testing.T) {
	t.Parallel()
	y := newYard(t)
	waits, at := "0/2 nodes are available: 2 Insufficient cpu.", ""
	y.host.state = func(s runtime.State) runtime.State {
		if waits != "" {
			s = runtime.State{Phase: runtime.Starting, Generation: s.Generation}
		}
		s.Reason, s.HostID = waits, at
		return s
	}

	id := y.create(nil)
	y.step(0)
	y.step(time.Second)
	y.step(time.Second)
	pod := y.pod(id)
	require.Equal(t, compute.PodStarting, pod.Status)
	require.Equal(t, waits, pod.Reason)
	require.Contains(t, y.lines(id), "pod is STARTING: "+waits)

	before := pod.Version
	for range 5 {
		y.step(time.Second)
	}
	require.Equal(t, before, y.pod(id).Version, "what stays as it is is not written again")

	waits, at = "", "node-1"
	y.step(sim.DefaultBoot)
	y.step(time.Second)
	pod = y.pod(id)
	require.Equal(t, compute.PodRunning, pod.Status)
	require.Empty(t, pod.Reason)
	require.Equal(t, "node-1", pod.HostID)
}

// lines gives what berth wrote in the pod's log.
func (y *yard) lines(id compute.PodID) (all []string) {
	require.NoError(y, y.store.Read(y.Context(), func(tx tx) error {
		lines, err := tx.SystemLines(string(id), 0)
		for _, l := range lines {
			all = append(all, l.Text)
		}
		return err
	}))
	return all
}
