package control

import (
	"context"
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// overtaken is a store in which somebody else writes something before the next write.
type overtaken struct {
	store.Store
	first func(store.Tx) error // nil: nobody does
}

func (o *overtaken) Write(ctx context.Context, f func(store.Tx) error) error {
	if first := o.first; first != nil {
		o.first = nil
		if err := o.Store.Write(ctx, first); err != nil {
			return err
		}
	}
	return o.Store.Write(ctx, f)
}

func TestControl_CreatePod_SeesWhatWasDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	c := openTemplates(t, fullTemplate())
	v, err := c.CreateVolume(t.Context(), "u", NewVolume{Name: "v", SizeGB: 10, DataCenterID: "EU-RO-1"})
	require.NoError(t, err)
	o := &overtaken{Store: c.store}
	c.store = o
	for what, one := range map[string]struct {
		ask    func(*NewPod)
		delete func(store.Tx) error
	}{
		"mounts.network: network volume": {
			func(n *NewPod) { n.Network = []compute.NetworkMount{{VolumeID: v.ID, Path: "/v"}} }, func(tx store.Tx) error { return tx.DeleteVolume(v.ID) },
		},
		"registry: credential": {func(n *NewPod) { n.RegistryID = "r" }, func(tx store.Tx) error { return tx.DeleteRegistry("r") }},
		"templateId: template": {func(n *NewPod) { n.TemplateID = "full" }, func(tx store.Tx) error { return tx.DeleteTemplate("full") }},
	} {
		n := oneL4()
		one.ask(&n)
		o.first = one.delete
		_, err := c.CreatePod(t.Context(), "u", n)
		require.Equal(t, compute.NotFound, compute.CodeOf(err), what)
		require.ErrorContains(t, err, what)
		require.Nil(t, o.first, "it was there when it was looked for")
	}
	pods, err := c.ListPods(t.Context(), "u", nil)
	require.NoError(t, err)
	require.Empty(t, pods)
	require.EqualValues(t, 2, c.placement.freeNow()["a"].gpus)
}

func TestPlacement_StartWorker_SeesThatItsVolumeWasDeletedMeanwhile(t *testing.T) {
	t.Parallel()
	host := l4s("a", 2)
	host.CPUs = []string{"cpu3g"}
	c, _, _ := openFrozen(t, []Host{host})
	v, err := c.CreateVolume(t.Context(), "u", NewVolume{Name: "v", SizeGB: 10, DataCenterID: "EU-RO-1"})
	require.NoError(t, err)
	e := onCPUs()
	e.VolumeIDs = []compute.VolumeID{v.ID}
	_, _, err = c.placement.StartWorker(t.Context(), "w", e, func(compute.Worker) error { return c.DeleteVolume(t.Context(), "u", v.ID) })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.Empty(t, c.workersNow(t))
	require.EqualValues(t, 16, c.placement.freeNow()["a"].vcpus)
}

func TestPodChange_SealedBringsNothingIntoThePod(t *testing.T) {
	t.Parallel()
	secret := func(name string) map[string]string { return map[string]string{"A": "{{ RUNPOD_SECRET_" + name + " }}"} }
	const otherImage = "image: a key for single pods must not give a pod that has a credential another image"
	pod := compute.Pod{Image: "h", RegistryID: "r", Env: secret("one")}
	for _, c := range []struct {
		change  PodChange
		refused string
	}{
		{PodChange{}, ""},
		{PodChange{Image: new("h"), Env: map[string]string{"B": "plain"}}, ""},
		{PodChange{Image: new("i"), RegistryID: new(compute.RegistryID(""))}, ""},
		{PodChange{Image: new("i")}, otherImage},
		{PodChange{Image: new("i"), RegistryID: new(compute.RegistryID("r"))}, otherImage},
		{PodChange{Env: secret("one")}, ""},
		{PodChange{RegistryID: new(compute.RegistryID("r"))}, ""},
		{PodChange{RegistryID: new(compute.RegistryID(""))}, ""},
		{PodChange{Env: secret("two")}, "env: a key for single pods must not give its pod the secret two"},
		{PodChange{RegistryID: new(compute.RegistryID("s"))}, "registry: a key for single pods must not give its pod a credential"},
		{PodChange{TemplateID: new(compute.TemplateID(""))}, "templateId: a key for single pods must not use templates"},
	} {
		require.NoError(t, c.change.checkSealed(pod), "whoever has more rights may")
		c.change.Sealed = &compute.Key{ID: "k", UserID: "u"}
		err := c.change.checkSealed(pod)
		if c.refused == "" {
			require.NoError(t, err, "%+v", c.change)
			continue
		}
		require.Equal(t, compute.Forbidden, compute.CodeOf(err))
		require.ErrorContains(t, err, c.refused)
		var key *compute.RefusedKey
		require.ErrorAs(t, err, &key)
		require.Equal(t, compute.RefusedKey{Reason: compute.RefusedScope, KeyID: "k", UserID: "u"}, *key)
	}
	require.NoError(t, PodChange{Sealed: &compute.Key{}, Image: new("i")}.checkSealed(compute.Pod{Image: "h"}), "there is no credential to send")
}

