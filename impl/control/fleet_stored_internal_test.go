package control

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// changesHost stores how a host differs from the file, as a server does that ends then.
func changesHost(t *testing.T, s store.Store, change compute.HostChange) {
	t.Helper()
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error { return tx.SetHostChange(change) }))
}

func TestFleet_WhatIsOnARemovedHostEndsWithTheNextStart(t *testing.T) {
	t.Parallel()
	s, file := openStore(t), []Host{l4s("a", 3)}
	c := openControl(t, s, file)
	ctx := t.Context()
	stored := oneL4()
	stored.Persistent = &compute.PersistentMount{SizeGB: 10, Path: "/d"}
	var ids []compute.PodID
	for range 3 {
		pod, err := c.CreatePod(ctx, "u", stored)
		require.NoError(t, err)
		ids = append(ids, pod.ID)
	}
	_, err := c.ActOnPod(ctx, "u", ids[1], compute.PodStop)
	require.NoError(t, err)
	changesHost(t, s, compute.HostChange{ID: "a", Removed: true})

	again := openControl(t, s, file)
	var told []compute.PodID
	again.podHint = func(id compute.PodID) { told = append(told, id) }
	require.True(t, again.placement.Left("a"))
	require.Empty(t, again.hostIDs())
	require.NoError(t, again.EndRemoved(ctx))
	require.ElementsMatch(t, []compute.PodID{ids[0], ids[2]}, told)
	for i, status := range []compute.PodStatus{compute.PodError, compute.PodExited, compute.PodError} {
		pod, err := again.GetPod(ctx, "u", ids[i])
		require.NoError(t, err)
		require.Equal(t, status, pod.Status)
		if status == compute.PodError {
			require.Equal(t, []any{"its host a left the fleet", compute.EndedByHost}, []any{pod.Reason, pod.EndedBy})
		}
	}
	require.NoError(t, auditClaims(ctx, s))
	require.NoError(t, again.EndRemoved(ctx))
	require.Len(t, told, 2, "they have ended")
	require.NoError(t, openControl(t, s, []Host{l4s("b", 1)}).EndRemoved(ctx), "also when the file does not have it any more")
}

func TestFleet_AStoredHostMustFitTheCatalog(t *testing.T) {
	t.Parallel()
	catalog, err := builtIn()
	require.NoError(t, err)
	for added, says := range map[string]string{
		`{"id":"x","dataCenterId":"nowhere","cloud":"SECURE"}`:                                           `a host that was added before does not fit the catalog: REJECTED: hosts[0].dataCenterId "nowhere" is not in the catalog`,
		`{"id":"x","dataCenterId":"EU-RO-1","cloud":"SECURE","engine":"unix:///a","diskGb":1,"vcpus":1}`: `hosts[1].engine is that of host a, too`,
		`{`: `read host "x": `,
	} {
		s := openStore(t)
		changesHost(t, s, compute.HostChange{ID: "x", Added: added})
		_, err := NewPlacement(t.Context(), s, catalog, []Host{engined("a")}, packed)
		require.ErrorContains(t, err, says)
	}
}

func TestFleet_WhatWasAddedWinsOverTheFile(t *testing.T) {
	t.Parallel()
	s := openStore(t)
	c := openControl(t, s, []Host{l4s("a", 1)})
	ctx := t.Context()
	_, err := c.AddHost(ctx, l4s("d", 4))
	require.NoError(t, err)
	_, err = c.DrainHost(ctx, "d", true)
	require.NoError(t, err)

	file := []Host{l4s("d", 1), l4s("a", 1)}
	again := openControl(t, s, file)
	require.Equal(t, []string{"d", "a"}, again.hostIDs())
	require.EqualValues(t, 4, again.Hosts()[0].GPUCount)
	require.True(t, again.Hosts()[0].Draining)
	_, err = again.DrainHost(ctx, "d", false)
	require.NoError(t, err)
	require.EqualValues(t, 4, openControl(t, s, file).Hosts()[0].GPUCount)

	require.NoError(t, again.RemoveHost(ctx, "d"))
	require.Equal(t, []string{"a"}, again.hostIDs())
	require.Equal(t, []string{"a"}, openControl(t, s, file).hostIDs())
	_, err = again.DrainHost(ctx, "d", true)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.NoError(t, again.RemoveHost(ctx, "d"), "as often as it takes")
	_, err = again.AddHost(ctx, l4s("d", 2))
	require.NoError(t, err)
	require.EqualValues(t, 2, openControl(t, s, file).Hosts()[0].GPUCount)
}

