package control

import (
	"cmp"
	"context"
	"maps"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// FromTemplate completes a pod with the settings of the template that it names: what is set stays, and so does a variable
// of the same name. The credential of somebody else's template stays theirs. NotFound as for GetTemplate.
func (c *Control) FromTemplate(ctx context.Context, user compute.UserID, n NewPod) (NewPod, error) {
	if n.TemplateID == "" {
		return n, nil
	}
	t, err := c.GetTemplate(ctx, user, n.TemplateID)
	if err != nil {
		return n, noTemplate(err, n.TemplateID)
	}

	n.Image, n.Args, n.DiskGB = cmp.Or(n.Image, t.Image), cmp.Or(n.Args, t.Args), cmp.Or(n.DiskGB, t.DiskGB)
	if len(n.Ports) == 0 {
		n.Ports = t.Ports
	}
	env := maps.Clone(t.Env)
	maps.Copy(env, n.Env)
	n.Env = env
	if t.UserID == user {
		n.RegistryID = cmp.Or(n.RegistryID, t.RegistryID)
	}
	if m := t.Persistent; m != nil && n.Persistent == nil && len(n.Network) == 0 {
		n.Persistent = &compute.PersistentMount{SizeGB: m.SizeGB, Path: cmp.Or(n.MountPath, m.Path)}
	}
	if len(n.CUDAVersions) == 0 && n.GPU != nil {
		n.CUDAVersions = t.CUDAVersions
	}
	if n.StartSSH == nil {
		n.StartSSH = &t.StartSSH
	}

	return n, nil
}

// checkTemplate gives NotFound for a template that the user cannot read; the empty id is none.
func (c *Control) checkTemplate(tx store.Templates, user compute.UserID, id compute.TemplateID) error {
	if _, public := c.catalog.Template(id); public || id == "" {
		return nil
	}
	_, err := readableTemplate(tx, user, id)
	return noTemplate(err, id)
}

// noTemplate names the field of what does not exist.
func noTemplate(err error, id compute.TemplateID) error {
	if compute.CodeOf(err) == compute.NotFound {
		return compute.Errorf(compute.NotFound, "templateId: template %q does not exist", id)
	}
	return err
}
