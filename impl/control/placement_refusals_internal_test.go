package control

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// refusedFor gives why there is no room for any of the wants, as the client reads it.
func (p *Placement) refusedFor(t *testing.T, wants ...want) string {
	t.Helper()
	err := p.place(t.Context(), "pod", 1, wants, func([]choice) error { return nil })
	require.ErrorIs(t, err, ErrFull)
	refusal, ok := errors.AsType[*compute.Error](err)
	require.True(t, ok)
	require.Equal(t, compute.Rejected, refusal.Code)
	return refusal.Detail
}

func TestPlacement_RefusalsSayWhatWasAskedAndWhatIsFree(t *testing.T) {
	t.Parallel()
	elsewhere := l4s("c", 3)
	elsewhere.DataCenterID, elsewhere.DiskGB = "AP-JP-1", 60
	p := openControl(t, openStore(t), []Host{l4s("a", 2), onCPUsAlone("b"), elsewhere}).placement
	const never = "; no host could hold it with nothing else on it, either"
	for _, one := range []struct {
		want want
		says string
	}{
		{
			want{GPU: "NVIDIA L4", Count: 4, DiskGB: 20, Cloud: compute.Secure},
			"nothing can hold the pod now: asked for 4 GPUs of NVIDIA L4 and 20 GB of disk in cloud SECURE; free there: 5 in all, at most 3 and 100 GB of disk on one host" + never,
		},
		{
			want{CPU: "cpu3g", Count: 32, MemoryGB: 1, DiskGB: 5, Cloud: compute.Secure, DataCenterIDs: []string{"EU-RO-1", "US-KS-2"}},
			"nothing can hold the pod now: asked for 32 vCPUs of cpu3g and 5 GB of disk in cloud SECURE, data center EU-RO-1 or US-KS-2; " +
				"free there: 16 in all, at most 16 and 100 GB of disk on one host" + never,
		},
		{
			want{GPU: "NVIDIA L4", Count: 1, DiskGB: 90, PersistentGB: 20, Cloud: compute.Secure, GlobalNetwork: true, HostID: "a", Needs: Needs{PublicIP: true}},
			"nothing can hold the pod now: asked for 1 GPUs of NVIDIA L4 and 90 GB of disk in cloud SECURE, 20 GB of persistent storage, with global networking, " +
				"with a public address, on the host that holds its data; free there: 2 in all, at most 2 and 100 GB of disk on one host" + never,
		},
		{
			want{GPU: "NVIDIA A40", Count: 1, DiskGB: 1, Cloud: compute.Community},
			"nothing can hold the pod now: asked for 1 GPUs of NVIDIA A40 and 1 GB of disk in cloud COMMUNITY; free there: 0 in all, at most 0 and 0 GB of disk on one host" + never,
		},
	} {
		require.Equal(t, one.says, p.refusedFor(t, one.want))
	}
	require.Equal(t, "the catalog has nothing any more that the pod may get", p.refusedFor(t))
}

func TestPlacement_RefusesForeverOnlyWhatNoHostCouldHold(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{l4s("a", 2), l4s("drains", 3)})
	p := c.placement
	_, err := c.DrainHost(t.Context(), "drains", true)
	require.NoError(t, err)
	never := func(counts ...int64) bool {
		var wants []want
		for _, count := range counts {
			wants = append(wants, want{GPU: "NVIDIA L4", Count: count, DiskGB: 1})
		}
		err := p.place(t.Context(), "worker", 1, wants, func([]choice) error { return nil })
		require.ErrorIs(t, err, ErrFull)
		return errors.Is(err, ErrNever)
	}
	require.True(t, never(4))
	require.False(t, never(3), "a host that drains could hold it")
	require.True(t, never(4, 5))
	require.True(t, never(), "there is nothing to be looked for")

	for range 2 {
		_, err := c.CreatePod(t.Context(), "u", oneL4())
		require.NoError(t, err)
	}
	require.False(t, never(1))
	require.False(t, never(4, 1))
	require.False(t, never(1, 4))
}

func TestPlacement_ChoosesAnewABoundedNumberOfTimes(t *testing.T) {
	t.Parallel()
	p := openControl(t, openStore(t), []Host{l4s("a", 2)}).placement
	before, calls := p.freeNow(), 0
	w := []want{{GPU: "NVIDIA L4", Count: 1, DiskGB: 1}}
	err := p.place(t.Context(), "pod", 1, w, func([]choice) error {
		calls++
		return fmt.Errorf("somebody else has it: %w", errTaken)
	})
	require.ErrorIs(t, err, ErrFull)
	require.Equal(t, attempts, calls)
	require.Equal(t, before, p.freeNow())

	calls = 0
	require.NoError(t, p.place(t.Context(), "pod", 1, w, func([]choice) error {
		if calls++; calls < 3 {
			return errTaken
		}
		return nil
	}))
	require.Equal(t, 3, calls)
	refused := compute.Errorf(compute.Rejected, "it is no good")
	err = p.place(t.Context(), "pod", 1, w, func([]choice) error { return refused })
	require.ErrorIs(t, err, refused)
	require.NotErrorIs(t, err, ErrFull)
}

func TestPlacement_ReadsTheRowsAnewWhereAnErrorLeavesOpenWhatTheyAre(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{l4s("a", 2)})
	readings := func() int {
		_ = c.placement.freeNow()
		return c.placement.readings
	}
	for _, one := range []struct {
		err   error
		again bool
	}{
		{compute.Errorf(compute.Rejected, "it is no good"), false},
		{compute.Errorf(compute.Conflict, "it has changed"), false},
		{compute.Errorf(compute.NotFound, "it is gone"), false},
		{fmt.Errorf("asked for no longer: %w", context.Canceled), false},
		{context.DeadlineExceeded, false},
		{compute.Errorf(compute.Unavailable, "the disk is full"), true},
		{compute.Errorf(compute.Internal, "a fault"), true},
		{errFlaky, true},
		{nil, false},
	} {
		before := readings()
		err := c.placement.Write(t.Context(), func(store.Tx, *Claims) error { return one.err })
		require.ErrorIs(t, err, one.err)
		require.Equal(t, one.again, readings() > before, "%v", one.err)
	}

	before := readings()
	require.Panics(t, func() {
		_ = c.placement.Write(t.Context(), func(store.Tx, *Claims) error { panic("a fault") })
	})
	require.Greater(t, readings(), before)
}
