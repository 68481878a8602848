package storetest

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func fullTemplate() compute.Template {
	return compute.Template{
		ID: "full", UserID: "u", EndpointID: "e", Name: "a 'name'", Image: "img:1", Args: "-x", DiskGB: 30, Ports: []string{"80/http"}, PortNames: map[string]string{"80": "page"},
		Env: map[string]string{"A": "1"}, RegistryID: "r", Persistent: &compute.PersistentMount{SizeGB: 10, Path: "/p"},
		Category: compute.ForAMD, Public: true, Serverless: true, StartSSH: true, StartJupyter: true, CUDAVersions: []string{"12.4"}, Readme: "# a", CreatedAt: start,
	}
}

func templates(t *testing.T, open Open) {
	s, _ := begin(t, open)
	list := func() []compute.Template {
		return read(t, s, func(tx store.Tx) ([]compute.Template, error) { return firstPage(tx.PageTemplates("u", wide)) })
	}
	require.Empty(t, list())

	full := fullTemplate()
	bare := compute.Template{ID: "bare", UserID: "u", Ports: []string{}, PortNames: map[string]string{}, Env: map[string]string{}, CUDAVersions: []string{}, CreatedAt: start}
	late, other := full, full
	late.ID, late.CreatedAt, other.ID, other.UserID = "late", start.Add(time.Second), "other", "v"
	for _, one := range []compute.Template{late, full, bare, other} {
		write(t, s, func(tx store.Tx) error { return tx.InsertTemplate(one) })
	}
	require.Equal(t, []compute.Template{late, bare, full}, list())
	require.Equal(t, compute.Conflict, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.InsertTemplate(full) })))

	changed := bare
	changed.ID, changed.EndpointID = full.ID, full.EndpointID
	write(t, s, func(tx store.Tx) error { return tx.UpdateTemplate(changed) })
	get := func(id compute.TemplateID) compute.Template {
		return read(t, s, func(tx store.Tx) (compute.Template, error) { return tx.Template(id) })
	}
	require.Equal(t, changed, get("full"))

	changed = full
	changed.UserID, changed.CreatedAt = "not written", late.CreatedAt
	write(t, s, func(tx store.Tx) error { return tx.UpdateTemplate(changed) })
	require.Equal(t, full, get("full"))
	require.Equal(t, compute.NotFound, compute.CodeOf(s.Write(t.Context(), func(tx store.Tx) error { return tx.UpdateTemplate(compute.Template{ID: "none"}) })))

	write(t, s, func(tx store.Tx) error { return tx.DeleteTemplate("full") })
	write(t, s, func(tx store.Tx) error { return tx.DeleteTemplate("full") })
	require.Equal(t, []compute.Template{late, bare}, list())
	_, err := tryRead(t, s, func(tx store.Tx) (compute.Template, error) { return tx.Template("full") })
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func templateUse(t *testing.T, open Open) {
	s, _ := begin(t, open)
	from := func(id compute.PodID, template compute.TemplateID, status compute.PodStatus) compute.Pod {
		p := pod(id, "u", status)
		p.TemplateID = template
		return p
	}

	insertPods(t, s, from("z", "t", compute.PodRunning), from("y", "t", compute.PodExited), from("gone", "t", compute.PodTerminated),
		from("other", "s", compute.PodRunning), pod("bare", "u", compute.PodRunning))
	require.Equal(t, []compute.PodID{"z", "y"}, read(t, s, func(tx store.Tx) ([]compute.PodID, error) { return tx.TemplatePods("t") }))
	require.Empty(t, read(t, s, func(tx store.Tx) ([]compute.PodID, error) { return tx.TemplatePods("none") }))

	one, other := fullTemplate(), fullTemplate()
	other.ID, other.RegistryID = "other", "s"
	write(t, s, func(tx store.Tx) error {
		require.NoError(t, tx.InsertTemplate(one))
		require.NoError(t, tx.InsertTemplate(other))
		named, err := tx.ForgetRegistry("r")
		require.Equal(t, []compute.TemplateID{one.ID}, named)
		return err
	})

	one.RegistryID = ""
	require.Equal(t, []compute.Template{other, one}, read(t, s, func(tx store.Tx) ([]compute.Template, error) { return firstPage(tx.PageTemplates("u", wide)) }))
}
