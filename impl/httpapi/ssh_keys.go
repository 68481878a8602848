package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
)

// GetSSHKeys is GET /v2/account/ssh-keys.
func (h restHandlers) GetSSHKeys(c echo.Context) error {
	lines, err := h.Control.SSHKeys(contextOf(c), callerOf(c).UserID)
	if err != nil {
		return err
	}
	if lines == nil {
		lines = []string{}
	}
	return c.JSON(http.StatusOK, rest.SSHKeys{Keys: lines})
}

// UpdateSSHKeys is PUT /v2/account/ssh-keys.
func (h restHandlers) UpdateSSHKeys(c echo.Context) error {
	lines := bodyOf[rest.UpdateSSHKeysRequest](c).Keys
	if err := h.Control.SetSSHKeys(contextOf(c), callerOf(c).UserID, lines); err != nil {
		return err
	}
	return c.JSON(http.StatusOK, rest.SSHKeys{Keys: lines})
}
