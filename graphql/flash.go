package graphql

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/berthdev/berth/gen/graph"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// FlashApp is the query flashApp.
func (q queries) FlashApp(ctx context.Context, id string) (*graph.FlashApp, error) {
	return showApp(q.Flash.App(ctx, user(ctx), compute.FlashAppID(id)))
}

// FlashAppByName is the query flashAppByName.
func (q queries) FlashAppByName(ctx context.Context, name string) (*graph.FlashApp, error) {
	return showApp(q.Flash.AppNamed(ctx, user(ctx), name))
}

// FlashEnvironment is the query flashEnvironment.
func (q queries) FlashEnvironment(ctx context.Context, id string) (*graph.FlashEnvironment, error) {
	return showEnvironment(q.Flash.Environment(ctx, user(ctx), compute.FlashEnvironmentID(id)))
}

// FlashEnvironmentByName is the query flashEnvironmentByName.
func (q queries) FlashEnvironmentByName(ctx context.Context, i graph.FlashEnvironmentByNameInput) (*graph.FlashEnvironment, error) {
	return showEnvironment(q.Flash.EnvironmentNamed(ctx, user(ctx), compute.FlashAppID(i.FlashAppID), i.Name))
}

// FlashBuild is the query flashBuild.
func (q queries) FlashBuild(ctx context.Context, id string) (*graph.FlashBuild, error) {
	b, _, err := q.Flash.Build(ctx, user(ctx), compute.FlashBuildID(id))
	return showBuild(b, err)
}

// FlashApps is User.flashApps.
func (u users) FlashApps(ctx context.Context, _ *graph.User) ([]*graph.FlashApp, error) {
	apps, err := u.Flash.Apps(ctx, user(ctx))
	return views(apps, appView), err
}

// CreateFlashApp is the mutation createFlashApp.
func (m mutations) CreateFlashApp(ctx context.Context, i graph.CreateFlashAppInput) (*graph.FlashApp, error) {
	app, err := m.Flash.CreateApp(ctx, user(ctx), i.Name)
	return showApp(control.FlashDetails{FlashApp: app}, err)
}

// DeleteFlashApp is the mutation deleteFlashApp.
func (m mutations) DeleteFlashApp(ctx context.Context, id string) (*bool, error) {
	return nil, m.Flash.DeleteApp(ctx, user(ctx), compute.FlashAppID(id))
}

// CreateFlashEnvironment is the mutation createFlashEnvironment.
func (m mutations) CreateFlashEnvironment(ctx context.Context, i graph.CreateFlashEnvironmentInput) (*graph.FlashEnvironment, error) {
	return showEnvironment(m.Flash.CreateEnvironment(ctx, user(ctx), compute.FlashAppID(i.FlashAppID), i.Name))
}

// DeleteFlashEnvironment is the mutation deleteFlashEnvironment.
func (m mutations) DeleteFlashEnvironment(ctx context.Context, id string) (*bool, error) {
	return nil, m.Flash.DeleteEnvironment(ctx, user(ctx), compute.FlashEnvironmentID(id))
}

// PrepareFlashArtifactUpload is the mutation prepareFlashArtifactUpload.
func (m mutations) PrepareFlashArtifactUpload(ctx context.Context, i graph.PrepareFlashArtifactUploadInput) (*graph.FlashArtifactUpload, error) {
	a, err := m.Flash.PrepareUpload(ctx, user(ctx), compute.FlashAppID(i.FlashAppID), int64(i.TarballSize))
	if err != nil {
		return nil, err
	}
	url, key := callOf(ctx).base+a.Path, a.Build.ObjectKey()
	return &graph.FlashArtifactUpload{UploadURL: &url, ObjectKey: &key, ExpiresAt: &a.Until}, nil
}

// FinalizeFlashArtifactUpload is the mutation finalizeFlashArtifactUpload.
func (m mutations) FinalizeFlashArtifactUpload(ctx context.Context, i graph.FinalizeFlashArtifactUploadInput) (*graph.FlashBuild, error) {
	manifest, err := manifestOf(i.Manifest)
	if err != nil {
		return nil, err
	}
	return showBuild(m.Flash.Finalize(ctx, user(ctx), compute.FlashAppID(i.FlashAppID), i.ObjectKey, manifest))
}

// UpdateFlashBuildManifest is the mutation updateFlashBuildManifest.
func (m mutations) UpdateFlashBuildManifest(ctx context.Context, i graph.UpdateFlashBuildManifestInput) (*graph.FlashBuild, error) {
	manifest, err := manifestOf(i.Manifest)
	if err != nil {
		return nil, err
	}
	return showBuild(m.Flash.SetManifest(ctx, user(ctx), compute.FlashBuildID(i.FlashBuildID), manifest))
}

