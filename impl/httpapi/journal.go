package httpapi

import (
	"fmt"
	"maps"
	"net/http"
	"slices"

	"github.com/labstack/echo/v4"

	"github.com/berthdev/berth/gen/controls"
	"github.com/berthdev/berth/impl/changes"
	"github.com/berthdev/berth/impl/compute"
	"github.com/berthdev/berth/impl/journal"
)

// ListJournal is GET /_berth/journal.
func (h controlsHandlers) ListJournal(c echo.Context, p controls.ListJournalParams) error {
	entries, dropped := h.Journal.List(journalFilter(p))
	return c.JSON(http.StatusOK, controls.Journal{Entries: views(entries, journalView), Dropped: dropped})
}

// ClearJournal is DELETE /_berth/journal.
func (h controlsHandlers) ClearJournal(c echo.Context) error {
	h.Journal.Clear()
	h.Changes.Note(changes.Event{Kind: changes.Journal, Change: changes.Deleted})
	return c.NoContent(http.StatusNoContent)
}

// GetJournalEntry is GET /_berth/journal/{number}.
func (h controlsHandlers) GetJournalEntry(c echo.Context, number int64) error {
	e, err := h.Journal.Get(number)
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, journalView(e))
}

// ExportJournal is GET /_berth/journal.har.
func (h controlsHandlers) ExportJournal(c echo.Context, p controls.ExportJournalParams) error {
	entries, _ := h.Journal.List(journalFilter(controls.ListJournalParams(p)))
	return c.JSON(http.StatusOK, controls.Har{Log: controls.HarLog{
		Version: controls.HarLogVersionN12, Creator: controls.HarCreator{Name: "berth", Version: h.Version}, Entries: views(entries, harView),
	}})
}

// VerifyJournal is POST /_berth/journal/verify.
func (h controlsHandlers) VerifyJournal(c echo.Context) error {
	v := bodyOf[controls.Verification](c)
	recorded := h.recordedOperations()
	var expectations []journal.Expectation
	for i, x := range v.Expectations {
		// That one never came which no entry can have would always hold (rule controls.journal.operations).
		if name := value(x.Operation); name != "" && !recorded[name] {
			return noOperation(fmt.Sprintf("/expectations/%d/operation", i), name, slices.Collect(maps.Keys(recorded)))
		}
		t := value(x.Times)
		if t.Exactly != nil && (t.AtLeast != nil || t.AtMost != nil) {
			return compute.Errorf(compute.Rejected, "/expectations/%d/times: exactly stands alone", i)
		}
		if t.AtLeast != nil && t.AtMost != nil && *t.AtLeast > *t.AtMost {
			return compute.Errorf(compute.Rejected, "/expectations/%d/times: atLeast is more than atMost", i)
		}
		expectations = append(expectations, expectation(x))
	}

	failures, dropped, err := h.Journal.Verify(contextOf(c), expectations, value(v.InOrder))
	if err != nil {
		return err
	}
	return c.JSON(http.StatusOK, controls.VerificationResult{Ok: len(failures) == 0, Failures: views(failures, failureView), Dropped: dropped})
}

// recordedOperations are the names of operations by which entries of the journal can be asked for.
func (s *Services) recordedOperations() map[string]bool {
	names := map[string]bool{journal.OperationProxyPod: true, journal.OperationProxyEndpoint: true, unknownOperation: true}
	for _, o := range s.routes {
		names[o.id] = true
	}
	for id, op := range controls.Ops {
		if !isInbox(op.Path) {
			delete(names, id)
		}
	}
	for _, id := range []string{healthzOperation, readyzOperation, documentOperation} {
		delete(names, id)
	}
	if s.GraphQL != nil {
		for _, field := range append(s.GraphQL.Operations(), introspected...) {
			names[field] = true
		}
	}
	return names
}

// introspected are the fields that every schema of GraphQL has.
var introspected = []string{"graphql.__schema", "graphql.__type", "graphql.__typename"}
