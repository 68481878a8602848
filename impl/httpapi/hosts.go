package httpapi

import (
	"cmp"
	"net/http"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/control"
	"github.com/berthdev/berth/impl/validate"
)

// hostsPath begins the paths of those of the controls that are always served.
const hostsPath = "/_berth/hosts"

// controlOperations checks those of hosts, of users and the list of keys for a key with the scope admin, those that tell of jobs, pods and endpoints for one that may read these, and the test
// controls for theirs. Where there are no test controls, nothing is found at their paths.
func (s *Services) controlOperations() map[string][]echo.MiddlewareFunc {
	all := s.operations(inAll(controls.Ops), func(op validate.Op, _ echo.Context) compute.Scope {
		switch {
		case strings.HasPrefix(op.Path, hostsPath) || ofUsers(op) || listsKeys(op) || ofFleet(op) || op.Path == refusalsPath:
			return compute.ScopeAdmin
		case strings.HasPrefix(op.Path, jobsPath):
			return compute.ScopeInvoke("*")
		case runsCommands(op.Path):
			return compute.ScopeRESTWrite
		case tells(op):
			return compute.ScopeRESTRead
		}
		return compute.ScopeControls
	})

	for id, op := range controls.Ops {
		always := strings.HasPrefix(op.Path, hostsPath) || ofUsers(op) || tells(op)
		if s.Controls == nil && !always {
			all[id] = []echo.MiddlewareFunc{func(echo.HandlerFunc) echo.HandlerFunc {
				return func(echo.Context) error { return errNoControls }
			}}
		}
	}
	return all
}

var errNoControls = compute.Errorf(compute.NotFound, "the server has no test controls, which this is one of: berth serve --test-controls has them")

// ListHosts is GET /_berth/hosts.
func (h controlsHandlers) ListHosts(c echo.Context) error {
	return c.JSON(http.StatusOK, controls.HostList{Hosts: views(h.Control.Hosts(), hostView)})
}

// AddHost is POST /_berth/hosts.
func (h controlsHandlers) AddHost(c echo.Context) error {
	n := bodyOf[controls.NewHost](c)
	added, err := h.Control.AddHost(contextOf(c), control.Host{
		ID: n.ID, Engine: value(n.Engine), DataCenterID: n.DataCenterID, Cloud: cmp.Or(compute.Cloud(value(n.Cloud)), compute.Secure), GPU: value(n.Gpu), GPUCount: value(n.GpuCount),
		GPUDevices: n.GpuDevices, CUDAVersion: value(n.CudaVersion), CPUs: n.Cpus, VCPUs: value(n.Vcpus), MemoryGB: value(n.MemoryGb),
		DiskGB: value(n.DiskGb), PublicIP: n.PublicIP, DownloadMbps: value(n.DownloadMbps), UploadMbps: value(n.UploadMbps),
	})
	if err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, hostView(added))
}

// ChangeHost is PATCH /_berth/hosts/{hostId}.
func (h controlsHandlers) ChangeHost(c echo.Context, id string) error {
	changed, err := h.Control.DrainHost(contextOf(c), id, bodyOf[controls.HostChange](c).Draining)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, hostView(changed))
}

// RemoveHost is DELETE /_berth/hosts/{hostId}.
func (h controlsHandlers) RemoveHost(c echo.Context, id string) error {
	if err := h.Control.RemoveHost(contextOf(c), id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

func hostView(h control.FleetHost) controls.Host {
	view := controls.Host{
		ID: h.ID, DataCenterID: h.DataCenterID, Cloud: controls.HostCloud(h.Cloud), GpuCount: h.GPUCount,
		GpuDevices: append([]string{}, h.GPUDevices...), Cpus: append([]string{}, h.CPUs...), Vcpus: h.VCPUs, MemoryGb: h.MemoryGB,
		DiskGb: h.DiskGB, PublicIP: h.PublicIP == nil || *h.PublicIP, DownloadMbps: h.DownloadMbps, UploadMbps: h.UploadMbps, Draining: h.Draining,
		Free: controls.Free{Gpus: h.Free.GPUs, Vcpus: h.Free.VCPUs, MemoryGb: h.Free.MemoryGB, DiskGb: h.Free.DiskGB},
	}
	if h.Engine != "" {
		view.Engine = &h.Engine
	}
	if h.Away != "" {
		view.Away = &h.Away
	}
	if h.GPU != "" {
		view.Gpu = &h.GPU
	}
	if h.CUDAVersion != "" {
		view.CudaVersion = &h.CUDAVersion
	}
	return view
}
