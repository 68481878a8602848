package httpapi

import (
	"cmp"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/fault"
	"github.com/berthdev/berth/impl/journal"
)

// faultOf reads a fault.
func faultOf(r controls.Fault) fault.Fault {
	return fault.Fault{
		ID: value(r.ID), Operation: r.Operation, When: cmp.Or(fault.When(value(r.When)), fault.Before),
		Resource: value(r.Resource), KeyID: compute.KeyID(value(r.KeyID)), Body: bodyValues(r.Body),
		LetThrough: value(r.After), Nth: value(r.Nth), Every: value(r.Every), Times: value(r.Times), Probability: r.Probability, Seed: r.Seed,
		Latency: milliseconds(value(r.Latency)), LatencyMax: milliseconds(value(r.LatencyMax)), Status: int(value(r.Status)), RetryAfter: r.RetryAfter,
		Drop: value(r.Drop), Half: r.Half, Garbage: value(r.Garbage), BytesPerSecond: value(r.BytesPerSecond),
	}
}

func bodyValues(list []controls.BodyExpectation) (values []journal.Value) {
	for _, b := range list {
		values = append(values, journal.Value{Pointer: b.Pointer, Equals: b.Equals})
	}
	return values
}

func faultView(f fault.Fault) controls.ShownFault {
	v := controls.ShownFault{
		ID: f.ID, Operation: f.Operation, When: controls.ShownFaultWhen(f.When), Resource: ifSet(f.Resource), KeyID: ifSet(string(f.KeyID)),
		After: f.LetThrough, Nth: ifSet(f.Nth), Every: ifSet(f.Every), Times: ifSet(f.Times), Probability: f.Probability, Seed: f.Seed,
		Latency: ifSet(f.Latency.Milliseconds()), LatencyMax: ifSet(f.LatencyMax.Milliseconds()), Status: ifSet(int64(f.Status)), RetryAfter: f.RetryAfter,
		Drop: f.Drop, Half: f.Half, Garbage: f.Garbage, BytesPerSecond: ifSet(f.BytesPerSecond), Calls: f.Calls, Shown: f.Shown,
	}
	for _, b := range f.Body {
		v.Body = append(v.Body, controls.BodyExpectation{Pointer: b.Pointer, Equals: b.Equals})
	}
	return v
}

// journalFaultView gives the fault that a request met.
func journalFaultView(f *journal.Fault) *controls.JournalFault {
	return &controls.JournalFault{
		ID: f.ID, Operation: f.Operation, When: controls.JournalFaultWhen(f.When), Latency: ifSet(f.Latency.Milliseconds()), Status: ifSet(int64(f.Status)),
		Drop: f.Drop, Half: f.Half, Garbage: ifSet(f.Garbage), BytesPerSecond: ifSet(f.BytesPerSecond),
	}
}

// ifSet gives what is not zero.
func ifSet[T comparable](v T) *T {
	var zero T
	if v == zero {
		return nil
	}
	return &v
}
