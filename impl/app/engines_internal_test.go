package app

import (
	"context"
	"errors"
	"log/slog"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/loop"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store/sqlite"
)

// ofEngines is a runtime of hosts that have engines of their own.
type ofEngines struct {
	runtime.Runtime
	hosts map[string]runtime.Runtime

	mu     sync.Mutex
	states map[string]runtime.EngineState
}

func (*ofEngines) SetEngines([]runtime.Engine, bool) error { return nil }

func (f *ofEngines) EngineStates() map[string]runtime.EngineState {
	f.mu.Lock()
	defer f.mu.Unlock()
	all := map[string]runtime.EngineState{}
	for id, s := range f.states {
		all[id] = s
	}
	return all
}

func (f *ofEngines) On(hostID string) (runtime.Runtime, bool) {
	on, ok := f.hosts[hostID]
	return on, ok
}

func (f *ofEngines) set(hostID string, s runtime.EngineState) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.states[hostID] = s
}

// heldHost is a host with something that should not be there any more, and does not end before it is let go.
type heldHost struct {
	runtime.Runtime
	ids   []string
	asked chan struct{} // receives each time when it is to end
	let   chan error
}

func (h *heldHost) List(context.Context) ([]string, error) { return h.ids, nil }

func (h *heldHost) Remove(ctx context.Context, _ string) error {
	h.asked <- struct{}{}
	select {
	case err := <-h.let:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// twoHosts starts with two hosts whose engines answer, of which the first one is held.
func twoHosts(t *testing.T) (e *engines, pods *ofEngines, held *heldHost) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), compute.SystemClock{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, db.Close()) })
	catalog, err := control.BuiltInCatalog()
	require.NoError(t, err)
	var fleet []control.Host
	for _, id := range []string{"one", "two"} {
		fleet = append(fleet, control.Host{
			ID: id, Engine: "unix:///" + id, DataCenterID: "EU-RO-1", Cloud: "SECURE", CPUs: []string{"cpu3c"}, VCPUs: 6, MemoryGB: 64, DiskGB: 100,
		})
	}
	p, err := control.NewPlacement(t.Context(), db, catalog, fleet, control.PlacementOptions{})
	require.NoError(t, err)

	answer := func() map[string]runtime.EngineState {
		up := runtime.EngineState{Asked: true, Answers: true, Times: 1}
		return map[string]runtime.EngineState{"one": up, "two": up}
	}
	held = &heldHost{ids: []string{"gone"}, asked: make(chan struct{}, 10), let: make(chan error)}
	pods = &ofEngines{hosts: map[string]runtime.Runtime{"one": held, "two": &heldHost{}}, states: answer()}
	workers := &ofEngines{hosts: map[string]runtime.Runtime{"one": &heldHost{}, "two": &heldHost{}}, states: answer()}
	log, u := slog.New(slog.DiscardHandler), &undo{}
	t.Cleanup(func() { require.NoError(t, u.all(false)) })
	e, err = newEngines(t.Context(), &runtimes{kind: &runtime.Kind{}, Opened: runtime.Opened{Pods: pods, Workers: workers}}, p,
		loop.NewPods(loop.PodFleet{Store: db, Placement: p, Runtime: pods, Clock: compute.SystemClock{}, Log: log}),
		loop.NewWorkers(loop.Fleet{Store: db, Placement: p, Runtime: workers, Clock: compute.SystemClock{}, Log: log}), "http://192.0.2.1", log, u)
	require.NoError(t, err)
	return e, pods, held
}

// settle waits until no host is being cleared.
func settle(t *testing.T, e *engines) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	await(ctx, e.idle)
	require.NoError(t, ctx.Err())
}

func TestEngines_WhatDoesNotEndOnAHostHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	e, pods, held := twoHosts(t)
	<-held.asked
	require.Contains(t, e.placement.Away("one"), "has not ended yet", "and the start did not wait for it")
	require.Empty(t, e.placement.Away("two"))

	pods.set("two", runtime.EngineState{Asked: true, Reason: "it has gone", Times: 1})
	require.NoError(t, e.refresh(t.Context()))
	require.Equal(t, "it has gone", e.placement.Away("two"))
	require.Empty(t, held.asked, "it is cleared once at a time")

	held.let <- errors.New("it does not end")
	settle(t, e)
	require.ErrorContains(t, e.refresh(t.Context()), "it does not end")
	<-held.asked
	held.let <- nil
	settle(t, e)
	require.NoError(t, e.refresh(t.Context()))
	require.Empty(t, e.placement.Away("one"))
	require.Empty(t, held.asked)
}

func TestEngines_ClearTheOneThatTookThePlaceOfAnother(t *testing.T) {
	t.Parallel()
	e, _, held := twoHosts(t)
	<-held.asked
	e.named[0].Address = "unix:///before"
	require.NoError(t, e.refresh(t.Context()))
	settle(t, e)
	require.NoError(t, e.refresh(t.Context()))
	<-held.asked
	require.Contains(t, e.placement.Away("one"), "has not ended yet")
	held.let <- nil
	settle(t, e)
	require.NoError(t, e.refresh(t.Context()))
	require.Empty(t, e.placement.Away("one"))
}
