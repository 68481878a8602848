package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/impl/compute"
)

// ListTemplates is GET /v2/templates.
func (h restHandlers) ListTemplates(c echo.Context, params rest.ListTemplatesParams) error {
	user, list := callerOf(c).UserID, listOf(c, "listTemplates")
	page, leave, err := h.page(c, list, params.Cursor, params.Limit)
	if err != nil {
		return err
	}
	defer leave()
	templates, next, err := h.Control.PageTemplates(contextOf(c), user, page)
	if err != nil {
		return err
	}
	view := func(t compute.Template) rest.Template { return templateView(t, user) }
	return c.JSON(http.StatusOK, rest.TemplateList{Templates: views(templates, view), Pagination: list.pagination(next)})
}

// CreateTemplate is POST /v2/templates.
func (h restHandlers) CreateTemplate(c echo.Context) error {
	user := callerOf(c).UserID
	asked, err := newTemplate(bodyOf[rest.CreateTemplateRequest](c))
	if err != nil {
		return err
	}
	template, err := h.Control.CreateTemplate(contextOf(c), user, asked)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, templateView(template, user))
}

// GetTemplate is GET /v2/templates/{id}.
func (h restHandlers) GetTemplate(c echo.Context, id string) error {
	user := callerOf(c).UserID
	template, err := h.Control.GetTemplate(contextOf(c), user, compute.TemplateID(id))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, templateView(template, user))
}

// UpdateTemplate is PATCH /v2/templates/{id}.
func (h restHandlers) UpdateTemplate(c echo.Context, id string) error {
	user := callerOf(c).UserID
	change, err := templateChange(bodyOf[rest.UpdateTemplateRequest](c))
	if err != nil {
		return err
	}
	template, err := h.Control.UpdateTemplate(contextOf(c), user, compute.TemplateID(id), change)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, templateView(template, user))
}

// DeleteTemplate is DELETE /v2/templates/{id}.
func (h restHandlers) DeleteTemplate(c echo.Context, id string) error {
	if err := h.Control.DeleteTemplate(contextOf(c), callerOf(c).UserID, compute.TemplateID(id)); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}
