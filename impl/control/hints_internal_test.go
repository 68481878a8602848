package control

import (
	"crypto/rand"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// heard is what a Control said to the loops.
type heard struct {
	pods, timers []compute.PodID
	volumes      []compute.VolumeID
}

// openFrozen makes a Control whose clock stands still at noon until it is set forward.
func openFrozen(t *testing.T, fleet []Host) (*Control, *compute.SettableClock, *heard) {
	t.Helper()
	clock := compute.NewFrozenClock(time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC))
	db, err := sqlite.Open(t.Context(), filepath.Join(t.TempDir(), "berth.db"), clock)
	require.NoError(t, err)
	t.Cleanup(func() { _ = db.Close() })
	catalog, err := builtIn()
	require.NoError(t, err)
	p, err := NewPlacement(t.Context(), db, catalog, fleet, packed)
	require.NoError(t, err)

	h := &heard{}
	return New(db, compute.NewIDs(rand.Reader, clock), p, Runtime{Can: compute.AllCapabilities}, Hints{
		Pod:    func(id compute.PodID) { h.pods = append(h.pods, id) },
		Timer:  func(id compute.PodID) { h.timers = append(h.timers, id) },
		Volume: func(id compute.VolumeID) { h.volumes = append(h.volumes, id) },
	}), clock, h
}

// moved moves the pod as its loop does, and gives it.
func (c *Control) moved(t *testing.T, id compute.PodID, events ...compute.PodEvent) (pod compute.Pod) {
	t.Helper()
	for _, event := range events {
		require.NoError(t, c.placement.Write(t.Context(), func(tx store.Tx, claims *Claims) (err error) {
			if pod, err = tx.Pod(id); err != nil {
				return err
			}
			from := pod.Status
			if pod.Status, err = compute.PodMachine.Next(from, event); err != nil {
				return err
			}
			_, err = claims.Move(tx, from, pod)
			return err
		}))
	}
	return c.stored(t, id)
}

// stored gives the pod as the store has it, whoever owns it and be it terminated.
func (c *Control) stored(t *testing.T, id compute.PodID) (pod compute.Pod) {
	t.Helper()
	require.NoError(t, c.store.Read(t.Context(), func(tx store.Tx) (err error) {
		pod, err = tx.Pod(id)
		return err
	}))
	return pod
}

func TestControl_TellsTheLoopsWhatToLookAt(t *testing.T) {
	t.Parallel()
	c, clock, said := openFrozen(t, []Host{l4s("a", 4)})
	ctx := t.Context()
	hears := func(what string, pods, timers []compute.PodID) {
		t.Helper()
		require.Equal(t, pods, said.pods, what)
		require.Equal(t, timers, said.timers, what)
		*said = heard{}
	}

	plain, err := c.CreatePod(ctx, "u", oneL4())
	require.NoError(t, err)
	hears("a pod without timers", []compute.PodID{plain.ID}, nil)
	n := oneL4()
	n.TerminateAfter = clock.Wall().Add(time.Hour)
	pod, err := c.CreatePod(ctx, "u", n)
	require.NoError(t, err)
	one := []compute.PodID{pod.ID}
	hears("a pod with one", one, one)

	_, err = c.UpdatePod(ctx, "u", plain.ID, PodChange{Name: new("b")})
	require.NoError(t, err)
	hears("a change without timers", []compute.PodID{plain.ID}, nil)
	_, err = c.UpdatePod(ctx, "u", pod.ID, PodChange{Locked: new(false)})
	require.NoError(t, err)
	hears("a change with one", one, one)

	_, err = c.ActOnPod(ctx, "u", pod.ID, compute.PodRestart)
	require.Error(t, err)
	_, err = c.UpdatePod(ctx, "u", pod.ID, PodChange{Network: []compute.NetworkMount{}})
	require.Error(t, err)
	_, err = c.ActOnPod(ctx, "u", pod.ID, compute.PodStart)
	require.Error(t, err)
	hears("what is refused", nil, nil)

	_, err = c.ActOnPod(ctx, "u", pod.ID, compute.PodStop)
	require.NoError(t, err)
	hears("a stop", one, nil)
	_, err = c.ActOnPod(ctx, "u", pod.ID, compute.PodStart)
	require.NoError(t, err)
	hears("a start with a timer", one, one)
	require.NoError(t, c.DeletePod(ctx, "u", pod.ID))
	hears("an end", one, nil)

	_, err = c.ActOnPod(ctx, "u", plain.ID, compute.PodStop)
	require.NoError(t, err)
	_, err = c.ActOnPod(ctx, "u", plain.ID, compute.PodStart)
	require.NoError(t, err)
	hears("a start without timers", []compute.PodID{plain.ID, plain.ID}, nil)
}

func TestControl_TellsOfVolumesThatAreDeleted(t *testing.T) {
	t.Parallel()
	c, _, said := openFrozen(t, nil)
	v, err := c.CreateVolume(t.Context(), "u", NewVolume{Name: "v", SizeGB: 10, DataCenterID: "EU-RO-1"})
	require.NoError(t, err)
	require.Equal(t, compute.StandardVolume, v.Type)
	global, err := c.CreateGlobalVolume(t.Context(), "u", " g ")
	require.NoError(t, err)
	require.Equal(t, "g", global.Name)

	require.Equal(t, compute.NotFound, compute.CodeOf(c.DeleteVolume(t.Context(), "v", v.ID)))
	require.Equal(t, compute.NotFound, compute.CodeOf(c.DeleteGlobalVolume(t.Context(), "v", global.ID)))
	require.Empty(t, said.volumes, "whatever was refused")
	require.NoError(t, c.DeleteVolume(t.Context(), "u", v.ID))
	require.NoError(t, c.DeleteGlobalVolume(t.Context(), "u", global.ID))
	require.Equal(t, []compute.VolumeID{v.ID, global.ID}, said.volumes, "the runtime removes what they hold")
}
