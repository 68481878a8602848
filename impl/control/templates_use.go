package control

import (
	"cmp"
	"context"
	"fmt"
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
	n = completed(n, t, user)
	if len(n.CUDAVersions) == 0 && n.GPU != nil {
		n.CUDAVersions = t.CUDAVersions
	}
	return n, nil
}

// CopyTemplate completes a pod with the settings of a template, to which it keeps no link (rules public.create.template.*): what is there
// stays, be it empty. A CPU pod takes neither the template's mount nor its versions of CUDA, of which also a least one is enough to
// replace them. NotFound as for GetTemplate, Invalid for a serverless template.
func (c *Control) CopyTemplate(ctx context.Context, user compute.UserID, id compute.TemplateID, n NewPod) (NewPod, error) {
	t, err := c.GetTemplate(ctx, user, id)
	if err != nil {
		return n, noTemplate(err, id)
	}
	return copied(n, t, user)
}

// copyToChange completes a change of a pod with the settings of a template but its mount, as if they stood in the change (rules
// pods.patch.template.*): what is there stays. Errors as for CopyTemplate.
func (c *Control) copyToChange(tx store.Templates, user compute.UserID, id compute.TemplateID, n PodChange) (PodChange, error) {
	t, err := c.template(tx, user, id)
	if err != nil {
		return n, err
	}
	made, err := copied(NewPod{Env: n.Env}, t, user)
	if err != nil {
		return n, err
	}

	arguments, err := Command{n.Args, n.Cmd, n.Entrypoint}.on(made.Args)
	if err != nil {
		return n, err
	}
	n.Args, n.Cmd, n.Entrypoint = &arguments, nil, nil
	n.Env = made.Env
	if n.Image == nil && made.Image != "" {
		n.Image = &made.Image
	}
	if n.DiskGB == nil && made.DiskGB > 0 {
		n.DiskGB = &made.DiskGB
	}
	if n.Ports == nil {
		n.Ports = append([]string{}, made.Ports...) // none is not nil: it takes them away
	}
	if n.RegistryID == nil {
		n.RegistryID = &made.RegistryID
	}
	return n, nil
}

// copied is a new pod with the settings of a template that it keeps no link to, see CopyTemplate.
func copied(n NewPod, t compute.Template, user compute.UserID) (NewPod, error) {
	if t.Serverless {
		line := fmt.Sprintf("templateId: template %q is for serverless endpoints", t.ID)
		return n, &compute.Error{Code: compute.Invalid, Detail: line, Fields: []string{"/" + line}}
	}

	made := completed(n, t, user)
	if n.Ports != nil {
		made.Ports = n.Ports
	}
	if n.NoRegistry {
		made.RegistryID = ""
	}
	if n.CPU != nil || n.Network != nil {
		made.Persistent = n.Persistent
	}
	if n.GPU != nil && n.Kept.CUDAVersions == nil && n.Kept.LeastCUDA == "" && len(n.CUDAVersions) == 0 && n.LeastCUDA == "" {
		made.Kept.CUDAVersions = t.CUDAVersions
	}
	if made.StartJupyter == nil {
		made.StartJupyter = &t.StartJupyter
	}
	return made, nil
}

// completed is a pod with the settings of a template where it has none.
func completed(n NewPod, t compute.Template, user compute.UserID) NewPod {
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
	if m := t.Persistent; m != nil && n.CPU == nil && n.Persistent == nil && len(n.Network) == 0 { // a CPU pod cannot have it
		n.Persistent = &compute.PersistentMount{SizeGB: m.SizeGB, Path: cmp.Or(n.MountPath, m.Path)}
	}
	if n.StartSSH == nil {
		n.StartSSH = &t.StartSSH
	}
	return n
}

// checkTemplate gives NotFound for a template that the user cannot read; the empty id is none.
func (c *Control) checkTemplate(tx store.Templates, user compute.UserID, id compute.TemplateID) error {
	if id == "" {
		return nil
	}
	_, err := c.template(tx, user, id)
	return err
}

// template gives a template as GetTemplate does, and names the field of one that there is not.
func (c *Control) template(tx store.Templates, user compute.UserID, id compute.TemplateID) (compute.Template, error) {
	if public, ok := c.catalog.Template(id); ok {
		return public.Template(), nil
	}
	t, err := readableTemplate(tx, user, id)
	return t, noTemplate(err, id)
}

// noTemplate names the field of what does not exist.
func noTemplate(err error, id compute.TemplateID) error {
	if compute.CodeOf(err) == compute.NotFound {
		return compute.Errorf(compute.NotFound, "templateId: template %q does not exist", id)
	}
	return err
}
