package control

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

// engined is a host with an engine of its own.
func engined(id string) Host {
	h := l4s(id, 1)
	h.Engine, h.CPUs, h.VCPUs, h.MemoryGB = "unix:///"+id, []string{"cpu3g"}, 16, 64
	return h
}

// answering is a runtime whose hosts may have engines.
func answering(c *Control) {
	c.runtime.Engine = func(Host) error { return nil }
}

func (c *Control) answer(hostID string) {
	c.placement.SetEngine(hostID, HostEngine{Answers: true})
}

func TestControl_EnginesMustAnswerBeforeAnythingIsPlaced(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{engined("a")})
	_, err := c.CreatePod(t.Context(), "u", oneL4())
	require.ErrorIs(t, err, ErrFull)
	require.Equal(t, unseen.Reason, c.Hosts()[0].Away)
	require.False(t, c.Hosts()[0].Draining)

	c.answer("a")
	require.Empty(t, c.placement.Away("a"))
	pod, err := c.CreatePod(t.Context(), "u", oneL4())
	require.NoError(t, err)
	require.Equal(t, "a", pod.HostID)
	require.Zero(t, c.Hosts()[0].Free.GPUs)

	c.placement.SetEngine("a", HostEngine{Reason: "it is away"})
	require.Equal(t, "it is away", c.placement.Away("a"))
	require.NoError(t, c.DeletePod(t.Context(), "u", pod.ID))
	_, err = c.CreatePod(t.Context(), "u", oneL4())
	require.ErrorIs(t, err, ErrFull)
	c.placement.Forget()
	c.answer("a")
	_, err = c.CreatePod(t.Context(), "u", oneL4())
	require.NoError(t, err)

	require.Empty(t, c.placement.Away("nobody"))
	hosts, others := c.placement.Engines()
	require.Len(t, hosts, 1)
	require.False(t, others)
}

func TestControl_EnginesSayWhatTheirHostsHave(t *testing.T) {
	t.Parallel()
	asked := Host{ID: "a", Engine: "unix:///a", DataCenterID: "EU-RO-1", Cloud: compute.Secure, DiskGB: 50}
	partly := asked
	partly.ID, partly.Engine, partly.MemoryGB, partly.GPU, partly.GPUCount, partly.CPUs = "b", "unix:///b", 7, "NVIDIA L4", 1, []string{"cpu5c"}
	c := openControl(t, openStore(t), []Host{asked, partly})
	found := Host{VCPUs: 8, MemoryGB: 32, GPU: "NVIDIA L4", GPUCount: 2, GPUDevices: []string{"x", "y"}, CUDAVersion: "12.8"}
	for _, id := range []string{"a", "b"} {
		c.placement.SetEngine(id, HostEngine{Answers: true, Found: found})
	}

	hosts := c.Hosts()
	require.EqualValues(t, 8, hosts[0].VCPUs)
	require.EqualValues(t, 32, hosts[0].MemoryGB)
	require.EqualValues(t, 50, hosts[0].DiskGB)
	require.Equal(t, []string{"x", "y"}, hosts[0].GPUDevices)
	require.Contains(t, hosts[0].CPUs, "cpu3g")
	require.EqualValues(t, 7, hosts[1].MemoryGB, "what the operator says stays")
	require.EqualValues(t, 1, hosts[1].GPUCount)
	require.Equal(t, []string{"cpu5c"}, hosts[1].CPUs)

	n := oneL4()
	n.GPU.Count = 2
	pod, err := c.CreatePod(t.Context(), "u", n)
	require.NoError(t, err)
	require.Equal(t, []string{"x", "y"}, pod.Devices)

	c.placement.SetEngine("a", HostEngine{Reason: "it is away"})
	require.EqualValues(t, 8, c.Hosts()[0].VCPUs, "it has that while it is away")
	readings := c.placement.readings
	c.placement.SetEngine("a", HostEngine{Reason: "it is away for longer"})
	require.Equal(t, "it is away for longer", c.Hosts()[0].Away)
	require.Equal(t, readings, c.placement.readings)
	c.placement.SetEngine("a", HostEngine{})
	require.NotEmpty(t, c.placement.Away("a"), "whatever is said of one that does not answer")
}

func TestControl_EnginesThatMakeNoSenseAreRefused(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{engined("a")})
	_, err := c.AddHost(t.Context(), engined("b"))
	require.ErrorContains(t, err, "engine: host b has one of its own, which what this server runs pods and workers on cannot use")

	answering(c)
	for _, wrong := range []Host{
		{ID: "b", Engine: "box", DataCenterID: "EU-RO-1", Cloud: compute.Secure, DiskGB: 1},
		{ID: "b", Engine: "unix:///b", DataCenterID: "EU-RO-1", Cloud: compute.Secure},
		{ID: "b", Engine: "unix:///a", DataCenterID: "EU-RO-1", Cloud: compute.Secure, DiskGB: 1},
	} {
		_, err := c.AddHost(t.Context(), wrong)
		require.Equal(t, compute.Rejected, compute.CodeOf(err), "%+v", wrong)
	}
	_, err = c.AddHost(t.Context(), engined("b"))
	require.NoError(t, err)
}

