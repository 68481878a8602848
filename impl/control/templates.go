package control

import (
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// TemplateChange is what createTemplate sets and updateTemplate changes. Nil is the default, or unchanged.
type TemplateChange struct {
	Name         *string
	NameAlone    bool // refuse a name that another template of the user has
	Image        *string
	Args         *string
	Cmd          *[]string // see Command
	Entrypoint   *[]string // likewise
	DiskGB       *int64
	Ports        []string            // empty: none any more
	PortNames    map[string]string   // by the number of a port; empty: none any more
	Env          map[string]string   // empty: none any more
	RegistryID   *compute.RegistryID // empty: none any more
	Mounts       *TemplateMounts
	Category     *compute.TemplateCategory
	Public       *bool
	Serverless   *bool
	StartSSH     *bool
	StartJupyter *bool
	CUDAVersions []string // empty: any
	Readme       *string
}

const defaultMount = "/workspace"

// TemplateMounts are the mounts of a template as a whole. An empty path stays what it was, or is /workspace.
type TemplateMounts struct{ Persistent *compute.PersistentMount }

// CreateTemplate stores a template (rules templates.defaults, templates.create.*). Rejected names the field; NotFound for a
// credential that is not the user's.
func (c *Control) CreateTemplate(ctx context.Context, user compute.UserID, change TemplateChange) (compute.Template, error) {
	var t compute.Template
	err := create(ctx, c.store, func(tx store.Tx) error {
		t = newTemplate(newID(ctx, c.ids.Template), user, tx.Wall())
		if err := changeTemplate(tx, &t, change); err != nil {
			return err
		}
		return tx.InsertTemplate(t)
	})
	return t, err
}

// newTemplate is one with the defaults.
func newTemplate(id compute.TemplateID, user compute.UserID, now time.Time) compute.Template {
	return compute.Template{
		ID: id, UserID: user, DiskGB: defaultDiskGB, Ports: []string{}, PortNames: map[string]string{}, Env: map[string]string{}, Category: compute.ForNVIDIA,
		StartSSH: true, StartJupyter: true, CUDAVersions: []string{}, CreatedAt: now,
	}
}

// GetTemplate gives a template that is the user's, public, or of the catalog. NotFound for every other one.
func (c *Control) GetTemplate(ctx context.Context, user compute.UserID, id compute.TemplateID) (t compute.Template, err error) {
	if public, ok := c.catalog.Template(id); ok {
		return public.Template(), nil
	}
	err = c.store.Read(ctx, func(tx store.Tx) error {
		t, err = readableTemplate(tx, user, id)
		return err
	})
	return t, err
}

// ListTemplates gives the user's templates, newest first. Rejected as for ListPods.
func (c *Control) ListTemplates(ctx context.Context, user compute.UserID, room compute.Room) (all []compute.Template, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		all, err = whole(tx.PageTemplates(user, unpaged(room)))
		return err
	})
	return all, err
}

// PageTemplates gives a page of the user's templates, newest first, and where the next one begins.
func (c *Control) PageTemplates(ctx context.Context, user compute.UserID, p compute.Page) (all []compute.Template, next compute.Position, err error) {
	err = c.store.Read(ctx, func(tx store.Tx) error {
		all, next, err = tx.PageTemplates(user, p)
		return err
	})
	return all, next, err
}

// UpdateTemplate changes what is present. Rejected and NotFound as for CreateTemplate; NotFound for an unknown template
// and for somebody else's, a public one too (rule templates.public.write).
func (c *Control) UpdateTemplate(ctx context.Context, user compute.UserID, id compute.TemplateID, change TemplateChange) (t compute.Template, err error) {
	err = c.store.Write(ctx, func(tx store.Tx) error {
		if t, err = ownTemplate(tx, user, id); err != nil {
			return err
		}
		if err := changeTemplate(tx, &t, change); err != nil {
			return err
		}
		return tx.UpdateTemplate(t)
	})
	return t, err
}

// DeleteTemplate deletes the template. Rejected while a pod that was made from it is not terminated, or an endpoint lasts
// (rule templates.delete.used), NotFound as for UpdateTemplate.
func (c *Control) DeleteTemplate(ctx context.Context, user compute.UserID, id compute.TemplateID) error {
	return c.store.Write(ctx, func(tx store.Tx) error {
		if _, err := ownTemplate(tx, user, id); err != nil {
			return err
		}
		return deleteTemplate(tx, id)
	})
}

// DeleteTemplateByName deletes the user's template of that name. Rejected when several have it and as for DeleteTemplate,
// NotFound when none has.
func (c *Control) DeleteTemplateByName(ctx context.Context, user compute.UserID, name string) error {
	return c.store.Write(ctx, func(tx store.Tx) error {
		named, err := templatesNamed(tx, user, name)
		switch {
		case err != nil:
			return err
		case len(named) == 0:
			return compute.Errorf(compute.NotFound, "template %q does not exist", name)
		case len(named) > 1:
			return compute.Errorf(compute.Rejected, "%d templates have the name %q: delete them by id", len(named), name)
		}
		return deleteTemplate(tx, named[0])
	})
}

// templatesNamed gives the user's templates of that name, which may be large, and many, by their ids.
func templatesNamed(tx store.Templates, user compute.UserID, name string) (named []compute.TemplateID, err error) {
	err = store.Walk(user, tx.PageTemplates, func(t compute.Template) {
		if t.Name == name {
			named = append(named, t.ID)
		}
	})
	return named, err
}

