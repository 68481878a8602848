package graphql

import (
	"context"
	"errors"
	"slices"
	"strings"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// PodTemplate is the query podTemplate.
func (q queries) PodTemplate(ctx context.Context, id string) (*graph.PodTemplate, error) {
	template, err := q.Control.GetTemplate(ctx, user(ctx), compute.TemplateID(id))
	if err == nil {
		err = counted(ctx, q.Answers, "/v2/templates/"+id, template.Env, template.Args, template.Readme)
	}
	return found(q.showTemplate(ctx)(template, err))
}

// PodTemplates is the query podTemplates.
func (q queries) PodTemplates(ctx context.Context, input *graph.PodTemplateInput) ([]*graph.PodTemplate, error) {
	list := []*graph.PodTemplate{}
	for _, t := range q.Control.Catalog().Templates {
		if input == nil || input.IsRunpod == nil || *input.IsRunpod == t.Official() {
			list = append(list, q.templateView(t.Template(), user(ctx)))
		}
	}
	return list, nil
}

// PodTemplates is User.podTemplates: one read, however many there are.
func (u users) PodTemplates(ctx context.Context, _ *graph.User) ([]*graph.PodTemplate, error) {
	templates, err := listed(ctx, u.Answers, "/v2/templates", u.Control.ListTemplates)
	return views(templates, func(t compute.Template) *graph.PodTemplate { return u.templateView(t, user(ctx)) }), err
}

// SaveTemplate is the mutation saveTemplate.
func (m mutations) SaveTemplate(ctx context.Context, input *graph.SaveTemplateInput) (*graph.PodTemplate, error) {
	if input == nil {
		input = &graph.SaveTemplateInput{} // which lacks what is required
	}
	change, err := templateChange(input)
	if err != nil {
		return nil, err
	}

	id := compute.TemplateID(value(input.ID))
	var before compute.Template
	if id != "" {
		if before, err = m.Control.GetTemplate(ctx, user(ctx), id); err != nil {
			return nil, err
		}
	}
	after := templateSettings(before).with(change.Image, change.Args, change.Ports, change.Env)
	after.name, after.readme = input.Name, or(change.Readme, before.Readme)
	if err := reserve(ctx, m.Answers, after.bytes(true), "save this one with REST, in /v2/templates"); err != nil {
		return nil, err // before anything is saved
	}

	show := m.showTemplate(ctx)
	if id != "" {
		return show(m.changeTemplate(ctx, before, change))
	}
	return show(m.Control.CreateTemplate(ctx, user(ctx), change))
}

// changeTemplate changes a template, and with it the endpoint that it came with and that still has it: clients change so what the workers of
// an endpoint are made of, and expect a release (rule graphql.endpoints.template.saved).
func (m mutations) changeTemplate(ctx context.Context, before compute.Template, change control.TemplateChange) (compute.Template, error) {
	if before.EndpointID == "" {
		return m.Control.UpdateTemplate(ctx, user(ctx), before.ID, change)
	}
	_, err := m.Endpoints.Update(ctx, user(ctx), before.EndpointID, control.EndpointChange{Template: &change, OfTemplate: before.ID})
	switch {
	case errors.Is(err, control.ErrOtherTemplate), compute.CodeOf(err) == compute.NotFound: // what is not found is the endpoint, or is not found again
		return m.Control.UpdateTemplate(ctx, user(ctx), before.ID, change)
	case err != nil:
		return compute.Template{}, err
	}
	return m.Control.GetTemplate(ctx, user(ctx), before.ID)
}

// DeleteTemplate is the mutation deleteTemplate.
func (m mutations) DeleteTemplate(ctx context.Context, name *string) (*bool, error) {
	return nil, m.Control.DeleteTemplateByName(ctx, user(ctx), value(name))
}

// templateChange translates the input of saveTemplate: of what changes, null is nil and empty text is empty.
func templateChange(i *graph.SaveTemplateInput) (c control.TemplateChange, err error) {
	var bad violations
	c = control.TemplateChange{
		Name: &i.Name, NameAlone: true, Image: i.ImageName, Args: i.DockerArgs, Public: i.IsPublic, Serverless: i.IsServerless,
		StartSSH: i.StartSSH, StartJupyter: i.StartJupyter, Readme: i.Readme, RegistryID: (*compute.RegistryID)(i.ContainerRegistryAuthID),
		Mounts: &control.TemplateMounts{Persistent: volume(&bad, &i.VolumeInGb, i.VolumeMountPath)},
	}

	if m := c.Mounts.Persistent; m != nil {
		m.Path = value(i.VolumeMountPath) // empty: as it was
	}
	mountPath(&bad, "volumeMountPath", i.VolumeMountPath)
	bad.must(i.Name != "", "name", "must not be empty")
	bad.must(value(i.ImageName) != "" || i.ImageName == nil && value(i.ID) != "", "imageName", "is required")
	c.DiskGB = new(int64)
	*c.DiskGB = disk(&bad, &i.ContainerDiskInGb)
	if i.Ports != nil {
		c.Ports = append([]string{}, ports(&bad, i.Ports)...)
	}
	if i.Env != nil {
		c.Env = env(&bad, i.Env)
	}
	c.PortNames = portNames(&bad, i.PortsConfig)

	if word := value(i.Category); word != "" {
		category := compute.TemplateCategory(word)
		bad.must(slices.Contains([]compute.TemplateCategory{compute.ForCPU, compute.ForNVIDIA, compute.ForAMD}, category), "category", "must be CPU, NVIDIA or AMD")
		c.Category = &category
	}

	if err = bad.err(); err != nil {
		return c, err
	}
	return c, refused([]refusal{{"startScript", value(i.StartScript) != ""}, {"advancedStart", value(i.AdvancedStart)}, {"config", hasConfig(i.Config)}})
}

// portNames reads the names of ports. Nil: the input has none, not even an empty list.
func portNames(bad *violations, list []*graph.TemplatePortConfigInput) map[string]string {
	if list == nil {
		return nil
	}

	names := map[string]string{}
	for _, one := range list {
		if one == nil {
			continue
		}
		number, _, _ := strings.Cut(value(one.Port), "/")
		_, twice := names[number]
		bad.must(number != "" && value(one.Name) != "", "portsConfig", "each needs a port and a name")
		bad.must(!twice, "portsConfig", "%s is listed twice", number)
		names[number] = value(one.Name)
	}

	return names
}

// hasConfig reports whether there is a configuration: null and an empty object are none.
func hasConfig(config any) bool {
	object, isObject := config.(map[string]any)
	return config != nil && (!isObject || len(object) > 0)
}

// showTemplate gives the view of what a use case gave.
func (s Services) showTemplate(ctx context.Context) func(compute.Template, error) (*graph.PodTemplate, error) {
	return func(t compute.Template, err error) (*graph.PodTemplate, error) {
		if err != nil {
			return nil, err
		}
		return s.templateView(t, user(ctx)), nil
	}
}

// templateView fills every field of the published template that is kept. Its credential is for its owner's eyes.
func (s Services) templateView(t compute.Template, reader compute.UserID) *graph.PodTemplate {
	public, _ := s.Control.Catalog().Template(t.ID)
	id, category, list := string(t.ID), string(t.Category), strings.Join(t.Ports, ",")
	v := &graph.PodTemplate{
		ID: &id, Name: &t.Name, ImageName: &t.Image, DockerArgs: &t.Args, Env: variables(t.Env), Ports: &list,
		PortsConfig: []*graph.TemplatePortConfig{}, VolumeInGb: number(0), ContainerDiskInGb: number(t.DiskGB), StartJupyter: &t.StartJupyter,
		StartSSH: &t.StartSSH, IsServerless: &t.Serverless, IsPublic: &t.Public, IsRunpod: yes(public.Official()), Readme: &t.Readme,
		AdvancedStart: yes(false), Category: &category,
	}

	for _, port := range t.Ports {
		text, _, _ := strings.Cut(port, "/")
		v.PortsConfig = append(v.PortsConfig, &graph.TemplatePortConfig{Port: &text, Name: orNull(t.PortNames[text])})
	}
	if m := t.Persistent; m != nil {
		v.VolumeInGb, v.VolumeMountPath = number(m.SizeGB), &m.Path
	}
	if t.UserID == reader {
		v.ContainerRegistryAuthID = orNull(string(t.RegistryID))
	}

	return v
}

// variables lists an environment by its keys.
func variables(env map[string]string) []*graph.EnvironmentVariable {
	list := []*graph.EnvironmentVariable{}
	for key, value := range env {
		list = append(list, &graph.EnvironmentVariable{Key: &key, Value: &value})
	}
	slices.SortFunc(list, func(a, b *graph.EnvironmentVariable) int { return strings.Compare(*a.Key, *b.Key) })
	return list
}
