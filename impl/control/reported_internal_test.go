package control

import (
	"crypto/rand"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/runtime"
	"github.com/berthdev/berth/store"
)

// openScheduled makes a Control whose runtime places by itself.
func openScheduled(t *testing.T, hosts ...ReportedHost) *Control {
	catalog, err := builtIn()
	require.NoError(t, err)
	s := openStore(t)
	p, err := NewPlacement(t.Context(), s, catalog, nil, PlacementOptions{Place: runtime.Pack, Schedules: true})
	require.NoError(t, err)
	require.NoError(t, p.SetReported(hosts))
	can := compute.AllCapabilities
	can.Schedules = true
	return New(s, compute.NewIDs(rand.Reader, compute.SystemClock{}), p, Runtime{Can: can}, Hints{Pod: func(compute.PodID) {}})
}

// gpuPod asks for so many GPUs.
func gpuPod(count int64) NewPod {
	return NewPod{Name: "p", Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: count}}
}

func TestPlacement_ARuntimeThatSchedules(t *testing.T) {
	t.Parallel()
	full := ReportedHost{Host: small()[0], Taken: compute.Claimed{GPUs: 4, VCPUs: 32, MemoryGB: 180, DiskGB: 10}}
	japan := ReportedHost{Host: small()[2]}

	t.Run("holds nothing of a host, and has what has no room now wait", func(t *testing.T) {
		t.Parallel()
		c := openScheduled(t, full)
		for range 9 {
			pod, err := c.CreatePod(t.Context(), "u", gpuPod(1))
			require.NoError(t, err)
			require.Empty(t, pod.HostID)
			require.Empty(t, pod.Devices)
			require.Equal(t, "EU-RO-1", pod.DataCenterID)
		}

		var claims []compute.Claim
		require.NoError(t, c.store.Read(t.Context(), func(tx store.Tx) (err error) {
			claims, err = tx.ListClaims()
			return err
		}))
		require.Empty(t, claims)
	})

	t.Run("is refused what no host can ever hold", func(t *testing.T) {
		t.Parallel()
		c := openScheduled(t, full, japan)
		_, err := c.CreatePod(t.Context(), "u", gpuPod(5))
		require.ErrorIs(t, err, ErrFull)
		require.ErrorContains(t, err, "asked for 5 GPUs of NVIDIA L4")
		require.ErrorContains(t, err, "no host could hold it with nothing else on it, either")
		other := gpuPod(1)
		other.GPU.ID = "NVIDIA H100 80GB HBM3"
		_, err = c.CreatePod(t.Context(), "u", other)
		require.ErrorIs(t, err, ErrFull)
	})

	t.Run("prefers a data center with room", func(t *testing.T) {
		t.Parallel()
		c := openScheduled(t, full, japan)
		pod, err := c.CreatePod(t.Context(), "u", gpuPod(1))
		require.NoError(t, err)
		require.Equal(t, "AP-JP-1", pod.DataCenterID)
		require.Equal(t, []string{"c"}, c.placement.HostsFor(pod), "the other one is elsewhere")
	})
}

func TestPlacement_HostsOfARuntimeThatSchedules(t *testing.T) {
	t.Parallel()
	full := ReportedHost{Host: small()[0], Taken: compute.Claimed{GPUs: 4, VCPUs: 32, MemoryGB: 180, DiskGB: 10}}

	t.Run("has a drained host be back later", func(t *testing.T) {
		t.Parallel()
		drained := ReportedHost{Host: small()[2]}
		drained.Draining = true
		c := openScheduled(t, drained)
		pod, err := c.CreatePod(t.Context(), "u", gpuPod(1))
		require.NoError(t, err)
		require.Nil(t, c.placement.HostsFor(pod), "any host of the sort will do")
	})

	t.Run("are of either cloud", func(t *testing.T) {
		t.Parallel()
		c := openScheduled(t, ReportedHost{Host: small()[0]})
		n := gpuPod(1)
		n.GPU.ID, n.Cloud = "NVIDIA L4", compute.Secure
		_, err := c.CreatePod(t.Context(), "u", n)
		require.NoError(t, err)

		other := l4s("x", 1)
		other.GPU = "NVIDIA GeForce RTX 4090"
		c = openScheduled(t, ReportedHost{Host: other})
		n.GPU, n.Cloud = &compute.GPU{ID: other.GPU, Count: 1}, compute.Community
		pod, err := c.CreatePod(t.Context(), "u", n)
		require.NoError(t, err)
		require.Equal(t, compute.Community, pod.Cloud)
	})

	t.Run("may know no host yet", func(t *testing.T) {
		t.Parallel()
		c := openScheduled(t)
		pod, err := c.CreatePod(t.Context(), "u", gpuPod(1))
		require.NoError(t, err)
		require.NotEmpty(t, pod.DataCenterID)
		n := gpuPod(1)
		n.DataCenterIDs = []string{"AP-JP-1"}
		pod, err = c.CreatePod(t.Context(), "u", n)
		require.NoError(t, err)
		require.Equal(t, "AP-JP-1", pod.DataCenterID)
	})

	t.Run("frees nothing of what it reports when a pod ends", func(t *testing.T) {
		t.Parallel()
		c := openScheduled(t, full)
		pod, err := c.CreatePod(t.Context(), "u", gpuPod(1))
		require.NoError(t, err)
		before := c.placement.freeNow()
		require.NoError(t, c.DeletePod(t.Context(), "u", pod.ID))
		require.Equal(t, before, c.placement.freeNow())
		require.Error(t, c.placement.SetReported([]ReportedHost{{Host: Host{ID: "x", DataCenterID: "nowhere"}}}))
		require.Equal(t, before, c.placement.freeNow(), "what makes no sense changes nothing")
	})
}
