package control

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// meddling is a store in which somebody else changes a pod before each of so many writes.
type meddling struct {
	store.Store
	pod   compute.PodID
	times int
}

func (m *meddling) Write(ctx context.Context, f func(store.Tx) error) error {
	if m.times > 0 {
		m.times--
		if err := m.Store.Write(ctx, func(tx store.Tx) error {
			p, err := tx.Pod(m.pod)
			if err == nil {
				_, err = tx.ChangePod(p)
			}
			return err
		}); err != nil {
			return err
		}
	}
	return m.Store.Write(ctx, f)
}

func TestControl_ResumePod_LooksAgainWhereSomebodyElseWasFaster(t *testing.T) {
	t.Parallel()
	c, _, said := openFrozen(t, []Host{l4s("a", 1)})
	pod, err := c.CreatePod(t.Context(), "u", oneL4())
	require.NoError(t, err)
	pod, err = c.ActOnPod(t.Context(), "u", pod.ID, compute.PodStop)
	require.NoError(t, err)
	require.Equal(t, compute.EndedByUser, pod.EndedBy)
	*said = heard{}

	s := &meddling{Store: c.store, pod: pod.ID, times: attempts}
	c.store = s
	_, err = c.ResumePod(t.Context(), "u", pod.ID, Resume{})
	require.ErrorIs(t, err, errMoved)
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	require.Empty(t, said.pods)
	require.Equal(t, compute.PodExited, c.stored(t, pod.ID).Status)
	s.times = attempts - 1
	pod, err = c.ResumePod(t.Context(), "u", pod.ID, Resume{})
	require.NoError(t, err)
	require.Equal(t, compute.PodProvisioning, pod.Status)
	require.Empty(t, pod.EndedBy)
	require.Zero(t, s.times)
	require.Zero(t, c.placement.freeNow()["a"].gpus)
	require.Equal(t, []compute.PodID{pod.ID}, said.pods)
}

func TestControl_ResumePod_BidsForAPodThatStandsAlone(t *testing.T) {
	t.Parallel()
	c, _, _ := openFrozen(t, []Host{l4s("a", 2)})
	ctx := t.Context()
	pod, err := c.CreatePod(ctx, "u", oneL4())
	require.NoError(t, err)
	_, err = c.ActOnPod(ctx, "u", pod.ID, compute.PodStop)
	require.NoError(t, err)
	stopped := c.stored(t, pod.ID)
	require.NoError(t, c.store.Write(ctx, func(tx store.Tx) error {
		inCluster, onCPU := stopped, stopped
		inCluster.ID, inCluster.ClusterID = "member", "c"
		onCPU.ID, onCPU.GPU, onCPU.CPU = "cpu", nil, &compute.CPU{ID: "cpu3g", VCPUCount: 2, MemoryGB: 8}
		if err := tx.InsertPod(inCluster); err != nil {
			return err
		}
		return tx.InsertPod(onCPU)
	}))

	bid := Resume{BidPerGPU: 0.3}
	_, err = c.ResumePod(ctx, "u", "member", bid)
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	_, err = c.ResumePod(ctx, "u", "cpu", bid)
	require.ErrorContains(t, err, "bidPerGpu: only GPU pods are interruptible")
	for _, wrong := range []Resume{{GPUs: new(2)}, {GPUs: new(0)}, {OnGPUs: new(false)}, {BidPerGPU: 0.1}} {
		_, err = c.ResumePod(ctx, "u", pod.ID, wrong)
		require.Equal(t, compute.Rejected, compute.CodeOf(err), "%+v", wrong)
	}
	_, err = c.ResumePod(ctx, "u", "cpu", Resume{GPUs: new(1)})
	require.ErrorContains(t, err, "gpuCount: the pod has 0, which cannot change")
	_, err = c.ResumePod(ctx, "u", "cpu", Resume{OnGPUs: new(true)})
	require.ErrorContains(t, err, "computeType: the pod has 0 GPUs, which cannot change")

	pod, err = c.ResumePod(ctx, "u", pod.ID, Resume{GPUs: new(1), OnGPUs: new(true), BidPerGPU: 0.3})
	require.NoError(t, err)
	stored := c.stored(t, pod.ID)
	require.InDelta(t, 0.3, stored.BidPerGPU, 1e-12)
	require.InDelta(t, 0.3, stored.CostPerHour, 1e-12)
	require.True(t, stored.Interruptible())
	_, err = c.ResumePod(ctx, "u", pod.ID, bid)
	require.Equal(t, compute.Conflict, compute.CodeOf(err), "it runs")
}

