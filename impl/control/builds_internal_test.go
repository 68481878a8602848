package control

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

func TestEndpoints_ABuildGivesItsImageOnceItIsCompleted(t *testing.T) {
	t.Parallel()
	n, q, clock := openEndpoints(t)
	ctx := t.Context()
	e := n.created(t, cpuEndpoint("e"))
	b, err := n.NewBuild(ctx, "u", e.ID, "registry/")
	require.NoError(t, err)
	require.Equal(t, compute.Build{
		ID: b.ID, EndpointID: e.ID, Status: compute.BuildPending, Image: "registry/" + string(e.ID) + ":" + string(b.ID), CreatedAt: clock.Wall(),
	}, b)
	q.endpoints = nil

	clock.Advance(time.Minute)
	begun := clock.Wall()
	b, err = n.MoveBuild(ctx, b.ID, compute.BuildBegin, "", nil)
	require.NoError(t, err)
	require.Equal(t, compute.BuildBuilding, b.Status)
	require.WithinDuration(t, begun, b.StartedAt, 0)
	require.True(t, b.EndedAt.IsZero())
	require.Empty(t, q.endpoints, "nothing is changed yet")
	require.Len(t, n.releases(t, e.ID), 1)

	clock.Advance(time.Minute)
	b, err = n.MoveBuild(ctx, b.ID, compute.BuildComplete, "", []compute.LogLine{{Source: compute.LogContainer, Position: 1, Text: "done"}})
	require.NoError(t, err)
	require.Equal(t, compute.BuildCompleted, b.Status)
	require.WithinDuration(t, begun, b.StartedAt, 0)
	require.WithinDuration(t, clock.Wall(), b.EndedAt, 0)
	built, err := n.Get(ctx, "u", e.ID)
	require.NoError(t, err)
	require.Equal(t, b.Image, built.Image)
	require.EqualValues(t, 2, built.Version)
	require.Len(t, q.endpoints, 1)
	require.Equal(t, []any{e.ID, b.Image}, []any{q.endpoints[0].ID, q.endpoints[0].Image}, "the next workers get it")

	releases := n.releases(t, e.ID)
	require.Len(t, releases, 2)
	require.Equal(t, []any{b.ID, compute.UserID("u"), int64(2)}, []any{releases[0].BuildID, releases[0].CreatedBy, releases[0].Version})
	require.Equal(t, []compute.FieldChange{{Field: "image", Old: []byte(`"i"`), New: jsonOf(b.Image)}}, releases[0].Diff)
	var log []compute.LogLine
	require.NoError(t, n.store.Read(ctx, func(tx store.Tx) (err error) {
		log, err = tx.BuildLog(b.ID)
		return err
	}))
	require.Len(t, log, 1)

	_, err = n.MoveBuild(ctx, b.ID, compute.BuildComplete, "", nil)
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
	_, err = n.MoveBuild(ctx, "none", compute.BuildComplete, "", nil)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.Len(t, q.endpoints, 1)
}

func TestEndpoints_ABuildThatFailsChangesNothing(t *testing.T) {
	t.Parallel()
	n, q, clock := openEndpoints(t)
	ctx := t.Context()
	e := n.created(t, cpuEndpoint("e"))
	q.endpoints = nil
	for _, begins := range []bool{false, true} {
		b, err := n.NewBuild(ctx, "u", e.ID, "registry/")
		require.NoError(t, err)
		if begins {
			_, err = n.MoveBuild(ctx, b.ID, compute.BuildBegin, "", nil)
			require.NoError(t, err)
		}
		clock.Advance(time.Second)
		_, err = n.MoveBuild(ctx, b.ID, compute.BuildFail, "there is no Dockerfile", nil)
		require.NoError(t, err)

		b, err = n.Build(ctx, "u", e.ID, b.ID)
		require.NoError(t, err)
		require.Equal(t, compute.BuildFailed, b.Status)
		require.Equal(t, "there is no Dockerfile", b.Error)
		require.Equal(t, begins, !b.StartedAt.IsZero())
		require.WithinDuration(t, clock.Wall(), b.EndedAt, 0)
	}

	require.Empty(t, q.endpoints)
	left, err := n.Get(ctx, "u", e.ID)
	require.NoError(t, err)
	require.Equal(t, e, left)
	require.Len(t, n.releases(t, e.ID), 1)
}

func TestEndpoints_ABuildOfWhatIsBeingDeletedComesToNothing(t *testing.T) {
	t.Parallel()
	n, q, _ := openEndpoints(t)
	ctx := t.Context()
	e := n.created(t, cpuEndpoint("e"))
	b, err := n.NewBuild(ctx, "u", e.ID, "registry/")
	require.NoError(t, err)
	_, err = n.MoveBuild(ctx, b.ID, compute.BuildBegin, "", nil)
	require.NoError(t, err)
	q.endpoints, q.fails = nil, errFlaky
	require.ErrorIs(t, n.Delete(ctx, "u", e.ID), errFlaky)

	_, err = n.MoveBuild(ctx, b.ID, compute.BuildComplete, "", nil)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.Empty(t, q.endpoints, "the queue does not get it back")
	_, err = n.NewBuild(ctx, "u", e.ID, "registry/")
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.NoError(t, n.store.Read(ctx, func(tx store.Tx) error {
		stored, err := tx.Endpoint(e.ID)
		require.Equal(t, "i", stored.Image)
		return err
	}))
}

func TestEndpoints_BuildsAreOfTheirEndpointAndUserAlone(t *testing.T) {
	t.Parallel()
	n, _, _ := openEndpoints(t)
	ctx := t.Context()
	e, other := n.created(t, cpuEndpoint("e")), n.created(t, cpuEndpoint("other"))
	b, err := n.NewBuild(ctx, "u", e.ID, "registry/")
	require.NoError(t, err)

	for user, id := range map[compute.UserID]compute.EndpointID{"u": other.ID, "v": e.ID} {
		_, err = n.Build(ctx, user, id, b.ID)
		require.Equal(t, compute.NotFound, compute.CodeOf(err), "%s", user)
	}
	_, _, err = n.Builds(ctx, "v", e.ID, unpaged(nil))
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	all, _, err := n.Builds(ctx, "u", other.ID, unpaged(nil))
	require.NoError(t, err)
	require.Empty(t, all)
	require.Equal(t, compute.NotFound, compute.CodeOf(n.Buildable(ctx, "v", e.ID)))
	require.NoError(t, n.Buildable(ctx, "u", e.ID))

	declared, err := n.Declare(ctx, "u", NewEndpoint{Name: "declared", Image: "i"})
	require.NoError(t, err)
	require.Equal(t, compute.Conflict, compute.CodeOf(n.Buildable(ctx, "u", declared.ID)))
	_, err = n.NewBuild(ctx, "u", declared.ID, "registry/")
	require.Equal(t, compute.Conflict, compute.CodeOf(err))
}
