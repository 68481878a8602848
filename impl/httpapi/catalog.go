package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/rest"
)

// ListGpuTypes is GET /v2/catalog/gpus.
func (h restHandlers) ListGpuTypes(c echo.Context, params rest.ListGpuTypesParams) error {
	types, err := h.Control.GPUTypes(gpuQuery(params))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, rest.GpuTypeList{Gpus: views(types, gpuTypeView)})
}

// GetGpuType is GET /v2/catalog/gpus/{id}.
func (h restHandlers) GetGpuType(c echo.Context, id string, params rest.GetGpuTypeParams) error {
	t, err := h.Control.GPUType(id, gpuQuery(rest.ListGpuTypesParams(params)))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, gpuTypeView(t))
}

// ListCPUTypes is GET /v2/catalog/cpus.
func (h restHandlers) ListCPUTypes(c echo.Context, params rest.ListCPUTypesParams) error {
	flavors, err := h.Control.CPUFlavors(cpuQuery(params))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, rest.CPUTypeList{Cpus: views(flavors, cpuTypeView)})
}

// GetCPUType is GET /v2/catalog/cpus/{id}.
func (h restHandlers) GetCPUType(c echo.Context, id string, params rest.GetCPUTypeParams) error {
	f, err := h.Control.CPUFlavor(id, cpuQuery(rest.ListCPUTypesParams(params)))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, cpuTypeView(f))
}

// ListDataCenters is GET /v2/catalog/datacenters.
func (h restHandlers) ListDataCenters(c echo.Context, params rest.ListDataCentersParams) error {
	return c.JSON(http.StatusOK, rest.DataCenterList{DataCenters: views(h.Control.DataCenters(dataCenterQuery(params)), dataCenterView)})
}

// GetDataCenter is GET /v2/catalog/datacenters/{id}.
func (h restHandlers) GetDataCenter(c echo.Context, id string, params rest.GetDataCenterParams) error {
	d, err := h.Control.DataCenter(id, dataCenterQuery(rest.ListDataCentersParams{Include: params.Include}))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, dataCenterView(d))
}

// ListPublicTemplates is GET /v2/catalog/templates.
func (h restHandlers) ListPublicTemplates(c echo.Context, params rest.ListPublicTemplatesParams) error {
	source := rest.ListPublicTemplatesParamsSourceOfficial
	if params.Source != nil {
		source = *params.Source
	}
	list := views(h.Control.PublicTemplates(string(source)), publicTemplateView)
	return c.JSON(http.StatusOK, rest.PublicTemplateList{Templates: list})
}
