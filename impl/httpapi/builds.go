package httpapi

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"os"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/limit"
)

// Builds makes images for endpoints.
type Builds interface {
	// Create has an image built of the archive, for which it asks if it can.
	Create(ctx context.Context, user compute.UserID, endpoint compute.EndpointID, archive func() (io.ReadCloser, error)) (compute.Build, error)
	// Cancel ends a build that has not ended.
	Cancel(ctx context.Context, user compute.UserID, endpoint compute.EndpointID, id compute.BuildID) (compute.Build, error)
	// OpenLog gives what reads the build's log once, until it has ended.
	OpenLog(ctx context.Context, user compute.UserID, endpoint compute.EndpointID, id compute.BuildID, q compute.LogQuery) (compute.ReadLog, error)
}

// buildsLimit is how many builds a page has at most if its request does not say.
const buildsLimit = 100

// The addresses by which builds are begun and cancelled. They are ours, and in none of the public documents.
const (
	buildsPath = "/_berth/endpoints/:id/builds"
	buildPath  = buildsPath + "/:buildId"

	createBuildOperation = "createBuild"
	cancelBuildOperation = "cancelBuild"
)

// archiveTypes are the content types of archives.
var archiveTypes = []string{"application/x-tar", "application/gzip", "application/octet-stream"}

// ListEndpointBuilds is GET /v2/serverless/{id}/builds.
func (h restHandlers) ListEndpointBuilds(c echo.Context, id string, params rest.ListEndpointBuildsParams) error {
	list := listOf(c, "listEndpointBuilds", id)
	page, leave, err := h.page(c, list, params.Cursor, (*rest.Limit)(params.Limit))
	if err != nil {
		return err
	}
	defer leave()
	page.Limit = min(page.Limit, buildsLimit)
	builds, next, err := h.Endpoints.Builds(contextOf(c), callerOf(c).UserID, compute.EndpointID(id), page)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, rest.BuildList{Builds: views(builds, buildView), Pagination: list.pagination(next)})
}

// GetEndpointBuild is GET /v2/serverless/{id}/builds/{buildId}.
func (h restHandlers) GetEndpointBuild(c echo.Context, id, buildID string) error {
	build, err := h.Endpoints.Build(contextOf(c), callerOf(c).UserID, compute.EndpointID(id), compute.BuildID(buildID))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, buildView(build))
}

// GetBuildLogs is GET /v2/serverless/{id}/builds/{buildId}/logs.
func (h restHandlers) GetBuildLogs(c echo.Context, id, buildID string, params rest.GetBuildLogsParams) error {
	q := logQuery(rest.GetPodLogsParams(params))
	read, err := h.Builds.OpenLog(contextOf(c), callerOf(c).UserID, compute.EndpointID(id), compute.BuildID(buildID), q)
	if err != nil {
		return err
	}
	return h.streamLogs(c, read)
}

// buildRoutes are those that are ours.
func (s *Services) buildRoutes(e *echo.Echo) {
	e.POST(buildsPath, s.own(createBuildOperation, s.createBuild))
	e.DELETE(buildPath, s.own(cancelBuildOperation, s.cancelBuild))
}

// own stands before an operation that is in no document: it checks scope and rate limit.
func (s *Services) own(operation string, next handler) echo.HandlerFunc {
	return func(c echo.Context) error {
		r := requestOf(c)
		if !r.caller.Allows(compute.ScopeRESTWrite) {
			err := r.caller.LacksScope(compute.ScopeRESTWrite)
			s.refusedKey(r, err)
			return err
		}
		if err := cmp.Or(limited(r), r.strange); err != nil {
			return err
		}
		s.actor(r, operation)
		return next(r)
	}
}

// createBuild is POST /_berth/endpoints/{id}/builds, with a tar archive as its body.
func (s *Services) createBuild(r *request) error {
	sent := r.Request()
	if kind, _, err := mime.ParseMediaType(sent.Header.Get(echo.HeaderContentType)); err != nil || !slices.Contains(archiveTypes, kind) {
		return echo.NewHTTPError(http.StatusUnsupportedMediaType, "Content-Type must be application/x-tar, application/gzip or application/octet-stream")
	}

	build, err := s.Builds.Create(contextOf(r), r.caller.UserID, compute.EndpointID(r.Param("id")), func() (io.ReadCloser, error) {
		began := compute.SystemClock{}.Now()
		archive, err := s.Archives.Read(r.caller.UserID, sent.Body, sent.ContentLength)
		if err == nil {
			if err = s.goodSince(r, began); err != nil {
				_ = archive.Close() // it was read alone
			}
		}
		return archive, err
	})
	_, known := errors.AsType[*compute.Error](err)
	switch {
	case err == nil:
		return r.JSON(http.StatusCreated, buildView(build))
	case known || errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, limit.ErrTooLarge):
		return echo.NewHTTPError(http.StatusRequestEntityTooLarge, fmt.Sprintf("the archive is over the limit of %d bytes", compute.BuildArchive))
	case errors.Is(err, os.ErrDeadlineExceeded):
		return echo.NewHTTPError(http.StatusRequestTimeout, "the archive came too slowly")
	}

	return &compute.Error{Code: compute.Rejected, Detail: "the archive ended early", Cause: err}
}

// cancelBuild is DELETE /_berth/endpoints/{id}/builds/{buildId}.
func (s *Services) cancelBuild(r *request) error {
	build, err := s.Builds.Cancel(contextOf(r), r.caller.UserID, compute.EndpointID(r.Param("id")), compute.BuildID(r.Param("buildId")))
	if err != nil {
		return err
	}
	return r.JSON(http.StatusOK, buildView(build))
}