func TestControl_VolumesStayOnTheHostThatHasTheirData(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	c := openControl(t, s, []Host{engined("a"), engined("b")})
	c.answer("a")
	ctx := t.Context()
	v, err := c.CreateVolume(ctx, "u", NewVolume{Name: "v", SizeGB: 10, DataCenterID: "EU-RO-1"})
	require.NoError(t, err)
	n := NewPod{Name: "a", Image: "i", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 8}, Network: []compute.NetworkMount{{VolumeID: v.ID, Path: "/v"}}}
	first, err := c.CreatePod(ctx, "u", n)
	require.NoError(t, err)
	require.Equal(t, "a", first.HostID)

	c.placement.SetEngine("a", HostEngine{Reason: "it is away"})
	c.answer("b")
	_, err = c.CreatePod(ctx, "u", n)
	require.ErrorIs(t, err, ErrFull)
	require.ErrorContains(t, err, "on the host that holds its data")
	e := compute.Endpoint{ID: "e", UserID: "u", Image: "i", DiskGB: 1, CPUs: []compute.CPU{{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}}, VolumeIDs: []compute.VolumeID{v.ID}}
	_, _, err = c.placement.StartWorker(ctx, c.ids.Worker(), e, nil)
	require.ErrorIs(t, err, ErrFull)

	again := openControl(t, s, []Host{engined("a"), engined("b")})
	again.answer("a")
	again.answer("b")
	second, err := again.CreatePod(ctx, "u", n)
	require.NoError(t, err)
	require.Equal(t, "a", second.HostID)
	for _, id := range []compute.PodID{first.ID, second.ID} {
		require.NoError(t, again.DeletePod(ctx, "u", id))
	}
	require.NoError(t, again.DeleteVolume(ctx, "u", v.ID))
	left, err := audit(ctx, s, []Host{engined("a")})
	require.NoError(t, err)
	require.Equal(t, amount{1, 16, 64, 100}, left["a"])
}

func TestControl_NetworksDoNotSpanEngines(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{engined("a")})
	c.answer("a")
	n := oneL4()
	n.GlobalNetworking = true
	_, err := c.CreatePod(t.Context(), "u", n)
	require.ErrorContains(t, err, "globalNetworking: hosts of this fleet have engines of their own")

	pod, err := c.CreatePod(t.Context(), "u", oneL4())
	require.NoError(t, err)
	on := true
	_, err = c.UpdatePod(t.Context(), "u", pod.ID, PodChange{GlobalNetworking: &on})
	require.ErrorContains(t, err, "globalNetworking: hosts of this fleet have engines of their own")
}

// TestPlacement_RefusalsSayWhichHostsAreOutOfUse: a host that drains or is silent is none that could never hold it, and none that will.
func TestPlacement_RefusalsSayWhichHostsAreOutOfUse(t *testing.T) {
	t.Parallel()
	const never, none = "no host could hold it with nothing else on it, either", "of the hosts that could hold it with nothing else on them none is in use: "
	asks := Host{ID: "asks", Engine: "unix:///asks", DataCenterID: "EU-RO-1", Cloud: compute.Secure, DiskGB: 100}
	for name, c := range map[string]struct {
		fleet       []Host
		drained     []string
		says, never string
	}{
		"all drain":                    {fleet: []Host{l4s("a", 1), l4s("b", 1)}, drained: []string{"a", "b"}, says: none + "2 are draining", never: never},
		"one is silent":                {fleet: []Host{engined("a")}, says: none + "1 does not answer", never: never},
		"one drains, one is silent":    {fleet: []Host{l4s("a", 1), engined("b")}, drained: []string{"a"}, says: none + "1 is draining, 1 does not answer", never: never},
		"what one has is not known":    {fleet: []Host{asks}, says: "no host that is known could hold it with nothing else on it, either: 1 has not said yet what it has", never: never},
		"another sort of host drains":  {fleet: []Host{l4s("a", 1), {ID: "b", DataCenterID: "EU-RO-1", Cloud: compute.Secure, CPUs: []string{"cpu3g"}, VCPUs: 16, MemoryGB: 64, DiskGB: 100}}, drained: []string{"b"}, says: "; free there: 0 in all", never: "with nothing else"},
		"one is in use, one is silent": {fleet: []Host{l4s("a", 1), engined("b")}, says: "; free there: 0 in all", never: "with nothing else"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ctl := openControl(t, openStore(t), c.fleet)
			for _, id := range c.drained {
				_, err := ctl.DrainHost(t.Context(), id, true)
				require.NoError(t, err)
			}
			if len(c.drained) == 0 || c.drained[0] == "b" { // whatever is in use is full
				_, _ = ctl.CreatePod(t.Context(), "u", oneL4())
			}

			_, err := ctl.CreatePod(t.Context(), "u", oneL4())
			require.ErrorIs(t, err, ErrFull)
			require.ErrorContains(t, err, c.says)
			require.NotContains(t, err.Error(), c.never)
			larger := oneL4()
			larger.GPU.Count = 2
			_, err = ctl.CreatePod(t.Context(), "u", larger)
			require.ErrorIs(t, err, ErrFull)
			if !c.fleet[0].Asks() {
				require.ErrorContains(t, err, never, "whether or not they are in use")
			}
		})
	}
}
