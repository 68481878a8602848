package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/compute"
)

// GetScript is GET /_berth/endpoints/{endpointId}/script.
func (h controlsHandlers) GetScript(c echo.Context, id string) error {
	s, counts, err := h.Scripts.Get(contextOf(c), compute.EndpointID(id))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, controls.ShownScript{Script: scriptView(s), Jobs: counts.Jobs, Workers: counts.Workers, Used: counts.Used})
}

// SetScript is PUT /_berth/endpoints/{endpointId}/script.
func (h controlsHandlers) SetScript(c echo.Context, id string) error {
	if err := h.Scripts.Set(contextOf(c), compute.EndpointID(id), scriptOf(bodyOf[controls.Script](c))); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// DeleteScript is DELETE /_berth/endpoints/{endpointId}/script.
func (h controlsHandlers) DeleteScript(c echo.Context, id string) error {
	if err := h.Scripts.Delete(contextOf(c), compute.EndpointID(id)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
