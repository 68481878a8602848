package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func pod(id compute.PodID, user compute.UserID, status compute.PodStatus) compute.Pod {
	return compute.Pod{ID: id, UserID: user, Name: "n", Image: "i", Cloud: compute.Secure, Status: status, CreatedAt: start, MovedAt: start}
}

func insertPods(t *testing.T, s store.Store, pods ...compute.Pod) {
	t.Helper()
	write(t, s, func(tx store.Tx) error {
		for _, p := range pods {
			if err := tx.InsertPod(p); err != nil {
				return err
			}
		}
		return nil
	})
}

func getPod(t *testing.T, s store.Store, id compute.PodID) compute.Pod {
	t.Helper()
	return read(t, s, func(tx store.Tx) (compute.Pod, error) { return tx.Pod(id) })
}

func podIDs(pods []compute.Pod) []compute.PodID {
	var ids []compute.PodID
	for _, p := range pods {
		ids = append(ids, p.ID)
	}
	return ids
}

func podRoundTrip(t *testing.T, open Open) {
	s, _ := begin(t, open)
	full := compute.Pod{
		ID: "full", UserID: "u", Name: "a 'name'", Image: "img:1", Args: "-x \"y\"", DiskGB: 20, Ports: []string{"80/http", "22/tcp"},
		Env: map[string]string{"A": "1", "Ü": ""}, RegistryID: "r", Persistent: &compute.PersistentMount{SizeGB: 5, Path: "/p"},
		Network: &compute.NetworkMount{VolumeID: "v", Path: "/n"}, GPU: &compute.GPU{ID: "NVIDIA A40", Count: 2}, Cloud: compute.Community,
		DataCenterID: "dc", HostID: "h", TemplateID: "t", ClusterID: "c", Devices: []string{"GPU-1", "1"}, Address: 4098, GlobalNetworking: true, Locked: true, CostPerHour: 0.39,
		ClusterType: compute.RayCluster, Needs: compute.PodNeeds{CUDAVersions: []string{"12.4", "12.8"}, LeastCUDA: "12.1", VCPUsPerGPU: 4, MemoryGBPerGPU: 16},
		Status: compute.PodRunning,
		Reason: "because", Version: 7, CreatedAt: start, StartedAt: start.Add(time.Millisecond), MovedAt: start.Add(time.Second),
		StopAfter: start.Add(time.Hour), TerminateAfter: start.Add(2 * time.Hour), BidPerGPU: 0.2, InterruptAt: start, InterruptedAt: start.Add(time.Minute),
	}

	cpu := pod("cpu", "u", compute.PodProvisioning)
	cpu.CPU = &compute.CPU{ID: "cpu3c", VCPUCount: 2, MemoryGB: 4}
	cpu.Ports, cpu.Env = []string{}, map[string]string{}
	bare := compute.Pod{ID: "bare"}
	insertPods(t, s, full, cpu, bare)
	for _, want := range []compute.Pod{full, cpu, bare} {
		require.Equal(t, want, getPod(t, s, want.ID))
	}
	require.Equal(t, compute.Conflict, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertPod(full) })))

	_, err := tryRead(t, s, func(tx store.Tx) (compute.Pod, error) { return tx.Pod("none") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func podLists(t *testing.T, open Open) {
	s, _ := begin(t, open)
	late := pod("late", "u", compute.PodRunning)
	late.CreatedAt = start.Add(time.Second)
	insertPods(t, s, late, pod("first", "u", compute.PodRunning), pod("second", "u", compute.PodExited),
		pod("gone", "u", compute.PodTerminated), pod("other", "v", compute.PodRunning))
	require.Equal(t, []compute.PodID{"late", "second", "first"},
		podIDs(read(t, s, func(tx store.Tx) ([]compute.Pod, error) { return firstPage(tx.PagePods("u", wide)) })))
	require.Equal(t, []compute.PodID{"first", "other", "late"},
		podIDs(read(t, s, func(tx store.Tx) ([]compute.Pod, error) { return tx.ListPodsByStatus(compute.PodRunning) })))
	require.Empty(t, read(t, s, func(tx store.Tx) ([]compute.Pod, error) { return firstPage(tx.PagePods("nobody", wide)) }))
	require.Equal(t, map[compute.PodStatus]int64{compute.PodRunning: 3, compute.PodExited: 1},
		read(t, s, func(tx store.Tx) (map[compute.PodStatus]int64, error) { return tx.CountPods() }))
	timedPods(t, s)
}

// timedPods are listed, but for those that ended.
func timedPods(t *testing.T, s store.Store) {
	t.Helper()
	timed := func(id compute.PodID, status compute.PodStatus, change func(*compute.Pod)) compute.Pod {
		p := pod(id, "timed", status)
		change(&p)
		return p
	}
	insertPods(t, s, timed("stops", compute.PodRunning, func(p *compute.Pod) { p.StopAfter = start }),
		timed("ends", compute.PodExited, func(p *compute.Pod) { p.TerminateAfter = start }),
		timed("interrupted", compute.PodExited, func(p *compute.Pod) { p.InterruptAt = start }),
		timed("past", compute.PodTerminated, func(p *compute.Pod) { p.StopAfter, p.TerminateAfter = start, start }))
	require.Equal(t, []compute.PodID{"stops", "ends", "interrupted"},
		read(t, s, func(tx store.Tx) ([]compute.PodID, error) { return tx.TimedPods() }))
}

func podMove(t *testing.T, open Open) {
	s, clock := begin(t, open)
	p := pod("p", "u", compute.PodProvisioning)
	insertPods(t, s, p)
	clock.Advance(time.Minute)
	p.Status, p.Reason, p.StartedAt, p.DataCenterID, p.HostID = compute.PodStarting, "placed", clock.Now(), "dc", "h"
	p.Devices, p.Address, p.StopAfter = []string{"0"}, 7, start.Add(time.Hour)
	p.Name, p.CreatedAt = "not written", clock.Now()
	require.True(t, guarded(t, s, func(tx store.Tx) (bool, error) { return tx.MovePod(p) }))

	got := getPod(t, s, "p")
	want := p
	want.Name, want.CreatedAt, want.MovedAt, want.Version = "n", start, clock.Now(), 1
	require.Equal(t, want, got)

	require.False(t, guarded(t, s, func(tx store.Tx) (bool, error) { return tx.MovePod(p) }), "the version is past")
	p.ID = "none"
	require.False(t, guarded(t, s, func(tx store.Tx) (bool, error) { return tx.MovePod(p) }))
	require.Equal(t, got, getPod(t, s, "p"))
}

func podEnds(t *testing.T, open Open) {
	s, clock := begin(t, open)
	remove := func(before time.Time, limit int) (n int) {
		write(t, s, func(tx store.Tx) (err error) {
			n, err = tx.DeleteTerminated(before, limit)
			return err
		})
		return n
	}

	require.Zero(t, remove(start.Add(time.Hour), 9))
	secret := func(id compute.PodID) compute.Pod {
		p := pod(id, "u", compute.PodRunning)
		p.Args, p.Env = "--password secret", map[string]string{"PASSWORD": "secret"}
		return p
	}

	late := secret("late")
	late.CreatedAt = start.Add(time.Minute)
	insertPods(t, s, secret("a"), secret("b"), secret("stays"), late)
	for _, id := range []compute.PodID{"b", "a"} {
		clock.Advance(time.Second)
		p := secret(id)
		p.Status = compute.PodTerminated
		require.True(t, guarded(t, s, func(tx store.Tx) (bool, error) { return tx.MovePod(p) }))
		got := getPod(t, s, id)
		require.Empty(t, got.Env)
		require.Empty(t, got.Args)
	}

	require.Zero(t, remove(start.Add(time.Second), 9), "not before the time")
	require.Equal(t, 1, remove(start.Add(1500*time.Millisecond), 9))
	getPod(t, s, "a") // was terminated later
	require.Equal(t, 1, remove(start.Add(2*time.Minute), 1))
	require.Zero(t, remove(start.Add(time.Hour), 9))

	_, err := tryRead(t, s, func(tx store.Tx) (compute.Pod, error) { return tx.Pod("a") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	for _, id := range []compute.PodID{"stays", "late"} {
		require.Equal(t, map[string]string{"PASSWORD": "secret"}, getPod(t, s, id).Env)
	}

	insertPods(t, s, secret("after")) // one that a wrong clock has stamped
	p := secret("after")
	p.Status = compute.PodTerminated
	require.True(t, guarded(t, s, func(tx store.Tx) (bool, error) { return tx.MovePod(p) }))
	clock.Advance(time.Second)
	require.Equal(t, 1, remove(clock.Now(), 9))
}

func podAddresses(t *testing.T, open Open) {
	s, _ := begin(t, open)
	get := func() (all []compute.NetworkAddress, users []compute.UserID) {
		read(t, s, func(tx store.Tx) (struct{}, error) {
			return struct{}{}, tx.NetworkAddresses(func(u compute.UserID, a compute.NetworkAddress) {
				all, users = append(all, a), append(users, u)
			})
		})
		return all, users
	}

	a, b, gone := pod("a", "u", compute.PodExited), pod("b", "v", compute.PodRunning), pod("gone", "u", compute.PodTerminated)
	a.Address, b.Address, gone.Address = 9, 3, 9
	insertPods(t, s, gone, a, b, pod("without", "u", compute.PodRunning))
	all, users := get()
	require.Equal(t, []compute.NetworkAddress{3, 9}, all)
	require.Equal(t, []compute.UserID{"v", "u"}, users)

	b.Address = 9
	err := s.Write(t.Context(), func(tx store.Tx) error {
		_, err := tx.MovePod(b)
		return err
	})
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
}
