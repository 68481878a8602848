package httpapi

import (
	"net/http"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/validate"
	"github.com/berthdev/berth/impl/why"
)

// The paths of reasons, beside those of jobs.
const (
	whyEndpointPath = "/_berth/endpoints/{endpointId}/why"
	whyPodPath      = "/_berth/pods/{podId}/why"
	balancedPath    = "/_berth/endpoints/{endpointId}/workers"
)

// tells reports whether an operation of the controls tells the owner of jobs, pods and endpoints about them: it is served without test
// controls, too, and for their key.
func tells(op validate.Op) bool {
	return ofJobs(op.Path) || op.Path == whyEndpointPath || op.Path == whyPodPath || op.Path == balancedPath || op.Path == endpointHistoryPath || op.Path == podHistoryPath || ofFleet(op) || ofAnybody(op) || listsKeys(op) || runsCommands(op.Path) || op.Path == auditPath || op.Path == refusalsPath || op.Path == logsPath
}

// WhyJob is GET /_berth/jobs/{jobId}/why.
func (h controlsHandlers) WhyJob(c echo.Context, id controls.JobID) error {
	a, err := h.Why.Job(contextOf(c), reader(c), compute.JobID(id))
	return answerWhy(c, a, err)
}

// WhyEndpoint is GET /_berth/endpoints/{endpointId}/why.
func (h controlsHandlers) WhyEndpoint(c echo.Context, id string) error {
	a, err := h.Why.Endpoint(contextOf(c), callerOf(c).UserID, compute.EndpointID(id))
	return answerWhy(c, a, err)
}

// WhyPod is GET /_berth/pods/{podId}/why.
func (h controlsHandlers) WhyPod(c echo.Context, id string) error {
	a, err := h.Why.Pod(contextOf(c), callerOf(c).UserID, compute.PodID(id))
	if err != nil {
		return err
	}
	at := h.PodAddress(c.Request())
	return c.JSON(http.StatusOK, whyView(a, func(port int) string { return at.Of(compute.PodID(id), port) }))
}

func answerWhy(c echo.Context, a why.Answer, err error) error {
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, whyView(a, nil))
}

// whyView fills every field that there is; address gives where a port of the pod is reached, if it is about one.
func whyView(a why.Answer, address func(port int) string) controls.Why {
	d := a.Details
	v := controls.Why{
		Waits: a.Waits, Reason: controls.WhyReason(a.Reason), Because: a.Because, Since: timeOf(a.Since), Helps: orNil(a.Helps),
		Details: controls.WhyDetails{
			Lines: append([]string{}, d.Lines...), ExitCode: d.ExitCode, WorkerID: orNil(d.Worker), HostID: orNil(d.Host), NextAt: timeOf(d.NextAt),
		},
	}
	for _, port := range d.Ports {
		v.Details.Addresses = append(v.Details.Addresses, address(port))
	}
	if d.Attempts > 0 {
		v.Details.Attempts = new(int64(d.Attempts))
	}
	if d.Ahead != nil {
		v.Details.Ahead = new(int64(*d.Ahead))
	}
	return v
}
