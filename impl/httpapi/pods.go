package httpapi

import (
	"bytes"
	"fmt"
	"net/http"
	"strconv"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
)

// restHandlers implements the generated REST interface.
type restHandlers struct{ *Services }

var _ rest.ServerInterface = restHandlers{}

// CreatePod is POST /v2/pods.
func (h restHandlers) CreatePod(c echo.Context) error {
	body := bodyOf[rest.CreatePodRequest](c)
	asked, err := newPod(body)
	if err != nil {
		return err
	}
	if body.TemplateID != nil {
		if asked, err = h.Control.CopyTemplate(contextOf(c), callerOf(c).UserID, compute.TemplateID(*body.TemplateID), asked); err != nil {
			return err
		}
		if body.Image != nil {
			asked.Image = *body.Image // empty, too (rule public.create.template.body)
		}
		if err := h.checkExpanded(c, body, asked); err != nil {
			return err
		}
	}
	if asked.Image == "" && body.Image == nil { // the strict edition's schema has refused it before
		return &compute.Error{Code: compute.Invalid, Detail: "there is no image", Fields: []string{"/image: is required without a template that has one"}}
	}
	pod, err := h.Control.CreatePod(contextOf(c), callerOf(c).UserID, asked)
	if err != nil {
		return err
	}
	h.note(c, "pod", string(pod.ID))
	return c.JSON(http.StatusCreated, h.podView(c, pod))
}

// checkExpanded refuses a request that would be too large with what it has of its template (rule public.create.template.size).
func (h restHandlers) checkExpanded(c echo.Context, body rest.CreatePodRequest, asked control.NewPod) error {
	body.Image, body.Env, body.Ports = &asked.Image, asked.Env, asked.Ports
	switch cmd, entrypoint := control.Lists(asked.Args); {
	case body.Args != nil || body.Cmd != nil && body.Entrypoint != nil: // nothing of the template's
	case body.Cmd != nil:
		body.Entrypoint = &entrypoint
	case body.Entrypoint != nil:
		body.Cmd = &cmd
	default:
		body.Args = &asked.Args
	}

	r := requestOf(c)
	text, err := appendJSON(nil, body, r.edition)
	if op := r.front.ops[r.edition]; err == nil && int64(len(bytes.TrimSpace(text))) > op.MaxBody {
		return echo.NewHTTPError(http.StatusRequestEntityTooLarge, fmt.Sprintf("the body is over the limit of %d bytes with what it has of its template", op.MaxBody))
	}
	return err
}

// GetPod is GET /v2/pods/{id}.
func (h restHandlers) GetPod(c echo.Context, id string) error {
	pod, err := h.Control.GetPod(contextOf(c), callerOf(c).UserID, compute.PodID(id))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, h.podView(c, pod))
}

// ListPods is GET /v2/pods.
func (h restHandlers) ListPods(c echo.Context, params rest.ListPodsParams) error {
	clusters := value(params.IncludeClusterPods)
	list := listOf(c, "listPods", strconv.FormatBool(clusters))
	page, leave, err := h.page(c, list, params.Cursor, params.Limit)
	if err != nil {
		return err
	}
	defer leave()
	pods, next, err := h.Control.PagePods(contextOf(c), callerOf(c).UserID, clusters, page)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, rest.PodList{Pods: h.podViews(c, pods), Pagination: list.pagination(next)})
}

// podView views a pod as it is now, as the edition of the request has it.
func (h restHandlers) podView(c echo.Context, p compute.Pod) rest.Pod {
	live := h.Pods.Live(p.ID)
	v := podView(p, live, h.Clock.Wall())
	if requestOf(c).edition != strict {
		widePodView(&v, p, live, h.Control.PlaceOf(p), h.Proxies.HostName(c.Request()), h.SSHPort)
	}
	return v
}

// podViews views the pods.
func (h restHandlers) podViews(c echo.Context, pods []compute.Pod) []rest.Pod {
	return views(pods, func(p compute.Pod) rest.Pod { return h.podView(c, p) })
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
	if key := &callerOf(c).Key; !key.Allows(compute.ScopeRESTWrite) {
		change.Sealed = key
	}
	pod, err := h.Control.UpdatePod(contextOf(c), callerOf(c).UserID, compute.PodID(id), change)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, h.podView(c, pod))
}

// PodAction is POST /v2/pods/{id}/action.
func (h restHandlers) PodAction(c echo.Context, id string) error {
	action := compute.PodEvent(bodyOf[rest.PodActionRequest](c).Action)
	if key := callerOf(c); action == compute.PodStart && !key.Allows(compute.ScopeRESTWrite) { // a limit of what pods cost may be in force for other keys
		if _, err := h.Control.GetPod(contextOf(c), key.UserID, compute.PodID(id)); err != nil {
			return err
		}
		return key.LacksScope(compute.ScopeRESTWrite)
	}
	pod, err := h.Control.ActOnPod(contextOf(c), callerOf(c).UserID, compute.PodID(id), action)
	if err != nil {
		return err
	}
	if action == compute.PodTerminate {
		return c.NoContent(http.StatusNoContent)
	}
	return c.JSON(http.StatusOK, h.podView(c, pod))
}
