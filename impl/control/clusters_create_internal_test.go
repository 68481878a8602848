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

// ofL4s is a cluster of pods with one GPU each.
func ofL4s(pods int64) NewCluster {
	return NewCluster{Name: "c", Type: compute.RayCluster, PodCount: pods, Pod: NewPod{Image: "i", GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1}, Cloud: compute.Secure}}
}

func TestControl_CreateCluster_TellsTheLoopsOfAllItsPods(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{nvidia("EU-RO-1", 8)})
	ctx := t.Context()
	var told []compute.PodID
	var looks []string
	c.podHint = func(id compute.PodID) { told = append(told, id) }
	c.placement.options.Looked = func(who string, o Outcome) { looks = append(looks, who+" "+string(o)) }

	made, err := c.CreateCluster(ctx, "u", ofL4s(3))
	require.NoError(t, err)
	require.Equal(t, "EU-RO-1", made.DataCenterID)
	var ids []compute.PodID
	for i, p := range made.Pods {
		ids = append(ids, p.ID)
		require.Equal(t, compute.ClusterMember{ID: p.ID, Status: compute.PodProvisioning}, made.Members[i])
		require.Equal(t, []any{fmt.Sprint("c-", i), made.ID, compute.RayCluster, "EU-RO-1"}, []any{p.Name, p.ClusterID, p.ClusterType, p.DataCenterID})
	}
	require.Len(t, ids, 3)
	require.Equal(t, ids, told)
	require.Equal(t, []string{"pod placed", "pod placed", "pod placed"}, looks)

	told = nil
	require.Equal(t, compute.NotFound, compute.CodeOf(c.DeleteCluster(ctx, "v", made.ID)))
	require.Empty(t, told)
	require.NoError(t, c.DeleteCluster(ctx, "u", made.ID))
	require.Equal(t, ids, told)
	_, err = c.GetCluster(ctx, "u", made.ID)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.EqualValues(t, 8, c.placement.freeNow()["hEU-RO-1"].gpus)
	require.NoError(t, auditClaims(ctx, c.store))
}

func TestControl_CreateCluster_LeavesNothingWhereNotAllFit(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{nvidia("EU-RO-1", 2), nvidia("US-KS-2", 2)})
	before := c.placement.freeNow()
	_, err := c.CreateCluster(t.Context(), "u", ofL4s(3))
	require.ErrorIs(t, err, ErrFull, "there are four, but no three in one data center")
	require.Equal(t, before, c.placement.freeNow())
	pods, err := c.ListPods(t.Context(), "u", nil)
	require.NoError(t, err)
	require.Empty(t, pods)
	made, err := c.CreateCluster(t.Context(), "u", ofL4s(2))
	require.NoError(t, err)
	require.Len(t, made.Pods, 2)
}

func TestControl_CreateCluster_IsRefusedForTheDataCenterThatCouldHoldIt(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{nvidia("EU-RO-1", 1), nvidia("US-KS-2", 3)})
	n := ofL4s(2)
	n.Pod.GPU.Count = 2
	for _, centers := range [][]string{nil, {"EU-RO-1", "US-KS-2"}, {"US-KS-2", "EU-RO-1"}} {
		n.Pod.DataCenterIDs = centers
		_, err := c.CreateCluster(t.Context(), "u", n)
		require.ErrorIs(t, err, ErrFull)
		require.NotErrorIs(t, err, ErrNever, "%v: one of them is full, no more", centers)
	}
	for _, centers := range [][]string{{"EU-RO-1", "EU-NL-1"}, {"EU-NL-1", "EU-RO-1"}} {
		n.Pod.DataCenterIDs = centers
		_, err := c.CreateCluster(t.Context(), "u", n)
		require.ErrorIs(t, err, ErrNever, "%v", centers)
	}
}

// failsNext is a store whose next write fails, if it is to.
type failsNext struct {
	store.Store
	err error
}

func (s *failsNext) Write(ctx context.Context, f func(store.Tx) error) error {
	if err := s.err; err != nil {
		s.err = nil
		return err
	}
	return s.Store.Write(ctx, f)
}

func TestControl_CreateCluster_TriesNoOtherDataCenterWhereTheStorageFails(t *testing.T) {
	t.Parallel()
	s := &failsNext{Store: openStore(t)}
	c := openControl(t, s, []Host{nvidia("EU-RO-1", 8), nvidia("US-KS-2", 8)})
	s.err = errors.New("the commit failed")
	_, err := c.CreateCluster(t.Context(), "u", ofL4s(2))
	require.ErrorContains(t, err, "the commit failed")
	all, err := c.ListClusters(t.Context(), "u", nil)
	require.NoError(t, err)
	require.Empty(t, all)
}

