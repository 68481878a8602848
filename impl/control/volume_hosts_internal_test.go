package control

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// placeOf gives where the data of a volume is.
func (c *Control) placeOf(t *testing.T, id compute.VolumeID) (at volumePlace) {
	t.Helper()
	require.NoError(t, c.store.Read(t.Context(), func(tx store.Tx) (err error) {
		at, err = c.placement.placeOf(tx, id)
		return err
	}))
	return at
}

// dataOn gives the host that has the data of a volume; empty: no one host has.
func (c *Control) dataOn(t *testing.T, id compute.VolumeID) string { return c.placeOf(t, id).hostID }

// onCPUs is an endpoint whose workers have two vCPUs.
func onCPUs() compute.Endpoint {
	return compute.Endpoint{ID: "e", UserID: "u", Image: "i", DiskGB: 1, CPUs: []compute.CPU{{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}}}
}

func TestPlacement_WorkersAreWhereTheDataOfTheirVolumeIs(t *testing.T) {
	t.Parallel()
	far := engined("far")
	far.DataCenterID = "US-KS-2"
	c := openControl(t, openStore(t), []Host{engined("a"), engined("b"), far})
	for _, id := range []string{"a", "b", "far"} {
		c.answer(id)
	}
	ctx := t.Context()
	near, err := c.CreateVolume(ctx, "u", NewVolume{Name: "v", SizeGB: 10, DataCenterID: "EU-RO-1"})
	require.NoError(t, err)
	away, err := c.CreateVolume(ctx, "u", NewVolume{Name: "w", SizeGB: 10, DataCenterID: "US-KS-2"})
	require.NoError(t, err)
	e := onCPUs()
	e.VolumeIDs = []compute.VolumeID{away.ID, near.ID}
	starts := func(e compute.Endpoint) (compute.Worker, *compute.NetworkMount) {
		t.Helper()
		w, mount, err := c.placement.StartWorker(ctx, c.ids.Worker(), e, nil)
		require.NoError(t, err)
		return w, mount
	}

	w, mount := starts(e)
	require.Equal(t, "far", w.HostID)
	require.Equal(t, &compute.NetworkMount{VolumeID: away.ID, Path: workerMount}, mount)
	require.Equal(t, "far", c.dataOn(t, away.ID))
	require.Empty(t, c.dataOn(t, near.ID))
	c.placement.SetEngine("far", HostEngine{Reason: "it is away"})
	w, mount = starts(e)
	require.Contains(t, []string{"a", "b"}, w.HostID, "the next volume will do")
	require.Equal(t, near.ID, mount.VolumeID)
	require.Equal(t, w.HostID, c.dataOn(t, near.ID))
	again, _ := starts(e)
	require.Equal(t, w.HostID, again.HostID)
	c.placement.SetEngine(w.HostID, HostEngine{Reason: "it is away"})
	_, _, err = c.placement.StartWorker(ctx, c.ids.Worker(), e, nil)
	require.ErrorIs(t, err, ErrFull, "another host does not have the data")
	_, mount = starts(onCPUs())
	require.Nil(t, mount, "who mounts nothing may be there")
}

