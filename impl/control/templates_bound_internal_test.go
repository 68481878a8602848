package control

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func TestControl_DeleteTemplate_NamesTheOwnersOwnAlone(t *testing.T) {
	t.Parallel()
	c := openTemplates(t, fullTemplate())
	ctx := t.Context()
	write := func(f func(tx store.Tx) error) {
		t.Helper()
		require.NoError(t, c.store.Write(ctx, f))
	}
	deletes := func() error { return c.DeleteTemplate(ctx, "u", "full") }
	write(func(tx store.Tx) error {
		return errors.Join(
			tx.InsertPod(compute.Pod{ID: "theirs", UserID: "v", TemplateID: "full", Status: compute.PodRunning}),
			tx.InsertEndpoint(compute.Endpoint{ID: "theirs", UserID: "v", TemplateID: "full", Type: compute.QueueEndpoint, CreatedAt: tx.Wall()}),
		)
	})
	err := deletes()
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, `template "full" is bound to 1 pods and 1 endpoints of other users`)

	write(func(tx store.Tx) error {
		return tx.InsertEndpoint(compute.Endpoint{ID: "mine", UserID: "u", TemplateID: "full", Type: compute.QueueEndpoint, CreatedAt: tx.Wall()})
	})
	require.ErrorContains(t, deletes(), `template "full" is bound to endpoint "mine"`)
	write(func(tx store.Tx) error {
		return tx.InsertPod(compute.Pod{ID: "own", UserID: "u", TemplateID: "full", Status: compute.PodExited})
	})
	require.ErrorContains(t, deletes(), `template "full" is bound to pod "own"`)
	require.ErrorContains(t, c.DeleteTemplateByName(ctx, "u", "n"), `template "full" is bound to pod "own"`)

	require.Equal(t, compute.NotFound, compute.CodeOf(c.DeleteTemplate(ctx, "v", "full")))
	require.Equal(t, compute.NotFound, compute.CodeOf(c.DeleteTemplateByName(ctx, "v", "n")))
	write(func(tx store.Tx) error {
		second := newTemplate("second", "u", tx.Wall())
		second.Name = "n"
		return tx.InsertTemplate(second)
	})
	require.ErrorContains(t, c.DeleteTemplateByName(ctx, "u", "n"), `2 templates have the name "n": delete them by id`)
	require.NoError(t, c.DeleteTemplate(ctx, "u", "second"))
	_, err = c.GetTemplate(ctx, "u", "second")
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func TestControl_UpdateTemplate_KeepsThePathOfAMountAndItsOwnName(t *testing.T) {
	t.Parallel()
	other := newTemplate("other", "u", testNoon)
	other.Name, other.Image = "other", "i"
	c := openTemplates(t, fullTemplate(), other)
	changes := func(change TemplateChange) (compute.Template, error) {
		return c.UpdateTemplate(t.Context(), "u", "full", change)
	}
	sized := func(gb int64, path string) *TemplateMounts {
		return &TemplateMounts{Persistent: &compute.PersistentMount{SizeGB: gb, Path: path}}
	}

	made, err := changes(TemplateChange{Mounts: sized(50, "")})
	require.NoError(t, err)
	require.Equal(t, compute.PersistentMount{SizeGB: 50, Path: "/its"}, *made.Persistent)
	made, err = changes(TemplateChange{Mounts: sized(50, "/new")})
	require.NoError(t, err)
	require.Equal(t, "/new", made.Persistent.Path)
	made, err = changes(TemplateChange{Mounts: &TemplateMounts{}})
	require.NoError(t, err)
	require.Nil(t, made.Persistent)
	made, err = changes(TemplateChange{Mounts: sized(10, "")})
	require.NoError(t, err)
	require.Equal(t, "/workspace", made.Persistent.Path)

	_, err = changes(TemplateChange{Name: new("n"), NameAlone: true})
	require.NoError(t, err, "it has that name itself")
	_, err = changes(TemplateChange{Name: new("other"), NameAlone: true})
	require.ErrorContains(t, err, `name: another template has the name "other"`)
	made, err = changes(TemplateChange{Name: new("other")})
	require.NoError(t, err)
	require.Equal(t, "other", made.Name)
}

func TestNamePorts_KeepsTheNamesOfPortsThatThereAre(t *testing.T) {
	t.Parallel()
	ports := []string{"80/http", "8080/http", "22/tcp"}
	named := func() compute.Template {
		return compute.Template{Ports: ports, PortNames: map[string]string{"80": "web", "22": "ssh"}}
	}
	one := named()
	require.NoError(t, namePorts(&one, nil))
	require.Equal(t, map[string]string{"80": "web", "22": "ssh"}, one.PortNames)
	before := one.PortNames
	one.Ports = ports[1:]
	require.NoError(t, namePorts(&one, nil))
	require.Equal(t, map[string]string{"22": "ssh"}, one.PortNames, "port 80 is gone, though 8080 begins like it")
	require.Len(t, before, 2, "what was read from the store is as it was")
	require.NoError(t, namePorts(&one, map[string]string{"8080": "other"}))
	require.Equal(t, map[string]string{"8080": "other"}, one.PortNames)
	require.NoError(t, namePorts(&one, map[string]string{}))
	require.Empty(t, one.PortNames)

	one = named()
	err := namePorts(&one, map[string]string{"80": "web", "81": "none", "8": "none"})
	require.Equal(t, compute.Rejected, compute.CodeOf(err))
	require.ErrorContains(t, err, "portsConfig: 8 is none of the ports")
	require.Equal(t, named(), one)
}