func TestControl_StartsAnewWithWhatIsAskedForNow(t *testing.T) {
	t.Parallel()
	c, clock, _ := openFrozen(t, []Host{l4s("a", 3)})
	ctx := t.Context()
	n, later := oneL4(), oneL4()
	n.StopAfter, later.StopAfter = clock.Wall().Add(time.Hour), clock.Wall().Add(time.Hour+time.Millisecond)
	var ids []compute.PodID
	for _, one := range []NewPod{n, later} {
		pod, err := c.CreatePod(ctx, "u", one)
		require.NoError(t, err)
		_, err = c.ActOnPod(ctx, "u", pod.ID, compute.PodStop)
		require.NoError(t, err)
		ids = append(ids, pod.ID)
	}
	clock.Advance(time.Hour)
	pod, err := c.ActOnPod(ctx, "u", ids[0], compute.PodStart)
	require.NoError(t, err)
	require.True(t, pod.StopAfter.IsZero(), "it has passed")
	require.Equal(t, clock.Now(), pod.RestartAt)
	require.Equal(t, clock.Wall(), pod.MovedAt)
	require.True(t, pod.StartedAt.IsZero())
	pod, err = c.ActOnPod(ctx, "u", ids[1], compute.PodStart)
	require.NoError(t, err)
	require.Equal(t, later.StopAfter, pod.StopAfter)

	first := pod.Generation()
	_, err = c.UpdatePod(ctx, "u", pod.ID, PodChange{Image: new("another")})
	require.NoError(t, err)
	require.Equal(t, first+1, c.stored(t, pod.ID).Generation(), "another run, though the clock stands still")
	clock.Advance(time.Second)
	_, err = c.UpdatePod(ctx, "u", pod.ID, PodChange{Image: new("a third")})
	require.NoError(t, err)
	require.Equal(t, clock.Now(), c.stored(t, pod.ID).RestartAt)

	c.moved(t, pod.ID, compute.PodPlaced, compute.PodHealthy)
	clock.Advance(time.Second)
	pod, err = c.ActOnPod(ctx, "u", pod.ID, compute.PodRestart)
	require.NoError(t, err)
	require.Equal(t, compute.PodStarting, pod.Status)
	require.Equal(t, clock.Now(), pod.RestartAt)
	require.Equal(t, clock.Wall(), c.stored(t, pod.ID).MovedAt)
}

func TestControl_ResumePod_GoesBackToTheDataOfItsVolume(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{engined("a"), engined("b")})
	c.answer("a")
	ctx := t.Context()
	v, err := c.CreateVolume(ctx, "u", NewVolume{Name: "v", SizeGB: 10, DataCenterID: "EU-RO-1"})
	require.NoError(t, err)
	n := oneL4()
	n.Network = []compute.NetworkMount{{VolumeID: v.ID, Path: "/v"}}
	pod, err := c.CreatePod(ctx, "u", n)
	require.NoError(t, err)
	c.answer("b")
	plain, err := c.CreatePod(ctx, "u", oneL4())
	require.NoError(t, err)
	require.Equal(t, "b", plain.HostID)
	for _, id := range []compute.PodID{pod.ID, plain.ID} {
		_, err = c.ActOnPod(ctx, "u", id, compute.PodStop)
		require.NoError(t, err)
	}
	c.placement.SetEngine("a", HostEngine{Reason: "it is away"})
	_, err = c.ActOnPod(ctx, "u", pod.ID, compute.PodStart)
	require.ErrorContains(t, err, "on the host that holds its data")

	c.answer("a")
	c.placement.SetEngine("b", HostEngine{Reason: "it is away"})
	plain, err = c.ActOnPod(ctx, "u", plain.ID, compute.PodStart)
	require.NoError(t, err)
	require.Equal(t, "a", plain.HostID, "who mounts nothing may be anywhere")
}

func TestControl_ActOnPod_AStoppedPodWaitsForNothing(t *testing.T) {
	t.Parallel()
	c, _, _ := openFrozen(t, []Host{l4s("a", 1)})
	pod, err := c.CreatePod(t.Context(), "u", oneL4())
	require.NoError(t, err)
	require.NoError(t, c.store.Write(t.Context(), func(tx store.Tx) error {
		p, err := tx.Pod(pod.ID)
		if err != nil {
			return err
		}
		p.Reason = "pulling the image"
		_, err = tx.MovePod(p)
		return err
	}))
	require.Equal(t, "pulling the image", c.stored(t, pod.ID).Reason)

	stopped, err := c.ActOnPod(t.Context(), "u", pod.ID, compute.PodStop)
	require.NoError(t, err)
	require.Empty(t, stopped.Reason)
	require.Equal(t, []any{compute.PodExited, compute.EndedByUser, ""}, []any{c.stored(t, pod.ID).Status, c.stored(t, pod.ID).EndedBy, c.stored(t, pod.ID).Reason})
}