func TestPlacement_AGlobalVolumeHasItsDataOnOneHost(t *testing.T) {
	t.Parallel()
	far := engined("far")
	far.DataCenterID = "US-KS-2"
	c := openControl(t, openStore(t), []Host{engined("a"), far})
	c.answer("a")
	ctx := t.Context()
	v, err := c.CreateGlobalVolume(ctx, "u", "v")
	require.NoError(t, err)
	e := onCPUs()
	e.GlobalVolumeID = v.ID
	w, mount, err := c.placement.StartWorker(ctx, "one", e, nil)
	require.NoError(t, err)
	require.Equal(t, "a", w.HostID)
	require.Equal(t, &compute.NetworkMount{VolumeID: v.ID, Path: workerMount}, mount)
	require.Equal(t, "a", c.dataOn(t, v.ID))

	c.answer("far")
	c.placement.SetEngine("a", HostEngine{Reason: "it is away"})
	_, _, err = c.placement.StartWorker(ctx, "two", e, nil)
	require.ErrorIs(t, err, ErrFull)
	require.NoError(t, c.DeleteGlobalVolume(ctx, "u", v.ID))
	require.Empty(t, c.dataOn(t, v.ID), "it goes with the volume")
	_, _, err = c.placement.StartWorker(ctx, "three", e, nil)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func TestPlacement_DataIsNotedOnceAndWhereHostsAreApart(t *testing.T) {
	t.Parallel()
	apart, together := openControl(t, openStore(t), []Host{engined("a"), engined("b")}), openControl(t, openStore(t), []Host{l4s("a", 1)})
	mount := &compute.NetworkMount{VolumeID: "v", Path: "/v"}
	hold := func(c *Control, mount *compute.NetworkMount, host int, aimed bool) error {
		return c.store.Write(t.Context(), func(tx store.Tx) error {
			return c.placement.holdVolume(tx, mount, &choice{host: &c.placement.hosts[host], aimed: aimed})
		})
	}
	require.NoError(t, hold(apart, nil, 0, false))
	require.NoError(t, hold(apart, mount, 0, true))
	require.NoError(t, hold(together, mount, 0, false))
	require.Empty(t, apart.dataOn(t, "v"))
	require.Empty(t, together.dataOn(t, "v"))

	for range 2 {
		require.NoError(t, hold(apart, mount, 0, false))
		require.Equal(t, "a", apart.dataOn(t, "v"))
	}
	err := hold(apart, mount, 1, false)
	require.ErrorIs(t, err, errTaken)
	require.ErrorContains(t, err, "the network volume is on host a")
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	require.NoError(t, hold(apart, mount, 0, false))
}

// withGPUs is a host with an engine of its own and so many GPUs.
func withGPUs(id string, count int64) Host {
	h := engined(id)
	h.GPUCount, h.VCPUs, h.MemoryGB = count, 16*count, 64*count
	return h
}

// newVolume creates a network volume where these hosts are, and gives its mount.
func (c *Control) newVolume(t *testing.T) compute.NetworkMount {
	t.Helper()
	v, err := c.CreateVolume(t.Context(), "u", NewVolume{Name: "v", SizeGB: 10, DataCenterID: "EU-RO-1"})
	require.NoError(t, err)
	return compute.NetworkMount{VolumeID: v.ID, Path: "/v"}
}

func TestControl_CreateCluster_IsOnOneHostWithItsNewVolume(t *testing.T) {
	t.Parallel()
	for name, one := range map[string]struct {
		options PlacementOptions
		fleet   []Host
		on      string
	}{
		"packed, the fullest host has no room for all": {PlacementOptions{Place: runtime.Pack}, []Host{withGPUs("a", 1), withGPUs("b", 2)}, "b"},
		"spread, each host has room for all":           {PlacementOptions{Place: runtime.PolicySpread.Choose}, []Host{withGPUs("a", 2), withGPUs("b", 2)}, "a"},
		"spread, one host has room for all":            {PlacementOptions{Place: runtime.PolicySpread.Choose}, []Host{withGPUs("a", 1), withGPUs("b", 1), withGPUs("c", 2)}, "c"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, ctx := openControl(t, openStore(t), one.fleet), t.Context()
			c.placement.options = one.options
			for _, h := range one.fleet {
				c.answer(h.ID)
			}
			mount := c.newVolume(t)
			of := func(pods int64) NewCluster {
				n := ofL4s(pods)
				n.Pod.Network = []compute.NetworkMount{mount}
				return n
			}

			before := c.placement.freeNow()
			_, err := c.CreateCluster(ctx, "u", of(3))
			require.ErrorIs(t, err, ErrNever, "the hosts together could, but no one of them")
			require.ErrorContains(t, err, ", for each of 3 pods, all on one host; ")
			require.Equal(t, before, c.placement.freeNow())
			require.Empty(t, c.dataOn(t, mount.VolumeID))

			made, err := c.CreateCluster(ctx, "u", of(2))
			require.NoError(t, err)
			for _, p := range made.Pods {
				require.Equal(t, one.on, p.HostID)
			}
			require.NotEqual(t, made.Pods[0].Devices, made.Pods[1].Devices)
			require.Equal(t, one.on, c.dataOn(t, mount.VolumeID))
			free := c.placement.freeNow()
			require.EqualValues(t, before[one.on].gpus-2, free[one.on].gpus)
			c.placement.Forget()
			require.Equal(t, free, c.placement.freeNow(), "memory has what the rows have")

			_, err = c.CreateCluster(ctx, "u", of(2))
			require.ErrorIs(t, err, ErrFull)
			require.NotErrorIs(t, err, ErrNever, "it fits when the first one is gone")
			require.ErrorContains(t, err, ", for each of 2 pods, on the host that holds its data; ")
		})
	}
}

