package httpapi

import (
	"net/http"
	"strings"
	"time"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/compute"
	jobs "github.com/berthdev/berth/impl/queue"
)

// jobsPath begins the paths of jobs of whatever endpoint.
const jobsPath = "/_berth/jobs"

// ofJobs reports whether an operation of the controls tells of jobs, and so is for those who may read some.
func ofJobs(path string) bool { return strings.HasPrefix(path, jobsPath) || path == eventsPath }

// reader says which jobs the caller may read (rule jobs.list.scope).
func reader(c echo.Context) jobs.Readable {
	key := callerOf(c).Key
	return jobs.Readable{User: key.UserID, May: func(e compute.EndpointID) bool {
		return key.Allows(compute.ScopeInvoke(e)) || key.Allows(compute.ScopeControls)
	}}
}

// ListJobs is GET /_berth/jobs.
func (h controlsHandlers) ListJobs(c echo.Context, p controls.ListJobsParams) error {
	s := jobs.Search{
		Endpoint: compute.EndpointID(value(p.EndpointID)), Status: compute.JobStatus(value(p.Status)), From: value(p.From), To: value(p.To),
		Error: value(p.Error),
	}
	list := listOf(c, "listJobs", string(s.Endpoint), string(s.Status), s.From.Format(time.RFC3339Nano), s.To.Format(time.RFC3339Nano), s.Error)
	var err error
	if s.Page, err = list.page(p.Cursor, p.Limit); err != nil {
		return err
	}

	found, next, err := h.Queue.List(contextOf(c), reader(c), s)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, controls.JobList{Jobs: views(found, listedJobView), Pagination: controls.Pagination(list.pagination(next))})
}

// GetJob is GET /_berth/jobs/{jobId}.
func (h controlsHandlers) GetJob(c echo.Context, id controls.JobID) error {
	shown, err := h.Queue.Show(contextOf(c), reader(c), compute.JobID(id))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, jobDetailView(shown))
}
