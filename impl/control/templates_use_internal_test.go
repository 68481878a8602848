package control

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// fullTemplate has everything that a template can have.
func fullTemplate() compute.Template {
	t := newTemplate("full", "u", testNoon)
	t.Name, t.Image, t.Args, t.DiskGB, t.Ports, t.Env = "n", "its image", "its args", 33, []string{"80/http"}, map[string]string{"A": "its", "B": "its"}
	t.RegistryID, t.Persistent, t.CUDAVersions = "r", &compute.PersistentMount{SizeGB: 44, Path: "/its"}, []string{"12.4"}
	t.Public, t.StartSSH, t.StartJupyter = true, false, true
	return t
}

// openTemplates makes a Control with templates and a credential of the user u.
func openTemplates(t *testing.T, templates ...compute.Template) *Control {
	t.Helper()
	c, _, _ := openFrozen(t, []Host{l4s("a", 2)})
	require.NoError(t, c.store.Write(t.Context(), func(tx store.Tx) error {
		for _, one := range templates {
			if err := tx.InsertTemplate(one); err != nil {
				return err
			}
		}
		return tx.InsertRegistry(compute.Registry{ID: "r", UserID: "u", Name: "r", Login: []byte("sealed"), CreatedAt: tx.Wall()})
	}))
	return c
}

func TestControl_CopyTemplate_CompletesWhatIsNotThere(t *testing.T) {
	t.Parallel()
	c := openTemplates(t, fullTemplate())
	gpu, mount := &compute.GPU{ID: "NVIDIA L4", Count: 1}, &compute.PersistentMount{SizeGB: 44, Path: "/its"}
	copies := func(user compute.UserID, n NewPod) NewPod {
		t.Helper()
		made, err := c.CopyTemplate(t.Context(), user, "full", n)
		require.NoError(t, err)
		return made
	}

	bare := NewPod{
		Image: "its image", Args: "its args", DiskGB: 33, Ports: []string{"80/http"}, Env: map[string]string{"A": "its", "B": "its"}, RegistryID: "r", Persistent: mount,
		GPU: gpu, StartSSH: new(false), StartJupyter: new(true), Kept: compute.PodNeeds{CUDAVersions: []string{"12.4"}},
	}
	require.Equal(t, bare, copies("u", NewPod{GPU: gpu}))
	theirs := bare
	theirs.RegistryID = ""
	require.Equal(t, theirs, copies("v", NewPod{GPU: gpu}), "the credential stays that of the owner")

	own := NewPod{
		Image: "i", Args: "a", DiskGB: 7, Ports: []string{}, Env: map[string]string{"A": "own"}, RegistryID: "mine", Persistent: &compute.PersistentMount{SizeGB: 10, Path: "/own"},
		GPU: gpu, StartSSH: new(true), StartJupyter: new(false), Kept: compute.PodNeeds{CUDAVersions: []string{}},
	}
	made := copies("u", own)
	own.Env = map[string]string{"A": "own", "B": "its"}
	require.Equal(t, own, made, "what is there stays, be it empty")
	require.Equal(t, compute.PodNeeds{LeastCUDA: "12.8"}, copies("u", NewPod{GPU: gpu, Kept: compute.PodNeeds{LeastCUDA: "12.8"}}).Kept)
	require.Empty(t, copies("u", NewPod{GPU: gpu, NoRegistry: true}).RegistryID)
	require.Equal(t, "/mine", copies("u", NewPod{GPU: gpu, MountPath: "/mine"}).Persistent.Path)

	onCPU := copies("u", NewPod{CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2}})
	require.Nil(t, onCPU.Persistent)
	require.Empty(t, onCPU.Kept)
	for _, network := range [][]compute.NetworkMount{{}, {{VolumeID: "v", Path: "/v"}}} {
		require.Nil(t, copies("u", NewPod{GPU: gpu, Network: network}).Persistent, "%v", network)
	}
}

func TestControl_CopyTemplate_RefusesWhatIsNoneForPods(t *testing.T) {
	t.Parallel()
	serverless, private := fullTemplate(), fullTemplate()
	serverless.ID, serverless.Serverless = "serverless", true
	private.ID, private.Public = "private", false
	c := openTemplates(t, serverless, private)
	_, err := c.CopyTemplate(t.Context(), "u", "serverless", NewPod{})
	require.Equal(t, compute.Invalid, compute.CodeOf(err))
	_, err = c.CopyTemplate(t.Context(), "u", "private", NewPod{})
	require.NoError(t, err)
	for user, id := range map[compute.UserID]compute.TemplateID{"v": "private", "u": "none"} {
		_, err = c.CopyTemplate(t.Context(), user, id, NewPod{})
		require.Equal(t, compute.NotFound, compute.CodeOf(err))
		require.ErrorContains(t, err, `templateId: template "`+string(id)+`" does not exist`)
		_, err = c.FromTemplate(t.Context(), user, NewPod{TemplateID: id})
		require.ErrorContains(t, err, `templateId: template "`+string(id)+`" does not exist`)
	}
	catalog, err := c.CopyTemplate(t.Context(), "u", "berthpytorch28", NewPod{GPU: &compute.GPU{ID: "NVIDIA L4", Count: 1}})
	require.NoError(t, err)
	require.Equal(t, []string{"12.8", "13.0"}, catalog.Kept.CUDAVersions)
	require.Equal(t, &compute.PersistentMount{SizeGB: 20, Path: "/workspace"}, catalog.Persistent)
}