// DeployBuildToEnvironment is the mutation deployBuildToEnvironment.
func (m mutations) DeployBuildToEnvironment(ctx context.Context, i graph.DeployBuildToEnvironmentInput) (*graph.FlashEnvironment, error) {
	return showEnvironment(m.Flash.Deploy(ctx, user(ctx), compute.FlashEnvironmentID(i.FlashEnvironmentID), compute.FlashBuildID(i.FlashBuildID)))
}

// manifestOf gives a manifest as JSON; nil: there is none.
func manifestOf(manifest any) (json.RawMessage, error) {
	if manifest == nil {
		return nil, nil
	}
	return json.Marshal(manifest)
}

// Endpoints is FlashEnvironment.endpoints: one read for all environments of a field of the root. What is shown of it again is counted again.
func (e flashEnvironments) Endpoints(ctx context.Context, of *graph.FlashEnvironment) ([]*graph.Endpoint, error) {
	all, anew, err := callOf(ctx).owned(func() ([]compute.Endpoint, error) {
		return listed(ctx, e.Answers, "/v2/serverless", e.Services.Endpoints.List)
	})
	if err != nil {
		return nil, err
	}
	var mine []compute.Endpoint
	bytes, env := 0, selected(ctx, "env")
	for _, one := range all {
		if string(one.Environment) == value(of.ID) {
			mine = append(mine, one)
			bytes += endpointSettings(one).bytes(env)
		}
	}
	if !anew {
		if err := reserve(ctx, e.Answers, bytes, "read them in pages, with GET /v2/serverless"); err != nil {
			return nil, err
		}
	}
	return e.endpointViews(ctx, mine)
}

// ActiveArtifact is FlashEnvironment.activeArtifact.
func (e flashEnvironments) ActiveArtifact(ctx context.Context, of *graph.FlashEnvironment) (*graph.FlashArtifact, error) {
	if of.ActiveBuildID == nil {
		return nil, nil //nolint:nilnil // none was deployed
	}
	a, err := e.Flash.Active(ctx, user(ctx), compute.FlashBuildID(*of.ActiveBuildID))
	if err != nil {
		return nil, err
	}
	url, key := callOf(ctx).base+a.Path, a.Build.ObjectKey()
	return &graph.FlashArtifact{ObjectKey: &key, DownloadURL: &url, ExpiresAt: &a.Until}, nil
}

// Manifest is FlashBuild.manifest.
func (b flashBuilds) Manifest(ctx context.Context, of *graph.FlashBuild) (any, error) {
	_, manifest, err := b.Flash.Build(ctx, user(ctx), compute.FlashBuildID(value(of.ID)))
	if err != nil || manifest == nil {
		return nil, err
	}
	return manifest, reserve(ctx, b.Answers, len(manifest), "read this one alone")
}

func showApp(d control.FlashDetails, err error) (*graph.FlashApp, error) {
	if err != nil {
		return nil, err
	}
	return appView(d), nil
}

func appView(d control.FlashDetails) *graph.FlashApp {
	id := string(d.ID)
	return &graph.FlashApp{ID: &id, Name: &d.Name, FlashEnvironments: views(d.Environments, environmentView), FlashBuilds: views(d.Builds, buildView)}
}

func showEnvironment(e compute.FlashEnvironment, err error) (*graph.FlashEnvironment, error) {
	if err != nil {
		return nil, err
	}
	return environmentView(e), nil
}

// environmentView fills what needs no read.
func environmentView(e compute.FlashEnvironment) *graph.FlashEnvironment {
	id, state := string(e.ID), "ACTIVE"
	if e.BuildID == "" {
		state = "PENDING"
	}
	return &graph.FlashEnvironment{
		ID: &id, Name: &e.Name, State: &state, ActiveBuildID: orNull(string(e.BuildID)), CreatedAt: &e.CreatedAt, NetworkVolumes: []*graph.NetworkVolume{},
	}
}

func showBuild(b compute.FlashBuild, err error) (*graph.FlashBuild, error) {
	if err != nil {
		return nil, err
	}
	return buildView(b), nil
}

// buildView fills what needs no read.
func buildView(b compute.FlashBuild) *graph.FlashBuild {
	id, key := string(b.ID), b.ObjectKey()
	return &graph.FlashBuild{ID: &id, ObjectKey: &key, CreatedAt: &b.CreatedAt}
}

// owned gives the user's endpoints, which are read once for a field of the root, and reports whether that was now.
func (c *call) owned(read func() ([]compute.Endpoint, error)) (all []compute.Endpoint, anew bool, err error) {
	c.reading.Lock()
	defer c.reading.Unlock()
	if c.endpoints == nil {
		all, err := read()
		if err != nil {
			return nil, false, err
		}
		c.endpoints, anew = append([]compute.Endpoint{}, all...), true
	}
	return slices.Clone(c.endpoints), anew, nil
}

// forget has what owned gives be read anew.
func (c *call) forget() {
	c.reading.Lock()
	defer c.reading.Unlock()
	c.endpoints = nil
}
