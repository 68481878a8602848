package control

import (
	"context"
	"database/sql"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
	"github.com/berthdev/berth/store/sqlite"
)

// oneL4 is a pod with one GPU.
func oneL4() NewPod {
	return NewPod{Name: "a", Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1}, DiskGB: 1}
}

// l4s is a host with so many GPUs.
func l4s(id string, count int64) Host {
	return Host{
		ID: id, DataCenterID: "EU-RO-1", Cloud: compute.Secure, GPU: "NVIDIA L4", GPUCount: count, VCPUs: 8 * count, MemoryGB: 8 * count, DiskGB: 100,
	}
}

// hostIDs gives the hosts of the fleet.
func (c *Control) hostIDs() (ids []string) {
	for _, h := range c.Hosts() {
		ids = append(ids, h.ID)
	}
	return ids
}

func TestControl_HostsOutliveTheServer(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	file := []Host{l4s("a", 1), l4s("b", 1), l4s("c", 1)}
	c := openControl(t, s, file)
	_, err := c.AddHost(t.Context(), l4s("d", 1))
	require.NoError(t, err)
	_, err = c.DrainHost(t.Context(), "b", true)
	require.NoError(t, err)
	require.NoError(t, c.RemoveHost(t.Context(), "a"))

	again := openControl(t, s, file)
	require.Equal(t, c.Hosts(), again.Hosts())
	require.Equal(t, []string{"b", "c", "d"}, again.hostIDs())
	require.True(t, again.Hosts()[0].Draining)
	require.True(t, again.placement.Left("a"), "what is on it is still to end")

	again.placement.Forget()
	_, err = again.AddHost(t.Context(), l4s("a", 2))
	require.NoError(t, err)
	require.False(t, again.placement.Left("a"))
	require.Equal(t, again.Hosts(), openControl(t, s, file).Hosts())

	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error { return tx.Clear() }))
	again.placement.Clear()
	require.Equal(t, []string{"a", "b", "c"}, again.hostIDs(), "a reset gives back what the file has")
	require.False(t, again.Hosts()[1].Draining)
}

func TestFleet_HostsComeAndGoWhileRunning(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), nil)
	ctx := t.Context()

	create := func() (compute.Pod, error) { return c.CreatePod(ctx, "u", oneL4()) }
	full := func() {
		t.Helper()
		_, err := create()
		require.ErrorIs(t, err, ErrFull)
	}

	on := func(host string) compute.Pod {
		t.Helper()
		pod, err := create()
		require.NoError(t, err)
		require.Equal(t, host, pod.HostID)
		return pod
	}

	full()
	add := func(h Host) {
		t.Helper()
		added, err := c.AddHost(ctx, h)
		require.NoError(t, err)
		require.Equal(t, FleetHost{Host: h, Free: compute.Claimed{GPUs: h.GPUCount, VCPUs: h.VCPUs, MemoryGB: h.MemoryGB, DiskGB: h.DiskGB}}, added)
	}
	drain := func(on bool) {
		t.Helper()
		drained, err := c.DrainHost(ctx, "a", on)
		require.NoError(t, err)
		require.Equal(t, on, drained.Draining)
	}
	add(l4s("a", 2))
	on("a")

	drain(true)
	full()
	require.Empty(t, c.placement.places(want{GPU: "NVIDIA L4", Count: 1}).all, "nor is it offered")
	add(l4s("b", 1))

	on("b")
	full()
	drain(false)
	on("a")
	full()

	require.NoError(t, c.RemoveHost(ctx, "b"))
	add(l4s("b", 2))
	require.Equal(t, []string{"a", "b"}, c.hostIDs())
	on("b")
	on("b")
	full()
	require.NoError(t, auditClaims(ctx, c.store))
}

