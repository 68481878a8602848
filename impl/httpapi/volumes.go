package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
)

// ListNetworkVolumes is GET /v2/network-volumes.
func (h restHandlers) ListNetworkVolumes(c echo.Context, params rest.ListNetworkVolumesParams) error {
	list := listOf(c, "listNetworkVolumes")
	page, leave, err := h.page(c, list, params.Cursor, params.Limit)
	if err != nil {
		return err
	}
	defer leave()
	volumes, next, err := h.Control.PageVolumes(contextOf(c), callerOf(c).UserID, page)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, rest.NetworkVolumeList{NetworkVolumes: views(volumes, volumeView), Pagination: list.pagination(next)})
}

// CreateNetworkVolume is POST /v2/network-volumes.
func (h restHandlers) CreateNetworkVolume(c echo.Context) error {
	volume, err := h.Control.CreateVolume(contextOf(c), callerOf(c).UserID, newVolume(bodyOf[rest.CreateNetworkVolumeRequest](c)))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, volumeView(volume))
}

// GetNetworkVolume is GET /v2/network-volumes/{id}.
func (h restHandlers) GetNetworkVolume(c echo.Context, id string) error {
	volume, err := h.Control.GetVolume(contextOf(c), callerOf(c).UserID, compute.VolumeID(id))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, volumeView(volume))
}

// UpdateNetworkVolume is PATCH /v2/network-volumes/{id}.
func (h restHandlers) UpdateNetworkVolume(c echo.Context, id string) error {
	change := volumeChange(bodyOf[rest.UpdateNetworkVolumeRequest](c))
	volume, err := h.Control.UpdateVolume(contextOf(c), callerOf(c).UserID, compute.VolumeID(id), change)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, volumeView(volume))
}

// DeleteNetworkVolume is DELETE /v2/network-volumes/{id}.
func (h restHandlers) DeleteNetworkVolume(c echo.Context, id string) error {
	if err := h.Control.DeleteVolume(contextOf(c), callerOf(c).UserID, compute.VolumeID(id)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