func TestControl_FromTemplate_KeepsALink(t *testing.T) {
	t.Parallel()
	c := openTemplates(t, fullTemplate())
	gpu := &compute.GPU{ID: "NVIDIA L4", Count: 1}
	from := func(n NewPod) NewPod {
		t.Helper()
		made, err := c.FromTemplate(t.Context(), "u", n)
		require.NoError(t, err)
		return made
	}
	require.Equal(t, NewPod{Image: "i"}, from(NewPod{Image: "i"}), "it names none")
	made := from(NewPod{TemplateID: "full", GPU: gpu, Ports: []string{}})
	require.EqualValues(t, "full", made.TemplateID)
	require.Equal(t, []string{"80/http"}, made.Ports, "an empty list is none")
	require.Equal(t, []string{"12.4"}, made.CUDAVersions)
	require.Empty(t, made.Kept)
	require.Nil(t, made.StartJupyter)

	own := from(NewPod{TemplateID: "full", GPU: gpu, Needs: Needs{CUDAVersions: []string{"12.8"}}})
	require.Equal(t, []string{"12.8"}, own.CUDAVersions)
	onCPU := from(NewPod{TemplateID: "full", CPU: &compute.CPU{ID: "cpu3g", VCPUCount: 2}})
	require.Empty(t, onCPU.CUDAVersions)
	require.Nil(t, onCPU.Persistent)
	stored, err := c.GetTemplate(t.Context(), "u", "full")
	require.NoError(t, err)
	require.Equal(t, map[string]string{"A": "its", "B": "its"}, stored.Env)
}

func TestControl_UpdatePod_TakesTheSettingsOfATemplate(t *testing.T) {
	t.Parallel()
	empty := newTemplate("empty", "u", testNoon)
	empty.Name, empty.DiskGB = "e", 0
	c := openTemplates(t, fullTemplate(), empty)
	ctx := t.Context()
	n := oneL4()
	n.Args, n.Ports, n.Env, n.DiskGB, n.RegistryID = "own args", []string{"22/tcp"}, map[string]string{"C": "own"}, 5, "r"
	fresh := func() compute.PodID {
		t.Helper()
		pod, err := c.CreatePod(ctx, "u", n)
		require.NoError(t, err)
		return pod.ID
	}
	changes := func(id compute.PodID, change PodChange) compute.Pod {
		t.Helper()
		_, err := c.UpdatePod(ctx, "u", id, change)
		require.NoError(t, err)
		return c.stored(t, id)
	}
	full, none := compute.TemplateID("full"), compute.TemplateID("empty")

	pod := changes(fresh(), PodChange{TemplateID: &full})
	require.Equal(t, []any{"its image", "its args", int64(33), []string{"80/http"}, map[string]string{"A": "its", "B": "its"}, compute.RegistryID("r")},
		[]any{pod.Image, pod.Args, pod.DiskGB, pod.Ports, pod.Env, pod.RegistryID})
	require.Empty(t, pod.TemplateID)
	require.Nil(t, pod.Persistent)

	pod = changes(pod.ID, PodChange{TemplateID: &none})
	require.Equal(t, []any{"its image", "", int64(33), []string{}, map[string]string{}, compute.RegistryID("")},
		[]any{pod.Image, pod.Args, pod.DiskGB, pod.Ports, pod.Env, pod.RegistryID}, "an image and a disk it does not have")
	require.NoError(t, c.DeletePod(ctx, "u", pod.ID))

	pod = changes(fresh(), PodChange{
		TemplateID: &full, Image: new("i"), Args: new("a"), DiskGB: new(int64(9)), Ports: []string{}, Env: map[string]string{"A": "b"}, RegistryID: new(compute.RegistryID("")),
	})
	require.Equal(t, []any{"i", "a", int64(9), []string{}, map[string]string{"A": "b", "B": "its"}, compute.RegistryID("")},
		[]any{pod.Image, pod.Args, pod.DiskGB, pod.Ports, pod.Env, pod.RegistryID})
}