func TestFleet_RefusesAChangeThatMakesNoSense(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{l4s("a", 1)})
	nowhere := l4s("b", 1)
	nowhere.DataCenterID = "XX"

	for _, refused := range []struct {
		host Host
		code compute.Code
	}{{l4s("a", 1), compute.Conflict}, {nowhere, compute.Rejected}} {
		_, err := c.AddHost(t.Context(), refused.host)
		require.Equal(t, refused.code, compute.CodeOf(err), "%v", err)
	}

	_, err := c.AddHost(t.Context(), nowhere)
	require.ErrorContains(t, err, `dataCenterId "XX" is not in the catalog`)
	_, err = c.DrainHost(t.Context(), "none", true)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.Equal(t, compute.NotFound, compute.CodeOf(c.RemoveHost(t.Context(), "none")))
	require.Equal(t, []string{"a"}, c.hostIDs())

	scheduled := openScheduled(t)
	_, err = scheduled.AddHost(t.Context(), l4s("a", 1))
	require.ErrorContains(t, err, "the hosts are those of the runtime's own scheduler")

	simulated := openControl(t, openStore(t), SimulatedFleet(c.catalog))
	_, err = simulated.AddHost(t.Context(), l4s("a", 1))
	require.NoError(t, err, "to hosts that are not checked, as they are not of a file")
}

func TestFleet_LeavingHostEndsWhatIsOnIt(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	c := openControl(t, s, []Host{l4s("a", 4), l4s("b", 1)})
	var hinted []compute.PodID
	c.podHint = func(id compute.PodID) { hinted = append(hinted, id) }

	ctx := t.Context()
	create := func(n NewPod) compute.PodID {
		pod, err := c.CreatePod(ctx, "u", n)
		require.NoError(t, err)
		return pod.ID
	}

	other := create(oneL4())
	stored := oneL4()
	stored.Persistent = &compute.PersistentMount{SizeGB: 40, Path: "/d"}
	runs, stopped := create(stored), create(stored)
	_, err := c.ActOnPod(ctx, "u", stopped, compute.PodStop)
	require.NoError(t, err)

	hinted = nil
	require.False(t, c.placement.Left("a"))
	require.NoError(t, c.RemoveHost(ctx, "a"))
	require.True(t, c.placement.Left("a"))
	require.Equal(t, []compute.PodID{runs}, hinted)

	pod, err := c.GetPod(ctx, "u", runs)
	require.NoError(t, err)
	require.Equal(t, compute.PodError, pod.Status)
	require.Equal(t, "its host a left the fleet", pod.Reason)

	for id, status := range map[compute.PodID]compute.PodStatus{stopped: compute.PodExited, other: compute.PodProvisioning} {
		pod, err := c.GetPod(ctx, "u", id)
		require.NoError(t, err)
		require.Equal(t, status, pod.Status)
	}
	require.NoError(t, auditClaims(ctx, s), "the storage of stopped pods stays theirs")

	require.NoError(t, c.RemoveHost(ctx, "a"), "as often as it takes")

	_, err = c.ActOnPod(ctx, "u", runs, compute.PodStart)
	require.ErrorContains(t, err, "on the host that holds its data")
	_, err = c.AddHost(ctx, l4s("a", 4))
	require.NoError(t, err)
	require.False(t, c.placement.Left("a"))

	_, err = c.CreatePod(ctx, "u", NewPod{Name: "a", Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1}, DiskGB: 21})
	require.ErrorIs(t, err, ErrFull, "of its disk, 80 GB are theirs still")
	pod, err = c.ActOnPod(ctx, "u", runs, compute.PodStart)
	require.NoError(t, err)
	require.Equal(t, "a", pod.HostID)
}

// What keeps two servers from giving away a device twice is the index in the database alone: each knows nothing of what the other did.
func TestPlacement_OnlyTheIndexKeepsTwoServersApart(t *testing.T) {
	t.Parallel()
	for name, broken := range map[string]bool{"with the index": false, "without it": true} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			path := filepath.Join(t.TempDir(), "berth.db")
			var s store.Store
			s, err := sqlite.Open(t.Context(), path, compute.SystemClock{})
			require.NoError(t, err)

			t.Cleanup(func() { _ = s.Close() })
			if broken {
				db, err := sql.Open("sqlite", path)
				require.NoError(t, err)
				_, err = db.Exec("DROP INDEX claims_of_device")
				require.NoError(t, err)
				require.NoError(t, db.Close())
			}

			for _, c := range []*Control{openControl(t, s, []Host{l4s("a", 2)}), openControl(t, s, []Host{l4s("a", 2)})} {
				_, err := c.CreatePod(t.Context(), "u", oneL4())
				require.NoError(t, err)
			}
			_, err = auditDevices(t.Context(), s)

			if broken {
				require.ErrorContains(t, err, "device a 0 is that of")
			} else {
				require.NoError(t, err)
			}
		})
	}
}

