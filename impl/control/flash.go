package control

import (
	"cmp"
	"context"
	"slices"
	"sync"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Flash carries out what clients of flash ask of their apps. It is safe for concurrent use.
type Flash struct {
	store     store.Store
	ids       *compute.IDs
	endpoints *Endpoints
	links     artifactLinks
	clock     compute.Clock
	files     Artifacts

	finalizing sync.Mutex // no artifact is replaced while its upload is finalized, or after it
}

// Artifacts are the files of artifacts, by their builds.
type Artifacts interface {
	// Has reports whether the whole artifact is there.
	Has(compute.FlashBuildID) bool
	// Keep removes all artifacts but those that were there before known was asked and that it has.
	Keep(known func() ([]compute.FlashBuildID, error)) error
}

// NewFlash makes Flash.
func NewFlash(s store.Store, ids *compute.IDs, n *Endpoints, sealer *Sealer, clock compute.Clock, files Artifacts) *Flash {
	return &Flash{store: s, ids: ids, endpoints: n, links: sealer.links, clock: clock, files: files}
}

// FlashDetails is an app with what belongs to it.
type FlashDetails struct {
	compute.FlashApp
	Environments []compute.FlashEnvironment
	Builds       []compute.FlashBuild // that were finalized
}

// CreateApp stores an app (rule flash.apps). Rejected names the field, also for one app too many (rule flash.bounds); Conflict for a name
// that is taken.
func (f *Flash) CreateApp(ctx context.Context, user compute.UserID, name string) (app compute.FlashApp, err error) {
	if err := compute.CheckFlashName(name); err != nil {
		return app, err
	}

	id := f.ids.FlashApp()
	err = create(ctx, f.store, func(tx store.Tx) error {
		all, err := tx.ListFlashApps(user)
		if err != nil {
			return err
		}
		switch {
		case slices.ContainsFunc(all, func(one compute.FlashApp) bool { return one.Name == name }):
			return compute.Errorf(compute.Conflict, "name: there is an app %q", name)
		case len(all) >= compute.FlashApps:
			return compute.Errorf(compute.Rejected, "name: there are %d apps, as many as may be: delete one", len(all))
		}
		app = compute.FlashApp{ID: id, UserID: user, Name: name, CreatedAt: tx.Wall()}
		return tx.InsertFlashApp(app)
	})

	return app, err
}

// App gives the user's app. NotFound for an unknown and for somebody else's one (rule flash.unknown).
func (f *Flash) App(ctx context.Context, user compute.UserID, id compute.FlashAppID) (d FlashDetails, err error) {
	err = f.store.Read(ctx, func(tx store.Tx) error {
		app, err := ownApp(tx, user, id)
		if err == nil {
			d, err = details(tx, app)
		}
		return err
	})
	return d, err
}

// AppNamed gives the user's app of that name. NotFound if there is none.
func (f *Flash) AppNamed(ctx context.Context, user compute.UserID, name string) (d FlashDetails, err error) {
	err = f.store.Read(ctx, func(tx store.Tx) error {
		all, err := tx.ListFlashApps(user)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(one compute.FlashApp) bool { return one.Name == name })
		if i < 0 {
			return noApp(name)
		}
		d, err = details(tx, all[i])
		return err
	})
	return d, err
}

// Apps gives the user's apps, newest first.
func (f *Flash) Apps(ctx context.Context, user compute.UserID) (list []FlashDetails, err error) {
	err = f.store.Read(ctx, func(tx store.Tx) error {
		apps, err := tx.ListFlashApps(user)
		list = nil
		for _, app := range apps {
			d, err := details(tx, app)
			if err != nil {
				return err
			}
			list = append(list, d)
		}
		return err
	})
	return list, err
}

func details(tx store.Flash, app compute.FlashApp) (d FlashDetails, err error) {
	d.FlashApp = app
	if d.Environments, err = tx.ListFlashEnvironments(app.ID); err != nil {
		return d, err
	}
	builds, err := tx.ListFlashBuilds(app.ID)
	d.Builds = slices.DeleteFunc(builds, func(b compute.FlashBuild) bool { return b.CreatedAt.IsZero() })
	return d, err
}

// DeleteApp deletes the app with its environments, their endpoints, and its builds (rule flash.delete). NotFound as for App.
func (f *Flash) DeleteApp(ctx context.Context, user compute.UserID, id compute.FlashAppID) error {
	return f.deleteAll(ctx, user, func(tx store.Tx) ([]compute.FlashEnvironment, error) {
		if _, err := ownApp(tx, user, id); err != nil {
			return nil, err
		}
		return tx.ListFlashEnvironments(id)
	}, func(tx store.Tx) error { return tx.DeleteFlashApp(id) })
}

// CreateEnvironment stores an environment of the user's app. Errors as for CreateApp and App.
func (f *Flash) CreateEnvironment(ctx context.Context, user compute.UserID, app compute.FlashAppID, name string) (e compute.FlashEnvironment, err error) {
	if err := compute.CheckFlashName(name); err != nil {
		return e, err
	}

	id := f.ids.FlashEnvironment()
	err = f.store.Write(ctx, func(tx store.Tx) error {
		if _, err := ownApp(tx, user, app); err != nil {
			return err
		}
		all, err := tx.ListFlashEnvironments(app)
		if err != nil {
			return err
		}

		switch {
		case slices.ContainsFunc(all, func(one compute.FlashEnvironment) bool { return one.Name == name }):
			return compute.Errorf(compute.Conflict, "name: the app has an environment %q", name)
		case len(all) >= compute.FlashEnvironments:
			return compute.Errorf(compute.Rejected, "name: the app has %d environments, as many as may be: delete one", len(all))
		}
		e = compute.FlashEnvironment{ID: id, AppID: app, Name: name, CreatedAt: tx.Wall()}
		return tx.InsertFlashEnvironment(e)
	})

	return e, err
}

