package control

import (
	"context"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// Builds gives a page of the builds of the user's endpoint, newest first, and where the next one begins. NotFound as for Get.
func (n *Endpoints) Builds(ctx context.Context, user compute.UserID, id compute.EndpointID, p compute.Page) (all []compute.Build, next compute.Position, err error) {
	err = n.store.Read(ctx, func(tx store.Tx) error {
		if _, err := ownEndpoint(tx, user, id); err != nil {
			return err
		}
		all, next, err = tx.PageBuilds(id, p)
		return err
	})
	return all, next, err
}

// Build gives a build of the user's endpoint. NotFound as for Get, and for a build that is not the endpoint's.
func (n *Endpoints) Build(ctx context.Context, user compute.UserID, id compute.EndpointID, build compute.BuildID) (b compute.Build, err error) {
	err = n.store.Read(ctx, func(tx store.Tx) error {
		if _, err := ownEndpoint(tx, user, id); err != nil {
			return err
		}
		if b, err = tx.Build(build); err == nil && b.EndpointID != id {
			err = compute.Errorf(compute.NotFound, "build %q does not exist", build)
		}
		return err
	})
	return b, err
}

// Buildable refuses an endpoint of which nobody may build the image: NotFound as for Get, Conflict for one of the server's settings (rule
// builds.declared).
func (n *Endpoints) Buildable(ctx context.Context, user compute.UserID, id compute.EndpointID) error {
	return n.store.Read(ctx, func(tx store.Tx) error {
		_, err := buildable(tx, user, id)
		return err
	})
}

// NewBuild stores a build of the user's endpoint, PENDING, of an image whose name begins so. Errors as for Buildable.
func (n *Endpoints) NewBuild(ctx context.Context, user compute.UserID, id compute.EndpointID, repository string) (compute.Build, error) {
	b := compute.Build{ID: n.ids.Build(), EndpointID: id, Status: compute.BuildPending}
	b.Image = repository + string(id) + ":" + string(b.ID)
	err := n.store.Write(ctx, func(tx store.Tx) error {
		if _, err := buildable(tx, user, id); err != nil {
			return err
		}
		b.CreatedAt = tx.Wall()
		return tx.InsertBuild(b)
	})
	return b, err
}

func buildable(tx store.Endpoints, user compute.UserID, id compute.EndpointID) (compute.Endpoint, error) {
	e, err := ownEndpoint(tx, user, id)
	if err == nil && e.Declared {
		err = compute.Errorf(compute.Conflict, "image: the endpoint is declared by the server's settings, which alone change it")
	}
	return e, err
}

// MoveBuild carries the event out: why is what a build failed of, and log its log, once it has ended. NotFound for a build that is no
// more, Conflict where the status does not permit the event. One that is COMPLETED gives its image to its endpoint in the same
// transaction, as a release (rule builds.release).
func (n *Endpoints) MoveBuild(ctx context.Context, id compute.BuildID, on compute.BuildEvent, why string, log []compute.LogLine) (b compute.Build, err error) {
	n.changing.Lock()
	defer n.changing.Unlock()

	var e compute.Endpoint
	release := n.ids.Release()
	err = n.store.Write(ctx, func(tx store.Tx) (err error) {
		if b, err = tx.Build(id); err != nil {
			return err
		}
		from := b.Status
		if b.Status, err = compute.BuildMachine.Next(from, on); err != nil {
			return err
		}

		b.Error = why
		if on == compute.BuildBegin {
			b.StartedAt = tx.Wall()
		}
		if b.Status.Ended() {
			b.EndedAt = tx.Wall()
		}
		if on == compute.BuildComplete {
			if e, err = n.built(tx, b, release); err != nil {
				return err
			}
		}

		_, err = tx.MoveBuild(b, from, log) // read in this transaction
		return err
	})
	if err == nil && on == compute.BuildComplete {
		n.queue.SetEndpoint(e)
	}

	return b, err
}

// built gives the endpoint the image of the build.
func (n *Endpoints) built(tx store.Serverless, b compute.Build, id compute.ReleaseID) (e compute.Endpoint, err error) {
	if e, err = tx.Endpoint(b.EndpointID); err != nil {
		return e, err
	}
	if !e.DeletedAt.IsZero() {
		return e, compute.Errorf(compute.NotFound, "endpoint %q does not exist", e.ID)
	}

	before := e
	e.Image = b.Image
	e.Version++
	err = tx.InsertRelease(compute.Release{
		ID: id, EndpointID: e.ID, Version: e.Version, CreatedBy: e.UserID, BuildID: b.ID, Diff: makingDiff(before, e), CreatedAt: tx.Wall(),
	})
	if err != nil {
		return e, err
	}
	return e, tx.UpdateEndpoint(e)
}
