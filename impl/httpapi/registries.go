package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
)

// ListRegistries is GET /v2/registries.
func (h restHandlers) ListRegistries(c echo.Context) error {
	registries, leave, err := unpaged(h, c, h.Registries.List)
	defer leave()
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, rest.RegistryList{Registries: views(registries, registryView)})
}

// CreateRegistry is POST /v2/registries.
func (h restHandlers) CreateRegistry(c echo.Context) error {
	r := bodyOf[rest.CreateRegistryRequest](c)
	made, err := h.Registries.Create(contextOf(c), callerOf(c).UserID, r.Name, compute.Login{Username: r.Username, Password: r.Password})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, registryView(made))
}

// GetRegistry is GET /v2/registries/{id}.
func (h restHandlers) GetRegistry(c echo.Context, id string) error {
	one, err := h.Registries.Get(contextOf(c), callerOf(c).UserID, compute.RegistryID(id))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, registryView(one))
}

// DeleteRegistry is DELETE /v2/registries/{id}.
func (h restHandlers) DeleteRegistry(c echo.Context, id string) error {
	if err := h.Registries.Delete(contextOf(c), callerOf(c).UserID, compute.RegistryID(id)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// ListDelegations is GET /v2/registries/delegations.
func (h restHandlers) ListDelegations(c echo.Context) error {
	delegations, leave, err := unpaged(h, c, h.Registries.Delegations)
	defer leave()
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, rest.DelegationList{Delegations: views(delegations, delegationView)})
}

// CreateDelegation is POST /v2/registries/delegations.
func (h restHandlers) CreateDelegation(c echo.Context) error {
	r := bodyOf[rest.CreateDelegationRequest](c)
	name, _ := r.Name.Get() // absent or null: none
	made, err := h.Registries.Delegate(contextOf(c), callerOf(c).UserID, r.Resource, name)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, delegationView(made))
}

// RevokeDelegation is DELETE /v2/registries/delegations/{id}.
func (h restHandlers) RevokeDelegation(c echo.Context, id string) error {
	if err := h.Registries.Revoke(contextOf(c), callerOf(c).UserID, compute.DelegationID(id)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