func TestPlacement_FollowsAVolumeThatGotItsDataMeanwhile(t *testing.T) {
	t.Parallel()
	c, ctx := openControl(t, openStore(t), []Host{engined("a"), engined("b")}), t.Context()
	c.answer("a")
	c.answer("b")
	o := &overtaken{Store: c.store}
	mountedOn := func(host int) compute.NetworkMount {
		mount := c.newVolume(t)
		o.first = func(tx store.Tx) error {
			return c.placement.holdVolume(tx, &mount, &choice{host: &c.placement.hosts[host]})
		}
		return mount
	}

	mount := mountedOn(1)
	c.store = o
	pod, err := c.CreatePod(ctx, "u", NewPod{Name: "a", Image: "i", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 8}, Network: []compute.NetworkMount{mount}})
	require.NoError(t, err)
	require.Nil(t, o.first, "it was nowhere when a was chosen")
	require.Equal(t, "b", pod.HostID)
	require.Equal(t, "b", c.dataOn(t, mount.VolumeID))

	e := onCPUs()
	e.VolumeIDs = []compute.VolumeID{mountedOn(0).VolumeID}
	c.placement.store = o
	w, _, err := c.placement.StartWorker(ctx, "w", e, nil)
	require.NoError(t, err)
	require.Nil(t, o.first)
	require.Equal(t, "a", w.HostID, "b, which has less left, was chosen before")
}

// The fleet grows from the hosts of one engine to hosts with engines of their own: the volumes of before stay where their data is.
func TestPlacement_VolumesOfBeforeStayOnTheEngineThatHostsShare(t *testing.T) {
	t.Parallel()
	plain := func(id string) Host {
		h := engined(id)
		h.Engine = ""
		return h
	}
	c, ctx := openControl(t, openStore(t), []Host{plain("p")}), t.Context()
	answering(c)
	before := c.newVolume(t)
	global, err := c.CreateGlobalVolume(ctx, "u", "models")
	require.NoError(t, err)
	mounts := func(mount compute.NetworkMount, vcpus int64) (compute.Pod, error) {
		return c.CreatePod(ctx, "u", NewPod{
			Name: "a", Image: "i", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: vcpus}, Network: []compute.NetworkMount{mount},
		})
	}
	on := func(host string, mount compute.NetworkMount, vcpus int64) {
		t.Helper()
		pod, err := mounts(mount, vcpus)
		require.NoError(t, err)
		require.Equal(t, host, pod.HostID)
	}

	on("p", before, 8)
	_, err = c.AddHost(ctx, engined("a"))
	require.NoError(t, err)
	c.answer("a")
	require.Equal(t, volumePlace{shared: true}, c.placeOf(t, before.VolumeID))
	after := c.newVolume(t)
	require.Equal(t, volumePlace{}, c.placeOf(t, after.VolumeID))
	on("p", before, 4)
	on("a", after, 8)
	require.Equal(t, volumePlace{hostID: "a"}, c.placeOf(t, after.VolumeID))
	e := onCPUs()
	e.GlobalVolumeID = global.ID
	w, _, err := c.placement.StartWorker(ctx, "w", e, nil)
	require.NoError(t, err)
	require.Equal(t, "p", w.HostID)

	_, err = mounts(before, 8)
	require.ErrorIs(t, err, ErrFull)
	require.ErrorContains(t, err, ", on a host of the engine that holds its data; ")
	err = c.store.Write(ctx, func(tx store.Tx) error {
		return c.placement.holdVolume(tx, &before, &choice{host: c.placement.host("a")})
	})
	require.ErrorIs(t, err, errTaken)
	require.ErrorContains(t, err, "the network volume is on the hosts without an engine of their own")

	_, err = c.AddHost(ctx, plain("q"))
	require.NoError(t, err)
	on("q", before, 8)
	latest := c.newVolume(t)
	c.placement.SetEngine("a", HostEngine{Reason: "it is away"})
	on("q", latest, 4)
	require.Equal(t, volumePlace{shared: true}, c.placeOf(t, latest.VolumeID), "that of one host is that of all that share its engine")

	// Mounted while there is but the one engine, it is there from then on.
	nowhere := c.newVolume(t)
	require.Equal(t, volumePlace{}, c.placeOf(t, nowhere.VolumeID))
	require.NoError(t, c.RemoveHost(ctx, "a"))
	_, err = mounts(nowhere, 2)
	require.NoError(t, err)
	_, err = c.AddHost(ctx, engined("a"))
	require.NoError(t, err)
	c.answer("a")
	require.Equal(t, volumePlace{shared: true}, c.placeOf(t, nowhere.VolumeID))

	require.NoError(t, c.RemoveHost(ctx, "p"))
	require.NoError(t, c.RemoveHost(ctx, "q"))
	require.Equal(t, volumePlace{}, c.placeOf(t, before.VolumeID), "nothing shares the engine any more")
	require.Equal(t, volumePlace{}, c.placeOf(t, latest.VolumeID))
}
