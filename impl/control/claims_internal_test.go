package control

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func TestClaims_DiskGrowsAsFarAsTheHostHasSome(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{l4s("a", 2)})
	ctx := t.Context()
	n := oneL4()
	n.DiskGB, n.Persistent = 50, &compute.PersistentMount{SizeGB: 10, Path: "/d"}
	pod, err := c.CreatePod(ctx, "u", n)
	require.NoError(t, err)
	change := func(disk, storage int64) error {
		_, err := c.UpdatePod(ctx, "u", pod.ID, PodChange{DiskGB: &disk, Persistent: &compute.PersistentMount{SizeGB: storage, Path: "/d"}})
		return err
	}
	has := func(left int64) {
		t.Helper()
		require.Equal(t, left, c.placement.freeNow()["a"].diskGB)
		c.placement.Forget()
		require.Equal(t, left, c.placement.freeNow()["a"].diskGB, "and so the rows say")
		require.NoError(t, auditClaims(ctx, c.store))
	}

	for says, asked := range map[string][2]int64{
		"has 40 GB left; asked for 41 GB more of disk and 0 GB more of persistent storage":  {91, 10},
		"has 40 GB left; asked for 0 GB more of disk and 41 GB more of persistent storage":  {50, 51},
		"has 40 GB left; asked for 30 GB more of disk and 20 GB more of persistent storage": {80, 30},
	} {
		err := change(asked[0], asked[1])
		require.Equal(t, compute.Rejected, compute.CodeOf(err))
		require.ErrorContains(t, err, "disk: the host of the pod "+says)
		has(40)
	}
	require.NoError(t, change(60, 40))
	has(0)
	require.NoError(t, change(20, 40))
	has(40)

	_, err = c.ActOnPod(ctx, "u", pod.ID, compute.PodStop)
	require.NoError(t, err)
	has(60)
	require.NoError(t, change(5000, 100), "of a stopped pod nothing but its storage is there")
	has(0)
	require.ErrorContains(t, change(5000, 101), "has 0 GB left; asked for 0 GB more of disk and 1 GB more of persistent storage")

	require.NoError(t, c.RemoveHost(ctx, "a"))
	require.NoError(t, change(5000, 300), "nobody knows what a host has that left the fleet")
	require.NoError(t, auditClaims(ctx, c.store))
}

func TestClaims_DiskGrowsFreelyWhereNothingIsClaimed(t *testing.T) {
	t.Parallel()
	pod := func(gb int64) compute.Pod {
		return compute.Pod{ID: "p", HostID: "a", Status: compute.PodRunning, DiskGB: gb}
	}
	for name, one := range map[string]struct {
		control *Control
		code    compute.Code
	}{
		"a runtime that schedules": {openScheduled(t, ReportedHost{Host: small()[0]}), ""},
		"a host of another fleet":  {openControl(t, openStore(t), small()[1:]), ""},
		"a host of the fleet":      {openControl(t, openStore(t), small()), compute.Rejected},
	} {
		err := one.control.placement.Write(t.Context(), func(tx store.Tx, claims *Claims) error { return claims.resize(tx, pod(1), pod(5)) })
		require.Equal(t, one.code, compute.CodeOf(err), name)
		err = one.control.placement.Write(t.Context(), func(tx store.Tx, claims *Claims) error { return claims.resize(tx, pod(5), pod(5)) })
		require.NoError(t, err, name)
	}
}

// systemLines has another name than its method.
type systemLines = store.SystemLines

// statusLog notes what is done to the log of a pod.
type statusLog struct {
	systemLines
	done []string
}

func (l *statusLog) AddSystemLine(id, text string) error {
	l.done = append(l.done, "add to "+id+": "+text)
	return nil
}

func (l *statusLog) ForgetSystemLines(id string) error {
	l.done = append(l.done, "forget of "+id)
	return nil
}

func (l *statusLog) DeleteSystemLines(id string) error {
	l.done = append(l.done, "delete "+id)
	return nil
}

func TestSay_KeepsTheLastStatusesOfAPod(t *testing.T) {
	t.Parallel()
	for _, one := range []struct {
		pod  compute.Pod
		done []string
	}{
		{compute.Pod{ID: "p", Status: compute.PodRunning, Version: 1}, []string{"add to p: pod is RUNNING"}},
		{compute.Pod{ID: "p", Status: compute.PodError, Reason: "its host left", Version: 199}, []string{"add to p: pod is ERROR: its host left"}},
		{compute.Pod{ID: "p", Status: compute.PodRunning, Version: 200}, []string{"add to p: pod is RUNNING", "forget of p"}},
		{compute.Pod{ID: "p", Status: compute.PodExited, Version: 9999}, []string{"add to p: pod is EXITED", "forget of p"}},
		{compute.Pod{ID: "p", Status: compute.PodTerminated, Version: 9999}, []string{"delete p"}},
	} {
		var log statusLog
		require.NoError(t, say(&log, one.pod))
		require.Equal(t, one.done, log.done)
	}
}

func TestClaims_APodThatHasChangedMeanwhileIsNotMoved(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{l4s("a", 1)})
	pod, err := c.CreatePod(t.Context(), "u", oneL4())
	require.NoError(t, err)
	move := func(p compute.Pod) (moved bool) {
		require.NoError(t, c.placement.Write(t.Context(), func(tx store.Tx, claims *Claims) (err error) {
			moved, err = claims.Move(tx, pod.Status, p)
			return err
		}))
		return moved
	}
	ended := pod
	ended.Status = compute.PodError
	ended.Version--
	require.False(t, move(ended))
	require.Zero(t, c.placement.freeNow()["a"].gpus, "it has its host still")
	require.NoError(t, auditClaims(t.Context(), c.store))
	ended.Version++
	require.True(t, move(ended))
	require.EqualValues(t, 1, c.placement.freeNow()["a"].gpus)
	require.NoError(t, auditClaims(t.Context(), c.store))
}

func TestClaims_CountUnderEachIDOfAHost(t *testing.T) {
	t.Parallel()
	s, a := openStore(t), l4s("a", 2)
	a.CUDAVersion = "11.8,12.8"
	size := compute.HostSize{GPUs: 1, VCPUs: 8, MemoryGB: 8, DiskGB: 100, VCPUsPerGPU: 8, MemoryGBPerGPU: 8}
	require.NoError(t, s.Write(t.Context(), func(tx store.Tx) error {
		if err := tx.InsertClaims(size, compute.Claim{HolderID: "p", HostID: "a/11.8", Devices: []string{"0"}, DiskGB: 10}); err != nil {
			return err
		}
		return tx.InsertClaims(size, compute.Claim{HolderID: "q", HostID: "a/12.8", Devices: []string{"1"}, DiskGB: 10})
	}))

	c := openControl(t, s, []Host{a})
	require.Equal(t, amount{0, 0, 0, 80}, c.placement.freeNow()["a"])
	before := c.placement.readings
	_, err := c.CreatePod(t.Context(), "u", oneL4())
	require.ErrorIs(t, err, ErrFull)
	require.Equal(t, before, c.placement.readings, "the rows have no room, either")
	require.NoError(t, c.placement.Write(t.Context(), func(tx store.Tx, claims *Claims) error { return claims.give(tx, "q", true) }))
	require.Equal(t, amount{1, 8, 8, 90}, c.placement.freeNow()["a"])
	pod, err := c.CreatePod(t.Context(), "u", oneL4())
	require.NoError(t, err)
	require.Equal(t, []string{"1"}, pod.Devices)
}
