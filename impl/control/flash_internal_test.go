package control

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/store"
)

// artifactFiles are the files of artifacts, and what was asked to be kept of them.
type artifactFiles struct {
	there map[compute.FlashBuildID]bool
	kept  []compute.FlashBuildID
}

func (f *artifactFiles) Has(id compute.FlashBuildID) bool { return f.there[id] }

func (f *artifactFiles) Keep(known func() ([]compute.FlashBuildID, error)) (err error) {
	f.kept, err = known()
	return err
}

// flashApps is a Flash of a user, with what it works on.
type flashApps struct {
	*Flash
	t     *testing.T
	n     *Endpoints
	queue *toldQueue
	clock *compute.SettableClock
	files *artifactFiles
}

func openFlash(t *testing.T) *flashApps {
	t.Helper()
	n, q, clock := openEndpoints(t)
	sealer, err := NewSealer([]byte("a key that has thirty-two bytes."))
	require.NoError(t, err)
	files := &artifactFiles{there: map[compute.FlashBuildID]bool{}}
	return &flashApps{NewFlash(n.store, n.ids, n, sealer, clock, files), t, n, q, clock, files}
}

// app makes an app.
func (f *flashApps) app(name string) compute.FlashAppID {
	f.t.Helper()
	made, err := f.CreateApp(f.t.Context(), "u", name)
	require.NoError(f.t, err)
	f.clock.Advance(time.Second)
	return made.ID
}

// environment makes an environment of the app.
func (f *flashApps) environment(app compute.FlashAppID, name string) compute.FlashEnvironmentID {
	f.t.Helper()
	made, err := f.CreateEnvironment(f.t.Context(), "u", app, name)
	require.NoError(f.t, err)
	f.clock.Advance(time.Second)
	return made.ID
}

// endpoint makes an endpoint in the environment.
func (f *flashApps) endpoint(in compute.FlashEnvironmentID, name string) compute.EndpointID {
	f.t.Helper()
	change := cpuEndpoint(name)
	change.Environment = &in
	made := f.n.created(f.t, change)
	f.clock.Advance(time.Second)
	return made.ID
}

// build makes a build of the app.
func (f *flashApps) build(app compute.FlashAppID) compute.FlashBuildID {
	f.t.Helper()
	ctx := f.t.Context()
	a, err := f.PrepareUpload(ctx, "u", app, 10)
	require.NoError(f.t, err)
	require.NoError(f.t, f.Received(ctx, a.Build.ID, func() error {
		f.files.there[a.Build.ID] = true
		return nil
	}))
	b, err := f.Finalize(ctx, "u", app, a.Build.ObjectKey(), nil)
	require.NoError(f.t, err)
	f.clock.Advance(time.Second)
	return b.ID
}

func TestFlash_ABuildIsMadeOfAnArtifactThatHasCome(t *testing.T) {
	t.Parallel()
	f := openFlash(t)
	ctx := t.Context()
	app, other := f.app("app"), f.app("other")
	a, err := f.PrepareUpload(ctx, "u", app, 10)
	require.NoError(t, err)
	id, key := a.Build.ID, a.Build.ObjectKey()
	require.WithinDuration(t, f.clock.Wall().Add(time.Hour), a.Until, 0)
	finalized := func(app compute.FlashAppID, key string) error {
		_, err := f.Finalize(ctx, "u", app, key, json.RawMessage(`{"a":1}`))
		return err
	}
	refused := func(err error, code compute.Code, words string) {
		t.Helper()
		require.Equal(t, code, compute.CodeOf(err))
		require.ErrorContains(t, err, words)
	}

	refused(finalized(app, key), compute.Rejected, "the artifact has not come")
	require.ErrorIs(t, f.Received(ctx, id, func() error { return errFlaky }), errFlaky)
	f.files.there[id] = true
	refused(finalized(app, key), compute.Rejected, "the artifact has not come")
	f.files.there[id] = false
	require.NoError(t, f.Received(ctx, id, func() error { return nil }))
	refused(finalized(app, key), compute.Rejected, "the artifact has not come")
	f.files.there[id] = true
	refused(finalized(other, key), compute.NotFound, "upload not found")
	refused(finalized(app, "else/"+string(id)+".tar.gz"), compute.NotFound, "upload not found")
	refused(finalized(app, strings.TrimSuffix(key, ".gz")), compute.NotFound, "upload not found")
	require.Equal(t, compute.NotFound, compute.CodeOf(func() error {
		_, err := f.Finalize(ctx, "v", app, key, nil)
		return err
	}()))

	require.NoError(t, finalized(app, key))
	refused(finalized(app, key), compute.Conflict, "was finalized already")
	kept := false
	refused(f.Received(ctx, id, func() error {
		kept = true
		return nil
	}), compute.Conflict, "the upload was finalized")
	require.False(t, kept, "what comes late takes the place of nothing")
	b, manifest, err := f.Build(ctx, "u", id)
	require.NoError(t, err)
	require.JSONEq(t, `{"a":1}`, string(manifest))
	require.EqualValues(t, 10, b.Size)
	require.Equal(t, compute.NotFound, compute.CodeOf(f.Received(ctx, "none", func() error { return nil })))
}

