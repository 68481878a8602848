package httpapi

import (
	"cmp"
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// GetCosts is GET /_berth/costs.
func (h controlsHandlers) GetCosts(c echo.Context, p controls.GetCostsParams) error {
	costs, err := h.Control.Costs(contextOf(c), control.CostQuery{
		By: cmp.Or(control.CostBy(value(p.By)), control.CostByResource), User: compute.UserID(value(p.User)), Since: value(p.Since), Until: given(p.Until),
		Limit: value(p.Limit),
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, controls.Costs{Until: costs.Until, Total: costs.Total.USD(), Count: costs.Count, Costs: views(costs.Costs, costView)})
}

// costView fills every field that the cost has.
func costView(x control.Cost) controls.Cost {
	v := controls.Cost{Amount: x.Amount.USD(), Milliseconds: x.Ran.Milliseconds()}
	if x.Kind != "" {
		kind := controls.CostKind(x.Kind)
		v.Kind = &kind
	}
	if x.ID != "" {
		v.ID = &x.ID
	}
	if x.User != "" {
		user := string(x.User)
		v.User = &user
	}
	return v
}
