package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/compute"
	jobs "github.com/berthdev/berth/impl/queue"
)

// GetBalancedWorkers is GET /_berth/endpoints/{endpointId}/workers.
func (h controlsHandlers) GetBalancedWorkers(c echo.Context, id string) error {
	endpoint := compute.EndpointID(id)
	at, crew, err := h.Queue.Crew(callerOf(c).UserID, endpoint)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, controls.BalancedWorkers{
		Port: int64(at.Port), HealthPort: int64(at.HealthPort), HealthPath: at.HealthPath,
		Workers: views(crew, func(w jobs.Balanced) controls.BalancedWorker {
			return balancedView(w, h.Balanced.Address(endpoint, w.ID))
		}),
	})
}

func balancedView(w jobs.Balanced, address string) controls.BalancedWorker {
	return controls.BalancedWorker{
		ID: string(w.ID), Health: controls.BalancedWorkerHealth(w.Health), Because: orNil(w.Because), Requests: int64(w.Requests), Address: orNil(address),
	}
}