func TestControl_CreateCluster_IsNetworkedWhereThatIsPossible(t *testing.T) {
	t.Parallel()
	amd := nvidia("US-KS-2", 8)
	amd.GPU = "AMD Instinct MI300X OAM"
	fleet := []Host{nvidia("EU-RO-1", 8), nvidia("AP-JP-1", 8), amd}
	for name, one := range map[string]struct {
		edit      func(*Control, *NewCluster)
		networked bool
	}{
		"it is asked for":          {func(*Control, *NewCluster) {}, true},
		"it is not asked for":      {func(_ *Control, n *NewCluster) { n.Network = false }, false},
		"the data center has none": {func(_ *Control, n *NewCluster) { n.Pod.DataCenterIDs = []string{"AP-JP-1"} }, false},
		"the runtime cannot":       {func(c *Control, _ *NewCluster) { c.runtime.Can.Networks = false }, false},
		"the GPUs are another make": {func(_ *Control, n *NewCluster) {
			n.Pod.GPU, n.Pod.DataCenterIDs = &compute.GPU{ID: amd.GPU, Count: 1}, nil
		}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, n := openControl(t, openStore(t), fleet), ofL4s(2)
			n.Network, n.Pod.DataCenterIDs = true, []string{"EU-RO-1"}
			one.edit(c, &n)
			made, err := c.CreateCluster(t.Context(), "u", n)
			require.NoError(t, err)
			for _, p := range made.Pods {
				require.Equal(t, one.networked, p.GlobalNetworking)
				require.Equal(t, one.networked, p.Address != 0)
			}
		})
	}

	apart := openControl(t, openStore(t), []Host{engined("a"), engined("b")})
	apart.answer("a")
	apart.answer("b")
	n := ofL4s(2)
	n.Network = true
	made, err := apart.CreateCluster(t.Context(), "u", n)
	require.NoError(t, err)
	require.False(t, made.Pods[0].GlobalNetworking, "hosts with engines of their own have no network in common")
}

func TestControl_CreateCluster_TakesATemplateOrSettings(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{nvidia("EU-RO-1", 8)})
	ctx := t.Context()
	template, err := c.CreateTemplate(ctx, "u", TemplateChange{Name: new("t"), Image: new("from-template"), Args: new("-t")})
	require.NoError(t, err)
	bare, err := c.CreateTemplate(ctx, "u", TemplateChange{Name: new("bare")})
	require.NoError(t, err)
	with := func(id compute.TemplateID, image string, settings ...string) NewCluster {
		n := ofL4s(2)
		n.Pod.TemplateID, n.Pod.Image, n.Settings = id, image, settings
		return n
	}

	made, err := c.CreateCluster(ctx, "u", with(template.ID, ""))
	require.NoError(t, err)
	require.Equal(t, template.ID, made.TemplateID)
	require.Equal(t, []string{"from-template", "-t"}, []string{made.Pods[1].Image, made.Pods[1].Args})
	made, err = c.CreateCluster(ctx, "u", with("", "", "image"))
	require.NoError(t, err, "it is given, though empty")
	require.Empty(t, made.Pods[0].Image)

	for says, refused := range map[string]struct {
		NewCluster
		code compute.Code
	}{
		"there is no image":                  {with("", "", "env"), compute.Invalid},
		"the template says what image, env ": {with(template.ID, "i", "image", "env"), compute.Rejected},
		"has no image":                       {with(bare.ID, ""), compute.Rejected},
		`template "none" does not exist`:     {with("none", ""), compute.NotFound},
	} {
		_, err := c.CreateCluster(ctx, "u", refused.NewCluster)
		require.Equal(t, refused.code, compute.CodeOf(err), says)
		require.ErrorContains(t, err, says)
	}
}

func TestControl_CreateCluster_SpendsForAllItsPods(t *testing.T) {
	t.Parallel()
	c := openControl(t, openStore(t), []Host{nvidia("EU-RO-1", 8)})
	ctx := WithSpendLimit(t.Context(), compute.Key{SpendLimit: 1}) // an L4 costs 0.43
	_, err := c.CreateCluster(ctx, "u", ofL4s(3))
	require.Equal(t, compute.OverSpend, compute.CodeOf(err))
	require.EqualValues(t, 8, c.placement.freeNow()["hEU-RO-1"].gpus)
	_, err = c.CreateCluster(ctx, "u", ofL4s(2))
	require.NoError(t, err)
	_, err = c.CreateCluster(ctx, "u", ofL4s(1))
	require.Equal(t, compute.OverSpend, compute.CodeOf(err))
}
