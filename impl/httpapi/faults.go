package httpapi

import (
	"fmt"
	"net/http"
	"slices"
	"strings"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/journal"
	"github.com/berthdev/berth/impl/spelling"
	"github.com/berthdev/berth/impl/validate"
)

// GetFaults is GET /_berth/faults.
func (h controlsHandlers) GetFaults(c echo.Context) error {
	return c.JSON(http.StatusOK, controls.FaultList{Faults: views(h.Faults.List(), faultView)})
}

// SetFaults is PUT /_berth/faults.
func (h controlsHandlers) SetFaults(c echo.Context) error {
	var list []fault.Fault
	for i, r := range bodyOf[controls.Faults](c).Faults {
		f, err := h.newFault(fmt.Sprintf("/faults/%d", i), r)
		if err != nil {
			return err
		}
		list = append(list, f)
	}
	if err := h.Faults.Set(list); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// AddFault is POST /_berth/faults.
func (h controlsHandlers) AddFault(c echo.Context) error {
	f, err := h.newFault("", bodyOf[controls.Fault](c))
	if err != nil {
		return err
	}
	if f, err = h.Faults.Add(f); err != nil {
		return err
	}
	return c.JSON(http.StatusCreated, faultView(f))
}

// ClearFaults is DELETE /_berth/faults.
func (h controlsHandlers) ClearFaults(c echo.Context) error {
	h.Faults.Clear()
	return c.NoContent(http.StatusNoContent)
}

// DeleteFault is DELETE /_berth/faults/{faultId}.
func (h controlsHandlers) DeleteFault(c echo.Context, id string) error {
	if err := h.Faults.Delete(id); err != nil {
		return err
	}
	return c.NoContent(http.StatusNoContent)
}

// newFault reads a fault of a request, which stands there at a place. Rejected for an operation that does not exist, for a fault that
// does nothing and for members that make no sense together.
func (s *Services) newFault(at string, r controls.Fault) (fault.Fault, error) {
	f := faultOf(r)
	if names := s.faultyOperations(); !slices.Contains(names, f.Operation) {
		return f, noOperation(at+"/operation", f.Operation, names)
	}
	if f.Latency == 0 && f.Status == 0 && !f.Drop && f.Half == nil && !f.Garbage && f.BytesPerSecond == 0 {
		return f, compute.Errorf(compute.Rejected, "%s", strings.TrimPrefix(at+": it needs latency, status, drop, half, garbage or bytesPerSecond", ": "))
	}
	if member, why := s.senseless(&f); why != "" {
		return f, compute.Errorf(compute.Rejected, "%s/%s: %s", at, member, why)
	}
	return f, nil
}

// noOperation is the failure of a request that names, at a place, an operation that does not exist.
func noOperation(at, written string, names []string) error {
	return compute.Errorf(compute.Rejected, "%s: there is no operation %q; there are %s", at, written, strings.Join(spelling.Closest(written, names), ", "))
}

// faultyOperations gives the names of operations for which a fault can be scripted.
func (s *Services) faultyOperations() []string {
	names := []string{fault.Every, journal.OperationProxyPod, journal.OperationProxyEndpoint}
	for id, op := range controls.Ops {
		if op.Open {
			names = append(names, id)
		}
	}
	for _, editions := range [][]validate.Edition{rest.Editions, queue.Editions, inAll(worker.Ops)} {
		for id := range ofAny(editions) {
			names = append(names, id)
		}
	}
	if s.GraphQL != nil {
		names = append(names, s.GraphQL.Operations()...)
	}
	return names
}

// senseless names a member of the fault that makes no sense beside another one, and says why; empty: there is none.
func (s *Services) senseless(f *fault.Fault) (member, why string) {
	ofBody := "" // the first member that is about the body of the answer
	switch {
	case f.Half != nil:
		ofBody = "half"
	case f.Garbage:
		ofBody = "garbage"
	case f.BytesPerSecond > 0:
		ofBody = "bytesPerSecond"
	}

	switch {
	case f.Drop && f.Status > 0:
		return "drop", "a connection that is cut has no status"
	case f.Drop && ofBody != "":
		return "drop", "a connection that is cut has no body for " + ofBody
	case f.Status > 0 && ofBody != "":
		return "status", "it takes the place of the answer whose body " + ofBody + " is about"
	case f.When == fault.Before && ofBody != "":
		return ofBody, `it is about the answer of the operation, and needs "when": "after"`
	case f.When == fault.After && s.secret.Streams(f.Operation):
		return "when", f.Operation + " answers with a stream of events, which has no end to wait for; before takes latency, status and drop"
	case f.Resource != "" && strings.HasPrefix(f.Operation, journal.OperationGraphQL+"."):
		return "resource", "a document of GraphQL has no id in its path; body finds one, such as at /variables/input/podId"
	case f.Nth > 0 && (f.LetThrough > 0 || f.Every > 0 || f.Times > 0 || f.Probability != nil):
		return "nth", "it stands without after, every, times and probability"
	case f.LatencyMax > 0 && f.Latency == 0:
		return "latencyMax", "it needs latency, beside which it stands"
	case f.RetryAfter != nil && f.Status == 0:
		return "retryAfter", "it needs status, beside which it stands"
	case f.LatencyMax > 0 && f.LatencyMax < f.Latency:
		return "latencyMax", "it is less than latency"
	case f.Seed != nil && f.Probability == nil && f.LatencyMax == 0 && !f.Garbage:
		return "seed", "nothing is drawn without probability, latencyMax or garbage"
	}
	return "", ""
}

// called gives the call of an operation, as faults are matched with it.
func (f *front) called(op *validate.Op, r *request) fault.Call {
	c := fault.Call{Operation: f.id, Resources: r.resources(f.operationOf(r)), KeyID: r.caller.ID}
	c.Meets = func() {
		if r.over == nil { // a webhook
			r.over = f.count()
		}
	}
	if f.Controls != nil && isInbox(f.op.Path) {
		c.Sleeps = f.Controls.InboxSleeps
	}
	c.Body = func() []byte {
		if !op.HasBody || f.read(op, r) != nil {
			return nil // check finds out the same, and says so
		}
		return r.raw
	}
	return c
}

// met calls the operation between the faults before it and after it.
func (f *front) met(op *validate.Op, r *request, operation echo.HandlerFunc) (err error) {
	call := f.called(op, r)
	shown, err := f.Faults.Show(contextOf(r), call, f.Clock, f.Log)
	if err != nil {
		return err
	}
	if err := f.accepted(op, r); err != nil {
		return err
	}

	response := r.Response()
	held := f.Faults.Hold(contextOf(r), response.Writer, shown, f.Clock, f.Log, call)
	if held == nil {
		return operation(r)
	}

	to := response.Writer
	response.Writer, r.kept = held, true
	defer func() {
		response.Writer, r.kept = to, false
		if !held.Begun() {
			response.Committed, response.Status, response.Size = false, http.StatusOK, 0
		}
	}()

	if err := operation(r); err != nil {
		return err
	}
	return held.End()
}
