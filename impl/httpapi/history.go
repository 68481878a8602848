package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/history"
	"github.com/berthdev/berth/impl/validate"
)

// The paths of histories.
const (
	fleetHistoryPath    = "/_berth/history"
	endpointHistoryPath = "/_berth/endpoints/{endpointId}/history"
	podHistoryPath      = "/_berth/pods/{podId}/history"
)

// ofFleet reports whether an operation tells how everything of all users stood, which is for those who have to do with the hosts.
func ofFleet(op validate.Op) bool { return op.Path == fleetHistoryPath }

// interval is the time between two samples, in milliseconds.
const interval = int64(history.Tick / 1e6)

// GetHistory is GET /_berth/history.
func (h controlsHandlers) GetHistory(c echo.Context) error {
	samples, err := h.History.Fleet(contextOf(c))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, controls.FleetHistory{Interval: interval, Samples: views(samples, fleetSampleView)})
}

// GetEndpointHistory is GET /_berth/endpoints/{endpointId}/history.
func (h controlsHandlers) GetEndpointHistory(c echo.Context, id string) error {
	endpoint, err := h.Endpoints.Get(contextOf(c), callerOf(c).UserID, compute.EndpointID(id))
	if err != nil {
		return err
	}
	samples, err := h.History.Endpoint(contextOf(c), endpoint.ID)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, controls.EndpointHistory{Interval: interval, Samples: views(samples, endpointSampleView)})
}

// GetPodHistory is GET /_berth/pods/{podId}/history.
func (h controlsHandlers) GetPodHistory(c echo.Context, id string) error {
	pod, err := h.Control.GetPod(contextOf(c), callerOf(c).UserID, compute.PodID(id))
	if err != nil {
		return err
	}
	samples, err := h.History.Pod(contextOf(c), pod.ID)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, controls.PodHistory{Interval: interval, Samples: views(samples, podSampleView)})
}

func fleetSampleView(s history.Sample[history.Fleet]) controls.FleetSample {
	return controls.FleetSample{
		At: s.At, Pods: s.Is.Pods, Endpoints: s.Is.Endpoints, Workers: s.Is.Workers, Waiting: s.Is.Waiting, InProgress: s.Is.InProgress,
		Completed: s.Is.Completed, Failed: s.Is.Failed,
	}
}

func endpointSampleView(s history.Sample[history.Endpoint]) controls.EndpointSample {
	return controls.EndpointSample{
		At: s.At, Waiting: s.Is.Waiting, InProgress: s.Is.InProgress, Initializing: s.Is.Initializing, Idle: s.Is.Idle, Running: s.Is.Running,
		Throttled: s.Is.Throttled, Unhealthy: s.Is.Unhealthy, Completed: s.Is.Completed, Failed: s.Is.Failed,
	}
}

func podSampleView(s history.Sample[compute.PodRuntime]) controls.PodSample {
	return controls.PodSample{
		At: s.At, CPUPercent: s.Is.CPUPercent, MemoryPercent: s.Is.MemoryPercent,
		Gpus: views(s.Is.GPUs, func(g compute.GPUUse) controls.GpuSample {
			return controls.GpuSample{Percent: g.Percent, MemoryPercent: g.MemoryPercent}
		}),
	}
}
