package httpapi

import (
	"context"
	"errors"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// artifactPath is the address of an artifact. It is ours, and in none of the public documents: clients are given it.
const artifactPath = control.ArtifactPaths + ":id"

// isArtifact reports whether the path is that of an artifact, whose query permits what a key permits elsewhere.
func isArtifact(path string) bool { return strings.HasPrefix(path, control.ArtifactPaths) }

// artifactRoutes are those of artifacts.
func (s *Services) artifactRoutes(e *echo.Echo) {
	e.PUT(artifactPath, func(c echo.Context) error { return s.receiveArtifact(requestOf(c)) })
	e.GET(artifactPath, func(c echo.Context) error { return s.sendArtifact(requestOf(c)) })
	permit(e, artifactPath, http.MethodPut, http.MethodGet)
}

// receiveArtifact is PUT /_berth/artifacts/{id}.
func (s *Services) receiveArtifact(r *request) error {
	id, sent := compute.FlashBuildID(r.Param("id")), r.Request()
	b, err := s.Flash.Receive(contextOf(r), id, r.QueryParam("expires"), r.QueryParam("token"))
	if err != nil {
		return err
	}
	if sent.ContentLength >= 0 && sent.ContentLength != b.Size {
		return compute.Errorf(compute.Rejected, "the body has %d bytes, and %d were announced as tarballSize", sent.ContentLength, b.Size)
	}

	err = s.Artifacts.Receive(b.UserID, id, sent.Body, b.Size, func(keep func() error) error { return s.Flash.Received(contextOf(r), id, keep) })
	_, known := errors.AsType[*compute.Error](err)
	switch {
	case err == nil:
		return r.NoContent(http.StatusOK)
	case known || errors.Is(err, context.Canceled):
		return err
	case errors.Is(err, os.ErrDeadlineExceeded):
		return errSlow
	}
	return &compute.Error{Code: compute.Rejected, Detail: "the body ended early", Cause: err}
}

// sendArtifact is GET /_berth/artifacts/{id}.
func (s *Services) sendArtifact(r *request) error {
	id := compute.FlashBuildID(r.Param("id"))
	if err := s.Flash.Download(contextOf(r), id, r.QueryParam("expires"), r.QueryParam("token")); err != nil {
		return err
	}
	file, err := s.Artifacts.Open(id)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }() // it was read alone

	info, err := file.Stat()
	if err != nil {
		return err
	}
	r.Response().Header().Set(echo.HeaderContentType, "application/gzip")
	http.ServeContent(r.Response(), r.Request(), "", info.ModTime(), file)
	return nil
}

// flashSegment stands for the id of an endpoint that the headers name (rule flash.calls).
const flashSegment = "flash"

// resolveFlash has a request of the queue that names its endpoint by app, environment and name be one of that endpoint. NotFound if there is
// none. To a key that may not call it, all names are alike: the endpoint stays "flash", whose scope the key lacks.
func (s *Services) resolveFlash(r *request) error {
	const parameter = "endpointId"
	header := r.Request().Header
	if r.Param(parameter) != flashSegment || header.Get("X-Flash-Endpoint") == "" {
		return nil
	}
	id, err := s.Flash.Endpoint(contextOf(r), r.caller.UserID, header.Get("X-Flash-App"), header.Get("X-Flash-Environment"), header.Get("X-Flash-Endpoint"))
	known := err == nil || compute.CodeOf(err) == compute.NotFound
	if key := r.caller.Key; known && !key.Calls(id) { // where there is none: who may not call all
		return nil
	}
	if err != nil {
		return err
	}

	values := slices.Clone(r.ParamValues())
	for i, name := range r.ParamNames() {
		if name == parameter {
			values[i] = string(id)
		}
	}
	r.SetParamValues(values...)
	return nil
}
