package httpapi

import (
	"context"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// ListSecrets is GET /v2/account/secrets.
func (h restHandlers) ListSecrets(c echo.Context, params rest.ListSecretsParams) error {
	secrets, leave, err := unpaged(h, c, func(ctx context.Context, user compute.UserID, room compute.Room) ([]compute.Secret, error) {
		return h.Secrets.List(ctx, user, params.Name, room)
	})
	defer leave()
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, rest.SecretList{Secrets: views(secrets, secretView)})
}

// CreateSecret is POST /v2/account/secrets.
func (h restHandlers) CreateSecret(c echo.Context) error {
	made, err := h.Secrets.Create(contextOf(c), callerOf(c).UserID, newSecret(bodyOf[rest.CreateSecretRequest](c)))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, secretView(made))
}

// GetSecret is GET /v2/account/secrets/{id}.
func (h restHandlers) GetSecret(c echo.Context, id string) error {
	one, err := h.Secrets.Get(contextOf(c), callerOf(c).UserID, compute.SecretID(id))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, secretView(one))
}

// UpdateSecret is PATCH /v2/account/secrets/{id}.
func (h restHandlers) UpdateSecret(c echo.Context, id string) error {
	r := bodyOf[rest.UpdateSecretRequest](c)
	change := control.SecretChange{Value: r.Value, Description: r.Description}
	one, err := h.Secrets.Update(contextOf(c), callerOf(c).UserID, compute.SecretID(id), change)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, secretView(one))
}

// DeleteSecret is DELETE /v2/account/secrets/{id}.
func (h restHandlers) DeleteSecret(c echo.Context, id string) error {
	if err := h.Secrets.Delete(contextOf(c), callerOf(c).UserID, compute.SecretID(id)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