func TestFlash_RunsSaysWhichArtifactWorkersGet(t *testing.T) {
	t.Parallel()
	f := openFlash(t)
	app := f.app("app")
	environment, build := f.environment(app, "production"), f.build(app)
	runs := func(in compute.FlashEnvironmentID) string {
		id, there, err := f.Runs(t.Context(), in)
		require.NoError(t, err)
		return fmt.Sprint(id, " ", there)
	}
	f.files.there[""] = true
	require.Equal(t, " false", runs(environment))
	_, err := f.Deploy(t.Context(), "u", environment, build)
	require.NoError(t, err)
	require.Equal(t, string(build)+" true", runs(environment))
	f.files.there[build] = false
	require.Equal(t, string(build)+" false", runs(environment))
	require.Equal(t, " false", runs("deleted"))
}

func TestFlash_DeployReleasesItsEndpoints(t *testing.T) {
	t.Parallel()
	f := openFlash(t)
	ctx := t.Context()
	app := f.app("app")
	production, staging := f.environment(app, "production"), f.environment(app, "staging")
	first, _, second := f.endpoint(production, "first"), f.endpoint(staging, "staged"), f.endpoint(production, "second")
	one, two, theirs := f.build(app), f.build(app), f.build(f.app("other"))
	deployed := func(build compute.FlashBuildID) (told []string) {
		f.queue.endpoints = nil
		e, err := f.Deploy(ctx, "u", production, build)
		require.NoError(t, err)
		require.Equal(t, build, e.BuildID)
		for _, e := range f.queue.endpoints {
			told = append(told, fmt.Sprint(e.ID, " ", e.Version))
		}
		return told
	}

	require.Equal(t, []string{string(first) + " 2", string(second) + " 2"}, deployed(one), "the oldest first")
	require.Empty(t, deployed(one), "it runs there already")
	require.Equal(t, []string{string(first) + " 3", string(second) + " 3"}, deployed(two))
	releases := f.n.releases(t, second)
	require.Equal(t, []compute.FieldChange{{Field: "flashBuildId", Old: jsonOf(string(one)), New: jsonOf(string(two))}}, releases[0].Diff)
	require.Equal(t, []compute.FieldChange{{Field: "flashBuildId", Old: []byte("null"), New: jsonOf(string(one))}}, releases[1].Diff)

	f.queue.endpoints = nil
	for _, wrong := range []compute.FlashBuildID{theirs, "none"} {
		_, err := f.Deploy(ctx, "u", production, wrong)
		require.Equal(t, compute.NotFound, compute.CodeOf(err))
	}
	_, err := f.Deploy(ctx, "v", production, one)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.Empty(t, f.queue.endpoints)
	e, err := f.Environment(ctx, "u", production)
	require.NoError(t, err)
	require.Equal(t, two, e.BuildID)
}

func TestFlash_AnEndpointThatMovesIsReleasedIfItRunsAnotherBuild(t *testing.T) {
	t.Parallel()
	f := openFlash(t)
	ctx := t.Context()
	app := f.app("app")
	production, staging := f.environment(app, "production"), f.environment(app, "staging")
	id, build := f.endpoint(production, "e"), f.build(app)
	moved := func(to compute.FlashEnvironmentID) (version int64) {
		e, err := f.n.Update(ctx, "u", id, EndpointChange{Environment: &to})
		require.NoError(t, err)
		require.Equal(t, to, e.Environment)
		return e.Version
	}

	require.EqualValues(t, 1, moved(staging), "neither runs anything")
	require.EqualValues(t, 1, moved(""))
	_, err := f.Deploy(ctx, "u", production, build)
	require.NoError(t, err)
	require.EqualValues(t, 2, moved(production))
	require.EqualValues(t, 3, moved(""))
	require.Equal(t, []compute.FieldChange{{Field: "flashBuildId", Old: jsonOf(string(build)), New: []byte("null")}}, f.n.releases(t, id)[0].Diff)
	_, err = f.n.Update(ctx, "u", id, EndpointChange{Environment: new(compute.FlashEnvironmentID("none"))})
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
}

