package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
)

// ListGlobalVolumes is GET /v2/global-volumes.
func (h restHandlers) ListGlobalVolumes(c echo.Context, params rest.ListGlobalVolumesParams) error {
	list := listOf(c, "listGlobalVolumes")
	page, leave, err := h.page(c, list, params.Cursor, params.Limit)
	if err != nil {
		return err
	}
	defer leave()
	volumes, next, err := h.Control.PageGlobalVolumes(contextOf(c), callerOf(c).UserID, page)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, rest.GlobalVolumeList{GlobalVolumes: views(volumes, globalVolumeView), Pagination: list.pagination(next)})
}

// CreateGlobalVolume is POST /v2/global-volumes.
func (h restHandlers) CreateGlobalVolume(c echo.Context) error {
	volume, err := h.Control.CreateGlobalVolume(contextOf(c), callerOf(c).UserID, bodyOf[rest.CreateGlobalVolumeRequest](c).Name)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, globalVolumeView(volume))
}

// GetGlobalVolume is GET /v2/global-volumes/{id}.
func (h restHandlers) GetGlobalVolume(c echo.Context, id string) error {
	volume, err := h.Control.GetGlobalVolume(contextOf(c), callerOf(c).UserID, compute.VolumeID(id))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, globalVolumeView(volume))
}

// UpdateGlobalVolume is PATCH /v2/global-volumes/{id}.
func (h restHandlers) UpdateGlobalVolume(c echo.Context, id string) error {
	name := value(bodyOf[rest.UpdateGlobalVolumeRequest](c).Name) // the only member, of which one is required
	volume, err := h.Control.RenameGlobalVolume(contextOf(c), callerOf(c).UserID, compute.VolumeID(id), name)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, globalVolumeView(volume))
}

// DeleteGlobalVolume is DELETE /v2/global-volumes/{id}.
func (h restHandlers) DeleteGlobalVolume(c echo.Context, id string) error {
	if err := h.Control.DeleteGlobalVolume(contextOf(c), callerOf(c).UserID, compute.VolumeID(id)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
