package httpapi

import (
	"encoding/json"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/script"
)

// GetScript is GET /_berth/endpoints/{endpointId}/script.
func (h controlsHandlers) GetScript(c echo.Context, id string) error {
	s, err := h.Scripts.Get(contextOf(c), compute.EndpointID(id))
	if err != nil {
		return err
	}
	counts, err := script.ReadCounts(s.Counts)
	if err != nil {
		return err
	}
	shown := controls.ShownScript{Jobs: counts.Jobs, Workers: counts.Workers, Used: counts.Used}
	if err := json.Unmarshal([]byte(s.Document), &shown.Script); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, shown)
}

// SetScript is PUT /_berth/endpoints/{endpointId}/script.
func (h controlsHandlers) SetScript(c echo.Context, id string) error {
	document, err := json.Marshal(bodyOf[controls.Script](c))
	if err != nil {
		return err
	}
	if err := h.Scripts.Set(contextOf(c), compute.EndpointID(id), document); err != nil {
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
