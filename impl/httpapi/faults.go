package httpapi

import (
	"errors"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/gen/queue"
	"github.com/berthdev/berth/gen/rest"
	"github.com/berthdev/berth/gen/worker"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/validate"
)

// newFault reads the i-th fault of a request. Rejected for an operation that does not exist and for a fault that does nothing.
func (s *Services) newFault(i int, r controls.Fault) (fault.Fault, error) {
	f := fault.Fault{
		Operation: r.Operation, After: value(r.After), Times: value(r.Times), Latency: milliseconds(value(r.Latency)),
		Status: int(value(r.Status)), Drop: value(r.Drop),
	}
	isHTTP := slices.ContainsFunc([][]validate.Edition{rest.Editions, queue.Editions, inAll(worker.Ops)}, func(editions []validate.Edition) bool {
		_, is := ofAny(editions)[f.Operation]
		return is
	})
	isGraphQL := s.GraphQL != nil && slices.Contains(s.GraphQL.Operations(), f.Operation)
	if !isHTTP && !isGraphQL && f.Operation != fault.Every {
		return f, compute.Errorf(compute.Rejected, "/faults/%d/operation: there is no operation %q", i, f.Operation)
	}
	if f.Latency == 0 && f.Status == 0 && !f.Drop {
		return f, compute.Errorf(compute.Rejected, "/faults/%d: it needs latency, status or drop", i)
	}

	return f, nil
}

func faultView(f fault.Fault) controls.ShownFault {
	v := controls.ShownFault{Operation: f.Operation, After: f.After, Drop: f.Drop, Calls: f.Calls, Shown: f.Shown}
	if f.Times > 0 {
		v.Times = &f.Times
	}
	if ms := f.Latency.Milliseconds(); ms > 0 {
		v.Latency = &ms
	}
	if status := int64(f.Status); status > 0 {
		v.Status = &status
	}
	return v
}

// faulty shows the fault of this call, if it has one.
func (s *Services) faulty(operation string, c echo.Context) error {
	if _, ours := controls.Ops[operation]; ours {
		return nil // or a test could not take its faults back
	}
	err := s.Faults.Show(contextOf(c), operation, s.Clock, s.Log)
	if answer, ok := errors.AsType[*fault.Answer](err); ok && answer.RetryAfter() != "" {
		c.Response().Header().Set(echo.HeaderRetryAfter, answer.RetryAfter())
	}
	return err
}