// Environment gives the environment of an app of the user's. NotFound for an unknown and for somebody else's one.
func (f *Flash) Environment(ctx context.Context, user compute.UserID, id compute.FlashEnvironmentID) (e compute.FlashEnvironment, err error) {
	err = f.store.Read(ctx, func(tx store.Tx) error {
		e, err = ownEnvironment(tx, user, id)
		return err
	})
	return e, err
}

// EnvironmentNamed gives the environment of that name of the user's app. NotFound if there is none.
func (f *Flash) EnvironmentNamed(ctx context.Context, user compute.UserID, app compute.FlashAppID, name string) (e compute.FlashEnvironment, err error) {
	err = f.store.Read(ctx, func(tx store.Tx) error {
		if _, err := ownApp(tx, user, app); err != nil {
			return err
		}
		all, err := tx.ListFlashEnvironments(app)
		if err != nil {
			return err
		}
		i := slices.IndexFunc(all, func(one compute.FlashEnvironment) bool { return one.Name == name })
		if i < 0 {
			return noEnvironment(name)
		}
		e = all[i]
		return nil
	})
	return e, err
}

// DeleteEnvironment deletes the environment with its endpoints (rule flash.delete). NotFound as for Environment.
func (f *Flash) DeleteEnvironment(ctx context.Context, user compute.UserID, id compute.FlashEnvironmentID) error {
	return f.deleteAll(ctx, user, func(tx store.Tx) ([]compute.FlashEnvironment, error) {
		e, err := ownEnvironment(tx, user, id)
		return []compute.FlashEnvironment{e}, err
	}, func(tx store.Tx) error { return tx.DeleteFlashEnvironment(id) })
}

// deleteAll deletes the endpoints of environments, then, in a transaction in which they have none, the environments and what else is to go.
func (f *Flash) deleteAll(ctx context.Context, user compute.UserID, of func(store.Tx) ([]compute.FlashEnvironment, error), last func(store.Tx) error) error {
	for {
		var left []compute.EndpointID
		err := f.store.Write(ctx, func(tx store.Tx) error {
			environments, err := of(tx)
			if err != nil {
				return err
			}
			if left, err = endpointsIn(tx, user, environments); err != nil || len(left) > 0 {
				return err
			}
			return last(tx)
		})
		if err != nil || len(left) == 0 {
			return err
		}

		for _, id := range left {
			if err := f.endpoints.Delete(ctx, user, id); err != nil && compute.CodeOf(err) != compute.NotFound {
				return err
			}
		}
	}
}

// endpointsIn gives the user's endpoints that are in one of the environments.
func endpointsIn(tx store.Endpoints, user compute.UserID, environments []compute.FlashEnvironment) (ids []compute.EndpointID, err error) {
	err = store.Walk(user, tx.PageEndpoints, func(e compute.Endpoint) {
		if slices.ContainsFunc(environments, func(one compute.FlashEnvironment) bool { return one.ID == e.Environment }) {
			ids = append(ids, e.ID)
		}
	})
	return ids, err
}

// Endpoint gives the user's newest endpoint of that name in an environment of an app, or else the one there that has it as its id: SDKs have
// either in one header. NotFound if there is none.
func (f *Flash) Endpoint(ctx context.Context, user compute.UserID, app, environment, name string) (id compute.EndpointID, err error) {
	d, err := f.AppNamed(ctx, user, app)
	if err != nil {
		return "", err
	}
	i := slices.IndexFunc(d.Environments, func(e compute.FlashEnvironment) bool { return e.Name == environment })
	if i < 0 {
		return "", noEnvironment(environment)
	}

	err = f.store.Read(ctx, func(tx store.Tx) error {
		var named, exact compute.EndpointID
		err := store.Walk(user, tx.PageEndpoints, func(e compute.Endpoint) {
			switch {
			case e.Environment != d.Environments[i].ID:
			case e.Name == name:
				named = cmp.Or(named, e.ID)
			case string(e.ID) == name:
				exact = e.ID
			}
		})
		if err != nil {
			return err
		}
		if id = cmp.Or(named, exact); id == "" {
			return compute.Errorf(compute.NotFound, "endpoint not found: %q in environment %q of app %q", name, environment, app)
		}
		return nil
	})
	return id, err
}

// ownApp hides from a user what is not theirs.
func ownApp(tx store.FlashApps, user compute.UserID, id compute.FlashAppID) (compute.FlashApp, error) {
	app, err := tx.FlashApp(id)
	if compute.CodeOf(err) == compute.NotFound || err == nil && app.UserID != user {
		return compute.FlashApp{}, noApp(string(id))
	}
	return app, err
}

// ownEnvironment hides from a user what is not theirs.
func ownEnvironment(tx store.FlashApps, user compute.UserID, id compute.FlashEnvironmentID) (compute.FlashEnvironment, error) {
	e, err := tx.FlashEnvironment(id)
	if err == nil {
		_, err = ownApp(tx, user, e.AppID)
	}
	if compute.CodeOf(err) == compute.NotFound {
		return compute.FlashEnvironment{}, noEnvironment(string(id))
	}
	return e, err
}

// Clients look for these words (rule flash.unknown).
func noApp(name string) error {
	return compute.Errorf(compute.NotFound, "flash app not found: %q", name)
}

func noEnvironment(name string) error {
	return compute.Errorf(compute.NotFound, "flash environment not found: %q", name)
}