func TestPlacement_RereadsMemoryOnlyAfterAStoreFailure(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	c := openControl(t, s, []Host{l4s("a", 2)})
	readings := func() int {
		_ = c.placement.freeNow()
		return c.placement.readings
	}
	require.Equal(t, 1, readings())

	gone, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := c.CreatePod(gone, "u", oneL4())
	require.ErrorIs(t, err, context.Canceled)
	require.Equal(t, 1, readings())
	require.EqualValues(t, 2, c.placement.freeNow()["a"].gpus, "what was chosen for it is free again")

	err = c.placement.Write(t.Context(), func(store.Tx, *Claims) error { return errFlaky })
	require.ErrorIs(t, err, errFlaky)
	require.Equal(t, 2, readings())
}

func TestFleet_PodsOfARemovedHostEndThoughTheClientHangsUp(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{l4s("a", 3)})
	var ids []compute.PodID
	for range 3 {
		pod, err := c.CreatePod(t.Context(), "u", oneL4())
		require.NoError(t, err)
		ids = append(ids, pod.ID)
	}

	ctx, hangUp := context.WithCancel(t.Context())
	c.podHint = func(compute.PodID) { hangUp() }
	require.NoError(t, c.RemoveHost(ctx, "a"))
	require.Error(t, ctx.Err())
	for _, id := range ids {
		pod, err := c.GetPod(t.Context(), "u", id)
		require.NoError(t, err)
		require.Equal(t, compute.PodError, pod.Status)
	}

	gone := openControl(t, openStore(t), []Host{l4s("a", 1)})
	require.NoError(t, gone.RemoveHost(ctx, "a"), "nor does it matter when")
	require.Empty(t, gone.hostIDs())
	require.True(t, gone.placement.Left("a"))
}

func TestFleet_RemovedHostsAreForgottenOnceNothingIsThere(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	c, ctx := openControl(t, s, []Host{l4s("a", 1)}), t.Context()
	stored := func() (ids []string) {
		require.NoError(t, s.Read(ctx, func(tx store.Tx) error {
			all, err := tx.HostChanges()
			for _, one := range all {
				ids = append(ids, one.ID)
			}
			return err
		}))
		return ids
	}
	add := func(id string) {
		_, err := c.AddHost(ctx, l4s(id, 1))
		require.NoError(t, err)
	}

	add("b")
	add("c")
	n := oneL4()
	n.Persistent = &compute.PersistentMount{SizeGB: 10, Path: "/d"}
	var ids []compute.PodID
	for range 3 {
		pod, err := c.CreatePod(ctx, "u", n)
		require.NoError(t, err)
		if pod.HostID == "c" {
			ids = append(ids, pod.ID)
		}
	}
	for _, id := range []string{"a", "b", "c"} {
		require.NoError(t, c.RemoveHost(ctx, id))
	}
	require.Equal(t, []string{"b", "c", "a"}, stored())
	require.NoError(t, c.EndRemoved(ctx))
	require.Equal(t, []string{"b", "c", "a"}, stored(), "the data of pods is there")

	page, err := c.ListPods(ctx, "u", nil)
	require.NoError(t, err)
	for _, pod := range page {
		require.NoError(t, c.DeletePod(ctx, "u", pod.ID))
	}
	require.Len(t, ids, 1)
	require.NoError(t, c.EndRemoved(ctx))
	require.Equal(t, []string{"a"}, stored(), "the operator's file has it")
	require.Empty(t, c.hostIDs())
	add("b")
	require.Equal(t, []string{"b"}, c.hostIDs())
}

func TestFleet_PodsOfAHostThatCameBackStay(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{l4s("a", 1)})
	pod, err := c.CreatePod(t.Context(), "u", oneL4())
	require.NoError(t, err)
	require.NoError(t, c.endOn(t.Context(), "a"))
	pod, err = c.GetPod(t.Context(), "u", pod.ID)
	require.NoError(t, err)
	require.Equal(t, compute.PodProvisioning, pod.Status)
}