func TestFlash_NamesLeadToTheNewestEndpoint(t *testing.T) {
	t.Parallel()
	f := openFlash(t)
	ctx := t.Context()
	old, app := f.app("old"), f.app("app")
	production, staging := f.environment(app, "production"), f.environment(app, "staging")
	first, second, elsewhere := f.endpoint(production, "double"), f.endpoint(production, "double"), f.endpoint(staging, "triple")
	named := f.endpoint(production, string(first))

	for name, want := range map[string]compute.EndpointID{"double": second, string(second): second, string(first): named} {
		id, err := f.Endpoint(ctx, "u", "app", "production", name)
		require.NoError(t, err)
		require.Equal(t, want, id, name)
	}
	for _, where := range [][3]string{{"app", "production", "triple"}, {"app", "production", string(elsewhere)}, {"app", "none", "double"}, {"old", "production", "double"}, {"none", "production", "double"}} {
		_, err := f.Endpoint(ctx, "u", where[0], where[1], where[2])
		require.Equal(t, compute.NotFound, compute.CodeOf(err), "%v", where)
		require.ErrorContains(t, err, "not found: ")
	}
	_, err := f.Endpoint(ctx, "v", "app", "production", "double")
	require.Equal(t, compute.NotFound, compute.CodeOf(err))

	for name, want := range map[string]compute.FlashAppID{"old": old, "app": app} {
		found, err := f.AppNamed(ctx, "u", name)
		require.NoError(t, err)
		require.Equal(t, want, found.ID)
	}
	for name, want := range map[string]compute.FlashEnvironmentID{"production": production, "staging": staging} {
		found, err := f.EnvironmentNamed(ctx, "u", app, name)
		require.NoError(t, err)
		require.Equal(t, want, found.ID)
	}
	_, err = f.EnvironmentNamed(ctx, "u", old, "staging")
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	all, err := f.Apps(ctx, "u")
	require.NoError(t, err)
	require.Equal(t, []compute.FlashAppID{app, old}, []compute.FlashAppID{all[0].ID, all[1].ID}, "newest first")
	require.Len(t, all[0].Environments, 2)
}

func TestFlash_DeleteEndsTheEndpointsFirst(t *testing.T) {
	t.Parallel()
	f := openFlash(t)
	ctx := t.Context()
	app := f.app("app")
	production, staging := f.environment(app, "production"), f.environment(app, "staging")
	first, second, staged := f.endpoint(production, "first"), f.endpoint(production, "second"), f.endpoint(staging, "staged")
	outside := f.n.created(t, cpuEndpoint("outside"))

	f.queue.fails = errFlaky
	require.ErrorIs(t, f.DeleteEnvironment(ctx, "u", production), errFlaky)
	_, err := f.Environment(ctx, "u", production)
	require.NoError(t, err, "it stays as long as one of its endpoints could not be deleted")
	require.Equal(t, compute.NotFound, compute.CodeOf(f.DeleteEnvironment(ctx, "v", production)))
	f.queue.fails = nil
	require.NoError(t, f.DeleteEnvironment(ctx, "u", production))
	require.Contains(t, f.queue.removed, first)
	for _, id := range []compute.EndpointID{first, second} {
		_, err = f.n.Get(ctx, "u", id)
		require.Equal(t, compute.NotFound, compute.CodeOf(err))
	}
	_, err = f.Environment(ctx, "u", production)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))

	f.queue.removed = nil
	require.NoError(t, f.DeleteApp(ctx, "u", app))
	require.Equal(t, []compute.EndpointID{staged}, f.queue.removed)
	_, err = f.App(ctx, "u", app)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	left, err := f.n.List(ctx, "u", nil)
	require.NoError(t, err)
	require.Len(t, left, 1)
	require.Equal(t, outside.ID, left[0].ID)
}

func TestFlash_SweepDeletesWhatHasExpired(t *testing.T) {
	t.Parallel()
	f := openFlash(t)
	ctx := t.Context()
	app := f.app("app")
	build := f.build(app)
	f.clock.Advance(2 * time.Hour)
	now := f.clock.Wall()
	f.n.writes(t, func(tx store.Tx) error {
		for i := range 250 {
			if err := tx.InsertFlashBuild(compute.FlashBuild{ID: compute.FlashBuildID(fmt.Sprint("old", i)), AppID: app, UserID: "u", Size: 1, PreparedAt: now.Add(-time.Hour - time.Millisecond)}); err != nil {
				return err
			}
		}
		return tx.InsertFlashBuild(compute.FlashBuild{ID: "just-now", AppID: app, UserID: "u", Size: 1, PreparedAt: now.Add(-time.Hour)})
	})
	require.NoError(t, f.Sweep(ctx))
	require.ElementsMatch(t, []compute.FlashBuildID{build, "just-now"}, f.files.kept, "files of all others are removed")
	f.clock.Advance(time.Millisecond)
	require.NoError(t, f.Sweep(ctx))
	require.Equal(t, []compute.FlashBuildID{build}, f.files.kept)
}
