package control

import (
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Artifact is where an artifact is sent to, or got from.
type Artifact struct {
	Build compute.FlashBuild
	Path  string // with the query that permits it to whoever has it, until it ends
	Until time.Time
}

// PrepareUpload stores an upload of so many bytes and says where they are to be sent (rule flash.upload). Rejected for a size that no artifact
// may have, and where the user would have too many uploads or bytes (rule flash.bounds); NotFound as for App.
func (f *Flash) PrepareUpload(ctx context.Context, user compute.UserID, app compute.FlashAppID, size int64) (a Artifact, err error) {
	if size < 1 || size > compute.FlashArtifact {
		return a, compute.Errorf(compute.Rejected, "tarballSize: must be 1 to %d bytes", int64(compute.FlashArtifact))
	}

	id := f.ids.FlashBuild()
	err = f.store.Write(ctx, func(tx store.Tx) error {
		if _, err := ownApp(tx, user, app); err != nil {
			return err
		}
		all, err := tx.ListFlashBuildsOf(user)
		if err != nil {
			return err
		}

		uploads, bytes := 0, size
		for _, b := range all {
			if b.CreatedAt.IsZero() {
				uploads++
			}
			bytes += b.Size
		}
		switch {
		case uploads >= compute.FlashUploads:
			return compute.Errorf(compute.Rejected, "tarballSize: %d uploads were prepared and not finalized, as many as may be: finalize them, or wait until they have expired", uploads)
		case bytes > compute.FlashArtifacts:
			return compute.Errorf(compute.Rejected, "tarballSize: the artifacts of all apps would have %d bytes, and %d are kept: delete an app", bytes, int64(compute.FlashArtifacts))
		}

		a.Build = compute.FlashBuild{ID: id, AppID: app, UserID: user, Size: size, PreparedAt: tx.Wall()}
		return tx.InsertFlashBuild(a.Build)
	})
	a.Until = a.Build.PreparedAt.Add(compute.FlashUploadTime)
	a.Path = f.links.path(sendArtifact, id, a.Until)

	return a, err
}

// Receive gives the upload to which the query of its address permits to send the artifact. Forbidden for another query, or one that is too late;
// NotFound for an upload that is gone, Conflict for one that was finalized (rule flash.finalize).
func (f *Flash) Receive(ctx context.Context, id compute.FlashBuildID, expires, token string) (b compute.FlashBuild, err error) {
	if err := f.links.check(sendArtifact, id, expires, token, f.clock.Wall()); err != nil {
		return b, err
	}
	err = f.store.Read(ctx, func(tx store.Tx) error {
		b, err = openUpload(tx, id)
		return err
	})
	return b, err
}

// openUpload gives an upload that takes an artifact. NotFound for one that is gone, Conflict for one that was finalized.
func openUpload(tx store.Flash, id compute.FlashBuildID) (compute.FlashBuild, error) {
	b, err := tx.FlashBuild(id)
	if err == nil && !b.CreatedAt.IsZero() {
		err = compute.Errorf(compute.Conflict, "the upload was finalized: prepare another one")
	}
	return b, err
}

// Received has the artifact that has come kept, and notes that it is there. As with Receive, NotFound for an upload that is gone and Conflict for one
// that was finalized while the artifact came.
func (f *Flash) Received(ctx context.Context, id compute.FlashBuildID, keep func() error) error {
	f.finalizing.Lock()
	defer f.finalizing.Unlock()
	err := f.store.Read(ctx, func(tx store.Tx) error {
		_, err := openUpload(tx, id)
		return err
	})
	if err == nil {
		err = keep()
	}
	if err != nil {
		return err
	}

	return f.store.Write(ctx, func(tx store.Tx) error {
		b, err := openUpload(tx, id)
		if err != nil {
			return err
		}
		b.ReceivedAt = tx.Wall()
		return tx.UpdateFlashBuild(b)
	})
}

// Finalize makes a build of an upload whose artifact has come, and forgets the app's builds that are too many (rules flash.finalize,
// flash.builds.kept). Rejected for what is no manifest and where no artifact has come; NotFound as for App, and for an unknown key; Conflict for
// a build.
func (f *Flash) Finalize(ctx context.Context, user compute.UserID, app compute.FlashAppID, key string, manifest json.RawMessage) (b compute.FlashBuild, err error) {
	if err := compute.CheckFlashManifest(manifest); err != nil {
		return b, err
	}
	f.finalizing.Lock()
	defer f.finalizing.Unlock()
	there := f.files.Has(compute.FlashBuildOf(key))

	err = f.store.Write(ctx, func(tx store.Tx) error {
		if _, err := ownApp(tx, user, app); err != nil {
			return err
		}
		b, err = tx.FlashBuild(compute.FlashBuildOf(key))
		switch {
		case compute.CodeOf(err) == compute.NotFound || err == nil && (b.AppID != app || b.ObjectKey() != key):
			return compute.Errorf(compute.NotFound, "objectKey: upload not found: %q", key)
		case err != nil:
			return err
		case !b.CreatedAt.IsZero():
			return compute.Errorf(compute.Conflict, "objectKey: the upload was finalized already")
		case b.ReceivedAt.IsZero() || !there:
			return compute.Errorf(compute.Rejected, "objectKey: the artifact has not come: send it with PUT to the uploadUrl")
		}

		b.CreatedAt = tx.Wall()
		if err := tx.UpdateFlashBuild(b); err != nil {
			return err
		}
		if err := tx.SetFlashManifest(b.ID, manifest); err != nil {
			return err
		}
		return forgetBuilds(tx, app, b.ID)
	})

	return b, err
}

// forgetBuilds deletes the oldest builds of an app that no environment runs, until compute.FlashBuildsKept are left of these with the one that
// was made just now.
func forgetBuilds(tx store.Flash, app compute.FlashAppID, made compute.FlashBuildID) error {
	environments, err := tx.ListFlashEnvironments(app)
	if err != nil {
		return err
	}
	builds, err := tx.ListFlashBuilds(app)
	if err != nil {
		return err
	}

	slices.SortStableFunc(builds, func(a, b compute.FlashBuild) int { return b.CreatedAt.Compare(a.CreatedAt) }) // they are in the order of their uploads' beginning
	kept := 1
	for _, b := range builds {
		runs := slices.ContainsFunc(environments, func(e compute.FlashEnvironment) bool { return e.BuildID == b.ID })
		if runs || b.CreatedAt.IsZero() || b.ID == made {
			continue
		}
		if kept++; kept > compute.FlashBuildsKept {
			if err := tx.DeleteFlashBuild(b.ID); err != nil {
				return err
			}
		}
	}

	return nil
}

// Build gives a build of an app of the user's, with its manifest. NotFound for an unknown one, somebody else's, and an upload.
func (f *Flash) Build(ctx context.Context, user compute.UserID, id compute.FlashBuildID) (b compute.FlashBuild, manifest json.RawMessage, err error) {
	err = f.store.Read(ctx, func(tx store.Tx) error {
		if b, err = ownBuild(tx, user, id); err != nil {
			return err
		}
		manifest, err = tx.FlashManifest(id)
		return err
	})
	return b, manifest, err
}

// SetManifest replaces the manifest of a build. Rejected for what is none; NotFound as for Build.
func (f *Flash) SetManifest(ctx context.Context, user compute.UserID, id compute.FlashBuildID, manifest json.RawMessage) (b compute.FlashBuild, err error) {
	if err := compute.CheckFlashManifest(manifest); err != nil {
		return b, err
	}
	err = f.store.Write(ctx, func(tx store.Tx) error {
		if b, err = ownBuild(tx, user, id); err != nil {
			return err
		}
		return tx.SetFlashManifest(id, manifest)
	})
	return b, err
}

// Deploy has the environment run a build of its app: workers that start from then on get its artifact. Its endpoints get a release, so that
// those that run are replaced (rule flash.deploy). NotFound as for Environment and Build, and for a build of another app.
func (f *Flash) Deploy(ctx context.Context, user compute.UserID, environment compute.FlashEnvironmentID, build compute.FlashBuildID) (e compute.FlashEnvironment, err error) {
	n := f.endpoints
	n.changing.Lock()
	defer n.changing.Unlock()

	var (
		released []compute.Endpoint
		ids      []compute.ReleaseID // the same ones if the transaction runs again
	)
	id := func(i int) compute.ReleaseID {
		for len(ids) <= i {
			ids = append(ids, f.ids.Release())
		}
		return ids[i]
	}

	err = f.store.Write(ctx, func(tx store.Tx) error {
		released = nil
		if e, err = ownEnvironment(tx, user, environment); err != nil {
			return err
		}
		b, err := ownBuild(tx, user, build)
		if err == nil && b.AppID != e.AppID {
			err = noFlashBuild(build)
		}
		if err != nil || e.BuildID == build {
			return err
		}

		before := e.BuildID
		e.BuildID = build
		if err := tx.SetFlashEnvironmentBuild(environment, build); err != nil {
			return err
		}
		released, err = releaseBuild(tx, user, e, before, id)
		return err
	})
	if err == nil {
		for _, one := range released {
			n.queue.SetEndpoint(one)
		}
	}

	return e, err
}

// releaseBuild makes a release of each endpoint in the user's environment, whose build was another one before. id gives their ids.
func releaseBuild(
	tx store.Serverless, user compute.UserID, e compute.FlashEnvironment, before compute.FlashBuildID, id func(int) compute.ReleaseID,
) (released []compute.Endpoint, err error) {
	in, err := endpointsIn(tx, user, []compute.FlashEnvironment{e})
	if err != nil {
		return nil, err
	}
	slices.Reverse(in) // the oldest first
	for _, endpoint := range in {
		one, err := tx.Endpoint(endpoint)
		if err != nil {
			return nil, err
		}

		one.Version++
		diff := []compute.FieldChange{{Field: "flashBuildId", Old: jsonOf(orNil(string(before))), New: jsonOf(string(e.BuildID))}}
		if err := insertRelease(tx, id(len(released)), one, one.UserID, diff); err != nil {
			return nil, err
		}
		if err := tx.UpdateEndpoint(one); err != nil {
			return nil, err
		}
		released = append(released, one)
	}

	return released, nil
}

// Active gives the artifact of a build that an environment of the user's runs, with an address for its download. NotFound as for Build.
func (f *Flash) Active(ctx context.Context, user compute.UserID, id compute.FlashBuildID) (a Artifact, err error) {
	err = f.store.Read(ctx, func(tx store.Tx) error {
		a.Build, err = ownBuild(tx, user, id)
		return err
	})
	if err != nil {
		return Artifact{}, err
	}
	a.Until = f.clock.Wall().Add(compute.FlashDownloadTime)
	a.Path = f.links.path(getArtifact, id, a.Until)
	return a, err
}

// Download reports that the query of an address permits to get the artifact. Forbidden for another query, or one that is too late; NotFound for a
// build that is gone.
func (f *Flash) Download(ctx context.Context, id compute.FlashBuildID, expires, token string) error {
	if err := f.links.check(getArtifact, id, expires, token, f.clock.Wall()); err != nil {
		return err
	}
	return f.store.Read(ctx, func(tx store.Tx) error {
		_, err := tx.FlashBuild(id)
		return err
	})
}

// Runs gives the build that workers of the environment get, and whether its artifact is there. Empty: the environment runs none.
func (f *Flash) Runs(ctx context.Context, environment compute.FlashEnvironmentID) (id compute.FlashBuildID, there bool, err error) {
	err = f.store.Read(ctx, func(tx store.Tx) error {
		e, err := tx.FlashEnvironment(environment)
		id = e.BuildID
		return err
	})
	if compute.CodeOf(err) == compute.NotFound {
		err = nil // it is being deleted, and so is the endpoint
	}
	return id, err == nil && id != "" && f.files.Has(id), err
}

// uploadsBatch bounds how long one transaction holds up the others.
const uploadsBatch = 100

// Sweep deletes uploads that have expired, and the files of what is no more (rule flash.leftovers).
func (f *Flash) Sweep(ctx context.Context) error {
	for {
		n := 0
		err := f.store.Write(ctx, func(tx store.Tx) (err error) {
			n, err = tx.DeleteFlashUploads(tx.Wall().Add(-compute.FlashUploadTime), uploadsBatch)
			return err
		})
		if err != nil {
			return err
		}
		if n < uploadsBatch {
			break
		}
	}

	return f.files.Keep(func() (known []compute.FlashBuildID, err error) {
		err = f.store.Read(ctx, func(tx store.Tx) error {
			known, err = tx.FlashBuildIDs()
			return err
		})
		return known, err
	})
}

// ownBuild hides from a user what is not theirs, and uploads.
func ownBuild(tx store.FlashBuilds, user compute.UserID, id compute.FlashBuildID) (compute.FlashBuild, error) {
	b, err := tx.FlashBuild(id)
	if compute.CodeOf(err) == compute.NotFound || err == nil && (b.UserID != user || b.CreatedAt.IsZero()) {
		return compute.FlashBuild{}, noFlashBuild(id)
	}
	return b, err
}

func noFlashBuild(id compute.FlashBuildID) error {
	return compute.Errorf(compute.NotFound, "flash build not found: %q", id)
}
