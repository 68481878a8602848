package httpapi

import (
	"cmp"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/nullable"
)

// ListEndpoints is GET /v2/serverless.
func (h restHandlers) ListEndpoints(c echo.Context, params rest.ListEndpointsParams) error {
	list := listOf(c, "listEndpoints")
	page, leave, err := h.page(c, list, params.Cursor, params.Limit)
	if err != nil {
		return err
	}
	defer leave()
	endpoints, next, err := h.Endpoints.Page(contextOf(c), callerOf(c).UserID, page)
	if err != nil {
		return err
	}
	view := func(e compute.Endpoint) rest.Endpoint { return h.endpointView(c, e) }
	return c.JSON(http.StatusOK, rest.EndpointList{Endpoints: views(endpoints, view), Pagination: list.pagination(next)})
}

// CreateEndpoint is POST /v2/serverless.
func (h restHandlers) CreateEndpoint(c echo.Context) error {
	r := bodyOf[rest.CreateEndpointRequest](c)
	asked, err := newEndpoint(r)
	if err != nil {
		return err
	}
	endpoint, err := h.Endpoints.Create(contextOf(c), callerOf(c).UserID, compute.EndpointType(r.Type), asked)
	if err != nil {
		return err
	}
	h.note(c, "endpoint", string(endpoint.ID))
	return c.JSON(http.StatusCreated, h.endpointView(c, endpoint))
}

// GetEndpoint is GET /v2/serverless/{id}.
func (h restHandlers) GetEndpoint(c echo.Context, id string) error {
	endpoint, err := h.Endpoints.Get(contextOf(c), callerOf(c).UserID, compute.EndpointID(id))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, h.endpointView(c, endpoint))
}

// UpdateEndpoint is PATCH /v2/serverless/{id}.
func (h restHandlers) UpdateEndpoint(c echo.Context, id string) error {
	change, err := endpointChange(bodyOf[rest.UpdateEndpointRequest](c))
	if err != nil {
		_, missing := h.Endpoints.Get(contextOf(c), callerOf(c).UserID, compute.EndpointID(id)) // whether it is there comes first
		return cmp.Or(missing, err)
	}
	endpoint, err := h.Endpoints.Update(contextOf(c), callerOf(c).UserID, compute.EndpointID(id), change)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, h.endpointView(c, endpoint))
}

// DeleteEndpoint is DELETE /v2/serverless/{id}.
func (h restHandlers) DeleteEndpoint(c echo.Context, id string) error {
	if err := h.Endpoints.Delete(contextOf(c), callerOf(c).UserID, compute.EndpointID(id)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// ListEndpointWorkers is GET /v2/serverless/{id}/workers.
func (h restHandlers) ListEndpointWorkers(c echo.Context, id string) error {
	endpoint, workers, err := h.Endpoints.Workers(contextOf(c), callerOf(c).UserID, compute.EndpointID(id))
	if err != nil {
		return err
	}
	ended, err := h.Endpoints.EndedWorkers(contextOf(c), callerOf(c).UserID, compute.EndpointID(id))
	if err != nil {
		return err
	}

	now, kept := h.Clock.Wall(), views(ended, endedWorkerView)
	return c.JSON(http.StatusOK, rest.WorkerList{
		Workers: views(workers, func(w control.EndpointWorker) rest.Worker { return endpointWorkerView(w, now) }),
		Summary: workerSummary(workers), Ended: kept, EndpointVersion: nullable.NewNullableWithValue(endpoint.Version),
	})
}

// ListEndpointReleases is GET /v2/serverless/{id}/releases.
func (h restHandlers) ListEndpointReleases(c echo.Context, id string, params rest.ListEndpointReleasesParams) error {
	list := listOf(c, "listEndpointReleases", id)
	page, leave, err := h.page(c, list, params.Cursor, params.Limit)
	if err != nil {
		return err
	}
	defer leave()
	found, err := h.Endpoints.Releases(contextOf(c), callerOf(c).UserID, compute.EndpointID(id), page)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, rest.ReleaseList{
		Releases: views(found.Releases, releaseView), Rollout: rollout(found.OfTheLast, found.Workers),
		EndpointVersion: nullable.NewNullableWithValue(found.Latest), Pagination: list.pagination(found.Next),
	})
}