func TestChangeMounts_ChangesWhatIsThere(t *testing.T) {
	t.Parallel()
	persistent, network := &compute.PersistentMount{SizeGB: 20, Path: "/p"}, &compute.NetworkMount{VolumeID: "v", Path: "/v"}
	sized := func(gb int64) *compute.PersistentMount { return &compute.PersistentMount{SizeGB: gb, Path: "/new"} }
	of := func(id compute.VolumeID) []compute.NetworkMount {
		return []compute.NetworkMount{{VolumeID: id, Path: "/new"}}
	}
	for _, c := range []struct {
		pod     compute.Pod
		change  PodChange
		refused string
		want    compute.Pod
	}{
		{pod: compute.Pod{Persistent: persistent}, want: compute.Pod{Persistent: persistent}},
		{pod: compute.Pod{Persistent: persistent}, change: PodChange{Persistent: sized(20)}, want: compute.Pod{Persistent: sized(20)}},
		{pod: compute.Pod{Persistent: persistent}, change: PodChange{Persistent: sized(21)}, want: compute.Pod{Persistent: sized(21)}},
		{pod: compute.Pod{Persistent: persistent}, change: PodChange{Persistent: sized(19)}, refused: "mounts.persistent.size: 20 GB cannot shrink to 19"},
		{pod: compute.Pod{Network: network}, change: PodChange{Persistent: sized(20)}, refused: "mounts.persistent: the pod was created without one"},
		{pod: compute.Pod{Persistent: persistent}, change: PodChange{Persistent: sized(20), Network: of("v")}, refused: "mounts: persistent and network cannot both be set"},
		{pod: compute.Pod{Network: network}, change: PodChange{Network: of("v")}, want: compute.Pod{Network: &of("v")[0]}},
		{pod: compute.Pod{Network: network}, change: PodChange{Network: of("w")}, refused: "mounts.network.volumeId: the volume of a pod cannot change"},
		{pod: compute.Pod{Network: network}, change: PodChange{Network: []compute.NetworkMount{}}, refused: "mounts.network: mounts cannot be cleared"},
		{pod: compute.Pod{}, change: PodChange{Network: of("v")}, refused: "mounts.network: the pod was created without one"},
	} {
		pod := c.pod
		err := changeMounts(&pod, c.change)
		if c.refused == "" {
			require.NoError(t, err, "%+v", c.change)
			require.Equal(t, c.want, pod)
			continue
		}
		require.Equal(t, compute.Rejected, compute.CodeOf(err))
		require.ErrorContains(t, err, c.refused)
		require.Equal(t, c.pod, pod)
	}
}

