package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/control"
)

// ListStates is GET /_berth/states.
func (h controlsHandlers) ListStates(c echo.Context) error {
	all, err := h.Controls.States(contextOf(c))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, controls.StateList{States: views(all, stateView)})
}

// SaveState is PUT /_berth/states/{name}.
func (h controlsHandlers) SaveState(c echo.Context, name string) error {
	if err := h.Controls.SaveState(contextOf(c), name); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// LoadState is POST /_berth/states/{name}/load.
func (h controlsHandlers) LoadState(c echo.Context, name string) error {
	if err := h.Controls.LoadState(contextOf(c), name); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// DeleteState is DELETE /_berth/states/{name}.
func (h controlsHandlers) DeleteState(c echo.Context, name string) error {
	if err := h.Controls.DeleteState(contextOf(c), name); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// stateView fills every field of the state.
func stateView(s control.State) controls.State {
	return controls.State{Name: s.Name, SavedAt: s.SavedAt, Bytes: s.Bytes}
}
