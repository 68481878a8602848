package httpapi_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/httpapi"
	"github.com/berthdev/berth/impl/limit"
)

// builder makes images of nothing, or fails.
type builder struct {
	httpapi.Builds
	err  error
	text string // of the archive that came last
	told []string
}

func (b *builder) Create(_ context.Context, user compute.UserID, endpoint compute.EndpointID, archive func() (io.ReadCloser, error)) (compute.Build, error) {
	b.told = append(b.told, fmt.Sprint("create ", user, " ", endpoint))
	if b.err != nil {
		return compute.Build{}, b.err
	}
	file, err := archive()
	if err != nil {
		return compute.Build{}, err
	}
	text, err := io.ReadAll(file)
	b.text = string(text)
	return compute.Build{ID: "b", Status: compute.BuildCompleted, Image: "made"}, errors.Join(err, file.Close())
}

func (b *builder) Cancel(_ context.Context, user compute.UserID, endpoint compute.EndpointID, id compute.BuildID) (compute.Build, error) {
	b.told = append(b.told, fmt.Sprint("cancel ", user, " ", endpoint, " ", id))
	return compute.Build{ID: id}, b.err
}

func TestBuilds_AreMadeOfArchives(t *testing.T) {
	t.Parallel()
	maker := &builder{}
	e := openWith(t, func(s *httpapi.Services) {
		archives, err := limit.NewArchives(t.TempDir(), 100, 2)
		require.NoError(t, err)
		s.Builds, s.Archives = maker, archives
	})
	token := e.key(control.NewKey{Scopes: []compute.Scope{compute.ScopeRESTWrite}, Exempt: true})
	path := "/_berth/endpoints/one/builds"
	build := func(kind, text string) *httptest.ResponseRecorder {
		req := with("POST", path, token, text)
		req.Header.Set("Content-Type", kind)
		rec := httptest.NewRecorder()
		e.handler.ServeHTTP(rec, req)
		return rec
	}
	for _, kind := range []string{"application/x-tar", "application/gzip", "application/octet-stream; a=b"} {
		made := build(kind, "archive of "+kind)
		require.Equal(t, 201, made.Code, made.Body)
		require.Contains(t, made.Body.String(), `"imageName":"made"`)
		require.Equal(t, "archive of "+kind, maker.text)
	}
	require.Equal(t, "create u one", maker.told[0])
	maker.told = nil
	for _, kind := range []string{"", "text/plain", "application/json", "application/gzip;;"} {
		require.Equal(t, 415, build(kind, "x").Code, kind)
	}
	require.Empty(t, maker.told)
	require.Equal(t, 413, build("application/x-tar", strings.Repeat("x", 101)).Code)

	for says, c := range map[string]struct {
		err    error
		status int
	}{
		"not now":                 {compute.Errorf(compute.Conflict, "not now"), 409},
		"the archive is over":     {fmt.Errorf("read: %w", limit.ErrTooLarge), 413},
		"the archive came too":    {fmt.Errorf("read: %w", os.ErrDeadlineExceeded), 408},
		"the archive ended early": {errors.New("the secret reason"), 400},
	} {
		maker.err = c.err
		refused := build("application/x-tar", "x")
		require.Equal(t, c.status, refused.Code, says)
		require.Contains(t, refused.Body.String(), says)
		require.NotContains(t, refused.Body.String(), "secret")
	}

	maker.err, maker.told = nil, nil
	cancelled := httptest.NewRecorder()
	e.handler.ServeHTTP(cancelled, with("DELETE", path+"/b1", token, ""))
	require.Equal(t, 200, cancelled.Code)
	require.Equal(t, []string{"cancel u one b1"}, maker.told)
	maker.err = compute.Errorf(compute.NotFound, "there is none")
	cancelled = httptest.NewRecorder()
	e.handler.ServeHTTP(cancelled, with("DELETE", path+"/b1", token, ""))
	require.Equal(t, 404, cancelled.Code)
}

func TestBuilds_CountAsRequestsAndNeedToWrite(t *testing.T) {
	t.Parallel()
	maker := &builder{}
	e := openWith(t, func(s *httpapi.Services) { s.Builds = maker })
	for scope, want := range map[compute.Scope]int{compute.ScopeRESTRead: 403, compute.ScopeRESTWrite: 429} {
		token := e.key(control.NewKey{UserID: compute.UserID("user-" + strconv.Itoa(want)), Scopes: []compute.Scope{scope}})
		for range 20 {
			e.call("GET", "/v2/nothing", token, "")
		}
		rec := httptest.NewRecorder()
		e.handler.ServeHTTP(rec, with("DELETE", "/_berth/endpoints/one/builds/b", token, ""))
		require.Equal(t, want, rec.Code, "the scope comes first")
	}
	require.Empty(t, maker.told)
}