func TestPodChange_WithMountsKeepsOfOneWhatIsAbsent(t *testing.T) {
	t.Parallel()
	none := compute.Pod{}
	persistent := compute.Pod{Persistent: &compute.PersistentMount{SizeGB: 20, Path: "/a"}}
	network := compute.Pod{Network: &compute.NetworkMount{VolumeID: "v", Path: "/a"}}
	for name, of := range map[string]struct {
		pod        compute.Pod
		size       *int64
		path       *string
		persistent *compute.PersistentMount
		network    []compute.NetworkMount
	}{
		"nothing":                    {pod: persistent},
		"a size":                     {pod: persistent, size: new(int64(30)), persistent: &compute.PersistentMount{SizeGB: 30, Path: "/a"}},
		"a path":                     {pod: persistent, path: new("/b"), persistent: &compute.PersistentMount{SizeGB: 20, Path: "/b"}},
		"both":                       {pod: persistent, size: new(int64(30)), path: new("/b"), persistent: &compute.PersistentMount{SizeGB: 30, Path: "/b"}},
		"a size of none":             {pod: none, size: new(int64(30)), persistent: &compute.PersistentMount{SizeGB: 30}},
		"a size of a network volume": {pod: network, size: new(int64(30)), path: new("/b"), persistent: &compute.PersistentMount{SizeGB: 30, Path: "/b"}},
		"a path of none":             {pod: none, path: new("/b")},
		"a path of a network volume": {pod: network, path: new("/b"), network: []compute.NetworkMount{{VolumeID: "v", Path: "/b"}}},
	} {
		c := PodChange{PersistentGB: of.size, MountPath: of.path}.withMounts(of.pod)
		require.Equal(t, of.persistent, c.Persistent, name)
		require.Equal(t, of.network, c.Network, name)
		require.Equal(t, compute.PersistentMount{SizeGB: 20, Path: "/a"}, *persistent.Persistent, "%s: that of the pod itself is as it was", name)
		if of.size != nil && of.pod.Persistent == nil {
			require.ErrorContains(t, changeMounts(&of.pod, c), "mounts.persistent: the pod was created without one", name)
		}
	}
}

func TestConcernsContainer_IsWhatAContainerIsMadeOf(t *testing.T) {
	t.Parallel()
	made := func() compute.Pod {
		return compute.Pod{Image: "i", Args: "a", DiskGB: 5, Ports: []string{"80/http", "22/tcp"}, Env: map[string]string{"A": "b"}}
	}
	for _, change := range []func(*compute.Pod){
		func(p *compute.Pod) { p.Image = "j" },
		func(p *compute.Pod) { p.Args = "b" },
		func(p *compute.Pod) { p.DiskGB = 6 },
		func(p *compute.Pod) { p.Ports = []string{"22/tcp", "80/http"} },
		func(p *compute.Pod) { p.Env = map[string]string{"A": "c"} },
	} {
		changed := made()
		change(&changed)
		require.True(t, concernsContainer(made(), changed), "%+v", changed)
	}
	other := made()
	other.Name, other.RegistryID, other.Locked, other.GlobalNetworking = "n", "r", true, true
	require.False(t, concernsContainer(made(), other))
}

func TestControl_UpdatePod_HasCheckedWhatIsChanged(t *testing.T) {
	t.Parallel()
	c := openTemplates(t, fullTemplate())
	ctx := t.Context()
	require.NoError(t, c.store.Write(ctx, func(tx store.Tx) error {
		return errors.Join(
			tx.InsertPod(compute.Pod{ID: "p", UserID: "u", Image: "i", DiskGB: 5, Status: compute.PodExited, Version: 1}),
			tx.InsertPod(compute.Pod{ID: "old", UserID: "u", Image: "i", DiskGB: 5, Env: map[string]string{"": "of before"}, Status: compute.PodExited, Version: 1}),
		)
	}))
	asked := 0
	c.runtime.Check = func(string, string, map[string]string) error {
		asked++
		return nil
	}
	for _, one := range []struct {
		change PodChange
		asked  int
	}{
		{PodChange{}, 0}, {PodChange{Name: new("n"), Locked: new(true), DiskGB: new(int64(6)), Ports: []string{"80/http"}}, 0},
		{PodChange{Image: new("j")}, 1}, {PodChange{Args: new("a")}, 1}, {PodChange{Env: map[string]string{}}, 1}, {PodChange{RegistryID: new(compute.RegistryID("r"))}, 1},
		{PodChange{GlobalNetworking: new(false)}, 1},
	} {
		asked = 0
		_, err := c.UpdatePod(ctx, "u", "p", one.change)
		require.NoError(t, err)
		require.Equal(t, one.asked, asked, "%+v", one.change)
	}

	_, err := c.UpdatePod(ctx, "u", "old", PodChange{Name: new("n"), Image: new("j")})
	require.NoError(t, err, "what it has of before is not looked at")
	for _, change := range []PodChange{{Ports: []string{"22/tcp"}}, {Args: new("a")}, {Env: map[string]string{"": "b"}}} {
		_, err = c.UpdatePod(ctx, "u", "old", change)
		require.ErrorContains(t, err, `env: ""`)
	}
	_, err = c.UpdatePod(ctx, "u", "old", PodChange{Env: map[string]string{}, Ports: []string{"22/tcp"}})
	require.NoError(t, err)
}
