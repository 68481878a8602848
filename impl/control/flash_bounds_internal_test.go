package control

import (
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
)

func TestFlash_UploadsAreBounded(t *testing.T) {
	t.Parallel()
	f := openFlash(t)
	ctx := t.Context()
	app := f.app("app")
	prepare := func(size int64) error {
		_, err := f.PrepareUpload(ctx, "u", app, size)
		return err
	}
	for _, size := range []int64{-1, 0, compute.FlashArtifact + 1} {
		require.ErrorContains(t, prepare(size), "tarballSize: must be 1 to 1572864000 bytes")
	}
	for range 8 {
		require.NoError(t, prepare(compute.FlashArtifact))
	}
	require.ErrorContains(t, prepare(288<<20+1), "tarballSize: the artifacts of all apps would have 12884901889 bytes")
	require.NoError(t, prepare(288<<20), "as many as may be, to the byte")
	require.ErrorContains(t, prepare(1), "and 12884901888 are kept: delete an app")

	few := openFlash(t)
	app = few.app("app")
	built := few.build(app)
	for range 10 {
		_, err := few.PrepareUpload(ctx, "u", app, 1)
		require.NoError(t, err)
	}
	_, err := few.PrepareUpload(ctx, "u", app, 1)
	require.ErrorContains(t, err, "tarballSize: 10 uploads were prepared and not finalized")
	_, err = few.PrepareUpload(ctx, "v", app, 1)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	_, _, err = few.Build(ctx, "u", built)
	require.NoError(t, err)
}

func TestFlash_KeepsTheLastBuildsAndThoseThatRun(t *testing.T) {
	t.Parallel()
	f := openFlash(t)
	ctx := t.Context()
	app := f.app("app")
	environment := f.environment(app, "production")
	runs, forgotten := f.build(app), f.build(app)
	_, err := f.Deploy(ctx, "u", environment, runs)
	require.NoError(t, err)
	upload, err := f.PrepareUpload(ctx, "u", app, 1)
	require.NoError(t, err)
	f.clock.Advance(time.Second)

	var last []compute.FlashBuildID
	for range 10 {
		last = append(last, f.build(app))
	}
	kept := func(id compute.FlashBuildID) bool {
		_, _, err := f.Build(ctx, "u", id)
		return err == nil
	}
	require.False(t, kept(forgotten))
	require.True(t, kept(runs))
	for _, id := range last {
		require.True(t, kept(id))
	}
	require.NoError(t, f.Received(ctx, upload.Build.ID, func() error { return nil }), "an upload is none of them")
	d, err := f.App(ctx, "u", app)
	require.NoError(t, err)
	require.Len(t, d.Builds, 11)

	more := f.build(app)
	require.True(t, kept(more))
	require.False(t, kept(last[0]))
	require.True(t, kept(last[1]))
	require.True(t, kept(runs))
}

func TestFlash_ALinkPermitsOneUseOfOneArtifactForAWhile(t *testing.T) {
	t.Parallel()
	links := artifactLinks{[]byte("key")}
	until := time.Unix(1000, 999)
	path := links.path(sendArtifact, "build", until)
	before, query, _ := strings.Cut(path, "?")
	require.Equal(t, "/_berth/artifacts/build", before)
	asked, err := url.ParseQuery(query)
	require.NoError(t, err)
	require.Equal(t, "1000", asked.Get("expires"))
	token := asked.Get("token")
	check := func(u use, id compute.FlashBuildID, expires, token string, at int64) string {
		if err := links.check(u, id, expires, token, time.Unix(at, 0)); err != nil {
			require.Equal(t, compute.Forbidden, compute.CodeOf(err))
			return strings.SplitAfter(err.Error(), ": ")[1]
		}
		return ""
	}

	require.Empty(t, check(sendArtifact, "build", "1000", token, 999))
	require.Equal(t, "expires: ", check(sendArtifact, "build", "1000", token, 1000))
	require.Equal(t, "expires: ", check(sendArtifact, "build", "1000", token, 1001))
	for _, wrong := range []string{
		check(getArtifact, "build", "1000", token, 999), check(sendArtifact, "other", "1000", token, 999), check(sendArtifact, "build", "2000", token, 999),
		check(sendArtifact, "build", "1000", "", 999), check(sendArtifact, "build", "1000", token+"x", 999),
	} {
		require.Equal(t, "token: ", wrong)
	}
	never := links.token(sendArtifact, "build", "soon")
	require.Equal(t, "expires: ", check(sendArtifact, "build", "soon", never, 999))
	require.NotEqual(t, token, artifactLinks{[]byte("another")}.token(sendArtifact, "build", "1000"))
}

func TestFlash_LinksPermitWhatTheyAreFor(t *testing.T) {
	t.Parallel()
	f := openFlash(t)
	ctx := t.Context()
	app := f.app("app")
	environment, build := f.environment(app, "production"), f.build(app)
	_, err := f.Deploy(ctx, "u", environment, build)
	require.NoError(t, err)
	upload, err := f.PrepareUpload(ctx, "u", app, 7)
	require.NoError(t, err)
	active, err := f.Active(ctx, "u", build)
	require.NoError(t, err)
	require.Equal(t, build, active.Build.ID)
	require.WithinDuration(t, f.clock.Wall().Add(15*time.Minute), active.Until, 0)
	query := func(path string) (expires, token string) {
		_, text, _ := strings.Cut(path, "?")
		asked, err := url.ParseQuery(text)
		require.NoError(t, err)
		return asked.Get("expires"), asked.Get("token")
	}

	expires, token := query(upload.Path)
	b, err := f.Receive(ctx, upload.Build.ID, expires, token)
	require.NoError(t, err)
	require.EqualValues(t, 7, b.Size)
	require.Equal(t, compute.Forbidden, compute.CodeOf(f.Download(ctx, upload.Build.ID, expires, token)))
	_, err = f.Receive(ctx, build, expires, token)
	require.Equal(t, compute.Forbidden, compute.CodeOf(err))

	expires, token = query(active.Path)
	require.NoError(t, f.Download(ctx, build, expires, token))
	_, err = f.Receive(ctx, build, expires, token)
	require.Equal(t, compute.Forbidden, compute.CodeOf(err))
	none, err := f.Active(ctx, "v", build)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	require.Zero(t, none, "the path would be one to another user's build")
	_, err = f.Active(ctx, "u", upload.Build.ID)
	require.Equal(t, compute.NotFound, compute.CodeOf(err))
	f.clock.Advance(15 * time.Minute)
	require.Equal(t, compute.Forbidden, compute.CodeOf(f.Download(ctx, build, expires, token)))
}