// templatesAndUses is what the end of a template needs: itself, and what may be bound to it.
type templatesAndUses interface {
	store.Templates
	store.Endpoints
	store.Pods
}

func deleteTemplate(tx templatesAndUses, id compute.TemplateID) error {
	pods, err := tx.TemplatePods(id)
	if err != nil {
		return err
	}
	endpoints, err := tx.EndpointsWith(id, "", "")
	if err != nil {
		return err
	}
	if len(pods)+len(endpoints) == 0 {
		return tx.DeleteTemplate(id)
	}

	// What is bound to a public one may be somebody else's: who owns the template learns of that no more than how much it is.
	t, err := tx.Template(id)
	if err != nil {
		return err
	}
	for _, pod := range pods {
		if p, err := tx.Pod(pod); err == nil && p.UserID == t.UserID {
			return compute.Errorf(compute.Rejected, "template %q is bound to pod %q", id, pod)
		}
	}
	for _, endpoint := range endpoints {
		if e, err := tx.Endpoint(endpoint); err == nil && e.UserID == t.UserID {
			return compute.Errorf(compute.Rejected, "template %q is bound to endpoint %q", id, endpoint)
		}
	}
	return compute.Errorf(compute.Rejected, "template %q is bound to %d pods and %d endpoints of other users", id, len(pods), len(endpoints))
}

// unused refuses what an endpoint names; the id that is not meant is empty.
func unused(tx store.Endpoints, text string, r compute.RegistryID, v compute.VolumeID) error {
	endpoints, err := tx.EndpointsWith("", r, v)
	if err == nil && len(endpoints) > 0 {
		err = compute.Errorf(compute.Rejected, "%s endpoint %q", text, endpoints[0])
	}
	return err
}

// changeTemplate applies the change to the template, in the order of its members.
func changeTemplate(tx store.Resources, t *compute.Template, n TemplateChange) (err error) {
	if n.Args, err = (Command{n.Args, n.Cmd, n.Entrypoint}).change(t.Args); err != nil {
		return err
	}
	set(&t.Name, n.Name)
	set(&t.Image, n.Image)
	set(&t.Args, n.Args)
	set(&t.DiskGB, n.DiskGB)
	set(&t.RegistryID, n.RegistryID)
	set(&t.Category, n.Category)
	set(&t.Public, n.Public)
	set(&t.Serverless, n.Serverless)
	set(&t.StartSSH, n.StartSSH)
	set(&t.StartJupyter, n.StartJupyter)
	set(&t.Readme, n.Readme)
	if n.Ports != nil {
		t.Ports = n.Ports
	}
	if err := namePorts(t, n.PortNames); err != nil {
		return err
	}

	if n.Env != nil {
		t.Env = n.Env
	}
	if n.CUDAVersions != nil {
		t.CUDAVersions = n.CUDAVersions
	}

	if n.Mounts != nil {
		before := t.Persistent
		if t.Persistent = n.Mounts.Persistent; t.Persistent != nil && t.Persistent.Path == "" {
			t.Persistent.Path = defaultMount
			if before != nil {
				t.Persistent.Path = before.Path
			}
		}
	}

	if n.NameAlone {
		named, err := templatesNamed(tx, t.UserID, t.Name)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(named, func(other compute.TemplateID) bool { return other != t.ID }) {
			return compute.Errorf(compute.Rejected, "name: another template has the name %q", t.Name)
		}
	}

	if n.Ports != nil || n.Args != nil || n.Env != nil { // else it was taken as it is
		if err := checkContainer(t.Ports, t.Args, t.Env); err != nil {
			return err
		}
	}

	return checkRegistry(tx, t.UserID, t.RegistryID)
}

// namePorts gives the ports of the template other names, unless names is nil. What is no port any more loses its name. Rejected
// for a name of what is none (rule graphql.templates.ports).
func namePorts(t *compute.Template, names map[string]string) error {
	isPort := func(number string) bool {
		return slices.ContainsFunc(t.Ports, func(port string) bool { return strings.HasPrefix(port, number+"/") })
	}
	if names == nil {
		names = maps.Clone(t.PortNames)
		maps.DeleteFunc(names, func(number, _ string) bool { return !isPort(number) })
	}

	for _, number := range slices.Sorted(maps.Keys(names)) {
		if !isPort(number) {
			return compute.Errorf(compute.Rejected, "portsConfig: %s is none of the ports", number)
		}
	}

	t.PortNames = names
	return nil
}

// readableTemplate hides from a user what is neither theirs nor public.
func readableTemplate(tx store.Templates, user compute.UserID, id compute.TemplateID) (compute.Template, error) {
	t, err := tx.Template(id)
	if err == nil && t.UserID != user && !t.Public {
		return compute.Template{}, compute.Errorf(compute.NotFound, "template %q does not exist", id)
	}
	return t, err
}

// ownTemplate hides from a user what is not theirs to change.
func ownTemplate(tx store.Templates, user compute.UserID, id compute.TemplateID) (compute.Template, error) {
	t, err := tx.Template(id)
	if err == nil && t.UserID != user {
		return compute.Template{}, compute.Errorf(compute.NotFound, "template %q does not exist", id)
	}
	return t, err
}
