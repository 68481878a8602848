package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
)

// restHandlers implements the generated REST interface.
type restHandlers struct{ *Services }

var _ rest.ServerInterface = restHandlers{}

// CreatePod is POST /v2/pods.
func (h restHandlers) CreatePod(c echo.Context) error {
	asked, err := newPod(bodyOf[rest.CreatePodRequest](c))
	if err != nil {
		return err
	}
	pod, err := h.Control.CreatePod(contextOf(c), callerOf(c).UserID, asked)
	if err != nil {
		return err
	}
	h.note(c, "pod", string(pod.ID))
	return c.JSON(http.StatusCreated, h.podView(pod))
}

// GetPod is GET /v2/pods/{id}.
func (h restHandlers) GetPod(c echo.Context, id string) error {
	pod, err := h.Control.GetPod(contextOf(c), callerOf(c).UserID, compute.PodID(id))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, h.podView(pod))
}

// ListPods is GET /v2/pods.
func (h restHandlers) ListPods(c echo.Context, params rest.ListPodsParams) error {
	pods, err := h.Control.ListPods(contextOf(c), callerOf(c).UserID, value(params.IncludeClusterPods))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, h.podList(pods))
}

// podView views a pod as it is now.
func (h restHandlers) podView(p compute.Pod) rest.Pod {
	return podView(p, h.Pods.Live(p.ID), h.Clock.Wall())
}

// podList views the pods.
func (h restHandlers) podList(pods []compute.Pod) rest.PodList {
	return rest.PodList{Pods: views(pods, h.podView)}
}

// DeletePod is DELETE /v2/pods/{id}.
func (h restHandlers) DeletePod(c echo.Context, id string) error {
	if err := h.Control.DeletePod(contextOf(c), callerOf(c).UserID, compute.PodID(id)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// UpdatePod is PATCH /v2/pods/{id}.
func (h restHandlers) UpdatePod(c echo.Context, id string) error {
	change, err := podChange(bodyOf[rest.UpdatePodRequest](c))
	if err != nil {
		return err
	}
	pod, err := h.Control.UpdatePod(contextOf(c), callerOf(c).UserID, compute.PodID(id), change)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, h.podView(pod))
}

// PodAction is POST /v2/pods/{id}/action.
func (h restHandlers) PodAction(c echo.Context, id string) error {
	action := compute.PodEvent(bodyOf[rest.PodActionRequest](c).Action)
	pod, err := h.Control.ActOnPod(contextOf(c), callerOf(c).UserID, compute.PodID(id), action)
	if err != nil {
		return err
	}
	if action == compute.PodTerminate {
		return c.NoContent(http.StatusNoContent)
	}
	return c.JSON(http.StatusOK, h.podView(pod))
}