func TestFleet_ACapacityLastsUntilTheFleetChanges(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{l4s("a", 1), onCPUsAlone("b")})
	disk, slow := int64(7), int64(5)
	require.NoError(t, c.placement.SetCapacity([]Capacity{
		{GPU: "NVIDIA L4", DataCenterID: "AP-JP-1", Count: 3, CUDAVersion: "12.8", DiskGB: &disk, DownloadMbps: &slow, PublicIP: new(false)},
		{GPU: "NVIDIA L4", DataCenterID: "EU-RO-1", Count: 2, Cloud: compute.Community, UploadMbps: &slow},
	}))
	const first, second = "capacity/0/AP-JP-1/NVIDIA L4", "capacity/1/EU-RO-1/NVIDIA L4"
	for range 2 {
		require.Equal(t, []string{"b", first, second}, c.hostIDs())
		free := c.placement.freeNow()
		require.Equal(t, amount{3, 24, 135, 7}, free[first])
		require.Equal(t, amount{2, 16, 90, simulatedDiskGB}, free[second])
		c.placement.Forget() // the rows say nothing of a capacity
	}
	one, other := c.Hosts()[1].Host, c.Hosts()[2].Host
	require.Equal(t, []any{compute.Secure, "12.8", int64(5), int64(simulatedMbps), false}, []any{one.Cloud, one.CUDAVersion, one.DownloadMbps, one.UploadMbps, one.hasPublicIP()})
	require.Equal(t, []any{compute.Community, "", int64(simulatedMbps), int64(5), true}, []any{other.Cloud, other.CUDAVersion, other.DownloadMbps, other.UploadMbps, other.hasPublicIP()})

	for says, wrong := range map[string][]Capacity{
		"capacity[1]: exactly one of gpu and cpu must be set": {{GPU: "NVIDIA L4", DataCenterID: "EU-RO-1"}, {GPU: "NVIDIA L4", CPU: "cpu3g", DataCenterID: "EU-RO-1"}},
		"capacity[0]: exactly one of gpu and cpu must be set": {{DataCenterID: "EU-RO-1"}},
		`capacity[0]: there is no "none" in the catalog`:      {{CPU: "none", DataCenterID: "EU-RO-1"}},
		`there is no data center "XX"`:                        {{GPU: "NVIDIA L4", DataCenterID: "XX"}},
	} {
		err := c.placement.SetCapacity(wrong)
		require.Equal(t, compute.Rejected, compute.CodeOf(err))
		require.ErrorContains(t, err, says)
	}
	require.Equal(t, []string{"b", first, second}, c.hostIDs(), "what makes no sense changes nothing")

	_, err := c.AddHost(t.Context(), l4s("c", 1))
	require.NoError(t, err)
	require.Equal(t, []string{"a", "b", "c"}, c.hostIDs())
}

func TestCatalog_WithCapacity_TakesFlavorsFromHosts(t *testing.T) {
	t.Parallel()
	c, err := builtIn()
	require.NoError(t, err)
	a, b := l4s("a", 1), onCPUsAlone("b")
	a.CPUs = []string{"cpu5c", "cpu3g"}
	hosts, err := c.withCapacity([]Host{a, b}, []Capacity{{CPU: "cpu3g", DataCenterID: "EU-RO-1", Count: 6}})
	require.NoError(t, err)
	require.Len(t, hosts, 3)
	require.Equal(t, []string{"cpu5c"}, hosts[0].CPUs)
	require.Empty(t, hosts[1].CPUs)
	require.Equal(t, []any{[]string{"cpu3g"}, int64(6), int64(24), ""}, []any{hosts[2].CPUs, hosts[2].VCPUs, hosts[2].MemoryGB, hosts[2].GPU})
	require.Equal(t, []string{"cpu5c", "cpu3g"}, a.CPUs, "the fleet itself stays")
	none, err := c.withCapacity([]Host{a, b}, nil)
	require.NoError(t, err)
	require.Equal(t, []Host{a, b}, none)
}

func TestPlacement_SetReported_RefusesTwoHostsOfOneID(t *testing.T) {
	t.Parallel()
	c := openScheduled(t, ReportedHost{Host: small()[0]})
	err := c.placement.SetReported([]ReportedHost{{Host: small()[1]}, {Host: small()[2]}, {Host: small()[1]}})
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, `hosts: there are two with id "b"`)
	require.Equal(t, []string{"a"}, c.hostIDs())
}
